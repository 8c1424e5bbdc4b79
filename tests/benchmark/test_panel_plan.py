"""The benchmark's plan, its judges, and its numbers again by plain scikit-learn."""

import json
from collections import defaultdict

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import f_classif
from sklearn.linear_model import LogisticRegressionCV, RidgeClassifierCV
from sklearn.metrics import confusion_matrix, log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from provlab.bench.judges import BoostingClassifier
from provlab.bench.methods import PanelMethod, panel_methods
from provlab.bench.panel import (
    judging,
    panel_cells,
    panel_datasets,
    shape_of,
    sizes_of_judges,
)
from provlab.core.cell import ID_DIGITS
from provlab.core.composition import compose_config
from provlab.core.plan import cells_of, load_from
from provlab.core.store import TrialStore
from provlab.project.components import build
from provlab.run.fitting import class_counts
from provlab.verdicts.panel_frame import ALL_FEATURES, CHOSEN_SIZE, OWN_SIZE
from small_runs import run_quietly

F_TEST = {"F-test": panel_methods()["F-test"]}


def plan_of(dataset, method):
    """Return the sizes of a method on a data set by its judges."""
    cells = panel_cells(
        {method: panel_methods()[method]}, {dataset: panel_datasets()[dataset]}
    )
    sizes = defaultdict(list)
    for planned in cells:
        sizes[planned.model].append(planned.size)
    return dict(sizes)


# ---- which cells there are


@pytest.mark.parametrize(
    ("dataset", "method", "sizes"),
    [
        # 7,129 columns: each size of each judge, and a chosen one
        (
            "leukemia",
            "F-test",
            {
                "linear": [5, 10, 20, 50, 100, 200, CHOSEN_SIZE],
                "boosting": [5, 20, 100],
                "neighbours": [5, 20, 100],
                "forest": [20],
            },
        ),
        # 16 columns: nothing at 20
        (
            "letter",
            "F-test",
            {"linear": [5, 10, CHOSEN_SIZE], "boosting": [5], "neighbours": [5]},
        ),
        # 100 columns: a size is one that leaves something out
        (
            "interactions",
            "F-test",
            {
                "linear": [5, 10, 20, 50, CHOSEN_SIZE],
                "boosting": [5, 20],
                "neighbours": [5, 20],
                "forest": [20],
            },
        ),
        (
            "leukemia",
            "all features",
            {judge: [ALL_FEATURES] for judge in judging().judges},
        ),
        (
            "leukemia",
            "Boruta, its number",
            {judge: [OWN_SIZE] for judge in judging().judges},
        ),
        # its rank follows its number, so that none is chosen
        (
            "leukemia",
            "leverage",
            {
                "linear": [5, 10, 20, 50, 100, 200],
                "boosting": [5, 20, 100],
                "neighbours": [5, 20, 100],
                "forest": [20],
            },
        ),
        # two classes only, and these are five
        ("nakayama", "LPSVM", {}),
        # classes only, and these are numbers
        ("riboflavin", "chi-squared", {}),
        # 80 % of 150 rows times 8,951 columns are more than it takes
        ("TechTC 10385-14525", "LPSVM", {}),
    ],
)
def test_sizes_and_judges_of_a_method(dataset, method, sizes):
    assert plan_of(dataset, method) == sizes


@pytest.mark.parametrize("dataset", ["letter", "riboflavin", "TechTC 10385-14525"])
def test_each_cell_is_as_the_data_set_and_the_judges_say(dataset):
    entry = panel_datasets()[dataset]
    cells = panel_cells(panel_methods(), {dataset: entry})
    assert len({planned.cell.id for planned in cells}) == len(cells)
    expected = {
        judge: compose_config(model.model(entry.task))["model"]
        for judge, model in judging().judges.items()
    }
    for planned in cells:
        assert dict(planned.cell.model) == expected[planned.model]
        assert planned.cell.counts == (1, 5, 1)
        chosen = planned.cell.selector
        if planned.size == CHOSEN_SIZE:
            assert (
                chosen["selector"]["_target_"] != "provsel.selectors.FullDataSelector"
            )
            assert chosen["sizes"] == [
                *(size for size in (5, 20, 50, 200) if size < shape_of(entry)[1]),
                1.0,
            ]
            assert chosen["task"] == entry.task
        elif planned.size > 0:
            assert chosen["n_features_to_select"] == planned.size


