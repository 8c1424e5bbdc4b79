"""Columns of a CSV, TSV or Parquet file that others wrote, as they are in it."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provsel.streams.sources import DAMAGED

SEPARATORS = {".csv": ",", ".tsv": "\t"}
FORMATS = (*SEPARATORS, ".parquet")

MISSING = ("", "na", "n/a", "nan", "null", "none")
"""Texts that stand for no number, in any case of letters."""

FIELD_LIMIT = 1_000_000
"""Letters of one cell; more is no table of results."""

Columns = dict[str, list[Any]]


def read_columns(path: Path) -> Columns:
    """Return the columns of a file by name, each with one value a line.

    Parameters
    ----------
    path : Path
        .csv or .tsv, UTF-8, with names in the first line; or .parquet. Texts stay texts: what is a number is said by
        who reads a column.

    Raises
    ------
    ValueError
        Another format; a damaged file; a column's name twice; lines of other lengths; no line.
    OSError
        When the file cannot be read.
    """
    ending = path.suffix.lower()
    if ending not in FORMATS:
        raise ValueError(f"{path}: expected a file ending in {', '.join(FORMATS)}, got {ending or 'none'}; convert it.")
    found, lines = _parquet(path) if ending == ".parquet" else _text(path, SEPARATORS[ending])
    names = [_name(name) for name in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"{path}: expected each column once, got {twice[0]!r:.80} twice; rename one.")
    if not lines:
        raise ValueError(f"{path}: expected lines of results, got none below the names of the columns.")
    return {name: [line[k] for line in lines] for k, name in enumerate(names)}


def numbers(path: Path, name: str, values: Sequence[Any]) -> NDArray[np.float64]:
    """Return the values of a column as numbers, shape (n_lines,); NaN where there is none.

    Raises
    ------
    ValueError
        Names the first line with something else.
    """
    found = np.empty(len(values))
    for k, value in enumerate(values):
        if value is None or (isinstance(value, str) and value.strip().lower() in MISSING):
            found[k] = math.nan
            continue
        try:
            found[k] = float(value)
        except (TypeError, ValueError):
            found[k] = math.inf
        if math.isinf(found[k]):
            raise ValueError(
                f"{path}: column {name}: expected a finite number or nothing, got {value!r:.80} in line {k + 1}."
            )
    return found


def texts(path: Path, name: str, values: Sequence[Any]) -> list[str]:
    """Return the values of a column as names.

    Raises
    ------
    ValueError
        Names the first line that has none.
    """
    found = ["" if value is None else _name(value) for value in values]
    if "" in found:
        raise ValueError(f"{path}: column {name}: expected a name, got none in line {found.index('') + 1}.")
    return found


def _name(value: Any) -> str:
    """Return a value as a name that a terminal shows and does not obey."""
    return "".join(letter if letter.isprintable() else "?" for letter in str(value).strip())


def _text(path: Path, separator: str) -> tuple[list[str], list[list[str]]]:
    csv.field_size_limit(FIELD_LIMIT)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = [line for line in csv.reader(file, delimiter=separator, strict=True) if line]
    except (csv.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: expected UTF-8 text with cells apart by {separator!r}, got {error}.") from error
    names = lines[0] if lines else []
    for number, line in enumerate(lines[1:], 1):
        if len(line) != len(names):
            raise ValueError(f"{path}: expected {len(names)} cells in each line, got {len(line)} in line {number}.")
    return names, lines[1:]


def _parquet(path: Path) -> tuple[list[str], list[tuple[Any, ...]]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(pa.BufferReader(path.read_bytes()))
        columns = [column.to_pylist() for column in table.columns]
    except DAMAGED as error:
        if getattr(error, "errno", None):
            raise
        raise ValueError(f"{path}: expected a sound Parquet file, got {error!s:.200}.") from error
    return table.column_names, [*zip(*columns, strict=True)]
