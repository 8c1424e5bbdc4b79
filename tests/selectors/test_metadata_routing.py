"""Metadata of the rows through OnSupportVectors, to the SVM and to the selector, as scikit-learn routes them."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_array_equal
from sklearn.feature_selection import SelectFromModel, SequentialFeatureSelector
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

from provsel.selectors import OnSupportVectors

N = 60
D = 12


@pytest.fixture(autouse=True)
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


y = np.arange(N) % 2
X = np.random.default_rng(0).normal(size=(N, D))
X[:, 0] += y  # of all rows
X[: N // 2, 1] += 3 * y[: N // 2]  # of the first half


def weighted(selector=None, *, svm=True, inner=True):
    logistic = LogisticRegression(C=1.0)
    selector = selector or SelectFromModel(
        logistic.set_fit_request(sample_weight=inner), max_features=2
    )
    return OnSupportVectors(
        selector, svm=SVC(kernel="linear", C=0.1).set_fit_request(sample_weight=svm)
    )


FIRST_HALF = np.where(np.arange(N) < N // 2, 1.0, 1e-6)


@pytest.mark.parametrize(
    ("svm", "inner"), [(True, True), (True, False), (False, True), (False, False)]
)
def test_weights_reach_the_svm_and_those_of_the_support_vectors_the_selector_where_asked_for(
    svm, inner
):
    selector = weighted(svm=svm, inner=inner)
    if not svm and not inner:
        with pytest.raises(
            TypeError, match=r"fit got unexpected argument\(s\) {'sample_weight'}"
        ):
            selector.fit(X, y, sample_weight=FIRST_HALF)
        return
    selector.fit(X, y, sample_weight=FIRST_HALF)
    weights = {"sample_weight": FIRST_HALF} if svm else {}
    rows = np.sort(SVC(kernel="linear", C=0.1).fit(X, y, **weights).support_)
    assert_array_equal(selector.support_rows_, rows)
    weights = {"sample_weight": FIRST_HALF[rows]} if inner else {}
    fitted, plain = (
        LogisticRegression(C=1.0).fit(X[rows], y[rows], **metadata)
        for metadata in (weights, {})
    )
    assert_array_equal(selector.selector_.estimator_.coef_, fitted.coef_)
    assert (np.abs(fitted.coef_ - plain.coef_).max() > 0.01) == inner
    assert 1 in selector.indices_ or not (svm and inner)


def test_groups_reach_the_splitter_of_a_sequential_selection():
    groups = np.arange(N) // 10
    splitter = GroupKFold(3).set_split_request(groups=True)
    search = SequentialFeatureSelector(
        LogisticRegression(), n_features_to_select=2, cv=splitter
    )
    fitted = OnSupportVectors(search, svm=SVC(kernel="linear", C=0.1)).fit(
        X, y, groups=groups
    )
    rows = fitted.support_rows_
    alone = SequentialFeatureSelector(
        LogisticRegression(), n_features_to_select=2, cv=splitter
    )
    assert_array_equal(
        fitted.indices_,
        alone.fit(X[rows], y[rows], groups=groups[rows]).get_support(indices=True),
    )
    with pytest.raises(ValueError, match="groups"):
        OnSupportVectors(search, svm=SVC(kernel="linear", C=0.1)).fit(X, y)


def test_in_a_pipeline_and_a_grid_search():
    final = (
        SVC(kernel="linear")
        .set_fit_request(sample_weight=False)
        .set_score_request(sample_weight=True)
    )
    pipeline = Pipeline([("select", weighted()), ("svm", final)])
    alone = weighted().fit(X, y, sample_weight=FIRST_HALF)
    assert_array_equal(
        pipeline.fit(X, y, sample_weight=FIRST_HALF)[0].indices_, alone.indices_
    )
    scorer = make_scorer(accuracy_score).set_score_request(sample_weight=True)
    search = GridSearchCV(
        pipeline, {"select__svm__C": [0.1, 10.0]}, cv=3, scoring=scorer
    )
    search.fit(X, y, sample_weight=FIRST_HALF)
    best = weighted().set_params(svm__C=search.best_params_["select__svm__C"])
    best.fit(X, y, sample_weight=FIRST_HALF)
    assert_array_equal(search.best_estimator_[0].support_rows_, best.support_rows_)


def test_without_routing_metadata_are_an_error():
    unrouted = weighted()
    with (
        sklearn.config_context(enable_metadata_routing=False),
        pytest.raises(
            ValueError,
            match=r"OnSupportVectors: expected only X and y, got sample_weight; .*set_config",
        ),
    ):
        unrouted.fit(X, y, sample_weight=FIRST_HALF)
