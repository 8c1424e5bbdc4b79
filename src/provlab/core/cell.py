"""A cell: data set, method and protocol as resolved configs, and their identity."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from provlab.core.keys import first_content, seed_from, trial_key
from provlab.core.protocols import COLUMNS, AbstractProtocol, Method, protocol_of
from provlab.core.protocols.scorers import scorer_identities, stated_scorers
from provlab.data import is_place
from provlab.project.components import (
    build,
    check_columns,
    component_arguments,
    component_class,
    component_identity,
    component_json,
    foreign_names,
    is_component,
    is_own,
    target_of_key,
)
from provlab.project.documents import (
    MAX_CONFIG_DEPTH,
    canonical_json,
    digest_of,
    parse_json,
)
from provlab.project.messages import unknown_setting
from provsel.certificates import Measure

ID_DIGITS = 20
"""Hexadecimal digits of a cell id in committed files; 80 bits distinguish cells and save space."""

STREAMS = ("per_trial", "restarted")
"""Streams of random numbers: one per trial, or one that restarts in every fold."""

OPTIONAL: dict[str, Any] = {
    "measures": (), "stream": STREAMS[0], "preparation": None, "scoring": (), "limit": None, "cv": None
}  # fmt: skip
"""Settings that were added later, so keys leave them out at these values."""

PROTOCOL = {"split", "n_splits", "repeats", "draws", "setting", "seed", "certify"}

UNUSED_MODEL = {"_target_": "provsel.models.LibsvmSVM"}
"""Model used if the identity of a cell has none but its class requires one."""

Parts = Mapping[str, Any]

_COLUMNS = frozenset(column.name for column in COLUMNS)


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
        split, the name of a class in `provlab.core.protocols`; n_splits, repeats,
        draws, setting, seed and certify; and, if not at their defaults, measures;
        stream, one of `STREAMS`; preparation, a transformer; limit, the CPU seconds of
        a selection; cv, a splitter; and scoring, scorers of which the first is the
        headline measure.
    data : str
        Identity of the data set, see `identity_of`.
    """

    dataset: Mapping[str, Any]
    selector: Mapping[str, Any]
    model: Mapping[str, Any]
    protocol: Mapping[str, Any]
    data: str

    def __post_init__(self) -> None:
        settings = [*sorted(PROTOCOL), *OPTIONAL]
        for name in self.protocol:
            if name not in settings:
                raise ValueError(
                    f"protocol: {unknown_setting('protocol', name, settings)}"
                )
        missing = sorted(PROTOCOL - set(self.protocol))
        if missing:
            raise ValueError(
                f"protocol: expected {', '.join(missing)}, got none; set protocol.{missing[0]}."
            )
        self._check_stream()
        self.measured.check(self.protocol, self.method)
        _check_own_columns(self.method)

    def _check_stream(self) -> None:
        stream = self.protocol.get("stream", STREAMS[0])
        if stream not in STREAMS:
            raise ValueError(
                f"protocol.stream: expected one of {STREAMS}, got {stream!r:.80}."
            )
        if stream != STREAMS[0] and self.measured.repeats_are_seeds:
            raise ValueError(
                f"protocol.stream: expected {STREAMS[0]} for the split {self.protocol['split']}, whose repeats "
                f"differ only in their seed, got {stream}; leave it out."
            )

    def on(self, dataset: Parts, data: str) -> Cell:
        """Return the cell with the same method and protocol on other data."""
        kept = {
            name: self.__dict__[name]
            for name in ("selector", "model", "protocol", "method")
        }
        cell = object.__new__(type(self))
        cell.__dict__.update(
            kept,
            dataset=dataset,
            data=data,
            beside_data=self.beside_data,
            n_draws=self.n_draws,
        )
        return cell

    @property
    def measured(self) -> AbstractProtocol:
        """Protocol object that defines how trials are measured."""
        return protocol_of(self.protocol)

    @cached_property
    def foreign(self) -> tuple[str, ...]:
        """Distinct names of foreign classes and functions that a trial runs on shared rows."""
        model = self.model if self.measured.uses_model else {}
        scorers = self.method.scoring.values()
        return tuple(
            dict.fromkeys(
                foreign_names([self.selector, model, *self.method.measures, *scorers])
            )
        )

    @property
    def is_own(self) -> bool:
        """Whether the selector and the model are classes of provsel."""
        return is_own(self.selector) and is_own(self.model)

    @cached_property
    def method(self) -> Method:
        """Method that is measured."""
        measures = self.protocol.get("measures") or ()
        if not isinstance(measures, list | tuple) or not all(
            map(is_component, measures)
        ):
            raise ValueError(
                f"protocol.measures: expected a list of mappings with a _target_, got {measures!r:.80}; write it "
                f"like [{{_target_: my_study.BalancedError}}]."
            )
        scoring = stated_scorers(self.protocol.get("scoring") or ())
        if self.protocol.get("preparation") is not None:
            component_arguments("preparation", self.protocol["preparation"])
        settings = self.protocol["setting"], bool(self.protocol["certify"])
        return Method(
            self.selector,
            self.model,
            *settings,
            tuple(measures),
            scoring,
            self.protocol.get("limit"),
        )

    @property
    def identity(self) -> dict[str, Any]:
        """All settings on which results depend, except repeat, fold and draw, without paths and executor."""
        dataset = {
            name: value
            for name, value in self.dataset.items()
            if not is_place(self.dataset["name"], name)
        }
        return {"dataset": dataset, "data": self.data, **self.beside_data[0]}

    @cached_property
    def beside_data(self) -> tuple[dict[str, Any], str]:
        """Method and protocol parts of the identity, and their canonical JSON, which many data sets share."""
        counts = ("repeats", "draws")
        measures = [
            component_identity("measure", config) for config in self.method.measures
        ]
        stream, preparation = (
            self.protocol.get("stream", STREAMS[0]),
            self.protocol.get("preparation"),
        )
        limit, cv = self.protocol.get("limit"), self.protocol.get("cv")
        parts = {
            "selector": component_identity("selector", self.selector),
            "model": component_identity("model", self.model)
            if self.measured.uses_model
            else None,
            "protocol": {
                **{
                    name: value
                    for name, value in self.protocol.items()
                    if name not in {*counts, *OPTIONAL}
                },
                **({"measures": measures} if measures else {}),
                **(
                    {"scoring": scorer_identities(self.method.scoring)}
                    if self.method.scoring
                    else {}
                ),
                **({"stream": stream} if stream != OPTIONAL["stream"] else {}),
                **({} if limit is None else {"limit": limit}),
                **({} if cv is None else {"cv": component_identity("splitter", cv)}),
                **(
                    {}
                    if preparation is None
                    else {"preparation": component_identity("preparation", preparation)}
                ),
            },
        }
        return parts, canonical_json(parts)

    @property
    def json(self) -> str:
        """Canonical JSON of the identity, with the data first; not cached, because it is long."""
        identity = self.identity
        data = canonical_json({name: identity[name] for name in ("data", "dataset")})
        return f"{data[:-1]},{self.beside_data[1][1:]}"

    @cached_property
    def id(self) -> str:
        """SHA-256 of the identity."""
        return digest_of(self.json)

    @cached_property
    def seeding(self) -> str:
        """Canonical JSON from which trial seeds are derived, usually that of the identity."""
        then = first_content(self.data)
        if then is None:
            return self.json
        rest = {name: value for name, value in self.identity.items() if name != "data"}
        return canonical_json({**rest, "fingerprint": then})

    @cached_property
    def n_draws(self) -> int:
        """Number of draws per fold; one if neither the method nor the model is random."""
        model_draws = not self.measured.repeats_are_seeds and _draws(
            "model", component_json("model", self.model)
        )
        return (
            self.protocol["draws"]
            if model_draws
            or _draws("selector", component_json("selector", self.selector))
            else 1
        )

    @property
    def counts(self) -> tuple[int, int, int]:
        """Planned repeats, folds and draws; trials with smaller numbers belong to the cell."""
        return self.protocol["repeats"], self.protocol["n_splits"], self.n_draws

    @property
    def n_trials(self) -> int:
        """Number of trials of the cell."""
        return math.prod(self.counts)


