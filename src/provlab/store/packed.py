"""Numbers of many trials in a small file: for what a plan reads of them again where the store is not.

A plan knows its trials, so that none has to be named. They come in blocks, those of some cells in the order of the
cells' ids, then by repeat, fold and draw; a block is known by the SHA-256 of these ids and counts. What has changed
since is in no block of the plan, and is not found. A trial of which a test error is kept takes less than a byte.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from provlab.identity.cell import Cell
from provlab.store.schema import TIMING
from provlab.store.seal import check_chunks, read_seal, seal
from provlab.store.snapshot import NUMBERS, StoreSnapshot
from provlab.store.stored_file import DAMAGE
from provsel.files import replacing

BLOCK = "block"
"""Column with the name of each trial's block."""

SHARE, OF, COUNT = "error", "n_test", "n_wrong"
"""A share of some rows is kept as their number, where that gives the same bits."""


@dataclass(frozen=True)
class Block:
    """Trials that are packed together, or not at all.

    Attributes
    ----------
    cells : tuple of Cell
        Distinct, sorted by id.
    columns : frozenset of str
        What is kept of them; the file has the columns of all blocks.
    """

    cells: tuple[Cell, ...]
    columns: frozenset[str]

    @classmethod
    def of(cls, cells: Iterable[Cell], columns: Iterable[str]) -> Block:
        """Return the block of some cells."""
        distinct = {cell.id: cell for cell in cells}
        return cls(tuple(distinct[name] for name in sorted(distinct)), frozenset(columns))

    @cached_property
    def name(self) -> str:
        """SHA-256 of what it holds."""
        parts = [f"{cell.id} {' '.join(map(str, _counts(cell)))}" for cell in self.cells]
        return hashlib.sha256("\n".join([*parts, *sorted(self.columns)]).encode()).hexdigest()

    @property
    def n_trials(self) -> int:
        """Number of its trials."""
        return sum(cell.n_trials for cell in self.cells)

    def places(self) -> pa.Table:
        """Return `cell`, repeat, fold and draw of its trials."""
        codes = np.repeat(np.arange(len(self.cells), dtype=np.int32), [cell.n_trials for cell in self.cells])
        cells = pa.DictionaryArray.from_arrays(codes, pa.array([cell.id for cell in self.cells], pa.string()))
        numbers = [np.indices(_counts(cell), dtype=np.int32).reshape(3, -1) for cell in self.cells]
        numbers.append(np.empty((3, 0), np.int32))
        return pa.table({"cell": cells, **dict(zip(NUMBERS, np.concatenate(numbers, axis=1), strict=True))})


def pack(blocks: Iterable[Block], trials: StoreSnapshot, path: Path) -> int:
    """Write the blocks whose trials are all there, and return how many these are; seconds are in single precision.

    Other blocks that the file has stay: of other data, or of what a method was before.

    Raises
    ------
    ValueError
        When there is such a file, and it is not what `pack` wrote.
    OSError
        When the file cannot be written; an old one stays.
    """
    whole, rows = [], [np.empty(0, np.int64)]
    for block in blocks:
        found = np.concatenate([trials.rows(cell) for cell in block.cells])
        if found.size == block.n_trials:
            whole.append(block)
            rows.append(found)
    sizes = [block.n_trials for block in whole]
    columns = sorted({name for block in whole for name in block.columns})
    table = trials.table.select(columns).take(pa.array(np.concatenate(rows)))
    for place, name in enumerate(columns):
        kept = pa.array(np.repeat(np.array([name in block.columns for block in whole], bool), sizes))
        values = pc.if_else(kept, table[name], pa.scalar(None, table[name].type)).cast(_packed_type(table.field(name)))
        table = table.set_column(place, name, values)
    names = pa.array([block.name for block in whole], pa.string())
    table = table.add_column(0, BLOCK, names.take(pa.array(np.repeat(np.arange(len(whole)), sizes))))
    if path.is_file():
        old = _shared(_read(path))
        left = old.filter(pc.invert(pc.is_in(old[BLOCK], names)))
        table = pa.concat_tables([table, left], promote_options="permissive")
        table = table.select([BLOCK, *sorted({*table.column_names} - {BLOCK})])
    order = np.argsort(np.array(table[BLOCK].to_pylist(), dtype=str), kind="stable")
    with replacing(path) as temporary:
        pq.write_table(
            _counted(table.take(pa.array(order))), temporary, compression="zstd", compression_level=19,
            store_schema=False, write_page_checksum=True,
        )  # fmt: skip
        seal(temporary)
    return len(whole)


