"""Checks of untrusted records: their trials, and the ranges of their numbers.

A store checks both when it reads a file, so readers of the store need not. A record
with a valid key can still contain any number in its range, which only an audit detects.
"""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from provlab.core.keys import trial_keys
from provlab.core.protocols import COLUMNS
from provlab.project.documents import MAX_CONFIG_DEPTH, digest_of, parse_json

NUMBERS = ("repeat", "fold", "draw")
"""Columns that identify a trial within its cell."""

IDENTITY = ("key", "cell", "data", "config", *NUMBERS)
"""Columns that identify the trial of a record; all others follow from these or are measured."""

ROUNDING = 1e-6
"""Tolerance for numbers outside their range, because packed trials have single precision."""

RANGES = {
    column.name: (column.low, column.high)
    for column in COLUMNS
    if math.isfinite(column.low) or math.isfinite(column.high)
}
"""Smallest and largest value of each column with a range; see `outside` for NaN."""


def outside(values: NDArray[Any], low: float, high: float) -> NDArray[np.bool_]:
    """Return a mask of values outside a range; NaN is outside a finite range, because unknown shares are null."""
    # the upper end would be infinite in single precision
    numbers = values.astype(float)
    beyond = (numbers < low - ROUNDING) | (numbers > high + ROUNDING)
    if math.isfinite(low) and math.isfinite(high):
        beyond |= np.isnan(numbers)
    return beyond


def range_text(low: float, high: float) -> str:
    """Return a description of a range."""
    if low == -math.inf:
        return f"values up to {high:g}"
    if high >= np.finfo(float).max:
        return f"{'finite ' * math.isfinite(high)}values of at least {low:g}"
    return f"values from {low:g} to {high:g}"


def check_ranges(records: pa.Table, subject: str) -> None:
    """Raise if records have an impossible number in any column.

    Parameters
    ----------
    records : Table
        Columns of records by name.
    subject : str
        Origin of the records for the message.

    Raises
    ------
    ValueError
        If there is one. The message names the column and the value.
    """
    for name in records.column_names:
        column = records[name]
        # a column without values may have the type null
        if name not in RANGES or column.null_count == len(column):
            continue
        if pa.types.is_list(column.type):
            column = pc.list_flatten(column)
        check_range(name, column.drop_null().to_numpy(), f"{subject}: column {name}")
    if {"features", "n_features"} <= {*records.column_names}:
        _check_features(records, subject)


def check_range(name: str, values: NDArray[Any], subject: str) -> None:
    """Raise if a column has impossible values, as `check_ranges` does."""
    low, high = RANGES.get(name, (-math.inf, math.inf))
    beyond = outside(values, low, high)
    if beyond.any():
        raise ValueError(
            f"{subject}: expected {range_text(low, high)}, got {values[beyond][0]:g}; the record was changed after "
            f"it was computed, or is damaged: leave it out, or ask for another copy."
        )


def _check_features(records: pa.Table, subject: str) -> None:
    """Raise if a list has a feature that is not in the data set."""
    listed = records.select(["features", "n_features"]).drop_null()
    if not len(listed):
        return
    features = pc.list_flatten(listed["features"]).to_numpy()
    limits = listed["n_features"].to_numpy()[
        pc.list_parent_indices(listed["features"]).to_numpy()
    ]
    if (beyond := features >= limits).any():
        raise ValueError(
            f"{subject}: column features: expected numbers below n_features, {limits[beyond][0]}, got "
            f"{features[beyond][0]}; the record was changed after it was computed, or is damaged: leave it out, or "
            f"ask for another copy."
        )


def check_identities(records: pa.Table, subject: str) -> None:
    """Raise if the key, cell or data set of a record does not follow from its config and numbers.

    An edited trial is a different trial. A record without a number or config belongs to
    no trial and cannot be checked.

    Parameters
    ----------
    records : Table
        Records with the columns `IDENTITY`; strings may be encoded.
    subject : str
        Origin of the records for the message.

    Raises
    ------
    ValueError
        If records are wrong or a config is invalid. The message has their number and
        the key of one.
    """
    is_whole = reduce(
        pc.and_, [pc.is_valid(records[name]) for name in IDENTITY if name != "data"]
    )
    trials = records.filter(is_whole)
    if not len(trials):
        return
    configs, codes = _encoded(trials["config"])
    # all trials of a config are adjacent, so that it is hashed only once
    order = np.argsort(codes, kind="stable")
    trials = trials.take(pa.array(order))
    keys = np.array(trials["key"].to_pylist(), object)
    places = list(zip(*(trials[name].to_pylist() for name in NUMBERS), strict=True))
    ends = np.searchsorted(codes[order], np.arange(len(configs)), side="right")
    expected: list[str] = []
    data: list[str] = []
    for config, end in zip(configs, ends.tolist(), strict=True):
        start = len(expected)
        if start == end:
            continue
        expected += trial_keys(config, places[start:end])
        data += [_stated_data(config, f"{subject}: trial {keys[start]:.16}...")] * (
            end - start
        )
    cells = np.array([digest_of(config) for config in configs], object)[codes[order]]
    wrong = keys != np.array(expected, object)
    for name, values in (("cell", cells), ("data", np.array(data, object))):
        texts, which = _encoded(trials[name])
        wrong |= np.array([*texts, None], object)[which] != values
    if wrong.any():
        raise ValueError(
            f"{subject}: expected keys, cells and data that follow from the configs and numbers of the trials, got "
            f"{wrong.sum()} of {len(records)} that do not, such as {keys[wrong][0]:.16}...; they were changed after "
            f"they were computed: move the file elsewhere and run the command again, or ask for another copy."
        )


def _encoded(column: pa.ChunkedArray) -> tuple[list[str], NDArray[np.int64]]:
    """Return the distinct strings of a column, and the position of each value among them (-1 for null)."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    values = column.unify_dictionaries().combine_chunks()
    return values.dictionary.to_pylist(), values.indices.fill_null(-1).to_numpy()


def _stated_data(config: str, subject: str) -> str:
    """Return the identity of the data set in a config; raise if it is not the config of a trial."""
    try:
        stated = parse_json(config, MAX_CONFIG_DEPTH)
        parts = [stated[name] for name in ("dataset", "selector", "protocol")]
        if all(isinstance(part, dict) for part in parts) and isinstance(
            parts[0]["name"], str
        ):
            return str(stated["data"])
        reason = "a part is not a mapping"
    except KeyError as error:
        reason = f"it has no {error}"
    except (ValueError, TypeError) as error:
        reason = str(error)
    raise ValueError(
        f"{subject}: expected a config of data set, selector and protocol, got {config!r:.80} ({reason:.200}); it was "
        f"not written by provsel: move the file elsewhere and run the command again, or ask for another copy."
    )
