"""Controls of the benchmark: which data sets have permuted labels, their cells, and errors beside chance."""

import numpy as np
import pandas as pd
import pytest

from provlab.bench.methods import panel_methods
from provlab.bench.permuted import SIZE, excess_errors, permuted_cells, permuted_datasets
from provlab.verdicts.panel_frame import ALL_FEATURES, CHOSEN_SIZE, OWN_SIZE


def test_permuted_sets_have_classes_and_each_is_of_another_domain():
    datasets = permuted_datasets()
    assert len(datasets) >= 12
    assert len({dataset.domain for dataset in datasets.values()}) == len(datasets)
    assert {dataset.task for dataset in datasets.values()} == {"classification"}


SIZES = {
    "F-test": {SIZE, CHOSEN_SIZE},
    "all features": {ALL_FEATURES},
    "Boruta, its number": {OWN_SIZE},
    "bagged RFE": {SIZE},
}


def test_methods_have_cells_on_permuted_labels_by_one_judge_at_few_sizes():
    methods = {name: panel_methods()[name] for name in SIZES}
    cells = permuted_cells(methods, {"mdrr": permuted_datasets()["mdrr"]})
    assert {entry.model for entry in cells} == {"linear"}
    assert {name: {entry.size for entry in cells if entry.method == name} for name in SIZES} == SIZES
    assert all(entry.cell.dataset["permute_labels"] == 1 for entry in cells)
    assert all(entry.support == 0 for entry in cells)


def test_errors_are_compared_with_chance_by_class(tmp_path):
    """Of 10 and 30 rows half are wrong, then all of the first; of three classes every error is that of a guess."""
    two = [("F-test", 20, [6, 20], [3, 10]), ("F-test", 20, [4, 10], [2, 5]), ("RFE", 20, [10, 30], [10, 15])]
    three = [("F-test", 20, [3, 3, 6], [2, 2, 4]), ("RFE", 20, None, None)]
    for name, lines in {"two": two, "three": three}.items():
        frame = pd.DataFrame(lines, columns=["method", "size", "class_rows", "class_errors"])
        frame.to_parquet(tmp_path / f"{name}.parquet")
    excess = excess_errors(tmp_path).set_index("method")
    assert excess.loc["F-test", "excess"] == pytest.approx(0)
    assert excess.loc["RFE", "excess"] == pytest.approx(25)
    assert excess["sets"].to_dict() == {"F-test": 2, "RFE": 1}
    assert np.isnan(excess.loc["RFE", "standard_error"])
