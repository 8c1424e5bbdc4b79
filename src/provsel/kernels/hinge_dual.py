"""Linear SVM without intercept together with its dual variables, certified by the duality gap.

References
----------
.. [1] R. T. Rockafellar. Augmented Lagrangians and applications of the proximal point algorithm in convex
   programming. Mathematics of Operations Research 1 (1976), 97-116.
.. [2] X. Li, D. Sun, K.-C. Toh. A highly efficient semismooth Newton augmented Lagrangian method for solving Lasso
   problems. SIAM J. Optimization 28 (2018), 433-458. The same scheme; the Hessian needs the active part only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

Array = NDArray[np.float64]

GROWTH = 4.0
"""Factor by which sigma, the step of the proximal point method, grows."""
STEEPEST = 1e5
"""Largest sigma / C; the method converges with any value, but larger ones make the Newton systems ill-conditioned."""
MAX_INNER = 50
"""Newton steps for one proximal point."""
INEXACT = 1e-2
"""Allowed error of the Newton steps in ||w - Z^T (y alpha)||^2, relative to how far alpha moved: criterion B of [1]_.
"""
MAX_ORDER = 4000
"""Newton systems up to this order are factorised, larger ones solved by conjugate gradients."""
BLOCK = 4096
"""Rows copied together when a Gram matrix of many rows is summed."""


class PrimalDual(NamedTuple):
    """A primal-dual pair of a linear model: mean loss of y_i <z_i, w>, plus c ||w||^2.

    Attributes
    ----------
    w : ndarray of shape (l,)
        Z^T (y alpha) up to c ||w - Z^T (y alpha)||^2 <= primal - dual.
    alpha : ndarray of shape (n,)
        Dual variables, 0 <= alpha <= C = 1 / (2 c n).
    primal, dual : float
        Objective at w, and its lower bound from alpha: the optimum lies between.
    gap : float
        (primal - dual) / primal.
    converged : bool
        Whether gap <= tol; if not, the other fields state what was reached.
    n_iter : int
        Newton steps.
    """

    w: Array
    alpha: Array
    primal: float
    dual: float
    gap: float
    converged: bool
    n_iter: int


def hinge_dual(
    Z: Any, y: Array, c: float, *, tol: float = 1e-6, max_iter: int = 500
) -> PrimalDual:
    r"""Minimise f(w) = (1/n) sum_i max(0, 1 - y_i <z_i, w>) + c ||w||^2.

    In units of 2 c this is ||w||^2 / 2 + C sum_i max(0, 1 - y_i <z_i, w>) with C = 1 /
    (2 c n). Its dual is max sum_i alpha_i - ||Z^T (y alpha)||^2 / 2 over 0 <= alpha <=
    C. Solved by the proximal point method on the dual: the next alpha is clip(alpha +
    sigma (1 - y Z w), 0, C) where w is such that w = Z^T (y alpha). That is a smooth
    problem, solved by Newton steps with line search. Only rows strictly inside the box
    enter the Newton matrix, about as many as lie on the margin. Memory in addition to
    Z: O(n), a copy of these rows (or, if they are more than l, of `BLOCK` of them) and
    the square of the smaller side.

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
        Bound on the Newton steps; 20 to 100 are usual.

    Returns
    -------
    PrimalDual

    References
    ----------
    Rockafellar (1976) [1]_; Li, Sun, Toh (2018) [2]_, with the hinge instead of the
    lasso.
    """
    n = Z.shape[0]
    C = 1.0 / (2.0 * c * n)
    # scores: y_i <z_i, w>
    w, scores, alpha = np.zeros(Z.shape[1]), np.zeros(n), np.zeros(n)
    # A hinge smoothed over the whole margin, unless C is so large that this is nearly
    # the hard margin.
    values = Z.data if sparse.issparse(Z) else Z
    length = float(np.vdot(values, values)) / n
    sigma, n_iter = min(C, 1.0 / length) if length else C, 0
    while True:
        alpha, w, steps = _proximal_step(
            Z, y, C, sigma, alpha, w, scores, tol, max_iter - n_iter
        )
        n_iter += steps
        image = Z.T @ (y * alpha)
        dual = float(alpha.sum() - 0.5 * image @ image)
        # The two differ by the remaining error of the Newton steps, which a large C
        # amplifies in Z^T (y alpha).
        primal, w, scores = min(
            (_scored(Z, y, C, v) for v in (image, w)),
            key=lambda candidate: candidate[0],
        )
        gap = max(primal - dual, 0.0) / primal
        if gap <= tol or n_iter >= max_iter:
            return PrimalDual(
                w, alpha, 2 * c * primal, 2 * c * dual, gap, gap <= tol, n_iter
            )
        if steps < MAX_INNER:
            sigma = min(GROWTH * sigma, STEEPEST * C)


def _proximal_step(
    Z: Any,
    y: Array,
    C: float,
    sigma: float,
    centre: Array,
    w: Array,
    scores: Array,
    tol: float,
    max_iter: int,
) -> tuple[Array, Array, int]:
    """Approximately maximise the dual minus ||alpha - centre||^2 / (2 sigma); return alpha, w, and the Newton steps."""
    for step in range(max_iter + 1):
        raw = centre + sigma * (1.0 - scores)
        alpha = np.clip(raw, 0.0, C)
        image = Z.T @ (y * alpha)
        residual = w - image
        primal, dual = _primal(w, scores, C), float(alpha.sum() - 0.5 * image @ image)
        exact = residual @ residual <= INEXACT * np.sum((alpha - centre) ** 2) / sigma
        if exact or primal - dual <= tol * primal or step == min(max_iter, MAX_INNER):
            break
        rows = np.flatnonzero((raw > 0.0) & (raw < C))
        direction = -newton_solve(Z, rows, sigma, residual)
        change = y * (Z @ direction)
        t = line_search(_slope_along(w, direction, scores, change, centre, sigma, C))
        w, scores = w + t * direction, scores + t * change
    return alpha, w, max(step, 1)


def _scored(Z: Any, y: Array, C: float, w: Array) -> tuple[float, Array, Array]:
    """Return the objective at w, w, and the scores."""
    scores = y * (Z @ w)
    return _primal(w, scores, C), w, scores


def _primal(w: Array, scores: Array, C: float) -> float:
    return float(0.5 * w @ w + C * np.maximum(0.0, 1.0 - scores).sum())


def newton_solve(Z: Any, rows: NDArray[np.intp], sigma: float, right: Array) -> Array:
    """Solve (I + sigma Z_rows^T Z_rows) x = right, shape (l,); the signs y cancel."""
    size = right.size
    if min(rows.size, size) > MAX_ORDER:
        part = Z[rows]
        product = LinearOperator(
            (size, size), lambda v: v + sigma * (part.T @ (part @ v)), dtype=np.float64
        )
        return cg(product, right, rtol=1e-3, maxiter=200)[0]
    if rows.size <= size:
        part = Z[rows]
        gram = part @ part.T
        gram = gram.toarray() if sparse.issparse(gram) else gram
        gram.flat[:: rows.size + 1] += 1.0 / sigma
        return right - part.T @ cho_solve(
            cho_factor(gram, lower=True, overwrite_a=True), part @ right
        )
    gram = np.zeros((size, size))
    for start in range(0, rows.size, BLOCK):
        part = Z[rows[start : start + BLOCK]]
        gram += part.T @ part
    gram *= sigma
    gram.flat[:: size + 1] += 1.0
    return cho_solve(cho_factor(gram, lower=True, overwrite_a=True), right)


def _slope_along(
    w: Array,
    d: Array,
    scores: Array,
    change: Array,
    centre: Array,
    sigma: float,
    C: float,
) -> Callable[[float], float]:
    """Return the derivative along d at w + t d as a function of t; O(n) per call."""

    def slope(t: float) -> float:
        alpha = np.clip(centre + sigma * (1.0 - scores - t * change), 0.0, C)
        return float(w @ d + t * (d @ d) - alpha @ change)

    return slope


def line_search(slope: Callable[[float], float]) -> float:
    """Return the t at which the derivative along a direction, which rises with t, has lost nine tenths of its size."""
    low, t, high = 0.0, 1.0, np.inf
    small = 0.1 * abs(slope(0.0))
    for _ in range(60):
        value = slope(t)
        if abs(value) <= small:
            break
        low, high = (t, high) if value < 0 else (low, t)
        t = 2 * t if np.isinf(high) else 0.5 * (low + high)
    return t
