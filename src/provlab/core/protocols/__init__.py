"""How trials are measured: one class per protocol declares columns, checks a cell, and chooses rows.

scikit-learn is imported only when needed: plans and stores are read without it. `provlab.run.measuring` measures.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from provlab.core.protocols.base import FOLD_COLUMNS, SELECTED, AbstractProtocol, Method, columns, predicts_numbers
from provlab.core.protocols.folds import (
    AbstractFolds,
    AbstractStatedFolds,
    BenchmarkFolds,
    BenchmarkSample,
    BenchmarkSplitter,
    BenchmarkTimeOrder,
    Clustering,
    FixedFolds,
    GivenSplits,
    InverseKFold,
    KFold,
    LeaveOneGroupOut,
    OfficialSplit,
    SelectionOnly,
    SplitterFolds,
    StreamedTraining,
    TimeOrder,
)
from provlab.project.documents import canonical_json

CLASSES: tuple[type[AbstractProtocol], ...] = (
    KFold, InverseKFold, LeaveOneGroupOut, TimeOrder, FixedFolds, GivenSplits, SplitterFolds, OfficialSplit,
    StreamedTraining, Clustering, SelectionOnly, BenchmarkFolds, BenchmarkSample, BenchmarkTimeOrder, BenchmarkSplitter,
)  # fmt: skip

PROTOCOLS: dict[str, AbstractProtocol] = {protocol.name: protocol() for protocol in CLASSES}
"""Protocols by their names in configs and keys: `protocol.split`."""

COLUMNS = (
    *columns("text", "key", "cell", "dataset", "data", "content", "source", "setting", "config"),
    *columns("int32", "repeat", "fold", "draw", low=0),
    *columns("int64", "seed", "split_seed", low=0),
    *columns("int32", "n_classes", low=0),
    *dict.fromkeys([*FOLD_COLUMNS, *SELECTED, *(column for protocol in CLASSES for column in protocol.columns)]),
    *columns("text", "environment", "git_revision"),
    *columns("seconds", "task_cpu"),
)
"""Columns of a record: its trial, the measurements of its protocol, and its environment. `task_cpu` is the CPU time of
the whole task, including loading the data and certifying, divided by its number of trials, so that its sum is the total
cost of the trials.
"""


def protocol_named(name: object) -> AbstractProtocol:
    """Return a protocol by its name in configs.

    Raises
    ------
    ValueError
        For an unknown one.
    """
    if not isinstance(name, str) or name not in PROTOCOLS:
        raise ValueError(f"protocol.split: expected one of {tuple(PROTOCOLS)}, got {name!r:.80}.")
    return PROTOCOLS[name]


def protocol_of(settings: Mapping[str, Any]) -> AbstractProtocol:
    """Return the protocol for the settings of a config, with its splitter if it uses one.

    Raises
    ------
    ValueError
        For an unknown name, and for a splitter with a protocol that uses none.
    """
    protocol = protocol_named(settings.get("split"))
    cv = settings.get("cv")
    if isinstance(protocol, SplitterFolds):
        return _with_splitter(type(protocol), canonical_json(cv))
    if cv is not None:
        raise ValueError(
            f"protocol.cv: it cannot be set with the split {protocol.name}, got {cv!r:.80}; use protocol=splitter."
        )
    return protocol


@lru_cache(maxsize=256)
def _with_splitter(kind: type[SplitterFolds], cv: str) -> AbstractProtocol:
    return kind(cv)


__all__ = [
    "COLUMNS", "PROTOCOLS", "AbstractFolds", "AbstractProtocol", "AbstractStatedFolds", "BenchmarkFolds",
    "InverseKFold", "Method", "predicts_numbers", "protocol_named", "protocol_of",
]  # fmt: skip
