"""What a project measures of its own in each trial, a metric or a theorem: its columns and values are checked here."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from provsel.certificates import THEOREMS, Measure

NAMES = frozenset(theorem.name for theorem in THEOREMS)
"""Of provsel's theorems: claims and tables call a theorem by its name."""


def check_columns(measure: type[Measure], known: Collection[str]) -> None:
    """Check what a class declares.

    Raises
    ------
    ValueError
        No columns, names that others have, or kinds that cannot be stored.
    """
    try:
        columns = measure.columns()
    except (AttributeError, NameError, TypeError) as error:
        raise ValueError(
            f"{measure.__name__}: expected fields annotated as float or str, and of a theorem a name, got {error}."
        ) from error
    if not columns:
        raise ValueError(f"{measure.__name__}: expected fields annotated as float or str, got none; add one.")
    for name, kind in columns.items():
        if not str(name).isidentifier() or name in known or name in NAMES or kind not in (float, str):
            raise ValueError(
                f"{measure.__name__}: expected columns that no other measure has, each float or str, got "
                f"{name!r:.80}: {getattr(kind, '__name__', kind)!s:.80}; rename it."
            )


def checked_values(measure: type[Measure], found: Any) -> dict[str, float | str | None]:
    """Return what a measure gave as values of its columns.

    Raises
    ------
    ValueError
        Another record than its own, or values of another kind.
    """
    if not isinstance(found, measure):
        raise ValueError(f"{measure.__name__}.measure: expected a {measure.__name__}, got {found!r:.80}.")
    kinds, values = measure.columns(), found.as_record()
    for column, value in values.items():
        if kinds[column] is float and isinstance(value, int | float | np.number):
            values[column] = float(value)
        elif value is not None and not (kinds[column] is str and isinstance(value, str)):
            raise ValueError(
                f"{measure.__name__}: expected {kinds[column].__name__} or None in column {column}, got {value!r:.80}."
            )
    return values
