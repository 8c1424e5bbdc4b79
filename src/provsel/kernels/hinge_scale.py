"""Best length of a vector with a given direction, for the linear SVM and for its dual."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def best_scale(scores: Array, square: float, c: float) -> tuple[float, float]:
    """Return t >= 0 that minimises (1/n) sum_i max(0, 1 - t s_i) + c t^2 ||w||^2, and the minimum; exact.

    The function is convex and, between the points 1 / s_i, quadratic: O(n log n).

    Parameters
    ----------
    scores : ndarray of shape (n,)
        s_i = y_i <x_i, w>.
    square : float
        ||w||^2.
    c : float
        Positive.
    """
    if square <= 0.0:
        return 0.0, 1.0
    n = scores.size
    positive = np.sort(scores[scores > 0.0])[::-1]
    # a score close to 0 reaches the margin at infinity
    with np.errstate(over="ignore"):
        kinks = 1.0 / positive
    # on piece j the rows that reached their margin, the j largest scores, no longer
    # count
    active = (scores.sum() - np.append(0.0, np.cumsum(positive))) / n
    ends = np.append(kinks, np.inf)
    # the first piece with a non-negative slope at its end
    piece = int(np.argmax(2.0 * c * square * ends >= active))
    start = 0.0 if piece == 0 else kinks[piece - 1]
    t = float(np.clip(active[piece] / (2.0 * c * square), start, ends[piece]))
    return t, float(np.maximum(0.0, 1.0 - t * scores).mean() + c * t * t * square)


def best_dual_scale(alpha: Array, square: float, c: float) -> tuple[float, float]:
    """Return the t >= 0 at which t alpha is the best feasible point of the dual, and its lower bound on the optimum.

    Parameters
    ----------
    alpha : ndarray of shape (n,)
        Not negative; t alpha <= 1 / (2 c n) is kept.
    square : float
        ||X^T (y alpha)||^2.
    c : float
        Positive.
    """
    total, most = float(alpha.sum()), float(alpha.max())
    if most <= 0.0:
        return 0.0, 0.0
    widest = 1.0 / (2.0 * c * alpha.size * most)
    t = min(total / square, widest) if square > 0.0 else widest
    return t, 2.0 * c * (t * total - 0.5 * t * t * square)
