"""Minimum enclosing ball from a Gram matrix."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from provsel.kernels.simplex_qp import Array, maximize_on_simplices, translate_gram


class EnclosingBall(NamedTuple):
    """A ball that encloses all points, with the certificate of its optimality.

    Attributes
    ----------
    weights : ndarray of shape (n,)
        Convex weights of the centre c = sum_i weights_i x_i.
    squared_radius : float
        max_i ||x_i - c||^2: the ball encloses every point.
    gap : float
        Relative: (1 - gap) squared_radius <= squared radius of the smallest ball <= squared_radius.
    """

    weights: Array
    squared_radius: float
    gap: float


def minimum_enclosing_ball(G: Array, *, tol: float = 1e-10) -> EnclosingBall:
    """Return the smallest ball around the points with Gram matrix G: by the block active set of `simplex_qp`.

    Any b in the simplex gives the lower bound sum_i b_i ||x_i||^2 - ||sum_i b_i x_i||^2 of the squared
    radius, and the farthest point from its centre an upper bound. The best b makes them equal.

    Parameters
    ----------
    G : ndarray of shape (n, n)
        Gram matrix of the points. Squared distances have the accuracy of G: about 1e-16 of its largest entry.
    tol : float, default=1e-10
        Relative gap asked for.

    Returns
    -------
    EnclosingBall
        Steps are bounded: look at `gap` for the tolerance reached. Points that coincide have radius 0 and gap 0.
    """
    local = translate_gram(G)
    norms = local.diagonal()
    if not norms.any():
        return EnclosingBall(np.full(norms.size, 1.0 / norms.size), 0.0, 0.0)
    start = np.unique([np.argmin(norms), np.argmax(norms)])
    groups = np.ones((1, norms.size))
    # Most balls touch few points; the block doubles while that pays.
    weights = maximize_on_simplices(2.0 * local, norms, groups, start, tol=tol, block=16)
    squared = norms + weights @ local @ weights - 2.0 * (local @ weights)
    gap = 1.0 - float(weights @ squared / squared.max())
    return EnclosingBall(weights, float(squared.max()), max(gap, 0.0))
