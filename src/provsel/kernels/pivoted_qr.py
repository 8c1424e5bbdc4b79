"""Column-pivoted QR for its pivots only: rank-revealing selection of columns, dense or sparse.

The pivots are those of LAPACK's geqp3 (Businger and Golub), which would need a dense X
and updates all of it. Three things make them cheap here, none of which changes a pivot:

1. Only the *norms* of the residuals are kept. With the new direction q they fall by
   (q^T x_j)^2, and q^T X costs the non-zeros of X: the residual columns themselves, and
   R, are never formed.
2. A downdated norm loses digits. It is recomputed, x - Q Q^T x, but only if its column
   could be the next pivot: the
others can wait, because residuals only decrease.
3. If Q would be large, X_S R^-1 replaces it (`column_span.SparseSpan`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from provsel.kernels.bss_columns import TIED_NORMS, columns_by_norm
from provsel.kernels.column_span import ExplicitSpan, SparseSpan
from provsel.kernels.graded import scale_exponent, scaled

Columns = NDArray[np.int64]

SPARSE_ENOUGH = 0.1
"""Dense X with at most this share of non-zeros is processed in sparse form."""

LARGE_Q = 2**20
"""Number of entries of a complete Q above which sparse X is processed without it."""

STALE = 1e-3
"""A squared residual norm below this share of its last exact value is not accurate to `TIED_NORMS`."""

ROUNDING = 1e-14
"""Bound on the relative error of downdates, in shares of the last exact value."""

BLOCK = 2**20
"""Entries of the columns recomputed at once."""


class PivotedQR:
    """The pivots of X, found one by one; `extend` resumes where it stopped.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n, d)
        A sparse X is never densified.

    Attributes
    ----------
    pivots : ndarray of shape (k,), int64
        In order. Norms of residuals within a relative 1e-10 of the largest count as
        equal, and the lowest index is taken, so that the result does not depend on
        rounding.
    exhausted : bool
        No residual norm exceeds 8 max(n, d) eps times the norm of its column: k is the
        numerical rank.

    References
    ----------
    Businger and Golub (1965); Drmac and Bujanovic (2008) on the cancellation in
    downdated norms; Bjorck (1987) on corrected seminormal equations.
    """

    def __init__(self, X: Any) -> None:
        self._X = prepared_columns(X)
        # creating a SciPy object costs more than a small product
        self._transposed = self._X.T
        self._span: ExplicitSpan | SparseSpan
        large = self._X.shape[0] * min(self._X.shape) >= LARGE_Q
        self._span = (
            SparseSpan(self._X)
            if sparse.issparse(self._X) and large
            else ExplicitSpan(self._X)
        )
        squares = (
            self._X.power(2).sum(axis=0)
            if sparse.issparse(self._X)
            else np.einsum("ij,ij->j", self._X, self._X)
        )
        self._norms = np.sqrt(np.asarray(squares, dtype=np.float64).ravel())
        # squared residual norms; -inf once a column is a pivot
        self._left = self._norms**2
        self._exact = self._left.copy()  # their last exact values
        self._zero = (
            8 * max(self._X.shape) * np.finfo(np.float64).eps * self._norms
        ) ** 2
        self._pivots: list[int] = []
        self.exhausted = False

    @property
    def pivots(self) -> Columns:
        """The pivots so far."""
        return np.array(self._pivots, dtype=np.int64)

    def take(self, columns: Columns) -> PivotedQR:
        """Take these columns before any others, leaving out those that depend on earlier ones (in place)."""
        for column in columns.tolist():
            outside = float(self._span.outside(np.array([column]))[0])
            if (
                outside > self._zero[column]
                and outside > ROUNDING * self._norms[column] ** 2
            ):
                self._append(column)
            else:
                self._left[column] = -np.inf
                self._exact[column] = 0.0
        return self

    def extend(self, k: int) -> PivotedQR:
        """Find pivots until there are k, or the rank is exhausted (in place)."""
        while len(self._pivots) < k and not self.exhausted:
            column = self._next()
            if column is None:
                self.exhausted = True
                return self
            self._append(column)
        return self

    def _append(self, column: int) -> None:
        if isinstance(self._span, SparseSpan) and self._span.worn:
            self._span = ExplicitSpan.of(self._X, self.pivots)
        q = self._span.append(column)
        self._pivots.append(column)
        self._left[column] = -np.inf
        self._exact[column] = 0.0
        self._left -= (self._transposed @ q) ** 2

    def rest_by_norm(self) -> Columns:
        """Return the columns that are not pivots, shape (d - k,), by decreasing norm, ties and zeros by index."""
        return remaining_by_norm(self._norms, self.pivots)

    def rest_of_swaps(self) -> Columns:
        """Return the columns that are not pivots, shape (d - k,), in the order in which LAPACK's geqp3 leaves them.

        Each pivot swaps places with the column at the position of its step. Columns
        that were never pivots stay where the swaps left them: mostly in the order of X,
        with the columns that made room for a pivot in the old position of that pivot.
        """
        order = np.arange(self._norms.size)
        place = order.copy()
        for step, pivot in enumerate(self._pivots):
            old_place, moved = place[pivot], order[step]
            order[step], order[old_place] = pivot, moved
            place[pivot], place[moved] = step, old_place
        return order[len(self._pivots) :]

    def _next(self) -> int | None:
        """Return the column of the largest residual, or None if that is zero."""
        tied = (1 - TIED_NORMS) ** 2
        while True:
            top = self._left.max(initial=-np.inf)
            if top == -np.inf:
                return None
            reach = self._left + ROUNDING * self._exact
            candidates = np.flatnonzero(reach >= max(top * tied, 0.0))
            stale = candidates[self._left[candidates] < STALE * self._exact[candidates]]
            if stale.size == 0:
                break
            block = 1 + BLOCK // self._X.shape[0]
            if stale.size > block:
                stale = stale[np.argpartition(-reach[stale], block)[:block]]
            exact = self._span.outside(stale)
            # rounding, beside the column's own length
            exact[exact <= self._zero[stale]] = 0.0
            self._left[stale] = self._exact[stale] = exact
        if top <= 0:
            return None
        return int(np.flatnonzero(self._left >= top * tied)[0])


def remaining_by_norm(norms: NDArray[np.float64], pivots: Columns) -> Columns:
    """Return the columns that are not pivots, by decreasing norm, ties and zeros by index.

    Once the rank is exhausted all residuals are zero up to rounding, and only norms are
    left as a criterion.

    Parameters
    ----------
    norms : ndarray of shape (d,)
    pivots : ndarray of shape (k,), int64

    Returns
    -------
    ndarray of shape (d - k,), int64
    """
    rest = np.ones(norms.size, dtype=bool)
    rest[pivots] = False
    columns = np.flatnonzero(rest)
    nonzero = columns[columns_by_norm(norms[columns])]
    return np.concatenate([nonzero, columns[norms[columns] == 0]])


def prepared_columns(X: Any) -> Any:
    """Return X in float64, as CSC or dense, scaled by a power of two if its squares would overflow or underflow."""
    if not sparse.issparse(X):
        X = np.asarray(X, dtype=np.float64)
        if np.count_nonzero(X) > SPARSE_ENOUGH * X.size:
            return scaled(X, scale_exponent(X))
    X = sparse.csc_array(X, dtype=np.float64)
    if not X.has_canonical_format:  # columns are read from the raw arrays
        X = X.copy()
        X.sum_duplicates()
    exponent = scale_exponent(X)
    return scaled(X, exponent) if exponent else X
