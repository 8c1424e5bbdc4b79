"""Stratified k-fold cross-validation of a linear model on the selected features, and its inverse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from provlab.protocols.classifying import AbstractClassification
from provlab.protocols.fold import Fold, Rows

if TYPE_CHECKING:
    from provlab.datasets import Dataset


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
