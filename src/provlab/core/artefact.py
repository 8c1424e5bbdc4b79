"""Artefacts: rows x columns x data sets as overrides, composed into entries with their cells."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from provlab.core.cell import Cell
from provlab.core.composition import (
    Composer,
    Parts,
    part_config,
    read_config,
    resolve_references,
)
from provlab.core.overrides import check_names, nearest_setting, setting
from provlab.core.plan import KeyedData, cells_of, data_of, files_missing
from provlab.data import MissingDataError
from provlab.project.components import UNSET
from provlab.project.documents import canonical_json
from provlab.project.papers import artefact_file, paper_of

if TYPE_CHECKING:
    from omegaconf import DictConfig

COMPLETE, PARTIAL, NOT_RUN = "complete", "partial", "not run"
"""States of an artefact."""


@dataclass(frozen=True)
class Entry:
    """A number of an artefact: its position, and the cell from which it is computed."""

    row: str
    column: str
    cell: Cell
    label: str = ""
    overrides: tuple[str, ...] = ()
    """Settings with which `provsel run` computes only this cell."""

    @cached_property
    def dataset(self) -> str:
        """Name of the data set from the artefact, or otherwise from its loader."""
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
        Composed config without row and column; `config` is the same as a DictConfig.
    """

    name: str
    title: str
    entries: tuple[Entry, ...]
    parts: Mapping[str, Any]

    @cached_property
    def config(self) -> DictConfig:
        """Composed config without row and column."""
        from omegaconf import OmegaConf

        return OmegaConf.create(dict(self.parts))

    @property
    def summary(self) -> dict[str, Any]:
        """`artefact.summary`: arguments of `summarise`, for choices that the paper leaves open."""
        return dict(self.parts.get("artefact", {}).get("summary", {}))

    @property
    def cells(self) -> list[Cell]:
        """Cells of all entries."""
        return [entry.cell for entry in self.entries]

    def check_data(self, n_stored: int | bool) -> None:
        """Raise MissingDataError if no trial is stored and none can be computed here."""
        if n_stored:
            return
        datasets = {cell.data: cell.dataset for cell in self.cells}.values()
        names = " ".join(
            dict.fromkeys(
                str(dataset["name"]) for dataset in datasets if files_missing(dataset)
            )
        )
        if names:
            raise MissingDataError(
                f"No results are stored, and the data are missing; run provsel fetch {names}",
                names,
            )


def state_of(n_stored: int, n_planned: int) -> str:
    """Return the state of an artefact from its numbers of stored and planned trials."""
    if n_stored == n_planned:
        return COMPLETE
    return PARTIAL if n_stored else NOT_RUN


def counted_state(n_stored: int, n_planned: int) -> str:
    """Return `state_of`, with counts if only a part is stored: "partial (k of n)"."""
    state = state_of(n_stored, n_planned)
    return f"{state} ({n_stored} of {n_planned})" if state == PARTIAL else state


def artefact_part(name: str, part: str = "artefact") -> Parts:
    """Return the part of an artefact's file with its title, rows, columns and data sets, or its protocol."""
    return part_config(part, [f"+experiment={name}"])


def artefact_title(name: str) -> str:
    """Return the title of an artefact from its own file or the files that it is based on."""
    stated = read_config("", artefact_file(name)).get("artefact", {}).get("title")
    return str(stated or artefact_part(name)["title"])


def artefact_difference(name: str) -> str:
    """Return why an artefact differs from the paper, from `differs` in its file; "" if it does not."""
    return str(
        read_config("", artefact_file(name)).get("artefact", {}).get("differs", "")
    )


