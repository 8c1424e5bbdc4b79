"""Which features are selected: counts beside an independent count, names of data and of folds, and damaged records."""

import io
import re
from collections import Counter
from statistics import mean, median, stdev

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from provlab import compare
from provlab.cli import main
from provlab.core.composition import compose_config
from provlab.core.frames import planned_trials
from provlab.core.plan import cells_of
from provlab.core.selected import (
    COLUMNS,
    KEEPS_ALL,
    KEEPS_NONE,
    NO_LIST,
    SINGLE,
    cells_features,
    data_names,
    selected_features,
)
from provlab.core.snapshot import StoreSnapshot
from provlab.core.store import TrialStore
from provlab.project.documents import canonical_json
from provsel.selectors import UniformSelector
from provsel.stability import stability
from small_runs import LEVERAGE, SMALL, reproduce_table1, run_quietly, small_cell

D = 12


def trials_with(selections, *, n_features=D, **columns):
    """Return trials as `planned_trials` gives them; None among the selections keeps all features."""
    lists = []
    sizes = []
    for features in selections:
        lists.append(None if features is None else np.array(features, np.int32))
        sizes.append(n_features if features is None else len(features))
    return pd.DataFrame(
        {
            "features": pd.Series(lists, dtype=object),
            "n_selected": sizes,
            "n_features": n_features,
            "repeat": 0,
            "fold": range(len(selections)),
            "n_train": 90,
            "n_test": 10,
            "feature_names": pd.Series(
                columns.get("feature_names", [None] * len(selections)), dtype=object
            ),
            "coefficients": pd.Series(
                columns.get("coefficients", [None] * len(selections)), dtype=object
            ),
        }
    )


orders = st.lists(st.integers(0, D - 1), unique=True, max_size=D - 1)
selections = st.lists(
    st.one_of(
        orders.flatmap(lambda order: st.tuples(st.just(order), st.none() | st.lists(
            st.floats(-9, 9), min_size=len(order), max_size=len(order)))),
        st.just((None, None)),
    ),
    min_size=2, max_size=9,
)  # fmt: skip


@given(chosen=selections)
def test_counts_places_and_weights_are_those_of_a_count_by_hand(chosen):
    lists = [order for order, _ in chosen]
    weights = [features for _, features in chosen]
    selected = selected_features(
        trials_with(lists, coefficients=weights), [f"f{k}" for k in range(D)]
    )
    sets = []
    for order in lists:
        sets.append(range(D) if order is None else order)
    times = Counter(feature for features in sets for feature in features)
    places = {k: [] for k in times}
    values = {k: [] for k in times}
    tells_order = any(order != sorted(order) for order in lists if order) or all(
        len(features) < 2 for features in sets
    )
    for order, own in chosen:
        for place, feature in enumerate(order or [], start=1):
            places[feature] += [place] if tells_order else []
            values[feature] += [] if own is None else [own[place - 1]]
    assert selected.n_selections == len(lists)
    assert selected.sizes == (min(map(len, sets)), max(map(len, sets)))
    assert (
        dict(zip(selected.frame["index"], selected.frame["times"], strict=True))
        == times
    )
    assert selected.frame["feature"].tolist() == [
        f"f{k}" for k in selected.frame["index"]
    ]
    by_index = selected.frame.set_index("index")
    order = []
    for feature, own in values.items():
        line = by_index.loc[feature]
        place = median(places[feature]) if places[feature] else np.nan
        order.append((-times[feature], np.nan_to_num(place, nan=np.inf), feature))
        assert line["frequency"] == pytest.approx(times[feature] / len(lists))
        assert line["place"] == pytest.approx(place, nan_ok=True)
        assert line["weight"] == pytest.approx(
            mean(own) if own else np.nan, nan_ok=True, abs=1e-12
        )
        assert line["weight_sd"] == pytest.approx(
            stdev(own) if len(own) > 1 else np.nan, nan_ok=True, abs=1e-7
        )
    assert selected.frame["index"].tolist() == [k for *_, k in sorted(order)]
    if 0 < sum(map(len, sets)) < len(sets) * D:
        expected = stability(
            [np.isin(range(D), [*features]) for features in sets], D, overlap=1 / 9
        )
        assert selected.index == pytest.approx(expected.index)
        assert selected.interval == pytest.approx(expected.interval(), nan_ok=True)


