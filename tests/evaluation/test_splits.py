"""Which rows a trial trains on and is tested on, for each kind of split."""

from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import train_test_split

from provlab.core.composition import compose_config
from provlab.core.plan import cells_of, load_from, make_tasks
from provlab.core.protocols import COLUMNS, PROTOCOLS, protocol_named
from provlab.core.protocols.folds import AbstractPrediction
from provlab.core.store import TrialStore
from provlab.data import make_dataset
from provlab.run.fold import make_fold
from provlab.run.task import run_task
from small_runs import UNIFORM, run_quietly, small_cell

HARD = {"n_samples": 80, "n_features": 120, "n_relevant": 1}


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 6))
    y = np.where(np.arange(40) % 2, 1, -1)
    train = np.arange(40) < 25
    return make_dataset(
        X, y, list("abcdef"), name="made", source="test", official_train=train
    )


def context(data, split):
    return make_fold(protocol_named(split), data, n_splits=5, split_seed=3, fold=0)


def test_official_split_is_the_data_sets_own(data):
    fold = context(data, "official")
    np.testing.assert_array_equal(fold.view.X, data.X[:25])
    np.testing.assert_array_equal(fold.X_test, data.X[25:])
    np.testing.assert_array_equal(fold.y_test, data.y[25:])


@pytest.fixture
def write_table(tmp_path, monkeypatch):
    """Return a function that writes three columns of noise beside others, as the table t.csv of a project."""
    monkeypatch.setenv("PROVSEL_PROJECT", str(tmp_path))
    (tmp_path / "provsel.toml").write_text("")

    def write(n_rows, **columns):
        rows = np.random.default_rng(0).standard_normal((n_rows, 3))
        table = pd.DataFrame(rows, columns=["p", "q", "r"]).assign(**columns)
        table.to_csv(tmp_path / "t.csv", index=False)

    return write


OWN = [
    "dataset=file",
    "dataset.path=t.csv",
    "selector=uniform",
    "selector.n_features_to_select=1",
]
RARE = ["a"] * 57 + ["b"] * 3
TWO = [*"ab"] * 30
OTHER = "protocol=fixed_folds"


