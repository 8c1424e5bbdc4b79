"""`select`: the error is that of the whole procedure, and no sentence goes beyond the intervals."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    mutual_info_classif,
)
from sklearn.linear_model import Ridge
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from provlab import select
from provlab.bench.selection.methods import ALL, DEFAULT, method_named
from provlab.bench.selection.select import select_on
from provlab.bench.selection.table_selector import TableSelector, sized
from provlab.data import make_dataset
from provlab.run.preparation import TablePreparation
from provsel.selectors import BaseSelector, FTestSelector, Selection

FAST = "f_test,rrqr"


def planted(n_rows, n_columns, seed, effect=2.0):
    """Return columns of noise, and classes that the first two of them tell."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        rng.standard_normal((n_rows, n_columns)),
        columns=[f"x{k}" for k in range(n_columns)],
    )
    y = effect * (X["x0"] + X["x1"]) + rng.standard_normal(n_rows) > 0
    return X, np.where(y, "yes", "no")


def with_texts(n_rows=90, seed=0):
    """Return a table with a text of four kinds, a copy of a column, and missing cells; the text and `size` tell."""
    rng = np.random.default_rng(seed)
    town = rng.choice(["Lima", "Oslo", "Rome", "Wien"], n_rows)
    table = pd.DataFrame(
        {
            "noise": rng.standard_normal(n_rows),
            "town": town,
            "size": rng.standard_normal(n_rows),
        }
    )
    table["length"] = table["size"]
    y = np.where(np.isin(town, ["Lima", "Rome"]), 1, 0) + (table["size"] > 0)
    table.loc[::11, "noise"] = None
    table.loc[::17, "town"] = None
    return table, y.to_numpy()


# ---- the error is that of the procedure


def plain_nested(X, y, selectors, model, sizes, outer, inner, error):
    """The nested procedure written out with scikit-learn; returns the errors of the outer folds."""

    def fitted_error(selector, size, train, test):
        steps = [
            StandardScaler(),
            *(
                []
                if selector is None
                else [clone(selector).set_params(n_features_to_select=size)]
            ),
        ]
        pipeline = make_pipeline(*steps, clone(model)).fit(X[train], y[train])
        return error(y[test], pipeline.predict(X[test]))

    errors = []
    for train, test in outer.split(X, y):
        inner_folds = [(train[a], train[b]) for a, b in inner.split(X[train], y[train])]
        candidates = [(selector, size) for size in sizes for selector in selectors] + [
            (None, X.shape[1])
        ]
        means = []
        deviations = []
        for selector, size in candidates:
            of_folds = [fitted_error(selector, size, *fold) for fold in inner_folds]
            means.append(np.mean(of_folds))
            deviations.append(np.std(of_folds, ddof=1) / np.sqrt(len(of_folds)))
        best = int(np.argmin(means))
        limit = means[best] + deviations[best]
        within = [place for place, mean in enumerate(means) if mean <= limit]
        smallest = min(candidates[place][1] for place in within)
        chosen = min(
            (p for p in range(len(candidates)) if candidates[p][1] == smallest),
            key=lambda p: means[p],
        )
        errors.append(fitted_error(*candidates[chosen], train, test))
    return errors


@pytest.mark.parametrize("seed", [0, 3])
def test_the_error_is_that_of_a_nested_loop_by_scikit_learn(seed):
    X, y = load_breast_cancer(return_X_y=True)
    rows = np.random.default_rng(seed).permutation(len(y))[:150]
    X, y = X[rows, :14], y[rows]
    selected = select(X, y, methods=FAST, n_splits=5, random_state=seed, n_jobs=1)
    selectors = [clone(method.selector) for method in selected.problem.methods]
    outer, inner = (
        StratifiedKFold(5, shuffle=True, random_state=seed) for _ in range(2)
    )
    wrong = lambda y, predicted: 100 * np.mean(y != predicted)  # noqa: E731
    errors = plain_nested(
        X,
        y,
        selectors,
        selected.problem.model,
        [1, 2, 3, 5, 8, 12],
        outer,
        inner,
        wrong,
    )
    assert selected.folds["error"].tolist() == errors
    assert selected.error.value == np.mean(errors)


