"""Singular values with high relative accuracy, for matrices whose row and column scales hide small ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import qr, solve_triangular, svd
from scipy.linalg.lapack import dgejsv

Array = NDArray[np.float64]

LARGE_WORK = 2**30
"""Multiplications, n^2 d, above which complete pivoting takes more than seconds."""

LEAST_PIVOT = 1e-130
"""Below this, or this share of the largest, squares and products may underflow."""


@dataclass(frozen=True)
class RelativeSVD:
    """Singular values and right singular vectors of X, shape (n, d), of rank min(n, d).

    Attributes
    ----------
    V : ndarray of shape (d, rank)
        Orthonormal columns.
    singular_values : ndarray of shape (rank,)
        In decreasing order.
    error : float
        Bound, to first order, on the relative error of each singular value: from the
        arithmetic, and from rounding errors in X.
    """

    V: Array
    singular_values: Array
    error: float


@dataclass(frozen=True)
class _Factors:
    """L D U = X[rows][:, columns] of shape (n, d), n <= d: L unit lower and U unit upper triangular."""

    L: Array
    D: Array
    U: Array
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]


def relative_svd(X: Any) -> RelativeSVD | None:
    r"""Return the singular values of X = D_r B D_c with errors that do not depend on the scales D_r and D_c.

    Complete pivoting gives L D U with well-conditioned L and U if B allows it, and all
    scales in D. QR of L D and Jacobi rotations keep them apart. O(n^2 d) for n <= d.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n, d)
        Sparse X is made dense.

    Returns
    -------
    RelativeSVD or None
        None if X does not have full rank, is too large, or has scales whose squares
        underflow.

    References
    ----------
    Demmel, Gu, Eisenstat, Slapnicar, Veselic, Drmac (1999), Computing the singular
    value decomposition with high relative accuracy, Algorithm 3.1; Drmac and Veselic
    (2008) for the rotations, LAPACK's dgejsv.
    """
    n, d = X.shape
    if min(n, d) * n * d > LARGE_WORK:
        return None
    X = X.toarray() if sparse.issparse(X) else X
    factors = _complete_pivoting(X if n <= d else X.T)
    if factors is None:
        return None
    Q, R, order = qr(
        factors.L * factors.D, mode="economic", pivoting=True, check_finite=False
    )
    W = R @ factors.U[order]
    sizes, right, left, work, _, info = dgejsv(
        W.T, joba=0, jobu=0, jobv=0, jobr=1, jobt=1, jobp=1
    )
    if info != 0:
        return None
    singular_values = sizes * (work[0] / work[1])
    if n <= d:
        V = np.empty_like(right)
        V[factors.columns] = right
    else:
        V = np.empty_like(left)
        V[factors.rows] = Q @ left
    return RelativeSVD(V, singular_values, _relative_error(factors))


def _complete_pivoting(X: Any) -> _Factors | None:
    """Return the factors of X, shape (n, d), n <= d; None if a pivot is zero or almost zero."""
    A = np.array(X, dtype=np.float64)
    n, d = A.shape
    rows, columns = np.arange(n), np.arange(d)
    for step in range(n):
        rest = np.abs(A[step:, step:])
        row, column = np.unravel_index(int(rest.argmax()), rest.shape)
        _swap(A, rows, step, step + int(row))
        _swap(A.T, columns, step, step + int(column))
        if abs(A[step, step]) <= LEAST_PIVOT * max(abs(A[0, 0]), 1.0):
            return None
        A[step + 1 :, step] /= A[step, step]
        A[step + 1 :, step + 1 :] -= np.outer(A[step + 1 :, step], A[step, step + 1 :])
    D = np.diagonal(A).copy()
    L = np.tril(A[:, :n], -1) + np.eye(n)
    return _Factors(L, D, np.triu(A) / D[:, None], rows, columns)


def _swap(A: Array, order: NDArray[np.int64], first: int, second: int) -> None:
    """Exchange two rows of A, and of their order, in place."""
    A[[first, second]] = A[[second, first]]
    order[[first, second]] = order[[second, first]]


def _relative_error(factors: _Factors) -> float:
    r"""Return a first-order bound on the relative differences between the singular values of L D U and of X.

    X = L D U + E with |E| <= u |L| |D| |U|, u about n eps, which also covers rounded
    values of X. That is L (I + K) D (U + F) with |K| <= u |K|_1 and |F| <= u |F|_1
    below: the part of L^-1 E U^-1 below the diagonal goes to L, the rest to U. Factors
    close to the identity change singular values by the same relative amount.
    """
    L, D, U = factors.L, np.abs(factors.D), factors.U
    n = L.shape[0]
    identity = np.eye(n)
    L_inverse = solve_triangular(
        L, identity, lower=True, unit_diagonal=True, check_finite=False
    )
    U_inverse = solve_triangular(
        U[:, :n], identity, unit_diagonal=True, check_finite=False
    )
    reached = (np.abs(L_inverse) @ np.abs(L)) @ (D[:, None] * np.abs(U))
    inner = reached[:, :n] @ np.abs(U_inverse)
    below = np.tril(inner, -1)
    K = below / D
    F = (
        np.hstack(
            [
                np.triu(inner) @ np.abs(U[:, :n]),
                reached[:, n:] + below @ np.abs(U[:, n:]),
            ]
        )
        / D[:, None]
    )
    L_sizes = svd(L, compute_uv=False, check_finite=False)
    U_sizes = svd(U, compute_uv=False, check_finite=False)
    L_condition = L_sizes[0] / L_sizes[-1]
    U_condition = U_sizes[0] / U_sizes[-1]
    amplified = (
        L_condition * np.linalg.norm(K)
        + np.linalg.norm(F) / U_sizes[-1]
        + L_condition * U_condition
    )
    return float((n + 2) * np.finfo(np.float64).eps * amplified)
