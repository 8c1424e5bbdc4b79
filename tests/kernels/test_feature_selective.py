"""The feature-selective SVM against a quadratic program, grids and linear programs, and its pieces against formulas."""

import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import linprog, minimize

from provsel.kernels.feature_selective import (
    feature_selective_svm,
    kernel_weight_penalty,
    kernel_weights,
)
from provsel.kernels.feature_selective_compressed import feature_selective_compressed
from provsel.kernels.feature_selective_printed import (
    feature_selective_printed,
    printed_penalty,
    printed_weights,
)
from provsel.kernels.gaussian_blocks import GaussianBlocks
from provsel.kernels.hinge_barrier import Parts, hinge_barrier
from provsel.kernels.hinge_dual import hinge_dual

MU = np.geomspace(1e-7, 1, 100_001)


def rows(n, m, seed=0, noise=0.5, informative=4):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, m))
    y = np.where(
        X[:, :informative].sum(axis=1) + noise * rng.standard_normal(n) > 0, 1.0, -1.0
    )
    return X, y


def objective(X, y, c1, c2, v, power=1):
    """L + the penalty, minimised over mu on a grid for each feature: knows no closed form but that mu = 0 at v = 0.

    The printed form has mu to the power of two.
    """
    penalties = [(c2 * value**2 / MU**power + c1 * MU).min() for value in v[v != 0]]
    return np.maximum(0, 1 - y * (X @ v)).mean() + sum(penalties)


