"""Configs of estimators in memory, which a user's program passes and which therefore need no trust."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from provlab.project.scikit_learn import kind_of
from provlab.project.versions import version_of

_IN_HAND: ContextVar[dict[str, Any]] = ContextVar("in_hand")

FUNCTION = "_function_"
"""Key of a mapping that represents a function in a config; only functions of `estimators_in_hand` are found."""


@contextmanager
def estimators_in_hand() -> Iterator[None]:
    """Let configs in this process name objects that are passed to `as_config` in the block, until its end."""
    token = _IN_HAND.set({})
    try:
        yield
    finally:
        _IN_HAND.reset(token)


def object_in_hand(name: object) -> Any:
    """Return the object that a name in a config refers to if a program has passed it, otherwise None."""
    return _IN_HAND.get({}).get(name) if isinstance(name, str) else None


def as_config(value: Any) -> Any:
    """Return the config that recreates an estimator: its class and its non-default arguments.

    Raises
    ------
    ValueError
        If an argument is not a plain value, function or estimator, or a class or
        function has no name of its own.
    """
    from sklearn.base import BaseEstimator
    from sklearn.metrics import get_scorer

    if isinstance(value, BaseEstimator) or kind_of(public_name(type(value))) in (
        "kernel",
        "splitter",
    ):
        defaults = {
            name: argument.default
            for name, argument in inspect.signature(type(value)).parameters.items()
        }
        config = {"_target_": _name_in_hand(type(value))}
        for name, argument in _arguments_of(value).items():
            if not is_default(argument, defaults.get(name)):
                config[name] = as_config(argument)
        return config
    if isinstance(value, type(get_scorer("accuracy"))):
        return _scorer_config(value)
    if isinstance(value, Mapping):
        return {str(name): as_config(argument) for name, argument in value.items()}
    if isinstance(value, set | frozenset):
        value = sorted(value)
    if isinstance(value, list | tuple | np.ndarray):
        return [as_config(argument) for argument in value]
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, functools.partial):
        return {
            **as_config(value.func),
            "args": as_config(value.args),
            "keywords": as_config(value.keywords),
        }
    if callable(value):
        return {FUNCTION: _name_in_hand(value), "version": version_of(value)}
    if value is None or isinstance(value, str | int | float):
        return value
    raise ValueError(
        f"compare: expected plain values, functions and estimators as arguments, got {value!r:.80}."
    )


def _arguments_of(value: Any) -> dict[str, Any]:
    """Return the arguments of an estimator or kernel, or those stored as attributes of a splitter."""
    if hasattr(value, "get_params"):
        arguments: dict[str, Any] = value.get_params(deep=False)
        return arguments
    kept = {
        **getattr(value, "cvargs", {}),
        **vars(value),
    }  # repeated splitters keep some for the inner one
    return {name: kept[name] for name in inspect.signature(type(value)).parameters}


def _scorer_config(scorer: Any) -> Any:
    """Return the name of a scikit-learn scorer, or the call of `make_scorer` that rebuilds it."""
    from sklearn.metrics import get_scorer, get_scorer_names

    for name in get_scorer_names():
        if vars(get_scorer(name)) == vars(scorer):
            return name
    config = {
        "_target_": "sklearn.metrics.make_scorer",
        "score_func": as_config(scorer._score_func),
    }
    if scorer._response_method != "predict":
        config["response_method"] = as_config(scorer._response_method)
    if scorer._sign < 0:
        config["greater_is_better"] = False
    return {**config, **as_config(scorer._kwargs)}


def _name_in_hand(value: Any) -> str:
    """Return the name by which configs inside `estimators_in_hand` find a class or function."""
    name = public_name(value)
    if not name:
        raise ValueError(
            f"compare: expected classes and functions with a name at the top level of their module, which identifies "
            f"stored trials, got {value!r:.80}; define it with class or def outside of any function, and import its "
            f"module again after a change."
        )
    _IN_HAND.get({})[name] = value
    return name


def public_name(value: Any) -> str:
    """Return the shortest dotted name from which a class or function can be imported; "" if there is none."""
    name: str = getattr(value, "__name__", "")
    parts: list[str] = (getattr(value, "__module__", None) or "").split(".")
    for n in range(1, len(parts) + 1):
        module = sys.modules.get(".".join(parts[:n]))
        if getattr(module, name, None) is value:
            return f"{'.'.join(parts[:n])}.{name}"
    return ""


def is_default(value: Any, default: Any) -> bool:
    """Return whether an argument is its default; estimators and arrays that are other objects are not."""
    return type(value) is type(default) and (
        value is default or (np.isscalar(value) and value == default)
    )
