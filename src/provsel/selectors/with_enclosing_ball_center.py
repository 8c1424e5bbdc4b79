"""Selection from the rows and the centre of their minimum enclosing ball, with any selector."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from provsel.kernels.enclosing_ball import enclosing_ball_of_rows
from provsel.selectors._base import BaseSelector, Selection
from provsel.training_view import TrainingView

GRAM_ROWS = 10_000
"""Up to this many rows the ball is computed from their Gram matrix (800 MB)."""


class WithEnclosingBallCenter(BaseSelector):
    """Fit an unsupervised selector on the rows of X and the centre of their minimum enclosing ball.

    Use it to select as the unsupervised theorems require, rather than as the
    experiments did.

    The paper's unsupervised theorems append the centre as a row; its experiments do
    not. The centre is a convex combination of the rows, so the row space stays the
    same: leverage scores and BSS choose the same features, up to rounding, while
    methods that use the rows themselves (pivoted QR) may choose others.

    Parameters
    ----------
    selector : selector
        A provsel selector that does not need labels, because the centre has none.

    Attributes
    ----------
    indices_, weights_, n_features_in_
        Those of the fitted selector.
    selector_ : selector
        The fitted copy of `selector`.
    center_ : ndarray of shape (n_features,)
        Centre of the minimum enclosing ball of the rows.
    squared_radius_ : float

    Raises
    ------
    ValueError
        From `fit`, if the selector needs labels.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import BSSSelector, WithEnclosingBallCenter
    >>> X = np.random.default_rng(0).standard_normal((10, 200))
    >>> WithEnclosingBallCenter(BSSSelector(40)).fit(X).center_.shape
    (200,)

    References
    ----------
    Paul, Magdon-Ismail, Drineas (2016), section 3.1 and Theorems 3-5.
    """

    algorithm_version = 1

    def __init__(self, selector: Any) -> None:
        self.selector = selector

    @property
    def is_random(self) -> bool:
        """As the selector."""
        return bool(self.selector.is_random)

    @property
    def rescale(self) -> bool:
        """As the selector."""
        return bool(getattr(self.selector, "rescale", False))

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        if not isinstance(self.selector, BaseSelector):
            raise ValueError(
                f"WithEnclosingBallCenter: expected a provsel selector, got {self.selector!r:.80}."
            )
        name = type(self.selector).__name__
        if self.selector.needs_labels:
            raise ValueError(
                f"WithEnclosingBallCenter: expected a selector that needs no labels, got {name}: the centre of a "
                f"ball has no label; fit {name} on the rows alone."
            )
        many = view.n_samples > GRAM_ROWS
        ball = (
            view.shared("ball of rows", lambda: enclosing_ball_of_rows(view.X))
            if many
            else view.enclosing_ball()
        )
        rows = view.shared(
            "with enclosing ball center", lambda: _with_row(view, ball.weights @ view.X)
        )
        selector = clone(self.selector).fit_view(rows)
        center = rows.X[[-1]]
        attributes = {
            "selector": selector,
            "center": (center.toarray() if sparse.issparse(center) else center).ravel(),
            "squared_radius": ball.squared_radius,
        }
        return Selection(selector.indices_, selector.weights_, attributes)


def _with_row(view: TrainingView, row: NDArray[np.float64]) -> TrainingView:
    if sparse.issparse(view.X):
        return TrainingView(
            sparse.vstack([view.X, sparse.csr_array(row[None, :])], format="csr")
        )
    return TrainingView(np.vstack([view.X, row]))
