"""The spectral basis against NumPy's SVD, and both ways to sample by leverage scores against their expectations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from provsel.kernels.leverage import (
    inclusion_probabilities,
    leverage_scores,
    sample_with_replacement,
    sample_without_replacement,
)
from provsel.kernels.spectral import SpectralBasis, spectral_basis
from provsel.kernels.ties import number_tied, rank_descending

SHAPES = {
    "wide": (12, 300),
    "tall": (300, 12),
    "square": (30, 30),
    "almost square": (30, 45),
    "row": (1, 7),
}
FORMS = {
    "dense": np.asarray,
    "csr_array": sparse.csr_array,
    "csr_matrix": sparse.csr_matrix,
}


def projector(X):
    """Return the projector on the row space of X, its rank and its non-zero singular values, by NumPy's SVD."""
    _, sigma, Vt = np.linalg.svd(np.asarray(X, dtype=float), full_matrices=False)
    rank = np.linalg.matrix_rank(np.asarray(X, dtype=float))
    return Vt[:rank].T @ Vt[:rank], rank, sigma[:rank]


def matrix(shape, *, rank=None, seed=0):
    rng = np.random.default_rng(seed)
    rank = min(shape) if rank is None else rank
    return rng.standard_normal((shape[0], rank)) @ rng.standard_normal((rank, shape[1]))


def assert_spans(basis, X, atol=1e-9):
    expected, rank, sigma = projector(X)
    assert (basis.rank, basis.V.shape, basis.singular_values.shape) == (
        rank,
        (X.shape[1], rank),
        (rank,),
    )
    assert_allclose(basis.V.T @ basis.V, np.eye(rank), atol=1e-11)
    assert_allclose(basis.V @ basis.V.T, expected, atol=atol)
    assert_allclose(basis.singular_values, sigma, rtol=1e-7)
    assert basis.V.flags.c_contiguous
    assert basis.V.dtype == np.float64


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rank", [None, 5, 0])
def test_spans_the_row_space(shape, form, rank):
    X = matrix(SHAPES[shape], rank=rank)
    assert_spans(spectral_basis(FORMS[form](X)), X)
    single = X.astype(np.float32)
    if rank is None:  # rounding fills the space
        assert_spans(spectral_basis(FORMS[form](single)), single)


@pytest.mark.parametrize(
    "shape", [(200, 1_000_000), (1_000_000, 20)], ids=["wide", "tall"]
)
def test_sparse_input_is_never_densified(shape, peak_memory):
    """V itself, shape (d, rank), is dense: rank 1 here, while X would take 1.6 GB."""
    rng = np.random.default_rng(2)
    n, d = shape
    places = rng.choice(d, 5, replace=False), rng.choice(n, 5, replace=False)
    X = sparse.csr_array(
        (np.ones(5), (np.zeros(5, dtype=int) + places[1][0], places[0])), shape=shape
    )
    assert peak_memory(lambda: spectral_basis(X)) < 80e6
    basis = spectral_basis(X)
    assert basis.rank == 1
    assert_allclose(np.sort(leverage_scores(basis.V))[-5:], 0.2)


def test_truncated_keeps_the_largest():
    X = matrix((10, 80))
    basis = spectral_basis(X)
    cut = basis.truncated(3)
    assert isinstance(cut, SpectralBasis)
    assert cut.rank == 3
    assert_allclose(cut.singular_values, np.linalg.svd(X)[1][:3])
    assert basis.truncated(None) is basis
    assert basis.truncated(99) is basis


@given(
    arrays(
        float,
        st.tuples(st.integers(1, 8), st.integers(1, 25)),
        elements=st.integers(-3, 3).map(float),
    )
)
@settings(max_examples=60, deadline=None)
def test_leverage_scores_sum_to_the_rank(X):
    scores = leverage_scores(spectral_basis(X).V)
    rank = np.linalg.matrix_rank(X)
    assert scores.sum() == pytest.approx(rank)
    assert (scores <= 1 + 1e-9).all()
    assert_allclose(scores[~X.any(axis=0)], 0, atol=1e-15)


P = np.array([0.35, 0.0, 0.25, 0.2, 0.1, 0.06, 0.04])


