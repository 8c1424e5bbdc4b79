"""A selector of your own."""

from __future__ import annotations

import numpy as np

from provsel.selectors import BaseSelector, Selection, checked_count
from provsel.training_view import TrainingView


class VarianceSelector(BaseSelector):
    """Keep the features of largest variance.

    Parameters
    ----------
    n_features_to_select : int
    """

    def __init__(self, n_features_to_select: int) -> None:
        self.n_features_to_select = n_features_to_select

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        k = checked_count(self, view.n_features)
        variance = np.asarray(view.X.toarray() if hasattr(view.X, "toarray") else view.X).var(axis=0)
        order = np.argsort(-variance, kind="stable")[:k]
        return Selection.unweighted(order, scores=variance)
