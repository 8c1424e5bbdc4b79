"""Compose Hydra configs, and turn them into cells."""

from __future__ import annotations

import copy
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hydra import compose, initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import OverrideType
from omegaconf import DictConfig, OmegaConf, open_dict

from provsel._plain_config import ELSEWHERE, check_overrides, check_plain, check_references
from provsel.datasets import MissingDataError, dataset_members
from provsel.evaluation import Cell, load_from
from provsel.evaluation.plan import OWN, WHOLE, trials_of, unique_cells

ROOT = Path(__file__).resolve().parents[2]

COMPLETE, PARTIAL, NOT_RUN = "complete", "partial", "not run"
"""States of an artefact."""

CELL_GROUPS = ("dataset", "selector", "model", "protocol")
"""Parts of a config that make a cell."""

MAX_COUNT = 100_000
"""Of repeats, folds or draws: each trial is listed before the first one is run."""


def tool(name: str) -> str:
    """Return how a command of this environment is called from the checkout: .venv/bin/<name> where that is it."""
    environment = Path(sys.prefix)
    return f"{environment.name}/bin/{name}" if environment.parent == ROOT else name


def conf_dir() -> Path:
    """Return the folder of configs: inside an installed package, or at the top of a checkout."""
    installed = Path(__file__).resolve().parent / "conf"
    return installed if installed.is_dir() else ROOT / "conf"


def experiments_dir() -> Path:
    """Return the folder of artefact scripts and printed numbers, which only a checkout has."""
    return ROOT / "experiments"


def artefact_names() -> list[str]:
    """Return the names paper/artefact of all experiment configs."""
    root = conf_dir() / "experiment"
    return sorted(path.relative_to(root).with_suffix("").as_posix() for path in root.glob("*/*.yaml"))


def full_name(name: str) -> str:
    """Return paper/artefact of an artefact's name with or without its paper.

    Raises
    ------
    ValueError
        For a name that no artefact has.
    """
    known = artefact_names()
    found = [full for full in known if name in (full, full.split("/")[1])]
    if not found:
        raise ValueError(f"artefact: expected one of {', '.join(full.split('/')[1] for full in known)}, got {name!r}.")
    return found[0]


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


def compose_config(overrides: Sequence[str] = ()) -> DictConfig:
    """Return the config with some overrides, in Hydra's own grammar.

    Raises
    ------
    ValueError, HydraException, OmegaConfBaseException
        For what is no config, and for one that asks the environment for anything but `ELSEWHERE`.
    """
    check_overrides(overrides)
    with initialize_config_dir(config_dir=str(conf_dir()), version_base="1.3"):
        config = compose("config", overrides=list(overrides))
    _check_references(config)
    return config


def _check_references(config: DictConfig) -> None:
    raw: Any = OmegaConf.to_container(config)  # asking for one part of a config may resolve it
    for name in sorted(raw.keys() - {*ELSEWHERE}):
        check_references(raw[name], name, [*CELL_GROUPS, "artefact"])


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


def cells_of(config: DictConfig, fingerprints: dict[str, str] | None = None) -> list[Cell]:
    """Return the cells of a composed config: one, or one for each member of a collection of data sets.

    Parameters
    ----------
    config : DictConfig
    fingerprints : dict, optional
        Of data sets that were loaded before, by their config; filled in place.
    """
    known = {} if fingerprints is None else fingerprints
    _check_references(config)
    parts = {group: OmegaConf.to_container(config[group], resolve=True) for group in CELL_GROUPS}
    for group, part in parts.items():
        check_plain(part, group)
    _check_cell_parts(parts)  # type: ignore[arg-type]
    split = parts["protocol"]["split"]  # type: ignore[index, call-overload]
    if split in (*OWN, *WHOLE):
        # numbers that a sweep or an artefact sets for its k-fold columns do not apply
        parts["protocol"] |= {"n_splits": 1, **({"repeats": 1} if split in OWN else {})}  # type: ignore[operator]
    cells = []
    for dataset in _members(parts.pop("dataset")):  # type: ignore[arg-type]
        text = repr(sorted(dataset.items()))
        if text not in known:
            known[text] = _fingerprint(dataset)
        cells.append(Cell(dataset=dataset, fingerprint=known[text], **parts))  # type: ignore[arg-type]
    return cells


def _check_cell_parts(parts: Mapping[str, Mapping[str, Any]]) -> None:
    """Check what is needed to make cells of the parts; `Cell` and the loader check the rest."""
    dataset, protocol = parts["dataset"], parts["protocol"]
    if not isinstance(dataset.get("name"), str):
        raise ValueError(f"dataset.name: expected a text, got {dataset.get('name')!r:.80}; choose with dataset=....")
    chosen = dataset.get("set", "all")
    if not isinstance(chosen, str) and not (isinstance(chosen, list) and all(isinstance(name, str) for name in chosen)):
        raise ValueError(f"dataset.set: expected a name, all, or a list of names, got {chosen!r:.80}.")
    if not isinstance(protocol.get("split"), str):
        raise ValueError(f"protocol.split: expected a text, got {protocol.get('split')!r:.80}.")
    for name in ("repeats", "n_splits", "draws"):
        number = protocol.get(name)
        if isinstance(number, int | float) and number > MAX_COUNT:
            raise ValueError(f"protocol.{name}: expected at most {MAX_COUNT}, got {number!r:.80}; lower it.")


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


def _fingerprint(dataset: Mapping[str, Any]) -> str:
    try:
        return load_from(dataset).fingerprint
    except MissingDataError as error:
        error.dataset = str(dataset["name"])
        raise


def _members(dataset: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    chosen: Any = dataset.get("set")
    if "set" not in dataset or (isinstance(chosen, str) and chosen != "all"):
        yield dict(dataset)
        return
    names = dataset_members(dataset["name"]) if chosen == "all" else list(chosen)
    if not names:  # the loader's own error says what is missing and how to get it
        yield {name: value for name, value in dataset.items() if name != "set"}
    for name in names:
        yield {**dataset, "set": name}


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
