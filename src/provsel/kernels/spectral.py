"""Right singular vectors of a dense or sparse matrix, by the cheapest route that keeps them orthonormal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cholesky, eigh, solve_triangular, svd

Array = NDArray[np.float64]
Matrix: TypeAlias = Any
"""ndarray, or SciPy sparse array or matrix in CSR form, of shape (n, d)."""

ELONGATED = 2
"""From this ratio of the sides on, the Gram matrix of the short side is cheaper than an SVD."""

LOSS_OF_ORTHOGONALITY = 1e-12
"""V = X^T U / sigma loses about eps (sigma_max / sigma_min)^2 of its orthonormality; beyond this it is repaired."""


@dataclass(frozen=True)
class SpectralBasis:
    """Right singular vectors that belong to non-zero singular values.

    Attributes
    ----------
    V : ndarray of shape (d, rank)
        Orthonormal columns that span the row space of X.
    singular_values : ndarray of shape (rank,)
        In decreasing order.
    """

    V: Array
    singular_values: Array

    @property
    def rank(self) -> int:
        """Number of columns of V."""
        return self.V.shape[1]

    def lengths(self, columns: str) -> Array:
        """Return the lengths, shape (d,), of the columns of V^T ("V") or of Sigma V^T ("sigma_V"), which are X's."""
        rows = self.V if columns == "V" else self.V * self.singular_values
        return np.sqrt(np.einsum("ij,ij->i", rows, rows))

    def truncated(self, rank: int | None) -> SpectralBasis:
        """Return the basis of the `rank` largest singular values; all of them for None."""
        if rank is None or rank >= self.rank:
            return self
        return SpectralBasis(self.V[:, :rank], self.singular_values[:rank])


def centred_columns(X: Matrix) -> Array:
    """Return X, shape (n, d), less the mean of each column, dense and in float64."""
    dense = X.toarray() if sparse.issparse(X) else np.asarray(X)
    return dense.astype(np.float64) - dense.mean(axis=0, dtype=np.float64)


def gram_matrix(X: Matrix) -> Array:
    """Return X X^T, shape (n, n), dense and in float64; sparse X, shape (n, d), stays sparse."""
    if sparse.issparse(X):
        X = X.astype(np.float64)
        return (X @ X.T).toarray()
    X = np.asarray(X, dtype=np.float64)
    return X @ X.T


def spectral_basis(X: Matrix, gram: Array | None = None) -> SpectralBasis:
    """Return the right singular vectors of X that belong to non-zero singular values.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n, d)
        A sparse X is never densified; V itself is dense.
    gram : ndarray of shape (n, n), optional
        X X^T, where it is at hand.

    Returns
    -------
    SpectralBasis
        Rank cut-off: the SVD route (dense, sides within a factor of 2) drops singular values up to
        max(n, d) eps sigma_max, the Gram route those up to sqrt(max(n, d) eps) sigma_max (about 1e-6), below
        which the Gram matrix holds no information. V^T V = I to 1e-12 or better on either route.
    """
    n, d = X.shape
    cut = max(n, d) * np.finfo(np.float64).eps
    if not _by_gram(X):
        _, sigma, Vt = svd(np.asarray(X, dtype=np.float64), full_matrices=False, check_finite=False)
        rank = int(np.sum(sigma > cut * sigma[0]))
        return SpectralBasis(np.ascontiguousarray(Vt[:rank].T), sigma[:rank])
    if d <= n:
        lam, Q = _eigenpairs(gram_matrix(X.T), cut)
        return SpectralBasis(np.ascontiguousarray(Q), np.sqrt(lam))
    lam, Q = _eigenpairs(gram_matrix(X) if gram is None else gram, cut)
    if lam.size == 0:
        return SpectralBasis(np.zeros((d, 0)), lam)
    V = np.ascontiguousarray(X.T @ (Q / np.sqrt(lam)))
    if np.finfo(np.float64).eps * lam[0] / lam[-1] > LOSS_OF_ORTHOGONALITY:
        # one step of Cholesky QR: any rotation of V spans the same space, so nothing downstream changes
        R = cholesky(V.T @ V, check_finite=False)
        V = np.ascontiguousarray(solve_triangular(R, V.T, trans="T", check_finite=False).T)
    return SpectralBasis(V, np.sqrt(lam))


def needs_row_gram(X: Matrix) -> bool:
    """Tell whether `spectral_basis` works on X X^T."""
    return _by_gram(X) and X.shape[0] < X.shape[1]


def _by_gram(X: Matrix) -> bool:
    return sparse.issparse(X) or max(X.shape) >= ELONGATED * min(X.shape)


def _eigenpairs(gram: Array, cut: float) -> tuple[Array, Array]:
    lam, Q = eigh(gram, driver="evd", check_finite=False)
    keep = lam > cut * max(lam[-1], 0.0)
    return lam[keep][::-1], Q[:, keep][:, ::-1]
