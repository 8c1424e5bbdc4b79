"""Selectors and models by the names that `selector=` and `model=` have, for callers in Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from provlab.core.composition import part_config
from provlab.project.components import build


def selectors_by_name(methods: Any) -> Any:
    """Return a mapping of names to selectors, where names stand for files of conf/selector; all else as it is.

    Each that is asked for a number of features keeps half of the columns.

    Parameters
    ----------
    methods : mapping, sequence of str, or str
        Names to selectors or to names; names; or names as "f_test,mrmr".

    Raises
    ------
    ValueError
        A name that no selector has.
    """
    if isinstance(methods, str):
        methods = [name.strip() for name in methods.split(",")]
    if isinstance(methods, list | tuple) and all(isinstance(name, str) for name in methods):
        methods = {name: name for name in methods}
    if not isinstance(methods, Mapping):
        return methods
    return {title: _built("selector", method) for title, method in methods.items()}


def model_by_name(model: Any) -> Any:
    """Return the model of a file of conf/model, where a name stands for it; all else as it is."""
    return _built("model", model)


def _built(kind: str, component: Any) -> Any:
    if not isinstance(component, str):
        return component
    return build(kind, part_config(kind, ["dataset=file", f"{kind}='{component}'"]))
