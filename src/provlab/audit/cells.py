"""From the config in a record back to its cell, where data and classes still are what they were."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from provlab.datasets import MissingDataError, is_place
from provlab.identity.cell import Cell
from provlab.plan import files_missing, identity_of
from provlab.project.components import REGISTRIES, component_class, inner_kind, registered, version_of

UNUSED_MODEL = {"_target_": "provsel.models.LibsvmSVM"}
"""Stands where a cell has no model but its class wants one."""

LONGEST_REASON = 200


class CannotRebuild(Exception):  # noqa: N818 - a reason, and no error of ours
    """Why a stored trial cannot be computed again here."""


def cell_from(config: str, source: str = "") -> Cell:
    """Return the cell whose identity is the JSON text `config`, with one repeat and one draw.

    `source` is what the record says of where its data are from: the path, where they are a file of the user's.

    Raises
    ------
    CannotRebuild
        The text is no cell's, or that of another version of its classes.
    """
    try:
        identity = json.loads(config)
        protocol = {**identity["protocol"], "repeats": 1, "draws": 1}
        if "measures" in protocol:
            protocol["measures"] = [_component(measure, "measure") for measure in protocol["measures"]]
        dataset = dict(identity["dataset"])
        if is_place(dataset["name"], "path"):
            dataset["path"] = source
        cell = Cell(
            dataset=dataset,
            selector=_component(identity["selector"]),
            model=_component(identity["model"]) if identity["model"] else dict(UNUSED_MODEL),
            protocol=protocol,
            data=str(identity["data"]),
        )
        same = cell.json == config
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise CannotRebuild(cut_reason(f"the config is not accepted now: {type(error).__name__}: {error}")) from error
    if not same:
        raise CannotRebuild("the config gives another key now: identities are written otherwise in this version")
    return cell


def _component(identity: Mapping[str, Any], foreign: str = "") -> dict[str, Any]:
    name, version = identity["name"], identity["algorithm_version"]
    kind = next((kind for kind in REGISTRIES if name in registered(kind)), None)
    if kind is None and "." not in name:
        raise CannotRebuild(cut_reason(f"the class {name} does not exist now"))
    target = f"{REGISTRIES[kind]}.{name}" if kind else name
    now = version_of(component_class(foreign or inner_kind({"_target_": target}), {"_target_": target}))
    if version != now:
        raise CannotRebuild(cut_reason(f"another algorithm_version: {name} had {version}, has {now} now"))
    return {"_target_": target, **_arguments(identity["arguments"])}


def _arguments(value: Any) -> Any:
    if _is_identity(value):
        return _component(value)
    if isinstance(value, Mapping):
        return {name: _arguments(inner) for name, inner in value.items()}
    return [_arguments(inner) for inner in value] if isinstance(value, list) else value


def _is_identity(value: Any) -> bool:
    """Tell whether an argument is a component, as `Cell.identity` writes it."""
    return isinstance(value, Mapping) and set(value) == {"name", "algorithm_version", "arguments"}


def check_data(cell: Cell) -> None:
    """Raise `CannotRebuild` where a cell's data are missing here, or are not those that the record is about."""
    name = cell.dataset.get("name")
    try:
        found, missing = identity_of(cell.dataset), files_missing(cell.dataset)
    except MissingDataError as error:
        raise CannotRebuild(f"the data are missing: provsel fetch {name}") from error
    except (ValueError, TypeError, KeyError, AttributeError, OSError) as error:
        raise CannotRebuild(cut_reason(f"the data set cannot be loaded: {type(error).__name__}: {error}")) from error
    if found != cell.data:
        raise CannotRebuild(f"the data set {name} has another identity now")
    if missing:
        raise CannotRebuild(f"the data are missing: provsel fetch {name}")


def cut_reason(text: str) -> str:
    """Return a reason on one line, of bounded length: it quotes untrusted text."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_REASON else f"{line[: LONGEST_REASON - 3]}..."
