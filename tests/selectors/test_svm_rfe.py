"""Recursive feature elimination: scikit-learn, plain refitting, orders of r, and downdated Gram matrices."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE
from sklearn.svm import SVC

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
    counts = rng.poisson(0.3 + 0.4 * np.outer(y == "spam", np.arange(400) < 25)) * rng.uniform(0.5, 1.5, (50, 400))
    return counts, y


def digits():
    data = load_digits()
    rows = np.isin(data.target, (3, 8))
    return data.data[rows][:150, 10:54] + 0.01 * np.random.default_rng(2).random((150, 44)), data.target[rows][:150]


def three_digits():
    data = load_digits()
    rows = data.target < 3
    return data.data[rows][:90, 10:54] + 0.01 * np.random.default_rng(3).random((90, 44)), data.target[rows][:90]


INPUTS = {"gaussian": gaussian, "text": text, "digits": digits, "three digits": three_digits}


@pytest.fixture(params=INPUTS, ids=lambda name: name.replace(" ", "_"))
def data(request):
    return INPUTS[request.param]()


@pytest.mark.parametrize("step", [1, 7, 1000])
def test_ranking_is_that_of_scikit_learn(data, step):
    X, y = data
    # 300 rounds of scikit-learn's are slow; 40 tell as much
    r = X.shape[1] - 40 if step == 1 else 10
    selector = SVMRFESelector(r, step=step, tol=TIGHT).fit(X, y)
    reference = RFE(SVC(kernel="linear", C=1, tol=TIGHT), n_features_to_select=r, step=step).fit(X, y)
    np.testing.assert_array_equal(selector.ranking_, reference.ranking_)
    np.testing.assert_array_equal(selector.get_support(), reference.support_)
    assert selector.n_rounds_ == reference.ranking_.max() - 1


def refit(X, y, r, step, weights):
    """Return the kept columns in order, and the ranking, of refitting from the start in each round."""
    left, drops = list(range(X.shape[1])), []
    while len(left) > r:
        w = weights(X[:, left], y)
        k = min(max(1, int(step * len(left))) if step < 1 else step, len(left) - r)
        order = np.lexsort((np.arange(len(left)), -w))
        drops.append([left[i] for i in order[len(left) - k :]])
        ordered = [left[i] for i in order[: len(left) - k]]
        left = sorted(ordered)
    ranking = np.ones(X.shape[1], dtype=int)
    for rank, dropped in enumerate(reversed(drops), start=2):
        ranking[dropped] = rank
    return ordered, ranking


def hinge(X, y):
    return np.sqrt((SVC(kernel="linear", tol=TIGHT).fit(X, y).coef_ ** 2).sum(axis=0))


def squared_hinge(X, y):
    return np.sqrt((LiblinearSVM(C=1.0, tol=1e-6).fit(X, y).coef_ ** 2).sum(axis=0))


@pytest.mark.parametrize("step", [0.1, 0.35, 0.9])
def test_fractions_are_of_the_remaining_features(data, step):
    X, y = data
    selector = SVMRFESelector(12, step=step, tol=TIGHT).fit(X, y)
    kept, ranking = refit(X, y, 12, step, hinge)
    np.testing.assert_array_equal(selector.indices_, kept)
    np.testing.assert_array_equal(selector.ranking_, ranking)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_liblinear_refits_on_the_remaining_columns(data, form):
    X, y = data
    selector = SVMRFESelector(12, step=0.3, solver="liblinear", tol=1e-6).fit(form(X), y)
    kept, ranking = refit(X, y, 12, 0.3, squared_hinge)
    np.testing.assert_array_equal(selector.indices_, kept)
    np.testing.assert_array_equal(selector.ranking_, ranking)
    assert not np.array_equal(ranking, SVMRFESelector(12, step=0.3).fit(X, y).ranking_)  # another model


@pytest.mark.parametrize("solver", ["libsvm", "liblinear"])
@pytest.mark.parametrize("shared_rounds", [128, 3])
def test_neither_order_of_r_nor_sharing_matters(solver, shared_rounds, monkeypatch):
    monkeypatch.setattr(module, "SHARED_ROUNDS", shared_rounds)
    X, y = text()
    alone = {r: SVMRFESelector(r, solver=solver).fit(X, y) for r in (40, 200, 210, 400)}
    for order in ((40, 200, 210, 400), (400, 210, 200, 40), (210, 400, 40, 200), (200, 40, 400, 210)):
        view = TrainingView(X, y)
        for r in order:
            shared = SVMRFESelector(r, solver=solver).fit_view(view)
            np.testing.assert_array_equal(shared.indices_, alone[r].indices_)
            np.testing.assert_array_equal(shared.ranking_, alone[r].ranking_)
            assert shared.n_rounds_ == alone[r].n_rounds_


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_copies_of_a_column_are_kept_lowest_index_first(form):
    X, y = gaussian()
    X = X[:, :40]
    thrice = np.hstack([X, X, X])
    selector = SVMRFESelector(60, step=3).fit(form(thrice), y)
    for j in range(40):
        ranks = selector.ranking_[[j, j + 40, j + 80]]
        assert (np.diff(ranks) >= 0).all(), ranks
        places = [np.flatnonzero(selector.indices_ == k) for k in (j, j + 40, j + 80)]
        found = [place[0] for place in places if place.size]
        assert found == sorted(found)


def with_an_id(n, d=25):
    """Return rows whose first column numbers them at random up to ten million, on which LIBSVM does not converge."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = (X[:, 0] + X[:, 1] + rng.standard_normal(n) > 0).astype(int)
    return np.column_stack([rng.integers(0, 10**7, n), X]), y


