"""Selectors and models of an experiment, of provsel or of other packages with scikit-learn's API."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import has_fit_parameter

from provsel.checks import selected_mask
from provsel.kernels.spectral import Matrix
from provsel.models import BaseLinearSVM
from provsel.selectors._base import BaseSelector
from provsel.training_view import TrainingView

DENSE_VALUES = 2_000_000
"""Reduced rows with at most this many values are made dense, because BLAS is then faster than sparse products."""

SAMPLE_ROWS = 16
"""Number of rows on which `transform` is compared with the features of a class."""

SCALED = 1e-4
"""Relative error up to which a column counts as a multiple of another."""


def is_random(reducer: Any) -> bool:
    """Return whether two fits may differ: the method is random and no seed is given."""
    if not is_ours(reducer):
        return bool(unseeded(reducer))
    parameters = reducer.get_params(deep=False)
    draws = getattr(reducer, "is_random", "random_state" in parameters)
    return bool(draws) and parameters.get("random_state") is None


def is_random_model(model: Any) -> bool:
    """Return whether fits of a model with different seeds differ by design; seeds of solvers do not count."""
    return bool(
        getattr(model, "is_random", False) if is_ours(model) else unseeded(model)
    )


def is_ours(estimator: Any) -> bool:
    """Return whether an estimator declares if it is random, as provsel's estimators and subclasses do."""
    return (
        isinstance(estimator, BaseSelector)
        or type(estimator).__module__.split(".")[0] == "provsel"
    )


def unseeded(estimator: Any) -> list[str]:
    """Return the seed parameters without a value, including those of inner estimators."""
    parameters = estimator.get_params(deep=True)
    return [
        name
        for name, value in parameters.items()
        if value is None and name.split("__")[-1] == "random_state"
    ]


def seed(estimator: Any, number: int) -> Any:
    """Return a random estimator after setting its seeds."""
    names = ["random_state"] if is_ours(estimator) else unseeded(estimator)
    return estimator.set_params(**dict.fromkeys(names, number))


def fit_reducer(reducer: Any, view: TrainingView, **metadata: Any) -> Any:
    """Return the reducer, fitted on the rows of `view`; other libraries' reducers get the metadata that they accept."""
    if isinstance(reducer, BaseSelector):
        return reducer.fit_view(view)
    fit_metadata = {
        name: value
        for name, value in metadata.items()
        if has_fit_parameter(reducer, name)
    }
    return reducer.fit(view.X, view.y, **fit_metadata)


def fit_model(model: Any, reducer: Any, X: Any, y: Any, **metadata: Any) -> Any:
    """Return the model, fitted on the reduced rows, which are not checked again if both are provsel's."""
    return (
        model.fit_rows(X, y)
        if _checked(model, reducer) and not metadata
        else model.fit(X, y, **metadata)
    )


def predict(model: Any, reducer: Any, X: Any) -> NDArray[Any]:
    """Return the predictions of a model for the reduced rows, checked as by `fit_model`."""
    return model.predict_rows(X) if _checked(model, reducer) else model.predict(X)


def _checked(model: Any, reducer: Any) -> bool:
    return isinstance(model, BaseLinearSVM) and isinstance(reducer, BaseSelector)


def kept_features(reducer: Any) -> NDArray[np.int64] | None:
    """Return the selected features in order of selection; None for a transformer that mixes features."""
    if hasattr(reducer, "get_support") and not hasattr(reducer, "indices_"):
        return np.flatnonzero(selected_mask(reducer))
    return getattr(reducer, "indices_", None)


