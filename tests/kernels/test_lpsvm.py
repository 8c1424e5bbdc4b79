"""The linear-programming SVM and its selector: the full program by HiGHS, certificates, ties, warnings."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

from provsel.kernels.lpsvm import lpsvm_highs
from provsel.kernels.lpsvm_columns import distinct_columns
from provsel.kernels.lpsvm_newton import lpsvm_newton
from provsel.selectors import LPSVMSelector

SOLVERS = {"highs": lpsvm_highs, "newton": lpsvm_newton}


def labels(n, n_positive):
    return np.where(np.arange(n) < n_positive, 1.0, -1.0)


def gaussian(n, d, shift, n_positive=None, seed=0):
    rng = np.random.default_rng(seed)
    y = labels(n, n // 2 if n_positive is None else n_positive)
    X = rng.standard_normal((n, d))
    X[:, :3] += shift * y[:, None]
    return X, y


def text(seed=0, n=60, d=900):
    rng = np.random.default_rng(seed)
    y = labels(n, n // 2)
    X = rng.poisson(rng.pareto(1.5, d) * 0.04, (n, d)).astype(float)
    X[:, :8] += rng.poisson(0.5, (n, 8)) * (y > 0)[:, None]
    X[:, 500:700] = X[:, 200:400]
    X[3] = 0
    return X, y


def problems():
    return {
        "wide, separable": (*gaussian(40, 300, 1.0), 1.0),
        "wide, cheap slack": (*gaussian(40, 300, 0.5), 0.1),
        "tall, overlapping": (*gaussian(200, 12, 0.4), 1.0),
        "tall, dear slack": (*gaussian(150, 10, 0.7), 10.0),
        "few positive": (*gaussian(80, 120, 1.0, n_positive=7), 1.0),
        "text": (*text(), 1.0),
        "more text": (*text(1), 0.3),
        "small numbers": (1e-3 * gaussian(40, 60, 1.0)[0], labels(40, 20), 1e3),
    }


PROBLEMS = problems()


@pytest.fixture(params=PROBLEMS, ids=lambda name: name.replace(" ", "_"))
def name(request):
    return request.param


def full_program(X, y, nu):
    """The dual as it is printed, all columns, interior point: (optimum, u)."""
    A = y[:, None] * X
    solution = linprog(
        -np.ones(y.size),
        np.vstack([A.T, -A.T]),
        np.ones(2 * X.shape[1]),
        y[None, :],
        [0.0],
        (0, nu),
        "highs-ipm",
    )
    assert solution.status == 0
    return -solution.fun, solution.x


def solve(solver, X, y, nu, **options):
    """Merge columns, solve, and put the weights back in their places."""
    columns = sparse.csc_array(X)
    kept = distinct_columns(columns)
    fit = SOLVERS[solver](
        sparse.csc_array(columns[:, kept].multiply(y[:, None])), y, nu, **options
    )
    w = np.zeros(X.shape[1])
    w[kept] = fit.w
    return w, fit


@cache
def solved(name, solver):
    return solve(solver, *PROBLEMS[name])


@cache
def oracle(name):
    return full_program(*PROBLEMS[name])


@pytest.mark.parametrize("solver", SOLVERS)
def test_solution_is_that_of_the_full_program_and_certified(name, solver):
    X, y, nu = PROBLEMS[name]
    w, fit = solved(name, solver)
    optimum, u = oracle(name)
    assert fit.objective == pytest.approx(optimum, rel=1e-6)
    # the objective is what it says, from the rows alone
    slack = np.maximum(1 - y * (X @ w - fit.gamma), 0)
    assert fit.objective == pytest.approx(np.abs(w).sum() + nu * slack.sum(), rel=1e-12)
    # feasible for the dual on all columns, also those that were merged away, and as
    # good as the gap says
    assert 0 <= fit.u.min() <= fit.u.max() <= nu * (1 + 1e-12)
    assert abs(y @ fit.u) <= 1e-12 * fit.u.sum()
    assert np.abs(X.T @ (y * fit.u)).max() <= 1 + 1e-12
    assert fit.gap == pytest.approx(1 - fit.u.sum() / fit.objective, abs=1e-12)
    assert fit.gap <= 1e-6
    # complementary to the other dual solution: |x_j^T D u| = 1 on every selected column
    prices = X.T @ (y * u)
    assert_allclose(prices[w != 0] * np.sign(w[w != 0]), 1, atol=1e-5)
    # there are columns to refuse
    assert X.shape[1] <= X.shape[0] or (np.abs(prices) < 1 - 1e-5).any()


def test_solvers_choose_the_same_where_the_optimum_is_unique(name):
    X, y, _ = PROBLEMS[name]
    first, second = (solved(name, solver)[0] for solver in SOLVERS)
    if np.unique(X[:, 0]).size == y.size:  # no ties in Gaussian data
        assert_array_equal(first != 0, second != 0)
        assert_allclose(first, second, atol=1e-6 * np.abs(first).max())
    assert 0 < (first != 0).sum() <= y.size


@pytest.mark.parametrize("factor", [1e-6, 1e-3, 1e3, 1e6])
def test_units_of_the_columns_do_not_matter(factor):
    """X -> c X with nu -> nu / c divides w by c."""
    X, y, nu = PROBLEMS["text"]
    w, fit = solve("highs", X, y, nu)
    scaled, scaled_fit = solve("highs", factor * X, y, nu / factor)
    assert scaled_fit.gap <= 1e-6
    assert factor * scaled_fit.objective == pytest.approx(fit.objective, rel=1e-6)
    assert_array_equal(scaled != 0, w != 0)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("nu", [1e-12, 1e-10, 1e-8, 1e-6, 1e3, 1e5])
def test_every_price_of_slack_is_solved(name, unit, nu):
    """A search for a number of features tries them all; HiGHS's absolute tolerances lose the smallest."""
    X, y, _ = PROBLEMS[name]
    w, fit = solve("highs", unit * X, y, nu / unit)
    assert fit.gap <= 1e-6
    if nu <= 1e-6:  # no feature pays, and the rows of the smaller class are wrong
        assert not w.any()
        assert fit.objective == pytest.approx(
            2 * min((y > 0).sum(), (y < 0).sum()) * nu / unit, rel=1e-12
        )


