"""Sizes of the rounds, order with ties, and downdated Gram matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from provsel.kernels.elimination import RemainingColumns, best, by_importance, elimination_sizes
from provsel.kernels.spectral import gram_matrix


@given(st.integers(1, 3000), st.data(), st.one_of(st.integers(1, 500), st.floats(0.01, 0.99)))
def test_sizes_fall_by_the_step_and_stay_above_what_is_kept(d, data, step):
    r = data.draw(st.integers(1, d))
    sizes = elimination_sizes(d, r, step)
    assert sizes[0] == d
    assert min(sizes) > r or sizes == [d]
    for before, after in zip(sizes, [*sizes[1:], None], strict=True):
        dropped = step if step >= 1 else max(1, int(step * before))
        assert after == before - dropped if after is not None else before - dropped <= r


@pytest.mark.parametrize("noise", [0.0, 1e-13])
def test_ties_are_in_order_of_index(noise):
    rng = np.random.default_rng(1)
    exact = rng.integers(0, 6, 200).astype(float)
    noisy = np.abs(exact + noise * rng.standard_normal(200))
    np.testing.assert_array_equal(by_importance(noisy), np.lexsort((np.arange(200), -exact)))


def test_a_difference_above_the_tolerance_is_none():
    np.testing.assert_array_equal(by_importance(np.array([1.0, 1.0 + 1e-9, 1e-8, 1.1e-8])), [1, 0, 3, 2])


@pytest.mark.parametrize("noise", [0.0, 1e-13])
@pytest.mark.parametrize("levels", [2, 6, 10**6])
def test_the_best_are_the_first_of_the_order(noise, levels):
    rng = np.random.default_rng(7)
    importances = np.abs(rng.integers(0, levels, 150) + noise * rng.standard_normal(150))
    for count in range(1, 151):
        np.testing.assert_array_equal(best(importances, count), np.sort(by_importance(importances)[:count]))


def _rounds(X, share=0.9):
    """Yield the remaining columns of X, their indices, round by round."""
    rng = np.random.default_rng(2)
    columns, features = RemainingColumns.of(X, gram_matrix(X)), np.arange(X.shape[1])
    while features.size > 30:
        positions = np.sort(rng.choice(features.size, int(share * features.size), replace=False))
        columns, features = columns.only(positions), features[positions]
        yield columns, features


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("share", [0.9, 0.3])
def test_downdates_equal_recomputation(form, share):
    X = np.random.default_rng(3).standard_normal((40, 900))
    for columns, features in _rounds(form(X), share):
        fresh = X[:, features] @ X[:, features].T
        np.testing.assert_allclose(columns.gram, fresh, atol=1e-10 * np.trace(fresh) / 40)
        duals = np.random.default_rng(4).standard_normal((2, 40))
        np.testing.assert_allclose(columns.weighted_sums(duals), duals @ X[:, features], atol=1e-12)


def test_a_large_column_that_goes_takes_its_rounding_errors_along():
    X = np.random.default_rng(5).standard_normal((20, 300))
    X[:, 7] *= 1e7
    kept = np.delete(np.arange(300), 7)
    fresh = X[:, kept] @ X[:, kept].T
    np.testing.assert_allclose(RemainingColumns.of(X, gram_matrix(X)).only(kept).gram, fresh, atol=1e-10)
    # control: a bare downdate is wrong here
    bare = gram_matrix(X) - np.outer(X[:, 7], X[:, 7])
    assert np.abs(bare - fresh).max() > 1e-4
