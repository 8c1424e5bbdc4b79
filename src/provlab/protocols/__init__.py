"""How trials are measured: one class a protocol.

A protocol checks a cell, takes its rows, runs a trial, and declares the columns of the record that it fills.
What only a trial needs, scikit-learn and what fits, is imported where it runs: a plan and a store are read without.
"""

from provlab.protocols.base import SELECTED, AbstractProtocol, Column, Fold, Method, union
from provlab.protocols.classification import InverseKFold, KFold, OfficialSplit
from provlab.protocols.streamed import StreamedTraining
from provlab.protocols.whole_rows import Clustering, SelectionOnly

PROTOCOLS: dict[str, AbstractProtocol] = {
    each.name: each
    for each in (KFold(), InverseKFold(), OfficialSplit(), StreamedTraining(), Clustering(), SelectionOnly())
}
"""By what configs and keys call them: `protocol.split`."""

MEASURED = union([Fold.COLUMNS, SELECTED, *(protocol.columns for protocol in PROTOCOLS.values())])
"""Columns that some protocol fills."""


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
    "MEASURED",
    "PROTOCOLS",
    "AbstractProtocol",
    "Clustering",
    "Column",
    "Fold",
    "InverseKFold",
    "KFold",
    "Method",
    "OfficialSplit",
    "SelectionOnly",
    "StreamedTraining",
    "protocol_named",
]
