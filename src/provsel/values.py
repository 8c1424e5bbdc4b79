"""Records are equal if their values are, and a number missing in both makes no difference."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any


class ValuesWithNaN:
    """Base of dataclasses with numbers that can be NaN; these use `eq=False`, or they would get an `==` of their own.

    The `==` of a dataclass treats two NaN as equal if they are one object, before Python 3.13, and never since then.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        """Compare field by field; NaN is equal to NaN, within tuples and mappings as well."""
        if other.__class__ is not self.__class__:
            return NotImplemented
        return bool(_comparable(self) == _comparable(other))

    def __hash__(self) -> int:
        """Return the same hash for equal records."""
        return hash(_comparable(self))


_NAN = object()
"""Replaces every NaN: equal to itself, with a single hash, while floats with that value have different hashes."""


def _comparable(value: Any) -> Any:
    if isinstance(value, ValuesWithNaN):
        names = [field.name for field in fields(value) if field.compare]  # type: ignore[arg-type]
        return (value.__class__, *(_comparable(getattr(value, name)) for name in names))
    if isinstance(value, tuple):
        return tuple(map(_comparable, value))
    if isinstance(value, Mapping):
        return {name: _comparable(inner) for name, inner in value.items()}
    return _NAN if isinstance(value, float) and math.isnan(value) else value
