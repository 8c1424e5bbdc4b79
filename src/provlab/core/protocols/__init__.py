"""How trials are measured: one class a protocol, which declares its columns, checks a cell, and takes its rows.

scikit-learn is imported where it is needed: a plan and a store are read without. `provlab.run.measuring` measures.
"""

from provlab.core.protocols.base import FOLD_COLUMNS, SELECTED, AbstractProtocol, Method, columns, predicts_numbers
from provlab.core.protocols.folds import (
    AbstractFolds,
    AbstractStatedFolds,
    BenchmarkFolds,
    BenchmarkSample,
    BenchmarkTimeOrder,
    Clustering,
    FixedFolds,
    InverseKFold,
    KFold,
    LeaveOneGroupOut,
    OfficialSplit,
    SelectionOnly,
    StreamedTraining,
    TimeOrder,
)

CLASSES: tuple[type[AbstractProtocol], ...] = (
    KFold, InverseKFold, LeaveOneGroupOut, TimeOrder, FixedFolds, OfficialSplit, StreamedTraining, Clustering,
    SelectionOnly, BenchmarkFolds, BenchmarkSample, BenchmarkTimeOrder,
)  # fmt: skip

PROTOCOLS: dict[str, AbstractProtocol] = {protocol.name: protocol() for protocol in CLASSES}
"""By what configs and keys call them: `protocol.split`."""

COLUMNS = (
    *columns("text", "key", "cell", "dataset", "data", "content", "source", "setting", "config"),
    *columns("int32", "repeat", "fold", "draw", low=0),
    *columns("int64", "seed", "split_seed", low=0),
    *columns("int32", "n_classes", low=0),
    *dict.fromkeys([*FOLD_COLUMNS, *SELECTED, *(column for protocol in CLASSES for column in protocol.columns)]),
    *columns("text", "environment", "git_revision"),
    *columns("seconds", "task_cpu"),
)
"""Of a record: which trial it is, what its protocol measured, and where. `task_cpu` is the CPU time of the whole task,
loading the data and certifying included, over its number of trials, so that its sum is what the trials have cost."""


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


__all__ = [
    "COLUMNS", "PROTOCOLS", "AbstractFolds", "AbstractProtocol", "AbstractStatedFolds", "BenchmarkFolds",
    "InverseKFold", "Method", "predicts_numbers", "protocol_named",
]  # fmt: skip