@pytest.mark.parametrize(
    ("selections", "note", "n_lines"),
    [
        ([None, None], KEEPS_ALL, D),
        ([[], []], KEEPS_NONE, 0),
        ([[3, 1]], SINGLE, 2),
        ([], NO_LIST, 0),
    ],
)
def test_what_has_no_stability_says_so(selections, note, n_lines):
    selected = selected_features(trials_with(selections))
    assert selected.note == note
    assert len(selected.frame) == n_lines
    assert np.isnan([selected.index, *selected.interval]).all()
    assert list(selected.frame) == COLUMNS


def test_trials_without_a_list_are_no_selections():
    trials = trials_with([[0, 2], [2, 0], [1]])
    # of a transformer that mixes features
    trials.loc[2, ["features", "n_selected"]] = [None, 5]
    selected = selected_features(trials)
    assert selected.n_selections == 2
    assert selected.frame[
        ["feature", "index", "times", "place"]
    ].to_numpy().tolist() == [
        ["1", 0, 2, 1.5],
        ["3", 2, 2, 1.5],
    ]
    assert selected.index == 1


def test_columns_that_a_preparation_made_are_told_apart_by_name():
    lists = [[0, 1], [1, 0], [0, 2]]
    names = [["age", "town_Rome"], ["town_Rome", "age"], ["age", "town_Lima"]]
    selected = selected_features(
        trials_with(lists, n_features=3, feature_names=names), ["age", "town", "income"]
    )
    assert selected.frame[["feature", "times", "place"]].to_numpy().tolist() == [
        ["age", 3, 1.0], ["town_Rome", 2, 1.5], ["town_Lima", 1, 2.0],
    ]  # fmt: skip
    assert selected.frame["index"].isna().all()
    assert selected.index == pytest.approx(stability([[0, 1], [0, 1], [0, 2]], 3).index)
    assert selected.n_features == 3
    everything = trials_with(
        [None, None], n_features=2, feature_names=[["age", "a"], ["age", "b"]]
    )
    assert selected_features(everything).frame["place"].isna().all()


@pytest.mark.parametrize(
    ("selections", "match"),
    [
        (
            [[0, D], [1]],
            r"selected features: expected numbers from 0 to 11, got 0 to 12; .* run provsel audit",
        ),
        ([[-1], [1]], r"expected numbers from 0 to 11, got -1 to 1"),
        ([[1, 1], [1]], r"selection 0: expected each feature once"),
    ],
)
def test_damaged_lists_are_refused(selections, match):
    with pytest.raises(ValueError, match=match):
        selected_features(trials_with(selections))


def test_names_of_another_number_of_features_are_not_used():
    selected = selected_features(trials_with([[4, 0], [4, 1]]), ["a", "b"])
    assert selected.frame["feature"].tolist() == ["5", "1", "2"]
    assert "the data have 2 names, the trials 12 features" in selected.note


@pytest.mark.parametrize(
    ("becomes", "reason"),
    [
        ("height,weight,y\n", ""),
        (
            "length,weight,y\n",
            r"names of data set file cannot be read: its file has changed since",
        ),
        (None, r"names of data set file cannot be read: .*mine\.csv"),
    ],
)
def test_names_are_those_of_the_file_that_the_trials_are_of(tmp_path, becomes, reason):
    path = tmp_path / "mine.csv"
    rows = "1.5,2,0\n2,1,1\n" * 6
    path.write_text(f"height,weight,y\n{rows}")
    [cell] = cells_of(
        compose_config(["dataset=file", f"dataset.path={path}", "selector=uniform"])
    )
    path.unlink() if becomes is None else path.write_text(f"{becomes}{rows}")
    names, why = data_names(cell.data, canonical_json(cell.dataset))
    assert names == (None if reason else ["height", "weight"])
    assert re.search(reason, why)
    assert why.startswith("features are numbered from 1") is bool(reason)


def test_cells_are_read_a_few_at_a_time(tmp_path):
    """Pages of millions of trials: the same numbers, whatever is in memory together."""
    cells = [
        small_cell(LEVERAGE, dataset={"seed": seed}, draws=3, certify=False)
        for seed in (0, 1)
    ]
    cells.append(small_cell(dataset={"seed": 0}, certify=False))
    store = TrialStore(tmp_path / "store")
    run_quietly(cells, store)
    for reader in (store, StoreSnapshot(store)):
        for at_once in (1, 10**9):
            by_cell = dict(cells_features(reader, [*cells, cells[0]], at_once=at_once))
            assert by_cell.keys() == {cell.id for cell in cells}
            for cell in cells:
                trials = planned_trials(store, [cell], ["features"])
                times = Counter(np.concatenate(trials["features"].tolist()).tolist())
                frame = by_cell[cell.id].frame
                assert dict(zip(frame["index"], frame["times"], strict=True)) == times
                assert by_cell[cell.id].n_selections == len(trials)
                assert frame["feature"].tolist() == [str(k + 1) for k in frame["index"]]


