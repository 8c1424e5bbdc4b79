"""From cells to trials and tasks, with their keys and seeds: what is to be computed, before anything is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from provlab.datasets import MissingDataError, dataset_feature_names, dataset_identity, missing_files
from provlab.identity.cell import Cell
from provlab.identity.keys import fold_keys, split_seed


class Trial(NamedTuple):
    """One draw of a cell on one fold of one repeat; `cell` is a position in the task's list of cells."""

    key: str
    cell: int
    draw: int


@dataclass(frozen=True)
class Task:
    """All missing trials that share data set, repeat and fold: one unit of work, a plain function's argument.

    Where there are no folds, the missing trials of one cell in one repeat: they share their rows with all others, and
    may take minutes each.
    """

    dataset: Mapping[str, Any]
    data: str
    split: str
    n_splits: int
    split_seed: int
    repeat: int
    fold: int
    cells: tuple[Cell, ...]
    trials: tuple[Trial, ...]


def identity_of(config: Mapping[str, Any]) -> str:
    """Return the identity of the data set of a config, which is not loaded: `name`, and its loader's parameters."""
    parameters = dict(config)
    name = parameters.pop("name")
    try:
        return dataset_identity(name, **parameters)
    except MissingDataError as error:
        error.dataset = str(name)
        raise


def files_missing(config: Mapping[str, Any]) -> list[str]:
    """Return the registered files of the data set of a config that are in none of the searched folders."""
    parameters = dict(config)
    return missing_files(parameters.pop("name"), **parameters)


def feature_names_of(config: Mapping[str, Any]) -> NDArray[np.object_]:
    """Return the names of the features of the data set of a config, without loading it where it was parsed before."""
    parameters = dict(config)
    return dataset_feature_names(parameters.pop("name"), **parameters)


def unique_cells(cells: Iterable[Cell]) -> list[Cell]:
    """Return the cells without repetitions of the same identity, in order; counts are taken at their largest."""
    found: dict[str, Cell] = {}
    for cell in cells:
        other = found.setdefault(cell.id, cell)
        counts = {name: max(cell.protocol[name], other.protocol[name]) for name in ("repeats", "draws")}
        if any(counts[name] > other.protocol[name] for name in counts):
            found[cell.id] = replace(other, protocol={**other.protocol, **counts})
    return list(found.values())


def trials_of(cell: Cell) -> Iterator[tuple[int, int, int, str]]:
    """Yield (repeat, fold, draw, key) of all trials of a cell."""
    for repeat, fold, keys in fold_keys(cell.json, *cell.counts):
        for draw, key in enumerate(keys):
            yield repeat, fold, draw, key


def make_tasks(cells: Iterable[Cell], done: frozenset[str] | set[str] = frozenset()) -> list[Task]:
    """Group the trials that are not `done` into tasks, data set by data set, then repeat, then fold."""
    groups: dict[tuple[str, str, int, int, int, int, int], tuple[list[Cell], list[Trial]]] = {}
    datasets: dict[str, Mapping[str, Any]] = {}
    for place_of_cell, cell in enumerate(unique_cells(cells)):
        datasets.setdefault(cell.data, cell.dataset)
        protocol = cell.protocol
        alone = place_of_cell if cell.measured.repeats_are_seeds else 0
        fixed = cell.data, protocol["split"], protocol["n_splits"], protocol["seed"]
        for repeat, fold, keys in fold_keys(cell.json, *cell.counts):
            missing = [draw for draw, key in enumerate(keys) if key not in done]
            if missing:
                members, trials = groups.setdefault((*fixed, repeat, fold, alone), ([], []))
                trials += [Trial(keys[draw], len(members), draw) for draw in missing]
                members.append(cell)
    order = {data: place for place, data in enumerate(datasets)}
    tasks = []
    for group in sorted(groups, key=lambda g: (order[g[0]], *g[1:])):
        data, split, n_splits, seed, repeat, fold, _ = group
        members, trials = groups[group]
        tasks.append(
            Task(
                dataset=datasets[data],
                data=data,
                split=split,
                n_splits=n_splits,
                split_seed=split_seed(data, n_splits, seed, repeat),
                repeat=repeat,
                fold=fold,
                cells=tuple(members),
                trials=tuple(trials),
            )
        )
    return tasks
