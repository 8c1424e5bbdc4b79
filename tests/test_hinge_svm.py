"""The reference SVM: against LIBSVM without intercept, its certificate, and bad input."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from provsel.certificates.compression import compression_objective
from provsel.models import HingeSVM
from textbook import libsvm_without_intercept

C = 1e-3


def rows(n=200, m=30, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, "spam", "ham")
    X = rng.standard_normal((n, m))
    X[:, :5] += np.where(y == "spam", 0.5, -0.5)[:, None]
    return X, y


@parametrize_with_checks([HingeSVM(), HingeSVM(0.1, tol=1e-9)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_matrix], ids=["dense", "csr", "csc"])
@pytest.mark.parametrize("shape", [(200, 30), (40, 150)], ids=["tall", "wide"])
def test_is_the_svm_without_intercept(shape, form):
    X, y = rows(*shape)
    model = HingeSVM(C, tol=1e-9).fit(form(X), y)
    theirs = libsvm_without_intercept(X, y, C)
    np.testing.assert_allclose(model.coef_[0], theirs, atol=1e-4 * np.abs(theirs).max())
    np.testing.assert_array_equal(model.predict(form(X)), np.where(X @ theirs > 0, "spam", "ham"))
    assert model.objective_ == pytest.approx(compression_objective(X, y, model.coef_[0], C), rel=1e-9)
    assert model.objective_ == pytest.approx(compression_objective(X, y, theirs, C), rel=1e-3)
    assert (model.coef_.shape, model.intercept_.tolist(), model.dual_coef_.shape) == ((1, shape[1]), [0.0], shape[:1])


def test_is_certified():
    X, y = rows()
    model, signs = HingeSVM(C).fit(X, y), np.where(y == "spam", 1, -1)
    alpha = signs * model.dual_coef_
    assert 0 <= alpha.min() <= alpha.max() <= 1 / (2 * C * y.size)
    image = X.T @ model.dual_coef_
    assert model.dual_objective_ == pytest.approx(2 * C * (alpha.sum() - image @ image / 2), rel=1e-9)
    assert model.dual_objective_ <= model.objective_
    assert model.gap_ == pytest.approx(1 - model.dual_objective_ / model.objective_, rel=1e-9)
    assert model.gap_ <= 1e-6
    other = HingeSVM(2 * C).fit(X, y)  # negative control: another c, another optimum
    assert compression_objective(X, y, other.coef_[0], C) > model.objective_ * (1 + 1e-3)


def test_an_open_gap_is_told():
    X, y = rows()
    with pytest.warns(ConvergenceWarning, match=r"^HingeSVM: expected .* of at most 1e-06, got .* after 2 Newton"):
        model = HingeSVM(C, max_iter=2).fit(X, y)
    assert model.gap_ > 1e-6
    assert model.n_iter_ == 2
