"""Recursive feature elimination for classes and numbers: scikit-learn, plain refitting, orders of r, Gram matrices."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE
from sklearn.linear_model import Ridge
from sklearn.svm import SVC
from test_regression import FORMS, NUMBERS, numbers

import provsel.selectors.svm_rfe as module
from provsel.kernels.elimination import RemainingColumns, by_importance
from provsel.kernels.spectral import gram_matrix
from provsel.models import LiblinearSVM
from provsel.selectors import SVMRFESelector
from provsel.training_view import TrainingView

TIGHT = 1e-9
"""Of both solvers: at LIBSVM's own 1e-3 the last bits of the Gram matrix decide between solutions."""


def gaussian():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(60) % 2, 1, -1)
    return rng.standard_normal((60, 300)) + 0.4 * y[:, None] * (np.arange(300) < 20), y


def text():
    """Return sparse positive rows without equal columns."""
    rng = np.random.default_rng(1)
    y = np.where(np.arange(50) % 2, "spam", "ham")
    counts = rng.poisson(
        0.3 + 0.4 * np.outer(y == "spam", np.arange(400) < 25)
    ) * rng.uniform(0.5, 1.5, (50, 400))
    return counts, y


def digits(wanted, n, seed):
    X, y = load_digits(return_X_y=True)
    rows = np.flatnonzero(np.isin(y, wanted))[:n]
    return X[rows, 10:54] + 0.01 * np.random.default_rng(seed).random((n, 44)), y[rows]


CLASSES = {
    "gaussian": gaussian(),
    "text": text(),
    "digits": digits((3, 8), 150, 2),
    "three digits": digits((0, 1, 2), 90, 3),
}
PROBLEMS = CLASSES | NUMBERS


def task_of(y):
    return "regression" if y.dtype.kind == "f" else "classification"


def model_of(y, C=1.0):
    """Return scikit-learn's; of ridge by singular values: its own choice for wide rows loses others beside a large."""
    return (
        Ridge(0.5 / C, solver="svd")
        if y.dtype.kind == "f"
        else SVC(kernel="linear", C=C, tol=TIGHT)
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("step", [1, 7, 1000])
@pytest.mark.parametrize("name", PROBLEMS)
def test_ranking_is_that_of_scikit_learn(name, step, form):
    X, y = PROBLEMS[name]
    r = 3 if name in NUMBERS else 10
    if step == 1 and name in CLASSES:
        r = X.shape[1] - 40  # 300 rounds of scikit-learn's are slow; 40 tell as much
    selector = SVMRFESelector(r, step=step, C=2.0, tol=TIGHT, task=task_of(y)).fit(
        form(X), y
    )
    reference = RFE(model_of(y, 2.0), n_features_to_select=r, step=step).fit(X, y)
    assert_array_equal(selector.ranking_, reference.ranking_)
    assert_array_equal(selector.get_support(), reference.support_)
    assert selector.n_rounds_ == reference.ranking_.max() - 1


def refit(X, y, r, step, model):
    """Return the kept columns in order, and the ranking, of refitting from the start in each round."""
    left = np.arange(X.shape[1])
    ranking = np.ones(X.shape[1], dtype=int)
    while left.size > r:
        w = np.linalg.norm(np.atleast_2d(model.fit(X[:, left], y).coef_), axis=0)
        ordered = left[np.lexsort((left, -w))]
        kept = max(r, left.size - (max(1, int(step * left.size)) if step < 1 else step))
        ranking[np.setdiff1d(np.arange(X.shape[1]), ordered[:kept])] += 1
        ordered = ordered[:kept]
        left = np.sort(ordered)
    return ordered, ranking


@pytest.mark.parametrize("step", [0.1, 0.35, 0.9])
@pytest.mark.parametrize("name", [*CLASSES, "tall", "wide", "counts"])
def test_fractions_are_of_the_remaining_features(name, step):
    X, y = PROBLEMS[name]
    selector = SVMRFESelector(5, step=step, tol=TIGHT).fit(X, y)
    kept, ranking = refit(X, y, 5, step, model_of(y))
    assert_array_equal(selector.indices_, kept)
    assert_array_equal(selector.ranking_, ranking)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", CLASSES)
def test_liblinear_refits_on_the_remaining_columns(name, form):
    X, y = CLASSES[name]
    selector = SVMRFESelector(12, step=0.3, solver="liblinear", tol=1e-6).fit(
        form(X), y
    )
    kept, ranking = refit(X, y, 12, 0.3, LiblinearSVM(C=1.0, tol=1e-6))
    assert_array_equal(selector.indices_, kept)
    assert_array_equal(selector.ranking_, ranking)
    # another model
    assert not np.array_equal(ranking, SVMRFESelector(12, step=0.3).fit(X, y).ranking_)


def test_whole_numbers_are_classes_unless_told():
    X, y = numbers(60, 12)
    few = np.digitize(y, [-1, 1])
    as_classes = SVMRFESelector(4).fit(X, few)
    as_numbers = SVMRFESelector(4, task="regression").fit(X, few)
    expected = SVMRFESelector(4, task="classification").fit(X, few)
    assert_array_equal(as_classes.ranking_, expected.ranking_)
    # LIBSVM counts its iterations
    assert (as_classes.n_iter_ > 1, as_numbers.n_iter_) == (True, 1)
    assert_array_equal(
        as_numbers.ranking_, SVMRFESelector(4).fit(X, few + 0.5).ranking_
    )


def test_wide_rows_with_a_large_column_need_their_singular_values(monkeypatch):
    X, y = numbers(20, 30)
    X[:, 0] = np.random.default_rng(0).integers(0, 10**9, 20)
    expected = RFE(model_of(y), n_features_to_select=3, step=1).fit(X, y).ranking_
    assert_array_equal(SVMRFESelector(3, step=1).fit(X, y).ranking_, expected)
    monkeypatch.setattr(module, "MILD", np.inf)  # negative control
    with warnings.catch_warnings(action="ignore"):
        assert not np.array_equal(
            SVMRFESelector(3, step=1).fit(X, y).ranking_, expected
        )


@pytest.mark.parametrize("name", ["tall", "wide", "counts"])
def test_conjugate_gradients_of_large_sparse_columns_find_the_same(name, monkeypatch):
    X, y = NUMBERS[name]
    expected = SVMRFESelector(3).fit(X, y)
    monkeypatch.setattr(module, "DENSE_ENTRIES", 0)
    with warnings.catch_warnings(action="error"):
        assert_array_equal(
            SVMRFESelector(3).fit(sparse.csr_array(X), y).ranking_, expected.ranking_
        )
    with pytest.warns(
        ConvergenceWarning,
        match=r"SVMRFESelector: expected conjugate gradients to leave a relative gradient of at most 1e-06, got .*"
        r"; scale the columns to one range",
    ) as warned:
        SVMRFESelector(3, tol=0.1).fit(sparse.csr_array(X), y)
    assert (len(warned), warned[0].filename) == (1, __file__)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_limit_is_of_each_round_and_changes_nothing_where_none_meets_it(n_classes):
    X = PROBLEMS["gaussian"][0]
    y = np.arange(60) % n_classes
    expected = SVMRFESelector(40).fit(X, y)
    view = TrainingView(X, y)
    with pytest.warns(ConvergenceWarning, match="after max_iter = 3 iterations in"):
        SVMRFESelector(40, max_iter=3).fit_view(view)
    with warnings.catch_warnings(action="error"):
        assert_array_equal(
            SVMRFESelector(40, max_iter=10**9).fit_view(view).ranking_,
            expected.ranking_,
        )


def test_many_more_rows_than_features_are_solved_in_the_primal():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50_001, 6))
    y = X @ [3.0, 0, 2, 0, 0.5, 0] + rng.standard_normal(50_001) > 0
    selector = SVMRFESelector(2, step=1).fit(X, y)
    assert selector.indices_.tolist() == [0, 2]
    few = X[:2100]
    labels = y[:2100]
    for part in (few, few[:, :4]):
        dual = SVMRFESelector(2, step=1, solver="liblinear", tol=1e-6).fit(part, labels)
        primal = "liblinear_primal"
        for solver, form in (
            (primal, np.asarray),
            (primal, sparse.csr_array),
            ("auto", np.asarray),
        ):
            fitted = SVMRFESelector(2, step=1, solver=solver, tol=1e-6).fit(
                form(part), labels
            )
            assert_array_equal(fitted.ranking_, dual.ranking_)


