"""Trials of a store in memory: what judges, draws and writes pages asks for the same ones again and again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from functools import reduce

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from provlab.core.cell import Cell
from provlab.core.records import NUMBERS
from provlab.core.store import LARGE, SCHEMA, TrialStore


class StoreSnapshot:
    """Trials of a store in memory, without the lists of features: half a kilobyte each where all columns are.

    A query takes the slices of its cells, so that its time does not depend on the size of the store.

    Parameters
    ----------
    store : TrialStore
        Read as it is now.
    columns : iterable of str, optional
        Beside cell, repeat, fold and draw. By default all that are not `LARGE`.
    cells : iterable of str, optional
        Cell ids; None takes all.
    beside : iterable of Table
        Trials that count where the store does not have them, with the same columns.

    Attributes
    ----------
    table : Table
        One row a trial, those of a cell together and sorted by repeat, fold and draw; texts are dictionary-encoded.
    n_nameless : int
        Records that do not say which trial they are: without a key, a cell, a repeat, fold or draw. They belong to
        nothing and are left out.
    """

    def __init__(
        self,
        store: TrialStore,
        columns: Iterable[str] | None = None,
        *,
        cells: Iterable[str] | None = None,
        beside: Iterable[pa.Table] = (),
    ) -> None:
        self.store, self._has_all = store, columns is None
        self._lists: tuple[frozenset[str], StoreSnapshot] | None = None
        read = None if columns is None else ["cell", *NUMBERS, *columns]
        tables = [store.read(read, cells, encoded=True), *beside]
        table = pa.concat_tables(tables, promote_options="permissive").unify_dictionaries().combine_chunks()
        named = [pc.is_valid(table[name]) for name in ("key", "cell") if name in table.column_names]
        named += [pc.fill_null(pc.greater_equal(table[name], 0), False) for name in NUMBERS]
        is_named = reduce(pc.and_, named)
        self.n_nameless = len(table) - pc.sum(is_named, min_count=0).as_py()
        if self.n_nameless:
            table = table.filter(is_named).combine_chunks()
        in_cells = table["cell"].combine_chunks()
        numbers = [table[name].to_numpy() for name in NUMBERS]
        places = np.array([*numbers[::-1], in_cells.indices.to_numpy()], dtype=np.int64)
        order = np.lexsort(places)
        order = order[np.diff(places[:, order], prepend=-1).any(axis=0)]  # of the same trial the first
        self.table = table.take(pa.array(order)).combine_chunks()
        codes, self._numbers = places[-1, order], places[-2::-1, order]
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        ends, names = np.append(starts[1:], codes.size), in_cells.dictionary.take(pa.array(codes[starts]))
        self._slices = dict(zip(names.to_pylist(), map(slice, starts.tolist(), ends.tolist()), strict=True))
        # most cells have no number above the planned ones, and need no check of each trial
        highest = np.maximum.reduceat(self._numbers, starts, axis=1).T.tolist()
        self._highest = dict(zip(self._slices, highest, strict=True))

    def with_large(self, cells: Iterable[str]) -> StoreSnapshot:
        """Return this snapshot with the lists of features of some cells, for what asks for them again and again."""
        found, chosen = copy(self), frozenset({*cells} & self._slices.keys())
        found._lists = chosen, StoreSnapshot(self.store, LARGE, cells=chosen)
        return found

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
        """Return a column of `table`; one that no record has is one of nulls.

        A measure's columns are such before its first trial.

        Raises
        ------
        KeyError
            When the column was not read.
        """
        if self._has_all and name not in self.table.column_names and name not in LARGE:
            return pa.chunked_array([pa.nulls(len(self))])
        return self.table[name]

    def query(self, cells: Iterable[str] | None = None, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the records of some cells, sorted as `table` is, each once; see `TrialStore.query` and `column`."""
        own = [name for name in self.table.column_names if name not in SCHEMA.names]
        chosen = sorted(self._slices if cells is None else {*cells} & self._slices.keys())
        lines = self._lines(chosen)
        rows, found = pa.array(lines["row"]), dict[str, pa.ChunkedArray]()
        for name in [*SCHEMA.names, *own] if columns is None else columns:
            if name in LARGE:
                found[name] = self._list_column(name, chosen, lines)
            else:
                column = self.column(name).take(rows)
                found[name] = column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
        return pa.table(found)

    def _lines(self, cells: Sequence[str]) -> pd.DataFrame:
        """Return the `row` of each trial of some cells, the place of its cell in the list, repeat, fold and draw."""
        places = [self._slices.get(name, slice(0, 0)) for name in cells]
        rows = np.concatenate([np.empty(0, np.int64), *(np.arange(each.start, each.stop) for each in places)])
        which = np.repeat(np.arange(len(places)), [each.stop - each.start for each in places])
        return pd.DataFrame({"row": rows, "which": which, **dict(zip(NUMBERS, self._numbers[:, rows], strict=True))})

    def _list_column(self, name: str, cells: Sequence[str], lines: pd.DataFrame) -> pa.ChunkedArray:
        """Return the lists of the trials of some cells; null of one that has gone from the store since."""
        known, held = self._lists or (frozenset(), None)
        if held is None or not known.issuperset(cells):
            self._lists = held = None  # freed before others are read
            held = StoreSnapshot(self.store, LARGE, cells=cells)
            self._lists = frozenset(cells), held
        rows = lines.drop(columns="row").merge(held._lines(cells), on=["which", *NUMBERS], how="left")["row"]
        return held.table[name].take(pa.array(rows.astype("Int64"), pa.int64()))
