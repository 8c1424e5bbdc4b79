"""From resolved configs to cells, trials and tasks: what is to be computed, before anything is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_clusterer

from provsel.datasets import MissingDataError, dataset_feature_names, dataset_identity, missing_files
from provsel.evaluation.components import build, component_arguments, component_class, inner_kind, is_component
from provsel.evaluation.first_release import content_then
from provsel.evaluation.reduction import is_random, is_random_model
from provsel.keys import canonical_json, digest, seed_from
from provsel.models._base import AbstractLinearSVM
from provsel.selectors import AbstractSelector
from provsel.selectors.full import FullDataSelector

SETTINGS = ("supervised", "unsupervised", "unsupervised_with_center")
SPLITS = ("kfold", "kfold_inverse", "official", "streamed", "all_rows", "selection_only")
WHOLE = ("all_rows", "selection_only")
"""Splits without test rows: repeats differ in their seed only."""

OWN = ("official", "streamed")
"""Splits into the data set's own training and test rows: there is one."""

PROTOCOL = {"split", "n_splits", "repeats", "draws", "setting", "seed", "certify"}


@dataclass(frozen=True)
class Cell:
    """Data set x selector x model x protocol, as resolved configs of primitives.

    Attributes
    ----------
    dataset : mapping
        `name` and the parameters of its loader.
    selector, model : mapping
        `_target_` and arguments.
    protocol : mapping
        split, n_splits, repeats, draws, setting, seed, certify. Splits: "kfold"; "kfold_inverse"; "official", the data
        set's own; "streamed", the same, where a process of its own trains from a file; "all_rows", where the model is
        a clusterer; "selection_only", a fit on all rows, each time from nothing, and no model.
    data : str
        Identity of the data set, see `identity_of`.
    """

    dataset: Mapping[str, Any]
    selector: Mapping[str, Any]
    model: Mapping[str, Any]
    protocol: Mapping[str, Any]
    data: str

    def __post_init__(self) -> None:
        unknown = sorted(set(self.protocol) ^ PROTOCOL)
        if unknown:
            raise ValueError(
                f"protocol: expected exactly {', '.join(sorted(PROTOCOL))}, got a difference in {', '.join(unknown)}."
            )
        if self.protocol["setting"] not in SETTINGS:
            raise ValueError(f"protocol.setting: expected one of {SETTINGS}, got {self.protocol['setting']!r}.")
        method = component_class("selector", self.selector)
        if self.protocol["setting"] != "unsupervised" and not issubclass(method, AbstractSelector):
            raise ValueError(
                f"protocol.setting: expected unsupervised with {method.__name__}, which selects no features, "
                f"got {self.protocol['setting']!r}."
            )
        for name in ("repeats", "draws"):
            if not isinstance(self.protocol[name], int) or self.protocol[name] < 1:
                raise ValueError(f"protocol.{name}: expected a positive integer, got {self.protocol[name]!r}.")
        if self.protocol["split"] not in SPLITS:
            raise ValueError(f"protocol.split: expected one of {SPLITS}, got {self.protocol['split']!r}.")
        split, n_splits = self.protocol["split"], self.protocol["n_splits"]
        if split in OWN and (n_splits, self.protocol["repeats"]) != (1, 1):
            raise ValueError(
                f"protocol: expected n_splits = repeats = 1 for the {split} split, there is only one; "
                f"got n_splits = {n_splits!r}, repeats = {self.protocol['repeats']!r}."
            )
        if split in WHOLE and (n_splits, self.protocol["setting"]) != (1, "unsupervised"):
            raise ValueError(
                f"protocol: expected n_splits = 1 and setting = unsupervised for the split {split}, which has no test "
                f"rows; got n_splits = {n_splits!r}, setting = {self.protocol['setting']!r}."
            )
        if split.startswith("kfold") and (not isinstance(n_splits, int) or n_splits < 2):
            raise ValueError(f"protocol.n_splits: expected an integer above 1, got {n_splits!r}.")
        if split != "selection_only" and is_clusterer(build("model", self.model)) != (split == "all_rows"):
            raise ValueError(
                f"protocol.split: expected all_rows with a model that clusters, and only with such a one, "
                f"got {split} with {self.model['_target_']}; use protocol=clustering model=kmeans together."
            )

        if split == "streamed" and (method is not FullDataSelector or self.protocol["setting"] != "unsupervised"):
            raise ValueError(
                f"protocol.split: expected selector=full and setting=unsupervised with streamed, which trains on the "
                f"rows as they are in a file; got {method.__name__} and {self.protocol['setting']}."
            )
        if split == "streamed" and not issubclass(component_class("model", self.model), AbstractLinearSVM):
            raise ValueError(
                f"protocol.split: expected a linear model with streamed, got {self.model['_target_']}; use model=..."
            )

    @cached_property
    def identity(self) -> dict[str, Any]:
        """What the numbers of the cell depend on, except repeat, fold and draw; no paths, no executor."""
        counts = ("repeats", "draws")
        return {
            "dataset": dict(self.dataset),
            "data": self.data,
            "selector": _component_identity("selector", self.selector),
            "model": None if self.protocol["split"] == "selection_only" else _component_identity("model", self.model),
            "protocol": {name: value for name, value in self.protocol.items() if name not in counts},
        }

    @cached_property
    def id(self) -> str:
        """SHA-256 of the identity."""
        return digest(self.identity)

    @cached_property
    def seeding(self) -> str:
        """Canonical JSON that takes the place of the identity's where a trial's seed is made: mostly the same."""
        then = content_then(self.data)
        if then is None:
            return canonical_json(self.identity)
        rest = {name: value for name, value in self.identity.items() if name != "data"}
        return canonical_json({**rest, "fingerprint": then})

    @cached_property
    def n_draws(self) -> int:
        """Draws of a fold: one where neither the method nor the model draws anything."""
        model_draws = self.protocol["split"] not in WHOLE and _draws("model", canonical_json(self.model))
        return self.protocol["draws"] if model_draws or _draws("selector", canonical_json(self.selector)) else 1

    @property
    def n_trials(self) -> int:
        """Number of trials of the cell."""
        return self.protocol["repeats"] * self.protocol["n_splits"] * self.n_draws