def test_columns_of_very_different_scales_end_at_a_limit():
    X, y = with_an_id(100)
    with pytest.warns(
        ConvergenceWarning,
        match=r"SVMRFESelector: expected LIBSVM to converge, got none after max_iter = 1000000 iterations in \d of 3 "
        r"rounds; scale the columns to one range",
    ) as warned:
        selector = SVMRFESelector(5, step=0.5).fit(X, y)
    assert len(warned) == 1
    assert warned[0].filename == __file__
    assert {1, 2} <= set(selector.indices_)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_limit_is_of_each_round_and_changes_nothing_where_none_meets_it(n_classes, recwarn):
    X, _ = gaussian()
    y = np.arange(60) % n_classes
    expected, view = SVMRFESelector(40).fit(X, y), TrainingView(X, y)
    with pytest.warns(ConvergenceWarning, match="after max_iter = 3 iterations in"):
        SVMRFESelector(40, max_iter=3).fit_view(view)
    np.testing.assert_array_equal(SVMRFESelector(40, max_iter=10**9).fit_view(view).ranking_, expected.ranking_)
    with pytest.raises(ValueError, match="LIBSVM: expected max_iter a positive integer, got 0"):
        SVMRFESelector(40, max_iter=0).fit(X, y)


def test_many_more_rows_than_features_are_solved_in_the_primal():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50_001, 6))
    y = X @ [3.0, 0, 2, 0, 0.5, 0] + rng.standard_normal(50_001) > 0
    selector = SVMRFESelector(2, step=1).fit(X, y)
    assert selector.indices_.tolist() == [0, 2]
    for few in (X[:2100], X[:2100, :4]):
        dual, primal = (SVMRFESelector(2, step=1, solver=each, tol=1e-6) for each in ("liblinear", "liblinear_primal"))
        expected = dual.fit(few, y[:2100])
        for form in (np.asarray, sparse.csr_array):
            np.testing.assert_array_equal(primal.fit(form(few), y[:2100]).ranking_, expected.ranking_)
        np.testing.assert_array_equal(
            SVMRFESelector(2, step=1, tol=1e-6).fit(few, y[:2100]).ranking_, expected.ranking_
        )


@pytest.mark.parametrize("noise", [0.0, 1e-13])
def test_ties_are_in_order_of_index(noise):
    rng = np.random.default_rng(1)
    exact = rng.integers(0, 6, 200).astype(float)
    noisy = np.abs(exact + noise * rng.standard_normal(200))
    np.testing.assert_array_equal(by_importance(noisy), np.lexsort((np.arange(200), -exact)))


def test_a_difference_above_the_tolerance_is_none():
    np.testing.assert_array_equal(by_importance(np.array([1.0, 1.0 + 1e-9, 1e-8, 1.1e-8])), [1, 0, 3, 2])


def _rounds(X, share=0.9):
    """Yield the remaining columns of X, their indices, round by round."""
    rng = np.random.default_rng(2)
    columns, features = RemainingColumns.of(X, gram_matrix(X)), np.arange(X.shape[1])
    while features.size > 30:
        positions = np.sort(rng.choice(features.size, int(share * features.size), replace=False))
        columns, features = columns.only(positions), features[positions]
        yield columns, features


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("share", [0.9, 0.3])
def test_downdates_equal_recomputation(form, share):
    X = np.random.default_rng(3).standard_normal((40, 900))
    for columns, features in _rounds(form(X), share):
        fresh = X[:, features] @ X[:, features].T
        np.testing.assert_allclose(columns.gram, fresh, atol=1e-10 * np.trace(fresh) / 40)
        duals = np.random.default_rng(4).standard_normal((2, 40))
        np.testing.assert_allclose(columns.weighted_sums(duals), duals @ X[:, features], atol=1e-12)


def test_a_large_column_that_goes_takes_its_rounding_errors_along():
    X = np.random.default_rng(5).standard_normal((20, 300))
    X[:, 7] *= 1e7
    kept = np.delete(np.arange(300), 7)
    fresh = X[:, kept] @ X[:, kept].T
    np.testing.assert_allclose(RemainingColumns.of(X, gram_matrix(X)).only(kept).gram, fresh, atol=1e-10)
    # control: a bare downdate is wrong here
    bare = gram_matrix(X) - np.outer(X[:, 7], X[:, 7])
    assert np.abs(bare - fresh).max() > 1e-4
