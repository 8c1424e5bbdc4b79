"""Checks of loader parameters, which often come from a YAML file."""

from collections.abc import Collection
from numbers import Integral


def check_integer(subject: str, parameter: str, value: object, *, minimum: int) -> None:
    """Raise a `ValueError` unless `value` is a whole number, no truth value, of at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < minimum:
        raise ValueError(f"{subject}: {parameter} must be an integer of at least {minimum}, got {value!r}")


def check_choice(subject: str, parameter: str, value: object, choices: Collection[str]) -> None:
    """Raise a `ValueError` unless `value` is one of `choices`."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{subject}: {parameter} must be one of {', '.join(choices)}, got {value!r}")
