"""The data of the benchmark: as wide as it says, each set with its folds, and a card that is of its data."""

from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from provlab.bench.cards import state_of, write_cards
from provlab.bench.panel import (
    CARDS,
    PanelDataset,
    base_cell,
    panel_data,
    panel_datasets,
    stored_folder,
)
from provlab.core.plan import load_from
from provlab.data.loaders.tables import table_entries

SETS = panel_datasets()
LARGE = ("sample", "time")
CARDS_BY_NAME = {
    card["dataset"]: card
    for card in pd.read_csv(stored_folder() / CARDS).to_dict("records")
}
WIDEST = {"chowdary": 22283, "nakayama": 22283}


def test_the_panel_is_as_wide_as_it_says():
    tasks = Counter(entry.task for entry in SETS.values())
    assert tasks["classification"] >= 110
    assert tasks["regression"] >= 30
    sources = defaultdict(set)
    for entry in SETS.values():
        sources[entry.domain].add(entry.source)
    assert len(sources) >= 12
    assert sum(len(names) >= 6 for names in sources.values()) >= 7
    assert sum(card["rows"] > 2000 for card in CARDS_BY_NAME.values()) >= 20
    by_source = defaultdict(set)
    for entry in SETS.values():
        by_source[entry.source].add(entry.domain)
    assert {
        source: domains for source, domains in by_source.items() if len(domains) > 1
    } == {}


def test_each_table_is_in_it_once_or_left_out_for_a_reason():
    data = panel_data()
    tables = [name for names in data.tables.values() for name in names]
    assert len({*tables, *data.sets}) == len(tables) + len(data.sets) == len(SETS)
    assert {*tables} | {*data.left_out} >= {*table_entries()}
    assert not {*data.left_out} & {*SETS}
    assert {*data.settings} <= {*tables}


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_quick_panel_has_sets_of_the_task_of_as_many_domains(task):
    sets = [SETS[name] for name in panel_data().quick[task]]
    assert {entry.task for entry in sets} == {task}
    assert len({entry.domain for entry in sets}) == len(sets)


def test_which_files_are_read_does_not_depend_on_what_is_there():
    for name, entry in SETS.items():
        dataset = base_cell(entry).dataset
        assert "auto" not in dataset.values() or dataset["name"] in (
            "techtc",
            "rcv1_ccat",
        ), name


@pytest.mark.parametrize("name", SETS)
def test_each_card_is_of_the_set_and_its_folds_suit_its_size(name):
    entry = SETS[name]
    card = CARDS_BY_NAME[name]
    assert (card["data"], card["choose"]) == (
        base_cell(entry).data,
        " ".join(entry.choose),
    ), "reference --cards"
    assert (card["domain"], card["source"], card["task"], card["folds"]) == (
        entry.domain, entry.source, entry.task, entry.folds,
    )  # fmt: skip
    assert 50 <= card["rows"] <= 20_000
    assert 15 <= card["prepared"] <= WIDEST.get(name, 20_000)
    suited = LARGE
    if card["rows"] <= 2500:
        suited = ("five",)
    if card["rows"] <= 1000:
        suited = ("twice",)
    assert entry.folds in suited
    if entry.task == "classification":
        assert card["smallest_class"] >= 5
        assert card["classes"] >= 2
    else:
        assert card["classes"] == 0
    assert (card["repeated"] > 0) <= ("+dataset.distinct_rows=true" in entry.choose)
    assert (card["constant"] > 0) <= ("preparation=varying" in entry.choose)
    assert (card["groups"] > 0) <= (entry.folds not in LARGE)
    errors = {
        name: card[name] for name in ("error_forest", "error_linear", "error_column")
    }
    assert card["state"] == state_of(errors, card["guessing"])
    assert card["licence"]
    assert card["citation"]


def test_no_row_of_a_table_is_there_twice_and_relevant_columns_are_shuffled(
    real_mirror,
):
    for name in ("spectf", "led24", "tecator"):
        data = load_from(base_cell(SETS[name]).dataset)
        rows = np.column_stack([data.X, data.y])
        assert len(np.unique(rows, axis=0)) == len(rows)
        assert len(rows) == CARDS_BY_NAME[name]["rows"]
    relevant = table_entries()["led24"].relevant
    names = load_from(base_cell(SETS["led24"]).dataset).feature_names.tolist()
    assert sorted(names.index(name) for name in relevant) != [*range(7)]


