"""The larger benchmark: as wide as it says, each set with its folds, a card that is of its data, and no cell of today's
panel changed."""

from collections import Counter, defaultdict

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from provlab.bench.cards import state_of, write_cards
from provlab.bench.methods import panel_methods
from provlab.bench.panel import (
    CARDS,
    PanelDataset,
    base_cell,
    larger_datasets,
    larger_panel,
    panel_cells,
    panel_datasets,
    stored_folder,
)
from provlab.core.plan import load_from
from provlab.data.loaders.tables import table_entries

SETS = larger_datasets()
LARGE = ("sample", "time")
CARDS_BY_NAME = {card["dataset"]: card for card in pd.read_csv(stored_folder() / CARDS).to_dict("records")}
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
    assert {source: domains for source, domains in by_source.items() if len(domains) > 1} == {}


def test_each_table_and_each_set_of_todays_panel_is_in_it_once_or_left_out_for_a_reason():
    larger = larger_panel()
    tables = [name for names in larger.tables.values() for name in names]
    assert len({*tables, *larger.sets}) == len(tables) + len(larger.sets) == len(SETS)
    assert {*tables} | {*larger.left_out} >= {*table_entries()}
    assert not {*larger.left_out} & {*SETS}
    assert {*larger.settings} <= {*tables}
    assert {*panel_datasets()} <= {*SETS} | {*larger.left_out}


def test_sets_that_are_as_they_were_keep_their_cells():
    kept = []
    for name in {*panel_datasets()} & {*SETS}:
        beside_folds = tuple(text for text in SETS[name].choose if not text.startswith("protocol"))
        if beside_folds == panel_datasets()[name].choose:
            kept.append(name)
    assert len(kept) == 31
    methods = {name: panel_methods()[name] for name in ("all features", "F-test")}
    for name in kept:
        before = panel_cells(methods, {name: panel_datasets()[name]})
        assert [entry.cell.id for entry in panel_cells(methods, {name: SETS[name]})] == [
            entry.cell.id for entry in before
        ]
    changed = {*panel_datasets()} & {*SETS} - {*kept}
    assert len(changed) == 28
    for name in changed:
        assert base_cell(SETS[name]).id != base_cell(panel_datasets()[name]).id


@pytest.mark.parametrize("name", SETS)
def test_each_card_is_of_the_set_and_its_folds_suit_its_size(name):
    entry, card = SETS[name], CARDS_BY_NAME[name]
    assert (card["data"], card["choose"]) == (base_cell(entry).data, " ".join(entry.choose)), "reference --cards"
    assert (card["domain"], card["source"], card["task"], card["folds"]) == (
        entry.domain, entry.source, entry.task, entry.folds,
    )  # fmt: skip
    assert 50 <= card["rows"] <= 20_000
    assert 15 <= card["prepared"] <= WIDEST.get(name, 20_000)
    suited = ("ten", "twice") if card["rows"] <= 1000 else ("five",) if card["rows"] <= 2500 else LARGE
    assert entry.folds in suited
    if entry.task == "classification":
        assert card["smallest_class"] >= {"ten": 10, "twice": 5}.get(entry.folds, 5)
        assert card["classes"] >= 2
    else:
        assert card["classes"] == 0
    assert (card["repeated"] > 0) <= ("+dataset.distinct_rows=true" in entry.choose)
    assert (card["constant"] > 0) <= ("preparation=varying" in entry.choose)
    assert (card["groups"] > 0) <= (entry.folds not in LARGE)
    errors = {name: card[name] for name in ("error_forest", "error_linear", "error_column")}
    assert card["state"] == state_of(errors, card["guessing"])
    assert card["licence"]
    assert card["citation"]


def test_no_row_of_a_table_is_there_twice_and_relevant_columns_are_shuffled(real_mirror):
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
        assert len(train) == 2000 if SETS[name].folds == "sample" else len(train) <= 2000


SMALL = {
    "cells": PanelDataset(("dataset=bundled", "preparation=varying", "protocol=benchmark"), "medicine", "UCI"),
    "shift": PanelDataset(
        ("dataset=design", "dataset.kind=shift", "dataset.n_features=20", "protocol=benchmark"), "generated", "ours", 10
    ),
}


def test_a_card_is_written_once_and_again_where_the_set_is_another(tmp_path):
    assert [*write_cards(SMALL, tmp_path)] == ["cells", "shift"]
    first = (tmp_path / CARDS).read_bytes()
    assert [*write_cards(SMALL, tmp_path)] == []
    assert (tmp_path / CARDS).read_bytes() == first
    wine = PanelDataset(("dataset=bundled", "dataset.set=wine", "protocol=benchmark"), "food", "UCI")
    assert [*write_cards({**SMALL, "cells": wine}, tmp_path)] == ["cells"]
    cards = pd.read_csv(tmp_path / CARDS).set_index("dataset")
    assert cards["rows"].to_dict() == {"cells": 178, "shift": 200}
    assert cards["relevant"].to_dict() == {"cells": 0, "shift": 10}


def test_errors_of_a_card_are_those_of_plain_scikit_learn(tmp_path):
    [*_] = write_cards({"cells": SMALL["cells"]}, tmp_path)
    [card] = pd.read_csv(tmp_path / CARDS).to_dict("records")
    data = load_from(base_cell(SMALL["cells"]).dataset)
    errors = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(data.X, data.y):
        forest = RandomForestClassifier(100, class_weight="balanced", min_samples_leaf=2, random_state=0)
        fitted = make_pipeline(StandardScaler(), forest).fit(data.X[train], data.y[train])
        errors.append(1 - balanced_accuracy_score(data.y[test], fitted.predict(data.X[test])))
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
    assert state_of({"error_forest": forest, "error_linear": linear, "error_column": column}, 0.5) == state