def _packed_type(field: pa.Field) -> pa.DataType:
    """Return the type that a column has in a file."""
    if field.name in TIMING:
        return pa.float32()
    return pa.string() if pa.types.is_dictionary(field.type) else field.type


def unpack(blocks: Iterable[Block], path: Path) -> pa.Table:
    """Return the trials of those of the blocks that a file has: cell, repeat, fold, draw, and their columns.

    Raises
    ------
    ValueError
        When the file is not what `pack` wrote.
    OSError
        When it cannot be read.
    """
    table = _read(path)
    codes = table[BLOCK].combine_chunks().dictionary_encode()
    starts = np.flatnonzero(np.diff(codes.indices.to_numpy(), prepend=-1))
    ends = np.append(starts[1:], len(table))
    slices = dict(zip(codes.dictionary.to_pylist(), zip(starts.tolist(), ends.tolist(), strict=True), strict=False))
    places, rows = [Block((), frozenset()).places()], [np.empty(0, np.int64)]
    for block in blocks:
        if block.name in slices:
            start, end = slices[block.name]
            if end - start != block.n_trials:
                raise _damaged(path, f"{end - start} trials in a block of {block.n_trials}")
            places.append(block.places())
            rows.append(np.arange(start, end))
    found = pa.concat_tables(places).unify_dictionaries().combine_chunks()
    taken = _shared(table.drop_columns(BLOCK).take(pa.array(np.concatenate(rows))))
    for name in taken.column_names:
        kept = taken[name].cast(pa.float64()) if name in TIMING else taken[name]
        found = found.append_column(name, kept.dictionary_encode() if pa.types.is_string(kept.type) else kept)
    return found


def _counted(table: pa.Table) -> pa.Table:
    """Return a table with the number of wrong rows in place of their share, where it says the same."""
    if not {SHARE, OF} <= {*table.column_names}:
        return table
    shares, sizes = (table[name].to_numpy().astype(float) for name in (SHARE, OF))
    counts = np.rint(shares * sizes)
    if not (np.isfinite(counts).all() and (sizes > 0).all() and np.array_equal(counts / sizes, shares)):
        return table  # such as of trials without test rows, whose error is 0 of 0
    return table.set_column(table.column_names.index(SHARE), COUNT, pa.array(counts.astype(np.int32)))


def _shared(table: pa.Table) -> pa.Table:
    if COUNT not in table.column_names:
        return table
    counts, sizes = (table[name].to_numpy().astype(float) for name in (COUNT, OF))
    return table.set_column(table.column_names.index(COUNT), SHARE, pa.array(counts / sizes))


def _read(path: Path) -> pa.Table:
    with pa.OSFile(str(path), "rb") as source:
        try:
            sums = read_seal(source)
            file = pq.ParquetFile(source, page_checksum_verification=True)
            names = file.schema_arrow.names
            if sums is None or BLOCK not in names:
                raise _damaged(path, "a file without checksums" if sums is None else "a file of something else")
            check_chunks(source, file.metadata, sums, range(file.num_row_groups), names)
            return file.read()
        except (*DAMAGE, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise _damaged(path, " ".join(str(error).split())) from error


def _damaged(path: Path, what: str) -> ValueError:
    return ValueError(
        f"{path}: expected trials as provsel readings packs them, got {what}; get the file again, or remove it, and "
        f"its trials are computed again."
    )


def _counts(cell: Cell) -> tuple[int, int, int]:
    return cell.protocol["repeats"], cell.protocol["n_splits"], cell.n_draws
