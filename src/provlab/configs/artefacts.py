"""Artefacts: rows x columns x data sets, composed as configs, and turned into entries."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Any

from omegaconf import DictConfig, OmegaConf

from provlab.configs.cells import cells_from
from provlab.configs.composing import Composer, Parts, compose_parts, resolved
from provlab.configs.unused import (
    check_agreement,
    check_columns,
    check_names,
    check_sizes,
    check_users,
    chosen_groups,
    kept,
)
from provlab.datasets import MissingDataError
from provlab.identity.cell import Cell
from provlab.plan import files_missing, identity_of
from provlab.project import paper_of

COMPLETE, PARTIAL, NOT_RUN = "complete", "partial", "not run"
"""States of an artefact."""


@dataclass(frozen=True)
class Entry:
    """One number of an artefact: where it stands, and the cell that it is computed from."""

    row: str
    column: str
    cell: Cell
    label: str = ""
    overrides: tuple[str, ...] = ()
    """What `provsel run` takes to compute this cell alone."""

    @cached_property
    def dataset(self) -> str:
        """Name of the data set, as the artefact or else the loaders give it."""
        dataset = self.cell.dataset
        if self.label or "set" in dataset:
            return self.label or str(dataset["set"])
        return PurePath(str(dataset.get("path", dataset["name"]))).stem


@dataclass(frozen=True)
class Artefact:
    """A table or figure of a paper as a list of entries.

    Attributes
    ----------
    name : str
        paper/artefact.
    title : str
    entries : tuple of Entry
    parts : mapping
        The composed config without row and column; `config` is the same as a DictConfig.
    """

    name: str
    title: str
    entries: tuple[Entry, ...]
    parts: Mapping[str, Any]

    @cached_property
    def config(self) -> DictConfig:
        """The composed config without row and column."""
        return OmegaConf.create(dict(self.parts))

    @property
    def summary(self) -> dict[str, Any]:
        """`artefact.summary`: how trials become numbers where the paper leaves that open; arguments of `summarise`."""
        return dict(self.parts.get("artefact", {}).get("summary", {}))

    @property
    def cells(self) -> list[Cell]:
        """The cells of all entries."""
        return [entry.cell for entry in self.entries]

    def check_data(self, n_stored: int | bool) -> None:
        """Raise MissingDataError when there is nothing to show: no trial is stored, and none can be computed here."""
        if n_stored:
            return
        datasets = {cell.data: cell.dataset for cell in self.cells}.values()
        missing = dict.fromkeys(str(dataset["name"]) for dataset in datasets if files_missing(dataset))
        if missing:
            names = " ".join(missing)
            error = MissingDataError(f"Nothing is stored, and the data are not here: provsel fetch {names}")
            error.dataset = names
            raise error


def state_of(n_stored: int, n_planned: int) -> str:
    """Return what is said of an artefact of which so many trials are stored."""
    return COMPLETE if n_stored == n_planned else PARTIAL if n_stored else NOT_RUN


def counted_state(n_stored: int, n_planned: int) -> str:
    """Return `state_of` with the counts where only a part is stored: "partial (k of n)"."""
    state = state_of(n_stored, n_planned)
    return f"{state} ({n_stored} of {n_planned})" if state == PARTIAL else state


def compose_artefact(
    name: str, overrides: Sequence[str] = (), rows: Mapping[str, Sequence[str]] | None = None
) -> Artefact:
    """Return an artefact: its rows x its columns x its data sets.

    The data sets are those of the config, or, where the artefact has `datasets`, those: a mapping from a name to
    `choose`, overrides, and optionally `rows` and `columns`, those of the artefact that this data set has.
    `artefact.only` is a list of some of their names.

    Parameters
    ----------
    name : str
        paper/artefact.
    overrides : sequence of str
        The user's, below those of row and column. A column's setting of the selector or the model is left out
        where that of the row does not have it: full data has no number of features. One that no row has is an error,
        and so is one of the user's that each row or column replaces.
    rows : mapping, optional
        Names and overrides of rows in the place of the artefact's, such as one row under several readings; all data
        sets have them.
    """
    paper_of(name)  # which it must be of
    base = [f"+experiment={name}", *overrides]
    compose, identify = Composer(), _remembered(identity_of)
    config = compose(base)
    artefact = resolved(config, ["artefact"])["artefact"]
    known = {kind: list(artefact[kind]) for kind in ("rows", "columns")}
    entries, composed_rows, taken = [], [], set()
    for label, chosen in _listed_datasets(name, artefact).items():
        check_names(f"{name}: datasets.{label}", chosen, ["choose", *known])
        for kind, names in known.items():
            if other := [each for each in chosen.get(kind, []) if each not in names]:
                raise ValueError(f"{name}: expected {kind} of {label} among {names}, got {other}; add them to {kind}.")
        own = {row: artefact["rows"][row] for row in chosen.get("rows", known["rows"])}
        for row, row_overrides in (rows or own).items():
            before = [*chosen["choose"], *row_overrides]
            composed_rows.append(compose([*base, *before]))
            shown = {column: artefact["columns"][column] for column in chosen.get("columns", known["columns"])}
            fits = {column: fitting(stated, composed_rows[-1]) for column, stated in shown.items()}
            check_sizes(name, row, row_overrides, shown, {text for settings in fits.values() for text in settings})
            for column, settings in fits.items():
                places = f"data set {label!r:.80}", f"row {row!r:.80}", f"column {column!r:.80}"
                stated = chosen["choose"], row_overrides, settings
                check_agreement(name, dict(zip(places, stated, strict=True)))
                taken |= kept(overrides, [*before, *settings])
                alone = (*base, *before, *settings)
                composed = compose(alone)
                for cell in cells_from(composed, identify):
                    member = _member_override(composed["dataset"], cell.dataset)
                    entries.append(Entry(str(row), str(column), cell, label, (*alone, *member)))
    if rows or any(_group(text) == "artefact" for text in overrides):  # a column may have settings for other rows
        there, stated = {entry.row for entry in entries}, artefact_part(name)["rows"]
        composed_rows += [compose([*base, *stated[row]]) for row in stated if row not in there]
    check_columns(name, artefact["columns"], composed_rows, _applies)
    check_users(name, overrides, taken)
    return Artefact(name, str(artefact["title"]), tuple(entries), config)


def artefact_part(name: str, part: str = "artefact") -> Parts:
    """Return what an artefact's file says of it: its title, rows, columns and data sets; or its protocol."""
    return resolved(compose_parts([f"+experiment={name}"]), [part])[part]


