"""Scorers of scikit-learn by name: which there are, and which read what a model predicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sklearn.base import is_regressor
from sklearn.metrics import get_scorer, get_scorer_names

from provlab.project.messages import did_you_mean


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
    scorers, name_of = get_scorer_names(), type(model).__name__
    for name in scoring:
        if name not in scorers:
            raise ValueError(
                f"protocol.scoring: expected names of scikit-learn's scorers (sklearn.metrics.get_scorer_names), got "
                f"{name!r:.80}{did_you_mean(str(name), scorers) or f', which is none of {len(scorers)}'}."
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


def response_methods(name: str) -> tuple[str, ...]:
    """Return the methods of a model that a scorer reads."""
    methods = get_scorer(name)._response_method
    return (methods,) if isinstance(methods, str) else tuple(methods)


def _is_for(name: str, model: Any) -> bool:
    return _is_of_numbers(name) == is_regressor(model) and any(
        hasattr(model, response) for response in response_methods(name)
    )


def _reads(name: str) -> str:
    kind = "real numbers" if _is_of_numbers(name) else "classes"
    return f"is about {kind} and reads {' or '.join(response_methods(name))}"