def slow_distinct(X):
    """Every column against all others."""
    kept = []
    for j in range(X.shape[1]):
        norm = np.linalg.norm(X[:, j])
        parallel = [
            k for k in range(X.shape[1])
            if norm > 0 and abs(abs(X[:, j] @ X[:, k]) - norm * np.linalg.norm(X[:, k])) < 1e-9 and X[:, k].any()
        ]  # fmt: skip
        if parallel and j == min(
            parallel, key=lambda k: (-round(np.linalg.norm(X[:, k]), 9), k)
        ):
            kept.append(j)
    return kept


@given(
    st.tuples(st.integers(1, 4), st.integers(1, 12)).flatmap(
        lambda shape: arrays(
            np.float64,
            shape,
            elements=st.sampled_from([-2.0, -1.0, 0.0, 0.0, 1.0, 2.0, 4.0]),
        )
    )
)
@settings(deadline=None, max_examples=80)
def test_distinct_columns_are_the_longest_of_each_direction(X):
    columns = sparse.csc_array(X)
    assert distinct_columns(columns).tolist() == slow_distinct(X)


def test_columns_with_equal_codes_are_compared(monkeypatch):
    """With the mixing switched off nearly all codes collide; no direction may be lost."""
    monkeypatch.setattr(
        "provsel.kernels.lpsvm_columns._MIX", ((np.uint64(0), np.uint64(0)),)
    )
    X = np.array([[1.0, 0, 0, 2, 1, 3], [0, 1, 0, 0, 1, 3], [0, 0, 1, 0, 1, -3]])
    assert {1, 2, 3, 4, 5} <= set(distinct_columns(sparse.csc_array(X)).tolist())


@given(
    st.tuples(st.integers(2, 8), st.integers(1, 6)).flatmap(
        lambda shape: st.tuples(
            arrays(np.float64, shape, elements=st.integers(-2, 2).map(float)),
            arrays(np.bool_, shape[0] - 2, elements=st.booleans()),
            st.sampled_from([0.05, 0.7, 5.0]),
        )
    )
)
@settings(deadline=None, max_examples=30)
def test_degenerate_integer_rows(problem):
    X, flags, nu = problem
    y = np.append([1.0, -1.0], np.where(flags, 1.0, -1.0))
    w, fit = solve("highs", X, y, nu)
    assert fit.gap <= 1e-7
    assert fit.objective == pytest.approx(full_program(X, y, nu)[0], rel=1e-6)
    assert (w != 0).sum() <= y.size


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(50) % 2, 1, -1)
    X = rng.poisson(0.5, (50, 200)).astype(float)
    X[:, [20, 40]] += rng.poisson(1.0, (50, 2)) * (y > 0)[:, None]
    X[:, [120, 140]] = X[:, [20, 40]]
    X[:, 10] = 0.5 * X[:, 20]
    return X, y


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_selector_is_the_solution_and_of_multiples_takes_the_longest(solver, data):
    X, y = data
    fitted = LPSVMSelector(solver=solver).fit(X, y)
    w = fitted.coef_[0]
    chosen = set(fitted.indices_)
    assert (fitted.coef_.shape, fitted.intercept_.shape, fitted.solver_) == (
        (1, 200),
        (1,),
        solver,
    )
    assert fitted.n_iter_ > 0
    assert fitted.gap_ <= 1e-6
    assert chosen == set(np.flatnonzero(w))
    assert (np.diff(np.abs(w[fitted.indices_])) <= 0).all()
    slack = np.maximum(1 - y * (X @ w + fitted.intercept_), 0)
    assert fitted.objective_ == pytest.approx(np.abs(w).sum() + slack.sum(), rel=1e-12)
    assert {20, 40} <= chosen
    assert not {10, 120, 140} & chosen  # half as long, and equals of a higher index
    doubled = X * np.where(np.arange(200) == 140, 2, 1)
    chosen = set(LPSVMSelector(solver=solver).fit(doubled, y).indices_)
    assert 140 in chosen
    assert 40 not in chosen


def test_stopping_before_any_weight_is_an_error(data):
    with (
        pytest.warns(
            ConvergenceWarning,
            match=r"got 1 after \d+ steps of solver='highs'; raise max_iter",
        ),
        pytest.raises(
            ValueError,
            match=r"expected at least one feature .* got none of 200 .* raise max_iter\.",
        ),
    ):
        LPSVMSelector(solver="highs", max_iter=1).fit(*data)
