"""Measures and folds of classes and numbers, with groups and weights: scikit-learn's numbers, and what is refused."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import scikit_learn_folds
from provlab.core.cell import cell_of
from provlab.core.composition import compose_config
from provlab.core.frames import headline_of
from provlab.core.plan import cells_of
from provlab.core.protocols import protocol_named
from provlab.core.store import TrialStore
from provlab.data import make_dataset
from provlab.project.components import build
from provlab.project.estimators import as_config, estimators_in_hand
from provlab.run.fold import make_fold
from provlab.run.measuring import measure
from provlab.run.scoring import measured
from provsel.certificates import HELD, NOT_MEASURED, certify
from provsel.selectors import (
    AlphaInvestingSelector,
    AlwaysKept,
    CrossValidatedSize,
    LassoSelector,
    RRQRSelector,
    SVMRFESelector,
)
from small_runs import BSS, FULL, MODEL, run_quietly, small_cell

N_SPLITS = 4
SEED = 7
LOGISTIC = {
    "_target_": "sklearn.linear_model.LogisticRegression",
    "C": 0.5,
    "random_state": 0,
}
RIDGE = {"_target_": "sklearn.linear_model.Ridge", "alpha": 2.0, "random_state": 0}
LASSO = {"_target_": "sklearn.linear_model.Lasso", "alpha": 0.05, "random_state": 0}
SVR = {"_target_": "sklearn.svm.LinearSVR", "random_state": 0}
LIBLINEAR = {"_target_": "provsel.models.LiblinearSVM"}
RRQR = {"_target_": "provsel.selectors.RRQRSelector", "n_features_to_select": 5}
STANDARDISE = {
    "_target_": "provlab.run.preparation.TablePreparation",
    "scale": "standard",
}


def noisy_data(task, *, groups=False, weights=False, missing=False, n=120):
    """Return 12 columns of which three say what the target is, with noise."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((n, 12)) * rng.uniform(0.5, 3, 12)
    signal = X[:, :3].sum(axis=1) + rng.standard_normal(n)
    y = {
        "two classes": np.where(signal > 0, 1, -1),
        "three classes": np.digitize(signal, np.quantile(signal, [0.3, 0.6])),
        "numbers": 60 + 3 * signal,
    }[task]
    if missing:
        X[rng.random(X.shape) < 0.1] = np.nan
    return make_dataset(
        X,
        y,
        name="made",
        source="this test",
        regression=task == "numbers",
        missing=missing,
        groups=rng.integers(0, 5, n) if groups else None,
        sample_weight=rng.uniform(0.2, 3, n) if weights else None,
        folds=rng.integers(-1, 5, n),
    )


def splitter(split, dataset, n_splits=N_SPLITS, seed=SEED):
    """Return scikit-learn's splitter for a split of ours."""
    kind = {
        "numbers": dataset.is_regression,
        "groups": dataset.groups is not None,
        "folds": dataset.folds,
    }
    return scikit_learn_folds.splitter(split, **kind, n_splits=n_splits, seed=seed)


def trials(
    split,
    dataset,
    model,
    n_splits,
    *,
    scoring=(),
    selector=RRQR,
    preparation=None,
    **protocol,
):
    """Yield the record of each fold, by our protocol."""
    settings = {
        "setting": "unsupervised",
        "certify": False,
        "scoring": list(scoring),
        **protocol,
    }
    method = small_cell(selector, model=model, **settings).method
    measured = protocol_named(split)
    for k in range(n_splits):
        fold = make_fold(
            measured,
            dataset,
            n_splits=n_splits,
            split_seed=SEED,
            fold=k,
            preparation=preparation,
        )
        measured.check_data(method, dataset)
        yield measure(measured, method, fold, seed=0, split_seed=SEED)


