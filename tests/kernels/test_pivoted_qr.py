"""Pivots against LAPACK's, against plain Gram-Schmidt, and their routes against each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from scipy.linalg import qr

from provsel.kernels.column_span import SparseSpan
from provsel.kernels.pivoted_qr import PivotedQR
from textbook_subsets import residual


def assert_greedy(X, pivots, steps=None, tied=1e-10):
    """Each pivot has the largest residual, and the lowest index among those that tie with it."""
    for k in range(len(pivots)) if steps is None else steps:
        norms = np.linalg.norm(residual(X, pivots[:k]), axis=0)
        norms[pivots[:k]] = 0
        best = norms.max()
        assert norms[pivots[k]] >= best * (1 - 1e-8), k
        # the oracle's own rounding must not decide: all clear ties have a higher index
        clear = np.flatnonzero(norms >= best * (1 - 0.01 * tied))
        if norms[pivots[k]] >= best * (1 - 0.01 * tied):
            assert pivots[k] == clear.min(), k


def assert_as_lapack(X, pivots):
    """Equal to geqp3's pivots up to the first tie, and there the residual norms agree to 1e-8."""
    theirs = qr(X, mode="r", pivoting=True, check_finite=False)[1][: len(pivots)]
    different = np.flatnonzero(theirs != pivots)
    if different.size == 0:
        return len(pivots)
    k = different[0]
    norms = np.linalg.norm(residual(X, pivots[:k]), axis=0)
    assert norms[theirs[k]] == pytest.approx(norms[pivots[k]], rel=1e-8)
    return k


def gaussian(rng):
    return rng.standard_normal((60, 150)) * np.exp(rng.standard_normal(150))


def tall(rng):
    return rng.standard_normal((150, 40))


def text_like(rng):
    return rng.poisson(
        0.05 * np.exp(rng.standard_normal(400)), (50, 400)
    ) * rng.uniform(0.5, 1, 400)


def graded(rng):
    U = np.linalg.qr(rng.standard_normal((40, 40)))[0]
    V = np.linalg.qr(rng.standard_normal((90, 40)))[0]
    return U * np.logspace(0, -8, 40) @ V.T


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("make", [gaussian, tall, text_like, graded])
def test_pivots_are_lapacks(make, form):
    X = make(np.random.default_rng(0)).astype(float)
    pivots = PivotedQR(form(X)).extend(min(X.shape)).pivots
    rank = np.linalg.matrix_rank(X)
    assert len(pivots) == rank
    assert assert_as_lapack(X, pivots) == rank


def test_the_wrong_order_is_found_out():
    X = gaussian(np.random.default_rng(1))
    pivots = PivotedQR(X).extend(20).pivots
    assert_greedy(X, pivots)
    pivots[[3, 12]] = pivots[[12, 3]]
    with pytest.raises(AssertionError):
        assert_greedy(X, pivots)
    with pytest.raises(AssertionError):
        assert_as_lapack(X, pivots)


@settings(max_examples=150, deadline=None)
@given(
    hnp.arrays(
        np.int64,
        st.tuples(st.integers(1, 7), st.integers(1, 9)),
        elements=st.integers(-2, 2),
    )
)
def test_small_integers(X):
    X = X.astype(float)
    state = PivotedQR(X).extend(X.shape[1])
    assert len(state.pivots) == np.linalg.matrix_rank(X)
    assert_greedy(X, state.pivots)
    for rest in (state.rest_by_norm(), state.rest_of_swaps()):
        assert sorted([*state.pivots, *rest]) == list(range(X.shape[1]))
    np.testing.assert_array_equal(
        PivotedQR(sparse.csr_array(X)).extend(X.shape[1]).pivots, state.pivots
    )


def test_heavy_cancellation_is_recomputed():
    rng = np.random.default_rng(3)
    base = rng.standard_normal((80, 1)) * 1e4
    X = base + np.exp(rng.standard_normal(60)) * 1e-2 * rng.standard_normal((80, 60))
    pivots = PivotedQR(X).extend(60).pivots
    assert_greedy(X, pivots, steps=range(0, 60, 7))
    assert assert_as_lapack(X, pivots) == 60

    # negative control: downdates alone lose the order
    norms = np.einsum("ij,ij->j", X, X)
    order = []
    for _ in range(60):
        order.append(int(norms.argmax()))
        q = np.linalg.qr(X[:, order])[0][:, -1]
        norms = norms - (q @ X) ** 2
        norms[order] = -np.inf
    assert order != pivots.tolist()


def test_ties_go_to_the_lowest_index_whatever_the_rounding():
    rng = np.random.default_rng(4)
    base = rng.standard_normal((30, 20))
    X = np.hstack([base, base, base * (1 + 1e-13)])[:, rng.permutation(60)]
    pivots = PivotedQR(X).extend(60).pivots
    assert len(pivots) == 20
    for pivot in pivots:
        same = np.flatnonzero(np.abs(X - X[:, [pivot]]).max(axis=0) < 1e-9)
        assert pivot == same.min()
    rotation = np.linalg.qr(rng.standard_normal((30, 30)))[0]
    np.testing.assert_array_equal(PivotedQR(rotation @ X).extend(60).pivots, pivots)


def test_memory_stays_far_below_a_dense_copy(peak_memory):
    X = sparse.random_array(
        (2_000, 5_000),
        density=0.005,
        random_state=np.random.default_rng(7),
        format="csr",
    )
    state = PivotedQR(X)
    assert peak_memory(lambda: state.extend(200)) < 0.1 * 8 * 2_000 * 5_000
    assert isinstance(state._span, SparseSpan)
    assert_greedy(X.toarray(), state.pivots, steps=[0, 60])
