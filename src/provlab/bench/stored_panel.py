"""The stored panel: one Parquet file a method, which pandas or DuckDB read as one table, and the data sets as CSV.

A file has a line per trial, with the columns of `provlab.verdicts.panel_frame`. The key of a trial follows from its
cell, given by its short id, and from its numbers, see `provlab.core.keys`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from scipy import sparse

from provlab.bench.methods import panel_methods
from provlab.bench.panel import (
    READ,
    TABLE,
    PanelCell,
    PanelDataset,
    base_cell,
    names_of,
    panel_cells,
    panel_datasets,
    panel_frame,
    some,
    stored_folder,
)
from provlab.core.frames import planned_trials
from provlab.core.keys import trial_key
from provlab.core.plan import load_from
from provlab.core.records import NUMBERS, RANGES, check_range
from provlab.core.store import SCHEMA, TrialStore
from provlab.core.tables import write_frame
from provlab.data import Dataset, loader, read_source, source_names
from provlab.data.loaders.tables import table_entries
from provlab.verdicts.panel_frame import ALL_FEATURES, COLUMNS, KEY, WHERE, as_panel
from provlab.verdicts.panel_pairs import compared_with_all
from provlab.verdicts.panel_ranking import leaderboard
from provlab.verdicts.panel_scores import ALL, Scores
from provsel.files import replacing

VERSION = 1
"""Of the columns: files of another one are refused."""

NAMES = [*KEY, "model"]
"""Columns that say which cell of the panel a trial is of."""

_KINDS = {"str": pa.string(), "int64": pa.int32(), "float64": pa.float32()}
_SCHEMA = pa.schema([(name, _KINDS[kind]) for name, kind in COLUMNS.items()], metadata={"provsel_panel": str(VERSION)})

_SAME_RANGE = {
    **{name: column for column, name in READ.items() if column in RANGES},
    **dict.fromkeys(("balanced_accuracy", "support_f1", "false_discovery"), "error"), "select_cpu": "select_cpu",
    "n_features": "n_features",
}  # fmt: skip
"""Columns of the panel, and the column of records that has the same range."""

_DISTINCT = ["neg_log_loss", "subset_frobenius_ratio"]
_SMALL = {
    "compression": "zstd", "compression_level": 19, "write_statistics": False,
    "use_dictionary": [name for name in _SCHEMA.names if name not in _DISTINCT], "use_byte_stream_split": _DISTINCT,
}  # fmt: skip
"""Of Parquet's writer: 17 bytes a trial in the place of 23."""


def read_panel(folder: Path | None = None) -> pd.DataFrame:
    """Return a stored panel, by default the one that comes with provsel; errors as `read_table`."""
    return as_panel(read_table(stored_folder() if folder is None else folder))


def read_table(folder: Path) -> pd.DataFrame:
    """Return all files of a stored panel as one table.

    Raises
    ------
    ValueError
        For a file of another version, without a column, or not in Parquet; names it.
    """
    tables = [_SCHEMA.empty_table()]
    for path in sorted(folder.glob("*.parquet")):
        try:
            schema = pq.read_schema(path)
            stated = (schema.metadata or {}).get(b"provsel_panel", b"none").decode()
            if stated != str(VERSION):
                raise ValueError(f"version {VERSION} of a panel's file, got {stated}")
            tables.append(pq.read_table(path, columns=_SCHEMA.names).cast(_SCHEMA))
        except (pa.ArrowException, ValueError, KeyError) as error:
            raise ValueError(f"{path}: expected a file that provsel reference --panel writes: {error}.") from error
    return pa.concat_tables(tables).to_pandas()


def write_table(table: pd.DataFrame, folder: Path) -> None:
    """Write a table as the files of a panel, with its summaries; files of methods that it lacks are removed."""
    written = set()
    for method, part in table.groupby("method", sort=False):
        lines = part.sort_values(["dataset", "size", *NUMBERS, "model"])
        for name in ("select_cpu", "peak_bytes"):  # of which no more digits mean anything
            lines[name] = _rounded(lines[name].astype(float), 3)
        content = pa.Table.from_pandas(lines[_SCHEMA.names], _SCHEMA, preserve_index=False)
        path = folder / f"{re.sub(r'[^a-z0-9]+', '-', str(method).lower()).strip('-')}.parquet"
        with replacing(path) as temporary:
            pq.write_table(content.replace_schema_metadata(_SCHEMA.metadata), temporary, **_SMALL)
        written.add(path)
    for path in {*folder.glob("*.parquet")} - written:
        path.unlink()
    _write_results(folder)


