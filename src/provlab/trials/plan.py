"""From resolved configs to cells, trials and tasks: what is to be computed, before anything is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from provlab.datasets import MissingDataError, dataset_feature_names, dataset_identity, is_place, missing_files
from provlab.keys import canonical_json, digest, digest_of, seed_from
from provlab.project.components import build, component_identity, is_component, is_own
from provlab.protocols import AbstractProtocol, Method, protocol_named
from provlab.trials.columns import check_own_columns
from provlab.trials.first_release import content_then

STREAMS = ("per_trial", "restarted")
"""Each trial has random numbers of its own, or one stream begins anew in every fold."""

OPTIONAL = {"measures": (), "stream": STREAMS[0]}
"""Settings that keys leave out at these values: they came later."""
Parts = Mapping[str, Any]


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
        split, the name of a class of `provlab.protocols`; n_splits, repeats, draws, setting, seed, certify; and where
        they are not the default measures and stream, one of `STREAMS`.
    data : str
        Identity of the data set, see `identity_of`.
    """

    dataset: Mapping[str, Any]
    selector: Mapping[str, Any]
    model: Mapping[str, Any]
    protocol: Mapping[str, Any]
    data: str

    def __post_init__(self) -> None:
        unknown = sorted((set(self.protocol) - set(OPTIONAL)) ^ PROTOCOL)
        if unknown:
            raise ValueError(
                f"protocol: expected exactly {', '.join(sorted(PROTOCOL))}, got a difference in {', '.join(unknown)}."
            )
        self._check_stream()
        self.measured.check(self.protocol, self.method)
        check_own_columns(self.method)

    def _check_stream(self) -> None:
        stream = self.protocol.get("stream", STREAMS[0])
        if stream not in STREAMS:
            raise ValueError(f"protocol.stream: expected one of {STREAMS}, got {stream!r:.80}.")
        if stream != STREAMS[0] and self.measured.repeats_are_seeds:
            raise ValueError(
                f"protocol.stream: expected {STREAMS[0]} for the split {self.protocol['split']}, whose repeats differ "
                f"in their seed only, got {stream}; leave it out."
            )

    @classmethod
    def known(
        cls, dataset: Parts, selector: Parts, model: Parts, protocol: Parts, data: str, *, cell: str, n_draws: int
    ) -> Cell:
        """Return a cell that was made before with the same classes, with the `id` and `n_draws` that it had."""
        made = object.__new__(cls)
        made.__dict__.update(dataset=dataset, selector=selector, model=model, protocol=protocol, data=data)
        made.__dict__.update(id=cell, n_draws=n_draws)
        return made

    def on(self, dataset: Parts, data: str) -> Cell:
        """Return the cell of the same method and protocol on other data; what depends on neither is kept."""
        kept = {name: self.__dict__[name] for name in ("selector", "model", "protocol", "method")}
        made = object.__new__(type(self))
        made.__dict__.update(kept, dataset=dataset, data=data, beside_data=self.beside_data, n_draws=self.n_draws)
        return made

    @property
    def measured(self) -> AbstractProtocol:
        """How trials are measured: the protocol's class."""
        return protocol_named(self.protocol["split"])

    @property
    def is_own(self) -> bool:
        """Whether selector and model are provsel's classes."""
        return is_own(self.selector) and is_own(self.model)

    @cached_property
    def method(self) -> Method:
        """What is measured."""
        measures = self.protocol.get("measures") or ()
        if not isinstance(measures, list | tuple) or not all(map(is_component, measures)):
            raise ValueError(
                f"protocol.measures: expected a list of mappings with a _target_, got {measures!r:.80}; such as "
                f"[{{_target_: my_study.BalancedError}}]."
            )
        settings = self.protocol["setting"], bool(self.protocol["certify"])
        return Method(self.selector, self.model, *settings, tuple(measures))

    @property
    def identity(self) -> dict[str, Any]:
        """What the numbers of the cell depend on, except repeat, fold and draw; no paths, no executor."""
        dataset = {name: value for name, value in self.dataset.items() if not is_place(self.dataset["name"], name)}
        return {"dataset": dataset, "data": self.data, **self.beside_data[0]}

    @cached_property
    def beside_data(self) -> tuple[dict[str, Any], str]:
        """What the identity says of method and protocol, and its canonical JSON: the same for many data sets."""
        counts = ("repeats", "draws")
        measures = [component_identity("measure", config) for config in self.method.measures]
        stream = self.protocol.get("stream", STREAMS[0])
        parts = {
            "selector": component_identity("selector", self.selector),
            "model": component_identity("model", self.model) if self.measured.uses_model else None,
            "protocol": {
                **{name: value for name, value in self.protocol.items() if name not in {*counts, *OPTIONAL}},
                **({"measures": measures} if measures else {}),
                **({"stream": stream} if stream != OPTIONAL["stream"] else {}),
            },
        }
        return parts, canonical_json(parts)

    @property
    def json(self) -> str:
        """Canonical JSON of the identity, in which the data come first; made anew, as cells are many and it is long."""
        identity = self.identity
        data = canonical_json({name: identity[name] for name in ("data", "dataset")})
        return f"{data[:-1]},{self.beside_data[1][1:]}"

    @cached_property
    def id(self) -> str:
        """SHA-256 of the identity."""
        return digest_of(self.json)

    @cached_property
    def seeding(self) -> str:
        """Canonical JSON that takes the place of the identity's where a trial's seed is made: mostly the same."""
        then = content_then(self.data)
        if then is None:
            return self.json
        rest = {name: value for name, value in self.identity.items() if name != "data"}
        return canonical_json({**rest, "fingerprint": then})

    @cached_property
    def n_draws(self) -> int:
        """Draws of a fold: one where neither the method nor the model draws anything."""
        model_draws = not self.measured.repeats_are_seeds and _draws("model", canonical_json(self.model))
        return self.protocol["draws"] if model_draws or _draws("selector", canonical_json(self.selector)) else 1

    @property
    def n_trials(self) -> int:
        """Number of trials of the cell."""
        return self.protocol["repeats"] * self.protocol["n_splits"] * self.n_draws


