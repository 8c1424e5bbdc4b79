"""One split into training and test rows: what its trials share."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import StratifiedKFold

from provsel.datasets import Dataset
from provsel.kernels.spectral import Matrix
from provsel.selectors._base import AbstractSelector
from provsel.selectors._view import TrainingView

Rows: TypeAlias = NDArray[np.int64]

DENSE_VALUES = 2_000_000
"""Reduced rows with at most so many values are made dense: BLAS then beats sparse products."""


class FoldContext:
    """Training and test rows of one fold of one repeat.

    The full-feature SVM, its support vectors, the Gram matrix and the spectral basis are computed by `view`, lazily
    and once for all trials of the fold.

    Parameters
    ----------
    dataset : Dataset
    split : {"kfold", "kfold_inverse", "official"}
        Train on all folds but one and test on that one; the other way round; or the data set's own split.
    n_splits, split_seed, fold : int
        Of the stratified, shuffled k-fold split of this repeat; not used by the official split.
    """

    def __init__(self, dataset: Dataset, *, split: str, n_splits: int, split_seed: int, fold: int) -> None:
        if split == "official":
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


def reduced_rows(selector: AbstractSelector, X: Matrix) -> Matrix | NDArray[np.float64]:
    """Return the rows X, shape (n, d), on the kept columns, weighted; dense where that is small."""
    reduced: Any = selector.reduce(X)
    if sparse.issparse(reduced) and reduced.shape[0] * reduced.shape[1] <= DENSE_VALUES:
        return reduced.toarray()
    return reduced
