"""A selector fitted on samples of the rows: folds, or bootstrap samples."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state, resample
from sklearn.utils.multiclass import type_of_target

from provsel.checks import check_integer, selected_mask
from provsel.labels import hardly_classes
from provsel.sparse_input import check_sparse


def selected_on_samples(
    selector: Any, X: Any, y: Any, *, cv: Any, n_resamples: int, random_state: Any
) -> tuple[list[NDArray[np.int64]], float]:
    """Return the selections of copies of a selector on each sample, and the overlap n_test / n_train of folds.

    The overlap is 0 for bootstrap samples, which are independent given the rows; see
    `StabilityReport.of`.
    """
    if not hasattr(selector, "get_support"):
        raise ValueError(
            f"StabilityReport: expected a selector with get_support, got {type(selector).__name__}; if it is a "
            f"pipeline, pass its selecting step."
        )
    check_sparse("StabilityReport", X)
    X = X.tocsr() if sparse.issparse(X) else X if hasattr(X, "iloc") else np.asarray(X)
    labels = None if y is None else np.asarray(y)
    if X.ndim != 2 or (labels is not None and len(labels) != X.shape[0]):
        raise ValueError(
            f"StabilityReport: expected X with two dimensions and as many labels as rows, got X of shape {X.shape} "
            f"and {'no' if labels is None else len(labels)} labels."
        )
    selections = []
    n_used = []
    for rows in _samples(X, labels, cv, n_resamples, random_state):
        fitted = clone(selector).fit(
            X.iloc[rows] if hasattr(X, "iloc") else X[rows], *_of_rows(labels, rows)
        )
        selections.append(np.flatnonzero(selected_mask(fitted)))
        n_used.append(len(np.arange(X.shape[0])[rows]))
    overlap = (
        0.0 if cv is None or not n_used else X.shape[0] / float(np.mean(n_used)) - 1
    )
    return selections, overlap


def _samples(
    X: Any, y: Any, cv: Any, n_resamples: int, random_state: Any
) -> Iterator[NDArray[np.int64]]:
    """Yield the rows of each sample: the training rows of folds, or bootstrap samples."""
    # a stratum of a single row would have this row in every sample
    discrete = (
        y is not None
        and type_of_target(y) in ("binary", "multiclass")
        and not hardly_classes(y)
    )
    if cv is not None:
        if isinstance(cv, Integral) and not isinstance(cv, bool) and cv < 2:
            raise ValueError(
                f"StabilityReport: expected cv of two or more folds, got {cv!r}."
            )
        for train, _ in check_cv(cv, y, classifier=discrete).split(X, y):
            yield train
        return
    check_integer("StabilityReport", "n_resamples", n_resamples, minimum=2)
    rng, rows = check_random_state(random_state), np.arange(X.shape[0])
    for _ in range(n_resamples):
        yield resample(rows, random_state=rng, stratify=y if discrete else None)


def _of_rows(labels: Any, rows: Any) -> tuple[Any, ...]:
    return () if labels is None else (labels[rows],)
