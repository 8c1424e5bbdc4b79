"""Smallest enclosing balls against closed forms, SLSQP, Badoiu and Clarkson, and their own certificate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.optimize import minimize

from provsel.kernels.enclosing_ball import enclosing_ball_of_rows, minimum_enclosing_ball
from provsel.kernels.simplex_qp import translate_gram

RNG_SEED = 20160
TOL = 1e-10


def gaussian(n, d, seed=RNG_SEED):
    return np.random.default_rng(seed).standard_normal((n, d))


def slsqp_ball(X):
    """Minimize t subject to ||x_i - c||^2 <= t over (c, t)."""
    start = np.append(X.mean(axis=0), ((X - X.mean(axis=0)) ** 2).sum(axis=1).max())
    constraint = {
        "type": "ineq",
        "fun": lambda z: z[-1] - ((X - z[:-1]) ** 2).sum(axis=1),
        "jac": lambda z: np.column_stack([2.0 * (X - z[:-1]), np.ones(len(X))]),
    }
    gradient = np.eye(len(start))[-1]
    options = {"ftol": 1e-14, "maxiter": 500}
    return minimize(
        lambda z: z[-1], start, jac=lambda z: gradient, constraints=constraint, method="SLSQP", options=options
    ).fun


def certified_gap(X, weights, squared_radius):
    """Return the relative gap of a claimed ball from the points alone; infinite where it is no solution.

    The ball comes from the Gram matrix, whose digits end at eps times its largest entry: for points far from the origin
    that is a distance, and which side of the ball the farthest one is on differs between processors.
    """
    if weights.min() < 0 or abs(weights.sum() - 1) > 1e-12:
        return np.inf
    squared = ((X - weights @ X) ** 2).sum(axis=1)
    if squared.max() > squared_radius * (1 + 1e-9) + np.finfo(float).eps * (X**2).sum(axis=1).max():
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
        "two far clusters": 1e-4 * gaussian(100, 5) + np.where(np.arange(100) % 2, 1.0, -1.0)[:, None],
        "mostly one point": np.vstack([np.ones((50, 3)), gaussian(9, 3)]),
    }


@pytest.mark.parametrize("X", random_shapes().values(), ids=random_shapes().keys())
def test_certificate_holds(X):
    ball = minimum_enclosing_ball(X @ X.T)
    assert ball.gap <= TOL
    # Centre and distances come from X here, so a far offset costs digits in the comparison.
    assert certified_gap(X, ball.weights, ball.squared_radius) <= 1e-8


def test_certificate_refuses_wrong_balls():
    X = gaussian(50, 4)
    ball = minimum_enclosing_ball(X @ X.T)
    assert certified_gap(X, ball.weights, ball.squared_radius) <= TOL
    assert certified_gap(X, ball.weights, 0.999 * ball.squared_radius) == np.inf
    assert certified_gap(X, ball.weights, 1.001 * ball.squared_radius) > 1e-4
    shifted = 0.99 * ball.weights + 0.01 / len(X)
    assert certified_gap(X, shifted, ((X - shifted @ X) ** 2).sum(axis=1).max()) > 1e-4


@pytest.mark.parametrize(("n", "d"), [(5, 2), (30, 3), (25, 10), (12, 40)])
def test_agrees_with_slsqp(n, d):
    X = gaussian(n, d)
    assert minimum_enclosing_ball(X @ X.T).squared_radius == pytest.approx(slsqp_ball(X), rel=1e-7)


@pytest.mark.parametrize("n", [2, 3, 40, 400])
def test_regular_simplex(n):
    ball = minimum_enclosing_ball(np.eye(n))
    assert ball.squared_radius == pytest.approx(1 - 1 / n, rel=1e-12)
    np.testing.assert_allclose(ball.weights, 1 / n, rtol=1e-9)


@pytest.mark.parametrize("X", [np.full((1, 3), 7.3), np.full((6, 3), 1e5 / 3), np.zeros((4, 2)), np.zeros((1, 1))])
def test_coinciding_points_have_radius_zero(X):
    ball = minimum_enclosing_ball(X @ X.T)
    assert (ball.squared_radius, ball.gap) == (0.0, 0.0)
    assert ball.weights.sum() == pytest.approx(1)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_invariances(scale):
    X = gaussian(70, 6)
    reference = minimum_enclosing_ball(X @ X.T).squared_radius
    order = np.random.default_rng(1).permutation(70)
    for Z, factor in [(X + 100.0, 1.0), (scale * X, scale**2), (X[order], 1.0), (np.repeat(X, 3, axis=0), 1.0)]:
        ball = minimum_enclosing_ball(Z @ Z.T)
        assert ball.squared_radius == pytest.approx(factor * reference, rel=1e-9)


def test_translation_is_exact_for_counts():
    X = np.random.default_rng(0).poisson(3.0, (30, 50)).astype(float)
    local = X - X[np.argmin((X**2).sum(axis=1))]
    np.testing.assert_array_equal(translate_gram(X @ X.T), local @ local.T)


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
    "name", ["plane", "counts", "cospherical", "duplicates", "collinear, far away", "mostly one point"]
)
def test_rows_have_the_ball_of_their_gram_matrix(name, form):
    X = form(random_shapes()[name])
    dense = (X.toarray() if sparse.issparse(X) else X).astype(float)
    expected, found = minimum_enclosing_ball(dense @ dense.T), enclosing_ball_of_rows(X)
    slack = 1e-14 * (dense**2).sum(axis=1).max() + 1e-8 * expected.squared_radius
    assert abs(found.squared_radius - expected.squared_radius) <= slack
    assert found.weights.sum() == pytest.approx(1)
    assert (found.weights >= 0).all()
    assert ((dense - found.weights @ dense) ** 2).sum(axis=1).max() <= found.squared_radius + slack