def test_columns_have_one_unit_but_where_a_data_set_says_otherwise():
    for name, entry in panel_datasets().items():
        [planned, *_] = panel_cells(F_TEST, {name: entry})
        preparation = planned.cell.protocol["preparation"]
        is_text = "preparation.scale=null" in entry.choose
        assert preparation["scale"] == (None if is_text else "standard"), name
        assert planned.cell.data == json.loads(planned.cell.json)["data"]


def test_a_second_repeat_has_the_same_keys_for_the_first():
    cell = panel_cells(F_TEST, {"interactions": panel_datasets()["interactions"]})[
        0
    ].cell
    twice = type(cell)(**{**vars_of(cell), "protocol": {**cell.protocol, "repeats": 2}})
    assert twice.id == cell.id
    assert twice.counts == (2, 5, 1)


def vars_of(cell):
    return {
        name: getattr(cell, name)
        for name in ("dataset", "selector", "model", "protocol", "data")
    }


@pytest.mark.parametrize(
    ("limits", "n_rows", "is_taken"),
    [
        ({}, 2000, True),
        ({"most": 20_000}, 200, True),
        ({"most": 20_000}, 201, False),
        ({"most_columns": 100}, 2000, True),
        ({"most_columns": 99}, 10, False),
    ],
)
def test_a_method_is_run_up_to_a_number_of_entries_and_of_columns(
    limits, n_rows, is_taken
):
    method = PanelMethod(("selector=rfe",), **limits)
    assert method.takes((n_rows, 100, 2), "classification") == is_taken


def test_every_domain_and_task_has_enough_sets_and_methods():
    entries = panel_datasets().values()
    by_task = {"classification": [], "regression": []}
    for entry in entries:
        by_task[entry.task].append(entry)
    assert len(by_task["classification"]) >= 110
    assert len(by_task["regression"]) >= 30
    for task, least in (("classification", 40), ("regression", 25)):
        assert sum(task in method.tasks for method in panel_methods().values()) >= least


def test_data_of_ones_own_have_fewer_judges_and_no_chosen_size():
    dataset = {"interactions": panel_datasets()["interactions"]}
    cells = panel_cells(F_TEST, dataset, sizes_of_judges(judging().own_data))
    assert (
        {planned.model for planned in cells}
        == {*judging().own_data}
        < {*judging().judges}
    )
    assert CHOSEN_SIZE not in {planned.size for planned in cells}


# ---- judges


@pytest.mark.parametrize("judge", [*judging().judges])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_judge_draws_nothing_and_gives_what_is_measured_of_it(judge, task):
    [cell] = cells_of(
        compose_config(["protocol=benchmark", *judging().judges[judge].model(task)])
    )
    assert cell.n_draws == 1
    model = build("model", cell.model)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    y = X[:, 0] if task == "regression" else np.digitize(X[:, 0], [-0.3, 0.5])
    first, second = (model.fit(X, y).predict(X) for _ in range(2))
    assert_array_equal(first, second)
    if task == "classification":
        assert model.predict_proba(X).shape == (40, 3)


def test_boosting_of_sparse_rows_is_that_of_dense_ones():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 8)) * (rng.random((60, 8)) < 0.4)
    y = np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5])
    settings = {
        "max_iter": 5,
        "min_samples_leaf": 3,
        "class_weight": "balanced",
        "random_state": 1,
    }
    own = BoostingClassifier(**settings).fit(sparse.csr_array(X), y)
    plain = HistGradientBoostingClassifier(**settings).fit(X, y)
    assert_array_equal(own.predict(sparse.csr_array(X)), plain.predict(X))
    assert_array_equal(own.predict_proba(sparse.csr_array(X)), plain.predict_proba(X))


@pytest.mark.parametrize("n_rows", [200, 700])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_boosting_has_the_bins_of_scikit_learn_without_weights(n_rows, n_classes):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((2 * n_rows, 6))
    X[:, 1] = np.round(X[:, 1], 1)
    X[:, 2] = np.where(rng.random(2 * n_rows) < 0.9, 0.0, X[:, 2])
    X[:, 3] = np.exp(3 * X[:, 3])
    strength = X[:, 0] + X[:, 4] + X[:, 1]
    y = np.digitize(strength, [0.0] if n_classes == 2 else [-1.0, 1.0])
    settings = {
        "max_iter": 10,
        "min_samples_leaf": 5,
        "max_leaf_nodes": 8,
        "random_state": 1,
    }
    train = np.arange(n_rows)
    test = np.arange(n_rows, 2 * n_rows)
    own = BoostingClassifier(**settings).fit(X[train], y[train])
    plain = HistGradientBoostingClassifier(**settings).fit(X[train], y[train])
    assert_array_equal(own.predict_proba(X[test]), plain.predict_proba(X[test]))
    weighted = BoostingClassifier(**settings, class_weight="balanced").fit(
        X[train], y[train]
    )
    assert (weighted.predict_proba(X[test]) != own.predict_proba(X[test])).any()


