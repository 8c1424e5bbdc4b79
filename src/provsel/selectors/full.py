"""The full-data baseline: no selection."""

from __future__ import annotations

import numpy as np

from provsel.selectors._base import BaseSelector, Selection
from provsel.training_view import TrainingView


class FullDataSelector(BaseSelector):
    """Keep every feature with unit weight: the papers' "full data", as one more method of a comparison.

    Attributes
    ----------
    indices_ : ndarray of shape (d,), int64
    weights_ : ndarray of shape (d,)
        Ones.
    n_features_in_ : int
    """

    algorithm_version = 1

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        return Selection.unweighted(np.arange(view.n_features))
