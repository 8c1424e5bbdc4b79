"""Scorers of `protocol.scoring` by column name, and their form in keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from provlab.project.components import (
    component_identity,
    function_identity,
    is_component,
)
from provlab.project.estimators import FUNCTION

Scorers = Mapping[str, Any]
"""By column name, a scikit-learn scorer name, a config of `make_scorer`, or a function name."""


def stated_scorers(scoring: Any) -> dict[str, Any]:
    """Return the scorers of `protocol.scoring` by column name.

    Parameters
    ----------
    scoring : str, mapping or sequence
        A scorer name, a function name such as `my_study.cost`, a config of
        `make_scorer`, a mapping of names to these, or a sequence of names.

    Raises
    ------
    ValueError
        If it has any other form, or a name is repeated.
    """
    if isinstance(scoring, Mapping) and not _is_single(scoring):
        return {str(name): _config_of(scorer) for name, scorer in scoring.items()}
    scorers: dict[str, Any] = {}
    for scorer in (
        scoring
        if isinstance(scoring, Sequence) and not isinstance(scoring, str)
        else [scoring]
    ):
        config = _config_of(scorer)
        name = _name_of(config)
        if name in scorers:
            raise ValueError(
                f"protocol.scoring: expected each scorer once, got {name} twice; leave one out."
            )
        scorers[name] = config
    return scorers


def _is_single(scoring: Mapping[str, Any]) -> bool:
    return is_component(scoring) or FUNCTION in scoring


def _config_of(scorer: Any) -> Any:
    """Return the config of a scorer; a name with a dot names a function."""
    if isinstance(scorer, str) and "." in scorer:
        return {FUNCTION: scorer}
    if isinstance(scorer, str) or (isinstance(scorer, Mapping) and _is_single(scorer)):
        return scorer
    raise ValueError(
        f"protocol.scoring: expected names of scorers, such as [roc_auc], or scorers by names, got {scorer!r:.80}; "
        f"write {{NAME: SCORER}}."
    )


def _name_of(config: Any) -> str:
    """Return the column name of a nameless scorer: the name of its function."""
    if isinstance(config, str):
        return config
    function = config
    if is_component(config):
        function = config.get("score_func") or config["_target_"]
    if isinstance(function, Mapping):
        function = function.get(FUNCTION, "")
    return str(function).rpartition(".")[2]


def scorer_identities(scorers: Scorers) -> list[str] | dict[str, Any]:
    """Return scorers as in keys: a sorted list if all are scikit-learn's under their own names."""
    if all(name == scorer for name, scorer in scorers.items()):
        return sorted(scorers)
    identities: dict[str, Any] = {}
    for name, scorer in scorers.items():
        if isinstance(scorer, str):
            identities[name] = scorer
        elif is_component(scorer):
            identities[name] = component_identity("scorer", scorer)
        else:
            identities[name] = function_identity("scorer", scorer)
    return identities