def scikit_learns(dataset, model, folds, preparation):
    """Return scikit-learn's values of each of its scorers that gives any, on each fold."""
    steps = [RRQRSelector(5), build("model", model)]
    weights = (
        {}
        if dataset.sample_weight is None
        else {"sample_weight": dataset.sample_weight}
    )
    if weights:
        steps[-1].set_fit_request(sample_weight=True)
    if preparation:
        steps = [
            SimpleImputer(strategy="median"),
            StandardScaler().set_fit_request(sample_weight=False),
            *steps,
        ]
    pipeline, (train, test) = make_pipeline(*steps), folds[0]
    fitted = clone(pipeline).fit(
        dataset.X[train],
        dataset.y[train],
        **{name: w[train] for name, w in weights.items()},
    )
    scorers = {}
    for name in get_scorer_names():
        scorer = get_scorer(name)
        try:
            if weights:
                scorer.set_score_request(sample_weight=True)
            scorer(
                fitted,
                dataset.X[test],
                dataset.y[test],
                **{name: w[test] for name, w in weights.items()},
            )
        except (ValueError, TypeError, AttributeError):
            continue
        scorers[name] = scorer
    validated = cross_validate(
        pipeline,
        dataset.X,
        dataset.y,
        cv=folds,
        scoring=scorers,
        params=weights or None,
        error_score="raise",
    )
    return {name: validated[f"test_{name}"] for name in scorers}


SPLITS = [
    ("kfold", False),
    ("kfold", True),
    ("leave_one_group_out", True),
    ("time_order", False),
    ("fixed_folds", False),
]
MODELS = [
    ("two classes", LIBLINEAR, False),
    ("two classes", LOGISTIC, True),
    ("three classes", MODEL, False),
    ("three classes", LOGISTIC, False),
    ("numbers", RIDGE, False),
    ("numbers", RIDGE, True),
    ("numbers", LASSO, True),
    ("numbers", SVR, False),
]


@pytest.mark.filterwarnings("ignore")  # of measures that are not defined on a fold
@pytest.mark.parametrize(
    ("task", "model", "weights"), MODELS, ids=lambda case: str(case)[-24:]
)
@pytest.mark.parametrize(("split", "groups"), SPLITS)
def test_every_scorer_gives_scikit_learns_number_or_is_refused(
    split, groups, task, model, weights
):
    prepared = STANDARDISE if weights or split == "time_order" else None
    dataset = noisy_data(
        task, groups=groups, weights=weights, missing=prepared is not None
    )
    folds = list(splitter(split, dataset).split(dataset.X, dataset.y, dataset.groups))
    with config_context(enable_metadata_routing=True):
        expected = scikit_learns(dataset, model, folds, prepared)
    of_numbers = {
        name
        for name in get_scorer_names()
        if "_regression" in get_scorer(name)._score_func.__module__
    }
    used = [name for name in expected if (name in of_numbers) == (task == "numbers")]
    records = list(
        trials(split, dataset, model, len(folds), scoring=used, preparation=prepared)
    )
    assert {"r2"} <= {*used} or {
        "accuracy",
        "balanced_accuracy",
        "f1_macro",
        "matthews_corrcoef",
    } <= {*used}
    for name in used:
        assert_allclose(
            [record[name] for record in records], expected[name], rtol=1e-12, atol=1e-12
        )
    if task == "numbers":
        assert {record.get("error") for record in records} == {None}
        assert [record["rmse"] for record in records] == [
            -record["neg_root_mean_squared_error"] for record in records
        ]
        assert [record["mae"] for record in records] == [
            -record["neg_mean_absolute_error"] for record in records
        ]
    else:
        errors = [record["error"] for record in records]
        assert_allclose(errors, 1 - expected["accuracy"], rtol=1e-12, atol=1e-12)
    for name in {*get_scorer_names()} - {*used} if (split, groups) == SPLITS[0] else ():
        with pytest.raises(
            ValueError,
            match=rf"protocol.scoring: expected (a scorer|scorers) .*got {name}[,:] .*choose",
        ):
            next(
                trials(
                    split,
                    dataset,
                    model,
                    len(folds),
                    scoring=[name],
                    preparation=prepared,
                )
            )


