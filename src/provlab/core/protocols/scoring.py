"""Scorers for a model: scikit-learn names, results of `make_scorer`, and functions of (model, X, y)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import signature
from typing import Any

from sklearn.base import is_regressor
from sklearn.metrics import get_scorer, get_scorer_names

from provlab.core.protocols.scorers import Scorers
from provlab.project.components import build, function_of, is_component
from provlab.project.messages import did_you_mean

COLUMN = re.compile(r"[A-Za-z]\w{0,80}")
"""Pattern of allowed column names in records."""


def scorer_of(config: Any) -> Any:
    """Return the function that is called with a fitted model, rows and labels."""
    if isinstance(config, str):
        return get_scorer(config)
    return (
        build("scorer", config)
        if is_component(config)
        else function_of("scorer", config)
    )


def check_scorers(scorers: Scorers, model: Any) -> None:
    """Raise if a name is not a scorer, or a scorer cannot use the predictions of the model.

    Parameters
    ----------
    scorers : mapping
        Scorers as returned by `stated_scorers`.
    model : estimator
        Unfitted model.

    Raises
    ------
    ValueError
        If so. The message names the scorer, and scorers that the model supports.
    """
    names = get_scorer_names()
    for column, config in scorers.items():
        if not COLUMN.fullmatch(column):
            raise ValueError(
                f"protocol.scoring: expected names of letters, digits and _ for scorers, got {column!r:.80}; give it "
                f"a name: {{NAME: SCORER}}."
            )
        if isinstance(config, str) and config not in names:
            raise ValueError(
                f"protocol.scoring: expected names of scikit-learn's scorers (sklearn.metrics.get_scorer_names), got "
                f"{config!r:.80}{did_you_mean(config, names) or f', which is none of {len(names)}'}."
            )
        scorer = scorer_of(config)
        if not is_made(scorer):
            _check_function(column, scorer)
        elif not _is_for(scorer, model):
            raise ValueError(
                f"protocol.scoring: expected a scorer that {type(model).__name__} supports, got {column}, "
                f"which {_reads(scorer)}; choose one of {', '.join(usable_scorers(model))}, or another model."
            )
        elif not isinstance(config, str):
            _check_keywords(column, scorer)


def _check_function(column: str, function: Any) -> None:
    """Raise for a function of labels and predictions, because scorers are called with model, rows and labels."""
    if function.__module__.split(".")[:2] == ["sklearn", "metrics"]:
        name = function.__name__
        raise ValueError(
            f"protocol.scoring: expected a scorer that is called with (model, X, y), got {column}, the function "
            f"{name} of labels and "
            f"predictions; wrap it: make_scorer({name}), in a config {{_target_: sklearn.metrics.make_scorer, "
            f"score_func: {name}}}."
        )


def _check_keywords(column: str, scorer: Any) -> None:
    """Raise if arguments of `make_scorer` are not accepted by its function."""
    parameters = signature(scorer._score_func).parameters
    unknown = [name for name in scorer._kwargs if name not in parameters]
    takes_any = any(
        parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()
    )
    if unknown and not takes_any:
        raise ValueError(
            f"protocol.scoring: {column}: expected arguments among {', '.join(parameters)}, got {unknown[0]}; correct "
            f"the name or remove it."
        )


def usable_scorers(model: Any) -> Iterator[str]:
    """Yield the names of the scorers that read the predictions of a model."""
    return (name for name in get_scorer_names() if _is_for(get_scorer(name), model))


def is_made(scorer: Any) -> bool:
    """Return whether a scorer was made by `make_scorer`, as all of scikit-learn's were."""
    return hasattr(scorer, "_score_func")


def response_methods(scorer: Any) -> tuple[str, ...]:
    """Return the methods of a model that a scorer calls."""
    methods = scorer._response_method
    return (methods,) if isinstance(methods, str) else tuple(methods)


def _is_of_numbers(scorer: Any) -> bool:
    return bool(scorer._score_func.__module__ == "sklearn.metrics._regression")


def _is_for(scorer: Any, model: Any) -> bool:
    if not any(hasattr(model, response) for response in response_methods(scorer)):
        return False
    is_of_others = not scorer._score_func.__module__.startswith("sklearn.")
    return is_of_others or _is_of_numbers(scorer) == is_regressor(model)


def _reads(scorer: Any) -> str:
    kind = "real numbers" if _is_of_numbers(scorer) else "classes"
    return f"is about {kind} and reads {' or '.join(response_methods(scorer))}"