@pytest.mark.parametrize(
    ("y", "predicted"),
    [
        ([-1, 1, 1, -1], [-1, 1, -1, 1]),
        ([0, 2, 2, 5, 5, 5], [0, 2, 5, 0, 5, 5]),
        ([2, 2, 5], [5, 5, 5]),  # whole groups: no row of class 0
        ([0], [7]),  # a class that no row has
    ],
)
def test_errors_by_class_are_those_of_a_confusion_matrix(y, predicted):
    classes = np.array([-1, 0, 1, 2, 5, 7])
    counts = class_counts(np.array(y), np.array(predicted), classes)
    table = confusion_matrix(y, predicted, labels=classes)
    assert_array_equal(counts["class_rows"], table.sum(axis=1))
    assert_array_equal(counts["class_errors"], table.sum(axis=1) - np.diag(table))


# ---- the numbers again, with plain scikit-learn


def plain_judge(judge):
    """Return the judge as a user of scikit-learn would write it."""
    models = {
        "linear": LogisticRegressionCV(
            Cs=[0.001, 0.03, 1, 30, 1000], cv=3, l1_ratios=[0.0], scoring="neg_log_loss", class_weight="balanced",
            tol=1e-3, use_legacy_attributes=False,
        ),
        "boosting": HistGradientBoostingClassifier(
            max_iter=60, learning_rate=0.15, max_leaf_nodes=8, min_samples_leaf=5, early_stopping=False,
            class_weight="balanced", random_state=1,
        ),
        "forest": RandomForestClassifier(50, min_samples_leaf=3, class_weight="balanced", random_state=1),
        "neighbours": KNeighborsClassifier(5, weights="distance"),
    }  # fmt: skip
    return models[judge]


def plain_bins(X, X_test):
    """Return rows whose columns of more than 255 values have bins of equal counts, whatever the classes weigh."""
    binned = X.copy()
    binned_test = X_test.copy()
    for place in range(X.shape[1]):
        if np.unique(X[:, place]).size > 255:
            borders = np.quantile(
                X[:, place], np.arange(1, 255) / 255, method="averaged_inverted_cdf"
            )
            binned[:, place] = np.digitize(X[:, place], borders, right=True)
            binned_test[:, place] = np.digitize(X_test[:, place], borders, right=True)
    return binned, binned_test


def plain_order(X, y):
    return np.argsort(-f_classif(X, y)[0], kind="stable")


def plain_size(X, y):
    """Return the number of features that three inner folds choose."""
    best_mean = -np.inf
    best_size = None
    for size in (5, 20, 50, 200, X.shape[1]):
        if size > X.shape[1]:
            continue
        scores = []
        for train, test in StratifiedKFold(3).split(X, y):
            kept = np.sort(plain_order(X[train], y[train])[:size])
            judge = RidgeClassifierCV(
                [0.001, 0.1, 10, 1000, 100000], class_weight="balanced"
            )
            predicted = judge.fit(X[train][:, kept], y[train]).predict(X[test][:, kept])
            table = confusion_matrix(y[test], predicted)
            scores.append((np.diag(table) / table.sum(axis=1)).mean())
        if np.mean(scores) > best_mean + 1e-12:
            best_mean = np.mean(scores)
            best_size = size
    return best_size


