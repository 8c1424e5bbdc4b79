"""Plans: cells, trials and tasks from configs, with keys and seeds, before anything is computed."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from provlab.core.cell import Cell
from provlab.core.composition import Parts, resolve_references
from provlab.core.keys import split_seed, trial_keys
from provlab.core.overrides import CELL_GROUPS, ELSEWHERE, check_names
from provlab.core.protocols import AbstractStatedFolds, protocol_of
from provlab.data import (
    Dataset,
    dataset_identity,
    dataset_members,
    is_place,
    keyed_parameters,
    load_dataset,
    missing_files,
)
from provlab.project.documents import MAX_COUNT as MAX_COUNT
from provlab.project.documents import canonical_json
from provlab.project.messages import unknown_setting

IS_REGRESSION = attrgetter("is_regression")
N_ROWS = attrgetter("n_rows")
TASKS = ("classification", "regression", "many_rows")
"""Kinds of tasks. A model may have a config for each, and the data decide. "many_rows" replaces LIBSVM in
classifications with many rows.
"""

LIBSVM = "provsel.models.LibsvmSVM"

MANY_ROWS = 20_000
"""Number of rows at which LIBSVM, whose time grows quadratically, takes half a minute per fit."""


class Trial(NamedTuple):
    """A draw of a cell on a fold of a repeat; `cell` is a position in the task's list of cells."""

    key: str
    cell: int
    draw: int


@dataclass(frozen=True)
class Task:
    """A unit of work: all missing trials that share data set, repeat and fold.

    Without folds, a task has the missing trials of one cell in one repeat, which may
    take minutes each.
    """

    cells: tuple[Cell, ...]
    trials: tuple[Trial, ...]
    repeat: int
    fold: int
    private_copies: tuple[str, ...] = ()
    """Names of foreign classes that get private arrays; a setting of the executor, which is in no key."""

    @property
    def dataset(self) -> Mapping[str, Any]:
        """Config of the data set. All cells share it, as they do the next three properties."""
        return self.cells[0].dataset

    @property
    def data(self) -> str:
        """Identity of the data set."""
        return self.cells[0].data

    @property
    def protocol(self) -> Mapping[str, Any]:
        """Settings of the folds and of the preparation."""
        return self.cells[0].protocol

    @property
    def split_seed(self) -> int:
        """Seed of the folds of the repeat."""
        return split_seed(
            self.data, self.protocol["n_splits"], self.protocol["seed"], self.repeat
        )


def identity_of(config: Mapping[str, Any]) -> str:
    """Return the identity of the data set of a config, `name` and loader parameters, without loading it."""
    return dataset_identity(config["name"], **_parameters(config))


def files_missing(config: Mapping[str, Any]) -> list[str]:
    """Return the registered files of a config's data set that are in no searched folder."""
    return missing_files(config["name"], **_parameters(config))


def feature_names_of(config: Mapping[str, Any]) -> NDArray[np.object_]:
    """Load the data set of a config, and return the names of its features."""
    return load_from(config).feature_names


def places_of_first(config: Mapping[str, Any], n: int) -> frozenset[int]:
    """Return the columns of the first n features of a data set; it is loaded only if `shuffle_columns` is set."""
    if config.get("shuffle_columns") is None:
        return frozenset(range(n))
    first = feature_names_of({**config, "shuffle_columns": None})[:n]
    return frozenset(np.flatnonzero(np.isin(feature_names_of(config), first)).tolist())


def load_from(config: Mapping[str, Any]) -> Dataset:
    """Return the data set of a config, `name` and loader parameters. The last two stay in memory."""
    return _loaded(canonical_json(config), identity_of(config))


@lru_cache(maxsize=2)
def _loaded(config: str, data: str) -> Dataset:
    """Load a data set, and reload it if its identity has changed, as a user's file may have."""
    stated = json.loads(config)
    dataset = load_dataset(stated["name"], **_parameters(stated))
    dataset.make_read_only()  # all tasks of this process share it
    return dataset


def load_again(config: Mapping[str, Any]) -> Dataset:
    """Return the data set of a config, reread from its files."""
    _loaded.cache_clear()
    return load_from(config)


def _parameters(config: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in config.items() if name != "name"}


KeyedData = list[tuple[dict[str, Any], str]]
"""Name and parameters as in keys, and identity, of each data set."""


def data_of(dataset: Mapping[str, Any]) -> KeyedData:
    """Return the data set of a config, or each member of a collection."""
    keyed: KeyedData = []
    for member in _members(dataset):
        name = str(member["name"])
        config = {"name": name, **keyed_parameters(name, **_parameters(member))}
        keyed.append((config, identity_of(config)))
    return keyed