@lru_cache(maxsize=4096)
def _draws(kind: str, config: str) -> bool:
    """Tell whether a component draws anything; thousands of cells have the same few."""
    component = build(kind, json.loads(config))
    return is_random_model(component) if kind == "model" else is_random(component)


@dataclass(frozen=True)
class Trial:
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


def trial_key(cell_json: str, repeat: int, fold: int, draw: int) -> str:
    """Return the SHA-256 of the canonical JSON of cell, draw, fold and repeat."""
    text = f'{{"cell":{cell_json},"draw":{draw},"fold":{fold},"repeat":{repeat}}}'
    return hashlib.sha256(text.encode()).hexdigest()


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


def split_seed(data: str, n_splits: int, seed: int, repeat: int) -> int:
    """Return the seed of the folds of a repeat: the same for all methods, settings, models, and for the inverse."""
    return seed_from(digest({"split": [content_then(data) or data, n_splits, seed, repeat]}))


def trial_seed(cell: Cell, repeat: int, fold: int, draw: int) -> int:
    """Return the seed of what a trial draws: that of its key, but for data sets of the `first_release`."""
    return seed_from(trial_key(cell.seeding, repeat, fold, draw))


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
    cell_json, draws = canonical_json(cell.identity), cell.n_draws
    for repeat in range(cell.protocol["repeats"]):
        for fold in range(cell.protocol["n_splits"]):
            for draw in range(draws):
                yield repeat, fold, draw, trial_key(cell_json, repeat, fold, draw)


def make_tasks(cells: Iterable[Cell], done: frozenset[str] | set[str] = frozenset()) -> list[Task]:
    """Group the trials that are not `done` into tasks, data set by data set, then repeat, then fold."""
    groups: dict[tuple[str, str, int, int, int, int, int], list[tuple[Cell, int, str]]] = {}
    datasets: dict[str, Mapping[str, Any]] = {}
    for place_of_cell, cell in enumerate(unique_cells(cells)):
        datasets.setdefault(cell.data, cell.dataset)
        protocol = cell.protocol
        alone = place_of_cell if protocol["split"] in WHOLE else 0
        fixed = cell.data, protocol["split"], protocol["n_splits"], protocol["seed"]
        for repeat, fold, draw, key in trials_of(cell):
            if key not in done:
                groups.setdefault((*fixed, repeat, fold, alone), []).append((cell, draw, key))
    order = {data: place for place, data in enumerate(datasets)}
    tasks = []
    for group in sorted(groups, key=lambda g: (order[g[0]], *g[1:])):
        data, split, n_splits, seed, repeat, fold, _ = group
        members = groups[group]
        task_cells = list({id(cell): cell for cell, _, _ in members}.values())
        place = {id(cell): k for k, cell in enumerate(task_cells)}
        tasks.append(
            Task(
                dataset=datasets[data],
                data=data,
                split=split,
                n_splits=n_splits,
                split_seed=split_seed(data, n_splits, seed, repeat),
                repeat=repeat,
                fold=fold,
                cells=tuple(task_cells),
                trials=tuple(Trial(key, place[id(cell)], draw) for cell, draw, key in members),
            )
        )
    return tasks


def _component_identity(kind: str, config: Mapping[str, Any]) -> dict[str, Any]:
    cls = component_class(kind, config)
    arguments = component_arguments(kind, config)
    inner = {name: value for name, value in arguments.items() if is_component(value)}
    return {
        "name": cls.__name__,
        "algorithm_version": cls.algorithm_version,  # type: ignore[attr-defined]
        "arguments": {
            **arguments,
            **{name: _component_identity(inner_kind(value), value) for name, value in inner.items()},
        },
    }
