"""How trials are measured: one class a protocol.

A protocol checks a cell, takes its rows, runs a trial, and declares the columns of the record that it fills.
What only a trial needs, scikit-learn and what fits, is imported where it runs: a plan and a store are read without.
"""

from provlab.protocols.base import SELECTED, AbstractProtocol, Fold, Method, columns, predicts_numbers
from provlab.protocols.benchmark import BenchmarkFolds
from provlab.protocols.in_memory import (
    AbstractFolds,
    AbstractStatedFolds,
    Clustering,
    FixedFolds,
    InverseKFold,
    KFold,
    LeaveOneGroupOut,
    OfficialSplit,
    SelectionOnly,
    TimeOrder,
)
from provlab.protocols.streamed import ONE_THREAD, StreamedTraining

PROTOCOLS: dict[str, AbstractProtocol] = {
    each.name: each()
    for each in (KFold, InverseKFold, LeaveOneGroupOut, TimeOrder, FixedFolds, OfficialSplit, StreamedTraining,
                 Clustering, SelectionOnly, BenchmarkFolds)
}  # fmt: skip
"""By what configs and keys call them: `protocol.split`."""

COLUMNS = (
    *columns("text", "key", "cell", "dataset", "data", "content", "source", "setting", "config"),
    *columns("int32", "repeat", "fold", "draw", low=0),
    *columns("int64", "seed", "split_seed", low=0),
    *columns("int32", "n_classes", low=0),
    *dict.fromkeys([*Fold.COLUMNS, *SELECTED, *(column for each in PROTOCOLS.values() for column in each.columns)]),
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
    "COLUMNS", "ONE_THREAD", "PROTOCOLS", "AbstractFolds", "AbstractProtocol", "AbstractStatedFolds", "Fold",
    "InverseKFold", "Method", "predicts_numbers", "protocol_named",
]  # fmt: skip