def test_the_error_of_numbers_is_that_of_a_nested_loop_by_scikit_learn():
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:120], y[:120]
    selected = select(X, y, methods=FAST, task="regression", n_splits=4, n_jobs=1)
    selectors = [clone(method.selector) for method in selected.problem.methods]
    outer = KFold(4, shuffle=True, random_state=0)
    inner = KFold(5, shuffle=True, random_state=0)
    errors = plain_nested(
        X,
        y,
        selectors,
        selected.problem.model,
        [1, 2, 3, 5, 8],
        outer,
        inner,
        root_mean_squared_error,
    )
    assert selected.folds["RMSE"].tolist() == errors


class Recorder(BaseSelector):
    """Keeps the last columns, and the rows that it was shown: the first column has their numbers."""

    algorithm_version = 1
    needs_labels = True
    seen = []  # noqa: RUF012

    def __init__(self, n_features_to_select):
        self.n_features_to_select = n_features_to_select

    def _select(self, view, rng):
        self.seen.append(tuple(view.X[:, 0].astype(int)))
        return Selection.unweighted(
            np.arange(view.n_features)[::-1][: self.n_features_to_select]
        )


def recorded(X, y, **options):
    Recorder.seen = []
    X.insert(0, "row", np.arange(len(X), dtype=float))
    selected = select(
        X, y, methods={"mine": Recorder(1)}, preparation="none", n_jobs=1, **options
    )
    return selected, [set(rows) for rows in dict.fromkeys(Recorder.seen)]


def test_a_selector_sees_training_rows_only():
    X, y = planted(60, 3, seed=0)
    selected, seen = recorded(X, y, n_splits=5)
    outer = [
        set(train)
        for train, _ in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y)
    ]
    in_fold = [rows for rows in seen if len(rows) < 60]
    assert (
        len(in_fold) == 5 * 6
    )  # five inner folds and the whole of each training fold; those of all rows are the latter
    assert all(rows in seen for rows in outer)
    for rows in in_fold:
        assert any(rows <= train for train in outer)
    assert len(selected.folds) == 5


def test_groups_are_never_on_both_sides():
    X, y = planted(80, 3, seed=1)
    groups = np.repeat(np.arange(16), 5)
    _, seen = recorded(X, y, groups=groups, n_splits=4)
    for rows in seen:
        inside = groups[sorted(rows)]
        assert all(
            np.count_nonzero(inside == group) == 5 for group in np.unique(inside)
        )


def test_rows_are_trained_on_before_those_that_test_them():
    X, y = planted(120, 3, seed=2)
    time = np.random.default_rng(0).permutation(120)
    _, seen = recorded(X, y, time=time)
    for rows in seen:
        times = time[sorted(rows)]
        assert times.max() == len(times) - 1  # all rows up to some time


def test_any_number_of_processes_gives_the_same():
    X, y = planted(70, 6, seed=4)
    alone, together = (select(X, y, n_jobs=n_jobs, n_splits=3) for n_jobs in (1, 2))
    assert alone.folds.equals(together.folds)
    pd.testing.assert_frame_equal(
        alone.table.drop(columns="seconds"), together.table.drop(columns="seconds")
    )
    pd.testing.assert_frame_equal(alone.curve, together.curve)
    assert alone.features == together.features


# ---- what is said


def test_noise_is_called_noise():
    """Of 30 tables of noise, the sentence is wrong on at most 7 %: 2.5 % are expected."""
    wrong = 0
    for seed in range(30):
        rng = np.random.default_rng([seed, 7])
        X = rng.standard_normal((60, 3))
        y = rng.integers(0, 2, 60)
        selected = select(
            X, y, methods="f_test", n_splits=3, random_state=seed, n_jobs=1
        )
        wrong += not selected.answer[0].startswith(
            "No method is shown to be better than guessing: "
        )
    assert wrong <= 2


@pytest.mark.parametrize(
    ("n_groups", "sentence"),
    [(8, "to show any gain over guessing"), (60, "A gain of ")],
)
def test_the_gain_that_would_be_seen_is_one_that_there_can_be(n_groups, sentence):
    """Of groups that are of one class, guessing is right or wrong on all of a fold."""
    X, _ = planted(240, 3, seed=14)
    groups = np.arange(240) * n_groups // 240
    selected = select(
        X, groups % 2, groups=groups, methods="f_test", n_splits=8, n_jobs=1
    )
    assert sentence in selected.answer[1]
    if n_groups == 60:
        assert float(selected.answer[1].split()[3]) < 50


