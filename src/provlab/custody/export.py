"""Export of a store for other people: the trials as Parquet, for `provsel merge`, and as one CSV file.

`trials.csv` has one line per trial. A missing value is empty, and an empty string is
quoted (`""`). Numbers have all their digits. A list of features is `3 1 2`, and a list
of names is JSON. A text that a spreadsheet would evaluate as a formula is preceded by a
single quote, see `provlab.project.messages`. `README.md` explains the columns, and
cites the data.
"""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv

from provlab.core.store import TrialStore
from provlab.core.tables import escape_markdown, table_lines, write_text
from provlab.data import read_source, source_names
from provlab.project.documents import MAX_CONFIG_DEPTH, parse_json
from provlab.project.messages import as_cell, visible
from provsel import __version__
from provsel.files import replacing, replacing_folder

TRIALS = "trials.csv"

TEXT = f"""# Trials of feature selection

Written by provsel {__version__}.

- `{TRIALS}` has one line for each trial: one repeat, fold and draw of a cell.
- `store` has the same trials as Parquet, with the versions and the processor that computed them. `provsel merge FOLDER`
  adds them to another store.

A cell is a data set, a selector, a model and a protocol; `config` is its configuration as JSON. `key` is the SHA-256
of that configuration, repeat, fold and draw. `data` identifies the rows and columns of the data set. `features` are
the selected features in order of selection, numbered from 0. If a preparation created columns, `feature_names` has
their names. `error` is the error on the test rows of the fold. Times are in seconds.

## Registered data sets

Data files are not part of this folder.
"""


def export(results: Path, target: Path) -> dict[str, str]:
    """Export the trials of a results folder, replacing an earlier export but no other files.

    Parameters
    ----------
    results : Path
    target : Path
        Folder, either new or an earlier export.

    Returns
    -------
    dict
        Description of each file, by its path in the folder.

    Raises
    ------
    ValueError
        If nothing is stored, or the folder holds something else.
    OSError
        If the folder cannot be written; the old one is kept.
    """
    store = TrialStore(results / "store")
    trials = store.query()
    if not len(trials):
        raise ValueError(
            f"export: expected stored trials in {store.folder}, found none; run provsel reproduce first."
        )
    if target.is_dir() and any(target.iterdir()) and not (target / TRIALS).is_file():
        raise ValueError(
            f"export: expected a new folder or an earlier export, got {target}; name another folder."
        )
    files = {
        TRIALS: "trials, one per line",
        "README.md": "columns, and citations of the data",
    }
    with replacing_folder(target, keep=True) as folder:
        TrialStore(folder / "store").add(trials)
        for path in (folder / "store").iterdir():
            files[f"store/{path.name}"] = "trials for provsel merge"
        write_csv(trials.drop_columns(["environment"]), folder / TRIALS)
        lines = data_set_table(trials)
        write_text(folder / "README.md", "\n".join([TEXT, *lines]) + "\n")
    return files


def data_set_table(trials: pa.Table) -> list[str]:
    """Return the registered data sets of the given trials as lines of a Markdown table: names, citations, licences."""
    configs = trials.group_by("data").aggregate([("config", "min")])["config_min"]
    names = set()
    for config in configs.drop_null().to_pylist():  # records of old versions have none
        names.add(parse_json(config, MAX_CONFIG_DEPTH)["dataset"]["name"])
    table = [["data set", "citation", "licence"]]
    for name in sorted(names.intersection(source_names())):
        source = read_source(name)
        table.append(
            [name, escape_markdown(source.citation), escape_markdown(source.licence)]
        )
    return table_lines(table)


def write_csv(table: pa.Table, path: Path) -> None:
    """Write a table atomically, with formulas escaped and with lists as strings such as "3 1 2"."""
    columns = {
        field.name: _as_cells(table[field.name], field.type) for field in table.schema
    }
    with replacing(path) as temporary:
        pcsv.write_csv(pa.table(columns), temporary)


def _as_cells(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray | pa.Array:
    """Return a column for CSV: numbers unchanged, strings without control characters and formulas."""
    # a name may contain spaces
    if pa.types.is_list(kind) and pa.types.is_string(kind.value_type):
        return pa.array([_json_of(names) for names in column.to_pylist()], pa.string())
    if pa.types.is_list(kind):
        return pc.binary_join(pc.cast(column, pa.list_(pa.string())), " ")
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        texts = column.unique().drop_null()
        cells = pa.array(
            [as_cell(visible(text)) for text in texts.to_pylist()], pa.string()
        )
        return cells.take(pc.index_in(column, value_set=texts))
    return column


def _json_of(names: list[str] | None) -> str | None:
    """Return a list of names as JSON; None if there is none."""
    if names is None:
        return None
    return json.dumps([visible(name) for name in names], ensure_ascii=False)