@given(
    groups=st.lists(st.integers(0, 6), min_size=8, max_size=40),
    split=st.sampled_from(
        ["kfold", "kfold_inverse", "leave_one_group_out", "time_order", "fixed_folds"]
    ),
    has_groups=st.booleans(),
    regression=st.booleans(),
    n_splits=st.integers(2, 5),
    seed=st.integers(0, 5),
)
def test_folds_are_scikit_learns_and_keep_their_promises(
    groups, split, has_groups, regression, n_splits, seed
):
    rng = np.random.default_rng(seed)
    n = len(groups)
    folds = np.array(groups) % n_splits
    y = rng.standard_normal(n) if regression else rng.permuted(np.arange(n) % 2)
    has_groups = has_groups or split == "leave_one_group_out"
    dataset = make_dataset(
        np.ones((n, 1)), y, name="made", source="", regression=regression, folds=folds,
        groups=np.array(groups) if has_groups else None,
    )  # fmt: skip
    measured = protocol_named(split)
    tested = []
    try:
        n_folds = (
            measured.count_folds(dataset)
            if hasattr(measured, "count_folds")
            else n_splits
        )
        parts = [
            make_fold(measured, dataset, n_splits=n_folds, split_seed=seed, fold=k)
            for k in range(n_folds)
        ]
    except ValueError:
        assert not _has_folds(split, dataset, n_splits, seed)
        return
    assert _has_folds(split, dataset, n_splits, seed)
    expected = _folds_of(split, dataset, n_splits, seed)
    for k, part in enumerate(parts):
        train, test = measured.rows(dataset, n_splits=n_folds, split_seed=seed, fold=k)
        assert_array_equal(train, expected[k][0])
        assert_array_equal(test, expected[k][1])
        assert_array_equal(part.y_test, dataset.y[test])
        if has_groups:
            assert not {*dataset.groups[train]} & {*dataset.groups[test]}
        if split == "time_order":
            assert train.max() < test.min()
        tested += [*(train if split == "kfold_inverse" else test)]
    assert len(tested) == len({*tested})
    if split != "time_order":
        assert len(tested) == n


def _folds_of(split, dataset, n_splits, seed):
    """Return scikit-learn's training and test rows; ValueError where it has none."""
    folding = splitter(
        "kfold" if split == "kfold_inverse" else split, dataset, n_splits, seed
    )
    # of groups that a splitter does not take
    with warnings.catch_warnings(action="ignore"):
        folds = [*folding.split(dataset.X, dataset.y, dataset.groups)]
    if split == "kfold_inverse":
        return [(test, train) for train, test in folds]
    return folds


def _has_folds(split, dataset, n_splits, seed):
    """Tell whether each class is in all training rows, and often enough to be in each fold, and groups are whole."""
    try:
        folds = _folds_of(split, dataset, n_splits, seed)
    except ValueError:
        return False
    classes, counts = np.unique(dataset.y, return_counts=True)
    groups = np.arange(len(dataset.y)) if dataset.groups is None else dataset.groups
    whole = all(not {*groups[train]} & {*groups[test]} for train, test in folds)
    has_all_classes = dataset.is_regression or all(
        {*classes} == {*dataset.y[train]} for train, _ in folds
    )
    often = dataset.is_regression or "kfold" not in split or counts.min() >= n_splits
    return len(folds) > 1 and whole and has_all_classes and often


ROWS = np.random.default_rng(0).standard_normal((12, 3))
TWO = np.arange(12) % 2
THREE = np.array([0] * 6 + [1] * 5 + [2])
NAMED = {"class_names": np.array(["Adelie", "Gentoo", "Chinstrap"])}


