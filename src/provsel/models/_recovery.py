"""Recovery of coefficients for all features from the solution on compressed rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from provsel.kernels.gaussian_blocks import GaussianBlocks
from provsel.kernels.growing_span import GrowingSpan
from provsel.kernels.hinge_dual import PrimalDual
from provsel.kernels.hinge_refinement import refine
from provsel.models._losses import Loss
from provsel.models._row_stream import RowStream

Array = NDArray[np.float64]


class Passes:
    """Products with the rows of a stream; each takes another pass, and `count` includes the first."""

    def __init__(self, stream: RowStream) -> None:
        self._stream, self.count = stream, 1

    def image(self, a: Array) -> Array:
        """Return Phi^T a, shape (m,), for a of shape (n,)."""
        self.count += 1
        image = np.zeros(self._stream.n_features)
        for X, rows in self._stream.again():
            image += X.T @ a[rows]
        return image

    def product(self, w: Array) -> Array:
        """Return Phi w, shape (n,), for w of shape (m,)."""
        self.count += 1
        product = np.empty(self._stream.labels.size)
        for X, rows in self._stream.again():
            product[rows] = X @ w
        return product


class Recovered(NamedTuple):
    """A vector for all features.

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
    scores : ndarray of shape (n_samples,)
        y_i <Phi_i, coef>.
    alpha : ndarray of shape (n_samples,)
        Dual variables.
    lower : float
        Lower bound on the optimum of the original problem, NaN if there is none.
    """

    coef: Array
    scores: Array
    alpha: Array
    lower: float


def by_transpose(
    solved: PrimalDual, Z: Array, signs: Array, blocks: GaussianBlocks
) -> Recovered:
    """Return Lambda^T w_bar; no pass, because Phi Lambda^T w_bar is Z w_bar."""
    return Recovered(
        blocks.expand(solved.w), signs * (Z @ solved.w), solved.alpha, float("nan")
    )


def by_dual(
    solved: PrimalDual, signs: Array, c: float, passes: Passes, loss: Loss
) -> Recovered:
    """Return Phi^T (y alpha); two passes, the second one for the scores."""
    coef = passes.image(signs * solved.alpha)
    lower = loss.best_dual_scale(solved.alpha, float(coef @ coef), c)[1]
    return Recovered(coef, signs * passes.product(coef), solved.alpha, lower)


def by_refinement(
    solved: PrimalDual,
    Z: Array,
    signs: Array,
    c: float,
    passes: Passes,
    blocks: GaussianBlocks,
    *,
    steps: int,
    tol: float,
    solve: Callable[[Array], PrimalDual],
) -> Recovered:
    """Return the SVM in the span of Lambda^T and `steps` images; one pass, and two more per step. Overwrites Z."""
    refined = refine(
        GrowingSpan(blocks, Z),
        signs,
        c,
        solved.alpha,
        steps=steps,
        tol=tol,
        solve=solve,
        image=passes.image,
        product=passes.product,
    )
    return Recovered(refined.coef, refined.scores, refined.alpha, refined.bounds[-1])
