"""Systems A D A^T + F with two diagonals, as in interior point methods: through the rows, or through the columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve, solve_triangular

Array = NDArray[np.float64]

MAX_ROW_ORDER = 500
"""Systems have the order of the rows up to this; above it the order of the columns if these are less than half."""
SPARSE_COST = 60.0
"""Time of an operation in a product of sparse matrices, in units of one in a dense product."""


def gram_columns(A: Any, columns: NDArray[np.int64]) -> Any:
    """Return A[:, columns] of an ndarray or CSC A, shape (n, m); dense if that makes A D A^T cheaper."""
    part = A[:, columns]
    if not sparse.issparse(part):
        return part
    sparse_work = SPARSE_COST * float((np.diff(part.indptr) ** 2.0).sum())
    return part.toarray() if sparse_work > part.shape[0] ** 2 * columns.size else part


def diagonal_gram_solver(A: Any, D: Array, F: Array) -> Callable[[Array], Array]:
    """Return the function r -> (A D A^T + F)^-1 r, with positive diagonals D and F.

    Solves one system over all rows; or, with far fewer columns, one of the columns'
    order and one over the rows with an F that is small beside the diagonal of A D A^T.
    Only the other rows are eliminated, because dividing by a small F magnifies
    rounding; the first system then has a condition number of at most n + 1.

    Parameters
    ----------
    A : ndarray or CSC of shape (n, p)
    D : ndarray of shape (p,)
    F : ndarray of shape (n,)

    Raises
    ------
    LinAlgError
        If the matrix is not positive definite, through rounding.
    """
    n, p = A.shape
    if n <= max(2 * p, MAX_ROW_ORDER):
        H = _gram(A, np.sqrt(D))
        H[np.diag_indices(n)] += F
        factor = cho_factor(H, lower=True, overwrite_a=True, check_finite=False)
        return lambda right: cho_solve(factor, right, check_finite=False)
    root = np.sqrt(D)
    squares = A.power(2) @ D if sparse.issparse(A) else np.square(A) @ D
    ratio = np.divide(F, squares, out=np.full(n, np.inf), where=squares > F)
    kept = np.sort(np.argsort(ratio, kind="stable")[: min(p, int((squares > F).sum()))])
    weight = 1.0 / F
    weight[kept] = 0.0
    K = _gram(A.T, np.sqrt(weight)) * np.outer(root, root)
    K[np.diag_indices(p)] += 1.0
    inner = cho_factor(K, lower=True, overwrite_a=True, check_finite=False)
    part = A[kept] * root if not sparse.issparse(A) else A[kept].toarray() * root
    half = solve_triangular(inner[0], part.T, lower=True, check_finite=False)
    schur = half.T @ half
    schur[np.diag_indices(kept.size)] += F[kept]
    outer = cho_factor(schur, lower=True, overwrite_a=True, check_finite=False)

    def solve(right: Array) -> Array:
        x = cho_solve(inner, root * (A.T @ (weight * right)), check_finite=False)
        alpha = cho_solve(outer, right[kept] - part @ x, check_finite=False)
        x = root * (x + cho_solve(inner, part.T @ alpha, check_finite=False))
        solution = weight * (right - A @ x)
        solution[kept] = alpha
        return solution

    return solve


def _gram(A: Any, scales: Array) -> Array:
    """Return A diag(scales^2) A^T, dense."""
    if not sparse.issparse(A):
        scaled = A * scales
        return scaled @ scaled.T
    scaled = (A @ sparse.diags_array(scales)).tocsr()
    return (scaled @ scaled.T).toarray()
