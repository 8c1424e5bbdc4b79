"""One split into training and test rows: what its trials share."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from provsel.datasets import Dataset
from provsel.evaluation.plan import OWN, WHOLE
from provsel.selectors._view import TrainingView

Rows: TypeAlias = NDArray[np.int64]


class FoldContext:
    """Training and test rows of one fold of one repeat; all rows and no test rows where there are no folds.

    The full-feature SVM, its support vectors, the Gram matrix and the spectral basis are computed by `view`, lazily
    and once for all trials of the fold.

    Parameters
    ----------
    dataset : Dataset
    split : {"kfold", "kfold_inverse", "official", "streamed", "all_rows", "selection_only"}
        Train on all folds but one and test on that one; the other way round; the data set's own split, twice; or all
        rows.
    n_splits, split_seed, fold : int
        Of the stratified, shuffled k-fold split of this repeat; not used by the other splits.
    """

    def __init__(self, dataset: Dataset, *, split: str, n_splits: int, split_seed: int, fold: int) -> None:
        if split in WHOLE:  # as they are: a copy of the largest data sets would cost half a gigabyte
            self.view = TrainingView(dataset.X, dataset.y)
            self.X_test, self.y_test = dataset.X[:0], dataset.y[:0]
            return
        if split in OWN:
            train, test = _official_split(dataset)
        else:
            rest, one = _kfold(dataset, n_splits, split_seed, fold)
            train, test = (one, rest) if split == "kfold_inverse" else (rest, one)
        self.view = TrainingView(dataset.X[train], dataset.y[train])
        self.X_test, self.y_test = dataset.X[test], dataset.y[test]


def _kfold(dataset: Dataset, n_splits: int, split_seed: int, fold: int) -> tuple[Rows, Rows]:
    smallest = int(np.unique(dataset.y, return_counts=True)[1].min())
    if smallest < n_splits:
        raise ValueError(
            f"data set {dataset.name}: expected at least n_splits = {n_splits} rows of each class, got {smallest}; "
            f"lower protocol.n_splits."
        )
    folds = StratifiedKFold(n_splits, shuffle=True, random_state=split_seed)
    return list(folds.split(np.zeros(len(dataset.y)), dataset.y))[fold]


def _official_split(dataset: Dataset) -> tuple[Rows, Rows]:
    if dataset.official_train is None:
        raise ValueError(
            f"data set {dataset.name}: expected one with an official split, got none; use protocol=tenfold, "
            f"or load a form of the data set that has its test rows (such as dataset.part=all)."
        )
    return np.flatnonzero(dataset.official_train), np.flatnonzero(~dataset.official_train)
