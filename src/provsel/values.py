"""Equality of records by value, where NaN equals NaN."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any


class ValuesWithNaN:
    """Base of dataclasses with numbers that can be NaN; these use `eq=False` to keep its `==`.

    The generated `==` of a dataclass treats NaN as equal only for the same object
    before Python 3.13, and never since.
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
"""Replaces every NaN, because it is equal to itself and has one hash, unlike NaN."""


def _comparable(value: Any) -> Any:
    if isinstance(value, ValuesWithNaN):
        names = [field.name for field in fields(value) if field.compare]  # type: ignore[arg-type]
        return (value.__class__, *(_comparable(getattr(value, name)) for name in names))
    if isinstance(value, tuple):
        return tuple(map(_comparable, value))
    if isinstance(value, Mapping):
        return {name: _comparable(inner) for name, inner in value.items()}
    return _NAN if isinstance(value, float) and math.isnan(value) else value
