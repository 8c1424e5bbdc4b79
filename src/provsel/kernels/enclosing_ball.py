"""Minimum enclosing ball from a Gram matrix."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from provsel.kernels.simplex_qp import Array, maximize_on_simplices, translate_gram
from provsel.kernels.spectral import Matrix, gram_matrix
from provsel.kernels.tails import column_squares

ADDED = 64
"""Rows outside the current ball that join its candidates at once."""


class EnclosingBall(NamedTuple):
    """A ball that encloses all points, with the certificate of its optimality.

    Attributes
    ----------
    weights : ndarray of shape (n,)
        Convex weights of the centre c = sum_i weights_i x_i.
    squared_radius : float
        max_i ||x_i - c||^2: the ball encloses every point.
    gap : float
        Relative: (1 - gap) squared_radius <= squared radius of the smallest ball <=
        squared_radius.
    """

    weights: Array
    squared_radius: float
    gap: float


def minimum_enclosing_ball(G: Array, *, tol: float = 1e-10) -> EnclosingBall:
    """Return the smallest ball around the points with Gram matrix G, by the block active set of `simplex_qp`.

    Any b in the simplex gives the lower bound sum_i b_i ||x_i||^2 - ||sum_i b_i x_i||^2
    of the squared radius. The farthest point from its centre gives an upper bound. The
    best b makes them equal.

    Parameters
    ----------
    G : ndarray of shape (n, n)
        Gram matrix of the points. Squared distances have the accuracy of G: about 1e-16
        of its largest entry.
    tol : float, default=1e-10
        Target for the relative gap.

    Returns
    -------
    EnclosingBall
        The number of steps is bounded: check `gap` for the tolerance reached. Points
        that coincide have radius 0 and gap 0.
    """
    local = translate_gram(G)
    norms = local.diagonal()
    if not norms.any():
        return EnclosingBall(np.full(norms.size, 1.0 / norms.size), 0.0, 0.0)
    start = np.unique([np.argmin(norms), np.argmax(norms)])
    groups = np.ones((1, norms.size))
    # Most balls touch few points; the block doubles while this is faster.
    weights = maximize_on_simplices(
        2.0 * local, norms, groups, start, tol=tol, block=16
    )
    squared = norms + weights @ local @ weights - 2.0 * (local @ weights)
    gap = 1.0 - float(weights @ squared / squared.max())
    return EnclosingBall(weights, float(squared.max()), max(gap, 0.0))


def enclosing_ball_of_rows(X: Matrix, *, tol: float = 1e-10) -> EnclosingBall:
    """Return the smallest ball around the rows of X, shape (n, d), for n >> d, without their n x n Gram matrix.

    The ball of a few candidates grows: the farthest rows outside are added, and those
    that the ball does not touch are removed. It ends when no row is outside or rounding
    stops the growth. At most d + 1 rows need to touch it.
    """
    norms = column_squares(X.T)
    candidates, reached = np.unique([np.argmin(norms), np.argmax(norms)]), -1.0
    while True:
        ball = minimum_enclosing_ball(gram_matrix(X[candidates]), tol=tol)
        center = ball.weights @ X[candidates]
        squared = np.maximum(norms - 2.0 * (X @ center) + center @ center, 0.0)
        lower, upper = ball.squared_radius * (1.0 - ball.gap), float(squared.max())
        if (
            upper <= ball.squared_radius * (1.0 + tol)
            or not ball.squared_radius > reached
        ):
            break
        reached = ball.squared_radius
        farthest = np.argpartition(-squared, min(ADDED, squared.size) - 1)[:ADDED]
        outside = farthest[squared[farthest] > ball.squared_radius]
        candidates = np.union1d(candidates[ball.weights > 0.0], outside)
    weights = np.zeros(norms.size)
    weights[candidates] = ball.weights
    return EnclosingBall(
        weights,
        max(upper, ball.squared_radius),
        max(0.0, 1.0 - lower / upper) if upper > 0 else 0.0,
    )