def compose_artefact(
    name: str,
    overrides: Sequence[str] = (),
    rows: Mapping[str, Sequence[str]] | None = None,
) -> Artefact:
    """Return an artefact as the product of its rows, columns and data sets.

    The data sets come from the config or from the artefact's `datasets`. That is a
    mapping from names to `choose`, overrides, and optionally `rows` and `columns`, a
    subset of those of the artefact. `artefact.only` lists some of the names. A column
    in which some rows have no number is also a mapping: `choose`, overrides, and
    `rows`, the rows with numbers.

    Parameters
    ----------
    name : str
        paper/artefact.
    overrides : sequence of str
        Overrides of the user, over which those of row and column take precedence. A
        setting of a column is left out if the row's selector or model lacks it; for
        example, full data has no number of features. A setting that no row has is an
        error, as is a user's setting that every row or column overrides.
    rows : mapping, optional
        Names and overrides of rows that replace those of the artefact, such as one row
        under several readings. They apply to all data sets and columns.
    """
    paper_of(name)  # the setting must belong to one of them
    base = [f"+experiment={name}", *overrides]
    compose = Composer()
    config = compose(base)
    layout = resolve_references(config, ["artefact"])["artefact"]
    columns = _read_columns(name, layout)
    look = _look_once()
    entries: list[Entry] = []
    row_configs: list[Parts] = []
    effective: set[str] = set()
    for label, part in _read_datasets(name, layout).items():
        rows_of_set = rows or {
            row: layout["rows"][row] for row in part.get("rows", layout["rows"])
        }
        for row, of_row in rows_of_set.items():
            before = [*part["choose"], *of_row]
            row_config = compose([*base, *before])
            row_configs.append(row_config)
            for column in part.get("columns", columns):
                if not rows and row not in columns[column].get("rows", [row]):
                    continue
                settings = column_settings(columns[column]["choose"], row_config)
                places = {
                    f"data set {label!r:.80}": part["choose"],
                    f"row {row!r:.80}": of_row,
                    f"column {column!r:.80}": settings,
                }
                _check_agreement(name, places)
                effective |= _effective(overrides, [*before, *settings])
                alone = (*base, *before, *settings)
                composed = compose(alone)
                for cell in cells_of(composed, look):
                    member = _member_override(composed["dataset"], cell.dataset)
                    entries.append(
                        Entry(str(row), str(column), cell, label, (*alone, *member))
                    )
    if rows or any(setting(text).partition(".")[0] == "artefact" for text in overrides):
        shown_rows = {entry.row for entry in entries}
        for row, of_row in artefact_part(name)["rows"].items():
            if row not in shown_rows:  # a column may apply to other rows
                row_configs.append(compose([*base, *of_row]))
    _check_columns(
        name, {column: part["choose"] for column, part in columns.items()}, row_configs
    )
    for text in overrides:
        if text not in effective:
            raise ValueError(
                f"{name}: expected settings that some entry uses, got {text!r:.120}, but the data set, row or column "
                f"of each sets {setting(text)} itself; leave it out, or change artefact.rows or artefact.columns."
            )
    return Artefact(name, str(layout["title"]), tuple(entries), config)


def _look_once() -> Callable[[Mapping[str, Any]], KeyedData]:
    """Return a version of `data_of` that reads each data set once, because rows and columns share them."""
    seen: dict[str, KeyedData] = {}

    def look(dataset: Mapping[str, Any]) -> KeyedData:
        text = canonical_json(dataset)
        if text not in seen:
            seen[text] = data_of(dataset)
        return seen[text]

    return look


def _read_datasets(name: str, layout: Parts) -> dict[str, Parts]:
    """Return the data sets that an artefact lists, or those in `only`; "" stands for that of the config."""
    listed = layout.get("datasets", {"": {"choose": []}})
    only = layout.get("only")
    chosen = [*listed] if only is None else only
    if not chosen or not set(chosen) <= set(listed):
        raise ValueError(
            f"{name}: expected artefact.only to name some of {', '.join(listed)}, got {only!r:.80}."
        )
    for label in chosen:
        check_names(
            f"{name}: datasets.{label}", listed[label], ["choose", "rows", "columns"]
        )
        for kind in ("rows", "columns"):
            check_names(
                f"{name}: datasets.{label}.{kind}",
                listed[label].get(kind, []),
                layout[kind],
            )
    return {str(label): listed[label] for label in chosen}