def cells_of(
    config: Parts, look: Callable[[Mapping[str, Any]], KeyedData] = data_of
) -> list[Cell]:
    """Return the cells of a composed config, one per member of a collection of data sets.

    Parameters
    ----------
    config : mapping
    look : callable, optional
        Replacement of `data_of`. Data are loaded only to count the folds that they
        state.
    """
    check_names(
        "config",
        config,
        [*CELL_GROUPS, "preparation", *ELSEWHERE, "fail_fast", "artefact"],
    )
    parts = resolve_references(config, [*CELL_GROUPS, "preparation"])
    preparation = parts.pop("preparation")
    dataset, protocol = parts.pop("dataset"), parts["protocol"]
    for name in ("repeats", "n_splits", "draws"):
        number = protocol.get(name)
        if isinstance(number, int | float) and number > MAX_COUNT:
            raise ValueError(
                f"protocol.{name}: expected at most {MAX_COUNT}, got {number!r:.80}; lower it."
            )
    measured = protocol_of(protocol)
    parts["protocol"] = measured.complete_settings(protocol)
    if preparation.get("_target_") is not None:
        parts["protocol"]["preparation"] = preparation
    elif preparation.keys() - {"_target_"}:
        [name, *_] = preparation.keys() - {"_target_"}
        raise ValueError(
            f"preparation=none: {unknown_setting('preparation', name, [])}"
        )
    members = look(dataset)
    first_dataset, first_data = members[0]
    if parts["model"].keys() == {*TASKS}:
        parts["model"] = _model_by_task(parts["model"], first_dataset, first_data)
    if not isinstance(measured, AbstractStatedFolds):
        cell = Cell(dataset=first_dataset, data=first_data, **parts)
        return [cell, *(cell.on(config, data) for config, data in members[1:])]
    cells = []
    for config, data in members:  # the number of folds may depend on the data set
        n_folds = _asked(canonical_json(config), data, measured.count_folds)
        protocol = {**parts["protocol"], "n_splits": n_folds}
        cells.append(Cell(dataset=config, data=data, **{**parts, "protocol": protocol}))
    return cells


def _model_by_task(
    models: Mapping[str, Any], dataset: Mapping[str, Any], data: str
) -> Any:
    """Return the model for the task and size of a data set; a default LIBSVM is replaced on many rows."""
    classifier = models["classification"]
    if not is_place(dataset["name"], "path"):  # registered data sets have classes
        return classifier
    if _asked(canonical_json(dataset), data, IS_REGRESSION):
        return models["regression"]
    n_rows = _asked(canonical_json(dataset), data, N_ROWS)
    is_plain = (
        classifier.keys() == {"_target_", "C"} and classifier["_target_"] == LIBSVM
    )
    if n_rows <= MANY_ROWS or not is_plain:
        return classifier
    warnings.warn(
        f"{n_rows:,} rows: the model is LIBLINEAR (model=liblinear_primal), because LIBSVM takes minutes or hours "
        f"per fit on so many rows; model=libsvm still chooses LIBSVM.",
        stacklevel=3,
    )
    return models["many_rows"]


@lru_cache(maxsize=64)
def _asked(config: str, data: str, ask: Callable[[Dataset], int]) -> int:
    """Return the part of the plan that depends on the data, loading each data set only once."""
    return ask(load_from(json.loads(config)))


def _members(dataset: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the data set of a config, or the members of the collection that it names."""
    name, chosen = dataset.get("name"), dataset.get("set", "")
    if not isinstance(name, str):
        raise ValueError(
            f"dataset.name: expected a string, got {name!r:.80}; choose with dataset=...."
        )
    if chosen == "all":
        names = dataset_members(name, dataset.get("path", ""))
    elif isinstance(chosen, str):
        names = []
    elif isinstance(chosen, list) and all(isinstance(member, str) for member in chosen):
        names = chosen
    else:
        raise ValueError(
            f"dataset.set: expected a name, all, or a list of names, got {chosen!r:.80}."
        )
    members: list[Mapping[str, Any]] = [{**dataset, "set": member} for member in names]
    # for an empty list, the loader's error states what it accepts
    return members or [dataset]


def unique_cells(cells: Iterable[Cell]) -> list[Cell]:
    """Return the distinct cells in order, each with the largest counts among its duplicates."""
    cells_by_id: dict[str, Cell] = {}
    for cell in cells:
        first = cells_by_id.setdefault(cell.id, cell)
        counts = {
            name: max(cell.protocol[name], first.protocol[name])
            for name in ("repeats", "draws")
        }
        if any(counts[name] > first.protocol[name] for name in counts):
            cells_by_id[cell.id] = replace(first, protocol={**first.protocol, **counts})
    return list(cells_by_id.values())


def trials_of(cell: Cell) -> Iterator[tuple[int, int, int, str]]:
    """Yield (repeat, fold, draw, key) of all trials of a cell."""
    n_repeats, n_folds, n_draws = cell.counts
    places = list(product(range(n_repeats), range(n_folds), range(n_draws)))
    for (repeat, fold, draw), key in zip(
        places, trial_keys(cell.json, places), strict=True
    ):
        yield repeat, fold, draw, key


def make_tasks(
    cells: Iterable[Cell], done: frozenset[str] | set[str] = frozenset()
) -> list[Task]:
    """Group the trials that are not `done` into tasks by data set, repeat and fold."""
    groups: dict[tuple[Any, ...], tuple[list[Cell], list[Trial]]] = {}
    order: dict[str, int] = {}
    for place, cell in enumerate(unique_cells(cells)):
        protocol = cell.protocol
        alone = place if cell.measured.repeats_are_seeds else 0
        preparation = protocol.get("preparation")
        prepared = "" if preparation is None else canonical_json(preparation)
        split = protocol["split"], protocol["n_splits"], protocol["seed"]
        cv = canonical_json(protocol.get("cv"))
        of_data = order.setdefault(cell.data, len(order))
        for repeat, fold, draw, key in trials_of(cell):
            if key in done:
                continue
            members, trials = groups.setdefault(
                (of_data, *split, repeat, fold, alone, prepared, cv), ([], [])
            )
            if not members or members[-1] is not cell:
                members.append(cell)
            trials.append(Trial(key, len(members) - 1, draw))
    ordered = sorted(groups.items(), key=lambda group: group[0])
    return [
        Task(tuple(members), tuple(trials), *key[4:6])
        for key, (members, trials) in ordered
    ]
