"""Controls of the benchmark: all methods on some data sets with permuted labels.

Permuted labels cannot be learned. A method whose balanced error is below that of guessing has used
test rows or was lucky.
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
"""Folder of the control files within the folder of the stored panel."""

SIZE = 20
"""Requested number of features, in addition to the chosen size."""


def permuted_folder() -> Path:
    """Return the folder of the control files that come with provsel."""
    return stored_folder() / FOLDER


def permuted_datasets() -> Mapping[str, PanelDataset]:
    """Return the data sets with permuted labels by their names in the panel."""
    datasets = {}
    for name in panel_data().permuted:
        dataset = panel_datasets()[name]
        datasets[name] = replace(dataset, choose=(*dataset.choose, "+dataset.permute_labels=1"), support=0)
    return datasets


def permuted_cells(methods: Mapping[str, PanelMethod], datasets: Mapping[str, PanelDataset]) -> list[PanelCell]:
    """Return the cells of methods on data sets, with the judge of chosen sizes, at `SIZE`, chosen and own sizes."""
    sizes = (SIZE, CHOSEN_SIZE, OWN_SIZE, ALL_FEATURES)
    cells = panel_cells(methods, datasets)
    return [entry for entry in cells if entry.model == judging().chosen.judge and entry.size in sizes]


def excess_errors(folder: Path) -> pd.DataFrame:
    """Return the excess of balanced errors on permuted labels over the chance level 1 - 1 / classes.

    Returns
    -------
    DataFrame
        method, size, excess, standard_error and sets. The excess is the mean over data sets in
        points, with its standard error; the folds of a data set are pooled. sets is the number of
        data sets with at least one successful trial.
    """
    lines = []
    for path in sorted(folder.glob("*.parquet")):
        trials = pq.read_table(path, columns=["method", "size", "class_rows", "class_errors"]).to_pandas()
        trials = trials[trials["class_rows"].notna()]  # the other trials failed
        for (method, size), of_method in trials.groupby(["method", "size"]):
            rows = np.sum([*of_method["class_rows"]], axis=0)
            errors = np.sum([*of_method["class_errors"]], axis=0)
            excess = np.mean(errors / rows) - (1 - 1 / rows.size)
            lines.append({"method": method, "size": size, "excess": 100 * excess})
    groups = pd.DataFrame(lines, columns=["method", "size", "excess"]).groupby(["method", "size"])["excess"]
    frame = groups.agg(excess="mean", standard_error="sem", sets="size")
    return frame.reset_index()