def _rounded(values: pd.Series, digits: int) -> pd.Series:
    """Return numbers rounded to a number of significant digits."""
    return values.map(lambda value: float(f"{value:.{digits}g}"))


def _write_results(folder: Path) -> None:
    """Write the results of a stored panel as CSV tables with six digits.

    `_leaderboard.csv` has a line per method, see `provlab.verdicts.panel_ranking.leaderboard`. `_against_all.csv`
    compares each method with all features at each size, over all domains, over all data sets, and in each domain that
    is judged separately, see `pairs`. Nothing is written if the trials of all features are missing.
    """
    panel = read_panel(folder)
    if not (panel["method"] == ALL).any():
        return
    scores = Scores.of(panel)
    compared = pd.concat(compared_with_all(scores), names=["domain"]).reset_index()
    for name, frame in (("leaderboard", leaderboard(scores).reset_index()), ("against_all", compared)):
        numbers = frame.select_dtypes("float").apply(_rounded, digits=6)
        write_frame(frame.assign(**numbers), folder / f"_{name}.csv")


def pack_panel(store: TrialStore, folder: Path) -> dict[str, int]:
    """Write the stored trials of the panel into its files: each method and data set whose trials are all stored.

    Other lines stay, except for methods and data sets that are no longer in the panel.

    Returns
    -------
    dict
        Pairs of a method and a data set: `written` now, `partial` because trials are missing, and `stored` in total.
    """
    identities = {*pc.unique(store.read(["data"])["data"]).to_pylist()}
    datasets = {name: entry for name, entry in panel_datasets().items() if base_cell(entry).data in identities}
    cells = panel_cells(panel_methods(), datasets)
    plan = names_of(cells)
    plan["planned"] = [entry.cell.n_trials for entry in cells]
    n_stored = planned_trials(store, [entry.cell for entry in cells], []).groupby("place").size()
    plan["stored"] = n_stored.reindex(plan.index).fillna(0)
    sums = plan.groupby(["method", "dataset"], sort=False)[["planned", "stored"]].sum()
    complete = {*sums.index[sums["planned"] == sums["stored"]]}
    n_partial = int(((sums["stored"] > 0) & (sums["stored"] < sums["planned"])).sum())
    old = read_table(folder)
    in_panel = old["method"].isin([*panel_methods()]) & old["dataset"].isin([*panel_datasets()])
    is_replaced = pd.MultiIndex.from_frame(old[["method", "dataset"]]).isin([*complete])
    parts = [old[in_panel & ~is_replaced]]
    for name in {dataset for _, dataset in complete}:
        of_dataset = [entry for entry in cells if entry.dataset == name and (entry.method, name) in complete]
        parts.append(panel_frame(of_dataset, store))
    table = pd.concat([part[_SCHEMA.names] for part in parts if len(part)] or [old])
    write_table(table, folder)
    n_pairs = len(table[["method", "dataset"]].drop_duplicates())
    return {"written": len(complete), "partial": n_partial, "stored": n_pairs}


def cells_of_table(table: pd.DataFrame) -> dict[str, PanelCell]:
    """Return by short id the present cells of the panel for those methods and data sets of a table that it has."""
    methods = {name: method for name, method in panel_methods().items() if name in {*table["method"]}}
    datasets = {name: dataset for name, dataset in panel_datasets().items() if name in {*table["dataset"]}}
    return {entry.cell.short_id: entry for entry in panel_cells(methods, datasets)}


def check_table(table: pd.DataFrame, subject: str) -> dict[str, PanelCell]:
    """Return the cells of a table by short id, after comparing each with the local panel.

    Raises
    ------
    ValueError
        For a method or data set outside the panel; a cell with another id, because its config, a version or the id
        differs; a missing or repeated trial; an impossible number.
    """
    some("method", table["method"].unique(), panel_methods())
    some("dataset", table["dataset"].unique(), panel_datasets())
    cells = cells_of_table(table)
    expected = names_of([*cells.values()]).assign(now=[*cells])
    expected[["repeats", "folds", "draws"]] = [entry.cell.counts for entry in cells.values()]
    lines = table.merge(expected, on=[*NAMES, "domain"], how="left")
    wrong = lines[lines["cell"] != lines["now"]]
    if len(wrong):
        line = wrong.iloc[0]
        now = line["now"] if isinstance(line["now"], str) else "none"
        raise ValueError(
            f"{subject}: expected cells as the panel has them here, got {wrong['cell'].nunique()} others, such as "
            f"{line['cell'][:12]} of {line['method']} on {line['dataset']}, {line['size']} features, {line['model']}, "
            f"which is {now[:12]} here; the file was computed with other versions or settings, or was edited."
        )
    n_planned = sum(cells[cell].cell.n_trials for cell in lines["cell"].unique())
    if len(lines.drop_duplicates(["cell", *NUMBERS])) < len(lines) or len(lines) != n_planned:
        raise ValueError(
            f"{subject}: expected each of {n_planned} planned trials once, got {len(lines)} lines; compute the others, "
            f"or remove repeated lines."
        )
    beyond = lines[[*NUMBERS]].to_numpy() >= lines[["repeats", "folds", "draws"]].to_numpy()
    if beyond.any():
        raise ValueError(f"{subject}: its repeats and folds are not those of the plan; the file was edited.")
    for name, column in _SAME_RANGE.items():
        check_range(column, lines[name].dropna().to_numpy(), f"{subject}: {name}")
    return cells


