"""The LPSVM selector: labels, forms of X, ties, warnings, errors, and TechTC sets."""

import warnings

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

from provsel.selectors import LPSVMSelector

SOLVERS = ("highs", "newton")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(50) % 2, 1, -1)
    X = rng.poisson(0.5, (50, 200)).astype(float)
    X[:, [20, 40]] += rng.poisson(1.0, (50, 2)) * (y > 0)[:, None]
    X[:, [120, 140]] = X[:, [20, 40]]
    X[:, 10] = 0.5 * X[:, 20]
    return X, y


def full_program(X, y, nu):
    """The printed primal with all columns: the optimum."""
    n, d = X.shape
    signed = y[:, None] * X
    rows = np.hstack([-signed, signed, y[:, None], -np.eye(n)])
    cost = np.concatenate([np.ones(2 * d), [0], np.full(n, nu)])
    bounds = [(0, None)] * (2 * d) + [(None, None)] + [(0, None)] * n
    return linprog(cost, rows, -np.ones(n), bounds=bounds).fun


@pytest.mark.parametrize("solver", SOLVERS)
def test_fitted_attributes(solver, data):
    X, y = data
    fitted = LPSVMSelector(solver=solver).fit(X, y)
    assert fitted.coef_.shape == (1, 200)
    assert fitted.intercept_.shape == (1,)
    assert fitted.solver_ == solver
    assert fitted.n_iter_ > 0
    assert fitted.gap_ <= 1e-6
    w = fitted.coef_[0]
    assert set(fitted.indices_) == set(np.flatnonzero(w))
    assert (np.diff(np.abs(w[fitted.indices_])) <= 0).all()
    assert (fitted.weights_ == 1).all()
    slack = np.maximum(1 - y * (X @ w + fitted.intercept_), 0)
    assert fitted.objective_ == pytest.approx(np.abs(w).sum() + slack.sum(), rel=1e-12)
    assert fitted.objective_ == pytest.approx(full_program(X, y, 1.0), rel=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_of_multiples_the_longest_and_of_equals_the_first(solver, data):
    X, y = data
    chosen = LPSVMSelector(solver=solver).fit(X, y).indices_
    assert {20, 40} <= set(chosen)
    assert not {10, 120, 140} & set(chosen)
    doubled = X.copy()
    doubled[:, 140] *= 2
    chosen = LPSVMSelector(solver=solver).fit(doubled, y).indices_
    assert 140 in chosen
    assert 40 not in chosen


def test_more_features_for_dearer_slack(data):
    X, y = data
    assert LPSVMSelector(nu=0.05).fit(X, y).indices_.size < LPSVMSelector(nu=1.0).fit(X, y).indices_.size


def test_stopping_early_warns_with_the_gap(data):
    with pytest.warns(ConvergenceWarning, match=r"at most tol = 1e-06, got 0\.\d+ after 1 steps of solver='newton'"):
        fitted = LPSVMSelector(solver="newton", max_iter=1).fit(*data)
    assert fitted.gap_ > 1e-6
    optimum = full_program(*data, 1.0)
    assert (fitted.objective_ - optimum) / fitted.objective_ <= fitted.gap_ + 1e-9  # the gap still is a bound


def test_stopping_before_any_weight_is_an_error(data):
    with (
        pytest.warns(ConvergenceWarning, match=r"got 1 after \d+ steps of solver='highs'; raise max_iter"),
        pytest.raises(ValueError, match=r"expected at least one feature .* got none of 200 .* raise max_iter\."),
    ):
        LPSVMSelector(solver="highs", max_iter=1).fit(*data)


@pytest.mark.parametrize("solver", SOLVERS)
def test_no_weight_at_all_keeps_the_feature_that_comes_first(solver, data):
    X, y = data
    with pytest.warns(UserWarning, match=r"every weight is zero at nu=1e-06; kept the one feature .* Raise nu"):
        made = LPSVMSelector(nu=1e-6, solver=solver).fit(X, y)
    assert not made.coef_.any()
    assert made.indices_.size == 1
    # raise nu until the first weight appears, by an independent bisection on the default solver
    low, high = 1e-6, 1.0
    for _ in range(30):
        middle = np.sqrt(low * high)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            low, high = (low, middle) if LPSVMSelector(nu=middle).fit(X, y).coef_.any() else (middle, high)
    assert LPSVMSelector(nu=high).fit(X, y).indices_[0] == made.indices_[0]


@pytest.mark.parametrize("solver", SOLVERS)
def test_nothing_that_differs_between_the_classes_is_refused(solver):
    with pytest.raises(ValueError, match=r"got none of 3 at nu=1 .*check that some feature differs"):
        LPSVMSelector(solver=solver).fit(np.zeros((6, 3)), [0, 1, 0, 1, 0, 1])
    with pytest.raises(ValueError, match="got none of 3 at nu=1 "):
        LPSVMSelector(solver=solver).fit(np.ones((6, 3)), [0, 1, 0, 1, 0, 1])
