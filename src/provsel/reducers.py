"""What stands in the place of a selector in an experiment: a selector of ours, or a plain transformer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from provsel.kernels.spectral import Matrix
from provsel.selectors._base import BaseSelector
from provsel.training_view import TrainingView

DENSE_VALUES = 2_000_000
"""Reduced rows with at most so many values are made dense: BLAS then beats sparse products."""


def is_random(reducer: Any) -> bool:
    """Tell whether two fits with different seeds can differ."""
    return bool(getattr(reducer, "is_random", "random_state" in reducer.get_params(deep=False)))


def is_random_model(model: Any) -> bool:
    """Tell whether two fits of a model with different seeds are meant to differ; seeds of solvers do not count."""
    return bool(getattr(model, "is_random", False))


def fit_reducer(reducer: Any, view: TrainingView) -> Any:
    """Return the reducer, fitted on the rows of `view`."""
    if isinstance(reducer, BaseSelector):
        return reducer.fit_view(view)
    return reducer.fit(view.X, view.y)


def kept_features(reducer: Any) -> NDArray[np.int64] | None:
    """Return the selected features in order of selection; None of a transformer that mixes features."""
    return getattr(reducer, "indices_", None)


def n_columns(reducer: Any) -> int:
    """Return the number of columns of what a fitted reducer returns."""
    kept = kept_features(reducer)
    return len(reducer.get_feature_names_out()) if kept is None else kept.size


def leaves_nothing_out(reducer: Any, view: TrainingView) -> bool:
    """Tell whether the fitted reducer returns the rows of `view` as they are."""
    kept = kept_features(reducer)
    return kept is not None and kept.size == view.n_features and bool((reducer.weights_ == 1.0).all())


def reduced_rows(reducer: Any, X: Matrix) -> Matrix | NDArray[np.float64]:
    """Return the rows X, shape (n, d), reduced: on the kept columns, weighted; dense where that is small."""
    reduced: Any = reducer.reduce(X) if isinstance(reducer, BaseSelector) else reducer.transform(X)
    if sparse.issparse(reduced) and reduced.shape[0] * reduced.shape[1] <= DENSE_VALUES:
        return reduced.toarray()
    return reduced