def test_importances_are_tied_up_to_rounding():
    rng = np.random.default_rng(1)
    exact = rng.integers(0, 6, 200).astype(float)
    for noise in (0.0, 1e-13):
        noisy = np.abs(exact + noise * rng.standard_normal(200))
        assert_array_equal(by_importance(noisy), np.lexsort((np.arange(200), -exact)))
    assert_array_equal(
        by_importance(np.array([1.0, 1.0 + 1e-9, 1e-8, 1.1e-8])), [1, 0, 3, 2]
    )


@pytest.mark.parametrize("form", [*FORMS, sparse.csr_matrix])
@pytest.mark.parametrize("share", [0.9, 0.3])
def test_downdates_equal_recomputation(form, share):
    X = np.random.default_rng(3).standard_normal((40, 900))
    rng = np.random.default_rng(2)
    columns = RemainingColumns.of(form(X), gram_matrix(form(X)))
    features = np.arange(900)
    while features.size > 30:
        positions = np.sort(
            rng.choice(features.size, int(share * features.size), replace=False)
        )
        columns, features = columns.only(positions), features[positions]
        fresh = X[:, features] @ X[:, features].T
        assert_allclose(columns.gram, fresh, atol=1e-10 * np.trace(fresh) / 40)
        duals = np.random.default_rng(4).standard_normal((2, 40))
        assert_allclose(
            columns.weighted_sums(duals), duals @ X[:, features], atol=1e-12
        )


def test_a_large_column_that_goes_takes_its_rounding_errors_along():
    X = np.random.default_rng(5).standard_normal((20, 300))
    X[:, 7] *= 1e7
    kept = np.delete(np.arange(300), 7)
    fresh = X[:, kept] @ X[:, kept].T
    assert_allclose(
        RemainingColumns.of(X, gram_matrix(X)).only(kept).gram, fresh, atol=1e-10
    )
    # control: a bare downdate is wrong here
    bare = gram_matrix(X) - np.outer(X[:, 7], X[:, 7])
    assert np.abs(bare - fresh).max() > 1e-4
