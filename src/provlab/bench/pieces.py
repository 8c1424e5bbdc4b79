"""The trials of the larger benchmark, a Parquet file a data set, computed set by set and resumed at any time.

A piece has all trials of a data set that the plan asks for. What is committed is computed no second time. Beside the
pieces stands how alike the methods' selections are, of which the features themselves are not kept.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from provlab.bench.larger import LargerMethod, larger_cells, larger_methods, shape_on_card
from provlab.bench.panel import (
    PanelCell,
    PanelDataset,
    names_of,
    selection_measures,
    stored_folder,
    with_places_in_data,
)
from provlab.core.frames import planned_trials
from provlab.core.plan import places_of_first
from provlab.core.snapshot import TrialReader
from provlab.core.store import TrialStore
from provlab.data import MissingDataError
from provlab.run.runner import run_cells
from provlab.verdicts.panel_families import overlaps
from provlab.verdicts.panel_frame import KEY, WHERE
from provsel.files import replacing

Plan = Callable[[str, PanelDataset, Mapping[str, LargerMethod]], list[PanelCell]]

FOLDER = "larger"
"""Of the pieces, beside the stored panel."""

OVERLAPS = "overlaps"
"""Of files on how alike the selections are, in the folder of the pieces."""

ALIKE_SIZE = 20
"""Number of features at which selections are compared, or the largest below where columns are fewer."""

CELL_DIGITS = 12
"""Hexadecimal digits of a cell's id: 48 bits tell the thousand cells of a data set apart."""

READ = [
    "n_selected", "class_rows", "class_errors", "neg_log_loss", "roc_auc_ovr", "r2", "mae", "subset_ratio",
    "select_cpu", "shared_cpu", "peak_memory", "n_features", "failure", *WHERE,
]  # fmt: skip
"""Columns of the records."""

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
"""A line a trial. size: as in `provlab.verdicts.panel_frame`. class_rows and class_errors: test rows of each class, and
those with another prediction. select_cpu: with all that it shares with others. The measures of a selection stand in the
line of each of its trials."""

DIGITS = {"select_cpu": 3, "peak_memory": 3, "subset_ratio": 4, "neg_log_loss": 5, "roc_auc_ovr": 5, "r2": 5, "mae": 5}
"""Significant digits: no more mean anything, and a file has half the bytes."""


def pieces_folder() -> Path:
    """Return the folder of the pieces that come with provsel."""
    return stored_folder() / FOLDER


def piece_path(name: str, folder: Path) -> Path:
    """Return the file of a data set."""
    return folder / f"{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')}.parquet"


def read_pieces(folder: Path | None = None) -> pd.DataFrame:
    """Return the trials of all pieces, with the data set of each in `dataset`."""
    tables = []
    for path in sorted((folder or pieces_folder()).glob("[!_]*.parquet")):
        name = pq.read_schema(path).metadata[b"dataset"].decode()
        tables.append(pq.read_table(path).to_pandas().assign(dataset=name))
    return pd.concat(tables, ignore_index=True) if tables else SCHEMA.empty_table().to_pandas().assign(dataset="")


def is_complete(name: str, cells: Sequence[PanelCell], folder: Path) -> bool:
    """Return whether the piece of a data set has all trials of its cells."""
    path = piece_path(name, folder)
    if not path.is_file():
        return False
    stored = pq.read_table(path, columns=["cell"]).to_pandas()["cell"].value_counts()
    planned = pd.Series({entry.cell.id[:CELL_DIGITS]: entry.cell.n_trials for entry in cells})
    return bool((stored.reindex(planned.index).fillna(0) >= planned).all())


def larger_frame(cells: Sequence[PanelCell], store: TrialReader) -> pd.DataFrame:
    """Return the stored trials of the cells of one data set, with the columns of `SCHEMA`."""
    trials = _trials(cells, store, [*READ, "features", "feature_names"])
    trials["select_cpu"] += trials["shared_cpu"]
    selections = _one_judge(trials)
    support = _support(cells)
    lines = []
    for key, of_selection in selections.groupby(KEY, sort=False):
        lines.append(dict(zip(KEY, key, strict=True)) | selection_measures(of_selection, support))
    measures = ["stability", "stability_se", "support_f1", "support_recall", "false_discovery"]
    frame = trials.merge(pd.DataFrame(lines, columns=[*KEY, *measures]), how="left", on=KEY)
    frame = frame.rename(columns={"model": "judge"})
    frame["cell"] = frame["cell"].str[:CELL_DIGITS]
    frame["failure"] = frame["failure"].fillna("")
    for name, digits in DIGITS.items():
        frame[name] = _rounded(frame[name], digits)
    return frame.sort_values(["method", "size", "repeat", "fold", "judge"])[SCHEMA.names].reset_index(drop=True)