@pytest.mark.parametrize("dataset", ["breast_cancer", "four classes", "imbalance"])
def test_entries_are_those_of_plain_scikit_learn(dataset, tmp_path):
    cells = panel_cells(F_TEST, {dataset: panel_datasets()[dataset]})
    wanted = [planned for planned in cells if planned.size in (20, CHOSEN_SIZE)]
    assert len(wanted) == 5
    store = TrialStore(tmp_path / "store")
    report, _ = run_quietly([planned.cell for planned in wanted], store)
    assert report.n_run == 25, report.summary()
    names = {planned.cell.id: (planned.model, planned.size) for planned in wanted}
    trials = store.query().to_pandas()
    data = load_from(wanted[0].cell.dataset)
    [seed] = trials["split_seed"].unique()
    folds = [
        *StratifiedKFold(5, shuffle=True, random_state=int(seed)).split(data.X, data.y)
    ]
    for _, trial in trials.iterrows():
        judge, size = names[trial["cell"]]
        train, test = folds[trial["fold"]]
        scaler = StandardScaler().fit(data.X[train])
        X = scaler.transform(data.X[train])
        X_test = scaler.transform(data.X[test])
        if size == CHOSEN_SIZE:
            size = plain_size(X, data.y[train])
        kept = np.sort(plain_order(X, data.y[train])[:size])
        assert trial["n_selected"] == size
        X, X_test = X[:, kept], X_test[:, kept]
        if judge == "boosting":
            X, X_test = plain_bins(X, X_test)
        model = plain_judge(judge).fit(X, data.y[train])
        table = confusion_matrix(data.y[test], model.predict(X_test))
        assert_array_equal(trial["class_rows"], table.sum(axis=1))
        assert_array_equal(trial["class_errors"], table.sum(axis=1) - np.diag(table))
        shares = model.predict_proba(X_test)
        loss = -log_loss(data.y[test], shares, labels=model.classes_)
        # two classes have the probability of the second
        area = roc_auc_score(
            data.y[test],
            shares if shares.shape[1] > 2 else shares[:, 1],
            multi_class="ovr",
        )
        assert_allclose(trial["neg_log_loss"], loss, rtol=1e-5)
        assert_allclose(trial["roc_auc_ovr"], area, rtol=1e-5)


# ---- keys

FROZEN = {
    ("leukemia", "RFE", 5, "linear"): "0bc323093b91f36e318b",
    ("leukemia", "RFE", 5, "boosting"): "666c2b9227f6952b3bae",
    ("leukemia", "RFE", 5, "neighbours"): "bd4ab26181eda292dfdb",
    ("leukemia", "RFE", 20, "forest"): "d873b84c62238f35451f",
    ("leukemia", "RFE", -2, "linear"): "16491e40da220fdbf614",
    ("letter", "F-test", 5, "linear"): "113f9af79c36145e0a7b",
    ("letter", "F-test", 5, "boosting"): "f23c2f15b80cb0fe180d",
    ("letter", "F-test", 5, "neighbours"): "ead46e8a4ad169a3c5a8",
    ("letter", "F-test", -2, "linear"): "327148d5276f942c4a37",
    ("riboflavin", "random", 5, "linear"): "61ddc5b38c89d91daeb2",
    ("riboflavin", "random", 5, "boosting"): "9ceecedaea8451b64bcf",
    ("riboflavin", "random", 5, "neighbours"): "65b63ec2b8a57620a2d2",
    ("riboflavin", "random", 20, "forest"): "eed373f0100532d383d8",
    ("riboflavin", "random", -2, "linear"): "ebebbf74d5225979f3ca",
    ("TechTC 10385-14525", "all features", 0, "linear"): "1783aaa9f952a86b07f5",
    ("TechTC 10385-14525", "all features", 0, "boosting"): "cccf3201e4639a43018e",
    ("TechTC 10385-14525", "all features", 0, "neighbours"): "9cf5712ecf6f1b58af13",
    ("TechTC 10385-14525", "all features", 0, "forest"): "3360a747946a182f6013",
    ("nakayama", "Boruta, its number", -1, "linear"): "dba3790011ae076b5147",
    ("nakayama", "Boruta, its number", -1, "boosting"): "01a2da6de1b946b8b7ad",
    ("nakayama", "Boruta, its number", -1, "neighbours"): "9022fe37b99c949fae4c",
    ("nakayama", "Boruta, its number", -1, "forest"): "3f2bac4fff8f48976138",
}
"""Short ids of cells by data set, method, size and judge: of what is stored, which another plan would not find."""


@pytest.mark.skipif(
    sklearn.__version__ != "1.9.1", reason="keys have the version of scikit-learn"
)
def test_keys_are_those_that_trials_were_stored_with():
    now = {}
    for dataset, method in dict.fromkeys(
        (dataset, method) for dataset, method, *_ in FROZEN
    ):
        cells = panel_cells(
            {method: panel_methods()[method]}, {dataset: panel_datasets()[dataset]}
        )
        now |= {
            (dataset, method, planned.size, planned.model): planned.cell.id[:ID_DIGITS]
            for planned in cells
        }
    assert {name: now.get(name) for name in FROZEN} == FROZEN
