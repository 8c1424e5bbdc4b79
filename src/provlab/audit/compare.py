"""What is promised of a trial that is computed again, and whether it holds.

Compared are all columns of a record but times, memory, git revision and environment.

- **Same environment** (versions of Python and packages, kind of machine, BLAS with its core type, vector instructions,
  libm): every value has the same bits. NaN equals NaN, and a null is no number. What else ran in the task, on which
  executor, does not matter.
- **Another environment**: what follows from the config alone is the same: key, cell, data, seeds, folds, sizes. Floats
  agree to the stated digits, because sums are rounded in another order. The content of data that are generated may have
  other bits, which is reported and breaks no promise. Selected features and all counts, and the states of certificates,
  are expected to be the same, but nobody can promise it: a difference in the last digit decides ties between features,
  and which row is a support vector. Where that happens the trial is "different"; one looks at the values to see whether
  it was a tie. `agreement` counts all this by column.

A column that the writer of a record did not know (an older schema) is not compared, and is counted.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from provlab.store import SCHEMA, VOLATILE

IDENTICAL, CLOSE, DIFFERENT = "identical", "close", "different"
OUTCOMES = (IDENTICAL, CLOSE, DIFFERENT)

PLACE = ("environment", "git_revision")
"""Columns that say where a record was computed, not what came out."""

COMPARED = tuple(name for name in SCHEMA.names if name not in {*VOLATILE, *PLACE})

REPORTED = ("content",)
"""Columns that may differ between kinds: exp of generated data has another last digit on another processor."""

DIGITS = 6
"""Promised between kinds. Rounding in another order moves sums of up to 1e6 terms by about 1e-16 * 1e6 at worst and by
1e-13 in practice; solvers with a tolerance and inverses of badly conditioned Gram matrices amplify that, so half of the
16 digits are given away and not more. `error` is a count over `n_test` < 1e6 rows: to these digits it is the same
count, and one row that is classified otherwise is a difference."""

SMALLEST = 1e-3
"""What is smaller counts as this large: some values are zero but for rounding, such as the spectral error where nothing
is left out, and have no digits of their own. Certificates and errors are of the order of 1."""

SHOWN = 80
"""Characters of a value that a difference shows at most."""


@dataclass(frozen=True)
class Difference:
    """A column that is not the same, with both values as text."""

    column: str
    stored: str
    now: str


def is_same_environment(stored: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Tell whether two records come from the same versions on the same kind of machine."""
    return stored["environment"] is not None and stored["environment"] == now["environment"]


def compare(
    stored: Mapping[str, Any], now: Mapping[str, Any], absent: Collection[str] = ()
) -> tuple[str, tuple[Difference, ...]]:
    """Return the outcome, and the columns whose bits differ.

    Parameters
    ----------
    stored, now : mapping
        Records with all columns of the schema, in its types.
    absent : collection of str
        Columns that the stored record's writer did not know.
    """
    names = [name for name in compared(now) if name not in absent and not same_bits(stored.get(name), now[name])]
    differences = tuple(Difference(name, *_shown(stored.get(name), now[name])) for name in names)
    if not names:
        return IDENTICAL, ()
    if is_same_environment(stored, now) or not all(is_close(name, stored.get(name), now[name]) for name in names):
        return DIFFERENT, differences
    return CLOSE, differences


def compared(record: Mapping[str, Any]) -> list[str]:
    """Return the columns of a record that are compared: `COMPARED`, and those of the project's own measures."""
    return [*COMPARED, *(name for name in record if name not in SCHEMA.names)]


def same_bits(stored: Any, now: Any) -> bool:
    """Tell whether two values are the same: floats by their bits, any NaN as one."""
    return bool(_bits(stored) == _bits(now))


def _bits(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    return "nan" if math.isnan(value) else struct.pack("<d", value)


def is_close(column: str, stored: Any, now: Any) -> bool:
    """Tell whether two values of a column are what is promised between kinds."""
    return column in REPORTED or same_bits(stored, now) or relative_difference(stored, now) <= 10**-DIGITS


def relative_difference(stored: Any, now: Any) -> float:
    """Return the difference relative to the larger, which counts as `SMALLEST` at least; inf if not of two numbers."""
    if not (isinstance(stored, float) and isinstance(now, float) and math.isfinite(stored) and math.isfinite(now)):
        return math.inf
    return abs(stored - now) / max(abs(stored), abs(now), SMALLEST)


def _shown(stored: Any, now: Any) -> tuple[str, str]:
    if isinstance(stored, list) and isinstance(now, list):
        # of a thousand features one wants to know how many, and where they part
        place = next((k for k, (a, b) in enumerate(zip(stored, now, strict=False)) if a != b), None)
        return _list_text(stored, place), _list_text(now, place)
    return _cut(repr(stored)), _cut(repr(now))


def _list_text(values: list[Any], place: int | None) -> str:
    return f"{len(values)} values" if place is None else f"{len(values)} values, at {place}: {values[place]!r}"


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."