@pytest.mark.parametrize(
    ("split", "y", "more", "message"),
    [
        ("kfold", THREE, NAMED, r"n_splits = 3 rows of each class, got 1 of class 'Chinstrap'; leave out such"),
        ("kfold", [0] * 10 + [1] * 2, {}, r"3 rows of each class, got 2 of class 1; lower protocol.n_splits to 2,"),
        ("kfold", TWO, {"groups": TWO}, r"at least n_splits = 3 groups, got 2; lower .* protocol=leave_one_group_out"),
        ("kfold", TWO, {"groups": TWO * 0}, r"at least n_splits = 3 groups, got 1; leave out dataset.groups"),
        ("leave_one_group_out", TWO, {}, r"at least two groups .* got none; name their column with dataset.groups"),
        ("leave_one_group_out", TWO, {"groups": TWO * 0}, r"at least two groups .* got one"),
        ("leave_one_group_out", TWO, {"groups": TWO}, r"training rows of each class in fold 0, got none of class 0"),
        ("time_order", THREE, NAMED, r"each class in fold 0, got none of class 'Gentoo'; choose other folds, such as"),
        ("time_order", TWO, {"groups": TWO}, r"each group on one side of fold 0, got 2 .* such as group 0; use "),
        ("fixed_folds", TWO, {}, r"at least two folds .* got none; name their column with dataset.fold, or use"),
        ("fixed_folds", TWO, {"folds": TWO * 0}, r"at least two folds .* got 1"),
    ],
)  # fmt: skip
def test_folds_that_cannot_be_are_refused(split, y, more, message):
    dataset = make_dataset(ROWS, y, name="made", source="", **more)
    with pytest.raises(ValueError, match=rf"data set made: expected .*{message}"):
        make_fold(protocol_named(split), dataset, n_splits=3, split_seed=0, fold=0)


@pytest.mark.parametrize(
    ("task", "weights", "model", "scoring", "message"),
    [
        ("numbers", False, MODEL, (),
         r"model: expected a model that predicts real numbers, .* got provsel.models.LibsvmSVM; choose model=ridge, "),
        ("two classes", False, RIDGE, (),
         r"model: expected a model that predicts classes, .* got sklearn.linear_model.Ridge; choose model=libsvm, "),
        ("two classes", True, MODEL, (),
         r"model: expected a model that takes the sample_weight of the data, got .*LibsvmSVM; choose model=logistic"),
        ("three classes", False, MODEL, ["f1"],
         r"apply to these data, got f1: .*average='binary'.*; choose among accuracy, .*f1_macro"),
    ],
)  # fmt: skip
def test_a_model_or_scorer_that_is_not_for_the_data_is_refused(
    task, weights, model, scoring, message
):
    with pytest.raises(ValueError, match=message):
        next(
            trials(
                "kfold",
                noisy_data(task, weights=weights),
                model,
                N_SPLITS,
                scoring=scoring,
            )
        )


@pytest.mark.parametrize("split", ["streamed", "all_rows"])
@pytest.mark.parametrize(
    ("task", "got"), [("two classes", "sample_weight"), ("numbers", "a numeric target")]
)
def test_weights_and_numbers_are_refused_where_classes_are_counted(split, task, got):
    kmeans = {"_target_": "provsel.models.KMeansClustering"}
    dataset = noisy_data(task, weights=True)
    model = LIBLINEAR if split == "streamed" else kmeans
    method = small_cell(
        FULL, model=model, split=split, n_splits=1, setting="unsupervised"
    ).method
    with pytest.raises(
        ValueError,
        match=f"expected classes without sample_weight for {split}, got {got}; use protocol",
    ):
        protocol_named(split).check_data(method, dataset)


MAKE = "sklearn.metrics.make_scorer"


