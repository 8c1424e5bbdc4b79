"""The benchmark's panel of data: each set is there, small, of a source of its own, and shares no row with another."""

from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from provlab.bench import stored_panel as stored
from provlab.bench.panel import base_cell, panel_datasets
from provlab.core.composition import compose_config
from provlab.core.plan import load_from
from provlab.project.documents import read_plain_yaml

PANEL = read_plain_yaml(Path(stored.__file__).with_name("datasets.yaml"))


STORED = Path(__file__).parents[2] / "results" / "reference" / "benchmark" / "_datasets.csv"
TABLE = pd.read_csv(STORED, dtype=str, keep_default_na=False).to_dict("records")


@pytest.fixture(scope="module")
def loaded():
    """Data sets by name, each loaded once."""
    return {}


def load(name, loaded):
    if name not in loaded:
        loaded[name] = load_from(compose_config(PANEL[name]["choose"])["dataset"])
    return loaded[name]


def test_the_panel_is_as_wide_as_it_says():
    assert len(PANEL) >= 60
    assert len({entry["domain"] for entry in PANEL.values()}) >= 8
    assert sum("support" in entry for entry in PANEL.values()) >= 12
    assert len({entry["source"] for entry in PANEL.values()}) == len(PANEL)
    categories = [part for name in PANEL if name.startswith("TechTC") for part in name.split()[1].split("-")]
    assert len(set(categories)) == len(categories) == 40


def test_which_files_are_read_does_not_depend_on_what_is_there():
    for name, entry in PANEL.items():
        dataset = compose_config(entry["choose"])["dataset"]
        assert "auto" not in dataset.values() or dataset["name"] in ("techtc", "rcv1_ccat"), name


@pytest.mark.parametrize("name", PANEL)
def test_each_set_is_small_with_at_least_ten_rows_a_class(real_mirror, loaded, name):
    data = load(name, loaded)
    [line] = [line for line in TABLE if line["dataset"] == name]
    smallest = np.unique(data.y, return_counts=True)[1].min()
    values = data.X.data if sparse.issparse(data.X) else data.X
    stated = [int(line[column]) for column in ("rows", "columns", "classes", "smallest_class")]
    assert stated == [*data.X.shape, data.n_classes, smallest], "run: provsel reference --panel"
    assert (line["citation"], line["choose"]) == (data.source, " ".join(PANEL[name]["choose"]))
    assert line["data"] == base_cell(panel_datasets()[name]).data
    assert data.X.shape[0] <= 600
    assert smallest >= 10
    assert np.isfinite(values).all()
    assert PANEL[name].get("support", 1) < data.X.shape[1]
    if data.n_classes == 2:
        assert set(data.y.tolist()) == {-1, 1}


def test_the_stored_table_has_the_sets_of_the_panel_with_licence_and_the_error_of_all_features(monkeypatch, tmp_path):
    assert [line["dataset"] for line in TABLE] == [*PANEL]
    assert all(line["licence"] and line["citation"] for line in TABLE)
    names = ["wine", "shift"]
    trials = pd.DataFrame(
        [
            (method, name, size, model, balanced_accuracy)
            for name, accuracy in zip(names, (0.9, 0.7), strict=True)
            for method, size, model, balanced_accuracy in (
                ("all features", 0, "linear", accuracy),
                ("all features", 0, "linear", accuracy + 0.1),
                ("all features", 0, "forest", accuracy),
                ("random", 10, "linear", 0.1),
            )
        ],
        columns=["method", "dataset", "size", "model", "balanced_accuracy"],
    )
    monkeypatch.setattr(stored, "panel_datasets", lambda: {name: panel_datasets()[name] for name in names})
    monkeypatch.setattr(stored, "read_panel", lambda folder: trials)
    table = pd.read_csv(stored.write_dataset_table(tmp_path), keep_default_na=False).set_index("dataset")
    assert table["error_linear"].to_dict() == {"wine": 0.05, "shift": 0.25}
    assert table["error_forest"].to_dict() == {"wine": 0.1, "shift": 0.3}
    assert table.loc["shift", ["rows", "columns", "relevant", "homepage"]].tolist() == [200, 500, 10, ""]
    assert table.loc["wine", "licence"].startswith("CC BY 4.0")


def test_no_two_sets_share_a_row_but_for_five_pages(real_mirror, loaded):
    """A page of the web can lie in two categories; more could not be avoided with 40 of them."""
    rows, numbers = {}, {}
    for name in PANEL:
        data = load(name, loaded)
        places = np.array([numbers.setdefault(feature, len(numbers)) for feature in data.feature_names])
        order = np.argsort(places)
        X, places = sparse.csr_array(data.X)[:, order], places[order]
        X.sort_indices()
        parts = [slice(*ends) for ends in zip(X.indptr, X.indptr[1:], strict=False)]
        rows[name] = {(places[X.indices[part]].tobytes(), X.data[part].tobytes()) for part in parts} - {(b"", b"")}
    shared = Counter({(a, b): len(rows[a] & rows[b]) for a, b in combinations(PANEL, 2)})
    overlaps = {pair: count for pair, count in shared.items() if count}
    assert all(a.startswith("TechTC") and b.startswith("TechTC") for a, b in overlaps)
    assert sum(overlaps.values()) == 5
