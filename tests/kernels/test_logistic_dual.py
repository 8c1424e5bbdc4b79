"""The logistic loss with its dual variables: other solvers, the gap from its definition, and the best lengths."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize_scalar
from scipy.special import xlogy
from sklearn.linear_model import LogisticRegression
from test_hinge_dual import problems, rows

from provsel.kernels.logistic_dual import logistic_dual
from provsel.kernels.logistic_scale import best_dual_scale, best_scale

TOL = 1e-12


def objective(Z, y, w, c):
    return np.logaddexp(0.0, -y * (Z @ w)).mean() + c * w @ w


def bound(Z, y, alpha, c):
    """Return the dual objective: a lower bound on the optimum for any alpha in the box."""
    C, image = 1 / (2 * c * y.size), Z.T @ (y * alpha)
    entropy = xlogy(C, C) - xlogy(alpha, alpha) - xlogy(C - alpha, C - alpha)
    return 2 * c * (entropy.sum() - 0.5 * image @ image)


@pytest.fixture(params=problems(), ids=lambda name: name.replace(" ", "_"))
def problem(request):
    return problems()[request.param]


def test_is_certified(problem):
    Z, y, c = problem
    fit = logistic_dual(Z, y, c, tol=TOL)
    assert fit.converged
    assert fit.n_iter <= 30
    assert 0 <= fit.alpha.min() <= fit.alpha.max() <= 1 / (2 * c * y.size)
    assert fit.primal == pytest.approx(objective(Z, y, fit.w, c), rel=1e-12)
    # the last digits of the definition are lost in C log C
    assert fit.dual == pytest.approx(bound(Z, y, fit.alpha, c), rel=1e-9)
    assert fit.primal * (1 - 2 * TOL) <= fit.dual <= fit.primal


def test_is_scikit_learns(problem):
    Z, y, c = problem
    if np.unique(y).size < 2:
        pytest.skip("scikit-learn refuses one class")
    options = {"fit_intercept": False, "solver": "newton-cholesky", "tol": 1e-13, "max_iter": 1000}
    scale = np.sqrt(np.mean(Z**2))  # their line search gives up on rows of 1e6
    theirs = LogisticRegression(C=scale**2 / (2 * c * y.size), **options).fit(Z / scale, y).coef_[0] / scale
    fit = logistic_dual(Z, y, c, tol=TOL)
    assert fit.primal == pytest.approx(objective(Z, y, theirs, c), rel=1e-6)
    np.testing.assert_allclose(fit.w, theirs, atol=1e-5 * np.abs(theirs).max())


def test_a_bound_that_is_none_and_a_vector_that_is_not_optimal_are_told_apart():
    """Negative control of the two above."""
    Z, y, c = problems()["tall"]
    fit = logistic_dual(Z, y, c, tol=TOL)
    assert objective(Z, y, 1.01 * fit.w, c) > fit.primal * (1 + 1e-6)
    assert bound(Z, y, 0.99 * fit.alpha, c) < fit.dual * (1 - 1e-6)
    assert logistic_dual(Z, y, c, tol=TOL, max_iter=1).gap > 1e-6


@pytest.mark.parametrize("name", ["tall", "wide"])
def test_sparse_rows_give_the_same(name):
    Z, y, c = problems()[name]
    Z = Z * (np.abs(Z) > 0.7)
    dense, spread = logistic_dual(Z, y, c, tol=TOL), logistic_dual(sparse.csr_array(Z), y, c, tol=TOL)
    np.testing.assert_allclose(spread.w, dense.w, atol=1e-6 * np.abs(dense.w).max())


@given(st.integers(1, 60), st.integers(1, 30), st.integers(0, 2**32 - 1), st.floats(-6, 1), st.floats(0, 2))
@settings(deadline=None, max_examples=60)
def test_random_problems(n, m, seed, exponent, spread):
    Z, y = rows(n, m, seed)
    Z *= np.exp(spread * np.random.default_rng(seed).standard_normal((n, 1)))
    fit = logistic_dual(Z, y, 10.0**exponent, tol=1e-9)
    assert fit.converged
    assert bound(Z, y, fit.alpha, 10.0**exponent) >= fit.primal * (1 - 1e-8)


def scaled_objective(t, scores, square, c):
    return np.logaddexp(0.0, -t * scores).mean() + c * t * t * square


@given(st.integers(1, 30), st.integers(0, 2**32 - 1), st.floats(-3, 3), st.floats(-6, 3), st.floats(-1, 2))
@settings(deadline=None, max_examples=100)
def test_best_length_agrees_with_a_search(n, seed, length, exponent, shift):
    scores = 10.0**length * (np.random.default_rng(seed).standard_normal(n) + shift)
    square, c = 10.0 ** (2 * length), 10.0**exponent
    t, value = best_scale(scores, square, c)
    assert t >= 0
    assert value == pytest.approx(scaled_objective(t, scores, square, c), rel=1e-12)
    top = 2 / np.sqrt(c * square)  # beyond it the square alone exceeds f(0) = log 2
    solution = minimize_scalar(
        scaled_objective, args=(scores, square, c), bounds=(0, top), options={"xatol": 1e-12 * top}
    )
    assert value <= min(solution.fun, np.log(2)) * (1 + 1e-12)


@given(st.integers(1, 20), st.integers(0, 2**32 - 1), st.floats(-5, 2), st.floats(0, 1))
@settings(deadline=None, max_examples=100)
def test_dual_scale_stays_in_the_box_and_bounds_the_optimum(n, seed, exponent, fill):
    rng = np.random.default_rng(seed)
    X, y, c = rng.standard_normal((n, 4)), rng.choice([-1.0, 1.0], n), 10.0**exponent
    most = 1 / (2 * c * n)
    alpha = most * np.minimum(rng.random(n) + fill, 1.0)
    w = X.T @ (y * alpha)
    t, value = best_dual_scale(alpha, float(w @ w), c)
    assert t * alpha.max() <= most
    assert value == pytest.approx(bound(X, y, t * alpha, c), rel=1e-9)
    assert value <= logistic_dual(X, y, c, tol=TOL).primal * (1 + 1e-9)
    others = [bound(X, y, s * alpha, c) for s in np.linspace(0, most / alpha.max(), 200)]
    assert value >= max(others) * (1 - 1e-9)


@pytest.mark.parametrize(("alpha", "expected"), [([0.0, 0.0], 0.0), ([1.0, 0.0], 0.5)])
def test_dual_variables_of_zero(alpha, expected):
    """Of c = 1/4 and two rows, C = 1: without an image the entropy of one row at 1/2, log 2, is all there is."""
    assert best_dual_scale(np.array(alpha), 0.0, 0.25) == pytest.approx((expected, expected * np.log(2)))
