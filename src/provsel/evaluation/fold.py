"""One cross-validation fold: what its trials share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import StratifiedKFold

from provsel.datasets import Dataset
from provsel.kernels.spectral import Matrix
from provsel.selectors._base import AbstractSelector
from provsel.selectors._view import TrainingView

DENSE_VALUES = 2_000_000
"""Reduced rows with at most so many values are made dense: BLAS then beats sparse products."""


class FoldContext:
    """Training and test rows of one fold of one repeat.

    The full-feature SVM, its support vectors, the Gram matrix and the spectral basis are computed by `view`, lazily
    and once for all trials of the fold.

    Parameters
    ----------
    dataset : Dataset
    n_splits, split_seed, fold : int
        Of the stratified, shuffled k-fold split of this repeat.
    """

    def __init__(self, dataset: Dataset, *, n_splits: int, split_seed: int, fold: int) -> None:
        smallest = int(np.unique(dataset.y, return_counts=True)[1].min())
        if smallest < n_splits:
            raise ValueError(
                f"data set {dataset.name}: expected at least n_splits = {n_splits} rows of each class, got {smallest}; "
                f"lower protocol.n_splits."
            )
        folds = StratifiedKFold(n_splits, shuffle=True, random_state=split_seed)
        train, test = list(folds.split(np.zeros(len(dataset.y)), dataset.y))[fold]
        self.view = TrainingView(dataset.X[train], dataset.y[train])
        self.X_test, self.y_test = dataset.X[test], dataset.y[test]


def reduced_rows(selector: AbstractSelector, X: Matrix) -> Matrix | NDArray[np.float64]:
    """Return the rows X, shape (n, d), on the kept columns, weighted; dense where that is small."""
    reduced: Any = selector.reduce(X)
    if sparse.issparse(reduced) and reduced.shape[0] * reduced.shape[1] <= DENSE_VALUES:
        return reduced.toarray()
    return reduced
