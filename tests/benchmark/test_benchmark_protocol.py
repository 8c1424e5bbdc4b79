"""The benchmark: no method sees a test row, a failure is a result, and selections are measured as defined."""

import dataclasses
import re
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_selection import f_classif
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from provlab.bench.methods import panel_methods
from provlab.bench.panel import PanelCell, PanelDataset, panel_cells, panel_datasets
from provlab.bench.stored_panel import panel_of, trials_from
from provlab.core.composition import compose_config
from provlab.core.plan import cells_of, load_from, make_tasks, places_of_first
from provlab.core.protocols import protocol_named
from provlab.core.store import TrialStore
from provlab.project.estimators import as_config, estimators_in_hand
from provlab.run.fold import fold_of_rows
from provlab.run.limited import sizes_asked
from provlab.run.measured_view import MeasuredView
from provlab.run.measuring import measure
from provlab.run.task import run_task
from provsel.selectors import BaseSelector, Selection, checked_count
from provsel.stability import stability
from small_runs import run_quietly

SMALL = PanelDataset(
    (
        "dataset=design",
        "dataset.n_samples=60",
        "dataset.n_features=40",
        "dataset.n_relevant=3",
    ),
    "designs",
    "generated",
    3,
)
SLOW = {"mutual information"}
"""Methods that take longest."""

SEEN: list[np.ndarray] = []


class Recorder(BaseSelector):
    """Keeps the columns with the largest values, a leak where it sees test rows, and the rows that it saw."""

    algorithm_version = 1
    needs_labels = True

    def __init__(self, n_features_to_select):
        self.n_features_to_select = n_features_to_select

    def _select(self, view, rng):
        SEEN.append(np.column_stack([view.X, view.y]))
        order = np.argsort(-np.abs(view.X).max(axis=0), kind="stable")
        return Selection.unweighted(order[: checked_count(self, view.n_features)])


class Failing(BaseSelector):
    """Raises what its first argument says, or works without end."""

    algorithm_version = 1
    calls = 0

    def __init__(self, n_features_to_select, *, how="value"):
        self.n_features_to_select = n_features_to_select
        self.how = how

    def _select(self, view, rng):
        type(self).calls += 1
        if self.how == "slow":
            end = time.process_time() + 60
            while time.process_time() < end:
                pass
        if self.how == "nothing":
            return Selection.unweighted([])
        raise {
            "value": ValueError, "key": KeyError, "import": ImportError, "memory": MemoryError, "exit": SystemExit,
        }[self.how]("this one")  # fmt: skip


def cells(selector, *overrides):
    """Return the cells of an estimator at hand on a small design, a model each."""
    parts = compose_config(
        [
            "protocol=benchmark",
            "preparation=standardise",
            "selector=any",
            *SMALL.choose,
            *overrides,
        ]
    )
    return cells_of({**parts, "selector": as_config(selector)})


@pytest.fixture
def fold_rows():
    """Return a data set with training and test rows of a fold, and the same with other test rows and labels."""
    config = cells_of(
        compose_config(["protocol=benchmark", "selector=full", *SMALL.choose])
    )[0].dataset
    dataset = load_from(config)
    protocol = protocol_named("benchmark")
    train, test = protocol.rows(dataset, n_splits=5, split_seed=3, fold=1)
    X = dataset.X.copy()
    y = dataset.y.copy()
    X[test], y[test] = 1e9, y[test][::-1]
    return dataset, dataclasses.replace(dataset, X=X, y=y), train, test


def trial(cell, dataset, train, test):
    """Return the record of a trial on given rows."""
    fold = fold_of_rows(
        cell.measured, dataset, train, test, cell.protocol["preparation"], 3
    )
    fold = dataclasses.replace(
        fold, view=MeasuredView(fold.view.X, fold.view.y, fold.view.metadata)
    )
    return measure(cell.measured, cell.method, fold, seed=1, split_seed=3)


TRAINED = ("n_rows", "n_selected", "features", "subset_ratio", "objective", "failure")
"""What a record says of the training, and nothing of the test rows."""


def test_a_selector_that_would_leak_never_sees_a_test_row(fold_rows):
    SEEN.clear()
    dataset, changed, train, test = fold_rows
    with estimators_in_hand():
        [cell] = cells(Recorder(5))
        records = [trial(cell, rows, train, test) for rows in (dataset, changed)]
    assert len(SEEN) == 2
    assert_array_equal(*SEEN)
    assert SEEN[0].shape == (train.size, dataset.X.shape[1] + 1)
    assert_allclose(
        SEEN[0][:, :-1],
        StandardScaler().fit(dataset.X[train]).transform(dataset.X[train]),
    )
    assert records[0]["features"].tolist() == records[1]["features"].tolist()
    # it does leak where it is given all rows: this test can fail
    everything = np.arange(len(dataset.y))
    with estimators_in_hand():
        leaking = [
            trial(cells(Recorder(5))[0], rows, everything, test)
            for rows in (dataset, changed)
        ]
    assert leaking[0]["features"].tolist() != leaking[1]["features"].tolist()


