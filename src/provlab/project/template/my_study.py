"""A selector, a metric and a theorem of your own."""

from __future__ import annotations

from typing import Self

import numpy as np

from provsel.certificates import HELD, NO_BOUND, VIOLATED, Measure, MeasuredTrial, Theorem
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


class BalancedError(Measure):
    """A metric: the mean over classes of the share of their rows that is classified wrongly."""

    balanced_error: float = np.nan

    @classmethod
    def measure(cls, trial: MeasuredTrial) -> Self:
        """Return it for the test rows."""
        wrong = trial.predicted != trial.y_test
        shares = [wrong[trial.y_test == name].mean() for name in np.unique(trial.y_test)]
        return cls(balanced_error=np.mean(shares))


class VarianceShare(Theorem):
    """No k features have a larger share of the total variance than the k of largest variance.

    It promises something of those that are selected by variance, and is "no bound" for others.
    """

    name = "variance"
    source = "the definition of the variance"

    variance_share: float = np.nan
    variance_bound: float = np.nan

    @classmethod
    def measure(cls, trial: MeasuredTrial) -> Self:
        """Return the share, what the theorem promises, and whether that holds."""
        X = trial.rows.X.toarray() if hasattr(trial.rows.X, "toarray") else trial.rows.X
        variance = np.asarray(X).var(axis=0)
        kept = trial.reducer.get_support()
        share = variance[kept].sum() / variance.sum()
        bound = np.sort(variance)[::-1][: kept.sum()].sum() / variance.sum()
        state = NO_BOUND
        if isinstance(trial.reducer, VarianceSelector):
            state = HELD if share >= bound * (1 - 1e-9) else VIOLATED
        return cls(variance_share=share, variance_bound=bound, state=state)
