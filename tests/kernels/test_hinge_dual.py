"""The SVM with its dual variables: against two other solvers, closed forms, and the optimality conditions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import lsq_linear
from sklearn.svm import SVC

from provsel.kernels import hinge_dual as module
from provsel.kernels.hinge_dual import hinge_dual

TOL = 1e-9


def rows(n, m, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, m))
    y = np.where(Z @ rng.standard_normal(m) + noise * np.sqrt(m) * rng.standard_normal(n) > 0, 1.0, -1.0)
    return Z, y


def objective(Z, y, w, c):
    return np.maximum(0.0, 1.0 - y * (Z @ w)).mean() + c * w @ w


def violations(Z, y, c, w, alpha):
    """Return how far (w, alpha) is from optimal: representation, box, complementary slackness, from the rows alone."""
    C, slack = 1 / (2 * c * y.size), 1 - y * (Z @ w)
    return {
        "representation": c * np.sum((w - Z.T @ (y * alpha)) ** 2),
        "box": max(-alpha.min(), alpha.max() - C, 0.0) / C,
        # alpha < C asks for a margin of at least 1, alpha > 0 for one of at most 1
        "slackness": float(((C - alpha) * np.maximum(slack, 0) + alpha * np.maximum(-slack, 0)).sum() / (C * y.size)),
    }


def problems():
    Z, y = rows(120, 15)
    wide, labels = rows(40, 200)
    uneven = np.exp(2 * np.random.default_rng(1).standard_normal((120, 1)))
    return {
        "tall": (Z, y, 1e-2),
        "tall, weak": (Z, y, 1e-4),
        "wide": (wide, labels, 1e-3),
        "separable": (*rows(100, 20, noise=0.0), 1e-5),
        "hard margin nearly": (wide, labels, 1e-7),
        "strong: all at C": (Z, y, 10.0),
        "duplicates": (np.repeat(Z, 3, axis=0), np.repeat(y, 3), 1e-3),
        "twins of other label": (np.vstack([Z, Z[:30]]), np.append(y, -y[:30]), 1e-3),
        "rank one": (np.outer(Z[:, 0], np.ones(5)), y, 1e-3),
        "zero rows and columns": (Z * (np.arange(120)[:, None] % 7 > 0) * (np.arange(15) > 2), y, 1e-3),
        "uneven lengths": (uneven * Z, y, 1e-4),
        "tiny": (1e-6 * Z, y, 1e-14),
        "huge": (1e6 * Z, y, 1e10),
        "one class": (Z, np.ones(120), 1e-2),
    }


@pytest.fixture(params=problems(), ids=lambda name: name.replace(" ", "_"))
def problem(request):
    return problems()[request.param]


def test_is_certified(problem):
    Z, y, c = problem
    # hinges of margins about 1 are known to eps: of an objective of 2e-8, as nearly without loss, that is 1e-8
    tol = max(TOL, 2 * np.finfo(float).eps / hinge_dual(Z, y, c).primal)
    assert tol < 2e-8
    fit = hinge_dual(Z, y, c, tol=tol)
    assert fit.converged
    assert fit.gap <= tol
    found = violations(Z, y, c, fit.w, fit.alpha)
    assert found["representation"] <= max(fit.primal - fit.dual, 1e-14 * fit.primal)
    assert found["box"] == 0.0
    assert found["slackness"] < 10 * tol
    assert fit.primal == pytest.approx(objective(Z, y, fit.w, c), rel=max(1e-10, tol))
    assert fit.dual == pytest.approx(2 * c * (fit.alpha.sum() - 0.5 * fit.w @ fit.w), rel=1e-8)
    assert fit.dual <= fit.primal * (1 + 1e-12)


def test_certificate_refuses_wrong_solutions():
    """Negative control: each condition notices its own violation, and the gap all of them."""
    Z, y, c = problems()["tall"]
    fit = hinge_dual(Z, y, c, tol=TOL)
    C = 1 / (2 * c * y.size)
    assert violations(Z, y, c, 1.01 * fit.w, fit.alpha)["representation"] > 1e3 * TOL
    assert violations(Z, y, c, 1.01 * fit.w, 1.01 * fit.alpha)["box"] > 1e-3
    for alpha in (0.99 * fit.alpha, np.full(y.size, C), np.where(fit.alpha == 0, C, 0.0)):
        w = Z.T @ (y * alpha)
        assert violations(Z, y, c, w, alpha)["slackness"] > 1e-5
        assert objective(Z, y, w, c) - 2 * c * (alpha.sum() - 0.5 * w @ w) > 1e-5 * fit.primal


@pytest.mark.parametrize("name", ["tall", "tall, weak", "wide", "duplicates", "separable"])
def test_agrees_with_libsvm(name):
    """LIBSVM has an intercept: it is 0 for every row and its mirror image (-z, -y), and each loss counts twice."""
    Z, y, c = problems()[name]
    svm = SVC(kernel="linear", C=1 / (4 * c * y.size), tol=1e-9).fit(np.vstack([Z, -Z]), np.append(y, -y))
    assert svm.intercept_[0] == pytest.approx(0.0, abs=1e-6)
    fit = hinge_dual(Z, y, c, tol=TOL)
    np.testing.assert_allclose(fit.w, svm.coef_[0], atol=1e-4 * np.abs(fit.w).max())


def test_dual_variables_agree_with_least_squares_where_they_are_unique():
    """With fewer rows than columns alpha is unique: the box-constrained least squares of Lawson and Hanson's kind."""
    Z, y, c = problems()["wide"]
    C = 1 / (2 * c * y.size)
    A = y[:, None] * Z
    root = np.linalg.cholesky(A @ A.T)  # |root^T alpha - root^-1 1|^2 / 2 is the dual up to a constant
    oracle = lsq_linear(root.T, np.linalg.solve(root, np.ones(y.size)), bounds=(0, C), tol=1e-14).x
    np.testing.assert_allclose(hinge_dual(Z, y, c, tol=1e-12).alpha, oracle, atol=1e-6 * oracle.max())


