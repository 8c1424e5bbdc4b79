"""Columns from which BSS chooses, in order of preference and grouped by direction; shared by all r of a basis."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Columns = NDArray[np.int64]

TIED_NORMS = 1e-10
"""Relative difference below which two norms count as equal; the lower index then goes first."""

PARALLEL = 1e-10
"""Distance of two unit vectors below which they count as one direction."""

COMPARED = 128
"""Pairs of rows compared in full at once."""


class OrderedColumns:
    """The columns of V^T in decreasing norm, and which of them have the same direction; read only.

    Parameters
    ----------
    V : ndarray of shape (d, rank)
    preferred : ndarray of shape (d,), optional
        Lengths that decide the order; None are those of the rows of V. A column whose
        row of V is zero is left out.

    Attributes
    ----------
    V : ndarray of shape (d, rank)
    norms : ndarray of shape (d,)
        Lengths of the rows of V.
    order : ndarray of shape (n_nonzero,), int64
        The columns in order of preference. A *place* is a position in this order.
    heads : ndarray of shape (n_directions,), int64
        The first place of each direction, increasing.
    direction : ndarray of shape (n_nonzero,), int64
        Direction of each place, as a position in `heads`.
    next : ndarray of shape (n_nonzero,), int64
        The next place with the same direction, or -1.
    """

    def __init__(self, V: Array, preferred: Array | None = None) -> None:
        norms = np.sqrt(np.vecdot(V, V))
        self.V, self.norms = V, norms
        self.order = columns_by_norm(
            norms if preferred is None else np.where(norms > 0, preferred, 0.0)
        )
        label = directions(V, norms, self.order)
        grouped = np.argsort(label, kind="stable")
        follows = np.diff(label[grouped], prepend=-1) == 0
        self.heads = np.sort(grouped[~follows])
        self.direction = np.searchsorted(self.heads, grouped[~follows])[label]
        self.next = np.full(self.order.size, -1)
        self.next[grouped[:-1][follows[1:]]] = grouped[1:][follows[1:]]


def columns_by_norm(norms: Array) -> Columns:
    """Order the non-zero columns by decreasing norm; among tied norms by increasing index.

    Parameters
    ----------
    norms : ndarray of shape (d,)

    Returns
    -------
    ndarray of shape (n_nonzero,), int64
    """
    order = np.argsort(-norms, kind="stable")
    order = order[norms[order] > 0]
    values = norms[order]
    # a group of ties ends where the norm falls below its first member's by more than
    # the tolerance
    group = np.zeros(order.size, dtype=np.int64)
    start = 0
    for end in (np.flatnonzero(np.diff(values) < 0) + 1).tolist():
        if values[end] < values[start] * (1 - TIED_NORMS):
            start = end
            group[end] = start
    return order[np.lexsort((order, np.maximum.accumulate(group)))]


def directions(V: Array, norms: Array, columns: Columns) -> Columns:
    """Return a number from 0 on for the direction of each of the given rows of V, the same for rows that are multiples.

    Rows whose random projections agree are compared in full. A missed pair costs time,
    never correctness.

    Parameters
    ----------
    V : ndarray of shape (d, rank)
    norms : ndarray of shape (d,)
        Lengths of the rows of V.
    columns : ndarray of shape (m,), int64
        Rows of V that are not zero.

    Returns
    -------
    ndarray of shape (m,), int64
    """
    projections = np.abs(
        (V @ np.random.default_rng(0).standard_normal(V.shape[1]))[columns]
        / norms[columns]
    )
    order = np.argsort(projections, kind="stable")
    # as the row before it
    same = np.diff(projections[order]) <= PARALLEL * np.sqrt(V.shape[1])
    sorted_columns = columns[order]
    _keep_parallel(V, norms, sorted_columns, same)
    labels = np.empty(columns.size, dtype=np.int64)
    labels[order] = np.cumsum(np.append(0, ~same))[: columns.size]
    return labels


def _keep_parallel(
    V: Array, norms: Array, columns: Columns, same: NDArray[np.bool_]
) -> None:
    """Clear, in place, the marks of rows after the first that are not multiples of the row before."""
    agreeing = np.flatnonzero(same)
    for start in range(0, agreeing.size, COMPARED):
        pairs = agreeing[start : start + COMPARED]
        later, before = columns[pairs + 1], columns[pairs]
        rows, multiples = V[later], V[before]
        # not the projections' signs: for zeros they are rounding, which differs between
        # processors
        multiples *= np.copysign(
            norms[later] / norms[before], np.vecdot(rows, multiples)
        )[:, None]
        multiples -= rows
        same[pairs] = np.vecdot(multiples, multiples) <= (PARALLEL * norms[later]) ** 2
