"""Trials as CSV files: all that a store has, so that a store can be made of them again, to the bit.

`trials.csv` has a line a trial; what is long and the same for many stands apart: `cells.csv` has the config of each
cell, `environments.csv` what each environment is. `columns.csv` says of which type each column is. A missing value is
empty, an empty text is quoted (`""`), numbers have all their digits, a list of features is `3 1 2`. Before a text that
a spreadsheet would take for a formula stands a single quote, see `provlab.messages`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv

from provlab.messages import as_cell, from_cell
from provlab.store import SCHEMA
from provsel.files import replacing

TRIALS, CELLS, ENVIRONMENTS, COLUMNS = "trials.csv", "cells.csv", "environments.csv", "columns.csv"

TYPES = {
    "text": pa.string(), "int32": pa.int32(), "int64": pa.int64(), "number": pa.float64(),
    "features": pa.list_(pa.int32()), "nothing": pa.null(),
}  # fmt: skip
"""Types by their names in columns.csv."""

NEEDED = ("key", "cell", "config", "environment", "repeat", "fold", "draw")
"""Columns without which nobody knows which trial a line is of."""

PARSED = pcsv.ParseOptions(newlines_in_values=True)
DAMAGE = (pa.ArrowException, ValueError, KeyError, UnicodeDecodeError)


def write_trials(trials: pa.Table, folder: Path) -> None:
    """Write records, sorted by key, as the four files of a folder.

    Parameters
    ----------
    trials : Table
        As `TrialStore.query` gives them, with all columns.
    folder : Path
    """
    names = {kind: name for name, kind in TYPES.items()}
    fields = pa.table({"column": trials.column_names, "type": [names[field.type] for field in trials.schema]})
    write_csv(fields, folder / COLUMNS)
    write_csv(_distinct(trials.select(["cell", "config"])), folder / CELLS)
    texts = trials["environment"]
    known = texts.unique().drop_null()
    short = pa.array([_short(text.as_py()) for text in known], pa.string())
    write_csv(pa.table({"environment": short, "text": known}).sort_by("environment"), folder / ENVIRONMENTS)
    coded = short.take(pc.index_in(texts, value_set=known))
    plain = trials.set_column(trials.column_names.index("environment"), "environment", coded).drop_columns("config")
    for place, field in enumerate(plain.schema):
        if pa.types.is_list(field.type):
            plain = plain.set_column(place, field.name, list_texts(plain[field.name]))
    write_csv(plain, folder / TRIALS)


def read_trials(folder: Path) -> pa.Table:
    """Return what `write_trials` wrote.

    Raises
    ------
    ValueError
        When a file is damaged, or does not fit the others.
    OSError
        When one cannot be read.
    """
    kinds = _read(folder / COLUMNS, {"column": pa.string(), "type": pa.string()}).to_pylist()
    wrong = [line for line in kinds if line["type"] not in TYPES]
    if wrong:
        raise ValueError(f"{folder / COLUMNS}: expected types of {', '.join(TYPES)}, got {wrong[0]!r:.120}.")
    types = {line["column"]: TYPES[line["type"]] for line in kinds}
    differing = [name for name, kind in types.items() if name in SCHEMA.names and SCHEMA.field(name).type != kind]
    if differing:
        raise ValueError(
            f"{folder / COLUMNS}: expected the types of a store, got {types[differing[0]]} as that of {differing[0]}."
        )
    if lost := [name for name in NEEDED if name not in types]:
        raise ValueError(
            f"{folder / COLUMNS}: expected the column {lost[0]}, as of all trials, got none; export again."
        )
    read = {name: pa.string() if pa.types.is_list(kind) else kind for name, kind in types.items() if name != "config"}
    trials = _read(folder / TRIALS, read)
    cells = _read(folder / CELLS, {"cell": pa.string(), "config": pa.string()})
    environments = _read(folder / ENVIRONMENTS, {"environment": pa.string(), "text": pa.string()})
    config = _joined(folder / CELLS, trials["cell"], cells["cell"], cells["config"])
    place = _joined(folder / ENVIRONMENTS, trials["environment"], environments["environment"], environments["text"])
    columns: dict[str, Any] = {"config": config, "environment": place}
    for name, kind in types.items():
        if name not in columns:
            columns[name] = _lists(folder, trials[name]) if pa.types.is_list(kind) else trials[name]
    return pa.table({name: columns[name] for name in types}, schema=pa.schema([*types.items()]))


def list_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of lists of integers as texts such as "3 1 2"."""
    return pc.binary_join(pc.cast(column, pa.list_(pa.string())), " ")


def write_csv(table: pa.Table, path: Path) -> None:
    """Write a table whole or not at all; see the head of this module."""
    table = _texts_changed(table, as_cell)
    with replacing(path) as temporary:
        pcsv.write_csv(table, temporary)


def _read(path: Path, types: dict[str, pa.DataType]) -> pa.Table:
    how = pcsv.ConvertOptions(
        column_types=types, include_columns=[*types], null_values=[""], strings_can_be_null=True,
        quoted_strings_can_be_null=False,
    )  # fmt: skip
    try:
        found = pcsv.read_csv(pa.BufferReader(path.read_bytes()), parse_options=PARSED, convert_options=how)
        return _texts_changed(found, from_cell)
    except DAMAGE as error:
        raise ValueError(
            f"{path}: expected the columns {', '.join([*types][:5])}, ... as provsel export writes them, got "
            f"{' '.join(str(error).split())!s:.200}; export again."
        ) from error


def _joined(path: Path, wanted: pa.ChunkedArray, keys: pa.ChunkedArray, values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the value of each wanted key; null stays null."""
    places = pc.index_in(wanted, value_set=keys.combine_chunks())
    lost = pc.and_(pc.is_valid(wanted), pc.is_null(places))
    if pc.any(lost).as_py():
        missing = wanted.filter(lost)[0].as_py()
        raise ValueError(f"{path}: expected a line for {missing[:16]}..., got none; export again.")
    return values.take(places)


def _lists(folder: Path, column: pa.ChunkedArray) -> pa.ChunkedArray:
    parts = pc.split_pattern(column, " ")
    parts = pc.if_else(pc.equal(column, ""), pa.scalar([], pa.list_(pa.string())), parts)
    try:
        return pc.cast(parts, pa.list_(pa.int32()))
    except pa.ArrowException as error:
        raise ValueError(f"{folder / TRIALS}: expected features such as '3 1 2', got {error!s:.200}.") from error


def _texts_changed(table: pa.Table, change: Callable[[str], str]) -> pa.Table:
    """Return a table with all its texts changed, by their distinct values."""
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            codes = [chunk.dictionary_encode() for chunk in table[field.name].chunks]
            texts = [pa.array([change(text) for text in each.dictionary.to_pylist()], pa.string()) for each in codes]
            made = [text.take(each.indices) for text, each in zip(texts, codes, strict=True)]
            table = table.set_column(place, field.name, pa.chunked_array(made, pa.string()))
    return table


def _distinct(table: pa.Table) -> pa.Table:
    grouped = table.group_by(table.column_names, use_threads=False).aggregate([])
    return grouped.sort_by(table.column_names[0]).select(table.column_names)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