@pytest.mark.parametrize(
    ("scoring", "model", "message"),
    [
        (["roc_aux"], MODEL, r"names of scikit-learn's scorers .*, got 'roc_aux'; did you mean 'roc_auc'\?"),
        ([5], MODEL, r"names of scorers, such as \[roc_auc\], .*, got 5; write \{NAME: SCORER\}"),
        (["neg_log_loss"], MODEL, r"got neg_log_loss, which is about classes and reads predict_proba; choose one of"),
        (["r2"], LOGISTIC, r"that LogisticRegression supports, got r2, which is about real numbers .* one of accuracy"),
        (["f1"], RIDGE, r"got f1, which is about classes .* choose one of d2_absolute_error_score, explained_variance"),
        (["f1", "f1"], MODEL, r"each scorer once, got f1 twice"),
        ({"f1": 1}, MODEL, r"or scorers by names, got 1; write \{NAME: SCORER\}"),
        ({"error": "f1"}, MODEL, r"the records already have a column called 'error'; give the scorer another name"),
        ({"my score": "f1"}, MODEL, r"names of letters, digits and _ for scorers, got 'my score'"),
        ("os.system", MODEL, r"expected a function that was passed in Python, .*, got 'os\.system'"),
        ({"_target_": "os.system"}, MODEL, r"a class of scikit-learn's public scorers or of .*, got 'os\.system'"),
        ({"_target_": MAKE, "score_func": "fbeta"}, MODEL, r"function of sklearn\.metrics, .* mean 'fbeta_score'"),
        ({"_target_": MAKE, "score_func": "fbeta_score", "bta": 2}, MODEL, r"expected arguments among .*, got bta"),
    ],
)  # fmt: skip
def test_scorers_that_nothing_can_use_are_refused_before_anything_runs(
    scoring, model, message
):
    with pytest.raises(ValueError, match=message):
        small_cell(RRQR, model=model, setting="unsupervised", scoring=scoring)


def test_settings_of_a_config():
    base = ["dataset=digits", "selector=uniform", "protocol.setting=unsupervised"]
    plain, by_area, two, turned = (
        cells_of(compose_config([*base, *more]))[0]
        for more in (
            [],
            ["protocol.scoring=roc_auc_ovr", "model=logistic"],
            ["protocol.scoring=[f1_macro,accuracy]"],
            ["protocol.scoring=[accuracy,f1_macro]"],
        )
    )
    assert "scoring" not in plain.json
    assert [headline_of(cell).column for cell in (plain, by_area, two, turned)] == [
        "error",
        "roc_auc_ovr",
        "f1_macro",
        "accuracy",
    ]
    assert two.id == turned.id != plain.id
    assert list(cell_of(two.json).method.scoring) == ["accuracy", "f1_macro"]
    assert "scikit-learn " in by_area.json
    [ridge] = cells_of(compose_config([*base, "model=ridge"]))
    assert headline_of(ridge).column == "r2"
    assert ridge.n_draws == 5
    with pytest.raises(
        ValueError,
        match=r"setting=unsupervised with sklearn.linear_model.Ridge, which has no support",
    ):
        cells_of(compose_config(["dataset=digits", "model=ridge"]))
    with pytest.raises(
        ValueError,
        match=r"scoring: the split all_rows predicts no test rows, .* got accuracy; leave",
    ):
        cells_of(
            compose_config(
                [
                    *base,
                    "protocol=clustering",
                    "model=kmeans",
                    "protocol.scoring=accuracy",
                ]
            )
        )


class Nothing(SelectorMixin, BaseEstimator):
    """Selects no feature."""

    def fit(self, X, y=None):
        self.n_features_in_ = X.shape[1]
        return self

    def _get_support_mask(self):
        return np.zeros(self.n_features_in_, bool)


@pytest.mark.filterwarnings("ignore:No features were selected")
@pytest.mark.parametrize(
    ("task", "model", "weights"), MODELS, ids=lambda case: str(case)[-24:]
)
def test_an_empty_selection_predicts_the_most_frequent_class_or_the_mean(
    task, model, weights
):
    dataset = noisy_data(task, weights=weights)
    weight = (
        np.ones(len(dataset.y))
        if dataset.sample_weight is None
        else dataset.sample_weight
    )
    scoring = {"two classes": ["roc_auc", "balanced_accuracy"], "numbers": []}.get(
        task, ["balanced_accuracy"]
    )
    with estimators_in_hand():
        records = list(
            trials(
                "kfold",
                dataset,
                model,
                N_SPLITS,
                selector=as_config(Nothing()),
                scoring=scoring,
            )
        )
    for (train, test), record in zip(
        splitter("kfold", dataset).split(dataset.X, dataset.y), records, strict=True
    ):
        assert record["n_selected"] == 0
        assert record["features"].tolist() == []
        assert record["coefficients"] is None
        y = dataset.y[test]
        own = weight[test]
        if task == "numbers":
            mean = np.average(dataset.y[train], weights=weight[train])
            assert record["mae"] == pytest.approx(
                np.average(np.abs(y - mean), weights=own)
            )
            continue
        classes, codes = np.unique(dataset.y[train], return_inverse=True)
        first = classes[np.argmax(np.bincount(codes, weight[train]))]
        assert record["error"] == pytest.approx(np.average(y != first, weights=own))
        assert record["balanced_accuracy"] == pytest.approx(1 / classes.size)
        assert record.get("roc_auc", 0.5) == 0.5


