"""ApproximateBSSSelector: BSS's guarantee where the sketch keeps the row space, and its loss where not."""

import numpy as np
import pytest
from scipy import sparse

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


@pytest.mark.parametrize("t", [8, 64])
def test_sparse_and_seeds(X, t):
    def fitted(form, seed):
        return ApproximateBSSSelector(R, n_projections=t, random_state=seed).fit(form(X))

    dense = fitted(np.asarray, 3)
    same = fitted(sparse.csr_array, 3)
    np.testing.assert_array_equal(same.indices_, dense.indices_)
    np.testing.assert_allclose(same.weights_, dense.weights_, rtol=1e-8)
    np.testing.assert_array_equal(fitted(np.asarray, 3).weights_, dense.weights_)
    np.testing.assert_array_equal(fitted(np.asarray, np.random.default_rng(3)).indices_, dense.indices_)
    if t < P:
        assert fitted(np.asarray, 4).indices_.tolist() != dense.indices_.tolist()


def test_printed_weights_are_the_reciprocals(X):
    good = ApproximateBSSSelector(R, n_projections=8, random_state=0).fit(X)
    printed = ApproximateBSSSelector(R, n_projections=8, weights="as_printed", random_state=0).fit(X)
    scale = (1 - (8 / R) ** 0.5) / R
    np.testing.assert_allclose(good.weights_ * printed.weights_, scale, rtol=1e-10)


def test_budget_is_that_of_bss():
    assert ApproximateBSSSelector.budget(10, 0.5) == BSSSelector.budget(10, 0.5) == 1440
    with pytest.raises(ValueError, match="expected rank >= 1, got 0"):
        ApproximateBSSSelector.budget(0, 0.5)
    with pytest.raises(ValueError, match=r"expected eps in \(0, 1/2\], got 0.6"):
        ApproximateBSSSelector.budget(3, 0.6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_features_to_select": P}, rf"greater than the rank of the sketch, rank = {P}, got {P}; .* {P + 1}"),
        ({"n_features_to_select": 6, "n_projections": 6}, r"rank = 6, got 6; choose at least 7, or n_projections < 6"),
        ({"n_projections": 0}, r"expected n_projections a positive integer, got 0"),
        ({"n_projections": 2.0}, r"expected n_projections a positive integer, got 2.0"),
        ({"n_projections": True}, r"expected n_projections a positive integer, got True"),
        ({"weights": "t"}, r"ApproximateBSSSelector: expected weights in \('sqrt_t', 'as_printed'\), got 't'"),
        ({"n_features_to_select": D + 1}, r"between 1 and the number of features"),
    ],
)
def test_errors(X, arguments, message):
    with pytest.raises(ValueError, match=message):
        ApproximateBSSSelector(**{"n_features_to_select": R, "random_state": 0, **arguments}).fit(X)


def test_zeros_raise():
    with pytest.raises(ValueError, match="ApproximateBSSSelector: expected X with a non-zero value, got all zeros"):
        ApproximateBSSSelector(3).fit(np.zeros((4, 6)))
