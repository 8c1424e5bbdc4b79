"""Fitting of a cell's selector on the rows of a fold, in one of three settings, and the test of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import Ridge

from provlab.core.protocols.base import Method, Record
from provlab.project.components import build, check_values, component_class
from provlab.run.fold import Fold
from provlab.run.scoring import measured
from provlab.run.shared_rows import SharedView
from provsel import reducers
from provsel.certificates import (
    Certificate,
    MeasuredTrial,
    RidgeRegressionCost,
    RidgeRegressionRisk,
)
from provsel.certificates.certifying import certify_compressed_trial, certify_trial
from provsel.certificates.compression import is_compressed
from provsel.models import LibsvmSVM
from provsel.selectors import BaseSelector, WithEnclosingBallCenter, checked_count
from provsel.training_view import Cost, Meter, described


@dataclass
class Fitted:
    """A selector fitted on `rows`, the rows of the fold or its support vectors, and its cost.

    `geometry` holds values that certificates derive from it, shared by all trials with
    the same selector; `weights` holds the `sample_weight` of the rows, if any.
    """

    reducer: Any
    rows: SharedView
    selecting: Meter
    geometry: dict[str, Any] = field(default_factory=dict)
    weights: dict[str, Any] = field(default_factory=dict)

    def as_record(self, fold: Fold) -> Record:
        """Return the selection as features of a fold, and its cost."""
        inner, features = self.reducer, reducers.kept_features(self.reducer)
        return {
            "selector": type(inner).__name__,
            "n_rows": self.rows.n_samples,
            "rank": getattr(inner, "rank_", None),
            "n_selected": reducers.n_columns(inner, self.rows.X),
            "n_repeats": getattr(inner, "n_repeats_", None),
            "sampling_rate": getattr(inner, "sampling_rate_", None),
            **_named(fold, features),
            "select_cpu": self.selecting.own.cpu,
            "select_wall": self.selecting.own.wall,
            "shared_cpu": self.selecting.shared.cpu,
            "shared_wall": self.selecting.shared.wall,
        }


class Tested(NamedTuple):
    """Results of a model on the test rows; the model is not kept, because a forest is large.

    Attributes
    ----------
    scores : mapping
        Scores by column of the record.
    weights : ndarray of shape (n_columns,)
        Coefficients of a linear model; empty for other models or many columns.
    columns : ndarray or None
        Features that the model itself keeps, if it drops some.
    cost : Cost
        Cost of the training and of the prediction.
    """

    scores: Record
    weights: NDArray[np.float64]
    columns: NDArray[np.int64] | None
    cost: Cost


DETERMINED = ("provsel", "provlab", "sklearn")
"""Packages whose models give the same results for the same rows, if seeded or deterministic."""

MAX_COEFFICIENTS = 100
"""Maximum number of stored coefficients per trial; more would dominate the size of a store."""


def _named(fold: Fold, features: Any) -> Record:
    """Return the selected features (None if all are kept), with names if the fold has its own columns."""
    every = features is None or features.size == fold.view.n_features
    chosen = ... if every else features
    names = (
        None
        if fold.feature_names is None or features is None
        else fold.feature_names[chosen].tolist()
    )
    return {
        "features": None if every else features.astype(np.int32),
        "feature_names": names,
    }


def _coefficients(
    weights: NDArray[np.float64], reducer: Any, n_features: int
) -> list[float] | None:
    """Return the coefficients of the selected features in a linear model, in order of selection.

    If all features are kept, the order is that of the columns. The result is None if
    the model has several coefficient vectors, if the selector mixes features, or if
    there are more than `MAX_COEFFICIENTS`.
    """
    features = reducers.kept_features(reducer)
    if features is None or not 0 < weights.size == features.size <= MAX_COEFFICIENTS:
        return None
    # columns of reduced rows are in increasing order
    of_features = weights[np.argsort(np.argsort(features))]
    of_features = of_features * (
        reducer.weights_ if getattr(reducer, "rescale", False) else 1.0
    )
    return (
        of_features[np.argsort(features) if features.size == n_features else ...]
        .astype(float)
        .tolist()
    )


def fit_selector(method: Method, seed: int, view: SharedView) -> Fitted:
    """Fit a selector on the rows of a view or its support vectors; deterministic selectors are fitted once.

    Trials that differ only in the model, for example in C, share a selection if they
    have the same rows.
    """
    selector: Any = build("selector", method.selector)
    if view.y is not None and view.y.dtype.kind == "f":
        _tell_of_numbers(selector)
    if isinstance(selector, BaseSelector) and isinstance(
        getattr(selector, "n_features_to_select", None), int
    ):
        # before an SVM on all rows takes minutes
        checked_count(selector, view.n_features)
    # a foreign class with access to the view could use the same names of parts
    is_shipped = type(selector).__module__.split(".")[0] in ("provsel", "provlab")
    outsider = (
        selector if isinstance(selector, BaseSelector) and not is_shipped else None
    )
    draws = reducers.is_random(selector)
    if draws:
        reducers.seed(selector, seed)
    with_center = method.setting == "unsupervised_with_center"
    if with_center:
        selector = WithEnclosingBallCenter(selector)
    weights = dict(view.metadata)
    with view.metered() as selecting:
        rows = view
        if method.setting == "supervised":
            model = build("model", method.model)
            view.svm(model, **weights)
            rows = view.on_support_vectors(model)
            weights = {
                name: value[view.support_rows(model)] for name, value in weights.items()
            }
        seen = rows if outsider is None else rows.apart(outsider)

        def fit() -> tuple[Any, dict[str, Any]]:
            with rows.guarded(selector):
                return reducers.fit_reducer(selector, seen, **weights), {}

        selector, geometry = (
            fit() if draws else rows.shared(f"fitted {described(selector)}", fit)
        )
    fitted = selector.selector_ if with_center else selector
    reducers.check_selection(fitted, rows.X)
    return Fitted(fitted, rows, selecting, geometry, weights)


SCORES_OF_CLASSES = {
    "chi2": "f_regression",
    "f_classif": "f_regression",
    "mutual_info_classif": "mutual_info_regression",
}
"""scikit-learn score functions that treat each number as a class, with their replacements for numbers."""


def _tell_of_numbers(selector: Any) -> None:
    """Set the task of a selector, and of nested selectors, to regression, even for whole numbers."""
    if getattr(selector, "classes_only", False):
        raise ValueError(
            f"{type(selector).__name__}: expected classes, got a numeric target; choose selector=rfe, "
            f"selector=lasso, selector=alpha_investing, or a selector that needs no labels."
        )
    function = getattr(getattr(selector, "score_func", None), "__name__", "")
    if function in SCORES_OF_CLASSES:
        raise ValueError(
            f"{type(selector).__name__}: expected classes for {function}, got a numeric target; choose "
            f"score_func={SCORES_OF_CLASSES[function]}."
        )
    if isinstance(selector, BaseEstimator):
        tasks = {
            name for name, value in selector.get_params().items() if value == "auto"
        }
        selector.set_params(
            **{
                name: "regression"
                for name in tasks
                if name.rpartition("__")[2] == "task"
            }
        )


def classify(method: Method, fitted: Fitted, fold: Fold, seed: int) -> Record:
    """Return the record of a fitted selection, with its certificates and the test error of a model."""
    model = build_seeded(method.model, seed)
    inner, rows = fitted.reducer, fitted.rows
    is_whole = reducers.leaves_nothing_out(inner, fold.view)
    features = None if is_whole else _features_that_decide(method, model, inner)
    if features is not None:
        name = f"tested {described(model)} {method.scoring} {features.tobytes().hex()}"
        tested: Tested = rows.shared(
            name, lambda: _train_and_test(method, model, fitted, fold)[0]
        )
        return _record(fitted, fold, tested)
    tested, trained, reduced, predicted = _train_and_test(
        method, model, fitted, fold, is_whole=is_whole
    )
    record = _record(fitted, fold, tested)
    trial = MeasuredTrial(
        inner, rows, fold.X_test, fold.y_test, trained, predicted, fitted.geometry
    )
    if reduced is not None:
        trial.shared("reduced rows", lambda: reduced)
    if method.certify and is_compressed(trained) and is_whole:
        record |= certify_compressed_trial(trial).as_record()
    elif is_certified(method, inner):
        C = trained.C if isinstance(trained, LibsvmSVM) else None
        margin, radius = not fold.is_regression, method.setting != "supervised"
        record |= certify_trial(trial, C=C, margin=margin, radius=radius).as_record()
        if isinstance(trained, Ridge) and not trained.fit_intercept:
            ridge = (
                theorem.measure(trial, trained.alpha)
                for theorem in (RidgeRegressionCost, RidgeRegressionRisk)
            )
            record |= Certificate(tuple(ridge)).as_record()
    return record | own_measures(method, trial)


def _features_that_decide(
    method: Method, model: Any, reducer: Any
) -> NDArray[np.int64] | None:
    """Return the sorted selected features if they determine the test of a model, otherwise None.

    Selectors of provsel change columns only by weighting them, but other selectors may
    do more. Certificates and own measures of the project need the model itself.
    """
    if (
        method.measures
        or is_certified(method, reducer)
        or (method.certify and is_compressed(model))
    ):
        return None
    is_plain = (
        isinstance(reducer, BaseSelector)
        and type(reducer).reduce is BaseSelector.reduce
    )
    if (
        not is_plain
        or getattr(reducer, "rescale", False)
        or reducers.is_random_model(model)
    ):
        return None
    parts = [
        model,
        *(
            part
            for part in model.get_params(deep=True).values()
            if isinstance(part, BaseEstimator)
        ),
    ]
    is_determined = all(
        type(part).__module__.split(".")[0] in DETERMINED for part in parts
    )
    if not is_determined or not all(isinstance(name, str) for name in method.scoring):
        return None
    features = reducers.kept_features(reducer)
    return None if features is None else np.sort(features)


def _train_and_test(
    method: Method, model: Any, fitted: Fitted, fold: Fold, *, is_whole: bool = False
) -> tuple[Tested, Any, Any, NDArray[Any]]:
    """Train a model on the selected features, and test it.

    An empty selection is also valid: the most frequent class or the mean is predicted,
    both weighted.

    Returns
    -------
    tuple
        The results, the trained model, its training rows (None if they are those of the
        fold), and its predictions.
    """
    inner, view, reduced = fitted.reducer, fold.view, None
    with view.metered() as training:
        if is_whole and not reducers.is_random_model(model):
            # the SVM with these support vectors is already the trained model
            trained = view.svm(model, **view.metadata)
        else:
            reduced = reducers.reduced_rows(inner, fitted.rows.X)
            if reduced.shape[1] == 0:
                model = (
                    DummyRegressor()
                    if fold.is_regression
                    else DummyClassifier(strategy="prior")
                )
            trained = reducers.fit_model(
                clone(model), inner, reduced, fitted.rows.y, **fitted.weights
            )
        X_test = reducers.reduced_rows(inner, fold.X_test)
        predicted = reducers.predict(trained, inner, X_test)
    scores = measured(
        method.scoring,
        trained,
        X_test,
        fold.y_test,
        predicted,
        fold.test_weight,
        fold.classes,
    )
    if method.limit is not None and fold.classes is not None:
        scores |= class_counts(fold.y_test, predicted, fold.classes.codes)
    scores |= {
        name: getattr(trained, f"{name}_", None)
        for name in ("objective", "scaled_objective")
    }
    weights = np.ravel(getattr(trained, "coef_", ()))
    if weights.size > MAX_COEFFICIENTS:
        weights = np.empty(0)
    tested = Tested(scores, weights, getattr(trained, "indices_", None), training.own)
    return tested, trained, reduced, predicted


def class_counts(
    y: NDArray[Any], predicted: NDArray[Any], classes: NDArray[Any]
) -> Record:
    """Return the numbers of test rows and of misclassified rows of each class.

    Parameters
    ----------
    y, predicted : ndarray of shape (n_test,)
    classes : ndarray of shape (n_classes,)
        All classes of the data set in increasing order; folds with whole groups may
        lack some of them.
    """
    places = np.searchsorted(classes, y)
    rows = np.bincount(places, minlength=classes.size)
    errors = np.bincount(places[predicted != y], minlength=classes.size)
    return {
        "class_rows": rows.astype(np.int32),
        "class_errors": errors.astype(np.int32),
    }


def _record(fitted: Fitted, fold: Fold, tested: Tested) -> Record:
    """Return the record of a selection and of the test of a model on it."""
    inner = fitted.reducer
    record = fitted.as_record(fold) | tested.scores
    record |= {"train_cpu": tested.cost.cpu, "train_wall": tested.cost.wall}
    record["coefficients"] = _coefficients(tested.weights, inner, fold.view.n_features)
    # the model itself drops some of the selected features
    if tested.columns is not None:
        left = reducers.kept_features(inner)
        features = tested.columns if left is None else np.sort(left)[tested.columns]
        record |= {
            "n_selected": features.size,
            **_named(fold, features),
            "coefficients": None,
        }
    return record


def build_seeded(model: Mapping[str, Any], seed: int) -> Any:
    """Return a model, with the seed of the trial if it is random."""
    built = build("model", model)
    return reducers.seed(built, seed) if reducers.is_random_model(built) else built


def own_measures(method: Method, trial: MeasuredTrial) -> Record:
    """Return the columns computed by the project's own measures.

    Raises
    ------
    ValueError
        If a measure raises an error or returns a value that cannot be stored. The
        message names the measure.
    """
    record: Record = {}
    for config in method.measures:
        measure, measured = component_class("measure", config), build("measure", config)
        try:
            values = measured(trial)
        except Exception as error:  # the code is not provsel's
            raise ValueError(
                f"{measure.__module__}.{measure.__name__}.measure: expected a record of a trial of "
                f"{type(trial.reducer).__name__}, got {type(error).__name__}: {error}; a measure is computed for "
                f"every trial of its cells; if it does not apply, return NaN, or NO_BOUND for a theorem."
            ) from error
        record |= check_values(measure, values)
    return record


def is_certified(method: Method, reducer: Any) -> bool:
    """Return whether the protocol requests certificates and the method has any guarantee."""
    promises = hasattr(reducer, "budget") or hasattr(reducer, "spectral_bound_")
    return method.certify and isinstance(reducer, BaseSelector) and promises