@pytest.mark.parametrize("name", [name for name in panel_methods() if name not in SLOW])
def test_test_rows_make_no_difference_to_the_training_of_any_method(name, fold_rows):
    dataset, changed, train, test = fold_rows
    if (package := panel_methods()[name].source) not in ("provsel", "scikit-learn"):
        pytest.importorskip(package)
    cells = panel_cells({name: panel_methods()[name]}, {"small": SMALL})
    for model in ("linear", "boosting"):
        cell = next(planned.cell for planned in cells if planned.model == model)
        first, second = (
            trial(cell, planned, train, test) for planned in (dataset, changed)
        )
        for column in TRAINED:
            assert_array_equal(first.get(column), second.get(column))
        assert first["failure"] == "", first["failure"]


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("value", "ValueError: this one"),
        ("key", "KeyError: 'this one'"),
        ("exit", "SystemExit: this one"),
    ],
)
def test_a_failure_is_a_result_that_is_stored_and_not_tried_again(how, said, tmp_path):
    store = TrialStore(tmp_path / "store")
    sizes = (5, 10)
    with estimators_in_hand():
        failing = [
            cell
            for size in sizes
            for cell in cells(Failing(size, how=how), "protocol.limit=0.2")
        ]
        Failing.calls = 0
        report, _ = run_quietly(failing, store)
        assert Failing.calls == 20
        assert report.n_run == 20
        assert len(report.failures) == 0
        assert run_quietly(failing, store)[0].n_run == 0
    trials = store.query().to_pandas()
    assert trials["failure"].str.fullmatch(said).all()
    assert trials[["error", "n_selected", "subset_ratio"]].isna().all(axis=None)
    assert (trials["n_features"] == 40).all()


CUT_OFF = r"OutOfTimeError: the selection was stopped at its limit of 0\.2 CPU seconds"
UNTRIED = r"OutOfTimeError: the selection was not tried: this method was stopped at its limit of 0\.2 CPU seconds .*"


def test_a_method_that_was_cut_off_is_not_tried_with_more_features_or_on_other_folds(
    tmp_path,
):
    store = TrialStore(tmp_path / "store")
    with estimators_in_hand():
        slow = [
            cell
            for size in (10, 5, 20)
            for cell in cells(Failing(size, how="slow"), "protocol.limit=0.2")
        ]
        others = cells(Failing(5, how="nothing"), "protocol.limit=0.2")
        Failing.calls = 0
        report, _ = run_quietly([*slow, *others], store)
        # 10 features in the first fold, then 5, which are fewer; the other method on
        # each fold
        assert Failing.calls == 2 + 10
        assert report.n_run == 40
        trials = (
            store.query().to_pandas().set_index(["cell", "repeat", "fold"]).sort_index()
        )
        tried = [trials.loc[(cell.id, 0, 0), "failure"] for cell in slow[:2]]
        assert all(re.fullmatch(CUT_OFF, failure) for failure in tried)
        untried = trials.loc[[cell.id for cell in slow]].drop(
            index=[(cell.id, 0, 0) for cell in slow[:2]]
        )
        assert len(untried) == 28
        assert untried["failure"].str.fullmatch(UNTRIED).all()
        # what another run knew counts no more
        run_quietly(
            cells(Failing(5, how="slow"), "protocol.limit=0.3"),
            TrialStore(tmp_path / "other"),
        )
        assert Failing.calls == 2 + 10 + 1


