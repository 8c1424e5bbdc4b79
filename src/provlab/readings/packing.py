"""The trials behind the readings of a paper, with what is read of them: to judge them again where the store is not.

They are a store of their own, in the folder `trials` of a paper's readings, without keys, configs and features: a trial
takes a few bytes. A cell's id says what a trial is of, so that what has changed since is not found, and computed anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa

from provlab.identity.cell import Cell
from provlab.snapshot import StoreSnapshot
from provlab.store import LARGE, NUMBERS, TIMING, TrialStore


def packed_trials(folder: Path) -> TrialStore:
    """Return the trials that stand in a folder of a paper's readings."""
    return TrialStore(folder / "trials", read_only=True)


def pack_trials(snapshot: StoreSnapshot, cells: Iterable[Cell], columns: Iterable[str], folder: Path) -> None:
    """Add the trials of some cells to those that stand in a folder of a paper's readings.

    Parameters
    ----------
    snapshot : StoreSnapshot
    cells : iterable of Cell
        Each once.
    columns : iterable of str
        What judging reads of any trial of the paper; seconds are kept in single precision.
    folder : Path
    """
    read = sorted({*columns} - {"cell", *NUMBERS, *LARGE})
    there = StoreSnapshot.take(packed_trials(folder), read, complete=True)
    ordered = sorted(cells, key=lambda cell: (cell.data, cell.id))  # numbers of one data set are alike, and pack better
    found = [(snapshot.rows(cell), there.rows(cell).size) for cell in ordered]
    table = snapshot.table.select(["cell", *NUMBERS, *read]).take(
        pa.array(np.concatenate([np.empty(0, np.int64), *(rows for rows, n_packed in found if rows.size > n_packed)]))
    )
    for name in {*TIMING} & {*read}:
        table = table.set_column(table.column_names.index(name), name, table[name].cast(pa.float32()))
    TrialStore(folder / "trials").write(table, compression_level=19, row_group_size=1 << 21)
