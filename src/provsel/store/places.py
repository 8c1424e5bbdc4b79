"""Which trials a store has, by cell, repeat, fold and draw: counted for many cells without making their keys."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from provsel.evaluation import Cell
from provsel.store.trial_store import TrialStore

_NUMBERS = ("repeat", "fold", "draw")


class StoredPlaces:
    """The places of all stored trials, each once, as they are when this is made.

    A key is the hash of a cell and a place, so that counting places is counting keys; hashing those of a full plan
    takes seconds, and counting a tenth of one.

    Parameters
    ----------
    store : TrialStore
    """

    def __init__(self, store: TrialStore) -> None:
        table = store.encoded(["cell", *_NUMBERS])
        for name in ("cell", *_NUMBERS):  # a record that does not say which trial it is stands for none
            table = table.filter(pc.is_valid(table[name]))
        cells = table["cell"].combine_chunks()
        if isinstance(cells, pa.ChunkedArray):  # without any rows
            cells = pa.DictionaryArray.from_arrays(pa.array([], pa.int32()), pa.array([], pa.string()))
        code = cells.indices.to_numpy().astype(np.int64)
        numbers = np.stack([table[name].to_numpy().astype(np.int64) for name in _NUMBERS])
        sizes = numbers.max(axis=1, initial=0) + 1
        flat = np.ravel_multi_index((code, *numbers), (len(cells.dictionary) + 1, *sizes))
        flat.sort()
        flat = flat[np.diff(flat, prepend=-1) > 0]  # two files have the same trial where a merge was cut short
        code, *found = np.unravel_index(flat, (len(cells.dictionary) + 1, *sizes))
        self._numbers = np.array(found)
        starts = np.searchsorted(code, np.arange(len(cells.dictionary) + 1))
        self._slices = dict(zip(cells.dictionary.to_pylist(), map(slice, starts[:-1], starts[1:]), strict=True))

    def count(self, cells: Iterable[Cell]) -> int:
        """Return how many of the planned trials of some distinct cells are stored."""
        total = 0
        for cell in cells:
            places = self._numbers[:, self._slices.get(cell.id, slice(0, 0))]
            limits = np.array([[cell.protocol["repeats"]], [cell.protocol["n_splits"]], [cell.n_draws]])
            total += int((places < limits).all(axis=0).sum())
        return total
