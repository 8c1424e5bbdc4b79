"""How well predictions are: the error of classes, R^2 and errors of numbers, and scikit-learn's scorers by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_regressor
from sklearn.metrics import get_scorer, get_scorer_names, mean_absolute_error, r2_score, root_mean_squared_error

from provlab.messages import did_you_mean
from provlab.protocols.base import Record


def check_scorers(scoring: Sequence[Any], model: Any) -> None:
    """Refuse names that are no scorer, and scorers that have no use for what a model gives.

    Parameters
    ----------
    scoring : sequence
        `protocol.scoring`.
    model : estimator
        Unfitted.

    Raises
    ------
    ValueError
        Names the scorer, and those that can be used with the model.
    """
    known, name_of = get_scorer_names(), type(model).__name__
    for name in scoring:
        if name not in known:
            raise ValueError(
                f"protocol.scoring: expected names of scikit-learn's scorers (sklearn.metrics.get_scorer_names), got "
                f"{name!r:.80}{did_you_mean(str(name), known) or f', which is none of {len(known)}'}."
            )
        if not _is_for(name, model):
            raise ValueError(
                f"protocol.scoring: expected scorers that read what {name_of} predicts, got {name}, which "
                f"{_reads(name)}; choose one of {', '.join(usable_scorers(model))}, or another model."
            )
    if len({*scoring}) < len(scoring):
        raise ValueError(f"protocol.scoring: expected each scorer once, got {', '.join(scoring):.200}.")


def usable_scorers(model: Any) -> Iterator[str]:
    """Yield the names of the scorers that read what a model predicts."""
    return (name for name in get_scorer_names() if _is_for(name, model))


def _is_of_numbers(name: str) -> bool:
    return get_scorer(name)._score_func.__module__ == "sklearn.metrics._regression"


def _methods(name: str) -> tuple[str, ...]:
    methods = get_scorer(name)._response_method
    return (methods,) if isinstance(methods, str) else tuple(methods)


def _is_for(name: str, model: Any) -> bool:
    return _is_of_numbers(name) == is_regressor(model) and any(hasattr(model, each) for each in _methods(name))


def _reads(name: str) -> str:
    kind = "real numbers" if _is_of_numbers(name) else "classes"
    return f"is about {kind} and reads {' or '.join(_methods(name))}"


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
        found: Record = {
            "r2": r2_score(y, predicted, sample_weight=weight),
            "rmse": root_mean_squared_error(y, predicted, sample_weight=weight),
            "mae": mean_absolute_error(y, predicted, sample_weight=weight),
        }
    else:
        found = {"error": float(np.average(predicted != y, weights=weight))}
    weights = {} if weight is None else {"sample_weight": weight}
    for name in scoring:
        try:
            found[name] = _score(name, model, X, y, weights, predicted)
        except ValueError as error:
            others = ", ".join(each for each in usable_scorers(model) if _applies(each, model, X, y, weights))
            raise ValueError(
                f"protocol.scoring: expected scorers that apply to these data, got {name}: "
                f"{' '.join(str(error).split()).rstrip('.')}; choose among {others}."
            ) from error
    return found


def _score(
    name: str, model: Any, X: Any, y: NDArray[Any], weights: Mapping[str, Any], predicted: NDArray[Any] | None = None
) -> float:
    scorer = get_scorer(name)
    if weights and "sample_weight" not in signature(scorer._score_func).parameters:
        raise ValueError("it takes no sample_weight")
    if predicted is not None and _methods(name) == ("predict",):  # as the scorer would, without predicting again
        return float(scorer._sign * scorer._score_func(y, predicted, **scorer._kwargs, **weights))
    return float(scorer(model, X, y, **weights))


def _applies(name: str, *rows: Any) -> bool:
    try:
        return bool(np.isfinite(_score(name, *rows)))
    except ValueError:
        return False
