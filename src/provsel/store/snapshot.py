"""The store as it is now, read once: for what looks at many cells, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from provsel.store.schema import SCHEMA
from provsel.store.trial_store import TrialStore

LARGE = ("features",)
"""Columns that stay on disk until some cells of them are asked for."""


class StoreSnapshot:
    """All trials of a store in memory, without the lists of features: half a kilobyte each.

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
        One row a trial, sorted by cell, then key; strings are dictionary-encoded.
    n_nameless : int
        Records without a key or a cell, which belong to nothing and are left out.
    """

    def __init__(self, store: TrialStore, table: pa.Table, n_nameless: int = 0) -> None:
        self.store, self.table, self.n_nameless = store, table, n_nameless
        cells = table["cell"].combine_chunks()
        codes = cells.indices.to_numpy()
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        ends = np.append(starts[1:], codes.size)
        names = cells.dictionary.take(pa.array(codes[starts])).to_pylist()
        self._slices = dict(zip(names, zip(starts.tolist(), ends.tolist(), strict=False), strict=False))

    @classmethod
    def take(cls, store: TrialStore) -> StoreSnapshot:
        """Read the store as it is now."""
        table = store.encoded([name for name in SCHEMA.names if name not in LARGE])
        named = pc.and_(pc.is_valid(table["key"]), pc.is_valid(table["cell"]))
        n_nameless = len(table) - (pc.sum(named).as_py() or 0)
        table = table.filter(named).combine_chunks()
        cells = table["cell"].combine_chunks()
        # codes in the order of the names: cells then sort as integers
        names = np.array(cells.dictionary.to_pylist(), dtype=str)
        rank = np.empty(names.size, np.int32)
        rank[np.argsort(names)] = np.arange(names.size, dtype=np.int32)
        codes = rank[cells.indices.to_numpy()]
        order = pc.sort_indices(
            pa.table({"cell": codes, "key": table["key"]}), [("cell", "ascending"), ("key", "ascending")]
        )
        table = table.take(order).combine_chunks()
        return cls(store, table.filter(pa.array(_first_of_each(table["key"]))).combine_chunks(), n_nameless)

    @classmethod
    def open(cls, store: TrialStore, path: Path) -> StoreSnapshot:
        """Return what `save` wrote; processes that open one file share its memory."""
        with pa.memory_map(str(path)) as source:
            return cls(store, pa.ipc.open_file(source).read_all())

    def save(self, path: Path) -> None:
        """Write the table as an Arrow file, for other processes."""
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, self.table.schema) as writer:
            writer.write_table(self.table)

    def __len__(self) -> int:
        return len(self.table)

    def query(self, cells: Iterable[str] | None = None, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the records of some cells, sorted by cell, then key, each trial once; see `TrialStore.query`."""
        wanted = list(SCHEMA.names if columns is None else columns)
        chosen = sorted(self._slices) if cells is None else sorted({*cells} & self._slices.keys())
        small = [name for name in wanted if name not in LARGE]
        large = [name for name in wanted if name in LARGE]
        rows = [np.arange(*self._slices[cell]) for cell in chosen]
        found = self.table.select(list(dict.fromkeys([*small, "key"]))).take(
            pa.array(np.concatenate(rows) if rows else np.empty(0, np.int64))
        )
        found = found.cast(pa.schema([SCHEMA.field(name) for name in found.column_names]))
        if large:
            stored = self.store.query(chosen, ["key", *large])
            # a trial may have come or gone since: the snapshot says which there are
            places = pc.index_in(found["key"], stored["key"])
            for name in large:
                found = found.append_column(SCHEMA.field(name), stored[name].take(places))
        return found.select(wanted)


def _first_of_each(keys: pa.ChunkedArray) -> NDArray[np.bool_]:
    """Mark the first of equal neighbours."""
    once = np.ones(len(keys), dtype=bool)
    if len(keys) > 1:
        once[1:] = pc.not_equal(keys.slice(1), keys.slice(0, len(keys) - 1)).to_numpy()
    return once
