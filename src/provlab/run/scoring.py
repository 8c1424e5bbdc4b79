"""How well predictions are: the error of classes, R^2 and errors of numbers, and scikit-learn's scorers by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import get_scorer, mean_absolute_error, r2_score, root_mean_squared_error

from provlab.core.protocols.base import Record
from provlab.core.protocols.scoring import response_methods, usable_scorers


def measured(
    scoring: Sequence[str], model: Any, X: Any, y: NDArray[Any], predicted: NDArray[Any], weight: NDArray[Any] | None
) -> Record:
    """Return error, or R^2, RMSE and MAE of numbers, and the value of each scorer.

    Parameters
    ----------
    scoring : sequence of str
        Checked by `check_scorers`.
    model : estimator
        Fitted.
    X : ndarray or sparse of shape (n_test, n_features)
        Test rows as the model takes them.
    y, predicted : ndarray of shape (n_test,)
    weight : ndarray of shape (n_test,), or None
        Of the test rows, in every measure.

    Raises
    ------
    ValueError
        A scorer that does not apply to these rows: names those that do.
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
    for name in scoring:
        try:
            scores[name] = _score(name, model, X, y, weights, predicted)
        except ValueError as error:
            others = ", ".join(scorer for scorer in usable_scorers(model) if _applies(scorer, model, X, y, weights))
            raise ValueError(
                f"protocol.scoring: expected scorers that apply to these data, got {name}: "
                f"{' '.join(str(error).split()).rstrip('.')}; choose among {others}."
            ) from error
    return scores


def _score(
    name: str, model: Any, X: Any, y: NDArray[Any], weights: Mapping[str, Any], predicted: NDArray[Any] | None = None
) -> float:
    scorer = get_scorer(name)
    if weights and "sample_weight" not in signature(scorer._score_func).parameters:
        raise ValueError("it takes no sample_weight")
    if predicted is not None and response_methods(name) == (
        "predict",
    ):  # as the scorer would, without predicting again
        return float(scorer._sign * scorer._score_func(y, predicted, **scorer._kwargs, **weights))
    return float(scorer(model, X, y, **weights))


def _applies(name: str, *rows: Any) -> bool:
    try:
        return bool(np.isfinite(_score(name, *rows)))
    except ValueError:
        return False
