"""Tables of text with far more columns than rows: pandas takes a while for each column, and reads these as a few.

All numbers of many columns are read as one long column, by the same parser, and so with the same bits.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

WIDE = 20_000
"""Columns from which on a table is read so."""

CELLS = 10_000_000
"""Cells up to which it is: each is a text in memory."""

BLOCK = 4000
"""Columns that are read as one: where one of them has texts, all are read one by one."""

WHOLE = re.compile(r"-?\d{1,15}", re.ASCII)
LONGER = re.compile(r"[+-]?\d+", re.ASCII)


def rows_of(lines: Iterable[str], sep: str, header: int | None) -> tuple[list[str], list[list[str]]] | None:
    """Return names and rows of a table; None where names are missing or alike, or rows are of several lengths."""
    rows = [fields for fields in csv.reader(lines, delimiter=sep, skipinitialspace=True) if fields]
    if not rows or len({*map(len, rows[header or 0 :])}) != 1:
        return None
    if header is None:
        return [str(k) for k in range(1, len(rows[0]) + 1)], rows
    names = [name.strip() for name in rows[header]]
    if "" in names or len({*names}) < len(names):
        return None
    return names, rows[header + 1 :]


def read_wide(rows: Sequence[Sequence[str]], **options: Any) -> Any:
    """Return rows of texts as the frame that pandas reads of them with these options, with numbers as names."""
    import pandas as pd

    columns = [*zip(*rows, strict=True)]
    whole: list[int] = []
    apart: list[int] = []
    numbers: list[int] = []
    for k, cells in enumerate(columns):
        if all(map(WHOLE.fullmatch, cells)):
            whole.append(k)
        elif all(map(LONGER.fullmatch, cells)):
            apart.append(k)
        else:
            numbers.append(k)
    parts = []
    if whole:
        values = np.array([[int(cell) for cell in columns[k]] for k in whole], dtype=np.int64)
        parts.append(pd.DataFrame(values.T, columns=whole))
    for start in range(0, len(numbers), BLOCK):
        block = numbers[start : start + BLOCK]
        part = _as_one(columns, block, options)
        if part is None:
            apart += block
        else:
            parts.append(part)
    if apart:
        text = io.StringIO()
        csv.writer(text, delimiter=options["sep"]).writerows(zip(*(columns[k] for k in apart), strict=True))
        text.seek(0)
        parts.append(pd.read_csv(text, header=None, names=apart, low_memory=False, index_col=False, **options))
    return pd.concat(parts, axis=1).reindex(columns=range(len(columns)))


def _as_one(columns: Sequence[Sequence[str]], block: Sequence[int], options: dict[str, Any]) -> Any:
    """Return columns of real numbers, read as one; None where some cell is no number."""
    import pandas as pd

    n = len(columns[block[0]])
    text = "\n".join(cell for k in block for cell in columns[k])
    try:
        one = pd.read_csv(io.StringIO(text + "\n"), header=None, skip_blank_lines=False, low_memory=False, **options)
    except ValueError:  # a separator in a cell
        return None
    if one.shape != (n * len(block), 1) or one.dtypes.iloc[0] != np.float64:
        return None
    return pd.DataFrame(one.to_numpy().reshape(len(block), n).T, columns=[*block])
