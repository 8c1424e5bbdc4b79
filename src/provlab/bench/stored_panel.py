"""The stored panel: one Parquet file per data set with all planned trials, which can be read as a DataFrame.

Committed trials are never recomputed. Further files hold the similarity of the methods'
selections, because the selected features are not stored. The key of a trial follows
from its cell, identified by the first digits of its id, and from its repeat and fold,
see `provlab.core.keys`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from provlab.bench.methods import PanelMethod
from provlab.bench.panel import (
    PanelCell,
    PanelDataset,
    panel_cells,
    panel_datasets,
    stored_folder,
)
from provlab.core.frames import planned_trials
from provlab.core.keys import trial_key
from provlab.core.plan import feature_names_of, places_of_first
from provlab.core.records import NUMBERS
from provlab.core.snapshot import TrialReader
from provlab.core.store import SCHEMA as RECORDS
from provlab.verdicts.panel_families import overlaps
from provlab.verdicts.panel_frame import KEY, WHERE, as_panel
from provsel.files import replacing
from provsel.stability import stability

OVERLAPS = "overlaps"
"""Subfolder for the similarities of selections."""

ALIKE_SIZE = 20
"""Number of features at which selections are compared, or the largest smaller size if there are fewer columns."""

CELL_DIGITS = 12
"""Number of hexadecimal digits of a cell id; 48 bits distinguish the thousand cells of a data set."""

KEPT = [
    "n_selected", "n_features", "class_rows", "class_errors", "neg_log_loss", "roc_auc_ovr", "r2", "mae",
    "subset_ratio", "failure",
]  # fmt: skip
"""Columns of the records that an audit compares."""

PARTS = ["variant", "method", "size", "judge"]
"""Columns that name a cell of a data set; only studies have variants."""

READ = [*KEPT, "select_cpu", "shared_cpu", "peak_memory", *WHERE]
"""Columns read from the records."""

SCHEMA = pa.schema([
    ("method", pa.string()), ("size", pa.int16()), ("judge", pa.string()), ("repeat", pa.int8()), ("fold", pa.int8()),
    ("cell", pa.string()), ("n_selected", pa.int32()), ("n_features", pa.int32()),
    ("class_rows", pa.list_(pa.int32())), ("class_errors", pa.list_(pa.int32())),
    ("neg_log_loss", pa.float32()), ("roc_auc_ovr", pa.float32()), ("r2", pa.float32()), ("mae", pa.float32()),
    ("subset_ratio", pa.float32()), ("select_cpu", pa.float32()), ("peak_memory", pa.float32()),
    ("stability", pa.float32()), ("stability_se", pa.float32()),
    ("support_f1", pa.float32()), ("support_recall", pa.float32()), ("false_discovery", pa.float32()),
    ("failure", pa.string()), *[(name, pa.string()) for name in WHERE],
])  # fmt: skip
"""One row per trial. size is as in `provlab.verdicts.panel_frame`. class_rows and class_errors are the numbers of test
rows of each class, and of wrong predictions among them. select_cpu includes shared computations. The measures of a
selection are repeated in the row of each of its trials."""

DIGITS = {
    "select_cpu": 3,
    "peak_memory": 3,
    "subset_ratio": 4,
    "neg_log_loss": 5,
    "roc_auc_ovr": 5,
    "r2": 5,
    "mae": 5,
}
"""Significant digits per column. Further digits are meaningless, and dropping them halves the file size."""


def file_of(name: str, folder: Path) -> Path:
    """Return the file of a data set."""
    return folder / f"{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')}.parquet"


def read_panel(folder: Path | None = None) -> pd.DataFrame:
    """Return a stored panel as a DataFrame, by default the one of provsel; raises as `read_trials` does."""
    return panel_of(read_trials(folder), panel_datasets())


def read_trials(folder: Path | None = None) -> pd.DataFrame:
    """Return the columns of `SCHEMA` for all data sets, with the data set name in `dataset`.

    Data sets that are not in the panel are left out.

    Raises
    ------
    ValueError
        If a file lacks a column or is not in Parquet format. The message names the
        file.
    """
    tables = [SCHEMA.empty_table().to_pandas().assign(dataset="")]
    for path in sorted((folder or stored_folder()).glob("*.parquet")):
        name, trials = read_file(path)
        if name in panel_datasets():
            tables.append(trials.assign(dataset=name))
    return pd.concat(tables[1:] or tables, ignore_index=True)


def read_file(path: Path, schema: pa.Schema = SCHEMA) -> tuple[str, pd.DataFrame]:
    """Return the data set of a file of trials, and the columns of a schema; errors as in `read_trials`."""
    try:
        name = pq.read_schema(path).metadata[b"dataset"].decode()
        trials = pq.read_table(path, columns=schema.names).cast(schema).to_pandas()
    except (pa.ArrowException, ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path}: expected a file written by provsel panel: {error}."
        ) from error
    return name, trials


def not_stored(name: str, cells: Sequence[PanelCell], folder: Path) -> list[PanelCell]:
    """Return the cells of a data set whose trials its file lacks."""
    path = file_of(name, folder)
    if not path.is_file():
        return [*cells]
    stored = pq.read_table(path, columns=["cell", "repeat", "fold", "failure"])
    return lacking(cells, stored.to_pandas())


def lacking(cells: Sequence[PanelCell], trials: pd.DataFrame) -> list[PanelCell]:
    """Return the cells whose trials are incomplete; one trial is enough for a cell that failed."""
    once = trials.drop_duplicates(["cell", "repeat", "fold"])
    counts = once["cell"].value_counts()
    failed = {*once.loc[once["failure"] != "", "cell"]}
    missing = []
    for entry in cells:
        cell = entry.cell.id[:CELL_DIGITS]
        if cell not in failed and counts.get(cell, 0) < entry.cell.n_trials:
            missing.append(entry)
    return missing


def trials_of(cells: Sequence[PanelCell], store: TrialReader) -> pd.DataFrame:
    """Return the trials of the cells of one data set from a store, with the columns of `SCHEMA`."""
    trials = _trials(cells, store, [*READ, "features", "feature_names"])
    trials["select_cpu"] += trials["shared_cpu"]
    selections = _one_judge(trials)
    first = cells[0]
    support = (
        places_of_first(first.cell.dataset, first.support) if first.support else None
    )
    lines = []
    for key, of_selection in selections.groupby(KEY, sort=False):
        lines.append(
            dict(zip(KEY, key, strict=True)) | selection_measures(of_selection, support)
        )
    measures = [
        "stability",
        "stability_se",
        "support_f1",
        "support_recall",
        "false_discovery",
    ]
    frame = trials.merge(
        pd.DataFrame(lines, columns=[*KEY, *measures]), how="left", on=KEY
    )
    frame = frame.rename(columns={"model": "judge"})
    frame["cell"] = frame["cell"].str[:CELL_DIGITS]
    frame["failure"] = frame["failure"].fillna("")
    for name, digits in DIGITS.items():
        frame[name] = rounded(frame[name], digits)
    return frame[SCHEMA.names].reset_index(drop=True)


def selection_overlaps(cells: Sequence[PanelCell], store: TrialReader) -> pd.DataFrame:
    """Return the overlap of the selections of each pair of methods on a data set: first, second, overlap.

    The overlap is that of `provlab.verdicts.panel_families.overlaps`, in percent. The
    cells have the same number of features.
    """
    selections = _one_judge(
        _trials(cells, store, ["features", "feature_names", "n_features"])
    )
    selections = selections[selections["features"].notna()]
    last = selections["features"].map(lambda features: max(features, default=0)).max()
    # positions in the data set, because each fold may leave out other columns
    selections = selections.assign(
        n_features=max(selections["n_features"].max(), last + 1)
    )
    table = overlaps(selections)
    first, second = np.triu_indices(len(table), 1)
    overlap = table.to_numpy()[first, second]
    frame = pd.DataFrame(
        {
            "first": table.index[first],
            "second": table.index[second],
            "overlap": np.round(100 * overlap),
        }
    )
    return frame.dropna().astype({"overlap": "int8"}).reset_index(drop=True)


def _trials(
    cells: Sequence[PanelCell], store: TrialReader, columns: Sequence[str]
) -> pd.DataFrame:
    """Return stored trials with the names of their cells; features are positions in the data set."""
    trials = planned_trials(store, [entry.cell for entry in cells], columns)
    names = pd.DataFrame(
        [entry[:-1] for entry in cells], columns=[*PanelCell._fields[:-1]]
    )
    return _with_places_in_data(trials.join(names, on="place"), cells[0].cell.dataset)


def _one_judge(trials: pd.DataFrame) -> pd.DataFrame:
    """Return the trials of one judge per selection; the judges share selections unless these are random."""
    return trials[trials["model"] == trials.groupby(KEY)["model"].transform("max")]


def rounded(values: pd.Series, digits: int) -> pd.Series:
    """Return numbers rounded to the given significant digits."""
    return values.astype(float).map(lambda value: rounded_number(value, digits))


def rounded_number(value: float, digits: int) -> float:
    """Return a number rounded to the given significant digits."""
    return float(f"{value:.{digits}g}")


def write_dataset(
    name: str, cells: Sequence[PanelCell], store: TrialReader, folder: Path
) -> None:
    """Write the trials of cells of a data set, and the overlaps of their selections.

    Stored trials of other methods and sizes are kept. A method that is computed
    alone loses its overlaps with them, because their selections are not stored.
    """
    (folder / OVERLAPS).mkdir(parents=True, exist_ok=True)
    trials = replace_trials(name, trials_of(cells, store), folder)
    sizes = trials.loc[trials["size"].between(1, ALIKE_SIZE), "size"]
    chosen = [entry for entry in cells if entry.size == sizes.max()]
    if not chosen:
        return
    alike = selection_overlaps(chosen, store)
    path = file_of(name, folder / OVERLAPS)
    if path.is_file():
        stored = pd.read_parquet(path)
        computed = {entry.method for entry in chosen}
        is_kept = ~stored[["first", "second"]].isin(computed).any(axis=1)
        alike = pd.concat([stored[is_kept], alike], ignore_index=True)
        alike = alike.sort_values(["first", "second"], ignore_index=True)
    _write(pa.Table.from_pandas(alike, preserve_index=False), path)


def read_overlaps(folder: Path, task: str) -> pd.DataFrame:
    """Return the mean overlaps of selections over the stored data sets of a task, methods x methods.

    They are defined as in `provlab.verdicts.panel_families.overlaps`, and NaN for
    methods that were never compared.
    """
    tables = [pd.DataFrame({"first": [], "second": [], "overlap": []})]
    for name, dataset in panel_datasets().items():
        path = file_of(name, folder / OVERLAPS)
        if dataset.task == task and path.is_file():
            tables.append(pd.read_parquet(path))
    means = pd.concat(tables).groupby(["first", "second"])["overlap"].mean() / 100
    methods = sorted(
        {
            *means.index.get_level_values("first"),
            *means.index.get_level_values("second"),
        }
    )
    above = (
        means.unstack("second")
        .reindex(index=methods, columns=methods)
        .to_numpy(dtype=float, na_value=np.nan)
    )
    overlap = np.where(np.isnan(above), above.T, above)
    return pd.DataFrame(
        np.where(np.eye(len(methods)) > 0, 1.0, overlap), methods, methods
    )


def replace_trials(
    name: str, trials: pd.DataFrame, folder: Path, schema: pa.Schema = SCHEMA
) -> pd.DataFrame:
    """Write trials into the file of a data set, in place of those of the same cells, and return all that it has."""
    path = file_of(name, folder)
    trials = trials[schema.names]
    if path.is_file():
        stored = read_file(path, schema)[1]
        parts = [part for part in PARTS if part in schema.names]
        computed = pd.MultiIndex.from_frame(trials[parts])
        is_kept = ~pd.MultiIndex.from_frame(stored[parts]).isin(computed)
        trials = pd.concat([stored[is_kept], trials], ignore_index=True)
    write_trials(name, trials, folder, schema)
    return trials


def write_trials(
    name: str, trials: pd.DataFrame, folder: Path, schema: pa.Schema = SCHEMA
) -> None:
    """Write the columns of a schema as the file of a data set."""
    keys = [
        key
        for key in ("variant", "method", "size", "repeat", "fold", "judge")
        if key in schema.names
    ]
    table = pa.Table.from_pandas(trials.sort_values(keys), schema, preserve_index=False)
    _write(table.replace_schema_metadata({"dataset": name}), file_of(name, folder))


def _write(table: pa.Table, path: Path) -> None:
    with replacing(path) as temporary:
        pq.write_table(
            table,
            temporary,
            compression="zstd",
            compression_level=19,
            write_statistics=False,
        )


def panel_of(
    trials: pd.DataFrame, datasets: Mapping[str, PanelDataset]
) -> pd.DataFrame:
    """Return trials as a DataFrame, see `provlab.verdicts.panel_frame`.

    Parameters
    ----------
    trials : DataFrame
        See `read_trials`.
    datasets : mapping
        Data sets by name, with their domains and tasks.
    """
    errors, balanced = _errors_by_class(trials)
    # numeric targets have R^2 instead of the balanced accuracy; predictions worse than
    # the mean count as the mean
    accuracies = (1 - balanced).fillna(trials["r2"].astype(float).clip(lower=0))
    names = {
        "judge": "model",
        "subset_ratio": "subset_frobenius_ratio",
        "peak_memory": "peak_bytes",
    }
    renamed = trials.rename(columns={**names, "roc_auc_ovr": "roc_auc"})
    for column in ("domain", "source", "task"):
        renamed[column] = trials["dataset"].map(
            {name: getattr(entry, column) for name, entry in datasets.items()}
        )
    return as_panel(renamed.assign(error=errors, balanced_accuracy=accuracies))


def _errors_by_class(trials: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """Return the error and the balanced error of each trial; NaN if no classes were counted."""
    frame = pd.DataFrame({"error": np.nan, "balanced": np.nan}, index=trials.index)
    counted = trials[trials["class_rows"].notna()]
    if len(counted):
        starts = np.append(0, counted["class_rows"].map(len).cumsum())[:-1]
        rows = np.concatenate([*counted["class_rows"]])
        wrong = np.concatenate([*counted["class_errors"]])
        has_rows = rows > 0
        shares = np.divide(wrong, rows, out=np.zeros(rows.size), where=has_rows)
        frame.loc[counted.index, "error"] = np.add.reduceat(
            wrong, starts
        ) / np.add.reduceat(rows, starts)
        frame.loc[counted.index, "balanced"] = np.add.reduceat(
            shares, starts
        ) / np.add.reduceat(has_rows, starts)
    return frame["error"], frame["balanced"]


def trials_from(store: TrialReader, cells: Sequence[PanelCell]) -> pd.DataFrame:
    """Return the stored trials of cells with the columns of `read_trials`."""
    parts = []
    for name in dict.fromkeys(entry.dataset for entry in cells):
        of_dataset = [entry for entry in cells if entry.dataset == name]
        parts.append(trials_of(of_dataset, store).assign(dataset=name))
    return pd.concat(parts, ignore_index=True)


def _with_places_in_data(
    trials: pd.DataFrame, dataset: Mapping[str, Any]
) -> pd.DataFrame:
    """Return trials whose `features` number columns in the same way in each fold, whatever the preparation.

    Features are numbered by their position in the data set. Columns that a preparation
    creates, such as those of categories, come last.
    """
    if trials["feature_names"].isna().all():
        return trials
    places = {name: place for place, name in enumerate(feature_names_of(dataset))}
    selections = []
    for features, names in zip(
        trials["features"], trials["feature_names"], strict=True
    ):
        if names is not None and features is not None:  # None if all are selected
            features = np.array(
                [places.setdefault(name, len(places)) for name in names]
            )
        selections.append(features)
    return trials.assign(
        features=pd.Series(selections, index=trials.index, dtype=object)
    )


def selection_measures(
    trials: pd.DataFrame, support: frozenset[int] | None
) -> dict[str, float]:
    """Return the measures that need all folds of a selection, if every fold selects a proper subset."""
    if trials["features"].isna().any():
        return {}
    measures: dict[str, float] = {}
    n_features = int(trials["n_features"].max())
    selected = np.unique(np.concatenate([*trials["features"]]))
    reports = []
    for _, folds in trials.groupby("repeat")["features"]:
        if len(folds) > 1 and folds.map(len).any():
            # numbers below n_features: positions are larger if left-out columns are
            # counted
            numbers = [np.searchsorted(selected, features) for features in folds]
            reports.append(stability(numbers, max(n_features, selected.size)))
    if reports:
        measures["stability"] = float(np.mean([report.index for report in reports]))
        measures["stability_se"] = float(
            np.mean([report.variance**0.5 for report in reports])
        )
    if support is not None:
        sizes = trials["features"].map(len)
        hits = trials["features"].map(
            lambda features: len(support.intersection(features.tolist()))
        )
        measures["support_recall"] = (hits / len(support)).mean()
        measures["support_f1"] = (2 * hits / (sizes + len(support))).mean()
        # an empty selection has no false discovery
        measures["false_discovery"] = (1 - hits / sizes).fillna(0.0).mean()
    return measures


# ---- audits


def cells_of(
    trials: pd.DataFrame, methods: Mapping[str, PanelMethod]
) -> dict[str, PanelCell]:
    """Return the current cells of the methods and data sets of trials, by the first digits of their ids."""
    methods = {
        name: method for name, method in methods.items() if name in {*trials["method"]}
    }
    datasets = {
        name: dataset
        for name, dataset in panel_datasets().items()
        if name in {*trials["dataset"]}
    }
    return {
        entry.cell.id[:CELL_DIGITS]: entry for entry in panel_cells(methods, datasets)
    }


def unpacked(trials: pd.DataFrame, cells: Mapping[str, PanelCell]) -> pa.Table:
    """Return trials as records with their keys, configs and stored numbers.

    Trials of a cell that is not in `cells` have neither key nor config. Data sets and
    selectors are named as in the panel.
    """
    records = trials.assign(draw=0, selector=trials["method"])
    for name, digits in DIGITS.items():  # single precision has changed their bits
        records[name] = rounded(records[name], digits)
    configs = trials["cell"].map(
        {cell: entry.cell.json for cell, entry in cells.items()}
    )
    keys = []
    for config, *numbers in zip(
        configs, *(records[name] for name in NUMBERS), strict=True
    ):
        keys.append(trial_key(config, *numbers) if isinstance(config, str) else None)
    ids = trials["cell"].map({cell: entry.cell.id for cell, entry in cells.items()})
    records["cell"] = ids.fillna(trials["cell"])
    records["key"] = keys
    records["config"] = configs.astype("category")
    arrays = {}
    for name in (
        "key",
        "cell",
        "config",
        *NUMBERS,
        *KEPT,
        *WHERE,
        "dataset",
        "selector",
    ):
        kind = RECORDS.field(name).type if name in RECORDS.names else None
        arrays[name] = pa.array(
            records[name], None if name == "config" else kind, from_pandas=True
        )
    return pa.table(arrays)
