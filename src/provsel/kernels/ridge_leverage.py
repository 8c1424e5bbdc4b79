"""Ridge leverage scores from a Cholesky factor, or from the singular value decomposition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from provsel.kernels.spectral import Array, SpectralBasis, gram_matrix


def scores_by_gram_matrix(
    X: Any, ridge: float | None, gram: Callable[[], Array]
) -> tuple[Array, float, Array]:
    r"""Return the scores of the columns of X, shape (n, d), the ridge, and bounds on how far rounding moves each score.

    With L L^T = X X^T + ridge I a score is ||L^-1 a_i||^2 for n < d, and else the
    diagonal of I - ridge (G + ridge I)^-1, G = X^T X. Rounding moves eigenvalues by
    about eps of the largest, and so a score by the ratio of that to the ridge: a
    relative error for n < d, and an absolute one otherwise. On images, errors were 0.1
    to 0.6 of this bound.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n, d)
        Values of usual size.
    ridge : float, optional
        Positive, in the units of X squared; by default the trace of the Gram matrix
        divided by its size.
    gram : callable
        Returns X X^T, shape (n, n).
    """
    n, d = X.shape
    squares = gram_matrix(X.T) if d <= n else gram().copy()
    size = float(np.linalg.norm(squares))
    ridge = float(np.trace(squares)) / min(n, d) if ridge is None else ridge
    if size * np.finfo(float).eps >= ridge:
        return np.zeros(d), ridge, np.full(d, np.inf)
    squares[np.diag_indices_from(squares)] += ridge
    L = cholesky(squares, lower=True, overwrite_a=True, check_finite=False)
    inverse = solve_triangular(
        L, np.eye(L.shape[0]), lower=True, overwrite_b=True, check_finite=False
    )
    error = 4 * np.finfo(float).eps * (1.0 + size / ridge)
    if d <= n:
        return (
            1.0 - ridge * np.einsum("ij,ij->j", inverse, inverse),
            ridge,
            np.full(d, error),
        )
    half = X.T @ inverse.T
    scores = np.einsum("ij,ij->i", half, half)
    return scores, ridge, error * scores


def ridge_leverage_scores(basis: SpectralBasis, ridge: float) -> Array:
    r"""Return a_i^T (A A^T + ridge I)^-1 a_i for each column a_i of A, shape (d,).

    With A = U S V^T this is sum_k V_ik^2 s_k^2 / (s_k^2 + ridge): sums of squares,
    without the cancellation of 1 - ridge (G + ridge I)^-1_ii, G = A^T A, which is the
    same number. They sum to the effective dimension sum_k s_k^2 / (s_k^2 + ridge).

    Parameters
    ----------
    basis : SpectralBasis
        Singular values and vectors of A, shape (n, d); rank at least 1.
    ridge : float
        Positive, in the units of A squared.
    """
    squares = basis.singular_values**2
    return (basis.V * basis.V) @ (squares / (squares + ridge))
