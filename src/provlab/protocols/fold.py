"""Training and test rows: what the trials of a task share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from provlab.protocols.columns import columns

if TYPE_CHECKING:
    from provlab.datasets import Dataset
    from provsel.kernels.spectral import Matrix
    from provsel.training_view import TrainingView

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Fold:
    """Training rows and test rows; all rows and no test rows where there are no folds.

    The full-feature SVM, its support vectors, the Gram matrix and the spectral basis are computed by `view`, lazily
    and once for all trials of the fold.

    Attributes
    ----------
    view : TrainingView
    X_test : ndarray or CSR of shape (n_test, n_features)
    y_test : ndarray of shape (n_test,)
    """

    view: TrainingView
    X_test: Matrix
    y_test: NDArray[Any]

    COLUMNS = columns("int32", "n_train", "n_test", "n_features")

    @classmethod
    def of(cls, dataset: Dataset, train: Rows, test: Rows) -> Fold:
        """Return the fold of some rows of a data set."""
        from provsel.training_view import TrainingView

        return cls(TrainingView(dataset.X[train], dataset.y[train]), dataset.X[test], dataset.y[test])

    @classmethod
    def all_rows(cls, dataset: Dataset) -> Fold:
        """Return all rows as they are: a copy of the largest data sets would cost half a gigabyte."""
        from provsel.training_view import TrainingView

        return cls(TrainingView(dataset.X, dataset.y), dataset.X[:0], dataset.y[:0])

    def as_record(self) -> dict[str, int]:
        """Return the sizes."""
        return {"n_train": self.view.n_samples, "n_test": len(self.y_test), "n_features": self.view.n_features}
