"""Class weights given by the labels of the data, as in scikit-learn, for models that learn integer codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from provlab.core.protocols.base import Method
from provlab.data import Classes

NAME = "class_weight"


def method_by_codes(method: Method, classes: Classes | None) -> Method:
    """Return a method with `class_weight` of its selector and model keyed by class codes, at any depth."""
    if classes is None:
        return method
    codes = _codes_by_text(classes)
    selector: Any = _by_codes(method.selector, codes)
    model: Any = _by_codes(method.model, codes)
    return replace(method, selector=selector, model=model)


def model_by_codes(model: Any, classes: Classes | None) -> Any:
    """Return an unfitted copy of an estimator with `class_weight` keyed by class codes, at any depth."""
    from sklearn.base import clone

    copy = clone(model)
    if classes is not None:
        parameters = copy.get_params(deep=True)
        weights = {
            name: value
            for name, value in parameters.items()
            if name.rpartition("__")[2] == NAME
        }
        codes = _codes_by_text(classes)
        copy.set_params(
            **{name: _weights(value, codes) for name, value in weights.items()}
        )
    return copy


def _codes_by_text(classes: Classes) -> dict[str, int]:
    pairs = zip(classes.labels.tolist(), classes.codes.tolist(), strict=True)
    return {str(label): int(code) for label, code in pairs}


def _by_codes(config: Any, codes: Mapping[str, int]) -> Any:
    if isinstance(config, Mapping):
        changed = {}
        for name, value in config.items():
            is_weights = str(name).rpartition("__")[2] == NAME
            changed[name] = (
                _weights(value, codes) if is_weights else _by_codes(value, codes)
            )
        return changed
    if isinstance(config, list | tuple):
        return [_by_codes(value, codes) for value in config]
    return config


def _weights(value: Any, codes: Mapping[str, int]) -> Any:
    """Return weights by class code, for each element of a list in a grid; other forms are unchanged."""
    if isinstance(value, Mapping):
        return {codes.get(str(label), label): weight for label, weight in value.items()}
    if isinstance(value, list):
        return [_weights(weights, codes) for weights in value]
    return value
