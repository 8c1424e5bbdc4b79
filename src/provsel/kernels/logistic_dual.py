"""Linear model of the logistic loss without intercept together with its dual variables, certified by the duality gap.

References
----------
.. [1] H.-F. Yu, F.-L. Huang, C.-J. Lin. Dual coordinate descent methods for logistic regression and maximum entropy
   models. Machine Learning 85 (2011), 41-75. Section 2 has the dual.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import entr, expit

from provsel.kernels.hinge_dual import PrimalDual, line_search, newton_solve

Array = NDArray[np.float64]


def logistic_losses(scores: Array) -> Array:
    """Return log(1 + exp(-s)) of scores s, of any shape; no overflow."""
    return np.logaddexp(0.0, -scores)


def dual_value(alpha: Array, square: float, C: float) -> float:
    """Return the dual objective of alpha in [0, C], with ||Z^T (y alpha)||^2, in units of C times the sum of losses."""
    share = alpha / C
    return float(C * (entr(share) + entr(1.0 - share)).sum() - 0.5 * square)


def logistic_dual(
    Z: Any, y: Array, c: float, *, tol: float = 1e-6, max_iter: int = 500
) -> PrimalDual:
    r"""Minimise f(w) = (1/n) sum_i log(1 + exp(-y_i <z_i, w>)) + c ||w||^2.

    In units of 2 c this is ||w||^2 / 2 + C sum_i log(1 + exp(-s_i)) with s_i = y_i
    <z_i, w> and C = 1 / (2 c n). Solved by Newton steps with line search. The dual
    variables are minus the derivatives of the losses, alpha_i = C / (1 + exp(s_i)). For
    these the duality gap is ||w - Z^T (y alpha)||^2 / 2, half the squared norm of the
    gradient, so cancellation does not limit it. Memory beside Z: a weighted copy, two
    if n <= l, and the square of the smaller side.

    Parameters
    ----------
    Z : ndarray or CSR of shape (n, l), float64
        An intercept is the caller's constant column. Sparse rows stay sparse.
    y : ndarray of shape (n,)
        Labels -1 and +1.
    c : float
        Positive.
    tol : float, default=1e-6
        Target for the relative duality gap.
    max_iter : int, default=500
        Bound on the Newton steps; 5 to 30 are usual.

    Returns
    -------
    PrimalDual

    References
    ----------
    The dual: Yu, Huang, Lin (2011) [1]_.
    """
    n = Z.shape[0]
    C = 1.0 / (2.0 * c * n)
    w = np.zeros(Z.shape[1])
    scores = np.zeros(n)  # y_i <z_i, w>
    for n_iter in range(max_iter + 1):
        alpha = C * expit(-scores)
        gradient = w - Z.T @ (y * alpha)
        primal = float(0.5 * w @ w + C * logistic_losses(scores).sum())
        difference = 0.5 * float(gradient @ gradient)
        gap = difference / primal
        if gap <= tol or n_iter == max_iter:
            break
        direction = -_newton_direction(Z, alpha * expit(scores), gradient)
        change = y * (Z @ direction)
        t = line_search(_slope_along(w, direction, scores, change, C))
        w = w + t * direction
        scores = y * (Z @ w)
    return PrimalDual(
        w, alpha, 2 * c * primal, 2 * c * (primal - difference), gap, gap <= tol, n_iter
    )


def _newton_direction(Z: Any, weights: Array, gradient: Array) -> Array:
    """Solve (I + Z^T diag(weights) Z) x = gradient, shape (l,)."""
    roots = np.sqrt(weights)
    weighted = (
        sparse.diags_array(roots) @ Z if sparse.issparse(Z) else roots[:, None] * Z
    )
    return newton_solve(weighted, np.flatnonzero(roots), 1.0, gradient)


def _slope_along(
    w: Array, d: Array, scores: Array, change: Array, C: float
) -> Callable[[float], float]:
    """Return the derivative along d at w + t d as a function of t; O(n) per call."""

    def slope(t: float) -> float:
        alpha = C * expit(-scores - t * change)
        return float(w @ d + t * (d @ d) - alpha @ change)

    return slope
