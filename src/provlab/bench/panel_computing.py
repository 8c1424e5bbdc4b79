"""The panel is computed data set by data set, and resumed at any time: files of complete sets stay."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from provlab.bench.methods import panel_methods
from provlab.bench.panel import PanelCell, PanelDataset, panel_cells, panel_datasets, shape_of
from provlab.bench.stored_panel import file_of, is_complete, write_dataset
from provlab.core.frames import planned_trials
from provlab.core.store import TrialStore
from provlab.data import MissingDataError
from provlab.run.runner import run_cells

Plan = Callable[[str], Sequence[PanelCell]]
"""Returns the cells of a data set, given its name."""

Write = Callable[[str, Sequence[PanelCell], TrialStore, Path], None]
"""Writes the trials of a data set from a store into a folder, given its name and its cells."""


def cells_of_panel(name: str) -> list[PanelCell]:
    """Return the cells of all methods of the panel on one of its data sets."""
    return panel_cells(panel_methods(), {name: panel_datasets()[name]})


def compute(
    names: Iterable[str],
    results: Path,
    folder: Path,
    executor: Mapping[str, Any],
    hours: float,
    plan: Plan = cells_of_panel,
    write: Write = write_dataset,
) -> Iterator[dict[str, Any]]:
    """Compute the data sets whose file is not complete, in the given order; begin none after so many hours.

    Yields
    ------
    dict
        data set, trials, failed, and CPU s, of those computed now; `state` says why a set was left out.
    """
    end = time.monotonic() + hours * 3600
    for name in names:
        cells = plan(name)
        if is_complete(name, cells, folder):
            continue
        if time.monotonic() > end:
            return
        before = time.process_time()
        store = TrialStore(results / file_of(name, Path()).stem / "store")
        try:
            report = run_cells([entry.cell for entry in cells], store, executor, label=name)
        except MissingDataError as error:
            yield {"data set": name, "state": str(error)}
            continue
        if report.failures:
            yield {"data set": name, "state": report.summary()}
            continue
        write(name, cells, store, folder)
        counts = planned_trials(store, [entry.cell for entry in cells], ["failure", "task_cpu"])
        yield {
            "data set": name,
            "trials": len(counts),
            "failed": int((counts["failure"].fillna("") != "").sum()),
            "CPU s": round(counts["task_cpu"].sum()),
            "here s": round(time.process_time() - before),
        }


def in_turn(datasets: Mapping[str, PanelDataset]) -> list[str]:
    """Return data sets in the order of computing: a first one of each source, then a second one; the smallest first."""
    frame = pd.DataFrame({"source": [entry.source for entry in datasets.values()]}, index=[*datasets])
    shapes = [shape_of(entry) for entry in datasets.values()]
    frame["entries"] = [rows * columns * max(1, classes) for rows, columns, classes in shapes]
    frame = frame.sort_values("entries", kind="stable")
    frame["round"] = frame.groupby("source").cumcount()
    return [*frame.sort_values(["round", "entries"], kind="stable").index]