def test_planted_features_are_named_and_noise_is_not():
    X, y = planted(200, 40, seed=5)
    selected = select(X, y, methods="f_test,mrmr", n_jobs=1)
    assert sorted(selected.features) == ["x0", "x1"]
    assert selected.answer[0].startswith(("Keep x0 and x1 (by ", "Keep x1 and x0 (by "))
    assert "guessing the most frequent class" in selected.answer[0]
    assert selected.error.low < selected.error.value < selected.error.high
    assert selected.frequency.loc["x0", "folds"] == 10
    assert " ".join(str(selected).split()).startswith(selected.answer[0])
    assert max(map(len, str(selected).partition("\n\n")[0].splitlines())) <= 80
    assert "named" not in selected.answer[0]


def test_ten_folds_without_an_error_are_no_proof_of_none():
    X = np.repeat([[0.0, 1.0], [5.0, 1.5]], 20, axis=0) + np.random.default_rng(
        0
    ).random((40, 2))
    selected = select(X, np.repeat([0, 1], 20), methods="f_test", n_jobs=1)
    assert selected.error.value == 0
    # Clopper and Pearson
    assert selected.error.high == pytest.approx(100 * (1 - 0.025 ** (1 / 40)))
    assert (
        select(X, np.repeat([0, 1], 20), methods="f_test", n_splits=3, n_jobs=1).error
        == selected.error
    )


def test_a_method_that_is_worse_than_all_columns_is_said_to_be():
    X, y = planted(300, 12, seed=6)
    selected = select(
        X,
        y,
        methods={"last": Recorder(1), "f_test": FTestSelector(1)},
        n_features_to_select=2,
        n_jobs=1,
    )
    assert selected.features == ["x0", "x1"] or selected.features == ["x1", "x0"]
    assert any(
        "Worse than the best and than all columns: last." in sentence
        for sentence in selected.answer
    )
    assert selected.table.loc["last", "to_all_low"] > 0
    assert selected.best == "f_test"


def test_the_number_that_is_asked_for_is_kept():
    X, y = planted(100, 9, seed=7)
    selected = select(X, y, methods=FAST, n_features_to_select=3, n_splits=4, n_jobs=1)
    assert len(selected.features) == 3
    assert selected.folds["features"].tolist() == [3] * 4
    assert selected.curve.index.tolist() == [3, 9]


def test_scores_are_compared_the_other_way_round():
    X, y = planted(150, 8, seed=8)
    methods = {"last": Recorder(1), "f_test": FTestSelector(1)}
    selected = select(
        X, y, methods=methods, n_features_to_select=2, scoring="roc_auc", n_jobs=1
    )
    assert selected.error.value > 0.9
    assert selected.table.loc["guessing", "roc_auc"] == 0.5
    assert selected.best == "f_test"
    assert selected.answer[0].startswith("Keep x")


# ---- tables as people have them


def test_texts_and_copies_are_selected_as_one_column():
    table, y = with_texts()
    selected = select(table, y, methods="f_test", n_jobs=1)
    assert sorted(selected.features) == ["size", "town"]
    assert "size = length" in selected.answer[0]
    assert "equal columns count as one: size = length" in selected.notes
    assert selected.problem.n_columns == 3


def test_the_pipeline_predicts_from_the_selected_columns_and_is_pickled():
    table, y = with_texts()
    labels = np.array(["neither", "one", "both"])[y]
    selected = select(table, labels, methods="f_test", n_jobs=1)
    predicted = selected.pipeline.predict(table)
    assert set(predicted) <= set(labels)
    assert np.mean(predicted == labels) > 0.8
    copy = pickle.loads(pickle.dumps(selected.pipeline))  # noqa: S301
    assert copy.predict(table[selected.features][:7]).tolist() == predicted[:7].tolist()
    with pytest.raises(
        ValueError,
        match="TableSelector: expected a column 'town', got 1 columns without it",
    ):
        copy.predict(table[["size"]])