@lru_cache(maxsize=4096)
def _draws(kind: str, config: str) -> bool:
    """Tell whether a component draws anything; thousands of cells have the same few."""
    from provsel.reducers import is_random, is_random_model

    component = build(kind, json.loads(config))
    return is_random_model(component) if kind == "model" else is_random(component)


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


def trial_key(cell_json: str, repeat: int, fold: int, draw: int) -> str:
    """Return the SHA-256 of the canonical JSON of cell, draw, fold and repeat."""
    return _ended(_begun(cell_json), repeat, fold, draw)


def _begun(cell_json: str) -> Any:
    """Return the hash of what all trials of a cell share, which is most of the text."""
    return hashlib.sha256(f'{{"cell":{cell_json},"draw":'.encode())


def _ended(begun: Any, repeat: int, fold: int, draw: int) -> str:
    whole = begun.copy()
    whole.update(b'%d,"fold":%d,"repeat":%d}' % (draw, fold, repeat))
    return str(whole.hexdigest())


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


@lru_cache(maxsize=4096)
def split_seed(data: str, n_splits: int, seed: int, repeat: int) -> int:
    """Return the seed of the folds of a repeat: the same for all methods, settings, models, and for the inverse."""
    return seed_from(digest({"split": [content_then(data) or data, n_splits, seed, repeat]}))


def trial_seed(cell: Cell, repeat: int, fold: int, draw: int) -> int:
    """Return the seed of what a trial draws: that of its key, but for data sets of the `first_release`.

    Where `protocol.stream` is "restarted", that of the first fold's trial: it differs between draws only.
    """
    if cell.protocol.get("stream") == "restarted":
        repeat = fold = 0
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
    for repeat, fold, keys in _fold_keys(cell):
        for draw, key in enumerate(keys):
            yield repeat, fold, draw, key


def _fold_keys(cell: Cell) -> Iterator[tuple[int, int, list[str]]]:
    """Yield (repeat, fold, keys of its draws) of all folds of a cell."""
    begun, draws = _begun(cell.json), range(cell.n_draws)
    for repeat in range(cell.protocol["repeats"]):
        for fold in range(cell.protocol["n_splits"]):
            yield repeat, fold, [_ended(begun, repeat, fold, draw) for draw in draws]


def make_tasks(cells: Iterable[Cell], done: frozenset[str] | set[str] = frozenset()) -> list[Task]:
    """Group the trials that are not `done` into tasks, data set by data set, then repeat, then fold."""
    groups: dict[tuple[str, str, int, int, int, int, int], tuple[list[Cell], list[Trial]]] = {}
    datasets: dict[str, Mapping[str, Any]] = {}
    for place_of_cell, cell in enumerate(unique_cells(cells)):
        datasets.setdefault(cell.data, cell.dataset)
        protocol = cell.protocol
        alone = place_of_cell if cell.measured.repeats_are_seeds else 0
        fixed = cell.data, protocol["split"], protocol["n_splits"], protocol["seed"]
        for repeat, fold, keys in _fold_keys(cell):
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
