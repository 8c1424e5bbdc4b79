"""Backward elimination of columns: sizes of the rounds, order by importance, and X X^T of the remaining columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from provsel.kernels.spectral import Array, Matrix
from provsel.kernels.ties import TIED, rank_descending

NOISE = 1e-12
"""Share of the largest importance below which a weight is a rounding error of zero."""

LOSS_OF_TRACE = 1 / 16
"""Downdates keep the absolute error of the Gram matrix, so below this part of its trace it is recomputed."""


def elimination_sizes(n_features: int, n_kept: int, step: int | float) -> list[int]:
    """Return the numbers of features that the rounds train on, decreasing, all > `n_kept`; at least one round.

    Parameters
    ----------
    n_features, n_kept : int
        1 <= n_kept <= n_features. For n_kept = n_features the only round just orders
        the features.
    step : int or float
        Features dropped per round, or the fraction in (0, 1) of the remaining ones,
        rounded down, at least 1.
    """
    sizes, size = [n_features], n_features
    while (size := size - step_size(size, step)) > n_kept:
        sizes.append(size)
    return sizes


def step_size(size: int, step: int | float) -> int:
    """Return how many of `size` remaining features one round drops."""
    return int(step) if step >= 1 else max(1, int(step * size))


def by_importance(importances: Array) -> NDArray[np.int64]:
    """Return the order of decreasing importance, shape (m,), ties in increasing order of index."""
    return rank_descending(importances, noise=NOISE)


def best(importances: Array, count: int) -> NDArray[np.int64]:
    """Return the positions of the `count` largest importances, increasing; among ties at the cut, the first.

    Partitions instead of sorting, because rounds need only the position of the cut.
    Ties are those of `by_importance`, but compared with the value at the cut instead of
    the neighbour.
    """
    cut = np.partition(importances, importances.size - count)[importances.size - count]
    tolerance = TIED * cut + NOISE * importances.max()
    mask = importances > cut + tolerance
    tied = np.flatnonzero(np.abs(importances - cut) <= tolerance)
    mask[tied[: count - np.count_nonzero(mask)]] = True
    return np.flatnonzero(mask)


@dataclass(frozen=True)
class RemainingColumns:
    """The remaining columns of X and their X X^T.

    Attributes
    ----------
    rows : ndarray or CSR of shape (k, n)
        Columns of X as rows, so that slices are contiguous. May lack dropped columns:
        slicing in each round would cost more than it saves, so rows are sliced once
        half of them are dropped.
    positions : ndarray of shape (m,), int64
        Rows that remain, increasing.
    gram : ndarray of shape (n, n)
        X X^T of these columns.
    fresh_trace : float
        Trace of the Gram matrix when it was last computed from the columns.
    """

    rows: Any
    positions: NDArray[np.int64]
    gram: Array
    fresh_trace: float

    @classmethod
    def of(cls, X: Matrix, gram: Array) -> RemainingColumns:
        """Return all columns of X, shape (n, d), with gram = X X^T."""
        rows = X.T.tocsr() if sparse.issparse(X) else np.ascontiguousarray(X.T)
        return cls(
            rows.astype(np.float64, copy=False),
            np.arange(X.shape[1]),
            gram,
            float(np.trace(gram)),
        )

    def weighted_sums(self, duals: Array) -> Array:
        """Return duals X, shape (p, m), for duals of shape (p, n)."""
        return np.asarray(self.rows @ duals.T)[self.positions].T

    def only(self, kept: NDArray[np.int64]) -> RemainingColumns:
        """Return the columns `kept`, increasing numbers below m; the Gram matrix is downdated if that is accurate.

        Counts downdate without error. Otherwise the error is that of `fresh_trace`. So
        the matrix is recomputed from the columns when its trace is a small part of
        `fresh_trace`, and fewer columns are kept than dropped.
        """
        mask = np.ones(self.positions.size, dtype=bool)
        mask[kept] = False
        rows, positions = self.rows, self.positions[kept]
        gram, fresh_trace = None, self.fresh_trace
        if 2 * kept.size >= mask.size:
            gram = self.gram - _cross(rows[self.positions[mask]])
        if 2 * positions.size <= rows.shape[0]:
            rows, positions = rows[positions], np.arange(positions.size)
        if gram is None or np.trace(gram) <= LOSS_OF_TRACE * fresh_trace:
            gram = _cross(rows[positions])
            fresh_trace = float(np.trace(gram))
        return RemainingColumns(rows, positions, gram, fresh_trace)


def _cross(rows: Any) -> Array:
    """Return rows^T rows, shape (n, n), dense."""
    product = rows.T @ rows
    return product.toarray(order="C") if sparse.issparse(product) else product