def check_selection(reducer: Any, X: Matrix) -> None:
    """Raise if `transform` of a fitted selector of another library keeps other features than `get_support`.

    A class may scale the columns that it keeps. Columns that it changes otherwise, for
    instance by centring, are not compared.

    Parameters
    ----------
    reducer : estimator
    X : ndarray or CSR of shape (n_samples, n_features)
        Rows on which it was fitted.

    Raises
    ------
    ValueError
        If they disagree; the message names the class.
    """
    if type(reducer).__module__.split(".")[0] == "provsel":
        return
    kept = _checked_features(reducer, X.shape[1])
    if kept is None:
        return
    name = type(reducer).__name__
    sample = X[
        np.linspace(0, X.shape[0] - 1, min(SAMPLE_ROWS, X.shape[0]), dtype=np.int64)
    ]
    # irrelevant here, because the rows of the trial are transformed as well
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        transformed = np.asarray(_dense(reducer.transform(sample)))
    expected = (sample.shape[0], kept.size)
    if transformed.shape != expected:
        raise ValueError(
            f"{name}: expected transform to return the {kept.size} features that get_support names, got shape "
            f"{transformed.shape} of {sample.shape[0]} rows; correct transform, or get_support."
        )
    named = np.asarray(_dense(sample[:, kept]))
    for place in np.flatnonzero(~_are_multiples(transformed, named)):
        equal = np.all(np.asarray(_dense(sample)) == transformed[:, [place]], axis=0)
        if equal.any():
            raise ValueError(
                f"{name}: expected feature {kept[place]} in column {place} of transform, as get_support says, got "
                f"feature {np.argmax(equal)}; correct transform, or get_support."
            )


def _checked_features(reducer: Any, n_features: int) -> NDArray[np.int64] | None:
    """Return the features that a class names, in order of the columns; raise if they are not valid features."""
    name = type(reducer).__name__
    ordered = getattr(reducer, "indices_", None)
    kept = None
    if hasattr(reducer, "get_support"):
        mask = selected_mask(reducer)
        if mask.size != n_features:
            raise ValueError(
                f"{name}: expected a value of get_support for each of {n_features} features, got {mask.size}; correct "
                f"get_support."
            )
        kept = np.flatnonzero(mask)
    if ordered is None:
        return kept
    distinct = np.unique(ordered)
    outside = distinct.size > 0 and (distinct[0] < 0 or distinct[-1] >= n_features)
    is_whole = distinct.size == 0 or distinct.dtype.kind in "iu"
    if outside or not is_whole or distinct.size != np.size(ordered):
        raise ValueError(
            f"{name}: expected distinct features from 0 to {n_features - 1}, got {np.ravel(ordered)[:5].tolist()}; "
            f"correct indices_."
        )
    if kept is not None and not np.array_equal(kept, distinct):
        raise ValueError(
            f"{name}: expected the same features from get_support and indices_, got {kept.size} and {distinct.size}; "
            f"correct one of them."
        )
    return distinct.astype(np.int64)


def _are_multiples(columns: NDArray[Any], others: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which columns are proportional to those at the same positions, by the Cauchy-Schwarz inequality."""
    with np.errstate(over="ignore", invalid="ignore"):
        products = np.sum(columns * others, axis=0) ** 2
        most = np.sum(columns**2, axis=0) * np.sum(others**2, axis=0)
        return products >= (1 - SCALED) * most


def _dense(X: Any) -> Any:
    return X.toarray() if sparse.issparse(X) else X


def n_columns(reducer: Any, X: Matrix) -> int:
    """Return the number of columns that a fitted reducer keeps of rows X."""
    kept = kept_features(reducer)
    if kept is not None:
        return kept.size
    if is_ours(reducer):
        return len(reducer.get_feature_names_out())
    # a pipeline cannot always name its outputs
    return int(reducer.transform(X[:1]).shape[1])


def leaves_nothing_out(reducer: Any, view: TrainingView) -> bool:
    """Return whether the fitted reducer returns the rows of `view` unchanged."""
    kept = kept_features(reducer)
    return (
        kept is not None
        and kept.size == view.n_features
        and bool(np.all(getattr(reducer, "weights_", 1.0) == 1.0))
    )


def reduced_rows(reducer: Any, X: Matrix) -> Matrix | NDArray[np.float64]:
    """Return the rows X, shape (n, d), reduced to the kept columns and weighted; dense if the result is small."""
    reduced: Any = (
        reducer.reduce(X) if isinstance(reducer, BaseSelector) else reducer.transform(X)
    )
    if sparse.issparse(reduced) and reduced.shape[0] * reduced.shape[1] <= DENSE_VALUES:
        return reduced.toarray()
    return reduced
