"""ApproximateBSSSelector: BSS's guarantee where the sketch keeps the row space, and its loss where not."""

import numpy as np
import pytest

from provsel.certificates import certify
from provsel.selectors import ApproximateBSSSelector, BSSSelector

P, D, R = 20, 300, 80


@pytest.fixture(scope="module", name="X")
def rows():
    rng = np.random.default_rng(0)
    return rng.standard_normal((P, D)) * np.exp(0.5 * rng.standard_normal(D)) * (rng.random((P, D)) < 0.5)


def eigenvalues(X, selector):
    V = np.linalg.svd(X, full_matrices=False)[2].T
    kept = V[selector.indices_] * selector.weights_[:, None]
    return np.linalg.eigvalsh(kept.T @ kept)


@pytest.mark.parametrize("t", [P, 2 * P, 10 * P])
@pytest.mark.parametrize("seed", range(3))
def test_guarantee_of_bss_when_the_sketch_has_full_rank(X, t, seed):
    selector = ApproximateBSSSelector(R, n_projections=t, random_state=seed).fit(X)
    found, (low, high) = eigenvalues(X, selector), selector.eigenvalue_range_
    assert selector.rank_ == P
    assert (low, high) == pytest.approx(((1 - (P / R) ** 0.5) ** 2, (1 + (P / R) ** 0.5) ** 2))
    assert low <= found[0] <= found[-1] <= high
    assert np.abs(1 - found).max() <= selector.spectral_bound_ == pytest.approx(3 * (P / R) ** 0.5)
    assert selector.n_repeats_ == R - selector.indices_.size
    # the same row space: the very selection of BSS on X
    exact = BSSSelector(R).fit(X)
    np.testing.assert_array_equal(selector.indices_, exact.indices_)
    np.testing.assert_allclose(selector.weights_, exact.weights_, rtol=1e-8)


def test_too_few_projections_break_it():
    # one strong direction a row that its own columns carry: a sketch of rank 4 cannot see all of them
    rng = np.random.default_rng(1)
    X = np.kron(np.eye(P), rng.standard_normal(15)) + 0.01 * rng.standard_normal((P, D))
    r = P + 1
    found = eigenvalues(X, ApproximateBSSSelector(r, n_projections=4, random_state=0).fit(X))
    low, _ = BSSSelector(r).fit(X).eigenvalue_range_
    assert found[0] < low


def test_the_certificate_speaks_of_full_sketches_only(X):
    full = ApproximateBSSSelector(R, n_projections=2 * P, random_state=0).fit(X)
    assert certify(full, X).spectral.state == "held"
    part = ApproximateBSSSelector(R, n_projections=5, random_state=0).fit(X)
    assert part.rank_ == 5
    assert certify(part, X).spectral.state != "held"


def test_printed_weights_are_the_reciprocals(X):
    good = ApproximateBSSSelector(R, n_projections=8, random_state=0).fit(X)
    printed = ApproximateBSSSelector(R, n_projections=8, weights="as_printed", random_state=0).fit(X)
    scale = (1 - (8 / R) ** 0.5) / R
    np.testing.assert_allclose(good.weights_ * printed.weights_, scale, rtol=1e-10)
