"""The LPSVM selector: labels, forms of X, ties, warnings, errors, and TechTC sets."""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

from provlab.datasets import load_dataset
from provsel.selectors import LPSVMSelector

_MIRROR = os.environ.get("PROVSEL_DATA_MIRROR")
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


def test_auto_names_the_solver_it_took(data):
    assert LPSVMSelector().fit(*data).solver_ == "highs"


@pytest.mark.parametrize(
    ("solver", "form"),
    [
        ("highs", sparse.csr_array),
        ("highs", sparse.csc_matrix),
        ("highs", sparse.coo_array),
        ("newton", sparse.csr_array),
    ],
)
def test_sparse_and_dense_agree_bit_for_bit(solver, form, data):
    X, y = data
    dense, other = (LPSVMSelector(solver=solver).fit(Z, y) for Z in (X, form(X)))
    np.testing.assert_array_equal(other.coef_, dense.coef_)
    np.testing.assert_array_equal(other.indices_, dense.indices_)


def test_input_is_left_alone_and_stored_zeros_are_zeros(data):
    X, y = data
    stored = sparse.csr_array(X)
    stored.data[::7] = 0.0
    copy = stored.copy()
    fitted = LPSVMSelector().fit(stored, y)
    np.testing.assert_array_equal(stored.data, copy.data)
    np.testing.assert_array_equal(stored.indices, copy.indices)
    np.testing.assert_array_equal(fitted.coef_, LPSVMSelector().fit(copy.toarray(), y).coef_)


@pytest.mark.parametrize("labels", [("ham", "spam"), (0, 1), (3, 7), (False, True)])
def test_any_two_labels(labels, data):
    X, y = data
    fitted = LPSVMSelector().fit(X, np.where(y > 0, labels[1], labels[0]))
    np.testing.assert_array_equal(fitted.coef_, LPSVMSelector().fit(X, y).coef_)
    assert fitted.classes_.tolist() == list(labels)


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


def test_single_precision_is_solved_in_double(data):
    X, y = data
    fitted = LPSVMSelector().fit(X.astype(np.float32), y)
    np.testing.assert_array_equal(fitted.coef_, LPSVMSelector().fit(X, y).coef_)
    assert fitted.coef_.dtype == np.float64


def test_more_features_for_dearer_slack(data):
    X, y = data
    assert LPSVMSelector(nu=0.05).fit(X, y).indices_.size < LPSVMSelector(nu=1.0).fit(X, y).indices_.size


@pytest.mark.filterwarnings("error")
def test_no_warning_when_converged(data):
    for solver in SOLVERS:
        LPSVMSelector(solver=solver).fit(*data)


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"nu": 0}, "expected a positive, finite nu, got 0"),
        ({"nu": -1.0}, "expected a positive, finite nu, got -1.0"),
        ({"nu": np.inf}, "expected a positive, finite nu, got inf"),
        ({"nu": np.nan}, "expected a positive, finite nu, got nan"),
        ({"nu": "1"}, "expected a positive, finite nu, got '1'"),
        ({"nu": True}, "expected a positive, finite nu, got True"),
        ({"tol": 0.0}, "expected a positive, finite tol, got 0.0"),
        ({"max_iter": 0}, "expected max_iter None or a positive integer, got 0"),
        ({"max_iter": 1.5}, "expected max_iter None or a positive integer, got 1.5"),
        ({"max_iter": True}, "expected max_iter None or a positive integer, got True"),
        ({"solver": "simplex"}, r"expected solver in \('auto', 'highs', 'newton', 'as_published'\), got 'simplex'"),
    ],
)
def test_bad_options_are_refused(options, message, data):
    with pytest.raises(ValueError, match=message):
        LPSVMSelector(**options).fit(*data)


def test_two_classes_are_needed(data):
    X, _ = data
    with pytest.raises(ValueError, match=r"labels of two classes, got 3 classes \(0, 1, 2\); fit it on two"):
        LPSVMSelector().fit(X, np.arange(50) % 3)
    with pytest.raises(ValueError, match=r"labels of two classes, got 50 classes \(0, 1, 2, 3, 4, \.\.\.\)"):
        LPSVMSelector().fit(X, np.arange(50))
    with pytest.raises(ValueError, match=r"labels of two classes, got 1 class \('ham'\)"):
        LPSVMSelector().fit(X, ["ham"] * 50)
    with pytest.raises(ValueError, match="requires y to be passed"):
        LPSVMSelector().fit(X)


@pytest.mark.skipif(
    not _MIRROR or not (Path(_MIRROR) / "techtc100" / "tokens").is_dir(),
    reason="needs real data: set PROVSEL_DATA_MIRROR to a folder that holds techtc100/tokens",
)
@pytest.mark.parametrize("name", ["Exp_10341_10755", "Exp_14525_61792"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_techtc(solver, name, tmp_path, monkeypatch):
    monkeypatch.setenv("PROVSEL_DATA", str(tmp_path))
    data = load_dataset("techtc", set=name)
    X, y = data.X, data.y
    A = sparse.csc_array(X.multiply(y[:, None]))
    found = linprog(
        -np.ones(y.size),
        sparse.vstack([A.T, -A.T], format="csc"),
        np.ones(2 * A.shape[1]),
        y[None, :].astype(float),
        [0.0],
        (0, 1),
    )
    fitted = LPSVMSelector(solver=solver, tol=1e-5).fit(X, y)
    assert fitted.gap_ <= 1e-5
    assert fitted.objective_ == pytest.approx(-found.fun, rel=1e-5)
    prices = np.abs(A.T @ found.x)
    assert prices[fitted.indices_].min() >= 1 - 1e-5
    assert 0 < fitted.indices_.size <= y.size


def test_many_rows_are_warned_of_before_it_starts():
    X, y = np.zeros((50_001, 2)), np.arange(50_001) % 2
    started = pytest.raises(
        UserWarning,
        match=r"LPSVMSelector: expected at most 50000 rows, got 50001, which may take hours; .* or take L1SVMSelector",
    )
    with warnings.catch_warnings(action="error"), started:
        LPSVMSelector().fit(X, y)
