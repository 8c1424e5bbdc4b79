"""The L1-regularised SVM against scikit-learn's, its optimality conditions and a linear-algebra identity; messages."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from provsel.selectors import L1SVMSelector


def rows(n=80, d=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, :4].sum(axis=1) + 0.5 * rng.standard_normal(n) > 0, 1, -1)


def value(X, y, C, w):
    slack = np.maximum(0, 1 - y * (X @ w))
    return np.abs(w).sum() + C * slack @ slack


@pytest.mark.parametrize("share", [2, 5, 10])
@pytest.mark.parametrize(("n", "d"), [(80, 60), (40, 150), (120, 10)])
def test_meets_scikit_learn_and_the_optimality_conditions(share, n, d):
    """With C a multiple of that from which on a weight is not zero."""
    X, y = rows(n, d)
    C = share / (2 * np.abs(X.T @ y).max())
    fitted = L1SVMSelector(C=C, tol=1e-3).fit(X, y)
    w = fitted.coef_[0]
    peer = LinearSVC(
        penalty="l1",
        dual=False,
        C=C,
        fit_intercept=False,
        tol=1e-7,
        max_iter=100_000,
        random_state=0,
    )
    theirs = value(X, y, C, peer.fit(X, y).coef_[0])
    assert fitted.objective_ == pytest.approx(value(X, y, C, w), rel=1e-12)
    assert fitted.objective_ == pytest.approx(theirs, rel=1e-3)
    assert w.any()
    assert fitted.gap_ <= 1e-3
    assert fitted.objective_ * (1 - fitted.gap_) <= theirs * (1 + 1e-12)
    pull = 2 * C * (X * y[:, None]).T @ np.maximum(0, 1 - y * (X @ w))
    np.testing.assert_allclose(pull[w != 0], np.sign(w[w != 0]), atol=0.03)
    assert (np.abs(pull[w == 0]) <= 1.03).all()
    # negative control: another vector near it is worse, and its conditions fail
    assert value(X, y, C, 1.5 * w) > theirs * (1 + 2e-3)


def test_attributes():
    X, y = rows()
    X[:, 30] = X[:, 1]
    fitted = L1SVMSelector(C=0.05).fit(X, np.where(y > 0, "spam", "ham"))
    assert fitted.classes_.tolist() == ["ham", "spam"]
    assert set(fitted.indices_) == set(np.flatnonzero(fitted.coef_[0]))
    assert {0, 2, 3} <= set(fitted.indices_)
    assert fitted.indices_.size < 40
    assert (np.diff(fitted.scores_[fitted.indices_]) <= 0).all()
    np.testing.assert_array_equal(fitted.scores_, np.abs(fitted.coef_[0]))
    assert fitted.gap_ <= 0.01
    decided = np.where(X @ fitted.coef_[0] > 0, 1, -1)
    assert (decided == y).mean() > 0.85
    np.testing.assert_allclose(
        L1SVMSelector(C=0.05).fit(X, -y).coef_, -fitted.coef_, atol=1e-12
    )
