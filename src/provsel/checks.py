"""Checks of parameters of estimators and loaders, which often come from a YAML file."""

from collections.abc import Collection, Mapping, Sequence
from math import inf
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray


def selected_mask(selector: Any) -> NDArray[np.bool_]:
    """Return the result of `get_support` of a fitted selector; raise a `ValueError` unless it is a boolean mask."""
    mask = np.asarray(selector.get_support())
    if mask.dtype != bool or mask.ndim != 1:
        raise ValueError(
            f"{type(selector).__name__}: expected a boolean mask from get_support, got {mask.ravel()[:5].tolist()} of "
            f"{mask.dtype} and shape {mask.shape}; return True for kept features and False for the others."
        )
    return mask


def check_positive(subject: str, **parameters: Any) -> None:
    """Raise a `ValueError` unless each of these is a positive and finite number, not a bool."""
    for name, value in parameters.items():
        if (
            isinstance(value, bool)
            or not isinstance(value, Real)
            or not 0 < float(value) < inf
        ):
            raise ValueError(
                f"{subject}: expected a positive, finite {name}, got {value!r:.80}."
            )


def check_integer(subject: str, parameter: str, value: object, *, minimum: int) -> None:
    """Raise a `ValueError` unless `value` is a whole number of at least `minimum`, not a bool."""
    if (
        isinstance(value, bool)
        or not isinstance(value, Integral)
        or int(value) < minimum
    ):
        raise ValueError(
            f"{subject}: {parameter} must be an integer of at least {minimum}, got {value!r}"
        )


def check_integers(
    subject: str, parameter_values: Mapping[str, Any], **minima: int
) -> None:
    """Raise a `ValueError` unless each of these parameters is a whole number of at least its minimum."""
    for parameter, minimum in minima.items():
        check_integer(subject, parameter, parameter_values[parameter], minimum=minimum)


def check_at_most(
    subject: str, parameter_values: Mapping[str, Any], parameter: str, limit: str
) -> None:
    """Raise a `ValueError` if a parameter is larger than another one."""
    value, largest = parameter_values[parameter], parameter_values[limit]
    if value > largest:
        raise ValueError(
            f"{subject}: {parameter} must be at most {limit}={largest}, got {value}. Lower it"
        )


def check_choice(
    subject: str, parameter: str, value: object, choices: Collection[str]
) -> None:
    """Raise a `ValueError` unless `value` is one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(
            f"{subject}: {parameter} must be one of {', '.join(choices)}, got {value!r}"
        )


def check_classes(subject: str, classes: object) -> list[int]:
    """Return `classes` as plain integers; raise a `ValueError` unless they are two or more distinct digits."""
    if isinstance(classes, str) or not isinstance(classes, Sequence):
        raise ValueError(
            f"{subject}: classes must be a list of digits such as [3, 8], or null, got {classes!r}"
        )
    for digit in classes:
        check_integer(subject, "each of classes", digit, minimum=0)
    kept = [int(digit) for digit in classes]
    if len(kept) < 2 or len(set(kept)) != len(kept) or max(kept) > 9:
        raise ValueError(
            f"{subject}: classes must hold at least two distinct digits from 0 to 9, got {kept}"
        )
    return kept
