"""RidgeLeverageSelector against the definition, its limits, and the law of its sampling."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from provsel.selectors import LeverageScoreSelector, RidgeLeverageSelector

SHAPES = [(12, 60), (60, 12), (25, 30), (30, 25), (1, 4), (5, 1)]


def matrix(shape, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape) * np.exp(rng.standard_normal(shape[1]))


def definition(X, ridge):
    return np.diag(X.T @ np.linalg.solve(X @ X.T + ridge * np.eye(len(X)), X))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("ridge", [1e-3, 0.7, 1e4])
def test_scores_are_the_definitions_on_both_sides(form, shape, ridge):
    X = matrix(shape)
    scores = RidgeLeverageSelector(1, ridge=ridge).fit(form(X)).scores_
    np.testing.assert_allclose(scores, definition(X, ridge), rtol=1e-8)
    G = X.T @ X
    np.testing.assert_allclose(scores, np.diag(G @ np.linalg.inv(G + ridge * np.eye(len(G)))), rtol=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_default_ridge_is_the_mean_squared_singular_value(shape):
    X = matrix(shape)
    selector = RidgeLeverageSelector(1).fit(X)
    assert selector.ridge_ == pytest.approx((X**2).sum() / min(shape))
    np.testing.assert_allclose(selector.scores_, definition(X, selector.ridge_), rtol=1e-8)
    assert selector.effective_dimension_ == pytest.approx(selector.scores_.sum())
    assert selector.effective_dimension_ <= min(shape) / 2 * (1 + 1e-12)
    scaled = RidgeLeverageSelector(1).fit(1e6 * X)
    np.testing.assert_allclose(scaled.scores_, selector.scores_, rtol=1e-8)


def test_top_keeps_the_largest_in_order_and_is_nested():
    X = matrix((20, 50))
    expected = np.argsort(-definition(X, 2.0))
    for r in (1, 7, 50):
        selector = RidgeLeverageSelector(r, ridge=2.0).fit(X)
        np.testing.assert_array_equal(selector.indices_, expected[:r])
        assert (selector.weights_ == 1).all()
        assert not selector.is_random


def test_equal_columns_in_the_order_of_the_columns():
    x = matrix((15, 4))
    X = np.hstack([x, x, x])
    order = RidgeLeverageSelector(12).fit(X).indices_
    assert np.all(np.diff(order.reshape(4, 3), axis=1) == 4)


def test_a_small_ridge_gives_leverage_and_a_large_one_squared_norms():
    X = matrix((12, 40))
    leverage = LeverageScoreSelector(1, strategy="top").fit(X).scores_
    np.testing.assert_allclose(RidgeLeverageSelector(1, ridge=1e-9).fit(X).scores_, leverage, rtol=1e-6)
    large = RidgeLeverageSelector(1, ridge=1e9).fit(X).scores_
    np.testing.assert_allclose(large * 1e9, (X**2).sum(axis=0), rtol=1e-4)


def test_it_tells_features_apart_where_leverage_cannot():
    X = matrix((60, 12))
    np.testing.assert_allclose(LeverageScoreSelector(1, strategy="top").fit(X).scores_, 1.0)
    assert np.ptp(RidgeLeverageSelector(1).fit(X).scores_) > 0.1


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 12), st.integers(1, 12), st.floats(1e-3, 1e3), st.integers(0, 99))
def test_scores_are_below_one_and_fall_as_the_ridge_grows(n, d, ridge, seed):
    X = matrix((n, d), seed)
    low, high = (RidgeLeverageSelector(1, ridge=c * ridge).fit(X).scores_ for c in (1, 3))
    assert (low <= 1).all()
    assert (high > 0).all()
    assert (high < low).all()


def test_sampled_weights_are_those_of_the_law():
    X = matrix((20, 30))
    r = 200
    selector = RidgeLeverageSelector(r, ridge=1.0, strategy="sample", random_state=0)
    assert selector.is_random
    with pytest.raises(ValueError, match="n_features = 30, got 200"):
        selector.fit(X)
    selector.set_params(n_features_to_select=30).fit(X)
    p = selector.scores_ / selector.scores_.sum()
    times = selector.weights_**2 * 30 * p[selector.indices_]
    np.testing.assert_allclose(times, np.round(times), atol=1e-9)
    assert np.round(times).sum() == 30
    kept = X[:, np.sort(selector.indices_)]
    np.testing.assert_allclose(selector.transform(X), kept * selector.weights_[np.argsort(selector.indices_)])
    np.testing.assert_array_equal(selector.set_params(rescale=False).transform(X), kept)


def test_sampled_product_is_unbiased():
    """Mean of X R R^T X^T over draws against X X^T; without the weights it is far off."""
    X = matrix((4, 30), seed=2)
    exact = X @ X.T
    mean, plain = np.zeros((4, 4)), np.zeros((4, 4))
    for seed in range(400):
        selector = RidgeLeverageSelector(20, strategy="sample", random_state=seed).fit(X)
        reduced = selector.transform(X)
        mean += reduced @ reduced.T / 400
        kept = X[:, selector.indices_]
        plain += kept @ kept.T / 400
    assert np.linalg.norm(mean - exact) < 0.05 * np.linalg.norm(exact)
    assert np.linalg.norm(plain - exact) > 0.05 * np.linalg.norm(exact)


@pytest.mark.parametrize("ridge", [0, -1.0, np.inf, np.nan, True, "auto"])
def test_bad_ridges_are_refused(ridge):
    with pytest.raises(ValueError, match="RidgeLeverageSelector: expected ridge None or a positive, finite number"):
        RidgeLeverageSelector(1, ridge=ridge).fit(np.eye(3))


def test_unknown_strategies_are_refused():
    with pytest.raises(ValueError, match=r"expected strategy in \('top', 'sample'\), got 'best'"):
        RidgeLeverageSelector(1, strategy="best").fit(np.eye(3))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("ridge", [None, 1.0])
def test_all_zeros_are_refused(form, ridge):
    with pytest.raises(ValueError, match=r"expected X with a non-zero value, got all zeros \(4 rows, 6 columns\)"):
        RidgeLeverageSelector(2, ridge=ridge).fit(form(np.zeros((4, 6))))
