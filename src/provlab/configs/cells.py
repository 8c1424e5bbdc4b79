"""From a composed config to its cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from omegaconf import DictConfig

from provlab.configs.composing import Parts, as_parts, check_parts, resolved
from provlab.configs.plain import CELL_GROUPS, ELSEWHERE, check_plain
from provlab.configs.unused import check_names
from provlab.datasets import dataset_members, keyed_parameters
from provlab.identity.cell import Cell
from provlab.plan import identity_of
from provlab.protocols import protocol_named

MAX_COUNT = 100_000
"""Of repeats, folds or draws: each trial is listed before the first one is run."""


def cells_of(config: DictConfig) -> list[Cell]:
    """Return the cells of a composed config: one, or one for each member of a collection of data sets.

    No data are loaded.
    """
    raw = as_parts(config)
    check_parts(raw)
    return cells_from(raw, identity_of)


def cells_from(raw: Parts, identify: Callable[[Mapping[str, Any]], str]) -> list[Cell]:
    """Return the cells of a config whose references are checked, as `compose_parts` gives it, by `identity_of`."""
    check_names("config", raw, [*CELL_GROUPS, *ELSEWHERE, "fail_fast", "artefact"])
    parts = resolved(raw)
    for group, part in parts.items():
        check_plain(part, group)
    _check_cell_parts(parts)
    parts["protocol"] = protocol_named(parts["protocol"].get("split")).completed(parts["protocol"])
    first, *others = map(_keyed, _members(parts.pop("dataset")))
    cell = Cell(dataset=first, data=identify(first), **parts)
    return [cell, *(cell.on(dataset, identify(dataset)) for dataset in others)]


def _keyed(dataset: dict[str, Any]) -> dict[str, Any]:
    name = dataset.pop("name")
    return {"name": name, **keyed_parameters(name, **dataset)}


def _check_cell_parts(parts: Mapping[str, Mapping[str, Any]]) -> None:
    """Check what is needed to make cells of the parts; `Cell` and the loader check the rest."""
    dataset, protocol = parts["dataset"], parts["protocol"]
    if not isinstance(dataset.get("name"), str):
        raise ValueError(f"dataset.name: expected a text, got {dataset.get('name')!r:.80}; choose with dataset=....")
    chosen = dataset.get("set", "all")
    if not isinstance(chosen, str) and not (isinstance(chosen, list) and all(isinstance(name, str) for name in chosen)):
        raise ValueError(f"dataset.set: expected a name, all, or a list of names, got {chosen!r:.80}.")
    for name in ("repeats", "n_splits", "draws"):
        number = protocol.get(name)
        if isinstance(number, int | float) and number > MAX_COUNT:
            raise ValueError(f"protocol.{name}: expected at most {MAX_COUNT}, got {number!r:.80}; lower it.")


def _members(dataset: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    chosen: Any = dataset.get("set")
    if "set" not in dataset or (isinstance(chosen, str) and chosen != "all"):
        yield dict(dataset)
        return
    names = dataset_members(dataset["name"]) if chosen == "all" else list(chosen)
    if not names:  # the loader says what it takes
        yield dict(dataset)
    for name in names:
        yield {**dataset, "set": name}