def unpacked(table: pd.DataFrame, cells: Mapping[str, PanelCell]) -> pa.Table:
    """Return stored trials as records, with their keys and configs and with the numbers that the panel keeps.

    A cell that is not in `cells` has neither key nor config. Data sets and selectors have the names of the panel.
    """
    records = table.rename(columns={name: column for column, name in READ.items()})
    configs = table["cell"].map({cell: entry.cell.json for cell, entry in cells.items()})
    keys = []
    for config, *numbers in zip(configs, *(table[name] for name in NUMBERS), strict=True):
        keys.append(trial_key(config, *numbers) if isinstance(config, str) else None)
    ids = table["cell"].map({cell: entry.cell.id for cell, entry in cells.items()})
    records["cell"] = ids.fillna(table["cell"])
    records["key"] = keys
    records["config"] = configs.astype("category")
    records["selector"] = table["method"]
    arrays = {}
    for name in ("key", "cell", "config", *NUMBERS, *READ, "n_features", *WHERE, "dataset", "selector"):
        kind = SCHEMA.field(name).type if name in SCHEMA.names else pa.float64()
        arrays[name] = pa.array(records[name], None if name == "config" else kind, from_pandas=True)
    return pa.table(arrays)


# ---- its data sets


def write_dataset_table(folder: Path) -> Path:
    """Write a CSV line for each data set of the panel next to the stored trials, and return the path; loads each set.

    Columns: dataset, domain, source, as the panel has them. rows, columns, classes, of the data. smallest_class, rows
    of the class with the fewest. nonzero, share of the entries that are not zero. relevant, number of features that the
    label depends on, 0 where that is not known. licence, homepage, of the source, "" where there is no page. citation,
    what records of trials say of the data. choose, the overrides. data, identity of all that. error_forest and
    error_linear, the balanced error of all features that is stored.

    Raises
    ------
    MissingDataError
        A file of a data set is not here.
    """
    trials = read_panel(folder)
    of_all = trials[trials["size"] == ALL_FEATURES]
    errors = of_all.assign(error=1 - of_all["balanced_accuracy"]).pivot_table("error", "dataset", "model").round(4)
    lines = pd.DataFrame([_line(name, entry) for name, entry in panel_datasets().items()])
    write_frame(lines.join(errors.add_prefix("error_"), on="dataset"), folder / TABLE)
    return folder / TABLE


def _line(name: str, entry: PanelDataset) -> dict[str, Any]:
    return description(name, entry, load_from(base_cell(entry).dataset))


def description(name: str, entry: PanelDataset, data: Dataset) -> dict[str, Any]:
    """Return the columns read from a data set and its source, see `write_dataset_table`."""
    cell = base_cell(entry)
    licence, homepage = _licence_of(cell.dataset)
    values = data.X.data if sparse.issparse(data.X) else data.X
    return {
        "dataset": name,
        "domain": entry.domain,
        "rows": data.X.shape[0],
        "columns": data.X.shape[1],
        "classes": data.n_classes,
        "smallest_class": 0 if data.is_regression else np.unique(data.y, return_counts=True)[1].min(),
        "nonzero": round(np.count_nonzero(values) / np.prod(data.X.shape), 3),
        "relevant": entry.support,
        "source": entry.source,
        "licence": " ".join(licence.split()),
        "homepage": homepage,
        "citation": data.source,
        "choose": " ".join(entry.choose),
        "data": cell.data,
    }


def _licence_of(dataset: Mapping[str, Any]) -> tuple[str, str]:
    """Return the licence and the homepage of a data set's source."""
    name = dataset["name"]
    if name == "tables":
        collection = table_entries()[dataset["set"]].collection
        return collection.licence, collection.homepage
    if name in source_names():
        source = read_source(name)
        return source.licence, source.homepage
    return getattr(loader(name), "LICENCE", "Generated by provsel."), ""
