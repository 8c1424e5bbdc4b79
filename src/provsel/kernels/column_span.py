"""Span of a growing set of columns of X, and residuals of other columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[np.float64]

TWICE_IS_ENOUGH = 0.5
"""Orthogonalise again when less than this share of the squared norm is left (Kahan, Parlett)."""

FIRST_CAPACITY = 64

FEW_ROWS = 1024
"""Up to this n, I - Q Q^T is formed: its product with sparse columns costs their non-zeros only."""


class ExplicitSpan:
    """Orthonormal Q, shape (n, k), of the columns appended: stable whatever their condition, O(n k) per step.

    Parameters
    ----------
    X : ndarray or CSC array of shape (n, d), float64
    """

    def __init__(self, X: Any) -> None:
        self._X = X
        self._k = 0
        self._Q = np.empty((X.shape[0], FIRST_CAPACITY), order="F")
        # I - Q Q^T of the current Q, after its first use
        self._complement: Array | None = None

    def append(self, column: int) -> Array:
        """Add a column of X and return its new unit direction, shape (n,) (in place)."""
        q = dense_column(self._X, column)
        return self._take(q)

    def outside(self, columns: NDArray[np.int64]) -> Array:
        """Return the squared norms of the columns' residuals outside the span, shape (m,)."""
        Q = self._Q[:, : self._k]
        if sparse.issparse(self._X) and self._X.shape[0] <= FEW_ROWS:
            if self._complement is None:
                self._complement = np.eye(Q.shape[0]) - Q @ Q.T
            V = self._X[:, columns].T @ self._complement
            return np.einsum("ij,ij->i", V, V)
        V = dense_columns(self._X, columns)
        V -= Q @ (Q.T @ V)
        V -= Q @ (Q.T @ V)
        return np.einsum("ij,ij->j", V, V)

    def _take(self, q: Array) -> Array:
        Q = self._Q[:, : self._k]
        before, after = float(q @ q), 0.0
        for _ in range(3):
            q = q - Q @ (Q.T @ q)
            after = float(q @ q)
            if after > TWICE_IS_ENOUGH * before:
                break
            before = after
        q /= np.sqrt(after)
        self._Q = with_room(self._Q, self._k + 1, axis=1)
        self._Q[:, self._k] = q
        self._complement = None
        self._k += 1
        return q

    @classmethod
    def of(cls, X: Any, columns: NDArray[np.int64]) -> ExplicitSpan:
        """Return the span of `columns` of X, added in this order."""
        span = cls(X)
        for column in columns:
            span.append(int(column))
        return span


class SparseSpan:
    """The span held as X_S and the triangular T = R^-1 with Q = X_S T: O(k^2 + nnz) per step, and no Q.

    Its Q loses orthogonality with the square of the condition of X_S. A second pass
    repairs this ("corrected seminormal equations") while the condition stays below
    `WORST`; check `worn` before each step.

    Parameters
    ----------
    X : CSC array of shape (n, d), float64
    """

    WORST = 1e5

    def __init__(self, X: Any) -> None:
        self._X = X
        self._k = 0
        self._T = np.zeros((FIRST_CAPACITY, FIRST_CAPACITY), order="F")
        self._indptr = np.zeros(FIRST_CAPACITY + 1, dtype=np.int64)
        self._rows, self._values = np.empty(0, dtype=X.indices.dtype), np.empty(0)
        self._largest, self._smallest = 0.0, np.inf

    @property
    def worn(self) -> bool:
        """Whether the pivots differ so much that an explicit Q must take over."""
        return self._largest > self.WORST * self._smallest

    def append(self, column: int) -> Array:
        """Add a column of X and return its new unit direction, shape (n,) (in place)."""
        k, T, X_S = self._k, self._T[: self._k, : self._k], self._chosen()
        q = dense_column(self._X, column)
        coefficients, before, after = np.zeros(k), float(q @ q), 0.0
        for _ in range(3):
            step = T @ (T.T @ (X_S.T @ q))
            q = q - X_S @ step
            coefficients += step
            after = float(q @ q)
            if after > TWICE_IS_ENOUGH * before:
                break
            before = after
        rho = np.sqrt(after)
        self._T = with_room(with_room(self._T, k + 1, axis=1), k + 1, axis=0)
        self._T[:k, k] = -coefficients / rho
        self._T[k, k] = 1.0 / rho
        self._keep(column)
        self._largest, self._smallest = (
            max(self._largest, rho),
            min(self._smallest, rho),
        )
        return q / rho

    def outside(self, columns: NDArray[np.int64]) -> Array:
        """Return the squared norms of the columns' residuals outside the span, shape (m,)."""
        V = dense_columns(self._X, columns)
        T, X_S = self._T[: self._k, : self._k], self._chosen()
        for _ in range(2):
            V -= X_S @ (T @ (T.T @ (X_S.T @ V)))
        return np.einsum("ij,ij->j", V, V)

    def _chosen(self) -> Any:
        filled = self._indptr[self._k]
        parts = self._values[:filled], self._rows[:filled], self._indptr[: self._k + 1]
        return sparse.csc_array(parts, shape=(self._X.shape[0], self._k), copy=False)

    def _keep(self, column: int) -> None:
        start, stop = self._X.indptr[column], self._X.indptr[column + 1]
        filled = int(self._indptr[self._k])
        end = filled + int(stop - start)
        self._rows, self._values = (
            with_room(self._rows, end, axis=0),
            with_room(self._values, end, axis=0),
        )
        self._rows[filled:end], self._values[filled:end] = (
            self._X.indices[start:stop],
            self._X.data[start:stop],
        )
        self._indptr = with_room(self._indptr, self._k + 2, axis=0)
        self._indptr[self._k + 1] = end
        self._k += 1


def dense_column(X: Any, column: int) -> Array:
    """Return a dense copy of one column of X, shape (n,)."""
    if not sparse.issparse(X):
        return np.array(X[:, column])
    start, stop = X.indptr[column], X.indptr[column + 1]
    values = np.zeros(X.shape[0])
    values[X.indices[start:stop]] = X.data[start:stop]
    return values


def dense_columns(X: Any, columns: NDArray[np.int64]) -> Array:
    """Return a dense copy of the given columns of X, shape (n, m)."""
    part = X[:, columns]
    return part.toarray() if sparse.issparse(part) else np.array(part)


def with_room(array: NDArray[Any], size: int, axis: int) -> NDArray[Any]:
    """Return `array`, or a copy that is at least twice as long if it is shorter than `size` along `axis`."""
    if array.shape[axis] >= size:
        return array
    shape = list(array.shape)
    shape[axis] = max(size, 2 * shape[axis], FIRST_CAPACITY)
    larger = np.zeros(shape, dtype=array.dtype, order="F")
    larger[tuple(slice(length) for length in array.shape)] = array
    return larger
