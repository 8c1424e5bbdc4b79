"""Losses of compressed linear models: solvers, best lengths and bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from provsel.kernels import hinge_scale, logistic_scale
from provsel.kernels.hinge_dual import PrimalDual, hinge_dual
from provsel.kernels.logistic_dual import logistic_dual, logistic_losses

Array = NDArray[np.float64]


class Loss(NamedTuple):
    """The functions of a loss; c is the weight of ||w||^2, and the scores are y_i <x_i, w>.

    Attributes
    ----------
    of_scores : callable
        Scores, shape (n,) -> loss of each row.
    solve : callable
        (rows, signs, c, tol) -> PrimalDual.
    best_scale : callable
        (scores, ||w||^2, c) -> the best length t, and the objective at t w.
    best_dual_scale : callable
        (alpha, ||X^T (y alpha)||^2, c) -> the best t, and the lower bound on the
        optimum.
    """

    of_scores: Callable[[Array], Array]
    solve: Callable[..., PrimalDual]
    best_scale: Callable[[Array, float, float], tuple[float, float]]
    best_dual_scale: Callable[[Array, float, float], tuple[float, float]]


def hinge_losses(scores: Array) -> Array:
    """Return max(0, 1 - s) of scores s, shape (n,)."""
    return np.maximum(0.0, 1.0 - scores)


LOSSES = {
    "hinge": Loss(
        hinge_losses, hinge_dual, hinge_scale.best_scale, hinge_scale.best_dual_scale
    ),
    "logistic": Loss(
        logistic_losses,
        logistic_dual,
        logistic_scale.best_scale,
        logistic_scale.best_dual_scale,
    ),
}
