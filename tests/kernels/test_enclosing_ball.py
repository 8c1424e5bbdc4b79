"""Smallest enclosing balls against closed forms, a search and their own certificate; their centre as one more row."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize

from provsel import selectors
from provsel.kernels.enclosing_ball import (
    enclosing_ball_of_rows,
    minimum_enclosing_ball,
)
from provsel.kernels.simplex_qp import translate_gram
from provsel.training_view import TrainingView

RNG_SEED = 20160
TOL = 1e-10


def gaussian(n, d, seed=RNG_SEED):
    return np.random.default_rng(seed).standard_normal((n, d))


def certified_gap(X, weights, squared_radius):
    """Return the relative gap of a claimed ball from the points alone; infinite where it is no solution.

    The ball comes from the Gram matrix, whose digits end at eps times its largest
    entry: for points far from the origin that is a distance, and which side of the ball
    the farthest one is on differs between processors.
    """
    if weights.min() < 0 or abs(weights.sum() - 1) > 1e-12:
        return np.inf
    squared = ((X - weights @ X) ** 2).sum(axis=1)
    if (
        squared.max()
        > squared_radius * (1 + 1e-9) + np.finfo(float).eps * (X**2).sum(axis=1).max()
    ):
        return np.inf
    return 1 - weights @ squared / squared_radius


def random_shapes():
    rng = np.random.default_rng(RNG_SEED)
    line = np.outer(rng.standard_normal(40), rng.standard_normal(6))
    sphere = gaussian(300, 4)
    return {
        "plane": gaussian(200, 2),
        "many dimensions": gaussian(60, 500),
        "n = d": gaussian(30, 30),
        "dependent": gaussian(80, 3) @ gaussian(3, 20, seed=1),
        "collinear": line,
        "collinear, far away": line + 1e4,
        "duplicates": np.repeat(gaussian(40, 5), 4, axis=0),
        "cospherical": sphere / np.linalg.norm(sphere, axis=1)[:, None],
        "grid": np.stack(np.meshgrid(*[np.arange(5.0)] * 3), axis=-1).reshape(-1, 3),
        "long and short": gaussian(150, 40) * np.exp(2 * gaussian(150, 1, seed=2)),
        "counts": rng.poisson(0.2, (120, 400)).astype(float),
        "tiny": 1e-6 * gaussian(100, 5),
        "huge": 1e6 * gaussian(100, 5),
        "two far clusters": 1e-4 * gaussian(100, 5)
        + np.where(np.arange(100) % 2, 1.0, -1.0)[:, None],
        "mostly one point": np.vstack([np.ones((50, 3)), gaussian(9, 3)]),
    }


@pytest.mark.parametrize("X", random_shapes().values(), ids=random_shapes().keys())
def test_certificate_holds(X):
    ball = minimum_enclosing_ball(X @ X.T)
    assert ball.gap <= TOL
    # Centre and distances come from X here, so a far offset costs digits in the
    # comparison.
    assert certified_gap(X, ball.weights, ball.squared_radius) <= 1e-8


def test_certificate_refuses_wrong_balls():
    X = gaussian(50, 4)
    ball = minimum_enclosing_ball(X @ X.T)
    assert certified_gap(X, ball.weights, ball.squared_radius) <= TOL
    assert certified_gap(X, ball.weights, 0.999 * ball.squared_radius) == np.inf
    assert certified_gap(X, ball.weights, 1.001 * ball.squared_radius) > 1e-4
    shifted = 0.99 * ball.weights + 0.01 / len(X)
    assert certified_gap(X, shifted, ((X - shifted @ X) ** 2).sum(axis=1).max()) > 1e-4


@pytest.mark.parametrize("n", [2, 3, 40, 400])
def test_regular_simplex(n):
    ball = minimum_enclosing_ball(np.eye(n))
    assert ball.squared_radius == pytest.approx(1 - 1 / n, rel=1e-12)
    assert_allclose(ball.weights, 1 / n, rtol=1e-9)


@pytest.mark.parametrize(
    "X",
    [
        np.full((1, 3), 7.3),
        np.full((6, 3), 1e5 / 3),
        np.zeros((4, 2)),
        np.zeros((1, 1)),
    ],
)
def test_coinciding_points_have_radius_zero(X):
    ball = minimum_enclosing_ball(X @ X.T)
    assert (ball.squared_radius, ball.gap) == (0.0, 0.0)
    assert ball.weights.sum() == pytest.approx(1)


def test_translation_is_exact_for_counts():
    X = np.random.default_rng(0).poisson(3.0, (30, 50)).astype(float)
    local = X - X[np.argmin((X**2).sum(axis=1))]
    assert_array_equal(translate_gram(X @ X.T), local @ local.T)


@given(
    st.tuples(st.integers(1, 12), st.integers(1, 4)).flatmap(
        lambda shape: arrays(np.float64, shape, elements=st.integers(-4, 4).map(float))
    )
)
@settings(deadline=None, max_examples=150)
def test_degenerate_integer_points(X):
    """Small integers give duplicated, collinear and cospherical points all the time."""
    ball = minimum_enclosing_ball(X @ X.T)
    assert ball.gap <= TOL
    if np.ptp(X, axis=0).any():
        assert certified_gap(X, ball.weights, ball.squared_radius) <= TOL
    else:
        assert ball.squared_radius == 0


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, np.float32])
@pytest.mark.parametrize(
    "name",
    [
        "plane",
        "counts",
        "cospherical",
        "duplicates",
        "collinear, far away",
        "mostly one point",
    ],
)
def test_rows_have_the_ball_of_their_gram_matrix(name, form):
    X = form(random_shapes()[name])
    dense = (X.toarray() if sparse.issparse(X) else X).astype(float)
    expected = minimum_enclosing_ball(dense @ dense.T)
    ball = enclosing_ball_of_rows(X)
    slack = 1e-14 * (dense**2).sum(axis=1).max() + 1e-8 * expected.squared_radius
    assert abs(ball.squared_radius - expected.squared_radius) <= slack
    assert ball.weights.sum() == pytest.approx(1)
    assert (ball.weights >= 0).all()
    assert ((dense - ball.weights @ dense) ** 2).sum(
        axis=1
    ).max() <= ball.squared_radius + slack


COUNTS = np.random.default_rng(0).poisson(0.8, (12, 150)).astype(float)


def test_center_is_that_of_an_independent_optimizer():
    fitted = selectors.WithEnclosingBallCenter(
        selectors.UniformSelector(3, random_state=0)
    ).fit(COUNTS)
    farthest = lambda c: ((COUNTS - c) ** 2).sum(axis=1).max()  # noqa: E731
    assert farthest(fitted.center_) == pytest.approx(fitted.squared_radius_, rel=1e-9)
    descended = minimize(
        farthest, COUNTS.mean(axis=0), method="Powell", options={"maxiter": 3}
    )
    assert fitted.squared_radius_ <= descended.fun * (1 + 1e-9)
    assert fitted.squared_radius_ < farthest(COUNTS.mean(axis=0))


@pytest.mark.parametrize(
    "selector",
    [selectors.BSSSelector(60), selectors.LeverageScoreSelector(20, strategy="top")],
    ids=["bss", "top"],
)
@pytest.mark.parametrize(
    "form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"]
)
def test_row_space_and_so_the_selection_stay_the_same(selector, form):
    fitted = selectors.WithEnclosingBallCenter(selector).fit(form(COUNTS))
    plain = selector.fit(form(COUNTS))
    assert_array_equal(fitted.indices_, plain.indices_)
    assert_allclose(fitted.weights_, plain.weights_, rtol=1e-8)
    assert fitted.selector_.rank_ == plain.rank_ == 12


def test_the_selector_sees_the_row():
    seen = []

    class Spy(selectors.UniformSelector):
        def _select(self, view, rng):
            seen.append(view.X)
            return super()._select(view, rng)

    fitted = selectors.WithEnclosingBallCenter(Spy(3)).fit(COUNTS)
    assert_array_equal(seen[0][:-1], COUNTS)
    assert_array_equal(seen[0][-1], fitted.center_)


def test_many_rows_need_no_gram_matrix():
    rows = np.random.default_rng(0).standard_normal((10_001, 3))
    view = TrainingView(rows)
    view.gram = lambda: pytest.fail("10,001 x 10,001")
    fitted = selectors.WithEnclosingBallCenter(selectors.RRQRSelector(2)).fit_view(view)
    assert ((rows - fitted.center_) ** 2).sum(axis=1).max() == pytest.approx(
        fitted.squared_radius_, rel=1e-9
    )
