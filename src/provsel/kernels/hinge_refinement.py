"""From the SVM on compressed rows towards the SVM on all features, with two passes over the rows per step.

References
----------
.. [1] L. Zhang, M. Mahdavi, R. Jin, T. Yang, S. Zhu. Recovering the optimal solution by dual random projection.
   COLT 2013. There the loss is smooth, and the steps repeat the recovery; here each image joins the subspace.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from provsel.kernels.growing_span import GrowingSpan
from provsel.kernels.hinge_dual import PrimalDual
from provsel.kernels.hinge_scale import best_dual_scale

Array = NDArray[np.float64]

KNOWN = 1e-8
"""An image with less than this share outside the subspace adds nothing."""


class Refined(NamedTuple):
    """Result of `refine`.

    Attributes
    ----------
    coef : ndarray of shape (m,)
        The SVM restricted to the subspace.
    scores : ndarray of shape (n,)
        y_i <x_i, coef>.
    alpha : ndarray of shape (n,)
        Dual variables, 0 <= alpha <= 1 / (2 c n).
    bounds : list of float
        The dual objective of the original problem, a lower bound on its optimum, before
        and after each step.
    objectives : list of float
        The objective of the original problem after each step.
    """

    coef: Array
    scores: Array
    alpha: Array
    bounds: list[float]
    objectives: list[float]


def refine(
    span: GrowingSpan,
    y: Array,
    c: float,
    alpha: Array,
    *,
    steps: int,
    tol: float,
    solve: Callable[[Array], PrimalDual],
    image: Callable[[Array], Array],
    product: Callable[[Array], Array],
) -> Refined:
    r"""Approach min_w f(w) = (1/n) sum_i max(0, 1 - y_i <x_i, w>) + c ||w||^2 by SVMs in a growing subspace.

    Each step adds the image w_k = X^T (y alpha_k) of the last dual variables to the
    subspace. It solves the SVM there, an exact SVM on rows with one more feature; its
    dual variables are alpha_{k+1}. As the basis is orthonormal, the objective of the
    restricted problem is f itself, so f(coef) never rises. When the image lies in the
    subspace, the restricted optimum is the optimum. All alpha_k are feasible for the
    original dual. An exact line search between the best one so far and the newest never
    lowers its objective, so the gap is certified for the *original* problem, which is
    never solved.

    Parameters
    ----------
    span : GrowingSpan
        Span of the compressed rows; grows.
    y : ndarray of shape (n,)
        Labels -1 and +1.
    c : float
    alpha : ndarray of shape (n,)
        Dual variables of the compressed problem, in the box.
    steps : int
        At least 1; fewer are taken when the gap reaches `tol`.
    tol : float
        Sufficient relative duality gap of the original problem.
    solve : callable
        Solves the SVM on given rows, (n, size) -> PrimalDual.
    image, product : callable
        (n,) -> X^T a, shape (m,), and (m,) -> X w, shape (n,): one pass each.

    Returns
    -------
    Refined

    Raises
    ------
    ValueError
        Errors of the callables are passed on.

    References
    ----------
    After Zhang et al. (2013) [1]_.
    """
    best, bound = _better(None, (alpha, image(y * alpha)), c)
    w, objectives, bounds = best[1], list[float](), [bound]
    for _ in range(steps):
        direction = span.outside(w)
        length = float(np.linalg.norm(direction))
        if length > KNOWN * float(np.linalg.norm(w)):
            direction /= length
            span.add(direction, product(direction))
        elif objectives:
            break  # this subspace was solved already
        rows = span.rows()
        solved = solve(rows)
        w = image(y * solved.alpha)
        best, bound = _better(best, (solved.alpha, w), c)
        objectives.append(solved.primal)
        bounds.append(bound)
        if solved.primal - bound <= tol * solved.primal:
            break
    return Refined(
        span.expand(solved.w), y * (rows @ solved.w), best[0], bounds, objectives
    )


def _better(
    best: tuple[Array, Array] | None, newest: tuple[Array, Array], c: float
) -> tuple[tuple[Array, Array], float]:
    """Return the best dual variables on the line through two points, at the best length, their image, and the bound."""
    alpha, w = newest
    largest = 1.0 / (2.0 * c * alpha.size)
    if best is not None:
        step, change = alpha - best[0], w - best[1]
        slope, square = float(step.sum() - best[1] @ change), float(change @ change)
        moves = np.flatnonzero(step)
        room = np.where(step > 0.0, largest - best[0], best[0])[moves]
        widest = float(
            np.min(np.maximum(room, 0.0) / np.abs(step[moves]), initial=np.inf)
        )
        t = 0.0
        if slope > 0.0:
            t = min(slope / square, widest) if square > 0.0 else widest
        alpha, w = best[0] + t * step, best[1] + t * change
    t, bound = best_dual_scale(alpha, float(w @ w), c)
    # rounding may step over the edge of the box
    return (np.clip(t * alpha, 0.0, largest), t * w), bound