def _group(override: str) -> str:
    """Return the part of the config that an override changes."""
    return override.split("=", 1)[0].lstrip("+~").split(".")[0]


def _listed_datasets(name: str, artefact: Parts) -> dict[str, Parts]:
    """Return the data sets that an artefact lists, or those of them that `only` names; "" is that of the config."""
    listed = artefact.get("datasets", {"": {"choose": []}})
    only = artefact.get("only")
    if only is None:
        return {str(label): chosen for label, chosen in listed.items()}
    unknown = [label for label in only if label not in listed]
    if unknown or not only:
        raise ValueError(f"{name}: expected artefact.only to name some of {', '.join(listed)}, got {list(only)}.")
    return {str(label): listed[label] for label in only}


def _member_override(dataset: Mapping[str, Any], member: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the override that chooses one member of a collection, nothing where the config has chosen it already."""
    name = member.get("set")
    if name is None or dataset.get("set") == name:
        return ()
    return (f"dataset.set={name}" if re.fullmatch(r"[\w.-]+", name) else f"dataset.set={json.dumps(name)}",)


def fitting(column: Sequence[str], plain: Parts) -> list[str]:
    """Return the overrides of a column that apply to a row: what the column chooses itself, and what the row has."""
    chosen = chosen_groups(column)
    return [text for text in column if _group(text) in chosen or _applies(text, plain)]


def _remembered(identify: Callable[[Mapping[str, Any]], str]) -> Callable[[Mapping[str, Any]], str]:
    """Return `identify` that looks at each data set once: all rows and columns of an artefact have the same ones."""
    known: dict[str, str] = {}

    def remembered(dataset: Mapping[str, Any]) -> str:
        text = repr(sorted(dataset.items()))
        if text not in known:
            known[text] = identify(dataset)
        return known[text]

    return remembered


def _applies(override: str, config: Parts) -> bool:
    """Tell whether the selector or model of `config` has the setting that a column changes, nested or not."""
    group, *names = override.split("=", 1)[0].split(".")
    if group not in ("selector", "model"):
        return True
    node: Any = config[group]
    for name in names:
        if not isinstance(node, dict) or name not in node:
            return False
        node = node[name]
    return True