def trial_seed(cell: Cell, repeat: int, fold: int, draw: int) -> int:
    """Return the seed of a trial, which derives from its key except for data sets of the first release.

    If `protocol.stream` is "restarted", it is the seed of the trial on the first fold
    and differs only between draws.
    """
    if cell.protocol.get("stream") == "restarted":
        repeat = fold = 0
    return seed_from(trial_key(cell.seeding, repeat, fold, draw))


def cell_of(config: str, *, source: str = "", repeats: int = 1, draws: int = 1) -> Cell:
    """Return the cell whose identity is `config`, a JSON string in a record.

    Parameters
    ----------
    config : str
        JSON string from a possibly untrusted source; only code that a config may name
        is imported.
    source : str
        Path of the data if they are a user's file, because identities contain no path.
    repeats, draws : int

    Raises
    ------
    ValueError, TypeError, KeyError, AttributeError
         If the text is not an identity, or the identity has changed.
    """
    stated = parse_json(config, MAX_CONFIG_DEPTH)
    parts = _config_of(stated)
    if is_place(parts["dataset"]["name"], "path"):
        parts["dataset"]["path"] = source
    parts["protocol"] |= {"repeats": repeats, "draws": draws}
    cell = Cell(
        **{**parts, "model": parts["model"] or UNUSED_MODEL, "data": str(parts["data"])}
    )
    if cell.json != config:
        raise ValueError(
            f"this config now gives another key: {_first_change(stated, cell.identity)}"
        )
    return cell


def _config_of(value: Any) -> Any:
    """Return an identity as a config, with components as `_target_` and arguments at any depth."""
    if isinstance(value, list):
        return [_config_of(inner) for inner in value]
    if not isinstance(value, Mapping):
        return value
    if set(value) != {"name", "algorithm_version", "arguments"}:
        return {name: _config_of(inner) for name, inner in value.items()}
    return {"_target_": target_of_key(value["name"]), **_config_of(value["arguments"])}


def _first_change(was: Any, now: Any, place: str = "config") -> str:
    """Return a description of the first difference between two identities."""
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        for name in sorted({*was, *now}):
            if was.get(name) != now.get(name):
                return _first_change(was.get(name), now.get(name), f"{place}.{name}")
    return f"{place} was {was!r:.40}, is {now!r:.40}"


def _check_own_columns(method: Method) -> None:
    """Raise if columns of scorers and measures are taken, or their settings are unknown."""
    for name, scorer in method.scoring.items():
        if name in _COLUMNS and name != scorer:
            raise ValueError(
                f"protocol.scoring: the records already have a column called {name!r}; give the scorer another name: "
                f"{{my_{name}: SCORER}}."
            )
    columns = _COLUMNS | {*method.scoring}
    for config in method.measures:
        measure: type[Measure] = component_class("measure", config)
        check_columns(measure, columns)
        component_arguments("measure", config)
        columns |= measure.columns().keys()


@lru_cache(maxsize=4096)
def _draws(kind: str, config: str) -> bool:
    """Return whether a component is random; cached, because thousands of cells share few components."""
    from provsel.reducers import is_random, is_random_model

    component = build(kind, json.loads(config)["config"])
    return is_random_model(component) if kind == "model" else is_random(component)
