"""The part of X outside its leading right singular vectors, E = X - X V V^T, without forming it."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy import sparse
from scipy.linalg import qr, svd
from scipy.sparse.linalg import svds

from provsel.kernels.column_span import dense_column
from provsel.kernels.graded import is_certain, rounding_levels, scale_exponent, scaled
from provsel.kernels.spectral import Array, SpectralBasis, is_graded

LARGE_BASIS = 2**25
"""Entries of a complete V above which only the leading singular vectors of sparse X are computed, by Lanczos."""


class Tail(Protocol):
    """E, known up to a rotation of its rows, which changes no norm and no inner product of its columns.

    Attributes
    ----------
    squares : ndarray of shape (d,)
        Squared norms of the columns of E.
    rounding : float
        Squared norm of a column below which everything is rounding.
    """

    squares: Array
    rounding: float

    def column(self, j: int) -> Array:
        """Return column j of E, shape (m,)."""

    def products(self, f: Array) -> Array:
        """Return E^T f, shape (d,), for f of shape (m,)."""


class SpectralTail:
    """E from all singular pairs beyond the first k, as sums of squares that are accurate even if E is small.

    Parameters
    ----------
    basis : SpectralBasis
        Complete.
    k : int
    """

    def __init__(self, basis: SpectralBasis, k: int) -> None:
        self._V, self._sigma = basis.V[:, k:], basis.singular_values[k:]
        self.squares = (self._V**2) @ self._sigma**2
        self.rounding = float((1e-14 * basis.singular_values[0]) ** 2)

    def column(self, j: int) -> Array:
        """Return column j of E, shape (rank - k,)."""
        return np.asarray(self._sigma * self._V[j])

    def products(self, f: Array) -> Array:
        """Return E^T f, shape (d,)."""
        return np.asarray(self._V @ (self._sigma * f))


class DeflatedTail:
    """E of sparse X by products with X and X^T; squares are differences, accurate to eps of those of X.

    Parameters
    ----------
    X : sparse array of shape (n, d)
    V : ndarray of shape (d, k)
        Orthonormal columns.
    """

    def __init__(self, X: Any, V: Array) -> None:
        self._X, self._V = sparse.csc_array(X, dtype=np.float64), V
        self._transposed = self._X.T
        self._XV = self._X @ V
        norms = column_squares(self._X)
        projected = np.einsum("ij,ij->i", V @ (self._XV.T @ self._XV), V)
        # ||x - X V v||^2 in full: V of a Lanczos process need not be exact, as ||x||^2 - ||X V v||^2 would assume
        inner = np.einsum("ij,ij->i", self._transposed @ self._XV, V)
        self.squares = np.maximum(norms - 2 * inner + projected, 0.0)
        self.rounding = float(1e-15 * norms.max(initial=0.0))

    def column(self, j: int) -> Array:
        """Return column j of E, shape (n,)."""
        return dense_column(self._X, j) - self._XV @ self._V[j]

    def products(self, f: Array) -> Array:
        """Return E^T f, shape (d,)."""
        return np.asarray(self._transposed @ f - self._V @ (self._XV.T @ f))


class IdentityTail:
    """I - V V^T, a possible tail of an unknown X, from V alone.

    Parameters
    ----------
    V : ndarray of shape (d, k)
        Orthonormal columns.
    """

    def __init__(self, V: Array) -> None:
        self._V = V
        self.squares = np.maximum(1.0 - np.einsum("ij,ij->i", V, V), 0.0)
        self.rounding = 1e-28

    def column(self, j: int) -> Array:
        """Return column j, shape (d,)."""
        column = -(self._V @ self._V[j])
        column[j] += 1.0
        return column

    def products(self, f: Array) -> Array:
        """Return (I - V V^T) f, shape (d,)."""
        return np.asarray(f - self._V @ (self._V.T @ f))


def column_squares(X: Any) -> Array:
    """Return the squared norms of the columns of X, shape (d,), dense or sparse, in float64."""
    if sparse.issparse(X):
        return np.asarray(
            X.astype(np.float64).power(2).sum(axis=0), dtype=np.float64
        ).ravel()
    return np.einsum("ij,ij->j", X, X, dtype=np.float64)


def needs_truncation(X: Any, k: int) -> bool:
    """Return whether k columns of V of sparse X, shape (n, d), need Lanczos: a complete V would be too large."""
    return (
        sparse.issparse(X)
        and X.shape[1] * min(X.shape) >= LARGE_BASIS
        and k < min(X.shape)
    )


def truncated_basis(X: Any, k: int) -> SpectralBasis:
    """Return the k leading right singular vectors of sparse X, shape (n, d), by Lanczos with a fixed start.

    V is orthonormal to rounding, and the singular values are those of X V: a Lanczos
    process that has not converged overestimates the tail, and never underestimates it.
    A rank below k is certain if rows and columns have similar norms.
    """
    exponent, (low, high) = scale_exponent(X), rounding_levels(X.shape, X.dtype)
    X = scaled(X, exponent) if exponent else X.astype(np.float64)
    start = np.random.default_rng(0).standard_normal(min(X.shape))
    Vt = svds(X, k=k, v0=start, return_singular_vectors="vh")[2]
    V = qr(Vt.T, mode="economic", check_finite=False)[0]
    _, sigma, Wt = svd(X @ V, full_matrices=False, check_finite=False)
    rank = int(np.sum(sigma > high * sigma[0]))
    is_decided = rank == k or (is_certain(sigma, rank, low) and not is_graded(X))
    return SpectralBasis(
        np.ascontiguousarray(V @ Wt[:rank].T),
        np.ldexp(sigma[:rank], -exponent),
        high,
        is_decided,
    )
