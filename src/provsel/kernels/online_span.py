"""A thin factor of the kept columns that grows one column at a time and scores whole blocks of others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

Array = NDArray[np.float64]

GROWTH = 1.5
"""A new direction beyond the capacity enlarges the buffer of Q by this factor: O(n k) in total."""


class KeptSpan:
    """Orthonormal Q and triangular R with W W^T + ridge I = Q R^T R Q^T on span(W), for the kept columns W.

    The m x m matrix R is the QR factor of [Q^T W, sqrt(ridge) I]^T, so that no condition number is squared, and W
    itself is not stored: O(n m) numbers, m = rank(W) <= k, and O(n m) operations a kept column.

    Parameters
    ----------
    n : int
        Length of a column.
    ridge : float, default=0.0
    """

    def __init__(self, n: int, ridge: float = 0.0) -> None:
        self.ridge = ridge
        self.rank = 0
        self.R = np.zeros((0, 0), order="F")
        self._buffer = np.empty((n, 0), order="F")

    @classmethod
    def from_factors(cls, Q: Array, R: Array, ridge: float = 0.0) -> KeptSpan:
        """Return the span of stored factors Q, shape (n, m), and R, shape (m, m)."""
        span = cls(Q.shape[0], ridge)
        span.rank = Q.shape[1]
        span._buffer = np.array(Q, dtype=np.float64, order="F")
        span.R = np.array(R, dtype=np.float64, order="F")
        return span

    @property
    def basis(self) -> Array:
        """Q, an orthonormal basis of span(W), shape (n, m); a view."""
        return self._buffer[:, : self.rank]

    def squared_norms(self, Z: Array) -> Array:
        """Return ||R^-T z||^2 of each column of Z, shape (m, b): its score within the span."""
        if self.rank == 0:
            return np.zeros(Z.shape[1])
        Y, _ = lapack.dtrtrs(self.R, Z, lower=0, trans=1)
        return np.einsum("ij,ij->j", Y, Y)

    def append(self, z: Array, e: Array | None) -> None:
        """Add the column Q z + e to W, in place.

        Parameters
        ----------
        z : ndarray of shape (m,)
        e : ndarray of shape (n,) or None
            Part outside the span, orthogonal to Q up to rounding of the whole column; None when there is none.
        """
        R = self.R
        if e is not None:
            # e may be 1e-10 of its column: project once more, or the new direction is orthogonal to six digits only
            again = self.basis.T @ e
            e = e - self.basis @ again
            length = float(np.linalg.norm(e))
            R = np.zeros((self.rank + 1, self.rank + 1), order="F")
            R[:-1, :-1] = self.R
            R[-1, -1] = np.sqrt(self.ridge)
            z = np.append(z + again, length)
            self._extend(e / length)
        if self.rank:
            self.R = lapack.dtpqrt(0, min(32, self.rank), R, z[None, :], overwrite_a=e is not None)[0]

    def _extend(self, q: Array) -> None:
        n, capacity = self._buffer.shape
        if self.rank == capacity:
            buffer = np.empty((n, min(n, max(8, int(GROWTH * capacity)))), order="F")
            buffer[:, : self.rank] = self.basis
            self._buffer = buffer
        self._buffer[:, self.rank] = q
        self.rank += 1
