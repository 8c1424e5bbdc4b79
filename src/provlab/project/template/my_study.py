"""A selector, a metric and a certificate of your own."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from provlab import Measure, MeasuredTrial
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

    columns: ClassVar = {"balanced_error": float}

    def measure(self, trial: MeasuredTrial) -> dict[str, float]:
        """Return it for the test rows."""
        wrong = trial.predicted != trial.y_test
        return {"balanced_error": np.mean([wrong[trial.y_test == name].mean() for name in np.unique(trial.y_test)])}


class TraceCertificate(Measure):
    """A theorem: no k features have a larger share of the total variance than the k of largest variance.

    It promises something of those that are selected by variance, and is "no bound" for others.
    """

    columns: ClassVar = {"variance_share": float, "variance_bound": float, "variance": str}

    def measure(self, trial: MeasuredTrial) -> dict[str, float | str]:
        """Return the share, what the theorem promises, and whether that holds."""
        X = trial.rows.X.toarray() if hasattr(trial.rows.X, "toarray") else trial.rows.X
        variance = np.asarray(X).var(axis=0)
        kept = trial.reducer.get_support()
        share = variance[kept].sum() / variance.sum()
        bound = np.sort(variance)[::-1][: kept.sum()].sum() / variance.sum()
        state = "no bound"
        if isinstance(trial.reducer, VarianceSelector):
            state = "held" if share >= bound * (1 - 1e-9) else "violated"
        return {"variance_share": share, "variance_bound": bound, "variance": state}
