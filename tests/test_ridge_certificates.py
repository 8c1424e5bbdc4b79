"""Online leverage with a ridge: what Cohen, Musco and Pachocki promise, measured; too few columns break it."""

import numpy as np
import pytest
from scipy import sparse

from provsel.certificates import HELD, NO_BOUND, RidgeSparsification, certify, certify_subset
from provsel.selectors import OnlineLeverageSelector
from textbook_subsets import low_rank_plus_noise, ratios

EPSILON = 0.5


def rows(kind):
    """Return X, 6 x 6,000: enough columns that the theorem's rate leaves most of them out."""
    rng = np.random.default_rng(11)
    X = low_rank_plus_noise(6, 6_000, 3, 0.1, rng)
    return {"dense": X, "sparse": sparse.csc_array(X * (rng.random(X.shape) < 0.3)), "scaled": 100 * X}[kind]


def ridge_for(X, k=3, more=0.5):
    """Return delta / epsilon, with delta = more ||E||_F^2 / k."""
    sigma = np.linalg.svd(X.toarray() if sparse.issparse(X) else X, compute_uv=False)
    return more * (sigma[k:] ** 2).sum() / k / EPSILON


def relative_eigenvalues(X, selector, ridge):
    """Return the eigenvalues of the pencil (W W^T + ridge I, X X^T + ridge I)."""
    X = X.toarray() if sparse.issparse(X) else X
    W = X[:, selector.indices_] * selector.weights_
    eye = ridge * np.eye(len(X))
    return np.sort(np.linalg.eigvals(np.linalg.solve(X @ X.T + eye, W @ W.T + eye)).real)


@pytest.mark.parametrize("kind", ["dense", "sparse", "scaled"])
def test_the_promise_holds(kind):
    """Each fit breaks it with a chance of 1/n = 1/6 at most; 20 fits more than 12 times with one of 1e-5."""
    X = rows(kind)
    ridge = ridge_for(X)
    broken = 0
    for seed in range(20):
        selector = OnlineLeverageSelector(outside_span="ridge", ridge=ridge, epsilon=EPSILON, random_state=seed).fit(X)
        assert selector.indices_.size < 4_000
        record = certify(selector, X, also=[RidgeSparsification]).sparsification
        eigenvalues = relative_eigenvalues(X, selector, ridge)
        assert (record.eigenvalue_min, record.eigenvalue_max) == pytest.approx((eigenvalues[0], eigenvalues[-1]))
        states = [record.state]
        for k in (1, 3, 5):
            found = certify_subset(selector, X, k)
            delta = ridge * EPSILON / (1 - EPSILON)
            sigma = np.linalg.svd(X.toarray() if sparse.issparse(X) else X, compute_uv=False)
            assert found.frobenius_bound == pytest.approx(1 + k * delta / (sigma[k:] ** 2).sum())
            assert found.spectral_bound == pytest.approx(delta / sigma[k] ** 2)
            states.append(found.state)
        broken += states != [HELD] * 4
    assert broken <= 12


def test_too_few_columns_break_it():
    X = rows("dense")
    ridge = ridge_for(X)
    selector = OnlineLeverageSelector(
        outside_span="ridge", ridge=ridge, epsilon=EPSILON, sampling_rate=0.02, n_initial=1, random_state=0
    ).fit(X)
    record = certify(selector, X, also=[RidgeSparsification]).sparsification
    assert record.state == NO_BOUND  # of another rate nothing is promised, and what would be does not hold
    assert record.eigenvalue_min < 1 - EPSILON or record.eigenvalue_max > 1 + EPSILON
    assert certify_subset(selector, X, 3).state == NO_BOUND
    left = ridge * EPSILON / (1 - EPSILON)
    sigma = np.linalg.svd(X, compute_uv=False)
    selector.indices_ = selector.indices_[:1]
    assert ratios(X, selector.indices_, 3)[1] * sigma[3] ** 2 > left


def test_a_stream_has_the_same_promise_as_a_fit():
    X = rows("dense")
    make = OnlineLeverageSelector(outside_span="ridge", ridge=ridge_for(X), random_state=3)
    at_once = make.fit(X).indices_
    stream = OnlineLeverageSelector(**make.get_params())
    for start in range(0, X.shape[1], 700):
        stream.partial_fit_columns(X[:, start : start + 700])
    np.testing.assert_array_equal(stream.indices_, at_once)
    assert stream.ridge_range_ == (0.5, 1.5)
    assert not hasattr(stream, "spectral_bound_")
    stream.set_params(outside_span="one", ridge=None).fit(X[:, :50])
    assert not hasattr(stream, "ridge_range_")
    assert certify_subset(stream, X[:, :50]).state == NO_BOUND
