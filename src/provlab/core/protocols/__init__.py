"""Protocols, which define how trials are measured: each class declares columns, checks cells and chooses rows.

scikit-learn is imported only when needed, because plans and stores are read without it.
The measurements are in `provlab.run.measuring`.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from provlab.core.protocols.base import (
    FOLD_COLUMNS,
    SELECTED,
    AbstractProtocol,
    Method,
    columns,
    predicts_numbers,
)
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

PROTOCOLS: dict[str, AbstractProtocol] = {
    protocol.name: protocol() for protocol in CLASSES
}
"""Protocols by their names in configs and keys: `protocol.split`."""

COLUMNS = (
    *columns(
        "text",
        "key",
        "cell",
        "dataset",
        "data",
        "content",
        "source",
        "setting",
        "config",
    ),
    *columns("int32", "repeat", "fold", "draw", low=0),
    *columns("int64", "seed", "split_seed", low=0),
    *columns("int32", "n_classes", low=0),
    *dict.fromkeys(
        [
            *FOLD_COLUMNS,
            *SELECTED,
            *(column for protocol in CLASSES for column in protocol.columns),
        ]
    ),
    *columns("text", "environment", "git_revision"),
    *columns("seconds", "task_cpu"),
)
"""Columns of a record: its trial, the measurements of its protocol, and its environment. `task_cpu` is the CPU time of
the whole task, including data loading and certificates, divided by the number of its trials, so that the sum is the
total cost of the trials.
"""


def protocol_named(name: object) -> AbstractProtocol:
    """Return a protocol by its name in configs.

    Raises
    ------
    ValueError
        If the name is unknown.
    """
    if not isinstance(name, str) or name not in PROTOCOLS:
        raise ValueError(
            f"protocol.split: expected one of {tuple(PROTOCOLS)}, got {name!r:.80}."
        )
    return PROTOCOLS[name]


def protocol_of(settings: Mapping[str, Any]) -> AbstractProtocol:
    """Return the protocol for the settings of a config, with any splitter that it uses.

    Raises
    ------
    ValueError
        If the name is unknown, or a splitter is set for a protocol that uses none.
    """
    protocol = protocol_named(settings.get("split"))
    cv = settings.get("cv")
    if isinstance(protocol, SplitterFolds):
        return _with_splitter(type(protocol), canonical_json(cv))
    if cv is not None:
        raise ValueError(
            f"protocol.cv: cannot be set with the split {protocol.name}, got {cv!r:.80}; use protocol=splitter."
        )
    return protocol


@lru_cache(maxsize=256)
def _with_splitter(kind: type[SplitterFolds], cv: str) -> AbstractProtocol:
    return kind(cv)


__all__ = [
    "COLUMNS", "PROTOCOLS", "AbstractFolds", "AbstractProtocol", "AbstractStatedFolds", "BenchmarkFolds",
    "InverseKFold", "Method", "predicts_numbers", "protocol_named", "protocol_of",
]  # fmt: skip
