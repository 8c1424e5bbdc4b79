"""Promised agreement of a trial that is recomputed, and its check for two tables of trials.

Times, memory, git revision and environment are not compared.

- **The same environment** (versions of Python and packages, kind of machine, BLAS with
  its core type, vector instructions, libm): every value has the same bits. NaN equals
  NaN, and a null is not a number.
- **Another environment**: everything that follows from the config alone is the same:
  key, cell, data, seeds, folds and
sizes. Floats agree to `DIGITS`, because sums are rounded in another order. Generated
data may have different bits, which is reported but breaks no promise. Selected
features, counts and states of certificates are expected to be the same. A difference in
the last digit can decide a tie, however. The trial is then "different", and its values
show whether it was a tie.
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

IDENTICAL = "identical"
CLOSE = "close"
DIFFERENT = "different"
OUTCOMES = (IDENTICAL, CLOSE, DIFFERENT)

COMPUTED_BY = ("environment", "git_revision")
"""Columns that describe where a record was computed, not its results."""

COMPARED = tuple(name for name in SCHEMA.names if name not in {*VOLATILE, *COMPUTED_BY})
"""Columns of every record that are compared, in addition to the project's own measures, see `compared_columns`."""

LATER = ("feature_names", "coefficients")
"""Columns that records of earlier versions lack, and that are compared if they are stored."""

REPORTED = ("content", "coefficients")
"""Columns that may differ between environments, because exp of generated data has a different last digit on another
processor, and a solver stops at its tolerance.
"""

DIGITS = 6
"""Digits promised between environments. Rounding in another order changes sums of up to 1e6 terms by about 1e-16 * 1e6
at worst and by 1e-13 in practice. Solvers with a tolerance and inverses of badly conditioned Gram matrices amplify
that, so half of the 16 digits are promised. `error` is a count over `n_test` < 1e6 rows. To these digits it is the same
count, and one row classified differently is a difference.
"""

SMALLEST = 1e-3
"""Smaller values count as this large, because some values are zero up to rounding, such as the spectral error if
nothing is left out, and have no meaningful digits. Certificates and errors are of order 1.
"""


def compared_columns(columns: Iterable[str]) -> list[str]:
    """Return the columns that are compared, of all columns of the records."""
    return [*COMPARED, *(name for name in columns if name not in SCHEMA.names)]


def differences(stored: pa.Table, now: pa.Table, names: Sequence[str]) -> pd.DataFrame:
    """Compare two tables of the same trials row by row, and return a row for each value with different bits.

    Any NaN equals any other, and null equals only null.

    Returns
    -------
    DataFrame
        Columns row, column, the values stored and now, relative, and beyond. relative
        is the difference of two finite numbers relative to the larger one, which counts
        as at least `SMALLEST`; otherwise it is inf. beyond states whether relative
        exceeds the promise between environments.
    """
    lines: list[tuple[Any, ...]] = []
    for name in names:
        before, after = (
            pa.chunked_array([pa.nulls(len(now), now[name].type)]),
            now[name],
        )
        if name in stored.column_names:
            before = stored[name]
        differs = ~_same_bits(before, after)
        if name in LATER:
            differs &= before.is_valid().to_numpy()
        rows = np.flatnonzero(differs)
        pairs = zip(
            before.take(pa.array(rows)).to_pylist(),
            after.take(pa.array(rows)).to_pylist(),
            strict=True,
        )
        for row, (first, second) in zip(rows.tolist(), pairs, strict=True):
            lines.append((row, name, first, second, _relative(first, second)))
    frame = pd.DataFrame(
        lines, columns=["row", "column", "stored", "now", "relative"], dtype=object
    )
    frame = frame.astype({"row": int, "column": str, "relative": float})
    return frame.assign(
        beyond=(frame["relative"] > 10**-DIGITS) & ~frame["column"].isin(REPORTED)
    )


def outcomes(
    stored: pa.Table, now: pa.Table, lines: pd.DataFrame
) -> NDArray[np.object_]:
    """Return one of `OUTCOMES` for each row, from the lines of `differences`."""
    result = np.full(len(now), IDENTICAL, dtype=object)
    result[lines["row"]] = CLOSE
    same = is_same_environment(stored, now)
    result[lines["row"][lines["beyond"] | same[lines["row"]]]] = DIFFERENT
    return result


def short_texts(stored: Any, now: Any) -> tuple[str, str]:
    """Return two values as short strings; long lists are shown by their lengths and the first difference."""
    if not (isinstance(stored, list) and isinstance(now, list)):
        return _shortened(stored), _shortened(now)
    texts = [f"{len(stored)} values", f"{len(now)} values"]
    for k, pair in enumerate(zip(stored, now, strict=False)):
        if pair[0] != pair[1]:
            return (
                f"{texts[0]}, at {k}: {pair[0]!r}",
                f"{texts[1]}, at {k}: {pair[1]!r}",
            )
    return texts[0], texts[1]


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _same_bits(before: pa.ChunkedArray, after: pa.ChunkedArray) -> NDArray[np.bool_]:
    if before.type != after.type:
        return np.zeros(len(before), dtype=bool)
    if pa.types.is_list(before.type):
        before = pc.binary_join(pc.cast(before, pa.list_(pa.string())), " ")
        after = pc.binary_join(pc.cast(after, pa.list_(pa.string())), " ")
    if pa.types.is_floating(before.type):
        first, second = before.to_numpy(), after.to_numpy()  # null as NaN
        equal = (first.view(np.int64) == second.view(np.int64)) | (
            np.isnan(first) & np.isnan(second)
        )
    else:
        equal = pc.fill_null(pc.equal(before, after), True).to_numpy()
    is_valid = pc.is_valid(before).to_numpy()
    return (is_valid == pc.is_valid(after).to_numpy()) & (~is_valid | equal)


def _relative(stored: Any, now: Any) -> float:
    if isinstance(stored, list) and isinstance(now, list) and len(stored) == len(now):
        return max(map(_relative, stored, now), default=0.0)
    if not (
        isinstance(stored, float)
        and isinstance(now, float)
        and math.isfinite(stored)
        and math.isfinite(now)
    ):
        return math.inf
    return abs(stored - now) / max(abs(stored), abs(now), SMALLEST)


def is_same_environment(stored: pa.Table, now: pa.Table) -> NDArray[np.bool_]:
    """Return, row by row, whether records come from the same versions on the same kind of machine."""
    same: NDArray[np.bool_] = pc.fill_null(
        pc.equal(stored["environment"], now["environment"]), False
    ).to_numpy()
    return same


def digits(worst: float) -> int:
    """Return the decimal digits to which numbers agree if their largest relative difference is above 0; at most 16."""
    return min(math.floor(-math.log10(worst)), 16)