@pytest.mark.parametrize(
    ("first", "second", "is_known"),
    [
        (
            {"n_features_to_select": 5, "rank": 2},
            {"n_features_to_select": 10, "rank": 5},
            True,
        ),
        ({"n_features_to_select": 10}, {"n_features_to_select": 5}, False),
        ({"n_features_to_select": 5}, {"n_features_to_select": 5, "alpha": 1.0}, False),
        ({"n_features_to_select": 5}, {"n_features_to_select": None}, True),
        ({"n_features_to_select": None}, {"n_features_to_select": 200}, False),
        (
            {"n_features_to_select": 20},
            {"sizes": [5, 20, 1.0], "selector": {"n_features_to_select": 5}},
            True,
        ),
        (
            {"n_features_to_select": 50},
            {"sizes": [5, 20, 1.0], "selector": {"n_features_to_select": 5}},
            False,
        ),
        (
            {"n_features_to_select": 50},
            {"sizes": None, "selector": {"n_features_to_select": 5}},
            False,
        ),
        ({"n_features_to_select": "many"}, {"sizes": 3}, False),
        # a search that is cut off says nothing about one selection
        (
            {"sizes": [5], "selector": {"n_features_to_select": 5}},
            {"n_features_to_select": 5},
            False,
        ),
    ],
)
def test_which_selections_take_at_least_as_long(first, second, is_known):
    name, size = next(iter(sizes_asked(first).items()))
    assert (sizes_asked(second).get(name, -1) >= size) == is_known


def test_an_empty_selection_is_a_result(tmp_path):
    store = TrialStore(tmp_path / "store")
    with estimators_in_hand():
        empty = cells(Failing(5, how="nothing"))
        run_quietly(empty, store)
    trials = store.query().to_pandas()
    assert {*trials["failure"]} == {""}
    assert {*trials["n_selected"]} == {0}
    assert {*trials["balanced_accuracy"]} == {0.5}
    data = load_from(empty[0].dataset)
    values = (
        np.linalg.svd(StandardScaler().fit_transform(data.X), compute_uv=False) ** 2
    )
    # of all rows
    assert_allclose(trials["subset_ratio"], values.sum() / values[5:].sum(), rtol=0.1)
    panel = panel_of(
        trials_from(store, [PanelCell("m", "d", "designs", 5, "linear", 3, empty[0])]),
        {"d": SMALL},
    )
    assert panel["stability"].isna().all()
    assert {
        *panel["support_f1"],
        *panel["support_recall"],
        *panel["false_discovery"],
    } == {0.0}


@pytest.mark.parametrize("how", ["import", "memory"])
def test_what_this_machine_lacks_is_no_result(how, tmp_path):
    with estimators_in_hand():
        report, _ = run_quietly(
            cells(Failing(5, how=how)), TrialStore(tmp_path / "store")
        )
    assert report.n_run == 0
    assert len(report.failures) == 10


@pytest.mark.parametrize("limit", [None, 0, -1, "long"])
def test_a_limit_is_a_number_of_seconds(limit):
    [cell] = cells_of(compose_config(["protocol=benchmark", *SMALL.choose]))
    with pytest.raises(
        ValueError, match=r"protocol\.limit: expected a positive number of CPU seconds"
    ):
        dataclasses.replace(cell, protocol={**cell.protocol, "limit": limit})


def test_other_protocols_have_no_limit_and_their_keys_do_not_name_it():
    with pytest.raises(
        ValueError, match=r"protocol\.limit: the split kfold never stops a selection"
    ):
        cells_of(compose_config(["+protocol.limit=3"]))
    assert "limit" not in cells_of(compose_config())[0].json
    assert '"limit":300' in cells_of(compose_config(["protocol=benchmark"]))[0].json


# ---- measures of selections


def own_order(name, X, y):
    """Return the features of two methods in order, as their authors' code has them."""
    if name == "F-test":
        return np.argsort(-f_classif(X, y)[0], kind="stable")
    return np.argsort(
        -ExtraTreesClassifier(250, random_state=0).fit(X, y).feature_importances_,
        kind="stable",
    )


