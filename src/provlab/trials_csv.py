"""Trials as CSV files, for people and for other programs.

`trials.csv` has a line a trial; what is long and the same for many stands apart: `cells.csv` has the config of each
cell, `environments.csv` what each environment is. A missing value is empty, an empty text is quoted (`""`), numbers
have all their digits, a list of features is `3 1 2`. Before a text that a spreadsheet would take for a formula stands a
single quote, see `provlab.messages`.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv

from provlab.messages import as_cell, visible
from provsel.files import replacing

TRIALS, CELLS, ENVIRONMENTS = "trials.csv", "cells.csv", "environments.csv"


def write_trials(trials: pa.Table, folder: Path) -> None:
    """Write records as the three files of a folder.

    Parameters
    ----------
    trials : Table
        As `TrialStore.query` gives them, with all columns.
    folder : Path
    """
    cells = trials.select(["cell", "config"]).group_by(["cell", "config"], use_threads=False).aggregate([])
    write_csv(cells.sort_by("cell"), folder / CELLS)
    texts = trials["environment"].unique().drop_null()
    names = pa.array([hashlib.sha256(text.encode()).hexdigest()[:16] for text in texts.to_pylist()], pa.string())
    write_csv(pa.table({"environment": names, "text": texts}).sort_by("environment"), folder / ENVIRONMENTS)
    columns = {name: trials[name] for name in trials.column_names if name != "config"}
    columns["environment"] = names.take(pc.index_in(trials["environment"], value_set=texts))
    write_csv(pa.table(columns), folder / TRIALS)


def write_csv(table: pa.Table, path: Path) -> None:
    """Write a table whole or not at all, no text of which is a formula; lists are texts such as "3 1 2"."""
    for place, field in enumerate(table.schema):
        column = table[field.name]
        if pa.types.is_list(field.type):
            column = pc.binary_join(pc.cast(column, pa.list_(pa.string())), " ")
        elif pa.types.is_string(field.type):
            texts = column.unique().drop_null()
            safe = pa.array([as_cell(visible(text)) for text in texts.to_pylist()], pa.string())
            column = safe.take(pc.index_in(column, value_set=texts))
        table = table.set_column(place, field.name, column)
    with replacing(path) as temporary:
        pcsv.write_csv(table, temporary)