def selection_overlaps(cells: Sequence[PanelCell], store: TrialReader) -> pd.DataFrame:
    """Return how alike the selections of each two methods are on a data set: first, second, overlap.

    At `ALIKE_SIZE` features, as `provlab.verdicts.panel_families.overlaps`; in percent.
    """
    sizes = {entry.size for entry in cells if 0 < entry.size <= ALIKE_SIZE}
    chosen = [entry for entry in cells if entry.size == max(sizes, default=0)]
    selections = _one_judge(_trials(chosen, store, ["features", "feature_names", "n_features"]))
    selections = selections[selections["features"].notna() & (selections["draw"] == 0)]
    last = selections["features"].map(lambda features: max(features, default=0)).max()
    # places of columns in the data set, of which folds may leave out others
    selections = selections.assign(n_features=max(selections["n_features"].max(), last + 1))
    table = overlaps(selections)
    first, second = np.triu_indices(len(table), 1)
    overlap = table.to_numpy()[first, second]
    frame = pd.DataFrame(
        {"first": table.index[first], "second": table.index[second], "overlap": np.round(100 * overlap)}
    )
    return frame.dropna().astype({"overlap": "int8"}).reset_index(drop=True)


def _trials(cells: Sequence[PanelCell], store: TrialReader, columns: Sequence[str]) -> pd.DataFrame:
    """Return stored trials with the names of their cells; features are places in the data set."""
    trials = planned_trials(store, [entry.cell for entry in cells], columns)
    trials = trials.join(names_of(cells), on="place")
    return with_places_in_data(trials, cells[0].cell.dataset)


def _one_judge(trials: pd.DataFrame) -> pd.DataFrame:
    """Return the trials of one judge of each selection: all have the same, but of what draws."""
    return trials[trials["model"] == trials.groupby(KEY)["model"].transform("max")]


def _support(cells: Sequence[PanelCell]) -> frozenset[int] | None:
    first = cells[0]
    return places_of_first(first.cell.dataset, first.support) if first.support else None


def _rounded(values: pd.Series, digits: int) -> pd.Series:
    """Return numbers with some significant digits."""
    return values.map(lambda value: float(f"{value:.{digits}g}"))


def write_piece(name: str, cells: Sequence[PanelCell], store: TrialReader, folder: Path) -> None:
    """Write the trials of a data set, and how alike its selections are."""
    (folder / OVERLAPS).mkdir(parents=True, exist_ok=True)
    frame = larger_frame(cells, store)
    table = pa.Table.from_pandas(frame, SCHEMA, preserve_index=False)
    _write(table.replace_schema_metadata({"dataset": name}), piece_path(name, folder))
    alike = selection_overlaps(cells, store)
    _write(pa.Table.from_pandas(alike, preserve_index=False), piece_path(name, folder / OVERLAPS))


def _write(table: pa.Table, path: Path) -> None:
    with replacing(path) as temporary:
        pq.write_table(table, temporary, compression="zstd", compression_level=19, write_statistics=False)


def compute(
    datasets: Mapping[str, PanelDataset],
    results: Path,
    folder: Path,
    executor: Mapping[str, Any],
    hours: float,
    plan: Plan = larger_cells,
) -> Iterator[dict[str, Any]]:
    """Compute data sets whose piece is not complete, one after the other; begin none after so many hours.

    `plan` returns the cells of a data set.

    Yields
    ------
    dict
        data set, trials, failed, and CPU s, of those computed now; `state` says why a set was left out.
    """
    end = time.monotonic() + hours * 3600
    for name in in_turn(datasets):
        cells = plan(name, datasets[name], larger_methods())
        if is_complete(name, cells, folder):
            continue
        if time.monotonic() > end:
            return
        before = time.process_time()
        store = TrialStore(results / piece_path(name, Path()).stem / "store")
        try:
            report = run_cells([entry.cell for entry in cells], store, executor, label=name)
        except MissingDataError as error:
            yield {"data set": name, "state": str(error)}
            continue
        if report.failures:
            yield {"data set": name, "state": report.summary()}
            continue
        write_piece(name, cells, store, folder)
        counts = planned_trials(store, [entry.cell for entry in cells], ["failure", "task_cpu"])
        yield {
            "data set": name,
            "trials": len(counts),
            "failed": int((counts["failure"].fillna("") != "").sum()),
            "CPU s": round(counts["task_cpu"].sum()),
            "here s": round(time.process_time() - before),
        }


def in_turn(datasets: Mapping[str, PanelDataset]) -> list[str]:
    """Return data sets so that domains take turns, each with its smallest first."""
    sizes = {name: np.prod(shape_on_card(name)[:2]) * max(1, shape_on_card(name)[2]) for name in datasets}
    frame = pd.DataFrame({"domain": [entry.domain for entry in datasets.values()]}, index=[*datasets])
    frame["entries"] = pd.Series(sizes)
    frame = frame.sort_values("entries", kind="stable")
    frame["turn"] = frame.groupby("domain").cumcount()
    return [*frame.sort_values(["turn", "entries"], kind="stable").index]
