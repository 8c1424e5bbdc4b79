"""Hard margins against closed forms, LIBSVM, a linear program for separability, and their own certificate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import linprog
from sklearn.svm import SVC

from provsel.kernels.hard_margin import hard_margin

TOL = 1e-8


def two_classes(n, d, shift=1.0, seed=7):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    return rng.standard_normal((n, d)) + shift * y[:, None], y


def text_like(seed, n=90, d=1500):
    """Counts of rare words in documents whose lengths differ by a factor of 100, a few of them twice or empty."""
    rng = np.random.default_rng(seed)
    X = rng.poisson(
        np.exp(1.2 * rng.standard_normal((n, 1))) * rng.pareto(1.5, d) * 0.05
    ).astype(float)
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    X[0] = 0
    X[[2, 4]] = X[6]
    return X, y


def separable(X, y):
    """Ask a linear program for (w, b) with y_i (w.x_i + b) >= 1."""
    A = -y[:, None] * np.column_stack([X, np.ones(len(y))])
    return (
        linprog(
            np.zeros(A.shape[1]), A_ub=A, b_ub=-np.ones(len(y)), bounds=(None, None)
        ).status
        == 0
    )


def certified_gap(X, y, alpha, intercept, squared_norm):
    """Return the relative gap of the squared margins, from the rows alone; infinite where it is no solution."""
    if alpha.min() < 0 or abs(y @ alpha) > 1e-9 * alpha.sum():
        return np.inf
    w = (alpha * y) @ X
    dual = 2 * alpha.sum() - w @ w
    if abs(squared_norm - dual) > 1e-7 * dual:
        return np.inf
    margin = max((y * (X @ w + intercept)).min(), 0.0) / np.linalg.norm(w)
    return 1 - margin**2 * dual


def problems():
    rng = np.random.default_rng(3)
    thin = rng.standard_normal((100, 10))
    shifted, y = two_classes(80, 100)
    dependent = shifted[:, :3] @ rng.standard_normal((3, 30)) + 3 * y[:, None]
    return {
        "more columns than rows": (shifted, y),
        "more rows than columns": two_classes(120, 6, shift=3.0),
        "thin margin": (thin, np.sign(thin @ rng.standard_normal(10))),
        "far from the origin": (shifted + 1e3, y),
        "dependent rows": (dependent, y),
        "duplicates": (np.repeat(shifted, 3, axis=0), np.repeat(y, 3)),
        "long and short rows": (shifted * np.exp(rng.standard_normal((80, 1))), y),
        "tiny": (1e-6 * shifted, y),
        "huge": (1e6 * shifted, y),
        "one against all": (shifted, np.where(np.arange(80) == 5, 1.0, -1.0)),
        "text": text_like(0),
        "more text": text_like(1),
    }


@pytest.mark.parametrize("problem", problems().values(), ids=problems().keys())
def test_certificate_holds(problem):
    X, y = problem
    fit = hard_margin(X @ X.T, y)
    assert fit.separable
    assert fit.gap <= TOL
    assert certified_gap(X, y, fit.alpha, fit.intercept, fit.squared_norm) <= TOL
    assert fit.squared_norm == pytest.approx(fit.alpha.sum(), rel=1e-12)
    assert (y * ((fit.alpha * y) @ X @ X.T + fit.intercept)).min() >= np.sqrt(
        1 - fit.gap
    ) - 1e-7


def test_certificate_refuses_wrong_solutions():
    X, y = two_classes(40, 60)
    fit = hard_margin(X @ X.T, y)
    assert certified_gap(X, y, fit.alpha, fit.intercept, fit.squared_norm) <= TOL
    assert (
        certified_gap(X, y, fit.alpha, fit.intercept, 1.001 * fit.squared_norm)
        == np.inf
    )
    assert certified_gap(X, y, -fit.alpha, fit.intercept, fit.squared_norm) == np.inf
    assert certified_gap(X, y, fit.alpha, fit.intercept + 0.01, fit.squared_norm) > 1e-3
    even = np.where(y > 0, 1 / (y > 0).sum(), 1 / (y < 0).sum())  # the class means
    even *= 2 / (((even * y) @ X) ** 2).sum()
    assert certified_gap(X, y, even, fit.intercept, even.sum()) > 1e-3


@pytest.mark.parametrize(
    "name",
    [
        "more columns than rows",
        "more rows than columns",
        "duplicates",
        "one against all",
    ],
)
def test_agrees_with_libsvm(name):
    X, y = problems()[name]
    fit = hard_margin(X @ X.T, y)
    svm = SVC(kernel="linear", C=1e8, tol=1e-8).fit(X, y)
    assert fit.squared_norm == pytest.approx((svm.coef_**2).sum(), rel=1e-6)
    np.testing.assert_allclose(
        (fit.alpha * y) @ X, svm.coef_[0], atol=1e-5 * np.linalg.norm(svm.coef_)
    )
    assert fit.intercept == pytest.approx(svm.intercept_[0], abs=1e-5)


@pytest.mark.parametrize(
    ("n_positive", "n_negative"), [(1, 1), (1, 5), (7, 4), (60, 70)]
)
def test_orthonormal_rows(n_positive, n_negative):
    """The nearest points are the class means: squared distance 1 / n_positive + 1 / n_negative."""
    y = np.repeat([1.0, -1.0], [n_positive, n_negative])
    fit = hard_margin(np.eye(y.size), y)
    assert fit.squared_norm == pytest.approx(
        4 / (1 / n_positive + 1 / n_negative), rel=1e-12
    )


def inseparable_sets():
    rng = np.random.default_rng(5)
    X, y = text_like(2)
    twins = X.copy()
    empty = X.copy()
    twins[3] = twins[8]
    empty[[0, 1]] = 0
    same = np.tile(1e4 * rng.standard_normal(6), (9, 1))
    noise = rng.standard_normal((200, 20))
    return {
        "identical rows": (twins, y),
        "empty documents in both classes": (empty, y),
        "exclusive or": (
            np.array([[1.0, 1], [-1, -1], [1, -1], [-1, 1]]),
            np.array([1.0, 1, -1, -1]),
        ),
        "random labels": (noise, np.where(rng.random(200) < 0.5, 1.0, -1.0)),
        "surrounded": (np.vstack([noise, np.zeros(20)]), np.append(np.ones(200), -1.0)),
        "touching": (
            np.array([[0.0], [1.0], [1.0], [2.0]]),
            np.array([-1.0, -1.0, 1.0, 1.0]),
        ),
        "all rows equal": (same, np.where(np.arange(9) % 2, 1.0, -1.0)),
        "all rows zero": (np.zeros((4, 3)), np.array([1.0, -1.0, 1.0, -1.0])),
        "huge": (1e6 * noise, np.where(np.arange(200) % 2, 1.0, -1.0)),
    }


@pytest.mark.parametrize(
    "problem", inseparable_sets().values(), ids=inseparable_sets().keys()
)
def test_inseparable_rows_are_recognized(problem):
    X, y = problem
    fit = hard_margin(X @ X.T, y)
    assert not fit.separable
    assert np.isnan(fit.alpha).all()
    assert fit.alpha.shape == y.shape
    assert np.isnan([fit.intercept, fit.squared_norm, fit.gap]).all()


def test_first_guess_does_not_change_the_solution():
    X, y = text_like(5)
    G = X @ X.T
    eye = np.eye(y.size)
    fit = hard_margin(G, y)
    for guess in (
        fit.alpha,
        eye[10] + eye[11],
        np.maximum(y, 0.0),
        np.full(y.size, np.nan),
        np.zeros(y.size),
    ):
        again = hard_margin(G, y, alpha0=guess)
        assert again.gap <= TOL
        np.testing.assert_allclose(again.alpha, fit.alpha, atol=1e-8 * fit.alpha.max())


@given(
    st.tuples(st.integers(2, 14), st.integers(1, 4)).flatmap(
        lambda shape: st.tuples(
            arrays(np.float64, shape, elements=st.integers(-3, 3).map(float)),
            arrays(np.bool_, shape[0] - 2, elements=st.booleans()),
        )
    )
)
@settings(deadline=None, max_examples=80)
def test_degenerate_integer_rows(problem):
    """Small integers give duplicates, dependent rows and touching hulls all the time."""
    X, flags = problem
    y = np.append([1.0, -1.0], np.where(flags, 1.0, -1.0))
    fit = hard_margin(X @ X.T, y)
    assert fit.separable == separable(X, y)
    if fit.separable:
        assert fit.gap <= TOL
        assert certified_gap(X, y, fit.alpha, fit.intercept, fit.squared_norm) <= TOL
