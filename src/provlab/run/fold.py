"""The rows of a fold, prepared on its training rows only and shared by all trials of a task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from provlab.core.protocols import AbstractProtocol
from provlab.core.protocols.base import Rows, check_rows
from provlab.run.measured_view import MeasuredView
from provlab.run.preparation import prepared_rows
from provlab.run.shared_rows import SharedView, checksum, copied, freeze

if TYPE_CHECKING:
    from provlab.data import Classes, Dataset
    from provsel.kernels.spectral import Matrix


@dataclass(frozen=True)
class Fold:
    """Training and test rows of a fold; without folds, all rows are training rows.

    `view` lazily computes the SVM on all features, its support vectors, the Gram matrix
    and the spectral basis, once for the fold. All trials of a task share the fold, so
    its arrays are read-only.

    Attributes
    ----------
    view : SharedView
    X_test : ndarray or CSR of shape (n_test, n_features)
    y_test : ndarray of shape (n_test,)
    feature_names : ndarray of str, shape (n_features,)
        Names of the columns if a preparation created them; None if they are those of
        the data set.
    test_weight : ndarray of shape (n_test,)
        Weights of the test rows; those of the training rows are in `view.metadata`.
    classes : Classes
        Classes and their labels; None for a regression.
    """

    view: SharedView
    X_test: Matrix
    y_test: NDArray[Any]
    feature_names: NDArray[np.object_] | None = None
    test_weight: NDArray[np.float64] | None = None
    classes: Classes | None = None

    @property
    def is_regression(self) -> bool:
        """Whether the targets are real numbers instead of classes."""
        return self.y_test.dtype.kind == "f"

    def __post_init__(self) -> None:
        if self.view.read_only:
            freeze([self.X_test, self.y_test, self.test_weight])

    def private(self, *, may_change: bool) -> Fold:
        """Return a copy with writable arrays for a class that needs them, see `SharedView.private`."""
        rows = copied([self.X_test, self.y_test, self.test_weight])
        view = self.view.private(may_change=may_change)
        return replace(
            self, view=view, X_test=rows[0], y_test=rows[1], test_weight=rows[2]
        )

    def test_checksum(self) -> int:
        """Return a checksum of the test rows, their labels and weights."""
        return checksum([self.X_test, self.y_test, self.test_weight])

    @cached_property
    def first_checksums(self) -> tuple[int, int]:
        """Checksums of the training and test rows at the first call, before foreign code runs."""
        return self.view.first_checksum, self.test_checksum()

    def is_changed(self) -> bool:
        """Return whether the rows or values derived from them have changed since the start."""
        return (
            self.view.checksum(),
            self.test_checksum(),
        ) != self.first_checksums or self.view.has_changed_parts()

    def as_record(self) -> dict[str, int]:
        """Return the sizes of the fold."""
        return {
            "n_train": self.view.n_samples,
            "n_test": len(self.y_test),
            "n_features": self.view.n_features,
        }


def make_fold(
    protocol: AbstractProtocol,
    dataset: Dataset,
    *,
    n_splits: int,
    split_seed: int,
    fold: int,
    preparation: Mapping[str, Any] | None = None,
) -> Fold:
    """Return a fold of a protocol, prepared on its training rows only."""
    train, test = protocol.rows(
        dataset, n_splits=n_splits, split_seed=split_seed, fold=fold
    )
    if protocol.scores:
        check_rows(dataset, train, test, fold, every_class=protocol.every_class)
    return fold_of_rows(protocol, dataset, train, test, preparation, split_seed)


def fold_of_rows(
    protocol: AbstractProtocol,
    dataset: Dataset,
    train: Rows,
    test: Rows,
    preparation: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> Fold:
    """Return the fold of given rows of a data set, after a preparation fitted on the training rows."""
    names = None
    # a copy of the largest data sets would take half a gigabyte; stated splits may
    # repeat rows
    whole = np.array_equal(train, np.arange(len(dataset.y)))
    if preparation is not None:
        X_train, X_test, names = prepared_rows(preparation, dataset, train, test, seed)
        # names in the data are not stored, because a panel has hundreds of thousands of
        # trials
        if protocol.measures_memory and np.array_equal(names, dataset.feature_names):
            names = None
    else:
        dataset.check_complete()
        X_train, X_test = dataset.X if whole else dataset.X[train], dataset.X[test]
    weight = dataset.sample_weight
    metadata = {} if weight is None else {"sample_weight": weight[train]}
    labels = dataset.y if whole else dataset.y[train]
    test_weight = None if weight is None else weight[test]
    kind_of_view = MeasuredView if protocol.measures_memory else SharedView
    view = kind_of_view(X_train, labels, metadata)
    return Fold(view, X_test, dataset.y[test], names, test_weight, dataset.classes)
