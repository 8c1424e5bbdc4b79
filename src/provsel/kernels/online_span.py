"""Thin factor of the kept columns, which grows by one column at a time, and panels of columns compared with it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import blas, lapack

Array = NDArray[np.float64]
Matrix = Any

GROWTH = 1.5
"""A new direction beyond the capacity enlarges the buffer of Q by this factor: O(n k) in total."""

ROWS = 64
"""Rows copied together; copying a whole panel from rows into columns at once takes six times as long."""

TILE = 16
"""Columns of R that LAPACK updates together."""

SHRUNK = 0.1
"""A residual that directions of its own panel shorten below this share is projected on the whole basis once more."""


class KeptSpan:
    """Orthonormal Q and triangular R with W W^T + ridge I = Q P R^T R P Q^T on span(W), for the kept columns W.

    P reverses the order, so that R begins with the newest direction. Without a ridge, a
    column outside the span adds a row and a column in front of R and changes nothing
    else: R^T is W in reversed coordinates. Other columns update R by the QR factor of
    [R; z^T P], so that no condition number is squared. W itself is not stored: O(n m)
    numbers, m = rank(W) <= k, and O(n m) operations per kept column.

    Parameters
    ----------
    n : int
        Length of a column.
    ridge : float, default=0.0
    capacity : int, default=0
        Directions for which address space is reserved; untouched memory is not
        allocated.
    """

    def __init__(self, n: int, ridge: float = 0.0, capacity: int = 0) -> None:
        self.ridge = ridge
        self.rank = 0
        self._buffer = np.empty((n, capacity), order="F")
        self._room, self._numbers = 0, np.empty(0)

    @classmethod
    def from_factors(cls, Q: Array, R: Array, ridge: float = 0.0) -> KeptSpan:
        """Return the span of its `reversed_basis` and `factor`, of shapes (n, m) and (m, m)."""
        span = cls(Q.shape[0], ridge)
        span.rank = Q.shape[1]
        span._buffer = np.array(Q[:, ::-1], dtype=np.float64, order="F")
        span._reserve(span.rank)
        span._corner()[: span.rank] = R
        return span

    @property
    def basis(self) -> Array:
        """Q, an orthonormal basis of span(W), shape (n, m); a view."""
        return self._buffer[:, : self.rank]

    @property
    def reversed_basis(self) -> Array:
        """Q P, shape (n, m), with which W W^T + ridge I = (Q P) R^T R (Q P)^T on span(W)."""
        return self.basis[:, ::-1]

    @property
    def factor(self) -> Array:
        """R, upper triangular, shape (m, m); a copy."""
        return np.triu(self._corner()[: self.rank])

    def squared_norms(self, Z: Array) -> Array:
        """Return ||R^-T P z||^2 of each column of Z, shape (m, b): its score within the span."""
        if self.rank == 0:
            return np.zeros(Z.shape[1])
        Y, _ = lapack.dtrtrs(self._corner(), Z[::-1], lower=0, trans=1)
        return np.einsum("ij,ij->j", Y, Y)

    def append(self, z: Array, e: Array | None, done: int = 0) -> None:
        """Add the column Q z + e to W, in place.

        Parameters
        ----------
        z : ndarray of shape (m,)
        e : ndarray of shape (n,) or None
            Part outside the span, orthogonal to Q up to rounding of the whole column;
            None if there is none.
        done : int, default=0
            Number of leading columns of Q to which it is orthogonal up to rounding of e
            itself.
        """
        if e is not None:
            # e may be 1e-10 of its column: project once more, otherwise the new
            # direction is orthogonal to six digits only
            directions = self.basis[:, done:]
            again = directions.T @ e
            e = e - directions @ again
            length = float(np.linalg.norm(e))
            z = np.append(z, length)
            z[done:-1] += again
            self._extend(e / length)
            row = self._corner()[0]
            if not self.ridge:
                row[:] = z[::-1]
                return
            row[:] = 0.0
            row[0] = np.sqrt(self.ridge)
        if self.rank:
            R = self._corner()[: self.rank]
            copied = np.array(R, order="F")
            R[:] = lapack.dtpqrt(
                0, min(TILE, self.rank), copied, z[None, ::-1], overwrite_a=1
            )[0]

    def _corner(self) -> Array:
        """Return an array, shape (room, m), whose first m rows are R; LAPACK uses it without a copy."""
        start = (self._room - self.rank) * (self._room + 1)
        return self._numbers[start : start + self._room * self.rank].reshape(
            (self._room, self.rank), order="F"
        )

    def _reserve(self, room: int) -> None:
        """Enlarge the storage of R to `room` columns of this many numbers."""
        old = self._corner()[: self.rank] if self._room else None
        self._room, self._numbers = room, np.zeros(room * (room + 1))
        if old is not None:
            self._corner()[: self.rank] = old

    def _extend(self, q: Array) -> None:
        n, capacity = self._buffer.shape
        if self.rank == capacity:
            buffer = np.empty((n, min(n, max(8, int(GROWTH * capacity)))), order="F")
            buffer[:, : self.rank] = self.basis
            self._buffer = buffer
        if self.rank == self._room:
            self._reserve(min(n, max(8, int(GROWTH * self._room))))
        self._buffer[:, self.rank] = q
        self.rank += 1


class Panel:
    """Columns B, shape (n, b), with their coordinates in the basis of `span`, which `keep` extends in place.

    Scores need the coordinates only. Residuals B - Q Q^T B would cost twice as much
    more. They are computed together, by matrix products, for the columns that are
    predicted to be kept (`hold`, `sharpen`). For other kept columns they are computed
    one by one. Predictions affect results only by rounding.

    Attributes
    ----------
    lengths : ndarray of shape (b,)
    """

    def __init__(self, span: KeptSpan, columns: Matrix) -> None:
        self.span = span
        self._B = _by_columns(columns)
        self._base = span.rank
        n, b = self._B.shape
        self.lengths = _lengths(self._B)
        self._Z = np.empty((min(self._base + b, n), b), order="F")
        self._Z[: self._base] = span.basis.T @ self._B
        self._held = np.zeros(0, dtype=np.int64)
        self._E = np.empty((n, 0), order="F")
        self._sharp = np.zeros(0)

    def coordinates(self, window: slice) -> Array:
        """Return Q^T of the columns of `window`, shape (m, w)."""
        return self._Z[: self.span.rank, window]

    def outside(self, window: slice) -> Array:
        """Return the lengths of the residuals of `window`, if all columns are held."""
        return _lengths(self._E[:, window])

    def hold(self, columns: NDArray[np.int64]) -> None:
        """Compute the residuals of these columns, increasing, before anything is kept."""
        self._held = columns
        self._E = np.array(self._B[:, columns], order="F")
        self._sharp = np.full(columns.size, np.inf)
        self._subtract(self._E, self._Z[: self._base, columns])

    def sharpen(self, columns: NDArray[np.int64]) -> None:
        """Project held residuals once more, so that they are orthogonal to Q up to their own rounding."""
        slots, every = (
            np.searchsorted(self._held, columns),
            columns.size == self._held.size,
        )
        E = self._E if every else np.array(self._E[:, slots], order="F")
        again = self.span.basis.T @ E
        self._subtract(E, again)
        self._Z[: self._base, columns] += again
        if not every:
            self._E[:, slots] = E
        self._sharp[slots] = _lengths(E)

    def keep(self, j: int, root: float, tolerance: float) -> None:
        """Append column j, divided by `root`, to the span."""
        span, rank, slot = (
            self.span,
            self.span.rank,
            int(np.searchsorted(self._held, j)),
        )
        z, later = self._Z[:rank, j], slot
        if slot < self._held.size and self._held[slot] == j:
            e, later = self._E[:, slot], slot + 1
        else:
            e = self._B[:, j] - span.basis @ z
        length = float(np.linalg.norm(e))
        sharp = later > slot and length > SHRUNK * self._sharp[slot]
        outside = length > tolerance * self.lengths[j]
        span.append(
            z / root, e / root if outside else None, done=self._base if sharp else 0
        )
        if span.rank == rank:
            return
        q = span.basis[:, rank]
        if self._held.size < self._B.shape[1]:
            self._Z[rank, j + 1 :] = q @ self._B[:, j + 1 :]
        if later < self._held.size:
            E = self._E[:, later:]
            inner = q @ E
            self._Z[rank, self._held[later:]] = inner
            blas.dger(-1.0, q, inner, a=E, overwrite_a=1)

    def _subtract(self, E: Array, Z: Array) -> None:
        """Subtract Q Z from E, in place."""
        if Z.size:
            blas.dgemm(-1.0, self.span.basis, Z, 1.0, E, overwrite_c=1)


def _by_columns(columns: Matrix) -> Array:
    if sparse.issparse(columns):
        return np.asarray(columns.toarray(order="F"), dtype=np.float64, order="F")
    B = np.empty(columns.shape, order="F")
    for start in range(0, columns.shape[0], ROWS):
        B[start : start + ROWS] = columns[start : start + ROWS]
    return B


def _lengths(columns: Array) -> Array:
    return np.asarray(np.sqrt(np.einsum("ij,ij->j", columns, columns)))
