"""What is promised of a trial that is computed again or by somebody else, and whether two tables of trials keep it.

Times, memory, git revision and environment are not compared.

- **The same environment** (versions of Python and packages, kind of machine, BLAS with its core type, vector
  instructions, libm): every value has the same bits. NaN equals NaN, and a null is no number.
- **Another environment**: what follows from the config alone is the same: key, cell, data, seeds, folds, sizes. Floats
  agree to `DIGITS`, because sums are rounded in another order. The content of generated data may have other bits,
  which is reported and breaks no promise. Selected features, counts and states of certificates are expected to be the
  same, but a difference in the last digit decides ties: where that happens the trial is "different", and its values
  tell whether it was a tie.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from provlab.core.store import SCHEMA, VOLATILE

IDENTICAL, CLOSE, DIFFERENT = OUTCOMES = ("identical", "close", "different")

PLACE = ("environment", "git_revision")
"""Columns that say where a record was computed, not what came out."""

COMPARED = tuple(name for name in SCHEMA.names if name not in {*VOLATILE, *PLACE})
"""Columns of every record that are compared; so are those of the project's own measures, see `compared_columns`."""

LATER = ("feature_names", "coefficients")
"""Columns that records of earlier versions lack: they are compared where they are stored."""

REPORTED = ("content", "coefficients")
"""Columns that may differ between kinds: exp of generated data has another last digit on another processor, and a
solver stops at its tolerance."""

DIGITS = 6
"""Promised between kinds. Rounding in another order moves sums of up to 1e6 terms by about 1e-16 * 1e6 at worst and by
1e-13 in practice; solvers with a tolerance and inverses of badly conditioned Gram matrices amplify that, so half of the
16 digits are given away and not more. `error` is a count over `n_test` < 1e6 rows: to these digits it is the same
count, and one row that is classified otherwise is a difference."""

SMALLEST = 1e-3
"""What is smaller counts as this large: some values are zero but for rounding, such as the spectral error where nothing
is left out, and have no digits of their own. Certificates and errors are of the order of 1."""


def compared_columns(columns: Iterable[str]) -> list[str]:
    """Return the columns of records that are compared, of all that they have."""
    return [*COMPARED, *(name for name in columns if name not in SCHEMA.names)]


def differences(stored: pa.Table, now: pa.Table, names: Sequence[str]) -> pd.DataFrame:
    """Return a line for each value that has other bits in two tables of the same trials, row by row.

    Any NaN is the same as any other, and null only as null.

    Returns
    -------
    DataFrame
        row; column; stored and now, the values; relative, the difference of two finite numbers relative to the larger,
        which counts as `SMALLEST` at least, else inf; beyond, whether that is more than is promised between kinds.
    """
    lines: list[tuple[Any, ...]] = []
    for name in names:
        first = stored[name] if name in stored.column_names else pa.chunked_array([pa.nulls(len(now), now[name].type)])
        rows = np.flatnonzero(~_same_bits(first, now[name]) & (first.is_valid().to_numpy() | (name not in LATER)))
        pairs = zip(first.take(pa.array(rows)).to_pylist(), now[name].take(pa.array(rows)).to_pylist(), strict=True)
        lines += [(row, name, *pair, _relative(*pair)) for row, pair in zip(rows.tolist(), pairs, strict=True)]
    found = pd.DataFrame(lines, columns=["row", "column", "stored", "now", "relative"], dtype=object)
    found = found.astype({"row": int, "column": str, "relative": float})
    return found.assign(beyond=(found["relative"] > 10**-DIGITS) & ~found["column"].isin(REPORTED))


def outcomes(stored: pa.Table, now: pa.Table, lines: pd.DataFrame) -> NDArray[np.object_]:
    """Return one of `OUTCOMES` for each row, from what `differences` found."""
    found = np.full(len(now), IDENTICAL, dtype=object)
    found[lines["row"]] = CLOSE
    same = is_same_environment(stored, now)
    found[lines["row"][lines["beyond"] | same[lines["row"]]]] = DIFFERENT
    return found


def short_texts(stored: Any, now: Any) -> tuple[str, ...]:
    """Return two values as short texts: of a thousand features, how many, and where the lists part."""
    if not (isinstance(stored, list) and isinstance(now, list)):
        return tuple(text if len(text := repr(value)) <= 80 else f"{text[:77]}..." for value in (stored, now))
    place = next((k for k, (a, b) in enumerate(zip(stored, now, strict=False)) if a != b), None)
    at = ["" if place is None else f", at {place}: {values[place]!r}" for values in (stored, now)]
    return tuple(f"{len(values)} values{text}" for values, text in zip((stored, now), at, strict=True))


def _same_bits(first: pa.ChunkedArray, second: pa.ChunkedArray) -> NDArray[np.bool_]:
    if first.type != second.type:
        return np.zeros(len(first), dtype=bool)
    if pa.types.is_list(first.type):
        first, second = (pc.binary_join(pc.cast(each, pa.list_(pa.string())), " ") for each in (first, second))
    known = [pc.is_valid(column).to_numpy() for column in (first, second)]
    if pa.types.is_floating(first.type):
        values = [column.to_numpy() for column in (first, second)]  # null as NaN
        equal = (values[0].view(np.int64) == values[1].view(np.int64)) | (np.isnan(values[0]) & np.isnan(values[1]))
    else:
        equal = pc.fill_null(pc.equal(first, second), True).to_numpy()
    return (known[0] == known[1]) & (~known[0] | equal)


def _relative(stored: Any, now: Any) -> float:
    if isinstance(stored, list) and isinstance(now, list) and len(stored) == len(now):
        return max((_relative(*pair) for pair in zip(stored, now, strict=True)), default=0.0)
    if not (isinstance(stored, float) and isinstance(now, float) and math.isfinite(stored) and math.isfinite(now)):
        return math.inf
    return abs(stored - now) / max(abs(stored), abs(now), SMALLEST)


def is_same_environment(stored: pa.Table, now: pa.Table) -> NDArray[np.bool_]:
    """Tell row by row whether records come from the same versions on the same kind of machine."""
    same: NDArray[np.bool_] = pc.fill_null(pc.equal(stored["environment"], now["environment"]), False).to_numpy()
    return same


def digits(worst: float) -> int:
    """Return the decimal digits to which numbers agree whose largest relative difference is above 0; at most 16."""
    return min(math.floor(-math.log10(worst)), 16)
