r"""The convex form of the feature-selective SVM: a weight mu_j in [0, 1] on each rank-one kernel, and the SVM, jointly.

    min over mu, w   (1/n) sum_i max(0, 1 - y_i <Phi_i, D(sqrt mu) w>) + c2 ||w||^2 + c1 ||mu||_1

With v = D(sqrt mu) w the penalty is c2 v_j^2 / mu_j + c1 mu_j, whose minimum over mu_j
is at mu_j = min(1, |v_j| sqrt(c2 / c1)): 2 sqrt(c1 c2) |v_j| up to |v_j| = sqrt(c1 /
c2), and c2 v_j^2 + c1 beyond. Convex.

    dual             max over 0 <= alpha <= 1/n of sum alpha - sum_j max(0, u_j^2 / (4 c2) - c1),  u = Phi^T (y alpha)

It has a kink at |u_j| = 2 sqrt(c1 c2), where 0 < mu_j < 1. Giesen, Laue, Mueller
(2013), section 4.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from provsel.kernels.feature_selective_units import (
    SHARP,
    FeatureSelective,
    FeatureSelectiveUnits,
)

Array = NDArray[np.float64]

FIRST_COLUMNS = 200
"""Minimum number of columns that enter at once, if that many have a reason to."""
NEARLY = 0.9
"""Share of the necessary pull at which a column enters together with others: it might need to soon."""


def kernel_weight_penalty(v: Array, c1: float, c2: float) -> Array:
    """Return min over 0 < mu <= 1 of c2 v_j^2 / mu + c1 mu for each j, shape (m,)."""
    size = np.abs(v)
    return np.where(
        size <= np.sqrt(c1 / c2), 2.0 * np.sqrt(c1 * c2) * size, c2 * size**2 + c1
    )


def kernel_weights(v: Array, c1: float, c2: float) -> Array:
    """Return the mu that attains `kernel_weight_penalty`, shape (m,)."""
    return np.minimum(1.0, np.abs(v) * np.sqrt(c2 / c1))


def largest_c1(X: Any, y: Array, c2: float) -> float:
    """Return the smallest c1 at which v = 0 is optimal: there alpha = 1/n, which requires |u_j| <= 2 sqrt(c1 c2).

    Parameters
    ----------
    X : ndarray or sparse of shape (n, m)
    y : ndarray of shape (n,)
        Labels -1.0 and 1.0.
    c2 : float
    """
    return float((np.abs(X.T @ y).max(initial=0.0) / (2.0 * y.size)) ** 2 / c2)


def feature_selective_svm(
    X: Any, y: Array, c1: float, c2: float, *, tol: float = 1e-6, max_iter: int = 1000
) -> FeatureSelective:
    """Solve the convex form to a relative duality gap of `tol`.

    Columns enter if |u_j| shows that they should, those with the largest |u_j| first;
    an interior point method solves the problem on the columns that have entered. Then
    the equations of its active set are solved, which makes zeros exact. Equal columns
    get equal weights. The gap is computed for the whole problem, and is a certificate
    regardless of the solver.

    Parameters
    ----------
    X : ndarray or sparse of shape (n, m), float64
        An intercept is the caller's constant column.
    y : ndarray of shape (n,)
        Labels -1.0 and 1.0.
    c1, c2 : float
        Positive.
    tol : float, default=1e-6
    max_iter : int, default=1000
        Bound on the steps of the interior point method; 50 to 200 are usual.

    Returns
    -------
    FeatureSelective
    """
    n, m = X.shape
    problem = FeatureSelectiveUnits(c1, c2, X, y)
    v, alpha, n_iter = np.zeros(m), np.full(n, problem.C), 0
    best = problem.certified(problem.A, v, alpha)
    inside = np.zeros(m, dtype=bool)
    accuracy = 0.1
    # if the gap is met by chance before full accuracy, small v may remain instead of
    # zeros
    while (
        best.gap > (tol if accuracy <= 0.1 * tol else min(tol, SHARP))
        and n_iter < max_iter
    ):
        pull = np.where(inside, 0.0, np.abs(problem.A.T @ alpha))
        missing = bool((pull > 1.0).any())
        waiting = (
            np.flatnonzero(pull > NEARLY) if missing else np.zeros(0, dtype=np.int64)
        )
        count = max(FIRST_COLUMNS, n // 5, 2 * int(inside.sum()))
        if not missing and accuracy <= 0.1 * tol:
            break  # all columns are used, and rounding stops the steps
        accuracy = max(
            min(0.1 * accuracy, 0.1 * best.gap) if missing else 0.0, 0.1 * tol
        )
        inside[waiting[np.argsort(-pull[waiting], kind="stable")[:count]]] = True
        columns = np.flatnonzero(inside)
        v = np.zeros(m)
        v[columns], alpha, steps = problem.on_columns(
            columns, accuracy, tol, max_iter - n_iter
        )
        n_iter += steps
        candidate = problem.certified(problem.A, v, alpha)
        best = candidate if candidate.gap < best.gap else best
    return problem.in_original_units(best, n_iter)