@pytest.mark.parametrize(
    ("columns", "settings", "message"),
    [
        ({"y": RARE}, [], rf"10 rows of each class, got 3 of class 'b'; lower protocol.n_splits to 3, .*{OTHER}"),
        ({"y": RARE}, [], r"leave out such classes with \+dataset\.min_class_size=10"),
        ({"y": TWO}, ["protocol=time_order", "protocol.n_splits=60"], "more than n_splits = 60 rows, got 60; lower"),
        ({"y": np.arange(60) / 7}, ["protocol.n_splits=61"], "at least n_splits = 61 rows, got 60; lower"),
        ({"y": TWO}, ["model=ridge"], "expected a model that predicts classes, as in the data, got .*Ridge"),
        ({"y": TWO}, ["protocol=official_split"], "expected an official split, got none; use"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("executor", ["serial", "loky"])
def test_what_the_data_do_not_allow_is_known_before_the_first_trial(
    executor, columns, settings, message, write_table, tmp_path
):
    write_table(60, **columns)
    cells = cells_of(compose_config([*OWN, *settings]))
    with pytest.raises(ValueError, match=rf"^the run was refused, .*{message}"):
        run_quietly(cells, TrialStore(tmp_path / "store"), {"name": executor})
    assert not (tmp_path / "store").exists()
    for task in make_tasks(cells)[:1]:  # and nothing was refused that would have run
        assert len(run_task(task).failures) == len(task.trials)


def test_small_classes_are_left_out_where_a_setting_says_so(write_table, tmp_path):
    write_table(63, y=[*TWO, "rare", "rare", "rare"])
    [plain] = cells_of(compose_config(OWN))
    [stated] = cells_of(compose_config([*OWN, "dataset.min_class_size=null"]))
    with pytest.warns(
        UserWarning,
        match=r"fewer than min_class_size=10 rows are left out: rare \(3 rows\)",
    ):
        [without] = cells_of(compose_config([*OWN, "+dataset.min_class_size=10"]))
    assert plain.json == stated.json
    assert "min_class_size" not in plain.json
    assert without.dataset["min_class_size"] == 10
    report, said = run_quietly([without], TrialStore(tmp_path / "store"))
    assert report.n_run == without.n_trials
    assert report.failures == []
    assert "warned" not in said
    assert load_from(without.dataset).class_names.tolist() == ["a", "b"]


def test_what_runs_beside_what_the_data_do_not_allow_runs(tmp_path):
    few = small_cell(UNIFORM, dataset={"n_samples": 12}, n_splits=10)
    enough = small_cell(UNIFORM)
    report, said = run_quietly([few, enough], TrialStore(tmp_path))
    assert report.n_run == enough.n_trials
    assert len(report.failures) == few.n_trials
    assert report.n_skipped == 0
    assert said.startswith(
        "20 trials were not run: 20 x ValueError: data set synthetic: expected at least n_splits = 10"
    )
    again, _ = run_quietly([few, enough], TrialStore(tmp_path))
    assert again.n_found == enough.n_trials
    assert again.n_run == 0
    assert len(again.failures) == few.n_trials


class Halves(AbstractPrediction):
    """Train on a random half of each class and test on the other half; each repeat draws another."""

    name = "halves"
    fixed: ClassVar = {"n_splits": 1}

    def rows(self, dataset, *, n_splits, split_seed, fold):
        rows = np.arange(len(dataset.y))
        return train_test_split(
            rows, test_size=0.5, stratify=dataset.y, random_state=split_seed
        )


def test_protocols_agree_on_the_kinds_of_their_columns():
    names = [column.name for column in COLUMNS]
    assert len({*names}) == len(names)


def test_a_protocol_is_a_class(data, monkeypatch):
    monkeypatch.setitem(PROTOCOLS, "halves", Halves())
    fold = context(data, "halves")
    assert fold.view.n_samples == 20
    assert fold.view.y.sum() == 0
    assert len(fold.y_test) == 20
    assert len(np.unique(np.vstack([fold.view.X, fold.X_test]), axis=0)) == 40
    cell = small_cell(UNIFORM, repeats=2, draws=1, split="halves", n_splits=1)
    results = [run_task(task).records for task in make_tasks([cell])]
    assert [
        (record["repeat"], record["fold"], record["n_test"]) for [record] in results
    ] == [(0, 0, 30), (1, 0, 30)]
    with pytest.raises(
        ValueError, match=r"protocol\.n_splits: expected 1 for the split halves, got 3"
    ):
        small_cell(UNIFORM, split="halves", n_splits=3)


@pytest.mark.parametrize(
    "chosen",
    [
        ["protocol=official_split"],
        ["protocol=streamed", "selector=full", "model=liblinear"],
    ],
)
def test_the_split_of_a_data_set_is_one_fold_whatever_a_sweep_says_and_a_failure_without_one(
    chosen,
):
    counts = ["protocol.repeats=4", "protocol.n_splits=7", "protocol.draws=2"]
    [cell] = cells_of(compose_config([*chosen, *counts]))
    assert cell.protocol["repeats"] == 1
    assert cell.protocol["n_splits"] == 1
    assert cell.protocol["draws"] == 2
    [(_, _, reason), *_] = run_task(make_tasks([cell])[0]).failures
    assert "synthetic: expected an official split, got none; use protocol=" in reason


@pytest.mark.parametrize("regression", [False, True])
def test_large_data_sets_of_the_benchmark_train_on_a_sample_and_test_on_all_others(
    regression,
):
    rng = np.random.default_rng(0)
    y = rng.normal(size=2600) if regression else np.repeat([0, 1, 2], [1300, 780, 520])
    data = make_dataset(
        rng.normal(size=(2600, 2)), y, name="large", source="", regression=regression
    )
    samples = []
    for fold in range(5):
        train, test = protocol_named("benchmark_sample").rows(
            data, n_splits=5, split_seed=3, fold=fold
        )
        assert sorted([*train, *test]) == [*range(2600)]
        assert train.size == 2000
        if not regression:
            assert np.bincount(y[train]).tolist() == [1000, 600, 400]
        samples.append(frozenset(train))
    assert len({*samples}) == 5
    small = make_dataset(
        data.X[:2500], y[:2500], name="small", source="", regression=regression
    )
    grouped = make_dataset(
        data.X,
        y,
        name="grouped",
        source="",
        regression=regression,
        groups=np.arange(2600),
    )
    for refused, got in ((small, "2500 rows"), (grouped, "groups of rows")):
        message = rf"{refused.name}: expected more than 2500 rows without groups .*, got {got}; use protocol=benchmark"
        with pytest.raises(ValueError, match=message):
            protocol_named("benchmark_sample").rows(
                refused, n_splits=5, split_seed=3, fold=0
            )


def test_rows_in_the_order_of_time_are_tested_after_at_most_2000_that_train():
    data = make_dataset(
        np.ones((9000, 1)), np.arange(9000) % 2, name="hours", source=""
    )
    ends = []
    for fold in range(5):
        train, test = protocol_named("benchmark_time_order").rows(
            data, n_splits=5, split_seed=0, fold=fold
        )
        assert (np.diff([*train, *test]) == 1).all()
        ends.append((len(train), test[0], test[-1]))
    assert ends == [
        (1500, 1500, 2999),
        *((2000, start, start + 1499) for start in (3000, 4500, 6000, 7500)),
    ]


def test_folds_of_the_benchmark_have_keys_of_their_own():
    chosen = [
        "protocol=benchmark",
        "protocol=benchmark_sample",
        "protocol=benchmark_time_order",
    ]
    cells = [cells_of(compose_config(["dataset=digits", text]))[0] for text in chosen]
    assert len({cell.id for cell in cells}) == 3
    assert [cell.n_trials for cell in cells] == [10, 5, 5]