@pytest.mark.parametrize(
    "name", sorted({"f_test", "rfe", "rrqr", "mrmr", "stability_selection"})
)
def test_dummies_are_asked_for_until_enough_columns_are_there(name):
    table, y = with_texts()
    for count in (1, 2, 3):
        fitted = TableSelector(
            method_named(name).selector,
            count,
            preparation=TablePreparation(scale="standard"),
        )
        assert len(set(fitted.fit(table, y).features_)) == count


@pytest.mark.parametrize("name", ALL)
def test_every_method_of_all_takes_classes_and_numbers(name):
    X, y = planted(40, 6, seed=9)
    for target in (y, X["x0"] + X["x1"] ** 2):
        if target is not y and method_named(name).selector.classes_only:
            with pytest.raises(
                ValueError, match=f"{name} is left out: it is for classes"
            ):
                select(X, target, methods=name, n_splits=3, n_jobs=1)
            continue
        selected = select(
            X, target, methods=name, n_features_to_select=2, n_splits=3, n_jobs=1
        )
        assert len(selected.features) == 2
        assert not any("failed" in note for note in selected.notes)


def test_slow_methods_are_left_out_of_large_tables_unless_they_are_named():
    X, y = planted(5200, 3, seed=10)
    selected = select(X, y, n_splits=2, n_jobs=1, n_features_to_select=1)
    names = [method.name for method in selected.problem.methods]
    assert names == [name for name in DEFAULT if name not in ("relieff", "rfe")]
    assert any(
        note.startswith("relieff is left out: slow on more than 5,000 rows")
        for note in selected.notes
    )


def script(selected, **names):
    """Run the script, and return what it made."""
    exec(selected.code, names)
    return names


def test_the_script_selects_the_same():
    iris = load_iris(as_frame=True)
    table, y = with_texts()
    X, target = load_diabetes(return_X_y=True)
    for data, labels in ((iris.data, iris.target), (table, y), (X, target + 0.5)):
        selected = select(data, labels, methods="f_test,rfe", n_splits=3, n_jobs=1)
        assert len(selected.code.splitlines()) <= 16
        names = script(selected, X=data, y=labels)
        features = (
            names["features"] if "features" in names else names["selector"].features_
        )
        shown = list(features)
        if data is X:  # a feature without a name is told by its number
            shown = [str(number + 1) for number in features]
        assert shown == selected.features
        if data is not table:
            predicted = names["pipeline"].predict(names["X"][features])
            assert predicted.tolist() == selected.pipeline.predict(data).tolist()


@pytest.mark.parametrize(
    "selector",
    [
        SelectKBest(mutual_info_classif, k=1),
        SelectFromModel(
            ExtraTreesClassifier(5, random_state=np.int64(0)),
            threshold=-np.inf,
            max_features=1,
        ),
        RFE(
            make_pipeline(StandardScaler(), LinearSVC()),
            importance_getter="named_steps.linearsvc.coef_",
        ),
    ],
    ids=lambda selector: type(selector).__name__,
)
def test_the_script_writes_estimators_and_functions_within_a_selector(selector):
    iris = load_iris(as_frame=True)
    selected = select(
        iris.data, iris.target, methods={"mine": selector}, n_splits=3, n_jobs=1,
        n_features_to_select=2,
    )  # fmt: skip
    names = script(selected, X=iris.data, y=iris.target)
    assert sorted(names["features"]) == sorted(selected.features)
    written, expected = (
        {name: value for name, value in each.get_params().items() if np.isscalar(value)}
        for each in (names["selector"], sized(selector, 2))
    )
    assert written == expected


# ---- what is refused


