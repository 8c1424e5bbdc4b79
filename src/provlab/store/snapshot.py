"""The store as it is now, read once: for what looks at many cells, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from functools import reduce
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from provlab.identity.cell import Cell
from provlab.store.schema import SCHEMA
from provlab.store.trial_store import TrialStore

LARGE = ("features",)
"""Columns that stay on disk until some cells of them are asked for."""

NUMBERS = ("repeat", "fold", "draw")
"""Which trial of its cell a record is of."""


class StoreSnapshot:
    """Trials of a store in memory, without the lists of features: half a kilobyte each where all columns are.

    A query takes the slices of its cells, so that its time does not depend on the size of the store.

    Parameters
    ----------
    store : TrialStore
        Of the lists of features.
    table : Table
        Its other columns, as `take` and `open` give them.
    n_nameless : int

    Attributes
    ----------
    table : Table
        One row a trial, sorted by cell, repeat, fold and draw; strings are dictionary-encoded.
    n_nameless : int
        Records that do not say which trial they are: without a key, a cell, a repeat, fold or draw. They belong to
        nothing and are left out.
    """

    def __init__(self, store: TrialStore, table: pa.Table, n_nameless: int = 0) -> None:
        self.store, self.table, self.n_nameless = store, table, n_nameless
        self._large: tuple[frozenset[str], pa.Table] | None = None
        self._numbers = np.array([table[name].to_numpy() for name in NUMBERS], dtype=np.int64)
        cells = table["cell"].combine_chunks()
        codes = cells.indices.to_numpy()
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        ends = np.append(starts[1:], codes.size)
        names = cells.dictionary.take(pa.array(codes[starts])).to_pylist()
        self._slices = dict(zip(names, map(slice, starts.tolist(), ends.tolist()), strict=False))
        # where no number of a cell is above the planned ones, as in most, nobody has to look at each
        highest = [np.maximum.reduceat(found, starts).tolist() if starts.size else [] for found in self._numbers]
        self._highest = dict(zip(names, zip(*highest, strict=True), strict=True))

    @classmethod
    def take(cls, store: TrialStore, columns: Iterable[str] | None = None) -> StoreSnapshot:
        """Read the store as it is now: some columns beside cell, repeat, fold and draw, by default all."""
        wanted = store.columns() if columns is None else [*dict.fromkeys(["cell", *NUMBERS, *columns])]
        table = store.encoded([name for name in wanted if name not in LARGE])
        named = [pc.is_valid(table[name]) for name in ("key", "cell") if name in table.column_names]
        named += [pc.fill_null(pc.greater_equal(table[name], 0), False) for name in NUMBERS]
        whole, n_nameless = reduce(pc.and_, named), 0
        if not pc.all(whole, min_count=0).as_py():
            table, n_nameless = table.filter(whole).combine_chunks(), pc.sum(pc.invert(whole)).as_py()
        return cls(store, _in_order(table), n_nameless)

    def beside(self, trials: pa.Table) -> StoreSnapshot:
        """Return this snapshot with trials that the store does not have, such as `packed.unpack` gives them.

        Parameters
        ----------
        trials : Table
            `cell`, `repeat`, `fold` and `draw`, and whatever columns of this snapshot they have; the others are null.
        """
        fitting = trials.select([name for name in trials.column_names if name in self.table.column_names])
        both = pa.concat_tables([self.table, fitting], promote_options="default").unify_dictionaries()
        return StoreSnapshot(self.store, _in_order(both.combine_chunks()), self.n_nameless)

    @classmethod
    def open(cls, store: TrialStore, path: Path) -> StoreSnapshot:
        """Return what `save` wrote; processes that open one file share its memory."""
        with pa.memory_map(str(path)) as source:
            return cls(store, pa.ipc.open_file(source).read_all())

    def with_large(self, cells: Iterable[str]) -> StoreSnapshot:
        """Return this snapshot with the lists of features of some cells, for what asks for them again and again."""
        found, chosen = copy(self), frozenset({*cells} & self._slices.keys())
        found._large = chosen, self._read_large(sorted(chosen))
        return found

    def _read_large(self, cells: Sequence[str]) -> pa.Table:
        if self._large is not None and self._large[0].issuperset(cells):
            return self._large[1].filter(pc.is_in(self._large[1]["cell"], pa.array(cells, pa.string())))
        return self.store.query(cells, ["cell", *NUMBERS, *LARGE])

    def save(self, path: Path) -> None:
        """Write the table as an Arrow file, for other processes."""
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, self.table.schema) as writer:
            writer.write_table(self.table)

    def __len__(self) -> int:
        return len(self.table)

    def count(self, cells: Iterable[Cell]) -> int:
        """Return how many of the planned trials of some distinct cells are stored.

        A key is the hash of a cell and these numbers: counting them is counting keys, which takes seconds to make.
        """
        return sum(self.rows(cell).size for cell in cells)

    def has_any(self, cells: Iterable[Cell]) -> bool:
        """Return whether a planned trial of one of some cells is stored."""
        return any(self.rows(cell).size for cell in cells)

    def rows(self, cell: Cell) -> NDArray[np.int64]:
        """Return the rows of `table` with the planned trials of a cell, in their order."""
        if cell.id not in self._slices:
            return np.empty(0, np.int64)
        place, highest = self._slices[cell.id], self._highest[cell.id]
        if all(number < limit for number, limit in zip(highest, cell.counts, strict=True)):
            return np.arange(place.start, place.stop)
        return place.start + np.flatnonzero((self._numbers[:, place] < np.array(cell.counts)[:, None]).all(axis=0))

    def column(self, name: str) -> pa.ChunkedArray:
        """Return a column of `table`; one that no record has is one of numbers that are not there.

        A measure's columns are such before its first trial.

        Raises
        ------
        KeyError
            When the store has the column, and it was not read.
        """
        if name in self.table.column_names or name in self.store.columns():
            return self.table[name]
        return pa.chunked_array([pa.nulls(len(self), pa.float64())])

    def cpu(self, cell: Cell) -> NDArray[np.float64]:
        """Return the CPU seconds of each stored trial of a cell, NaN where its record does not say them."""
        return self.table["task_cpu"].to_numpy()[self.rows(cell)].astype(float)

    def query(self, cells: Iterable[str] | None = None, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the records of some cells, sorted as `table` is, each once; see `TrialStore.query` and `column`."""
        all_columns = [*SCHEMA.names, *(name for name in self.table.column_names if name not in SCHEMA.names)]
        wanted = list(all_columns if columns is None else columns)
        chosen = sorted(self._slices) if cells is None else sorted({*cells} & self._slices.keys())
        unread = {*wanted} - {*self.table.column_names, *LARGE}
        nowhere = unread - {*self.store.columns()} if unread else unread
        small = [name for name in wanted if name not in LARGE and name not in nowhere]
        large = [name for name in wanted if name in LARGE]
        rows = [np.arange(place.start, place.stop) for place in map(self._slices.__getitem__, chosen)]
        found = self.table.select(list(dict.fromkeys([*small, *(("cell", *NUMBERS) if large else ())]))).take(
            pa.array(np.concatenate(rows) if rows else np.empty(0, np.int64))
        )
        found = found.cast(pa.schema([plain_field(field) for field in found.schema]))
        if large:
            stored = self._read_large(chosen)
            # a trial may have come or gone since: the snapshot says which there are
            places = pc.index_in(_place_texts(found), _place_texts(stored))
            for name in large:
                found = found.append_column(SCHEMA.field(name), stored[name].take(places))
        for name in nowhere:
            found = found.append_column(name, pa.nulls(len(found), pa.float64()))
        return found.select(wanted)


