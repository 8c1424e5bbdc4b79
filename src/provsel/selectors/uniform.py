"""Uniformly random selection, the baseline that every method should beat."""

from __future__ import annotations

from typing import Any

import numpy as np

from provsel.selectors._base import BaseSelector, Selection, checked_count
from provsel.training_view import TrainingView


class UniformSelector(BaseSelector):
    """Draw features uniformly without replacement, with unit weights.

    Use it as the baseline of a comparison: it learns nothing from X.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of features to keep; below 1, the fraction of them.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the draw.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        In order of their draw.
    weights_ : ndarray of shape (n_selected,)
        Ones.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import UniformSelector
    >>> UniformSelector(2, random_state=0).fit(np.eye(5)).indices_.size
    2

    References
    ----------
    Paul, Magdon-Ismail, Drineas (2016), section 6.1.2.
    """

    algorithm_version = 1

    def __init__(
        self, n_features_to_select: int | float, *, random_state: Any = None
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.random_state = random_state

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        r = checked_count(self, view.n_features)
        return Selection.unweighted(rng.permutation(view.n_features)[:r])
