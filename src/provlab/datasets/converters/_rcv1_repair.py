"""One of the five public samples of RCV1-v2, with the label columns of a half moved back to where they belong.

A sample is a data frame of 6,000 documents in R: the features `Att1`, ..., the labels `Class1` to `Class101` and two
columns more. It was joined from two halves, of which one lacked its last columns of features: there the labels begin
some columns early, in the last features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from provlab.datasets._r_data import Doubles, RVector, read_r_data

from ._rcv1_topics import CODES, parent

ROWS = 6000
_NORM = 1e-4  # that the length of a row may differ from 1, as its weights are rounded


@dataclass(frozen=True)
class Shift:
    """What is wrong with a sample of `width` columns of features: where labels begin how many `columns` early.

    In the rows from `start` to `stop`, without the last.
    """

    width: int
    start: int
    stop: int
    columns: int


class Sample(NamedTuple):
    """A sample repaired, with N entries: their rows and columns, sorted by row, then column; values; topics."""

    rows: NDArray[np.int32]  # (N,)
    columns: NDArray[np.int32]  # (N,)
    values: NDArray[np.float64]  # (N,)
    topics: NDArray[np.bool_]  # (6000, 101)


def read_sample(path: Path, shift: Shift) -> Sample:
    """Return a sample as it was meant.

    Raises
    ------
    ValueError
        For another file, and unless what was moved is 1 everywhere, nothing is left over behind it, the file's own
        counts of labels agree, every row has length 1, and every document of a topic has the topic above as well.
    """
    columns = _columns(path, shift.width)
    entries = _Entries.of(columns[: shift.width + len(CODES)])
    counts = columns[shift.width + len(CODES)]
    in_labels = entries.columns >= shift.width
    found = np.bincount(entries.rows[in_labels], minlength=ROWS)
    expected = np.zeros(ROWS)
    expected[counts.positions] = counts.values
    _require(path, (found == expected).all(), "as many labels in each row as its .labelcount")

    moved = (
        (entries.rows >= shift.start) & (entries.rows < shift.stop) & (entries.columns >= shift.width - shift.columns)
    )
    is_label = in_labels | moved
    _require(path, (entries.values[is_label] == 1).all(), "labels of exactly 0 or 1")
    at = entries.columns[is_label] - shift.width + shift.columns * moved[is_label]
    _require(path, (at < len(CODES)).all(), f"no labels in the last {shift.columns} columns of the shifted half")
    topics = np.zeros((ROWS, len(CODES)), dtype=bool)
    topics[entries.rows[is_label], at] = True
    for code in CODES:
        above = parent(code)
        if above is not None:
            wrong = topics[:, CODES.index(code)] & ~topics[:, CODES.index(above)]
            _require(path, not wrong.any(), f"topic {above} wherever {code} is")

    rows, cols, values = entries.rows[~is_label], entries.columns[~is_label], entries.values[~is_label]
    _require(path, ((values > 0) & (values < 1 + _NORM)).all(), "weights from 0 to 1")  # NaN is none
    norms = np.bincount(rows, values * values, minlength=ROWS)
    _require(path, (np.abs(norms - 1) < _NORM).all(), "rows of length 1")
    order = np.lexsort((cols, rows))
    return Sample(rows[order], cols[order], values[order], topics)


class _Entries(NamedTuple):
    rows: NDArray[np.int32]
    columns: NDArray[np.int32]
    values: NDArray[np.float64]

    @classmethod
    def of(cls, columns: Sequence[Doubles]) -> _Entries:
        """Return the non-zero entries of the columns of a frame."""
        lengths = [column.positions.size for column in columns]
        return cls(
            np.concatenate([column.positions for column in columns]),
            np.repeat(np.arange(len(columns), dtype=np.int32), lengths),
            np.concatenate([column.values for column in columns]),
        )


def _columns(path: Path, width: int) -> list[Doubles]:
    """Return the columns of the data frame in a file."""
    objects = read_r_data(path)
    whole = _field(path, next(iter(objects.values()), None), "dataset")
    names = [
        *(f"Att{i}" for i in range(1, width + 1)),
        *(f"Class{i}" for i in range(1, len(CODES) + 1)),
        *(".labelcount", ".SCUMBLE"),
    ]
    _require(path, _names(whole) == names, f"the columns Att1 to Att{width}, Class1 to Class{len(CODES)} and two more")
    columns = [column.values for column in whole.values if isinstance(column, RVector)]
    right = [column for column in columns if isinstance(column, Doubles) and column.length == ROWS]
    _require(path, len(right) == len(whole.values) == len(names), f"columns of {ROWS} numbers")
    return right


def _field(path: Path, found: Any, name: str) -> RVector:
    """Return the list that a list holds under a name."""
    names = _names(found)
    _require(path, name in names and len(names) == len(found.values), f"a list with {name}")
    inner: RVector = found.values[names.index(name)]
    _require(path, isinstance(inner, RVector) and isinstance(inner.values, list), f"a list under {name}")
    return inner


def _names(found: Any) -> list[Any]:
    """Return the names of the entries of a list, none where it has none."""
    if not isinstance(found, RVector) or not isinstance(found.values, list):
        return []
    names = found.attributes.get("names")
    return names.values if isinstance(names, RVector) and isinstance(names.values, list) else []


def _require(path: Path, condition: object, expected: str) -> None:
    if not condition:
        raise ValueError(f"{path}: expected {expected}, got something else. It is another file or damaged: replace it")
