"""Computation of the panel, one data set at a time.

It can be interrupted and resumed; the files of complete data sets are kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from provlab.bench.methods import PanelMethod, panel_methods
from provlab.bench.panel import PanelCell, PanelDataset, panel_cells, shape_of
from provlab.bench.stored_panel import file_of, is_complete, write_dataset
from provlab.core.frames import planned_trials
from provlab.core.store import TrialStore
from provlab.data import MissingDataError
from provlab.run.runner import run_cells

Plan = Callable[[Mapping[str, PanelMethod], Mapping[str, PanelDataset]], list[PanelCell]]
"""Function that returns the cells of methods on data sets."""


def compute(
    datasets: Mapping[str, PanelDataset],
    results: Path,
    folder: Path,
    executor: Mapping[str, Any],
    hours: float,
    plan: Plan = panel_cells,
) -> Iterator[dict[str, Any]]:
    """Compute the data sets whose files are incomplete in the given order, until a time limit.

    No data set is started after the given number of hours.

    `plan` returns the cells of methods on data sets.

    Yields
    ------
    dict
        data set, trials, failed, and CPU s of the trials computed now; `state` says why a data set was skipped.
    """
    end = time.monotonic() + hours * 3600
    for name, dataset in datasets.items():
        cells = plan(panel_methods(), {name: dataset})
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
        write_dataset(name, cells, store, folder)
        counts = planned_trials(store, [entry.cell for entry in cells], ["failure", "task_cpu"])
        yield {
            "data set": name,
            "trials": len(counts),
            "failed": int((counts["failure"].fillna("") != "").sum()),
            "CPU s": round(counts["task_cpu"].sum()),
            "here s": round(time.process_time() - before),
        }


def in_turn(datasets: Mapping[str, PanelDataset]) -> list[str]:
    """Return data set names with the domains taking turns, the smallest data set of each domain first."""
    frame = pd.DataFrame({"domain": [entry.domain for entry in datasets.values()]}, index=[*datasets])
    shapes = [shape_of(entry) for entry in datasets.values()]
    frame["entries"] = [rows * columns * max(1, classes) for rows, columns, classes in shapes]
    frame = frame.sort_values("entries", kind="stable")
    frame["turn"] = frame.groupby("domain").cumcount()
    return [*frame.sort_values(["turn", "entries"], kind="stable").index]
