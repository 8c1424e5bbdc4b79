"""Distance of X from its projection on some of its columns, without forming the n x d residual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import qr, solve_triangular, svd
from scipy.sparse.linalg import LinearOperator, svds

from provsel.kernels.column_span import dense_columns
from provsel.kernels.randomized_pivoting import residual_squares
from provsel.kernels.spectral import Array, SpectralBasis
from provsel.kernels.subset_bounds import Spectrum
from provsel.kernels.tails import column_squares

Columns = NDArray[np.int64]

CANCELLED = 1e-8
"""Share of ||X||_F^2 below which a residual computed as a difference of squares has no reliable digits."""


@dataclass(frozen=True)
class ProjectionError:
    """||X - P X||, P the projection on the span of the columns.

    Attributes
    ----------
    frobenius : float
        Squared.
    spectral : float
        Squared; a lower bound if computed by a Lanczos process.
    """

    frobenius: float
    spectral: float


def error_from_basis(basis: SpectralBasis, columns: Columns) -> ProjectionError:
    """Return the error from all singular pairs: X is Sigma V^T up to a rotation. O(rank^3 + rank^2 r).

    Accurate to tails of 1e-16 of ||X||_F^2, because nothing larger than the columns of
    the residual is subtracted.

    Parameters
    ----------
    basis : SpectralBasis
        Complete, V of shape (d, rank).
    columns : ndarray of shape (r,), int64
    """
    sigma = basis.singular_values
    W = basis.V[columns].T * sigma[:, None]
    Q = independent_directions(W)
    rest = np.diag(sigma)
    for _ in range(2):
        rest = rest - Q @ (Q.T @ rest)
    top = svd(rest, compute_uv=False, check_finite=False)[0]
    return ProjectionError(float((rest**2).sum()), float(top) ** 2)


def error_of_graded_rows(
    sigma: Array, V: Array, columns: Columns
) -> tuple[ProjectionError, float]:
    """Return the error, relatively accurate, and ||C^+ X||_2, the factor by which it enlarges relative errors of X.

    A QR factorisation of the rows of Sigma V^T, which decrease, is stable row by row if
    its columns are pivoted.

    Parameters
    ----------
    sigma : ndarray of shape (rank,)
        Decreasing, each relatively accurate.
    V : ndarray of shape (d, rank)
    columns : ndarray of shape (r,), int64
    """
    C = V[columns].T * sigma[:, None]
    order = qr(C, mode="r", pivoting=True, check_finite=False)[1][: sigma.size]
    r = order.size
    R = qr(np.hstack([C[:, order], np.diag(sigma)]), mode="r", check_finite=False)[0]
    if (np.diagonal(R)[:r] == 0).any():
        return ProjectionError(np.nan, np.nan), np.inf
    coefficients = solve_triangular(R[:r, :r], R[:r, r:], check_finite=False)
    rest = R[r:, r:]
    top = svd(rest, compute_uv=False, check_finite=False)[0] if rest.size else 0.0
    return ProjectionError(float((rest**2).sum()), float(top) ** 2), float(
        np.linalg.norm(coefficients, 2)
    )


def error_by_products(X: Any, columns: Columns) -> ProjectionError:
    """Return the error of sparse X, shape (n, d), by products with X and its transpose. O(r nnz + n r^2).

    The Frobenius part is a difference; if that has lost its digits, it is computed by
    blocks of columns.
    """
    X = sparse.csc_array(X, dtype=np.float64)
    Q = independent_directions(dense_columns(X, columns))
    squares = column_squares(X)
    total = float(squares.sum())
    left = total - float(((X.T @ Q) ** 2).sum())
    if left < CANCELLED * total:
        left = float(residual_squares(X, Q).sum())

    def outside(x: Array) -> Array:
        return np.asarray(x - Q @ (Q.T @ x))

    rest = LinearOperator(
        X.shape,
        matvec=lambda x: outside(X @ x.ravel()),
        rmatvec=lambda y: X.T @ outside(y.ravel()),
        dtype=np.float64,
    )
    if left <= (max(X.shape) * np.finfo(np.float64).eps) ** 2 * total:
        return ProjectionError(left, left)
    start = np.random.default_rng(0).standard_normal(min(X.shape))
    top = svds(rest, k=1, v0=start, return_singular_vectors=False)[0]
    return ProjectionError(left, float(top) ** 2)


def is_rounding(X: Any, columns: Columns) -> bool:
    """Return whether sparse X, shape (n, d), is in the span of its columns up to rounding; by blocks of columns."""
    X = sparse.csc_array(X, dtype=np.float64)
    left = residual_squares(X, independent_directions(dense_columns(X, columns))).sum()
    return bool(
        left
        <= 10 * (max(X.shape) * np.finfo(np.float64).eps) ** 2 * column_squares(X).sum()
    )


def independent_directions(C: Array) -> Array:
    """Return an orthonormal basis of the columns of C, shape (n, r), without those that are only rounding."""
    Q, R, _ = qr(C, mode="economic", pivoting=True, check_finite=False)
    diagonal = np.abs(np.diagonal(R))
    if diagonal.size == 0 or diagonal[0] == 0:
        return np.zeros((C.shape[0], 0))
    return Q[:, diagonal > max(C.shape) * np.finfo(np.float64).eps * diagonal[0]]


def error_ratio(error: float, tail: float, zero: float) -> float:
    """Return error / tail; for a zero tail, 1 if the error is at most `zero`, which is rounding, otherwise infinity."""
    if tail > zero:
        return error / tail
    return 1.0 if error <= 10 * zero else np.inf


def spectrum_by_products(X: Any, leading: SpectralBasis) -> Spectrum:
    """Return the known singular values of sparse X, and the sum of squares of the others."""
    leading_squares = float((leading.singular_values**2).sum())
    return Spectrum(
        leading.singular_values,
        max(float(column_squares(X).sum()) - leading_squares, 0.0),
    )