@pytest.mark.parametrize("name", ["F-test", "extra trees"])
@pytest.mark.parametrize("dataset", ["breast_cancer", "shift"])
def test_stability_support_and_column_subset_are_as_defined(name, dataset, tmp_path):
    sets = {dataset: panel_datasets()[dataset]}
    chosen = [
        cell
        for cell in panel_cells({name: panel_methods()[name]}, sets)
        if cell.size == 10
    ]
    store = TrialStore(tmp_path / "store")
    report, _ = run_quietly([cell.cell for cell in chosen], store)
    assert report.n_run == 5, report.summary()
    panel = panel_of(trials_from(store, chosen), sets)
    lines = panel.set_index(["repeat", "fold"])
    data = load_from(chosen[0].cell.dataset)
    support = (
        places_of_first(chosen[0].cell.dataset, 10) if dataset == "shift" else None
    )
    seeds = (
        store.query(columns=["repeat", "split_seed"])
        .to_pandas()
        .drop_duplicates()
        .set_index("repeat")["split_seed"]
    )
    stabilities = []
    hits = []
    for repeat, seed in seeds.items():
        kept = []
        folds = StratifiedKFold(5, shuffle=True, random_state=int(seed)).split(
            data.X, data.y
        )
        for fold, (train, _) in enumerate(folds):
            scaler = StandardScaler().fit(data.X[train])
            X = scaler.transform(data.X[train])
            kept.append(own_order(name, X, data.y[train])[:10])
            columns = np.sort(kept[-1])
            rest = X - X[:, columns] @ np.linalg.lstsq(X[:, columns], X, rcond=None)[0]
            best = np.sum(np.linalg.svd(X, compute_uv=False)[5:] ** 2)
            ratio = lines.loc[(repeat, fold), "subset_frobenius_ratio"]
            # four digits are kept
            assert ratio == pytest.approx(np.sum(rest**2) / best, rel=1e-3)
            hits.append(len({*columns} & (support or set())) / 10)
        stabilities.append(stability(kept, data.X.shape[1]).index)
    line = panel.iloc[0]
    assert line["stability"] == pytest.approx(np.mean(stabilities))
    if support is None:
        assert np.isnan(line["support_f1"])
    else:
        assert len(support) == 10
        assert (
            line["support_f1"] == line["support_recall"] == pytest.approx(np.mean(hits))
        )
        assert line["false_discovery"] == pytest.approx(1 - np.mean(hits))


def test_stability_is_of_the_columns_of_the_data_where_each_fold_leaves_out_others(
    tmp_path,
):
    choose = (
        "dataset=digits",
        "dataset.classes=null",
        "+dataset.sample_rows=200",
        "preparation=varying",
    )
    sets = {"few digits": PanelDataset(choose, "images", "x")}
    methods = {name: panel_methods()[name] for name in ("F-test", "all features")}
    chosen = [
        entry
        for entry in panel_cells(methods, sets)
        if entry.size in (0, 10) and entry.model == "linear"
    ]
    store = TrialStore(tmp_path / "store")
    report, _ = run_quietly([entry.cell for entry in chosen], store)
    assert report.n_run == 20, report.summary()
    data = load_from(chosen[0].cell.dataset)
    varying = set()
    expected = []
    for seed in store.query(columns=["split_seed"]).to_pandas()["split_seed"].unique():
        kept = []
        for train, _ in StratifiedKFold(5, shuffle=True, random_state=int(seed)).split(
            data.X, data.y
        ):
            columns = np.flatnonzero(np.ptp(data.X[train], axis=0))
            order = own_order(
                "F-test",
                StandardScaler().fit_transform(data.X[train][:, columns]),
                data.y[train],
            )
            kept.append(columns[order[:10]])
            varying.add(tuple(columns))
        ever = np.unique(np.concatenate([*map(np.array, varying)]))
        expected.append(
            stability(
                [np.searchsorted(ever, columns) for columns in kept], ever.size
            ).index
        )
    assert len(varying) > 1  # else any numbering is right
    values = (
        panel_of(trials_from(store, chosen), sets)
        .groupby("method")["stability"]
        .unique()
    )
    assert values["F-test"] == pytest.approx(np.mean(expected), abs=0.01)
    assert np.isnan(values["all features"]).all()


def test_all_methods_and_models_of_a_fold_are_one_task_with_the_same_rows():
    methods = {
        name: panel_methods()[name] for name in ("F-test", "random", "all features")
    }
    planned = panel_cells(methods, {"small": SMALL})
    tasks = make_tasks([cell.cell for cell in planned])
    assert len(tasks) == 10
    assert {len(task.trials) for task in tasks} == {len(planned)}
    sizes = {(cell.method, cell.size) for cell in planned}
    assert sizes == {
        ("all features", 0),
        *((name, size) for name in ("F-test", "random") for size in (5, 10, 20, -2)),
    }


class Large(BaseSelector):
    algorithm_version = 1

    def __init__(self, n_features_to_select):
        self.n_features_to_select = n_features_to_select

    def _select(self, view, rng):
        view.shared("large", lambda: np.ones(20_000_000).sum())  # 160 MB
        return Selection.unweighted(range(self.n_features_to_select))


def test_memory_of_a_selection_is_what_it_takes_whoever_computed_it_first():
    with estimators_in_hand():
        company = [cell for size in (5, 10) for cell in cells(Large(size))] + cells(
            Recorder(5)
        )
        result = run_task(make_tasks(company)[0])
    large, again, small = (record["peak_memory"] for record in result.records)
    if large is None:
        pytest.skip("this system tells nothing about memory")
    assert 150e6 < large < 250e6
    assert 150e6 < again < 250e6
    assert small < 50e6
