"""Scores of predictions: the error for classes, R^2 and errors for numbers, and the scorers of a cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import (
    check_scoring,
    get_scorer,
    mean_absolute_error,
    r2_score,
    root_mean_squared_error,
)

from provlab.core.protocols.base import Record
from provlab.core.protocols.scorers import Scorers
from provlab.core.protocols.scoring import (
    is_made,
    response_methods,
    scorer_of,
    usable_scorers,
)
from provlab.data import Classes


def measured(
    scorers: Scorers,
    model: Any,
    X: Any,
    y: NDArray[Any],
    predicted: NDArray[Any],
    weight: NDArray[Any] | None,
    classes: Classes | None,
) -> Record:
    """Return the error, or R^2, RMSE and MAE for numbers, and the value of each scorer.

    Parameters
    ----------
    scorers : mapping
        Scorers checked by `check_scorers`.
    model : estimator
        Fitted model.
    X : ndarray or sparse of shape (n_test, n_features)
        Test rows in the form that the model takes.
    y, predicted : ndarray of shape (n_test,)
    weight : ndarray of shape (n_test,), or None
        Weights of the test rows, used in every measure.
    classes : Classes, or None
        Labels that scorers of `make_scorer` and functions get instead of y.

    Raises
    ------
    ValueError
        If a scorer does not apply to these rows. The message names scorers that do.
    """
    if y.dtype.kind == "f":
        scores: Record = {
            "r2": r2_score(y, predicted, sample_weight=weight),
            "rmse": root_mean_squared_error(y, predicted, sample_weight=weight),
            "mae": mean_absolute_error(y, predicted, sample_weight=weight),
        }
    else:
        scores = {"error": float(np.average(predicted != y, weights=weight))}
    weights = {} if weight is None else {"sample_weight": weight}
    scores |= _scores_of_responses(scorers, model, X, y, weights)
    for name, config in scorers.items():
        if name in scores:
            continue
        try:
            if isinstance(config, str):
                scores[name] = _score(config, model, X, y, weights, predicted)
            else:
                scores[name] = _own_score(
                    name,
                    scorer_of(config),
                    labelled(model, classes),
                    X,
                    y,
                    weights,
                    classes,
                )
        except ValueError as error:
            if not isinstance(config, str):
                raise
            raise inapplicable(name, error, model, X, y, weights) from error
    return scores


def inapplicable(
    name: str,
    error: Exception,
    model: Any,
    X: Any,
    y: NDArray[Any],
    weights: Mapping[str, Any],
) -> ValueError:
    """Return an error for a scorer that does not apply to some rows, with those that do."""
    others = ", ".join(
        scorer
        for scorer in usable_scorers(model)
        if _applies(scorer, model, X, y, weights)
    )
    reason = " ".join(str(error).split()).rstrip(".")
    return ValueError(
        f"protocol.scoring: expected scorers that apply to these data, got {name}: {reason}; choose among {others}."
    )


def _scores_of_responses(
    scorers: Scorers, model: Any, X: Any, y: NDArray[Any], weights: Mapping[str, Any]
) -> dict[str, float]:
    """Return scikit-learn scores that need more than predicted classes; none if one does not apply.

    Probabilities and decision values are predicted once for all scores, which takes
    most of the time for neighbours.
    """
    sharing = {}
    for name, config in scorers.items():
        if isinstance(config, str) and response_methods(get_scorer(config)) != (
            "predict",
        ):
            sharing[name] = get_scorer(config)
    if len(sharing) < 2:
        return {}
    try:
        for scorer in sharing.values():
            _check_weights(scorer._score_func, weights)
        scores = check_scoring(model, scoring=sharing)(model, X, y, **weights)
    except ValueError:  # the scores are then computed one by one to find which
        return {}
    return {name: float(score) for name, score in scores.items()}


def _score(
    name: str,
    model: Any,
    X: Any,
    y: NDArray[Any],
    weights: Mapping[str, Any],
    predicted: NDArray[Any] | None = None,
) -> float:
    scorer = get_scorer(name)
    _check_weights(scorer._score_func, weights)
    if predicted is not None and response_methods(scorer) == ("predict",):
        # same value as the scorer, without a new prediction
        return float(
            scorer._sign * scorer._score_func(y, predicted, **scorer._kwargs, **weights)
        )
    return float(scorer(model, X, y, **weights))


def _own_score(
    name: str,
    scorer: Any,
    model: Any,
    X: Any,
    y: NDArray[Any],
    weights: Mapping[str, Any],
    classes: Classes | None,
) -> float:
    """Return the result of a scorer object, which gets the labels of the data."""
    _check_weights(scorer._score_func if is_made(scorer) else scorer, weights)
    score = scorer(model, X, y if classes is None else classes.labels_of(y), **weights)
    if not isinstance(score, int | float | np.number):
        raise ValueError(
            f"protocol.scoring: {name}: expected the scorer to return one number, got {score!r:.80}; pass several "
            f"scorers by their names."
        )
    return float(score)


def _check_weights(function: Callable[..., Any], weights: Mapping[str, Any]) -> None:
    if weights and "sample_weight" not in signature(function).parameters:
        raise ValueError("it does not accept sample_weight")


def _applies(name: str, *rows: Any) -> bool:
    try:
        return bool(np.isfinite(_score(name, *rows)))
    except ValueError:
        return False


def labelled(model: Any, classes: Classes | None) -> Any:
    """Return a fitted model that predicts the labels of the data; unchanged if it already does."""
    if classes is None or classes.labels is classes.codes:
        return model
    return LabelledModel(model, classes)


class LabelledModel:
    """A fitted classifier whose classes are the labels of the data instead of the integers that it learned."""

    def __init__(self, model: Any, classes: Classes) -> None:
        self.model = model
        self.classes = classes

    @property
    def classes_(self) -> NDArray[Any]:
        """Labels of the classes that occurred in training."""
        return self.classes.labels_of(self.model.classes_)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return labels of rows, shape (n_samples,)."""
        return self.classes.labels_of(self.model.predict(X))

    def __sklearn_tags__(self) -> Any:
        return self.model.__sklearn_tags__()

    def __getattr__(self, name: str) -> Any:
        if name in ("model", "classes"):  # a new copy does not have them yet
            raise AttributeError(name)
        return getattr(self.model, name)
