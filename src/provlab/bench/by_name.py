"""Selectors, models and preparations for callers in Python, by the names that the command line accepts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from provlab.core.composition import part_config
from provlab.project.components import build


def selectors_by_name(methods: Any) -> Any:
    """Return a mapping of names to selectors.

    Strings name files of conf/selector; other values are returned unchanged.

    Selectors found by name keep half of the columns if they take a number of features.

    Parameters
    ----------
    methods : mapping, sequence of str, or str
        A mapping of titles to selectors or to names, a sequence of names, or names
        separated by commas, such as "f_test,mrmr".

    Raises
    ------
    ValueError
        If a name is unknown.
    """
    if isinstance(methods, str):
        methods = [name.strip() for name in methods.split(",")]
    if isinstance(methods, list | tuple) and all(
        isinstance(name, str) for name in methods
    ):
        methods = {name: name for name in methods}
    if not isinstance(methods, Mapping):
        return methods
    return {title: named("selector", method) for title, method in methods.items()}


def named(kind: str, component: Any) -> Any:
    """Return the estimator that a name in conf/KIND refers to; other values are returned unchanged."""
    if not isinstance(component, str):
        return component
    return built(kind, part_config(kind, ["dataset=file", f"{kind}='{component}'"]))


def built(kind: str, config: Mapping[str, Any]) -> Any:
    """Return the estimator that a config describes; None for a preparation of none."""
    return None if config.get("_target_", "") is None else build(kind, config)
