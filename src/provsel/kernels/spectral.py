"""Right singular vectors of a dense or sparse matrix, by the fastest method that keeps them orthonormal."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import LinAlgWarning, cholesky, eigh, qr, solve_triangular, svd

from provsel.kernels.graded import (
    graded_basis,
    is_certain,
    rounding_levels,
    scale_exponent,
    scaled,
)

Array = NDArray[np.float64]
Matrix: TypeAlias = Any
"""ndarray, or SciPy sparse array or matrix in CSR form, of shape (n, d)."""

ELONGATED = 2
"""From this ratio of the sides on, the Gram matrix of the short side is cheaper than an SVD."""

LOSS_OF_ORTHOGONALITY = 1e-12
"""V = X^T U / sigma loses about eps (sigma_max / sigma_min)^2 of its orthonormality; beyond this it is repaired."""

SMALL = 1e-9
"""Share of the largest below which eigenvalues of a Gram matrix have lost the digits that certificates compare; below
which singular values of an SVD would gain by taking the scales of rows and columns apart."""

CERTAIN_SPREAD = 1e9
"""Product of the ratios of the largest values of rows and of columns above which a scale may hide a singular value."""

N_PROBES = 3
"""Random vectors of a numerical null space to which X is applied."""


@dataclass(frozen=True)
class SpectralBasis:
    """Right singular vectors that belong to non-zero singular values.

    Attributes
    ----------
    V : ndarray of shape (d, rank)
        Orthonormal columns that span the row space of X.
    singular_values : ndarray of shape (rank,)
        In decreasing order.
    tolerance : float
        Share of the largest singular value up to which others count as zero.
    is_decided : bool
        Whether the arithmetic determines the rank: no singular value is too small to be
        kept and too large for rounding.
    error : float
        Bound, to first order, on the sine of the angle between the span of V and the
        row space of X.
    """

    V: Array
    singular_values: Array
    tolerance: float = 0.0
    is_decided: bool = True
    error: float = 0.0

    @property
    def rank(self) -> int:
        """Number of columns of V."""
        return self.V.shape[1]

    def lengths(self, columns: str) -> Array:
        """Return the lengths, shape (d,), of the columns of V^T ("V"), or of Sigma V^T ("sigma_V"), which are X's."""
        rows = self.V if columns == "V" else self.V * self.singular_values
        return np.sqrt(np.einsum("ij,ij->i", rows, rows))

    def warned(self) -> SpectralBasis:
        """Return this basis, after a `LinAlgWarning` if its rank is not certain."""
        if not self.is_decided:
            warnings.warn(
                f"The numerical rank of X is not certain: {self.rank} singular values exceed {self.tolerance:.2g} "
                f"times the largest, and others are below that but too large for rounding errors. Results that "
                f"depend on the rank may be wrong. Remove columns or rows that nearly depend on others, or set "
                f"`rank` if the selector has it.",
                LinAlgWarning,
                stacklevel=3,
            )
        return self

    def cuts_equal(self, rank: int | None) -> bool:
        """Return whether the singular values before and after the first `rank` are equal to within rounding."""
        if rank is None or rank >= self.rank:
            return False
        before, after = self.singular_values[rank - 1 : rank + 1]
        return bool(before - after <= self.tolerance * self.singular_values[0])

    def truncated(self, rank: int | None) -> SpectralBasis:
        """Return the basis of the `rank` largest singular values; all of them for None."""
        if rank is None or rank >= self.rank:
            return self
        return replace(
            self,
            V=self.V[:, :rank],
            singular_values=self.singular_values[:rank],
            is_decided=True,
        )


def centred_columns(X: Matrix) -> Array:
    """Return X, shape (n, d), minus the mean of each column, dense and in float64."""
    dense = X.toarray() if sparse.issparse(X) else np.asarray(X)
    return dense.astype(np.float64) - dense.mean(axis=0, dtype=np.float64)


def gram_matrix(X: Matrix) -> Array:
    """Return X X^T, shape (n, n), dense and in float64; sparse X, shape (n, d), stays sparse."""
    if sparse.issparse(X):
        X = X.astype(np.float64)
        return (X @ X.T).toarray()
    X = np.asarray(X, dtype=np.float64)
    return X @ X.T