@pytest.mark.parametrize("name", ["tall", "wide"])
def test_sparse_and_conjugate_gradients_give_the_same(name, monkeypatch):
    Z, y, c = problems()[name]
    Z = Z * (np.abs(Z) > 0.7)
    dense = hinge_dual(Z, y, c, tol=TOL)
    spread = hinge_dual(sparse.csr_array(Z), y, c, tol=TOL)
    monkeypatch.setattr(module, "MAX_ORDER", 0)
    iterative = [hinge_dual(form, y, c, tol=TOL) for form in (Z, sparse.csr_array(Z))]
    for fit in (spread, *iterative):
        assert fit.converged
        assert fit.primal == pytest.approx(dense.primal, rel=2 * TOL)


def test_an_early_stop_says_so():
    Z, y, c = problems()["tall, weak"]
    fit = hinge_dual(Z, y, c, tol=TOL, max_iter=3)
    assert not fit.converged
    assert fit.n_iter == 3
    assert fit.gap > TOL
    optimum = hinge_dual(Z, y, c, tol=TOL).primal
    assert fit.dual <= optimum <= fit.primal
    assert 0 <= fit.alpha.min() <= fit.alpha.max() <= 1 / (2 * c * y.size)


@given(st.integers(1, 60), st.integers(1, 30), st.integers(0, 2**32 - 1), st.floats(-6, 1), st.floats(0, 2))
@settings(deadline=None, max_examples=60)
def test_random_problems(n, m, seed, exponent, spread):
    Z, y = rows(n, m, seed)
    Z *= np.exp(spread * np.random.default_rng(seed).standard_normal((n, 1)))
    c = 10.0**exponent
    fit = hinge_dual(Z, y, c, tol=1e-7)
    assert fit.converged
    assert violations(Z, y, c, fit.w, fit.alpha)["slackness"] < 1e-6


@given(st.integers(2, 14), st.integers(1, 4), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=60)
def test_degenerate_integer_rows(n, m, seed):
    """Small integers give duplicates, dependent rows and ties all the time."""
    rng = np.random.default_rng(seed)
    Z, y = rng.integers(-2, 3, (n, m)).astype(float), rng.choice([-1.0, 1.0], n)
    assert hinge_dual(Z, y, 1e-4, tol=1e-8).converged
