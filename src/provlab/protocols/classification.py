"""Protocols that train a linear model on the selected features of some rows, and test it on others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from provlab.protocols.base import (
    AbstractOwnSplit,
    AbstractProtocol,
    Fold,
    Method,
    Record,
    Rows,
    certificate_columns,
    columns,
)
from provsel.certificates import (
    CompressedRecovery,
    FeatureSelectiveRecovery,
    MarginPreservation,
    OnlineScoreSum,
    RadiusPreservation,
    SoftMarginBound,
    SpectralSparsification,
)

if TYPE_CHECKING:
    from provlab.datasets import Dataset

THEOREMS = (
    SpectralSparsification,
    MarginPreservation,
    SoftMarginBound,
    RadiusPreservation,
    OnlineScoreSum,
    CompressedRecovery,
    FeatureSelectiveRecovery,
)
COLUMNS = (
    *columns("number", "error", "objective", "scaled_objective"),
    *certificate_columns(*THEOREMS),
    *columns("seconds", "train_cpu", "train_wall"),
)


class AbstractClassification(AbstractProtocol):
    """A protocol that trains on some rows and tests on others."""

    columns = COLUMNS

    def run(self, method: Method, fold: Fold, *, seed: int, split_seed: int) -> Record:
        """Return selection, test error and certificates."""
        from provlab.protocols.fitting import classify, fit_selector

        return classify(method, fit_selector(method, seed, fold.view), fold, seed)


class KFold(AbstractClassification):
    """Train on all folds but one and test on that one; the folds of a repeat are shuffled by its seed."""

    name = "kfold"

    def check_folds(self, protocol: Mapping[str, Any]) -> None:
        """Refuse fewer than two folds."""
        if not isinstance(protocol["n_splits"], int) or protocol["n_splits"] < 2:
            raise ValueError(f"protocol.n_splits: expected an integer above 1, got {protocol['n_splits']!r}.")

    def fold(self, dataset: Dataset, *, n_splits: int, split_seed: int, fold: int) -> Fold:
        """Return one fold of the stratified, shuffled split."""
        return Fold.of(dataset, *self._rows(dataset, n_splits, split_seed, fold))

    def _rows(self, dataset: Dataset, n_splits: int, split_seed: int, fold: int) -> tuple[Rows, Rows]:
        from sklearn.model_selection import StratifiedKFold

        smallest = int(np.unique(dataset.y, return_counts=True)[1].min())
        if smallest < n_splits:
            raise ValueError(
                f"data set {dataset.name}: expected at least n_splits = {n_splits} rows of each class, got {smallest}; "
                f"lower protocol.n_splits."
            )
        folds = StratifiedKFold(n_splits, shuffle=True, random_state=split_seed)
        return list(folds.split(np.zeros(len(dataset.y)), dataset.y))[fold]


class InverseKFold(KFold):
    """Train on one fold and test on all others."""

    name = "kfold_inverse"

    def _rows(self, dataset: Dataset, n_splits: int, split_seed: int, fold: int) -> tuple[Rows, Rows]:
        rest, one = super()._rows(dataset, n_splits, split_seed, fold)
        return one, rest


class OfficialSplit(AbstractClassification, AbstractOwnSplit):
    """Train on the data set's own training rows and test on its test rows."""

    name = "official"
