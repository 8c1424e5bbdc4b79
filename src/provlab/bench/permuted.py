"""Controls of the benchmark: all methods on some of its data sets with permuted labels.

Nothing can be learned there. A method whose balanced error is below that of a guess has seen test rows, or was lucky.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from provlab.bench.methods import PanelMethod
from provlab.bench.panel import (
    PanelCell,
    PanelDataset,
    judging,
    panel_cells,
    panel_data,
    panel_datasets,
    stored_folder,
)
from provlab.verdicts.panel_frame import ALL_FEATURES, CHOSEN_SIZE, OWN_SIZE

FOLDER = "permuted"
"""Of their files, in the folder of the stored panel."""

SIZE = 20
"""Number of features that is asked for, beside the chosen one."""


def permuted_folder() -> Path:
    """Return the folder of their files that come with provsel."""
    return stored_folder() / FOLDER


def permuted_datasets() -> Mapping[str, PanelDataset]:
    """Return the data sets with permuted labels, by the names that they have in the panel."""
    datasets = {}
    for name in panel_data().permuted:
        dataset = panel_datasets()[name]
        datasets[name] = replace(dataset, choose=(*dataset.choose, "+dataset.permute_labels=1"), support=0)
    return datasets


def permuted_cells(methods: Mapping[str, PanelMethod], datasets: Mapping[str, PanelDataset]) -> list[PanelCell]:
    """Return the cells of methods on data sets: by the judge of chosen sizes, at `SIZE` and their own sizes."""
    sizes = (SIZE, CHOSEN_SIZE, OWN_SIZE, ALL_FEATURES)
    cells = panel_cells(methods, datasets)
    return [entry for entry in cells if entry.model == judging().chosen.judge and entry.size in sizes]


def excess_errors(folder: Path) -> pd.DataFrame:
    """Return how far balanced errors on permuted labels lie above chance, 1 - 1 / classes.

    Returns
    -------
    DataFrame
        method, size, excess and standard_error, in points: mean and its error over the data sets, of which the folds
        are pooled; sets, how many. A set of which no trial is left has none.
    """
    lines = []
    for path in sorted(folder.glob("*.parquet")):
        trials = pq.read_table(path, columns=["method", "size", "class_rows", "class_errors"]).to_pandas()
        trials = trials[trials["class_rows"].notna()]  # others failed
        for (method, size), of_method in trials.groupby(["method", "size"]):
            rows = np.sum([*of_method["class_rows"]], axis=0)
            errors = np.sum([*of_method["class_errors"]], axis=0)
            excess = np.mean(errors / rows) - (1 - 1 / rows.size)
            lines.append({"method": method, "size": size, "excess": 100 * excess})
    groups = pd.DataFrame(lines, columns=["method", "size", "excess"]).groupby(["method", "size"])["excess"]
    frame = groups.agg(excess="mean", standard_error="sem", sets="size")
    return frame.reset_index()
