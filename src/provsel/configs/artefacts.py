"""Artefacts: rows x columns x data sets, composed as configs, and turned into entries."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import OverrideType
from omegaconf import DictConfig, OmegaConf, open_dict

from provsel.configs.cells import CELL_GROUPS, cells_of, compose_config
from provsel.configs.places import artefact_names
from provsel.evaluation import Cell
from provsel.evaluation.plan import trials_of, unique_cells

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
    """What experiments/run.py takes to compute this cell alone."""

    @property
    def dataset(self) -> str:
        """Name of the data set, as the artefact or else the loaders give it."""
        return self.label or str(self.cell.dataset.get("set", self.cell.dataset["name"]))


@dataclass(frozen=True)
class Artefact:
    """A table or figure of a paper as a list of entries.

    Attributes
    ----------
    name : str
        paper/artefact.
    title : str
    entries : tuple of Entry
    config : DictConfig
        The composed config without row and column.
    """

    name: str
    title: str
    entries: tuple[Entry, ...]
    config: DictConfig

    @property
    def cells(self) -> list[Cell]:
        """The cells of all entries."""
        return [entry.cell for entry in self.entries]

    def planned_keys(self) -> set[str]:
        """Return the keys of all trials."""
        return {key for cell in unique_cells(self.cells) for *_, key in trials_of(cell)}


def state_of(n_stored: int, n_planned: int) -> str:
    """Return what is said of an artefact of which so many trials are stored."""
    return COMPLETE if n_stored == n_planned else PARTIAL if n_stored else NOT_RUN


def counted_state(n_stored: int, n_planned: int) -> str:
    """Return `state_of` with the counts where only a part is stored: "partial (k of n)"."""
    state = state_of(n_stored, n_planned)
    return f"{state} ({n_stored} of {n_planned})" if state == PARTIAL else state


def compose_artefact(name: str, overrides: Sequence[str] = (), fingerprints: dict[str, str] | None = None) -> Artefact:
    """Return an artefact: its rows x its columns x its data sets.

    The data sets are those of the config, or, where the artefact has `datasets`, those: a mapping from a name to
    `choose`, overrides, and optionally `columns`, those of the artefact that this data set has. `artefact.only` is a
    list of some of their names.

    Parameters
    ----------
    name : str
        paper/artefact, a file below conf/experiment.
    overrides : sequence of str
        The user's, below those of row and column. A column's setting of the selector or the model is left out
        where that of the row does not have it: full data has no number of features.
    fingerprints : dict, optional
        Of data sets that were loaded before, by their config; filled in place. Artefacts share data sets.
    """
    if name not in artefact_names():
        raise ValueError(f"artefact: expected one of {', '.join(artefact_names())}, got {name!r}.")
    base = [f"+experiment={name}", *overrides]
    config = compose_config(base)
    known = list(config.artefact.columns)
    fingerprints = {} if fingerprints is None else fingerprints
    compose_row = _RowComposer(base)
    entries = []
    for label, chosen in _listed_datasets(name, config.artefact).items():
        unknown = [column for column in chosen.get("columns", []) if column not in known]
        if unknown:
            raise ValueError(f"{name}: expected columns of {label} among {known}, got {unknown}; add them to columns.")
        for row, row_overrides in config.artefact.rows.items():
            row_base = [*base, *chosen["choose"], *row_overrides]
            plain = compose_row(chosen["choose"], row_overrides)
            for column in chosen.get("columns", known):
                fitting = [text for text in config.artefact.columns[column] if _applies(text, plain)]
                composed = compose_row.with_column(plain, [*chosen["choose"], *row_overrides], fitting)
                alone = (*row_base, *fitting)
                entries += [
                    Entry(
                        str(row), str(column), cell, label, (*alone, *_member_override(composed.dataset, cell.dataset))
                    )
                    for cell in cells_of(composed, fingerprints)
                ]
    return Artefact(name, str(config.artefact.title), tuple(entries), config)


class _RowComposer:
    """Composes the config of a data set and a row; where the two do not touch each other, from one of each."""

    def __init__(self, base: Sequence[str]) -> None:
        self._base = list(base)
        self._composed: dict[tuple[str, ...], DictConfig] = {}

    def __call__(self, choose: Sequence[str], row: Sequence[str]) -> DictConfig:
        if {*map(_group, choose)}.isdisjoint(map(_group, row)):
            return self.with_column(self._compose(*row), row, choose)
        return self._compose(*choose, *row)

    def with_column(self, plain: DictConfig, before: Sequence[str], column: Sequence[str]) -> DictConfig:
        """Return `plain`, composed from the overrides `before`, with those of a column as well."""
        # another member of a group needs Hydra's defaults list; what it brings does not depend on the other groups
        chosen = {_group(text) for text in column if "." not in text.split("=", 1)[0]}
        changed = _with_values(plain, [text for text in column if _group(text) not in chosen])
        if changed is None or not chosen <= {*CELL_GROUPS} - {*map(_group, before)}:
            return self._compose(*before, *column)
        for group in chosen:
            own = [text for text in column if _group(text) == group]
            changed[group] = copy.deepcopy(self._compose(*own)[group])
        return changed

    def _compose(self, *overrides: str) -> DictConfig:
        if overrides not in self._composed:
            config = compose_config([*self._base, *overrides])
            # copying the artefact's lists for each of its columns would take most of the time
            with open_dict(config):
                for name in ("rows", "columns", "datasets"):
                    config.artefact.pop(name, None)
            self._composed[overrides] = config
        return self._composed[overrides]


def _group(override: str) -> str:
    """Return the part of the config that an override changes."""
    return override.split("=", 1)[0].lstrip("+~").split(".")[0]


def _listed_datasets(name: str, artefact: DictConfig) -> dict[str, DictConfig]:
    """Return the data sets that an artefact lists, or those of them that `only` names; "" is that of the config."""
    listed = dict(artefact.get("datasets", OmegaConf.create({"": {"choose": []}})).items())
    only = artefact.get("only")
    if only is None:
        return {str(label): chosen for label, chosen in listed.items()}
    unknown = [label for label in only if label not in listed]
    if unknown or not only:
        raise ValueError(f"{name}: expected artefact.only to name some of {', '.join(listed)}, got {list(only)}.")
    return {str(label): listed[label] for label in only}


def _member_override(dataset: DictConfig, member: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the override that chooses one member of a collection, nothing where the config has chosen it already."""
    name = member.get("set")
    if name is None or dataset.get("set") == name:
        return ()
    return (f"dataset.set={name}" if re.fullmatch(r"[\w.-]+", name) else f"dataset.set={json.dumps(name)}",)


def _with_values(config: DictConfig, overrides: Sequence[str]) -> DictConfig | None:
    """Return the config with some values changed, as composing would, only faster; None for other changes."""
    parsed = OverridesParser.create().parse_overrides(list(overrides))
    if any("." not in override.key_or_group or override.type is not OverrideType.CHANGE for override in parsed):
        return None  # the choice of another group member needs Hydra's defaults list
    changed = copy.deepcopy(config)
    for override in parsed:
        OmegaConf.update(changed, override.key_or_group, override.value())
    return changed


def _applies(override: str, config: DictConfig) -> bool:
    """Tell whether the selector or model of `config` has the setting that a column changes, nested or not."""
    group, *names = override.split("=", 1)[0].split(".")
    if group not in ("selector", "model"):
        return True
    node: Any = config[group]
    for name in names:
        if not isinstance(node, DictConfig) or name not in node:
            return False
        node = node[name]
    return True