def test_with_replacement_merges_repeated_draws():
    r = 50
    expected = np.random.default_rng(0).choice(P.size, size=r, p=P)
    indices, weights = sample_with_replacement(P, r, np.random.default_rng(0))
    # in order of the first draw
    assert indices.tolist() == list(dict.fromkeys(expected.tolist()))
    assert indices.dtype == np.int64
    times = np.bincount(expected, minlength=P.size)[indices]
    assert_allclose(weights**2, times / (r * P[indices]))
    # r draws, none lost in merging
    assert_allclose((weights**2 * P[indices]).sum(), 1.0)
    assert P[indices].all()


@pytest.mark.parametrize("r", [1, 3, 6])
@pytest.mark.parametrize(
    "sample", [sample_with_replacement, sample_without_replacement]
)
def test_the_mean_of_squared_weights_is_one(sample, r):
    """Of the diagonal of R R^T, within 4.5 standard errors."""
    rng = np.random.default_rng(3)
    trials = 4000
    squares = np.zeros((trials, P.size))
    for k in range(trials):
        indices, weights = sample(P, r, rng)
        squares[k, indices] = weights**2
    mean = squares.mean(axis=0)
    error = squares.std(axis=0) / np.sqrt(trials)
    positive = P > 0
    assert (np.abs(mean - 1)[positive] <= 4.5 * error[positive] + 1e-12).all()
    assert mean[~positive] == 0


@given(
    p=arrays(
        float,
        st.integers(1, 40),
        elements=st.sampled_from([0.0, 1e-12, 0.01, 1.0, 3.0, 50.0]),
    ),
    share=st.floats(0, 1),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=200, deadline=None)
def test_without_replacement_draws_exactly_r_distinct(p, share, seed):
    positive = np.count_nonzero(p)
    if positive == 0:
        return
    p = p / p.sum()
    r = 1 + int(share * (positive - 1))
    indices, weights = sample_without_replacement(p, r, np.random.default_rng(seed))
    assert np.unique(indices).size == indices.size == r
    assert (p[indices] > 0).all()
    assert_allclose(weights**-2.0, inclusion_probabilities(p, r)[indices])


@given(
    p=arrays(float, st.integers(1, 40), elements=st.floats(1e-9, 1e3)),
    share=st.floats(0, 1),
)
@settings(deadline=None)
def test_inclusion_probabilities_sum_to_r_and_are_capped(p, share):
    p = p / p.sum()
    r = 1 + int(share * (p.size - 1))
    inclusion = inclusion_probabilities(p, r)
    assert inclusion.sum() == pytest.approx(r)
    assert ((inclusion > 0) & (inclusion <= 1)).all()
    free = inclusion < 1
    if free.any():  # proportional below the cap
        assert_allclose(
            inclusion[free] / p[free], (inclusion[free] / p[free]).max(), rtol=1e-9
        )


def test_inclusion_probabilities_where_the_cap_pushes_others_over():
    assert_allclose(
        inclusion_probabilities(np.array([0.6, 0.25, 0.1, 0.05]), 3),
        [1, 1, 2 / 3, 1 / 3],
    )
    assert_allclose(inclusion_probabilities(np.array([0.5, 0.5, 0.0]), 2), [1, 1, 0])


@given(
    st.lists(
        st.sampled_from(
            [0.0, 1.0, 1 + 2**-36, 1 + 1.5 * 2**-36, -1 + 2**-37, -3.0, -np.inf]
        ),
        max_size=60,
    ),
    st.integers(0, 99),
)
def test_rounding_never_orders_scores(values, seed):
    exact = np.array(values)
    noise = 1 + 1e-14 * np.random.default_rng(seed).standard_normal(exact.size)
    # gaps of 1e-11 count as ties
    tied = np.where(np.isfinite(exact) & (exact != 0), np.round(exact), exact)
    assert_array_equal(
        rank_descending(exact * noise), np.lexsort((np.arange(exact.size), -tied))
    )


def test_differences_above_rounding_order_scores():
    scores = np.random.default_rng(0).random(1000)
    assert_array_equal(rank_descending(scores), np.argsort(-scores))
    assert rank_descending(
        np.array([1.0, 1 + 1e-9, 1e-22, 1e-21]), noise=1e-20
    ).tolist() == [1, 0, 2, 3]
    assert [
        number_tied(np.array(values))
        for values in ([1, 1 - 1e-14, 1e-22], [2, 1], [3], [1, 1 + 1e-9])
    ] == [
        2,
        0,
        1,
        0,
    ]
