"""Selectors and models by the names used in `selector=` and `model=`, for callers in Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from provlab.core.composition import part_config
from provlab.project.components import build


def selectors_by_name(methods: Any) -> Any:
    """Return a mapping of names to selectors; names refer to files of conf/selector, other values are unchanged.

    Each selector that takes a number of features keeps half of the columns.

    Parameters
    ----------
    methods : mapping, sequence of str, or str
        Names to selectors or to names; names; or names as "f_test,mrmr".

    Raises
    ------
    ValueError
        If no selector has a name.
    """
    if isinstance(methods, str):
        methods = [name.strip() for name in methods.split(",")]
    if isinstance(methods, list | tuple) and all(isinstance(name, str) for name in methods):
        methods = {name: name for name in methods}
    if not isinstance(methods, Mapping):
        return methods
    return {title: _built("selector", method) for title, method in methods.items()}


def model_by_name(model: Any) -> Any:
    """Return the model that a name of conf/model refers to; other values are unchanged."""
    return _built("model", model)


def _built(kind: str, component: Any) -> Any:
    if not isinstance(component, str):
        return component
    return build(kind, part_config(kind, ["dataset=file", f"{kind}='{component}'"]))
