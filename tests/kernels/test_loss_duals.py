"""What the hinge and the logistic loss promise alike: optimal dual variables, and the best lengths of vectors."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize_scalar
from scipy.special import xlogy
from test_hinge_dual import problems, rows

from provsel.kernels import hinge_scale, logistic_scale
from provsel.kernels.hinge_dual import hinge_dual
from provsel.kernels.logistic_dual import logistic_dual


def entropy(alpha, C):
    return xlogy(C, C) - xlogy(alpha, alpha) - xlogy(C - alpha, C - alpha)


HINGE = SimpleNamespace(
    solve=hinge_dual,
    of_margin=lambda margin: np.maximum(0.0, 1.0 - margin),
    conjugate=lambda alpha, C: alpha,
    best_scale=hinge_scale.best_scale,
    best_dual_scale=hinge_scale.best_dual_scale,
)
LOGISTIC = SimpleNamespace(
    solve=logistic_dual,
    of_margin=lambda margin: np.logaddexp(0.0, -margin),
    conjugate=entropy,
    best_scale=logistic_scale.best_scale,
    best_dual_scale=logistic_scale.best_dual_scale,
)
both = pytest.mark.parametrize("loss", [HINGE, LOGISTIC], ids=["hinge", "logistic"])


def bound(loss, Z, y, alpha, c):
    """Return the dual objective: a lower bound on the optimum for any alpha in the box."""
    C = 1 / (2 * c * y.size)
    image = Z.T @ (y * alpha)
    return 2 * c * (loss.conjugate(alpha, C).sum() - 0.5 * image @ image)


@both
@pytest.mark.parametrize("name", ["tall", "wide"])
def test_sparse_rows_give_the_same(loss, name):
    Z, y, c = problems()[name]
    Z = Z * (np.abs(Z) > 0.7)
    dense = loss.solve(Z, y, c, tol=1e-9)
    spread = loss.solve(sparse.csr_array(Z), y, c, tol=1e-9)
    assert spread.converged
    assert spread.primal == pytest.approx(dense.primal, rel=2e-9)
    np.testing.assert_allclose(spread.w, dense.w, atol=1e-4 * np.abs(dense.w).max())


@both
@given(
    st.integers(1, 60),
    st.integers(1, 30),
    st.integers(0, 2**32 - 1),
    st.floats(-6, 1),
    st.floats(0, 2),
)
@settings(deadline=None, max_examples=60)
def test_random_problems(loss, n, m, seed, exponent, spread):
    Z, y = rows(n, m, seed)
    Z *= np.exp(spread * np.random.default_rng(seed).standard_normal((n, 1)))
    c = 10.0**exponent
    fit = loss.solve(Z, y, c, tol=1e-8)
    assert fit.converged
    assert 0 <= fit.alpha.min() <= fit.alpha.max() <= (1 + 1e-12) / (2 * c * n)
    assert bound(loss, Z, y, fit.alpha, c) >= fit.primal * (1 - 1e-7)


def scaled_objective(t, loss, scores, square, c):
    return loss.of_margin(t * scores).mean() + c * t * t * square


@both
@given(
    st.integers(1, 30),
    st.integers(0, 2**32 - 1),
    st.floats(-3, 3),
    st.floats(-6, 3),
    st.floats(-1, 2),
)
@settings(deadline=None, max_examples=100)
def test_the_best_length_agrees_with_a_search(loss, n, seed, length, exponent, shift):
    scores = 10.0**length * (np.random.default_rng(seed).standard_normal(n) + shift)
    square = 10.0 ** (2 * length)
    c = 10.0**exponent
    t, value = loss.best_scale(scores, square, c)
    assert t >= 0
    assert value == pytest.approx(
        scaled_objective(t, loss, scores, square, c), rel=1e-12
    )
    top = 2 / np.sqrt(c * square)  # beyond it the square alone exceeds f(0)
    searched = minimize_scalar(
        scaled_objective,
        args=(loss, scores, square, c),
        bounds=(0, top),
        options={"xatol": 1e-12 * top},
    )
    kinks = 1 / scores[scores > 0]
    lengths = [
        0.0,
        *np.linspace(0, top, 200),
        *kinks,
        *(kinks * (1 + 1e-6)),
        t * 0.999,
        t * 1.001,
    ]
    least = min(scaled_objective(at, loss, scores, square, c) for at in lengths)
    assert value <= min(searched.fun, least) * (1 + 1e-9)


@both
@given(st.integers(1, 20), st.integers(0, 2**32 - 1), st.floats(-5, 2), st.floats(0, 1))
@settings(deadline=None, max_examples=100)
def test_the_dual_length_stays_in_the_box_and_bounds_the_optimum(
    loss, n, seed, exponent, fill
):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    y = rng.choice([-1.0, 1.0], n)
    c = 10.0**exponent
    C = 1 / (2 * c * n)
    alpha = C * np.minimum(rng.random(n) + fill, 1.0)
    w = X.T @ (y * alpha)
    t, value = loss.best_dual_scale(alpha, float(w @ w), c)
    assert t * alpha.max() <= C * (1 + 1e-12)
    assert value == pytest.approx(
        bound(loss, X, y, np.minimum(t * alpha, C), c), rel=1e-9, abs=1e-300
    )
    assert value <= loss.solve(X, y, c, tol=1e-9).primal * (1 + 1e-9)
    lengths = np.linspace(0, C / alpha.max(), 200)
    assert value >= max(
        bound(loss, X, y, np.minimum(at * alpha, C), c) for at in lengths
    ) * (1 - 1e-9)
