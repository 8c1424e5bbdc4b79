"""RidgeLeverageSelector against the definition, and what selectors by V do where scores are tied."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import minmax_scale, scale

from provsel.kernels.ridge_leverage import ridge_leverage_scores
from provsel.kernels.spectral import accurate_basis
from provsel.kernels.ties import rank_descending
from provsel.selectors import (
    LeverageScoreSelector,
    RidgeLeverageSelector,
)

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
    assert_allclose(scores, definition(X, ridge), rtol=1e-8)
    G = X.T @ X
    assert_allclose(
        scores, np.diag(G @ np.linalg.inv(G + ridge * np.eye(len(G)))), rtol=1e-8
    )


@pytest.mark.filterwarnings(
    "ignore:.*expected scores that differ between features:UserWarning"
)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shape", [(20, 60), (60, 20), (300, 40)])
@pytest.mark.parametrize("spread", [1, 1e3, 1e6, 1e9])
def test_the_order_is_that_of_accurate_scores(shape, spread, form):
    """A Cholesky factor must not decide between features whose scores it does not know well enough."""
    rng = np.random.default_rng(int(spread) % 7)
    X = rng.standard_normal(shape) * spread ** -rng.random(shape[1])
    for ridge in (None, 1.0, 1e-6, 1e-12):
        basis = accurate_basis(form(X))
        used = (basis.singular_values**2).sum() / min(shape) if ridge is None else ridge
        order = rank_descending(ridge_leverage_scores(basis, used))
        for r in (1, 5, shape[1] // 2, shape[1]):
            selector = RidgeLeverageSelector(r, ridge=ridge).fit(form(X))
            assert selector.indices_.tolist() == order[:r].tolist()


@pytest.mark.parametrize("shape", SHAPES)
def test_the_default_ridge_is_the_mean_squared_singular_value(shape):
    X = matrix(shape)
    selector = RidgeLeverageSelector(1).fit(X)
    assert selector.ridge_ == pytest.approx((X**2).sum() / min(shape))
    assert_allclose(selector.scores_, definition(X, selector.ridge_), rtol=1e-8)
    assert selector.effective_dimension_ == pytest.approx(selector.scores_.sum())
    assert selector.effective_dimension_ <= min(shape) / 2 * (1 + 1e-12)
    scaled = RidgeLeverageSelector(1).fit(1e6 * X)
    assert_allclose(scaled.scores_, selector.scores_, rtol=1e-8)


def test_sampled_weights_are_those_of_the_law():
    X = matrix((20, 30))
    selector = RidgeLeverageSelector(
        30, ridge=1.0, strategy="sample", random_state=0
    ).fit(X)
    p = selector.scores_ / selector.scores_.sum()
    times = selector.weights_**2 * 30 * p[selector.indices_]
    assert_allclose(times, np.round(times), atol=1e-9)
    assert np.round(times).sum() == 30
    kept = X[:, np.sort(selector.indices_)]
    assert_allclose(
        selector.transform(X), kept * selector.weights_[np.argsort(selector.indices_)]
    )
    assert_array_equal(selector.set_params(rescale=False).transform(X), kept)


CANCER = minmax_scale(load_breast_cancer().data)  # 569 x 30, of rank 30


@pytest.mark.parametrize(
    ("selector", "X", "message"),
    [
        (
            LeverageScoreSelector(8, strategy="top"),
            CANCER,
            "LeverageScoreSelector: expected scores that differ between features, got 1 for each of 30 columns, as X "
            r"has full column rank, 30: the first features are kept\. Give rank=.* the largest 2 hold 91%",
        ),
        (
            LeverageScoreSelector(8),
            load_digits().data,
            "each of 61 columns, .* rank, 61: the draw is uniform",
        ),
        (
            LeverageScoreSelector(8, columns="sigma_V"),
            scale(CANCER),
            "got 569 .* all columns of X are equally long",
        ),
        (
            LeverageScoreSelector(1, rank=1),
            np.ones((4, 3)),
            "the rows of V, of rank 1, are equally long: .*another rank=",
        ),
        (
            RidgeLeverageSelector(8, ridge=1e-20),
            CANCER,
            "got 1 .*ridge = 1e-20 is too small.*Raise ridge",
        ),
        (RidgeLeverageSelector(2), np.eye(9)[:, :5], "orthogonal and equally long"),
    ],
)
def test_scores_that_say_nothing_are_warned_of_once(selector, X, message):
    with pytest.warns(UserWarning, match=message) as warned:
        selector.fit(X)
    assert len(warned) == 1
    assert warned[0].filename == __file__
    if selector.strategy == "top":
        assert selector.indices_.tolist() == list(range(selector.n_features_to_select))


def test_scores_that_differ_are_not_warned_of(recwarn):
    LeverageScoreSelector(8, rank=3).fit(CANCER)
    LeverageScoreSelector(8).fit(CANCER.T)
    LeverageScoreSelector(1).fit([[1.0], [2.0]])
    RidgeLeverageSelector(8).fit(CANCER)
    assert not recwarn.list
