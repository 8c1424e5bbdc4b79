"""The logistic loss with its dual variables: other solvers, the gap from its definition, and the best lengths."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from test_hinge_dual import problems
from test_loss_duals import LOGISTIC, bound

from provsel.kernels.logistic_dual import logistic_dual
from provsel.kernels.logistic_scale import best_dual_scale

TOL = 1e-12


def objective(Z, y, w, c):
    return np.logaddexp(0.0, -y * (Z @ w)).mean() + c * w @ w


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
    assert fit.dual == pytest.approx(bound(LOGISTIC, Z, y, fit.alpha, c), rel=1e-9)
    assert fit.primal * (1 - 2 * TOL) <= fit.dual <= fit.primal


def test_is_scikit_learns(problem):
    Z, y, c = problem
    if np.unique(y).size < 2:
        pytest.skip("scikit-learn refuses one class")
    options = {
        "fit_intercept": False,
        "solver": "newton-cholesky",
        "tol": 1e-13,
        "max_iter": 1000,
    }
    scale = np.sqrt(np.mean(Z**2))  # their line search gives up on rows of 1e6
    theirs = (
        LogisticRegression(C=scale**2 / (2 * c * y.size), **options)
        .fit(Z / scale, y)
        .coef_[0]
        / scale
    )
    fit = logistic_dual(Z, y, c, tol=TOL)
    assert fit.primal == pytest.approx(objective(Z, y, theirs, c), rel=1e-6)
    np.testing.assert_allclose(fit.w, theirs, atol=1e-5 * np.abs(theirs).max())


def test_a_bound_that_is_none_and_a_vector_that_is_not_optimal_are_told_apart():
    """Negative control of the two above."""
    Z, y, c = problems()["tall"]
    fit = logistic_dual(Z, y, c, tol=TOL)
    assert objective(Z, y, 1.01 * fit.w, c) > fit.primal * (1 + 1e-6)
    assert bound(LOGISTIC, Z, y, 0.99 * fit.alpha, c) < fit.dual * (1 - 1e-6)
    assert logistic_dual(Z, y, c, tol=TOL, max_iter=1).gap > 1e-6


@pytest.mark.parametrize(("alpha", "expected"), [([0.0, 0.0], 0.0), ([1.0, 0.0], 0.5)])
def test_dual_variables_of_zero(alpha, expected):
    """Of c = 1/4 and two rows, C = 1: without an image the entropy of one row at 1/2, log 2, is all there is."""
    assert best_dual_scale(np.array(alpha), 0.0, 0.25) == pytest.approx(
        (expected, expected * np.log(2))
    )