def spectral_basis(
    X: Matrix, gram: Callable[[], Array] | None = None, *, keeps_small: bool = False
) -> SpectralBasis:
    """Return the right singular vectors of X that belong to non-zero singular values.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n, d)
        A sparse X is never densified; V itself is dense.
    gram : callable, optional
        Returns X X^T, shape (n, n), if available.
    keeps_small : bool, default=False
        Whether to avoid a Gram matrix of dense X, which would cost small singular
        values half of their digits.

    Returns
    -------
    SpectralBasis
        V^T V = I to 1e-12 or better. The fast routes are an SVD (dense, sides within a
        factor of 2), or the eigenvectors of the smaller Gram matrix. The latter squares
        the condition number. If small singular values are not certain, `accurate_basis`
        recomputes them.
    """
    exponent = scale_exponent(X)
    if exponent:
        basis = spectral_basis(scaled(X, exponent), keeps_small=keeps_small)
        return replace(
            basis, singular_values=np.ldexp(basis.singular_values, -exponent)
        )
    n, d = X.shape
    low, high = rounding_levels(X.shape, X.dtype)
    if not sparse.issparse(X) and (keeps_small or not is_elongated(X)):
        sigma, Vt = _singular_vectors(np.asarray(X, dtype=np.float64))
        rank = int(np.sum(sigma > high * sigma[0]))
        is_wide_range = rank > 0 and sigma[rank - 1] < SMALL * sigma[0]
        if (
            is_wide_range
            or not is_certain(sigma, rank, low)
            or (0 < rank < sigma.size and is_graded(X))
        ):
            return accurate_basis(X)
        return _decided(np.ascontiguousarray(Vt[:rank].T), sigma[:rank], X)
    by_columns = d <= n
    squares = gram_matrix(X.T) if by_columns else (gram or partial(gram_matrix, X))()
    lam, Q = eigh(squares, driver="evd", check_finite=False)
    lam, Q = lam[::-1], Q[:, ::-1]
    rank = int(np.sum(lam > max(n, d) * np.finfo(np.float64).eps * max(lam[0], 0.0)))
    is_wide_range = rank > 0 and lam[rank - 1] < SMALL * lam[0]
    if is_wide_range or (0 < rank < lam.size and not _is_null(X, lam[:rank], Q, low)):
        return accurate_basis(X)
    lam, Q = lam[:rank], Q[:, :rank]
    if by_columns:
        return _decided(np.ascontiguousarray(Q), np.sqrt(lam), X)
    if rank == 0:
        return SpectralBasis(np.zeros((d, 0)), lam)
    V = np.ascontiguousarray(X.T @ (Q / np.sqrt(lam)))
    if np.finfo(np.float64).eps * lam[0] / lam[-1] > LOSS_OF_ORTHOGONALITY:
        # one step of Cholesky QR: any rotation of V spans the same space, so nothing
        # downstream changes
        R = cholesky(V.T @ V, check_finite=False)
        V = np.ascontiguousarray(
            solve_triangular(R, V.T, trans="T", check_finite=False).T
        )
    return _decided(V, np.sqrt(lam), X)


def accurate_basis(X: Matrix) -> SpectralBasis:
    """Return the basis of X, shape (n, d), of usual size, without a Gram matrix: small values keep their digits."""
    V, sigma, is_decided, error = graded_basis(X)
    return SpectralBasis(
        V, sigma, rounding_levels(X.shape, X.dtype)[1], is_decided, error
    )


def is_elongated(X: Matrix) -> bool:
    """Return whether one side of X is so much longer that a factorisation should precede the SVD."""
    return bool(max(X.shape) >= ELONGATED * min(X.shape))


def _singular_vectors(X: Array) -> tuple[Array, Array]:
    """Return the singular values and V^T of dense X, after a QR factorisation if one side is much longer."""
    if not is_elongated(X):
        sigma, Vt = svd(X, full_matrices=False, check_finite=False)[1:]
    elif X.shape[0] > X.shape[1]:
        R = qr(X, mode="r", check_finite=False)[0][: X.shape[1]]
        sigma, Vt = svd(R, full_matrices=False, check_finite=False)[1:]
    else:
        Q, R = qr(X.T, mode="economic", check_finite=False)
        sigma, Wt = svd(R.T, full_matrices=False, check_finite=False)[1:]
        Vt = Wt @ Q.T
    return sigma, Vt


def _decided(V: Array, sigma: Array, X: Matrix) -> SpectralBasis:
    error = (
        rounding_levels(X.shape)[0] * float(sigma[0] / sigma[-1])
        if 0 < sigma.size < X.shape[1]
        else 0.0
    )
    return SpectralBasis(V, sigma, rounding_levels(X.shape, X.dtype)[1], True, error)


def _is_null(X: Matrix, lam: Array, Q: Array, low: float) -> bool:
    """Return whether eigenvectors beyond `lam` belong to zero singular values, which the Gram matrix cannot show.

    X is applied to a few random vectors z of their span, minus the rounding errors in z
    along the other vectors. A product with X shows singular values down to rounding,
    whereas the Gram matrix shows their squares.
    """
    if is_graded(X):
        return False
    A = X if X.shape[1] <= X.shape[0] else X.T
    kept, rest = Q[:, : lam.size], Q[:, lam.size :]
    mix = (
        np.random.default_rng(0).standard_normal((rest.shape[1], N_PROBES))
        if rest.shape[1] > N_PROBES
        else None
    )
    z = rest if mix is None else rest @ mix
    z = z - kept @ ((kept.T @ (A.T @ (A @ z))) / lam[:, None])
    sizes = np.linalg.norm(A @ z, axis=0) / np.linalg.norm(z, axis=0)
    return bool((sizes <= low * np.sqrt(lam[0])).all())


def is_graded(X: Matrix) -> bool:
    """Return whether rows or columns differ so much in length that a small singular value may belong to a short one."""
    # values hidden below single-precision rounding need less spread, and are checked at
    # once
    limit = (
        CERTAIN_SPREAD
        * rounding_levels(X.shape)[0]
        / rounding_levels(X.shape, X.dtype)[0]
    )
    sizes = np.abs(X.data if sparse.issparse(X) else X)
    # as of counts
    if (sizes.max() / sizes.min(where=sizes > 0, initial=np.inf)) ** 2 <= limit:
        return False
    largest = abs(X).max(axis=0), abs(X).max(axis=1)
    spread = 1.0
    for sizes in largest:
        lengths = np.asarray(
            sizes.toarray() if sparse.issparse(sizes) else sizes, dtype=np.float64
        ).ravel()
        spread *= lengths.max() / lengths[lengths > 0].min()
    return bool(spread > limit)
