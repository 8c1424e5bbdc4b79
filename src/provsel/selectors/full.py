"""The full-data baseline: no selection."""

from __future__ import annotations

import numpy as np

from provsel.selectors._base import BaseSelector, Selection
from provsel.training_view import TrainingView


class FullDataSelector(BaseSelector):
    """Keep every feature with unit weight, the papers' "full data".

    Use it as the baseline of a comparison, which then needs no special case.

    Attributes
    ----------
    indices_ : ndarray of shape (n_features,), int64
    weights_ : ndarray of shape (n_features,)
        Ones.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import FullDataSelector
    >>> FullDataSelector().fit(np.eye(3)).indices_.tolist()
    [0, 1, 2]
    """

    algorithm_version = 1

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        return Selection.unweighted(np.arange(view.n_features))