def plain_field(field: pa.Field) -> pa.Field:
    """Return a column's field as records have it: strings are not encoded."""
    if field.name in SCHEMA.names:
        return SCHEMA.field(field.name)
    return field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field


def _in_order(table: pa.Table) -> pa.Table:
    """Return trials sorted by cell, repeat, fold and draw, each once: of the same trial what any of its records has."""
    cells = table["cell"].combine_chunks()
    if isinstance(cells, pa.ChunkedArray):  # without any rows
        cells = pa.DictionaryArray.from_arrays(pa.array([], pa.int32()), pa.array([], pa.string()))
    # codes in the order of the names: cells then sort as integers
    names = np.array(cells.dictionary.to_pylist(), dtype=str)
    rank = np.empty(names.size, np.int32)
    rank[np.argsort(names)] = np.arange(names.size, dtype=np.int32)
    places = [table[name].to_numpy() for name in reversed(NUMBERS)]
    order = np.lexsort([*places, rank[cells.indices.to_numpy()]])
    # two files have the same trial where a merge was cut short, and two packed blocks where two rows have the same cell
    once = reduce(np.logical_or, (_changes(place[order]) for place in (*places, cells.indices.to_numpy())))
    if once.all():
        return table.take(pa.array(order)).combine_chunks()
    return _joined(table.take(pa.array(order)), np.flatnonzero(once))


def _joined(table: pa.Table, starts: NDArray[np.intp]) -> pa.Table:
    """Return one line for each run of lines: in each column the first value of the run that is not null."""
    lines, columns = np.arange(len(table)), {}
    for name in table.column_names:
        is_there = table[name].is_valid().to_numpy()
        first = np.minimum.reduceat(np.where(is_there, lines, len(table)), starts)
        columns[name] = table[name].take(pa.array(np.where(first < len(table), first, starts)))
    return pa.table(columns, schema=table.schema).combine_chunks()


def _changes(values: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Mark the first of equal neighbours."""
    return np.concatenate([np.ones(min(values.size, 1), bool), values[1:] != values[:-1]])


def _place_texts(table: pa.Table) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(table["cell"], *(pc.cast(table[name], pa.string()) for name in NUMBERS), "/")
