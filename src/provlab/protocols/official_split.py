"""A linear model on the selected features, on the data set's own training and test rows."""

from __future__ import annotations

from provlab.protocols._base import AbstractOwnSplit
from provlab.protocols.classifying import COLUMNS, classify
from provlab.protocols.fitting import Method, Record, fit_selector
from provlab.protocols.fold import Fold


class OfficialSplit(AbstractOwnSplit):
    """Train on the data set's own training rows and test on its test rows."""

    name = "official"
    columns = COLUMNS

    def run(self, method: Method, fold: Fold, *, seed: int, split_seed: int) -> Record:
        """Return selection, test error and certificates."""
        return classify(method, fit_selector(method, seed, fold.view), fold, seed)
