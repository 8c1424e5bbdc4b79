"""Selectors and models of an experiment: ours, or other classes with scikit-learn's API."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import has_fit_parameter

from provsel.kernels.spectral import Matrix
from provsel.models import BaseLinearSVM
from provsel.selectors._base import BaseSelector
from provsel.training_view import TrainingView

DENSE_VALUES = 2_000_000
"""Reduced rows with at most so many values are made dense: BLAS then beats sparse products."""


def is_random(reducer: Any) -> bool:
    """Tell whether two fits with different seeds can differ."""
    if not is_ours(reducer):
        return bool(unseeded(reducer))
    own = getattr(reducer, "is_random", None)
    return bool("random_state" in reducer.get_params(deep=False) if own is None else own)


def is_random_model(model: Any) -> bool:
    """Tell whether two fits of a model with different seeds are meant to differ; seeds of our solvers do not count."""
    return bool(getattr(model, "is_random", False) if is_ours(model) else unseeded(model))


def is_ours(estimator: Any) -> bool:
    """Tell whether an estimator says itself whether it draws: provsel's, and selectors with its base class."""
    return isinstance(estimator, BaseSelector) or type(estimator).__module__.split(".")[0] == "provsel"


def unseeded(estimator: Any) -> list[str]:
    """Return the parameters, those of inner estimators as well, that are a seed and have none."""
    parameters = estimator.get_params(deep=True)
    return [name for name, value in parameters.items() if value is None and name.split("__")[-1] == "random_state"]


def seed(estimator: Any, number: int) -> Any:
    """Return a random estimator after setting the seeds that it draws by."""
    names = ["random_state"] if is_ours(estimator) else unseeded(estimator)
    return estimator.set_params(**dict.fromkeys(names, number))


def fit_reducer(reducer: Any, view: TrainingView, **metadata: Any) -> Any:
    """Return the reducer, fitted on the rows of `view`; one that is not ours gets the metadata that it takes."""
    if isinstance(reducer, BaseSelector):
        return reducer.fit_view(view)
    taken = {name: value for name, value in metadata.items() if has_fit_parameter(reducer, name)}
    return reducer.fit(view.X, view.y, **taken)


def fit_model(model: Any, reducer: Any, X: Any, y: Any, **metadata: Any) -> Any:
    """Return the model, fitted on what `reducer` left of rows, which are not checked again where both are provsel's."""
    return model.fit_rows(X, y) if _checked(model, reducer) and not metadata else model.fit(X, y, **metadata)


def predict(model: Any, reducer: Any, X: Any) -> NDArray[Any]:
    """Return what a model predicts of what `reducer` left of rows, checked as by `fit_model`."""
    return model.predict_rows(X) if _checked(model, reducer) else model.predict(X)


def _checked(model: Any, reducer: Any) -> bool:
    return isinstance(model, BaseLinearSVM) and isinstance(reducer, BaseSelector)


def kept_features(reducer: Any) -> NDArray[np.int64] | None:
    """Return the selected features in order of selection; None of a transformer that mixes features."""
    if hasattr(reducer, "get_support") and not hasattr(reducer, "indices_"):
        return np.asarray(reducer.get_support(indices=True), dtype=np.int64)
    return getattr(reducer, "indices_", None)


def n_columns(reducer: Any, X: Matrix) -> int:
    """Return the number of columns that a fitted reducer leaves of rows X."""
    kept = kept_features(reducer)
    if kept is not None:
        return kept.size
    if is_ours(reducer):
        return len(reducer.get_feature_names_out())
    return int(reducer.transform(X[:1]).shape[1])  # a pipeline cannot always name what it gives


def leaves_nothing_out(reducer: Any, view: TrainingView) -> bool:
    """Tell whether the fitted reducer returns the rows of `view` as they are."""
    kept = kept_features(reducer)
    return kept is not None and kept.size == view.n_features and bool(np.all(getattr(reducer, "weights_", 1.0) == 1.0))


def reduced_rows(reducer: Any, X: Matrix) -> Matrix | NDArray[np.float64]:
    """Return the rows X, shape (n, d), reduced: on the kept columns, weighted; dense where that is small."""
    reduced: Any = reducer.reduce(X) if isinstance(reducer, BaseSelector) else reducer.transform(X)
    if sparse.issparse(reduced) and reduced.shape[0] * reduced.shape[1] <= DENSE_VALUES:
        return reduced.toarray()
    return reduced
