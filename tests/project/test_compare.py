"""Comparing selectors from Python: the same trials, in the same store."""

import importlib
import io
import re
import subprocess
import sys
import types
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from rich.console import Console
from scipy.stats import t as student
from sklearn import config_context
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import (
    SelectFromModel,
    SelectKBest,
    chi2,
    f_classif,
    f_regression,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from provlab import compare
from provlab.cli import main
from provlab.core.store import TrialStore
from provlab.project.components import build
from provlab.project.estimators import as_config, estimators_in_hand, public_name
from provlab.run.preparation import TablePreparation
from provlab.verdicts.claims.paired_tests import size_words
from provsel.models import LiblinearSVM, LibsvmSVM
from provsel.selectors import (
    BaseSelector,
    LeverageScoreSelector,
    MRMRSelector,
    Selection,
    UniformSelector,
)
from scikit_learn_folds import splitter
from small_runs import files_of

SMALL = {"repeats": 2, "n_splits": 3, "draws": 2}

X, y = load_digits(return_X_y=True)
X, y = X[:150], np.where(y[:150] < 5, "low", "high")


class FirstFeatures(BaseSelector):
    """A class of a program, not of any trusted module."""

    def __init__(self, k=3):
        self.k = k

    def _select(self, view, rng):
        return Selection.unweighted(np.arange(self.k))


pytestmark = pytest.mark.usefixtures("outside")


def quietly(*arguments, **options):
    console = Console(file=io.StringIO())
    return compare(*arguments, **{**SMALL, "console": console, **options})


@pytest.fixture(scope="module")
def table():
    """Numbers with missing values, texts, a target that a number and a text tell, groups and weights."""
    rng = np.random.default_rng(0)
    n = 120
    town = rng.choice(["Oslo", "Rome", "Lima"], n).astype(object)
    X = pd.DataFrame(
        {
            "age": rng.normal(40, 9, n),
            "height": rng.normal(170, 8, n),
            "town": town,
            "noise": rng.random(n),
        }
    )
    number = 3.0 * X["age"] + 40 * (town == "Rome") + rng.normal(0, 15, n)
    X.loc[rng.random(n) < 0.1, "height"] = np.nan
    X.loc[rng.random(n) < 0.1, "town"] = np.nan
    classes = np.where(number > np.median(number), "high", "low")
    return (
        X,
        number.round().to_numpy(),
        classes,
        rng.integers(0, 15, n),
        rng.uniform(1, 3, n),
    )


BY_HAND = {
    "numbers": {"number": True, "task": "regression"},
    "numbers, groups": {"number": True, "task": "regression", "groups": True},
    "groups": {"groups": True, "scoring": ["roc_auc", "f1_macro"]},
    "groups out": {"groups": True, "cv": "leave_one_group_out", "scoring": "balanced_accuracy"},
    "time, weights": {"number": True, "task": "regression", "cv": "time_order", "n_splits": 4, "weights": True,
                      "scoring": ["neg_mean_squared_error", "r2"]},
    "texts": {"texts": True, "preparation": "standardise"},
    "texts, a transformer": {"texts": True, "preparation": "object", "scoring": "roc_auc"},
    "texts, groups out, weights": {"texts": True, "preparation": "standardise", "groups": True, "weights": True,
                                   "number": True, "task": "regression", "cv": "leave_one_group_out"},
    "texts, folds": {"texts": True, "preparation": "standardise", "cv": np.arange(120) % 4},
    "a model": {"model": LogisticRegression(random_state=0), "cv": 3, "scoring": "neg_log_loss"},
}  # fmt: skip


def splitter_of(options, is_number, has_groups, seed):
    """Return scikit-learn's splitter of one repeat."""
    cv = options.get("cv", 3)
    split = {str: cv, int: "kfold"}.get(type(cv), "fixed_folds")
    n_splits = 4 if split == "time_order" else 3
    return splitter(
        split,
        numbers=is_number,
        groups=has_groups,
        n_splits=n_splits,
        seed=seed,
        folds=cv,
    )


def preparation_by_hand(numbers, words):
    with config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
    encoder = OneHotEncoder(
        drop="if_binary", handle_unknown="ignore", sparse_output=False
    )
    encoded = make_pipeline(SimpleImputer(strategy="most_frequent"), encoder)
    scaled = make_pipeline(SimpleImputer(strategy="median"), scaler)
    return ColumnTransformer([("n", scaled, numbers), ("t", encoded, words)])


def validated_by_hand(steps, X, y, weights, folds, scoring):
    """Return scikit-learn's value of each scorer on each fold, weighted where there are weights."""
    scorers = {name: get_scorer(name) for name in scoring}
    params = None
    with config_context(enable_metadata_routing=weights is not None):
        if weights is not None:
            params = {"sample_weight": weights}
            steps[-1].set_fit_request(sample_weight=True)
            scorers = {
                name: scorer.set_score_request(sample_weight=True)
                for name, scorer in scorers.items()
            }
        validated = cross_validate(
            make_pipeline(*steps), X, y, cv=folds, scoring=scorers, params=params
        )
    return {name: validated[f"test_{name}"] for name in scoring}


@pytest.mark.parametrize("case", BY_HAND)
def test_measures_and_the_test_of_their_difference_are_those_by_hand(table, case):
    X, number, classes, groups, weights = table
    options = {"groups": None, **BY_HAND[case]}
    is_number = options.pop("number", False)
    numbers = ["age", "height", "noise"]
    words = ["town"]
    if not options.pop("texts", False):
        X, numbers, words = (
            X[["age", "noise"]].assign(twice=2 * X["age"] - X["noise"]),
            ["age", "noise", "twice"],
            [],
        )
    y, groups = (
        (number if is_number else classes),
        (groups if options["groups"] else None),
    )
    weights = weights if options.pop("weights", False) else None
    if options.get("preparation") == "object":
        options["preparation"] = TablePreparation(scale="standard")
    methods = {
        "best": SelectKBest(f_regression if is_number else f_classif, k=2),
        "first": FirstFeatures(1),
    }
    comparison = quietly(
        X, y, methods, **{**options, "groups": groups, "sample_weight": weights}
    )
    assert list(comparison.index) == [*methods]

    stored = (
        TrialStore("results/store")
        .query(columns=["repeat", "split_seed"])
        .to_pandas()
        .drop_duplicates()
    )
    codes = y if is_number else np.where(y == "high", -1, 1)
    folds = []
    for seed in stored.sort_values("repeat")["split_seed"]:
        folds += splitter_of(options, is_number, groups is not None, seed).split(
            X, codes, groups
        )
    before = [preparation_by_hand(numbers, words)] if "preparation" in options else []
    model = options.get("model", Ridge() if is_number else LibsvmSVM())
    scoring = options.get("scoring", "r2" if is_number else "accuracy")
    scoring = [scoring] if isinstance(scoring, str) else scoring
    values = []
    for name, method in methods.items():
        by_measure = validated_by_hand(
            [*before, method, model], X, codes, weights, folds, scoring
        )
        if scoring == ["accuracy"]:
            by_measure = {"error": 100 * (1 - by_measure["accuracy"])}
        for column, scores in by_measure.items():
            assert comparison.loc[name, column] == pytest.approx(
                scores.mean(), rel=1e-10
            ), column
        assert comparison.columns[0] == next(iter(by_measure))
        values.append(by_measure[comparison.columns[0]])
        assert comparison.loc[name, "sd"] == pytest.approx(values[-1].std(ddof=1))
        assert comparison.loc[name, "trials"] == len(folds)  # nothing is drawn
    differences = values[1] - values[0]
    ratio = np.mean([len(test) / len(train) for train, test in folds])
    assert comparison.loc["first", "difference"] == pytest.approx(differences.mean())
    error = np.sqrt((1 / len(folds) + ratio) * differences.var(ddof=1))
    p_value = 2 * student.sf(abs(differences.mean()) / error, len(folds) - 1)
    assert comparison["p"].tolist() == pytest.approx(
        [np.nan, p_value], rel=0.02, nan_ok=True
    )
    ends = student.interval(0.95, len(folds) - 1, differences.mean(), error)
    assert comparison.loc[
        "first", ["difference_low", "difference_high"]
    ].tolist() == pytest.approx(ends, rel=1e-3)
    assert (p_value < 0.05) == (not ends[0] <= 0 <= ends[1])
    assert set(comparison.features["feature"]) <= {
        *numbers,
        "town_Lima",
        "town_Oslo",
        "town_Rome",
    }


def test_a_comparison_is_a_page_and_a_notebook_s_figure(outside):
    comparison = quietly(
        X,
        y,
        {"chi2": SelectKBest(chi2, k=12), "<b>first": FirstFeatures(12)},
        name="digits",
    )
    html = comparison._repr_html_()
    assert html.count("<svg") == 1
    assert "test error (%)" in html
    assert "<b>first" not in html
    assert main(["report"]) == 0
    [page] = (outside / "results" / "report" / "runs").glob("digits-*.html")
    text = page.read_text()
    assert "chi2" in text
    assert f"{comparison.loc['chi2', 'error']:.2f}" in text
    assert "provlab.compare" in text


@pytest.mark.parametrize(
    "scoring", [(), ("roc_auc", "accuracy")], ids=["error", "scorers"]
)
def test_what_decides_is_printed_in_80_columns_and_shown_in_a_notebook(
    scoring, outside
):
    comparison = quietly(
        X,
        y,
        {"chi2": SelectKBest(chi2, k=12), "first of all": FirstFeatures(12)},
        scoring=scoring,
    )
    answer, _, printed = str(comparison).partition("\n\n")
    assert answer.split() == " ".join(comparison.answer).split()
    assert answer.startswith("chi2 has the l")  # least error, largest roc_auc
    table, _, notes = printed.partition("difference: from chi2, fold by fold")
    header, *lines = table.splitlines()
    assert max(map(len, str(comparison).splitlines())) <= 80
    headline = comparison.headline
    order = [
        headline.in_units(headline.name),
        "95 % interval",
        "difference",
        "p",
        "selected",
        "stability",
    ]
    assert re.split(r" {2,}", header.strip()) == order
    first, second = (re.split(r" {2,}", line) for line in lines)
    row = comparison.loc["first of all"]
    value, low, high = (
        headline.text(row[name]) for name in (headline.column, "low", "high")
    )
    difference = (
        f"{row['difference']:+.2f}" if headline.unit else f"{row['difference']:+.4f}"
    )
    assert second[:4] == ["first of all", value, f"{low} to {high}", difference]
    assert float(second[4]) == pytest.approx(row["p"], rel=0.06)
    assert len(second) - len(first) == 1  # the first has no p
    assert ("accuracy" in notes) == bool(scoring)
    assert " ".join(notes.split()).endswith(f"p: {size_words(*comparison.folds)}.")
    assert repr(comparison) == str(comparison)
    html = comparison._repr_html_()
    assert all(f"<th>{name}</th>" in html for name in order)
    assert (
        html.index(comparison.answer[0])
        < html.index("<svg")
        < html.index("difference: from chi2")
    )
    assert type(comparison[["p"]]) is pd.DataFrame  # a part of it prints as pandas does


def test_the_same_call_computes_nothing_and_worker_processes_give_the_same(outside):
    methods = {"a": UniformSelector(5), "b": LeverageScoreSelector(5)}
    first = quietly(X, y, methods)
    assert first["trials"].tolist() == [12, 12]
    before = files_of(outside / "results" / "store")
    pd.testing.assert_frame_equal(first, quietly(X, y, methods))
    quietly(X, y, {"other name": UniformSelector(5)})  # names are no part of a trial
    assert files_of(outside / "results" / "store") == before
    assert len(list((outside / "results" / "data").iterdir())) == 1
    quietly(X + 1, y, {"a": FirstFeatures(5)})
    assert len(list((outside / "results" / "data").iterdir())) == 2
    two = quietly(X, y, methods, results="two", n_jobs=2)
    pd.testing.assert_frame_equal(first.drop(columns="cpu"), two.drop(columns="cpu"))


def test_a_call_is_about_the_trials_that_it_asks_for():
    """Those of earlier calls, with more repeats and draws, are not averaged in, and pair with nothing."""
    methods = {
        "a": UniformSelector(5),
        "b": LeverageScoreSelector(5),
        "first": FirstFeatures(5),
    }
    alone = quietly(X, y, methods, repeats=1, draws=1, results="fresh")
    more = quietly(X, y, methods, repeats=4, draws=3)
    after = quietly(X, y, methods, repeats=1, draws=1)
    assert more["trials"].tolist() == [36, 36, 12]
    assert after["trials"].tolist() == [3, 3, 3]
    pd.testing.assert_frame_equal(after.drop(columns="cpu"), alone.drop(columns="cpu"))
    assert after["p"].notna().tolist() == [False, True, True]


def test_one_selector_may_have_two_names():
    table = compare(
        X,
        y,
        {"first": SelectKBest(chi2, k=3), "second": SelectKBest(chi2, k=3)},
        **SMALL,
    )
    assert table.loc["second", "difference"] == 0
    assert table.loc["first", "error"] == table.loc["second", "error"]


def test_names_are_those_of_the_command_line():
    by_name = compare(
        X, y, ["mRMR", "svm-rfe"], model="logistic", repeats=1, n_splits=3
    )
    assert by_name.index.tolist() == ["mRMR", "svm-rfe"]
    assert by_name["n_selected"].tolist() == [32, 32]  # half of the columns
    selectors = {"mine": MRMRSelector(0.5), "other": "rfe"}
    in_hand = compare(
        X,
        y,
        selectors,
        model=LogisticRegression(max_iter=1000, random_state=0),
        repeats=1,
        n_splits=3,
    )
    assert in_hand["error"].tolist() == by_name["error"].tolist()


def test_pipelines_models_and_other_settings():
    reduced = Pipeline([("scale", StandardScaler()), ("best", SelectKBest(k=5))])
    forest = SelectFromModel(RandomForestClassifier(5), max_features=7, threshold=0.0)
    model = LogisticRegression(max_iter=200, random_state=0)
    comparison = quietly(X, y, {"pipeline": reduced, "forest": forest}, model=model)
    assert comparison["n_selected"].tolist() == [5, 7]
    assert comparison["trials"].tolist() == [6, 12]  # a forest without a seed draws
    supervised = quietly(
        X,
        y,
        {"best": SelectKBest(k=7), "uniform": UniformSelector(7)},
        setting="supervised",
    )
    assert supervised["trials"].tolist() == [6, 12]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"cv": "loo"},
            "cv: expected kfold, leave_one_group_out, time_order, a number of folds, .*, got .loo",
        ),
        ({"cv": np.zeros((2, 2))}, "cv: fold 0: expected row numbers, got"),
        (
            {"groups": np.zeros(3)},
            "expected 150 values in groups, one for each row of X, got 3",
        ),
        (
            {"groups": [None] * 150},
            "groups: expected a value in each row, got 150 without",
        ),
        ({"preparation": 3}, "preparation: expected a name or a transformer, got 3"),
        ({"preparation": "standardice"}, "did you mean 'standardise'"),
        ({"scoring": "auc"}, "scoring"),
        ({"model": Ridge()}, "Ridge"),
        ({"methods": {}}, "expected a mapping of names to selectors, got"),
        ({"methods": [UniformSelector(5)]}, "expected a mapping of names to selectors"),
        (
            {"methods": {"a": UniformSelector}},
            "compare: a: expected an instance of an estimator, got .*UniformSelector.*; write it with its arguments",
        ),
        (
            {"methods": {"a": SelectKBest(object(), k=3)}},
            "compare: expected plain values, functions and estimators as arguments",
        ),
        (
            {"methods": {"a": LiblinearSVM()}},
            "config of the selector: expected a class with transform, got .*LiblinearSVM",
        ),
        ({"y": y[:-1]}, "expected 150 values in y, one for each row of X, got 149"),
        (
            {"y": np.column_stack([y, y])},
            r"expected 150 values in y, .* got an array of shape \(150, 2\)",
        ),
        (
            {"X": pd.DataFrame(X[:, :3], columns=["a", "b", "a"])},
            "distinct column names, got 'a' more than once; rename one",
        ),
        (  # messages call data by the name that they were given
            {
                "X": np.where(np.eye(150, 64, -3) == 1, np.nan, X),
                "name": "wines of 2020",
            },
            "data set wines-of-2020: expected no missing values, got 64 in 64 columns, the first in row 3",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        quietly(**{"X": X, "y": y, "methods": {"a": FirstFeatures(2)}, **changes})


class FailsIn(FirstFeatures):
    """Raises in a fold, the first one is 0, or in all; counts how often it is fitted."""

    fits = 0

    def __init__(self, k=3, *, fold=None):
        self.k = k
        self.fold = fold

    def _select(self, view, rng):
        FailsIn.fits += 1
        if self.fold is None or self.fold == FailsIn.fits - 1:
            raise ValueError(f"expected another fold, got {self.fold}")
        return super()._select(view, rng)


@pytest.mark.parametrize(("fold", "n_fits"), [(None, 1), (0, 1), (4, 6)])
def test_a_method_that_fails_has_a_reason_beside_the_numbers_of_the_others(
    fold, n_fits
):
    good = {f"{k} features": FirstFeatures(k) for k in (1, 2, 3, 4, 5)}
    expected = quietly(X, y, good)
    FailsIn.fits = 0
    console = Console(file=io.StringIO())
    comparison = quietly(X, y, {**good, "bad": FailsIn(fold=fold)}, console=console)
    assert FailsIn.fits == n_fits  # one that fails at its first trial is left out
    reason = f"ValueError: expected another fold, got {fold}"
    assert f"first failed trial: {reason}" in console.file.getvalue()
    assert comparison["reason"].tolist() == [""] * 5 + [reason]
    pd.testing.assert_frame_equal(
        comparison.drop(index="bad", columns=["cpu", "reason"]),
        expected.drop(columns="cpu"),
    )
    bad = comparison.loc["bad"].drop(["reason", "trials"])
    assert bad.isna().all()
    assert comparison.loc["bad", "trials"] == n_fits - 1
    assert "bad" not in [
        text.get_text()
        for axis in comparison.draw().axes
        for text in axis.get_yticklabels()
    ]
    [page] = [
        path
        for path in Path("results/runs").glob("*/table.md")
        if "bad" in path.read_text()
    ]
    assert reason in page.read_text()


def test_nothing_is_compared_with_what_failed_or_where_all_failed():
    comparison = quietly(X, y, {"bad": FailsIn(), "good": FirstFeatures(2)})
    assert comparison["difference"].isna().all()
    assert comparison["error"].isna().tolist() == [True, False]
    with pytest.raises(
        ValueError,
        match=r"compare: 1 of 6 trials failed, .*: 1 x ValueError: expected another fold",
    ):
        quietly(X, y, {"bad": FailsIn()})


def test_fewer_features_than_asked_are_said():
    comparison = quietly(
        X, y, {"few": SelectFewer(n_features_to_select=6), "all": UniformSelector(6)}
    )
    assert comparison[["n_selected", "asked"]].loc["few"].tolist() == [3, 6]
    [page] = Path("results/runs").glob("*/table.md")
    assert "3 (requested 6)" in page.read_text()
    assert "asked" not in quietly(X, y, {"all": UniformSelector(6)})


class SelectFewer(BaseSelector):
    """Selects half of what it is asked for."""

    algorithm_version = 1

    def __init__(self, n_features_to_select):
        self.n_features_to_select = n_features_to_select

    def _select(self, view, rng):
        return Selection.unweighted(np.arange(self.n_features_to_select // 2))


@pytest.mark.parametrize(
    "form", [lambda y: y.reshape(-1, 1), lambda y: pd.DataFrame({"y": y})]
)
def test_labels_may_be_a_column(form):
    comparison = quietly(X, form(y), {"a": FirstFeatures(5)})
    pd.testing.assert_frame_equal(comparison, quietly(X, y, {"a": FirstFeatures(5)}))


@pytest.mark.filterwarnings("ignore:.*constant columns:UserWarning")
def test_an_array_of_texts_is_a_table_of_categories():
    texts = np.array([["u", "v"], ["w", "v"]])[(np.arange(150) < 40).astype(int)]
    with pytest.raises(
        ValueError, match=r"expected numbers, got the string 'u' .*preparation=one_hot"
    ):
        quietly(texts, y, {"a": FirstFeatures(1)})
    comparison = quietly(texts, y, {"a": FirstFeatures(1)}, preparation="one_hot")
    pd.testing.assert_frame_equal(
        comparison,
        quietly(pd.DataFrame(texts), y, {"a": FirstFeatures(1)}, preparation="one_hot"),
    )


@pytest.mark.parametrize(
    ("missing", "count"),
    [
        (lambda y: [None, *y[1:]], r"1 without one, the first in row 0 from 0"),
        (
            lambda y: [*y[:2], float("nan"), *y[3:]],
            r"1 without one, the first in row 2",
        ),
        (
            lambda y: pd.Series(y).where(np.arange(150) > 6),
            r"7 without one, the first in row 0 from 0",
        ),
        (
            lambda y: pd.Categorical.from_codes((y == "low") - 1, categories=["low"]),
            r"75 without",
        ),
        (
            lambda y: np.ma.masked_array(y == "low", mask=np.arange(150) < 2),
            r"2 without one, the first in row 0",
        ),
        (lambda y: [1, *y[1:]], None),
    ],
)
def test_missing_labels_are_no_class(missing, count):
    without = rf"compare: expected a value in each row, got {count}"
    with pytest.raises(
        ValueError,
        match=without
        if count
        else r"compare: .*got the string '\w+' and the number 1; w",
    ):
        quietly(X, missing(y), {"a": FirstFeatures(5)})
    assert not Path("results/data").exists()


def test_functions_and_classes_are_given_for_the_call_only():
    config = as_config(SelectKBest(chi2, k=12))
    place = "sklearn.feature_selection"
    function = {
        "_function_": f"{place}.chi2",
        "version": f"scikit-learn {sklearn.__version__}",
    }
    assert config == {
        "_target_": f"{place}.SelectKBest",
        "score_func": function,
        "k": 12,
    }
    assert public_name(np.linalg.norm) == "numpy.linalg.norm"
    quietly(X, y, {"chi2": SelectKBest(chi2, k=12)})
    # scikit-learn's may be named anywhere
    assert build("selector", config).score_func is chi2
    with estimators_in_hand():
        config = as_config(SelectKBest(scores))
        assert build("selector", config).score_func is scores
    with pytest.raises(
        ValueError,
        match=r"_function_: expected a function that was passed in .*test_compare\.sc",
    ):
        build("selector", config)
    function = {
        "_target_": "provsel.selectors.UniformSelector",
        "n_features_to_select": {"_function_": "os.system"},
    }
    with pytest.raises(
        ValueError, match=r"_function_: expected a function that was passed in Python"
    ):
        build("selector", function)


SCORES = """
import numpy as np
def scores(X, y, sign=1.0): return FIRST * sign * np.arange(X.shape[1])
"""


def test_a_function_is_known_by_its_code_too(outside, monkeypatch):
    monkeypatch.syspath_prepend(outside)
    features = []
    for first in (-1, 1, -1):
        # of another length: Python takes a file of the same second and size for the one
        # that it has compiled
        (outside / "my_scores.py").write_text(SCORES.replace("FIRST", str(first)))
        importlib.invalidate_caches()
        module = (
            importlib.reload(sys.modules["my_scores"])
            if features
            else importlib.import_module("my_scores")
        )
        compared = quietly(X, y, {"mine": SelectKBest(module.scores, k=1)})
        features.append(set(compared.features["feature"]))
    monkeypatch.delitem(sys.modules, "my_scores")
    assert features == [{"1"}, {"64"}, {"1"}]
    # the third call finds the first one's
    assert len(TrialStore("results/store").keys()) == 2 * 6


def scores(X, y, sign=1.0):
    return sign * np.arange(X.shape[1])


def test_a_function_may_have_some_of_its_arguments():
    methods = {
        f"{sign}": SelectKBest(partial(scores, sign=sign), k=1) for sign in (-1.0, 1.0)
    }
    comparison = quietly(X, y, methods)
    assert comparison.features.groupby("method")["feature"].agg(set).to_dict() == {
        "-1.0": {"1"},
        "1.0": {"64"},
    }


@pytest.mark.parametrize(
    "selector",
    [
        *(
            lambda: SelectKBest(lambda X, y: np.arange(64), k=1),
            lambda: SelectKBest(FirstFeatures().fit, k=1),
        ),
        *(
            lambda: type("FirstFeatures", (FirstFeatures,), {})(3),
            lambda: SelectKBest(partial(lambda X, y: y), k=1),
        ),
    ],
)
def test_a_class_or_function_that_others_may_be_called_like_is_refused(selector):
    with pytest.raises(
        ValueError,
        match=r"compare: expected classes and functions with a name at the top lev",
    ):
        quietly(X, y, {"mine": selector()})


def test_the_code_of_a_whole_script_counts(outside):
    script = """
import io
from rich.console import Console
from sklearn.datasets import load_digits
from sklearn.feature_selection import SelectKBest
from provlab import compare
import numpy as np
def helper(n): return SIGN * np.arange(n)
def scores(X, y): return helper(X.shape[1])
X, y = load_digits(return_X_y=True)
found = compare(
    X[:90], y[:90] < 5, {"mine": SelectKBest(scores, k=1)}, repeats=1, n_splits=3, console=Console(file=io.StringIO())
)
print(*set(found.features["feature"]))
"""
    kept = []
    for sign in ("-1", "+1"):
        (outside / "script.py").write_text(script.replace("SIGN", sign))
        done = subprocess.run(
            [sys.executable, "script.py"], capture_output=True, text=True, check=True
        )
        kept.append(done.stdout.split())
    assert kept == [["1"], ["64"]]


def test_a_class_of_a_module_without_a_file_says_its_version(monkeypatch):
    module = types.ModuleType("of_no_file")
    code = "from provsel.selectors import RRQRSelector\nclass Mine(RRQRSelector):\n    {}\n"
    monkeypatch.setitem(sys.modules, "of_no_file", module)
    exec(code.format("pass"), vars(module))
    with pytest.raises(
        ValueError, match=r"of_no_file\.Mine: its results need a version, .* give it an"
    ):
        quietly(X, y, {"mine": module.Mine(3)})
    exec(code.format("algorithm_version = 1"), vars(module))
    assert quietly(X, y, {"mine": module.Mine(3)})["trials"].tolist() == [6]
