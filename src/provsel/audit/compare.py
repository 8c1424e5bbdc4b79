"""What is promised of a trial that is computed again, and whether it holds.

Compared are all columns of a record but times, memory, git revision and environment.

- **Same environment** (versions of Python and packages, kind of machine, BLAS with its core type): every value has the
  same bits. NaN equals NaN, and a null is no number. What else ran in the task, on which executor, does not matter.
- **Another environment**: what follows from the config and the data alone is the same: key, cell, seeds, folds, sizes.
  Floats agree to the stated digits, because sums are rounded in another order. Selected features and all counts, and
  the states of certificates, are expected to be the same, but nobody can promise it: a difference in the last digit
  decides ties between features, and which row is a support vector. Where that happens the trial is "different"; one
  looks at the values to see whether it was a tie.

A column that the writer of a record did not know (an older schema) is not compared, and is counted.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from provsel.store import SCHEMA, VOLATILE

IDENTICAL, CLOSE, DIFFERENT = "identical", "close", "different"
OUTCOMES = (IDENTICAL, CLOSE, DIFFERENT)

PLACE = ("environment", "git_revision")
"""Columns that say where a record was computed, not what came out."""

COMPARED = tuple(name for name in SCHEMA.names if name not in {*VOLATILE, *PLACE})

RELATIVE = 1e-6
"""Digits in another environment. Rounding in another order moves sums of up to 1e6 terms by about 1e-16 * 1e6 at worst
and by 1e-13 in practice; solvers with a tolerance and inverses of badly conditioned Gram matrices amplify that, so half
of the 16 digits are given away and not more. `error` is a count over `n_test` < 1e6 rows: to these digits it is the
same count, and one row that is classified otherwise is a difference."""

ABSOLUTE = 1e-9
"""For values that are zero but for rounding, such as the spectral error where nothing is left out; certificates and
errors are of the order of 1."""

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
    names = [name for name in COMPARED if name not in absent and _bits(stored[name]) != _bits(now[name])]
    differences = tuple(Difference(name, *_shown(stored[name], now[name])) for name in names)
    if not names:
        return IDENTICAL, ()
    if is_same_environment(stored, now) or not all(_is_close(stored[name], now[name]) for name in names):
        return DIFFERENT, differences
    return CLOSE, differences


def _bits(value: Any) -> Any:
    """Return what two equal values share: a float's bits, any NaN as one."""
    if not isinstance(value, float):
        return value
    return "nan" if math.isnan(value) else struct.pack("<d", value)


def _is_close(stored: Any, now: Any) -> bool:
    both = isinstance(stored, float) and isinstance(now, float)
    return both and math.isclose(stored, now, rel_tol=RELATIVE, abs_tol=ABSOLUTE)


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
