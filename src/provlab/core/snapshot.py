"""Snapshot of a store in memory, for claims, figures and pages that read the same trials many times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Any, Protocol, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from provlab.core.records import NUMBERS
from provlab.core.store import LARGE, SCHEMA, TrialStore


class Planned(Protocol):
    """Attributes of a cell, or of its description in a file, that a join needs."""

    @property
    def id(self) -> str:
        """SHA-256 of the cell's identity."""

    @property
    def counts(self) -> tuple[int, int, int]:
        """Planned repeats, folds and draws."""

    @property
    def data(self) -> str:
        """Identity of the data set, which determines the feature names."""

    @property
    def dataset(self) -> Mapping[str, Any]:
        """Config of the data set, from which they are loaded."""


class StoreSnapshot:
    """Trials of a store in memory without feature lists; with all columns, each takes half a kilobyte.

    A query takes slices of its cells, so its time does not depend on the size of the
    store.

    Parameters
    ----------
    store : TrialStore
        Store, which is read in its current state.
    columns : iterable of str, optional
        Columns in addition to cell, repeat, fold and draw; by default all that are not
        `LARGE`.
    cells : iterable of str, optional
        Cell ids; None takes all.
    beside : iterable of Table
        Tables of further trials with the same columns, used if they are not in the
        store.

    Attributes
    ----------
    table : Table
        One row per trial, grouped by cell and sorted by repeat, fold and draw; strings
        are dictionary-encoded.
    n_nameless : int
        Number of records without a key, cell, repeat, fold or draw. They belong to no
        trial and are left out.
    """

    def __init__(
        self,
        store: TrialStore,
        columns: Iterable[str] | None = None,
        *,
        cells: Iterable[str] | None = None,
        beside: Iterable[pa.Table] = (),
    ) -> None:
        self.store = store
        self._has_all = columns is None
        self._lists: tuple[frozenset[str], StoreSnapshot] | None = None
        read = None if columns is None else ["cell", *NUMBERS, *columns]
        tables = [store.read(read, cells, encoded=True), *beside]
        table = (
            pa.concat_tables(tables, promote_options="permissive")
            .unify_dictionaries()
            .combine_chunks()
        )
        is_named = _is_named(table)
        self.n_nameless = len(table) - pc.sum(is_named, min_count=0).as_py()
        if self.n_nameless:
            table = table.filter(is_named).combine_chunks()
        in_cells = table["cell"].combine_chunks()
        numbers = np.array([table[name].to_numpy() for name in NUMBERS], dtype=np.int64)
        codes = in_cells.indices.to_numpy().astype(np.int64)
        order = np.lexsort([*numbers[::-1], codes])
        places = np.vstack([codes, numbers])[:, order]
        is_first = np.diff(places, prepend=-1).any(axis=0)  # first record of each trial
        codes = places[0, is_first]
        self.table = table.take(pa.array(order[is_first])).combine_chunks()
        self._numbers = places[1:, is_first]
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        ends = np.append(starts[1:], codes.size)
        names = in_cells.dictionary.take(pa.array(codes[starts])).to_pylist()
        slices = map(slice, starts.tolist(), ends.tolist())
        self._slices = dict(zip(names, slices, strict=True))
        # most cells have only planned trials, and need no check of each trial
        highest = np.maximum.reduceat(self._numbers, starts, axis=1).T.tolist()
        self._highest = dict(zip(names, highest, strict=True))

    def with_large(self, cells: Iterable[str]) -> StoreSnapshot:
        """Return this snapshot with the feature lists of the given cells, which are read only once."""
        snapshot = copy(self)
        chosen = frozenset({*cells} & self._slices.keys())
        snapshot._lists = chosen, StoreSnapshot(self.store, LARGE, cells=chosen)
        return snapshot

    def __len__(self) -> int:
        return len(self.table)

    def count(self, cells: Iterable[Planned]) -> int:
        """Return the number of stored planned trials of the given distinct cells.

        Repeats, folds and draws are counted instead of keys, because computing keys
        takes seconds.
        """
        return sum(self.rows(cell).size for cell in cells)

    def has_any(self, cells: Iterable[Planned]) -> bool:
        """Return whether a planned trial of one of the given cells is stored."""
        return any(self.rows(cell).size for cell in cells)

    def rows(self, cell: Planned) -> NDArray[np.int64]:
        """Return the rows of `table` with the planned trials of a cell, in order."""
        if cell.id not in self._slices:
            return np.empty(0, np.int64)
        part = self._slices[cell.id]
        if all(
            number < limit
            for number, limit in zip(self._highest[cell.id], cell.counts, strict=True)
        ):
            return np.arange(part.start, part.stop)
        is_planned = self._numbers[:, part] < np.array(cell.counts)[:, None]
        return part.start + np.flatnonzero(is_planned.all(axis=0))

    def column(self, name: str) -> pa.ChunkedArray:
        """Return a column of `table`; its values are null if no record has it.

        An example is the column of a measure before its first trial.

        Raises
        ------
        KeyError
            If the column was not read.
        """
        if self._has_all and name not in self.table.column_names and name not in LARGE:
            return pa.chunked_array([pa.nulls(len(self))])
        return self.table[name]

    def query(
        self, cells: Iterable[str] | None = None, columns: Sequence[str] | None = None
    ) -> pa.Table:
        """Return the distinct records of the given cells in the order of `table`, see `TrialStore.query`."""
        chosen = (
            self._slices.keys() if cells is None else self._slices.keys() & {*cells}
        )
        rows = np.empty(0, np.int64)
        if chosen:
            slices = [self._slices[name] for name in sorted(chosen)]
            rows = np.concatenate([np.arange(part.start, part.stop) for part in slices])
        if columns is None:
            measured = [
                name for name in self.table.column_names if name not in SCHEMA.names
            ]
            columns = [*SCHEMA.names, *measured]
        return self.take(rows, columns)

    def numbers(self, rows: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
        """Return repeat, fold and draw of the given rows of `table`."""
        return dict(zip(NUMBERS, self._numbers[:, rows], strict=True))

    def take(self, rows: NDArray[np.int64], columns: Sequence[str]) -> pa.Table:
        """Return columns of the given rows of `table` with plain strings; lists are read from the store."""
        records: dict[str, pa.ChunkedArray] = {}
        for name in columns:
            if name in LARGE and name not in self.table.column_names:
                records[name] = self._read_lists(name, rows)
                continue
            column = self.column(name).take(pa.array(rows))
            if pa.types.is_dictionary(column.type):
                column = column.cast(pa.string())
            records[name] = column
        return pa.table(records)

    def _read_lists(self, name: str, rows: NDArray[np.int64]) -> pa.ChunkedArray:
        """Return the lists of the given rows; null for trials that have since left the store."""
        cells = self._cell_of(rows)
        ids = frozenset(cells.categories[np.unique(cells.codes)])
        read_cells, lists = self._lists or (frozenset(), None)
        if lists is None or not read_cells.issuperset(ids):
            self._lists = lists = None  # freed before other lists are read
            lists = StoreSnapshot(self.store, LARGE, cells=ids)
            self._lists = ids, lists
        places = np.arange(len(lists))
        read = pd.DataFrame(
            {"cell": lists._cell_of(places), **lists.numbers(places), "place": places}
        )
        read["cell"] = read["cell"].cat.set_categories(cells.categories)
        trials = pd.DataFrame({"cell": cells, **self.numbers(rows)})
        stored_places = trials.merge(read, "left", ["cell", *NUMBERS])["place"]
        return lists.table[name].take(
            pa.array(stored_places.astype("Int64"), pa.int64())
        )

    def _cell_of(self, rows: NDArray[np.int64]) -> pd.Categorical:
        column = self.table["cell"].combine_chunks()
        codes = column.indices.to_numpy()[rows]
        return pd.Categorical.from_codes(codes, column.dictionary.to_pylist())


def _is_named(table: pa.Table) -> pa.ChunkedArray:
    """Return a mask of the records that identify their trial."""
    is_named = pc.is_valid(table["cell"])
    if "key" in table.column_names:
        is_named = pc.and_(is_named, pc.is_valid(table["key"]))
    for name in NUMBERS:
        is_named = pc.and_(
            is_named, pc.fill_null(pc.greater_equal(table[name], 0), False)
        )
    return is_named


TrialReader: TypeAlias = TrialStore | StoreSnapshot
"""A source of trials: the store, or a snapshot of it."""