@pytest.mark.filterwarnings("ignore:No features were selected")
@pytest.mark.parametrize("model", ["kmeans", None])
def test_an_empty_selection_is_one_cluster(model, tmp_path):
    rows = [
        "dataset=design",
        "dataset.n_samples=60",
        "dataset.n_features=40",
        "dataset.n_relevant=3",
    ]
    protocol = (
        ["protocol=clustering", "model=kmeans"] if model else ["protocol=selection"]
    )
    with estimators_in_hand():
        parts = compose_config(
            [*rows, *protocol, "selector=any", "protocol.repeats=2", "protocol.draws=1"]
        )
        report, _ = run_quietly(
            cells_of({**parts, "selector": as_config(Nothing())}), TrialStore(tmp_path)
        )
    assert report.failures == []
    stored = (
        TrialStore(tmp_path)
        .query(columns=["n_selected", "features", "nmi", "error"])
        .to_pydict()
    )
    assert stored["n_selected"] == [0, 0]
    assert stored["features"] == [[], []]
    if model:
        assert stored["nmi"] == [0, 0]
        assert stored["error"] == pytest.approx([0.5, 0.5], abs=0.1)


class WeightedMeans(SelectorMixin, BaseEstimator):
    """Keep the columns with the largest weighted means: a selector that is not ours and takes weights."""

    def fit(self, X, y=None, sample_weight=None):
        self.n_features_in_ = X.shape[1]
        self.means_ = np.average(X, axis=0, weights=sample_weight)
        return self

    def _get_support_mask(self):
        return self.means_ >= np.median(self.means_)


def test_a_selector_that_takes_weights_gets_them():
    dataset = noisy_data("two classes", weights=True)
    train, _ = next(splitter("kfold", dataset).split(dataset.X, dataset.y))
    with estimators_in_hand():
        [record, *_] = trials(
            "kfold", dataset, LOGISTIC, N_SPLITS, selector=as_config(WeightedMeans())
        )
    X = dataset.X[train]
    weight = dataset.sample_weight[train]
    expected = WeightedMeans().fit(X, sample_weight=weight).get_support(indices=True)
    assert (
        record["features"].tolist()
        == expected.tolist()
        != WeightedMeans().fit(X).get_support(indices=True).tolist()
    )


def test_weights_of_support_vectors_are_those_of_their_rows():
    dataset = noisy_data("two classes", weights=True)
    [record, *_] = trials(
        "kfold", dataset, LOGISTIC, N_SPLITS, selector=RRQR, setting="supervised"
    )
    train, test = next(splitter("kfold", dataset).split(dataset.X, dataset.y))
    X = dataset.X[train]
    y = dataset.y[train]
    weight = dataset.sample_weight[train]
    whole = build("model", LOGISTIC).fit(X, y, weight)
    support = y * whole.decision_function(X) < 1
    assert 0 < support.sum() < support.size
    selector = RRQRSelector(5).fit(X[support], y[support])
    model = clone(whole).fit(
        selector.transform(X[support]), y[support], weight[support]
    )
    wrong = model.predict(selector.transform(dataset.X[test])) != dataset.y[test]
    assert (
        record["error"]
        == np.average(wrong, weights=dataset.sample_weight[test])
        != wrong.mean()
    )
    assert record["n_rows"] == support.sum()