def _read_columns(name: str, layout: Parts) -> dict[str, Parts]:
    """Return `choose` of each column, and `rows` if the column lists its rows."""
    columns = {}
    for column, part in layout["columns"].items():
        if not isinstance(part, dict):
            part = {"choose": part}
        columns[column] = part
        check_names(f"{name}: columns.{column}", part, ["choose", "rows"])
        check_names(
            f"{name}: columns.{column}.rows", part.get("rows", []), layout["rows"]
        )
    return columns


def _member_override(
    dataset: Mapping[str, Any], member: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return the override that chooses a member of a collection; empty if the config already has it."""
    name = member.get("set")
    if name is None or dataset.get("set") == name:
        return ()
    is_plain = re.fullmatch(r"[\w.-]+", name)
    return (f"dataset.set={name if is_plain else json.dumps(name)}",)


# ---- settings of columns that apply to a row, and checks for those that would silently be ignored


def column_settings(column: Sequence[str], row: Parts) -> list[str]:
    """Return the overrides of a column that apply to a row: its choices, and the settings that the row has."""
    chosen = _chosen_groups(column)
    return [
        text
        for text in column
        if setting(text).partition(".")[0] in chosen or applies(text, row)
    ]


def applies(override: str, row: Parts) -> bool:
    """Return whether the selector or model of a row has the setting that a column changes, or the column adds it."""
    key = override.partition("=")[0]  # an added setting (with +) applies to every row
    group = key.partition(".")[0]
    return group not in ("selector", "model") or key in {
        group,
        *_settings(row[group], group),
    }


def _check_columns(
    name: str, columns: Mapping[str, Sequence[str]], rows: Sequence[Parts]
) -> None:
    """Raise if no row has a setting of a column; `rows` are composed without columns."""
    for column, overrides in columns.items():
        # the column's own groups are checked by composition
        chosen = _chosen_groups(overrides)
        for text in overrides:
            key = setting(text)
            group = key.split(".")[0]
            if group not in chosen and not any(applies(text, row) for row in rows):
                paths = {path for row in rows for path in _settings(row[group], group)}
                settings = sorted(
                    path for path in paths if not path.endswith("._target_")
                )
                raise ValueError(
                    f"{name}: expected a setting that some row has, of {', '.join(settings) or 'none'}, got "
                    f"{text!r:.120} in column {column!r:.80}, which no row takes; {nearest_setting(key, settings)}."
                )


def _check_agreement(name: str, places: Mapping[str, Sequence[str]]) -> None:
    """Raise if data set, row and column set a setting to different values, because one would be lost.

    A row leaves a value to its columns with `UNSET`; a column that does not set it is
    also an error.
    """
    first_by_key: dict[str, tuple[str, str]] = {}
    for place, overrides in places.items():
        stated = {setting(text): text for text in overrides if _value(text) != UNSET}
        for key, text in stated.items():
            where, first_text = first_by_key.setdefault(key, (place, text))
            if _value(first_text) != _value(text):
                raise ValueError(
                    f"{name}: expected {key} from one place, got {first_text!r:.120} of {where} and {text!r:.120} of "
                    f'{place}; leave one out, or write "+{key}={UNSET}" in the first.'
                )
    last_place = [*places][-1]
    for place, overrides in places.items():
        for text in overrides:
            if setting(text) not in first_by_key:
                raise ValueError(
                    f"{name}: expected {setting(text)} of {last_place}, got {text!r:.120} of {place} only; set it."
                )


def _value(override: str) -> str:
    """Return the value of an override as text."""
    return override.partition("=")[2].strip()


def _effective(overrides: Iterable[str], later: Sequence[str]) -> set[str]:
    """Return the overrides whose values are not replaced by later ones."""
    replaced = {*map(setting, later)}
    return {
        text for text in overrides if text in later or setting(text) not in replaced
    }


def _chosen_groups(overrides: Iterable[str]) -> set[str]:
    """Return the groups whose member is changed by overrides."""
    return {key for key in map(setting, overrides) if "." not in key}


def _settings(part: Any, where: str) -> Iterator[str]:
    """Yield the keys of all settings of a part of a config, including nested ones."""
    if isinstance(part, Mapping):
        for name in part:
            yield f"{where}.{name!s}"
            yield from _settings(part[name], f"{where}.{name!s}")
