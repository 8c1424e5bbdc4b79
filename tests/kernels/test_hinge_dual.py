"""The SVM with its dual variables, and the best length of a vector: other solvers, searches, optimality conditions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from provsel.certificates.compression import compression_objective
from provsel.kernels.hinge_dual import hinge_dual
from provsel.kernels.hinge_scale import best_dual_scale, best_scale
from provsel.models import HingeSVM
from textbook import libsvm_without_intercept

TOL = 1e-9


def rows(n, m, seed=0, noise=1.0):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, m))
    y = np.where(
        Z @ rng.standard_normal(m) + noise * np.sqrt(m) * rng.standard_normal(n) > 0,
        1.0,
        -1.0,
    )
    return Z, y


def objective(Z, y, w, c):
    return np.maximum(0.0, 1.0 - y * (Z @ w)).mean() + c * w @ w


def violations(Z, y, c, w, alpha):
    """Return how far (w, alpha) is from optimal: representation, box, complementary slackness, from the rows alone."""
    C = 1 / (2 * c * y.size)
    slack = 1 - y * (Z @ w)
    return {
        "representation": c * np.sum((w - Z.T @ (y * alpha)) ** 2),
        "box": max(-alpha.min(), alpha.max() - C, 0.0) / C,
        # alpha < C asks for a margin of at least 1, alpha > 0 for one of at most 1
        "slackness": float(
            ((C - alpha) * np.maximum(slack, 0) + alpha * np.maximum(-slack, 0)).sum()
            / (C * y.size)
        ),
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
        "zero rows and columns": (
            Z * (np.arange(120)[:, None] % 7 > 0) * (np.arange(15) > 2),
            y,
            1e-3,
        ),
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
    # hinges of margins about 1 are known to eps: of an objective of 2e-8, as nearly
    # without loss, that is 1e-8
    tol = max(TOL, 2 * np.finfo(float).eps / hinge_dual(Z, y, c).primal)
    assert tol < 2e-8
    fit = hinge_dual(Z, y, c, tol=tol)
    assert fit.converged
    assert fit.gap <= tol
    excess = violations(Z, y, c, fit.w, fit.alpha)
    assert excess["representation"] <= max(fit.primal - fit.dual, 1e-14 * fit.primal)
    assert excess["box"] == 0.0
    assert excess["slackness"] < 10 * tol
    assert fit.primal == pytest.approx(objective(Z, y, fit.w, c), rel=max(1e-10, tol))
    assert fit.dual == pytest.approx(
        2 * c * (fit.alpha.sum() - 0.5 * fit.w @ fit.w), rel=1e-8
    )
    assert fit.dual <= fit.primal * (1 + 1e-12)


def test_certificate_refuses_wrong_solutions():
    """Negative control: each condition notices its own violation, and the gap all of them."""
    Z, y, c = problems()["tall"]
    fit = hinge_dual(Z, y, c, tol=TOL)
    C = 1 / (2 * c * y.size)
    assert violations(Z, y, c, 1.01 * fit.w, fit.alpha)["representation"] > 1e3 * TOL
    assert violations(Z, y, c, 1.01 * fit.w, 1.01 * fit.alpha)["box"] > 1e-3
    for alpha in (
        0.99 * fit.alpha,
        np.full(y.size, C),
        np.where(fit.alpha == 0, C, 0.0),
    ):
        w = Z.T @ (y * alpha)
        assert violations(Z, y, c, w, alpha)["slackness"] > 1e-5
        assert (
            objective(Z, y, w, c) - 2 * c * (alpha.sum() - 0.5 * w @ w)
            > 1e-5 * fit.primal
        )


@given(st.integers(2, 14), st.integers(1, 4), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=60)
def test_degenerate_integer_rows(n, m, seed):
    """Small integers give duplicates, dependent rows and ties all the time."""
    rng = np.random.default_rng(seed)
    Z = rng.integers(-2, 3, (n, m)).astype(float)
    y = rng.choice([-1.0, 1.0], n)
    assert hinge_dual(Z, y, 1e-4, tol=1e-8).converged


def test_lengths_of_vectors_without_an_image():
    assert best_scale(np.zeros(2), 0.0, 0.5) == (0.0, 1.0)
    assert best_dual_scale(np.zeros(3), 0.0, 0.1) == (0.0, 0.0)
    # C = 2.5: alpha may grow five times
    t, bound = best_dual_scale(np.array([0.5, 0.5]), 0.0, 0.1)
    assert (t, bound) == pytest.approx((5.0, 1.0))


WEIGHT = 1e-3


def labelled_rows(n=200, m=30, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, "spam", "ham")
    X = rng.standard_normal((n, m))
    X[:, :5] += np.where(y == "spam", 0.5, -0.5)[:, None]
    return X, y


@pytest.mark.parametrize(
    "form",
    [np.asarray, sparse.csr_array, sparse.csc_matrix],
    ids=["dense", "csr", "csc"],
)
@pytest.mark.parametrize("shape", [(200, 30), (40, 150)], ids=["tall", "wide"])
def test_is_the_svm_without_intercept(shape, form):
    X, y = labelled_rows(*shape)
    model = HingeSVM(WEIGHT, tol=1e-9).fit(form(X), y)
    theirs = libsvm_without_intercept(X, y, WEIGHT)
    np.testing.assert_allclose(model.coef_[0], theirs, atol=1e-4 * np.abs(theirs).max())
    np.testing.assert_array_equal(
        model.predict(form(X)), np.where(X @ theirs > 0, "spam", "ham")
    )
    assert model.objective_ == pytest.approx(
        compression_objective(X, y, model.coef_[0], WEIGHT), rel=1e-9
    )
    assert model.objective_ == pytest.approx(
        compression_objective(X, y, theirs, WEIGHT), rel=1e-3
    )
    assert (model.coef_.shape, model.intercept_.tolist(), model.dual_coef_.shape) == (
        (1, shape[1]),
        [0.0],
        shape[:1],
    )