@pytest.mark.parametrize("name", ["clean1", "mayonnaise", "Chicago", "kr-vs-kp"])
def test_real_folds_keep_groups_whole_and_time_in_order(real_mirror, name):
    cell = base_cell(SETS[name])
    data = load_from(cell.dataset)
    for fold in range(cell.protocol["n_splits"]):
        numbers = {"n_splits": cell.protocol["n_splits"], "split_seed": 1, "fold": fold}
        train, test = cell.measured.rows(data, **numbers)
        if data.groups is not None:
            assert not {*data.groups[train]} & {*data.groups[test]}
        if SETS[name].folds == "time":
            assert train.max() < test.min()
        assert (
            len(train) == 2000 if SETS[name].folds == "sample" else len(train) <= 2000
        )


SMALL = {
    "cells": PanelDataset(
        ("dataset=bundled", "preparation=varying", "protocol=benchmark"),
        "medicine",
        "UCI",
    ),
    "shift": PanelDataset(
        (
            "dataset=design",
            "dataset.kind=shift",
            "dataset.n_features=20",
            "protocol=benchmark",
        ),
        "generated",
        "ours",
        10,
    ),
}


def test_a_card_is_written_once_and_again_where_the_set_is_another(tmp_path):
    assert [*write_cards(SMALL, tmp_path)] == ["cells", "shift"]
    first = (tmp_path / CARDS).read_bytes()
    assert [*write_cards(SMALL, tmp_path)] == []
    assert (tmp_path / CARDS).read_bytes() == first
    wine = PanelDataset(
        ("dataset=bundled", "dataset.set=wine", "protocol=benchmark"), "food", "UCI"
    )
    assert [*write_cards({**SMALL, "cells": wine}, tmp_path)] == ["cells"]
    cards = pd.read_csv(tmp_path / CARDS).set_index("dataset")
    assert cards["rows"].to_dict() == {"cells": 178, "shift": 200}
    assert cards["relevant"].to_dict() == {"cells": 0, "shift": 10}


def test_errors_of_a_card_are_those_of_plain_scikit_learn(tmp_path):
    [*_] = write_cards({"cells": SMALL["cells"]}, tmp_path)
    [card] = pd.read_csv(tmp_path / CARDS).to_dict("records")
    data = load_from(base_cell(SMALL["cells"]).dataset)
    errors = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(
        data.X, data.y
    ):
        forest = RandomForestClassifier(
            100, class_weight="balanced", min_samples_leaf=2, random_state=0
        )
        fitted = make_pipeline(StandardScaler(), forest).fit(
            data.X[train], data.y[train]
        )
        errors.append(
            1 - balanced_accuracy_score(data.y[test], fitted.predict(data.X[test]))
        )
    assert card["error_forest"] == pytest.approx(np.mean(errors), abs=5e-4)
    assert card["error_forest"] < card["error_column"] < card["guessing"] == 0.5
    assert card["column"] in data.feature_names


@pytest.mark.parametrize(
    ("forest", "linear", "column", "state"),
    [
        (0.2, 0.3, 0.4, "ok"),
        (0.02, 0.3, 0.4, "ceiling"),
        (0.46, 0.6, 0.5, "chance"),
        (0.2, 0.3, 0.205, "one column"),
    ],
)
def test_a_set_that_tells_nothing_apart_is_marked(forest, linear, column, state):
    assert (
        state_of(
            {"error_forest": forest, "error_linear": linear, "error_column": column},
            0.5,
        )
        == state
    )


def test_texts_share_no_page_but_for_five(real_mirror):
    """A page of the web can lie in two categories; more could not be avoided with 40 of them."""
    rows = {}
    numbers = {}
    for name in [name for name in SETS if name.startswith("TechTC")]:
        data = load_from(base_cell(SETS[name]).dataset)
        places = np.array(
            [
                numbers.setdefault(feature, len(numbers))
                for feature in data.feature_names
            ]
        )
        order = np.argsort(places)
        X, places = sparse.csr_array(data.X)[:, order], places[order]
        X.sort_indices()
        parts = [slice(*ends) for ends in zip(X.indptr, X.indptr[1:], strict=False)]
        rows[name] = {
            (places[X.indices[part]].tobytes(), X.data[part].tobytes())
            for part in parts
        } - {(b"", b"")}
    assert len(rows) == 20
    assert (
        sum(len(rows[first] & rows[second]) for first, second in combinations(rows, 2))
        <= 5
    )
