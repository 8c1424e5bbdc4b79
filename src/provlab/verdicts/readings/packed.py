"""Trials behind the readings of a paper, in one Parquet file that is small enough to be committed.

`trials.parquet` has one row per trial. `selection` is a digest of all settings except
the model's: data set, selector and protocol. Trials of one selection with several
models therefore have the same `selection`, `repeat`, `fold` and `draw`, on which their
errors can be joined. `dataset`, `selector` and `model` are JSON. The other columns are
those that claims read; seconds have single precision. A trial is recomputed if its
selector, data set or settings have changed since.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from provlab.core.cell import ID_DIGITS, Cell
from provlab.core.records import NUMBERS, check_ranges
from provlab.core.snapshot import StoreSnapshot
from provlab.core.store import ENCODED, SCHEMA, TIMING
from provlab.project.documents import canonical_json, digest_of
from provsel.files import replacing

PACKED = "trials.parquet"

NAMES = ("dataset", "selector", "selection", "model")
"""Columns that identify the cell of a packed trial."""

TEXTS = (*NAMES, *(field.name for field in SCHEMA if field.type == pa.string()))

KINDS = {field.name: field.type for field in SCHEMA} | dict.fromkeys(TEXTS, ENCODED)
"""Types of columns. A project's own measures keep the types of the file."""

Pair = tuple[str, str]
"""`selection` and `model`, which identify a cell."""


def read_packed(
    folder: Path, cells: Iterable[Cell], columns: Sequence[str] | None = None
) -> pa.Table:
    """Return the packed trials of the given cells, or none if the file lacks a column.

    Parameters
    ----------
    folder : Path
        Folder of a paper's readings, possibly without packed trials.
    cells : iterable of Cell
    columns : sequence of str, optional
        By default all columns of the file.

    Returns
    -------
    Table
        The columns cell, repeat, fold, draw and `columns`; strings are
        dictionary-encoded.

    Raises
    ------
    ValueError
        If the file is not a file of packed trials, or contains an invalid number.
    """
    path = folder / PACKED
    nothing = pa.table({"cell": pa.array([], ENCODED)})
    if not path.is_file():
        return nothing
    present = _columns_of(path)
    if columns is None:
        columns = [name for name in present if name not in (*NAMES, *NUMBERS)]
    if not {*columns} <= {*present}:
        return nothing
    table = _read(path, ["selection", "model", *NUMBERS, *columns])
    pairs, places = _pairs(table)
    ids = {_pair_of(cell): cell.id for cell in cells}
    names = pa.array([ids.get(pair) for pair in pairs], pa.string())
    in_cells = names.take(pa.array(places)).dictionary_encode()
    table = table.drop_columns(["selection", "model"]).add_column(0, "cell", in_cells)
    return table.filter(in_cells.is_valid())


def write_packed(
    snapshot: StoreSnapshot, cells: Iterable[Cell], columns: Sequence[str], folder: Path
) -> None:
    """Write trials of the given cells into a folder of a paper's readings, keeping packed trials of other cells.

    Parameters
    ----------
    snapshot : StoreSnapshot
    cells : iterable of Cell
    columns : sequence of str
        Columns that are read, in addition to repeat, fold and draw.
    folder : Path
    """
    # compresses better
    named = sorted(
        ((_names_of(cell), cell) for cell in cells), key=lambda pair: pair[0]
    )
    rows = [snapshot.rows(cell) for _, cell in named]
    which = np.repeat(np.arange(len(named)), [part.size for part in rows])
    measured = [name for name in columns if name not in NUMBERS]
    table = snapshot.table.select([*NUMBERS, *measured]).take(
        pa.array(np.concatenate([np.empty(0, int), *rows]))
    )
    for k, name in enumerate(NAMES):
        table = table.add_column(
            k, name, repeated([names[k] for names, _ in named], pa.array(which))
        )
    _add(table, folder)


def merge_packed(source: Path, folder: Path) -> None:
    """Add the packed trials of one folder to those of another, replacing trials of the same cells."""
    path = source / PACKED
    if path.is_file():
        _add(_read(path, _columns_of(path)), folder)


def repeated(texts: Sequence[str], places: pa.Array) -> pa.DictionaryArray:
    """Return the strings at the given indices as a dictionary array, which stores each string once."""
    encoded = pa.array(texts, pa.string()).dictionary_encode()
    return pa.DictionaryArray.from_arrays(
        encoded.indices.take(places), encoded.dictionary
    )


def _add(table: pa.Table, folder: Path) -> None:
    """Write trials into a folder, where they replace only trials of the same cells."""
    path = folder / PACKED
    if not len(table):
        return
    # otherwise some column was never read there
    if path.is_file() and {*table.column_names} <= {*_columns_of(path)}:
        old = _read(path, table.column_names)
        pairs, places = _pairs(old)
        replaced = {*_pairs(table)[0]}
        is_other = np.array([pair not in replaced for pair in pairs], bool)
        table = pa.concat_tables(
            [table, old.filter(pa.array(is_other[places]))],
            promote_options="permissive",
        )
    for name in {*TIMING} & {*table.column_names}:
        table = table.set_column(
            table.column_names.index(name), name, table[name].cast(pa.float32())
        )
    with replacing(path) as temporary:
        pq.write_table(
            table.unify_dictionaries(),
            temporary,
            compression="zstd",
            compression_level=19,
            row_group_size=1 << 21,
        )


def _names_of(cell: Cell) -> tuple[str, str, str, str]:
    """Return the names of a cell that `NAMES` lists."""
    identity = cell.identity
    return (
        canonical_json(identity["dataset"]),
        canonical_json(identity["selector"]),
        *_pair_of(cell),
    )


def _pair_of(cell: Cell) -> Pair:
    identity = cell.identity
    model = canonical_json(identity.pop("model"))
    return digest_of(canonical_json(identity))[:ID_DIGITS], model


def _pairs(table: pa.Table) -> tuple[list[Pair], NDArray[np.int64]]:
    """Return the distinct pairs of the given trials, and the index of each trial's pair among them."""
    selections = table["selection"].unify_dictionaries().combine_chunks()
    models = table["model"].unify_dictionaries().combine_chunks()
    n_models = len(models.dictionary)
    codes = (
        selections.indices.to_numpy().astype(np.int64) * n_models
        + models.indices.to_numpy()
    )
    distinct, places = np.unique(codes, return_inverse=True)
    selection_names = selections.dictionary.to_pylist()
    model_names = models.dictionary.to_pylist()
    pairs = [
        (selection_names[code // n_models], model_names[code % n_models])
        for code in distinct.tolist()
    ]
    return pairs, places


def _columns_of(path: Path) -> list[str]:
    try:
        return list(pq.read_schema(path).names)
    except (pa.ArrowException, OSError) as error:
        raise _refusal(path, error) from error


def _read(path: Path, columns: Sequence[str]) -> pa.Table:
    """Return columns of a file, with the types of a store."""
    try:
        table = pq.read_table(path, columns=list(columns))
        table = table.cast(
            pa.schema(
                [
                    (field.name, KINDS.get(field.name, field.type))
                    for field in table.schema
                ]
            )
        )
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _refusal(path, error) from error
    check_ranges(table, f"packed trials {path}")
    return table


def _refusal(path: Path, error: Exception) -> ValueError:
    return ValueError(
        f"packed trials {path}: expected a Parquet file that provsel readings wrote, got {error!s:.200}; run provsel "
        f"readings again, or ask for another copy."
    )
