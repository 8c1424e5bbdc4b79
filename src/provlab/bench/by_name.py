"""Selectors and models for callers in Python, by the names that `selector=` and `model=` accept."""

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
        A mapping of titles to selectors or to names, a sequence of names, or names separated by
        commas, such as "f_test,mrmr".

    Raises
    ------
    ValueError
        If a name is unknown.
    """
    if isinstance(methods, str):
        methods = [name.strip() for name in methods.split(",")]
    if isinstance(methods, list | tuple) and all(isinstance(name, str) for name in methods):
        methods = {name: name for name in methods}
    if not isinstance(methods, Mapping):
        return methods
    return {title: _built("selector", method) for title, method in methods.items()}


def model_by_name(model: Any) -> Any:
    """Return the model that a name in conf/model refers to; other values are returned unchanged."""
    return _built("model", model)


def _built(kind: str, component: Any) -> Any:
    if not isinstance(component, str):
        return component
    return build(kind, part_config(kind, ["dataset=file", f"{kind}='{component}'"]))