def test_explain_names_the_most_frequent_features_of_a_number(tmp_path, capsys):
    assert reproduce_table1(tmp_path) == 0
    explain = [
        "explain",
        "table1",
        "--results",
        str(tmp_path),
        *SMALL,
        "--column",
        "r=30, k=40",
        "--row",
    ]
    capsys.readouterr()
    assert main([*explain, "Lvg"]) == 0
    text = capsys.readouterr().out
    columns = ["cell", "repeat", "fold", "n_train", "n_test", "features"]
    records = TrialStore(tmp_path / "store").query(columns=columns).to_pandas()
    [cell] = re.findall(r"^  cell +([0-9a-f]{64})$", text, re.M)
    own = records[records["cell"] == cell]
    lists = own["features"].tolist()
    printed = re.findall(r"^│ (\d+) +│ ([\d.]+)% ", text, re.M)
    times = Counter(np.concatenate(lists).tolist())
    assert len(printed) == 10
    assert [float(share) for _, share in printed] == [
        round(100 * n / 6, 1) for _, n in times.most_common(10)
    ]
    assert all(
        float(share) == round(100 * times[int(name) - 1] / 6, 1)
        for name, share in printed
    )
    pairs = list(zip(own["repeat"], own["fold"], strict=True))
    overlap = own["n_test"].mean() / own["n_train"].mean()
    low, high = stability(lists, 120, samples=pairs, overlap=overlap).interval()
    assert "6 selections of " in text
    assert (
        f"of 120 features; stability {stability(lists, 120).index:.3f}, 95 % interval {low:.3f} to {high:.3f}"
        in text
    )


def test_a_comparison_names_features_with_the_weights_of_its_model(tmp_path):
    data = load_breast_cancer(as_frame=True)
    X = (data.data - data.data.mean()) / data.data.std()
    methods = {"F": SelectKBest(f_classif, k=4), "random": UniformSelector(3)}
    comparison = compare(X, data.target, methods, model=None, repeats=1, n_splits=3, draws=2, results=tmp_path,
                   console=Console(file=io.StringIO()))  # fmt: skip
    own = comparison.features[comparison.features["method"] == "F"].set_index("feature")
    seeds = (
        TrialStore(tmp_path / "store")
        .query(columns=["split_seed"])["split_seed"]
        .unique()
        .to_pylist()
    )
    labels = np.where(data.target == 1, 1, -1)
    weights = {}
    for train, _ in StratifiedKFold(3, shuffle=True, random_state=seeds[0]).split(
        X, labels
    ):
        kept = (
            SelectKBest(f_classif, k=4)
            .fit(X.iloc[train], labels[train])
            .get_support(indices=True)
        )
        model = SVC(kernel="linear", C=1.0).fit(
            X.iloc[train, kept].to_numpy(), labels[train]
        )
        for name, weight in zip(X.columns[kept], model.coef_[0], strict=True):
            weights.setdefault(name, []).append(weight)
    assert own["times"].to_dict() == {
        name: len(of_feature) for name, of_feature in weights.items()
    }
    for name, of_feature in weights.items():
        assert own.loc[name, "weight"] == pytest.approx(
            np.mean(of_feature), rel=1e-4, abs=1e-5
        )
    assert comparison.features.groupby("method", sort=False)[
        "times"
    ].sum().to_dict() == {"F": 12, "random": 18}
    assert comparison.loc["F", "stability"] > comparison.loc["random", "stability"]
    assert (comparison["stability_low"] <= comparison["stability"]).all()
    assert (comparison["stability"] <= comparison["stability_high"]).all()
    [axes] = comparison.draw_features().axes
    assert [line.get_label() for line in axes.get_lines()] == ["F", "random"]
    for line, name in zip(axes.get_lines(), methods, strict=True):
        frame = comparison.features[comparison.features["method"] == name]
        assert line.get_ydata().tolist() == pytest.approx(
            (100 * frame["frequency"]).tolist()
        )