def quadratic_program(X, y, c1, c2):
    """SLSQP on the primal with v = p - q and slacks, whose cost is piecewise quadratic: no dual, no barrier, no mu."""
    n, m = X.shape
    corner = np.sqrt(c1 / c2)
    slope = 2 * np.sqrt(c1 * c2)
    signed = y[:, None] * X
    A = np.hstack([signed, -signed, np.eye(n)])

    def over(z):
        return np.maximum(z[: 2 * m] - corner, 0)

    solution = minimize(
        lambda z: slope * z[: 2 * m].sum() + c2 * over(z) @ over(z) + z[2 * m :].mean(),
        np.append(np.zeros(2 * m), np.ones(n)),
        jac=lambda z: np.append(slope + 2 * c2 * over(z), np.full(n, 1 / n)),
        bounds=[(0, None)] * (2 * m + n),
        constraints={"type": "ineq", "fun": lambda z: A @ z - 1, "jac": lambda z: A},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    # "positive directional derivative": no step is left in which rounding would not be
    # larger than the gain
    assert solution.success or solution.status == 8
    assert (A @ solution.x).min() >= 1 - 1e-9
    return solution.fun


def cutting_planes(X, y, c1, c2, rounds=40):
    """Least and largest value that the optimum can have: linear programs by HiGHS, with tangents of the penalty added.

    The penalty of v_j is convex and lies above each of its tangents, so that a program
    is a lower bound, and the value of its solution an upper one. No interior point
    method, no dual, no mu.
    """
    n, m = X.shape
    corner = np.sqrt(c1 / c2)
    slope = 2 * np.sqrt(c1 * c2)
    signed = sparse.csr_array(y[:, None] * X)
    # p, q of shape (m,) with v = p - q, the slacks, and t of shape (m,), which is the
    # penalty beyond the linear one
    rows = [
        sparse.hstack([-signed, signed, -sparse.eye_array(n), sparse.csr_array((n, m))])
    ]
    right = [-np.ones(n)]
    low = 0.0
    high = np.inf
    cost = np.concatenate([np.full(2 * m, slope), np.full(n, 1 / n), np.ones(m)])
    for _ in range(rounds):
        solution = linprog(
            cost, sparse.vstack(rows), np.concatenate(right), method="highs"
        )
        size = solution.x[:m] + solution.x[m : 2 * m]
        low = max(low, solution.fun)
        high = min(
            high,
            objective_by_parts(X, y, c1, c2, solution.x[:m] - solution.x[m : 2 * m]),
        )
        if high - low <= 1e-7 * high:
            break
        over = np.flatnonzero(size > corner)
        tangent = 2 * c2 * (size[over] - corner)  # of c2 (|v| - corner)^2
        place = sparse.csr_array(
            (np.ones(over.size), (np.arange(over.size), over)), shape=(over.size, m)
        )
        steep = sparse.diags_array(tangent) @ place
        rows.append(
            sparse.hstack([steep, steep, sparse.csr_array((over.size, n)), -place])
        )
        right.append(tangent * size[over] - c2 * (size[over] - corner) ** 2)
    return low, high


def objective_by_parts(X, y, c1, c2, v):
    """L + 2 sqrt(c1 c2) |v| + c2 (|v| - corner)^2 beyond the corner."""
    over = np.maximum(np.abs(v) - np.sqrt(c1 / c2), 0)
    return (
        np.maximum(0, 1 - y * (X @ v)).mean()
        + 2 * np.sqrt(c1 * c2) * np.abs(v).sum()
        + c2 * over @ over
    )


def problems():
    X, y = rows(60, 12)
    wide, labels = rows(30, 80)
    counts = np.random.default_rng(2).poisson(0.4, (40, 60)).astype(float) + (
        labels[:1] > 9
    )
    spam = np.where(counts[:, :3].sum(axis=1) > 1, 1.0, -1.0)
    return {
        "tall": (X, y, 1e-2, 1e-2),
        "tall, weak": (X, y, 1e-3, 1e-4),
        "wide": (wide, labels, 1e-2, 1e-2),
        "linear part only": (wide, labels, 1e2, 1e-6),
        "quadratic part only": (X, y, 1e-6, 1e-1),
        "both parts": (wide, labels, 1e-3, 5e-2),
        "counts": (counts, spam, 1e-2, 1e-2),
        "duplicates": (np.hstack([X, X[:, :3]]), y, 1e-2, 1e-2),
        "duplicate rows": (np.vstack([X, X]), np.append(y, y), 1e-2, 1e-3),
        "twins of other label": (
            np.vstack([X, X[:20]]),
            np.append(y, -y[:20]),
            1e-3,
            1e-3,
        ),
        "zero rows and columns": (
            X * (np.arange(60)[:, None] % 5 > 0) * (np.arange(12) > 1),
            y,
            1e-2,
            1e-3,
        ),
        "one class": (X + 0.5, np.ones(60), 1e-2, 1e-2),
    }


def test_penalty_is_the_least_over_mu():
    for c1, c2 in ((0.3, 0.2), (1e-3, 4.0), (2.0, 1e-3)):
        v = np.append(
            0.0, np.sqrt(c1 / c2) * np.array([1e-3, 0.2, -0.7, 1.0, -1.5, 40.0])
        )
        for penalty, weights, power in (
            (kernel_weight_penalty, kernel_weights, 1),
            (printed_penalty, printed_weights, 2),
        ):
            values = penalty(v, c1, c2)
            mu = weights(v, c1, c2)
            least = np.array(
                [0.0, *((c2 * value**2 / MU**power + c1 * MU).min() for value in v[1:])]
            )
            assert_allclose(values, least, rtol=1e-5)
            assert_allclose(
                values[1:], (c2 * v**2)[1:] / mu[1:] ** power + c1 * mu[1:], rtol=1e-12
            )
            assert mu[0] == 0.0
            assert ((mu >= 0) & (mu <= 1)).all()
        # negative control: each penalty is not the other, and the printed one is not
        # convex
        assert (
            printed_penalty(v[1:4], c1, c2)
            > 1.01 * kernel_weight_penalty(v[1:4], c1, c2)
        ).all()
        assert printed_penalty(v[1:2] / 2, c1, c2) > printed_penalty(v[1:2], c1, c2) / 2


@pytest.mark.parametrize("name", problems())
def test_optimum_is_that_of_two_other_solvers_and_certified(name):
    X, y, c1, c2 = problems()[name]
    fit = feature_selective_svm(X, y, c1, c2)
    assert fit.gap <= 1e-6
    assert fit.objective == pytest.approx(quadratic_program(X, y, c1, c2), rel=1e-6)
    assert fit.objective == pytest.approx(objective(X, y, c1, c2, fit.v), rel=1e-6)
    # the conjugate of the penalty, as the largest value over a grid of v
    assert 0 <= fit.alpha.min() <= fit.alpha.max() <= (1 + 1e-12) / y.size
    u = X.T @ (y * fit.alpha)
    v = np.linspace(-3, 3, 60_001) * max(np.sqrt(c1 / c2), np.abs(u).max() / (2 * c2))
    conjugates = [(value * v - kernel_weight_penalty(v, c1, c2)).max() for value in u]
    assert fit.dual == pytest.approx(fit.alpha.sum() - sum(conjugates), rel=1e-6)
    assert fit.dual <= fit.objective * (1 + 1e-12)
    assert (fit.v[np.abs(u) < 2 * np.sqrt(c1 * c2) * (1 - 1e-4)] == 0).all()
    if name == "quadratic part only":  # tangents of a parabola come closer slowly
        return
    low, high = cutting_planes(X, y, c1, c2)
    assert high - low <= (1e-5 if name == "both parts" else 1e-6) * high
    assert low * (1 - 1e-7) <= fit.objective <= high * (1 + 1e-6)
    # negative control: the bounds know c1
    assert (
        feature_selective_svm(X, y, 1.1 * c1, c2).objective > high * (1 + 1e-4)
        or not fit.v.any()
    )


def test_a_wrong_solution_has_a_gap():
    """Negative control: neither the oracle nor the certificate takes a vector near the optimum for it."""
    X, y, c1, c2 = problems()["both parts"]
    fit = feature_selective_svm(X, y, c1, c2)
    assert objective(X, y, c1, c2, 1.02 * fit.v) > (1 + 1e-5) * fit.objective
    least = np.argmin(np.where(fit.v == 0, np.inf, np.abs(fit.v)))
    assert (
        objective(X, y, c1, c2, np.where(np.arange(fit.v.size) == least, 0, fit.v))
        > (1 + 2e-6) * fit.objective
    )
    for prices in ({"c1": 1.1 * c1, "c2": c2}, {"c1": c1, "c2": 1.1 * c2}):
        assert abs(quadratic_program(X, y, **prices) / fit.objective - 1) > 1e-3


def test_many_columns_come_into_play_in_rounds():
    X, y = rows(80, 3000, informative=30)
    c1 = 1e-3
    c2 = 1e-3
    fit = feature_selective_svm(X, y, c1, c2)
    assert fit.gap <= 1e-6
    kept = np.flatnonzero(fit.v)
    assert 20 < kept.size < 500
    again = feature_selective_svm(X[:, kept], y, c1, c2)
    assert again.objective == pytest.approx(fit.objective, rel=1e-6)
    assert feature_selective_svm(
        X[:, kept[1:]], y, c1, c2
    ).objective > fit.objective * (1 + 1e-6)


@pytest.mark.parametrize("scale", [1e-6, 1e-2, 1e3, 1e7])
def test_units_do_not_matter(scale):
    """Columns s times as long with c2 s^2 times as dear are the same problem; also where margins need tiny v."""
    X, y, c1, c2 = problems()["wide"]
    fit = feature_selective_svm(X, y, c1, c2)
    scaled = feature_selective_svm(scale * X, y, c1, c2 * scale**2)
    assert_allclose(scale * scaled.v, fit.v, atol=1e-5)
    assert scaled.objective == pytest.approx(fit.objective, rel=2e-6)
    long = feature_selective_svm(scale * X, y, c1 * scale**2, c2)
    assert long.gap <= 1e-6


def test_free_features_are_the_plain_svm():
    X, y, _, c2 = problems()["wide"]
    plain = hinge_dual(X, y, c2, tol=1e-9)
    fit = feature_selective_svm(X, y, 1e-12, c2, tol=1e-8)
    assert fit.objective == pytest.approx(plain.primal, rel=1e-6)
    assert_allclose(fit.v, plain.w, atol=1e-3 * np.abs(plain.w).max())
    # negative control
    assert feature_selective_svm(X, y, 1e-4, c2).objective > plain.primal * (1 + 1e-4)


@given(
    st.integers(2, 40),
    st.integers(1, 40),
    st.integers(0, 2**32 - 1),
    st.floats(-6, 1),
    st.floats(-6, 1),
)
@settings(deadline=None, max_examples=60)
def test_random_problems(n, m, seed, first, second):
    X, y = rows(n, m, seed, noise=2.0)
    assert feature_selective_svm(X, y, 10.0**first, 10.0**second).gap <= 1e-6


@given(st.integers(2, 14), st.integers(1, 6), st.integers(0, 2**32 - 1))
@example(3, 6, 1282)  # at the optimum small weights have |u| = 1 to the last digit
@settings(deadline=None, max_examples=60)
def test_degenerate_integer_rows(n, m, seed):
    """Small integers give duplicates, dependent rows and ties all the time."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n, m)).astype(float)
    y = rng.choice([-1.0, 1.0], n)
    assert feature_selective_svm(X, y, 1e-2, 1e-2).gap <= 1e-6


def test_barrier_ends_without_a_word_where_numbers_do():
    parts = Parts.of([1, -1], [1e-3, 1e-3], [0.0, 0.0], [1.0, 1.0])
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y = np.where(rng.standard_normal(20) > 0, 1.0, -1.0)
        X = rng.standard_normal((20, 6))
        X[:, 0] += 3 * y
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            points = list(hinge_barrier(y[:, None] * X, 1.0, parts))
        assert len(points) < 200
        assert np.isfinite(points[-1].x).all()
        assert np.isfinite(points[-1].alpha).all()


class Identity:
    """In the place of Lambda, so that the compressed problem is the other one."""

    def __init__(self, m):
        self.n_components = m

    def project(self, X):
        return X

    def expand(self, w):
        return w


def starts(m, count=4):
    return [np.ones(m), *np.random.default_rng(1).random((count - 1, m))]


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("tall", np.asarray),
        ("wide", sparse.csr_array),
        ("counts", np.asarray),
        ("duplicates", np.asarray),
    ],
)
def test_printed_form_descends_to_a_fixed_point(name, form):
    X, y, c1, c2 = problems()[name]
    fit = feature_selective_printed(form(X), y, c1, c2, starts(X.shape[1], 2))
    assert fit.converged
    assert np.diff(fit.values).max() <= 1e-12
    assert fit.objective == min(fit.objectives) == fit.values[-1]
    assert_array_equal(fit.v, fit.mu * fit.w)
    assert_allclose(fit.mu, printed_weights(fit.v, c1, c2), rtol=1e-9)
    assert fit.objective == pytest.approx(
        objective(X, y, c1, c2, fit.v, power=2), rel=1e-5
    )
    # its penalty is the larger one, so that the convex optimum is a lower bound
    assert fit.objective >= feature_selective_svm(X, y, c1, c2).dual
    kept = np.flatnonzero(fit.mu)
    if kept.size:
        svm = hinge_dual(X[:, kept] * fit.mu[kept], y, c2, tol=1e-9)
        assert fit.objective == pytest.approx(svm.primal + c1 * fit.mu.sum(), rel=1e-5)


def test_printed_form_finds_the_least_value_on_a_grid():
    X, y = rows(12, 2, informative=2)
    c1 = 0.05
    c2 = 0.02
    line = np.linspace(-4, 4, 401)
    v = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    penalties = printed_penalty(v[:, 0], c1, c2) + printed_penalty(v[:, 1], c1, c2)
    least = (np.maximum(0, 1 - y * (v @ X.T)).mean(axis=1) + penalties).min()
    fit = feature_selective_printed(X, y, c1, c2, starts(2, 12))
    assert fit.v.any() > 0
    assert least * (1 - 1e-3) <= fit.objective <= least * (1 + 1e-9)
    identity = feature_selective_compressed(X, y, c1, c2, Identity(2), starts(2, 12))
    assert least * (1 - 1e-3) <= identity.objective <= least * (1 + 1e-2)


@pytest.mark.parametrize(
    ("as_printed", "form"), [(True, np.asarray), (False, sparse.csr_array)]
)
def test_compressed_descends(form, as_printed):
    X, y, c1, c2 = problems()["wide"]
    c1 = 1e-3
    projection = GaussianBlocks(25, 80, variance=1 / 25, key=3)
    fit = feature_selective_compressed(
        form(X), y, c1, c2, projection, starts(80, 2), as_printed=as_printed
    )
    assert np.diff(fit.values).max() <= 1e-9
    factors = fit.mu if as_printed else np.sqrt(fit.mu)
    assert_allclose(
        fit.v, factors * (projection.dense().T @ fit.w), rtol=1e-9, atol=1e-15
    )
    recomputed = (
        np.maximum(0, 1 - y * (X @ fit.v)).mean()
        + c2 * fit.w @ fit.w
        + c1 * fit.mu.sum()
    )
    assert fit.objective == pytest.approx(recomputed, rel=1e-12)
    assert ((fit.mu >= 0) & (fit.mu <= 1)).all()
    assert np.mean(np.sign(X @ fit.v) == y) > 0.9
    # neither the SVM alone nor the factors alone can lower it by much
    svm = hinge_dual((X * factors) @ projection.dense().T, y, c2, tol=1e-9)
    assert fit.objective <= svm.primal + c1 * fit.mu.sum() + 1e-5
    kept = np.count_nonzero(fit.mu)
    # linear programs have sparse solutions, the other does not
    assert kept < 40 if as_printed else kept > 20