def test_certificates_of_a_regression():
    """Spectral ones, none about margins, and those of ridge regression where the model has no intercept."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 4)) @ rng.standard_normal((4, 90))
    dataset = make_dataset(
        X, X[:, 0] + rng.standard_normal(60), name="made", source="", regression=True
    )
    train, _ = next(splitter("kfold", dataset).split(X, dataset.y))
    selector = {**BSS, "n_features_to_select": 60}
    fitted = build("selector", selector).fit(X[train])
    expected = certify(
        fitted, X[train], dataset.y[train], C=None, ridge=RIDGE["alpha"]
    ).as_record()
    of_ridge = {name for name in expected if "ridge" in name}
    for intercept in (True, False):
        model = {**RIDGE, "fit_intercept": intercept}
        [record, *_] = trials(
            "kfold", dataset, model, N_SPLITS, selector=selector, certify=True
        )
        assert record["certificate_spectral"] == HELD
        assert {record[f"certificate_{name}"] for name in ("margin", "soft")} == {
            NOT_MEASURED
        }
        assert of_ridge & {*record} == (set() if intercept else of_ridge)
    assert record["certificate_ridge_cost"] == record["certificate_ridge_risk"] == HELD
    for name in of_ridge:
        assert record[name] == expected[name] or record[name] == pytest.approx(
            expected[name], rel=1e-9
        )


def _selector(name, **arguments):
    return {"_target_": f"provsel.selectors.{name}", **arguments}


RFE = _selector("SVMRFESelector", n_features_to_select=4)


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (RFE, SVMRFESelector(4, task="regression")),
        (
            _selector("AlphaInvestingSelector"),
            AlphaInvestingSelector(task="regression"),
        ),
        (_selector("LassoSelector"), LassoSelector()),
        (
            _selector("AlwaysKept", selector=RFE, n_features_to_select=5, always=[7]),
            AlwaysKept(SVMRFESelector(4, task="regression"), 5, always=[7]),
        ),
        (
            _selector("CrossValidatedSize", selector=RFE, sizes=[2, 4]),
            CrossValidatedSize(SVMRFESelector(4), sizes=[2, 4], task="regression"),
        ),
        (RRQR, RRQRSelector(5)),
        (_selector("LPSVMSelector"), None),
        (_selector("FeatureSelectiveSelector"), None),
        (
            _selector(
                "AtSize", selector=_selector("L1SVMSelector"), n_features_to_select=3
            ),
            None,
        ),
        (_selector("OnSupportVectors", selector=RFE), None),
    ],
)
def test_whole_numbers_of_a_regression_are_numbers_to_every_selector(
    selector, expected
):
    numbers = noisy_data("numbers")
    dataset = replace(numbers, y=np.round(numbers.y))
    train, _ = next(splitter("kfold", dataset).split(dataset.X, dataset.y))
    if expected is None:
        name = selector["_target_"].rpartition(".")[2]
        with pytest.raises(
            ValueError,
            match=f"{name}: expected classes, got a numeric target; choose selector=rfe,",
        ):
            next(trials("kfold", dataset, RIDGE, N_SPLITS, selector=selector))
        return
    [record, *_] = trials("kfold", dataset, RIDGE, N_SPLITS, selector=selector)
    assert (
        record["features"].tolist()
        == expected.fit(dataset.X[train], dataset.y[train]).indices_.tolist()
    )


class CountingClassifier(LogisticRegression):
    """Counts how often probabilities are asked for."""

    def predict_proba(self, X):
        self.n_predictions_ = getattr(self, "n_predictions_", 0) + 1
        return super().predict_proba(X)


@pytest.mark.parametrize("weighted", [False, True])
def test_probabilities_are_predicted_once_for_all_scorers(weighted):
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((60, 3))
    y = rng.integers(0, 3, 60)
    weight = rng.uniform(1, 2, 60) if weighted else None
    model = CountingClassifier().fit(X, y)
    scorers = {
        "accuracy": "accuracy",
        "loss": "neg_log_loss",
        "roc_auc_ovr": "roc_auc_ovr",
    }
    scores = measured(scorers, model, X, y, model.predict(X), weight, None)
    assert model.n_predictions_ == 1
    for column, name in scorers.items():
        assert scores[column] == get_scorer(name)(model, X, y, sample_weight=weight)