def test_a_class_that_inner_folds_lack_is_named():
    X, _ = planted(90, 3, seed=12)
    y = np.where(np.arange(90) % 2, "a", "b").astype(object)
    # after the rows on which the first inner folds in time are trained
    y[11:15] = "late"
    with pytest.raises(
        ValueError,
        match=r"got \d, because others lack class 'late'; use fewer folds \(--folds\), or leave out that class",
    ):
        select(X, y, time=np.arange(90), n_jobs=1)
    groups = np.repeat([0, 1, 2], 30)
    with pytest.raises(
        ValueError,
        match=r"got 0; use more groups of rows, or fewer folds \(--folds\)\.",
    ):
        select(X[:60], np.tile(["a", "b"], 30), groups=groups[:60], n_jobs=1)
    # the training rows of a given split may lack a class, which changes no other's name
    y = np.repeat(["a", "b", "b"], 30)
    y[60::2] = "c"
    split = [(np.arange(30, 90), np.arange(30))]
    with pytest.raises(
        ValueError, match="got 1, because others lack class 'c'; use more groups"
    ):
        select(X, y, groups=groups, cv=split, n_jobs=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"methods": "f_tst"},
            r"selector: expected one of .*got 'f_tst'; did you mean 'f_test'\?",
        ),
        (
            {"methods": "lasso"},
            "expected selectors that take a number of features, got lasso",
        ),
        (
            {"methods": {"mine": FTestSelector}},
            "expected an unfitted selector with n_features_to_select or k or max_features for 'mine'",
        ),
        (
            {"n_features_to_select": 9},
            "expected a number of features from 1 to 5, the distinct columns of",
        ),
        (
            {"model": "ridge"},
            "select: model: expected a model that predicts classes, such as libsvm or logistic, got Ridge",
        ),
        (
            {"model": "libsvn"},
            r"model: expected one of .*got 'libsvn'; did you mean 'libsvm'\?",
        ),
        (
            {"model": Ridge},
            "select: model: expected a name or an unfitted estimator, got <class",
        ),
        ({"scoring": "r2"}, "expected a scorer that LinearSVC supports, got r2"),
        (
            {"time": ["1/2/2024"] * 60},
            "expected numbers, or dates such as 2024-03-31, got '1/2/2024' in row 0",
        ),
        ({"task": "numbers"}, "."),
        (
            {"groups": [1, None] * 30},
            "select: groups: expected a value in each row, got 30 without",
        ),
    ],
)
def test_what_does_not_apply_is_refused(options, message):
    X, y = planted(60, 5, seed=11)
    with pytest.raises(ValueError, match=message):
        select(X, y, n_jobs=1, **options)


def test_whole_numbers_that_may_be_either_are_asked_about():
    X, _ = planted(60, 5, seed=11)
    with pytest.raises(
        ValueError,
        match=r"select: .* got 60 different whole numbers .*; set task=classification or task=",
    ):
        select(X, np.arange(60))


def test_classes_of_too_few_rows_are_named():
    X, y = planted(40, 4, seed=12)
    with pytest.raises(
        ValueError,
        match=r"expected at least 4 rows of each class.*got 1 of class 'rare'",
    ):
        select(X, np.where(np.arange(40) == 3, "rare", y), n_jobs=1)
    selected = select(
        X, np.where(np.arange(40) < 6, "small", y), methods="f_test", n_jobs=1
    )
    assert (
        "only 6 folds, because there are 6 rows of its smallest class" in selected.notes
    )


def test_a_method_that_fails_has_no_numbers_but_a_reason():
    X, y = planted(60, 5, seed=13)
    selected = select(X, y, methods="chi_squared,f_test", n_splits=3, n_jobs=1)
    assert np.isnan(selected.table.loc["chi_squared", "error"])
    assert any(
        note.startswith("chi_squared failed: ChiSquaredSelector: Negative values")
        for note in selected.notes
    )
    with pytest.raises(
        ValueError, match="no method works on these rows: chi_squared: "
    ):
        select(X, y, methods="chi_squared", n_splits=3, n_jobs=1)


def test_progress_is_told_in_intervals(monkeypatch):
    monkeypatch.setattr("provlab.bench.selection.folds.PROGRESS_EVERY", 0.0)
    X, y = planted(40, 4, seed=3)
    said = []
    dataset = make_dataset(
        X, y == "yes", [f"x{k}" for k in range(4)], name="planted", source="a test"
    )
    select_on(dataset, methods="f_test", n_splits=3, n_jobs=1, tell=said.append)
    assert [re.sub(r"\d+ s$", "s", text) for text in said] == [
        "2 of 4 folds, s",
        "3 of 4 folds, s",
    ]
