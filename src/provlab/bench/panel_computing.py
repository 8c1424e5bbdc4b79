"""Computation of the panel, one data set at a time.

It can be interrupted and resumed; the files of complete data sets are kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from provlab.bench.methods import panel_methods
from provlab.bench.panel import (
    PanelCell,
    PanelDataset,
    panel_cells,
    panel_datasets,
    shape_of,
)
from provlab.bench.stored_panel import file_of, not_stored, write_dataset
from provlab.core.frames import planned_trials
from provlab.core.store import TrialStore
from provlab.data import MissingDataError
from provlab.run.runner import run_cells

Plan = Callable[[str], Sequence[PanelCell]]
"""Function that returns the cells of a data set, given its name."""

Write = Callable[[str, Sequence[PanelCell], TrialStore, Path], None]
"""Function that writes the trials of a data set, given its name and cells, from a store into a folder."""


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
    """Compute what the files of data sets lack, in the given order, until a time limit.

    No data set is started after the given number of hours. Trials of other methods that
    a file has are not computed again.

    Yields
    ------
    dict
        data set, trials, failed, and CPU s of the trials computed now; `state` says why
        a data set was skipped.
    """
    end = time.monotonic() + hours * 3600
    for name in names:
        cells = not_stored(name, plan(name), folder)
        if not cells:
            continue
        if time.monotonic() > end:
            return
        before = time.process_time()
        store = TrialStore(results / file_of(name, Path()).stem / "store")
        try:
            report = run_cells(
                [entry.cell for entry in cells], store, executor, label=name
            )
        except MissingDataError as error:
            yield {"data set": name, "state": str(error)}
            continue
        if report.failures:
            yield {"data set": name, "state": report.summary()}
            continue
        write(name, cells, store, folder)
        counts = planned_trials(
            store, [entry.cell for entry in cells], ["failure", "task_cpu"]
        )
        yield {
            "data set": name,
            "trials": len(counts),
            "failed": int((counts["failure"].fillna("") != "").sum()),
            "CPU s": round(counts["task_cpu"].sum()),
            "here s": round(time.process_time() - before),
        }


def in_turn(datasets: Mapping[str, PanelDataset]) -> list[str]:
    """Return data set names in the order of computing.

    The smallest data set of each source comes first, then the second one of each
    source, and so on.
    """
    frame = pd.DataFrame(
        {"source": [entry.source for entry in datasets.values()]}, index=[*datasets]
    )
    shapes = [shape_of(entry) for entry in datasets.values()]
    frame["entries"] = [
        rows * columns * max(1, classes) for rows, columns, classes in shapes
    ]
    frame = frame.sort_values("entries", kind="stable")
    frame["round"] = frame.groupby("source").cumcount()
    return [*frame.sort_values(["round", "entries"], kind="stable").index]
