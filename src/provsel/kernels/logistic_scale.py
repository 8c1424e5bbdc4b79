"""The best length of a vector of known direction, for the logistic loss and for its dual; see `hinge_scale`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit

from provsel.kernels.logistic_dual import dual_value, logistic_losses

Array = NDArray[np.float64]


def best_scale(scores: Array, square: float, c: float) -> tuple[float, float]:
    """Return t >= 0 that minimises (1/n) sum_i log(1 + exp(-t s_i)) + c t^2 ||w||^2, and the minimum.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        s_i = y_i <x_i, w>.
    square : float
        ||w||^2.
    c : float
        Positive.
    """

    def slope(t: float) -> float:
        return float(2.0 * c * t * square - (scores * expit(-t * scores)).mean())

    if square <= 0.0 or slope(0.0) >= 0.0:
        return 0.0, float(np.log(2.0))
    # there the square alone outweighs everything that all rows together can still gain
    end = float(np.maximum(scores, 0.0).mean() / (2.0 * c * square))
    t = float(brentq(slope, 0.0, end, xtol=1e-15 * end))
    return t, float(logistic_losses(t * scores).mean() + c * t * t * square)


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
    C = 1.0 / (2.0 * c * alpha.size)
    positive = alpha[alpha > 0.0]
    if not positive.size:
        return 0.0, 0.0

    def slope(t: float) -> float:
        share = t * positive / C
        return float(positive @ np.log((1.0 - share) / share)) - t * square

    high = (1.0 - 1e-12) * C / float(positive.max())
    low = 0.5 * high
    while slope(low) < 0.0:  # it is infinite at 0
        low *= 0.1
    t = high
    if slope(high) < 0.0:
        t = float(brentq(slope, low, high, xtol=1e-15 * high))
    return t, 2.0 * c * dual_value(np.minimum(t * alpha, C), t * t * square, C)
