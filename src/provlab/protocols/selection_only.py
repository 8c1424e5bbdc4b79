"""Fit the selector on all rows, each time from nothing, and nothing else: times and certificates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from provlab.protocols._base import AbstractWholeRows
from provlab.protocols.columns import certificate_columns, columns
from provlab.protocols.fold import Fold
from provlab.protocols.method import Method, Record
from provsel.certificates import MeasuredTrial, OnlineScoreSum, SpectralSparsification
from provsel.certificates.certifying import certify_trial

if TYPE_CHECKING:
    from provlab.protocols.fitting import Fitted


class SelectionOnly(AbstractWholeRows):
    """Time the selection on all rows; no model is fitted."""

    name = "selection_only"
    uses_model = False
    columns = (
        *certificate_columns(SpectralSparsification, OnlineScoreSum),
        *columns("seconds", "pass_cpu", "pass_wall"),
    )

    def run(self, method: Method, fold: Fold, *, seed: int, split_seed: int) -> Record:
        """Return selection, its cost, and what can be certified without labels."""
        from provlab.protocols.fitting import fit_selector, is_certified, own_measures

        fitted = fit_selector(method, seed, fold.view)
        record = fitted.as_record(fold.view.n_features) | _search_and_pass(fitted, seed)
        trial = MeasuredTrial(fitted.reducer, fitted.rows, fold.X_test, fold.y_test)
        if is_certified(method, fitted.reducer):
            record |= certify_trial(trial, margin=False, radius=False).as_record()
        return record | own_measures(method, trial)


def _search_and_pass(fitted: Fitted, seed: int) -> Record:
    """Time the fit again with what its search found, where the method searches for a parameter."""
    from provsel.training_view import Cost, TrainingView

    if not hasattr(fitted.reducer, "calibrated"):
        return {}
    start = Cost.now()
    again = fitted.reducer.calibrated().set_params(random_state=seed).fit_view(TrainingView(fitted.rows.X))
    cost = Cost.now() - start
    if not np.array_equal(again.indices_, fitted.reducer.indices_):
        raise ArithmeticError(f"{type(again).__name__}: the pass at the calibrated rate keeps other features.")
    return {"pass_cpu": cost.cpu, "pass_wall": cost.wall}
