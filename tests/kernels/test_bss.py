"""BSS against its textbook version, its guarantee, and the promises of its lazy search."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from provsel.kernels.bss import bss
from provsel.kernels.bss_barriers import SIGNS, Barriers, Diagonals
from provsel.kernels.bss_columns import OrderedColumns, columns_by_norm, directions
from provsel.kernels.spectral import spectral_basis
from textbook import textbook_bss


def gaussian(rng):
    return rng.standard_normal((16, 400))


def lognormal(rng):
    return gaussian(rng) * np.exp(1.5 * rng.standard_normal(400))


def text_like(rng):
    """Word counts: half of the words occur in one document only, so that many columns are equal or parallel."""
    X = rng.poisson(rng.pareto(1.5, 500) * 0.1, (24, 500)).astype(float)
    rare = rng.choice(500, 250, replace=False)
    X[:, rare] = 0
    X[rng.integers(24, size=250), rare] = rng.integers(1, 4, size=250)
    return X


def low_rank(rng):
    return rng.standard_normal((30, 5)) @ rng.standard_normal((5, 300))


def duplicated(rng):
    return np.tile(rng.standard_normal((12, 70)), 5)[:, rng.permutation(350)]


def tied(rng):
    """All rows of V have the same norm, but for rounding."""
    return np.hstack(
        [np.linalg.qr(rng.standard_normal((10, 10)))[0] for _ in range(30)]
    )


def zeros_between(rng):
    X = rng.standard_normal((8, 200))
    X[:, ::3] = 0
    return X


INPUTS = [gaussian, lognormal, text_like, low_rank, duplicated, tied, zeros_between]


def sparsified(V, r, *, preferred=None, **options):
    return bss(OrderedColumns(V, preferred), r, **options)


def basis_of(make, seed=0):
    return spectral_basis(make(np.random.default_rng(seed))).V


def assert_same_as_textbook(V, r, rtol=1e-8, **options):
    with np.errstate(divide="ignore"):  # a barrier on an eigenvalue
        fast = sparsified(V, r, **options)
        picks, gains = textbook_bss(V, r, **options)
    assert_array_equal(fast.picks, picks)
    assert_allclose(fast.gains, gains, rtol=rtol)
    return fast


def eigenvalues(V, result, r):
    rank = V.shape[1]
    squared = result.gains * (1 - np.sqrt(rank / r)) / r
    kept = V[result.picks]
    return np.linalg.eigvalsh(kept.T @ (kept * squared[:, None]))


def assert_guarantee(V, result, r):
    ratio = np.sqrt(V.shape[1] / r)
    spectrum = eigenvalues(V, result, r)
    assert (result.gains > 0).all()
    assert spectrum[0] >= (1 - ratio) ** 2 * (1 - 1e-9)
    assert spectrum[-1] <= (1 + ratio) ** 2 * (1 + 1e-9)


@pytest.mark.parametrize(
    "steps", ["rank + 1", "2 * rank", "6 * rank", "88 of 90 columns"]
)
@pytest.mark.parametrize("make", INPUTS, ids=lambda make: make.__name__)
def test_equals_the_textbook(make, steps):
    few = "columns" in steps
    V = spectral_basis(make(np.random.default_rng(0))[:, : 90 if few else None]).V
    rank = V.shape[1]
    r = {"rank + 1": rank + 1, "2 * rank": 2 * rank, "6 * rank": 6 * rank}.get(
        steps, 88
    )
    result = assert_same_as_textbook(V, r)
    assert_guarantee(V, result, r)
    # unselected feasible columns run out
    if few and make in (text_like, zeros_between, low_rank, lognormal):
        assert np.unique(result.picks).size < r


@pytest.mark.parametrize(
    "make", [gaussian, lognormal, duplicated], ids=lambda make: make.__name__
)
def test_the_other_gain_equals_the_textbook_and_breaks_the_guarantee(make):
    V = basis_of(make)
    r = 2 * V.shape[1]
    fast = assert_same_as_textbook(V, r, rtol=1e-6, gain="mean")
    assert 0 < fast.n_infeasible < r
    assert sparsified(V, r).n_infeasible == 0
    with pytest.raises(AssertionError):
        assert_guarantee(V, fast, r)


def as_displayed(V, r, shifts, no_candidate):
    """Section 4.1 as it stands there, with the inverses written out; the potential at an eigenvalue is infinite."""
    rank = V.shape[1]
    upward = (1 + np.sqrt(rank / r)) / (1 - np.sqrt(rank / r))
    unit = np.eye(rank)
    A = np.zeros((rank, rank))
    free = [*np.argsort(-np.linalg.norm(V, axis=1), kind="stable")]
    picks = []
    gains = []
    for tau in range(r):
        shift = {True: np.sqrt(tau * rank), False: np.sqrt(r * rank)}
        L = tau - shift[shifts in ("section_4_1", "section_4_1_lower")]
        U = upward * (tau + shift[shifts in ("section_4_1", "section_4_1_upper")])
        lam = np.linalg.eigvalsh(A)
        with np.errstate(divide="ignore"):
            below = np.sum(1 / (lam - (L + 1))) - np.sum(1 / (lam - L))
            above = np.sum(1 / (U - lam)) - np.sum(1 / (U + upward - lam))
        low = np.linalg.inv(A - (L + 1) * unit)
        high = np.linalg.inv((U + upward) * unit - A)
        lower = [v @ low @ low @ v / below - v @ low @ v for v in V]
        upper = [v @ high @ high @ v / above + v @ high @ v for v in V]
        feasible = [i for i in free if upper[i] <= lower[i]]
        if not feasible and no_candidate == "repeat":
            feasible_again = [i for i in picks if upper[i] <= lower[i]]
            feasible = sorted({*feasible_again}, key=lambda i: -np.linalg.norm(V[i]))
        if not feasible and no_candidate == "skip":
            continue
        i = feasible[0] if feasible else free[0]
        t = 2 / (upper[i] + lower[i]) if feasible else (gains or [1.0])[-1]
        A = A + t * np.outer(V[i], V[i])
        free = [column for column in free if column != i]
        picks.append(i)
        gains.append(t)
    return np.array(picks), np.array(gains)


@pytest.mark.parametrize("no_candidate", ["repeat", "longest", "skip"])
@pytest.mark.parametrize(
    "shifts", ["algorithm_1", "section_4_1", "section_4_1_lower", "section_4_1_upper"]
)
def test_the_shifts_of_section_4_1_are_as_displayed(shifts, no_candidate):
    for seed in range(3):
        V = basis_of(lognormal, seed)[:120]
        V, r = np.linalg.qr(V)[0], 40
        with np.errstate(divide="ignore"):
            result = sparsified(V, r, shifts=shifts, no_candidate=no_candidate)
        picks, gains = as_displayed(V, r, shifts, no_candidate)
        assert_array_equal(result.picks, picks)
        assert_allclose(result.gains, gains, rtol=1e-7)
    if shifts == "algorithm_1":
        # a candidate is there in each step
        assert_array_equal(result.picks, sparsified(V, r).picks)
    elif no_candidate == "skip":
        assert result.picks.size == r - result.n_infeasible < r


@pytest.mark.parametrize("make", [lognormal, text_like], ids=lambda make: make.__name__)
def test_another_order_of_preference_equals_the_textbook_and_keeps_the_guarantee(make):
    V = basis_of(make)
    r = 3 * V.shape[1]
    preferred = np.linalg.norm(make(np.random.default_rng(0)), axis=0)
    fast = assert_same_as_textbook(V, r, preferred=preferred)
    assert_guarantee(V, fast, r)
    assert (fast.picks != sparsified(V, r).picks).any()


@given(
    seed=st.integers(0, 2**32 - 1),
    rank=st.integers(1, 9),
    extra=st.integers(1, 30),
    d=st.integers(45, 120),
    spread=st.sampled_from([0.0, 0.5, 2.0]),
    copies=st.integers(0, 20),
)
@settings(max_examples=50, deadline=None)
def test_equals_the_textbook_on_any_input(seed, rank, extra, d, spread, copies):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rank, d)) * np.exp(spread * rng.standard_normal(d))
    X[:, d - copies :] = X[:, :copies] * rng.choice([1.0, -1.0, 2.0], copies)
    V = spectral_basis(X).V
    r = V.shape[1] + extra
    result = assert_same_as_textbook(V, r)
    assert_guarantee(V, result, r)


@pytest.mark.parametrize("tiny", [0.0, 1e-8, 1e-20, 1e-90, 1e-155])
def test_a_barrier_that_stands_on_an_eigenvalue_makes_no_column_feasible(tiny):
    """After four of eight steps on rank two the lower barrier is 0, as is an eigenvalue of A but for rounding."""
    V = np.zeros((12, 2))
    V[:11] = [1 / np.sqrt(11), tiny]
    V[11, 1] = 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        result = sparsified(V, 8, preferred=np.linspace(2, 1, 12), gain="mean")
    assert result.n_infeasible == 3
    assert result.picks.tolist() == [*range(8)]
    # the step before, this one, and the next
    assert_array_equal(result.gains[2:5], result.gains[1])
    assert result.gains.max() < 0.1


def test_the_guarantee_needs_the_weights():
    V = basis_of(lognormal)
    r = 4 * V.shape[1]
    result = sparsified(V, r)
    assert_guarantee(V, result, r)
    with pytest.raises(AssertionError):
        assert_guarantee(V, result._replace(gains=1 / result.gains), r)
    with pytest.raises(AssertionError):
        assert_guarantee(V, result._replace(picks=result.picks[::-1].copy()), r)


def test_columns_that_are_no_basis_raise():
    V = np.zeros((60, 3))
    V[:, 0] = 1.0  # nothing can ever raise the other two eigenvalues
    with pytest.raises(
        ArithmeticError, match="no feasible column: expected V with orthonormal columns"
    ):
        sparsified(V, 40)


@pytest.mark.parametrize(
    ("spread", "r"),
    [(0.0, 60), (1.0, 60), (2.0, 250)],
    ids=["equal norms", "spread norms", "picks deep in the order"],
)
def test_no_copy_of_the_basis(spread, r, peak_memory):
    rng = np.random.default_rng(3)
    scale = np.exp(spread * rng.standard_normal((20_000, 1)))
    V = np.linalg.qr(rng.standard_normal((20_000, 40)) * scale)[0]
    assert peak_memory(lambda: sparsified(V, r)) < 0.5 * V.nbytes


@given(seed=st.integers(0, 2**32 - 1), near=st.floats(1e-3, 3.0))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_the_bound_of_the_excess_leaves_out_what_is_infeasible(seed, near):
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(1, 30))
    j = int(rng.integers(0, 12))
    lam = rng.uniform(0, 20, rank)
    W = rng.standard_normal((rank, j))
    A = np.diag(lam) + W @ W.T
    low = -near
    high = float(np.linalg.eigvalsh(A)[-1]) + 5.0
    lower = np.linalg.inv(A - low * np.eye(rank))
    upper = np.linalg.inv(high * np.eye(rank) - A)
    traces = np.array([np.trace(lower), np.trace(upper)])
    # the potentials change by 0.3 and 0.2
    barriers = Barriers(
        Diagonals(lam, np.array([[low, high]])), 0, W.T, traces - SIGNS * [0.3, 0.2]
    )
    assert_allclose(barriers.traces, traces, rtol=1e-9)
    Z = rng.standard_normal((200, rank))
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    L = np.einsum("ij,ij->i", Z @ (lower @ lower / 0.3 - lower), Z)
    U = np.einsum("ij,ij->i", Z @ (upper @ upper / 0.2 + upper), Z)
    scores = barriers.scores(Z)
    bound = barriers.excess_bound()
    assert_allclose(scores.L, L, rtol=1e-6, atol=1e-6 * np.abs(L).max())
    assert_allclose(scores.U, U, rtol=1e-9)
    # L is exact, U as if A had only the eigenvalues of the old eigenbasis
    far = Z**2 @ (1 / (high - lam))
    below = far + far**2 / 0.2 - L
    assert (below <= U - L + 1e-9 * U).all()
    left_out = bound.is_positive(Z.astype(np.float32))
    assert (U[left_out] > L[left_out]).all()
    assert left_out[below > 2 * bound.rounding].all()


def test_columns_by_norm_breaks_ties_by_index():
    norms = np.array(
        [
            1.0,
            2.0,
            0.0,
            2.0 * (1 + 3e-11),
            2.0 * (1 - 3e-11),
            2.0 * (1 - 1e-9),
            1.0,
            3.0,
        ]
    )
    assert_array_equal(columns_by_norm(norms), [7, 1, 3, 4, 5, 0, 6])
    chained = 1 - 6e-11 * np.arange(6)[::-1]  # neighbours are tied, the ends are not
    assert_array_equal(columns_by_norm(chained), [4, 5, 2, 3, 0, 1])


def numbered(V):
    return directions(V, np.linalg.norm(V, axis=1), np.arange(len(V)))


def test_directions_group_multiples():
    rng = np.random.default_rng(4)
    base = rng.standard_normal((30, 6))
    which = rng.integers(30, size=600)
    V = base[which] * rng.choice([-3.0, -1.0, 0.5, 1.0, 2.0], 600)[:, None]
    labels = numbered(V)
    for direction in range(30):
        assert np.unique(labels[which == direction]).size == 1
    assert np.unique(labels).size == np.unique(which).size


def test_directions_compare_in_full_where_projections_agree():
    projector = np.random.default_rng(0).standard_normal(3)
    # of projection 0, but for rounding
    first, second = np.linalg.svd(projector[None])[2][1:]
    assert np.unique(numbered(np.vstack([first, -first, [1.0, 0, 0]]))).tolist() == [
        0,
        1,
    ]
    # those of two directions may lie in any order, and only neighbours are compared:
    # pairs may be missed, never made up
    labels = numbered(np.vstack([first, second, -first, -second, [1.0, 0, 0]]))
    assert labels[4] not in labels[:4]
    assert not {labels[0], labels[2]} & {labels[1], labels[3]}


@pytest.mark.parametrize("noise", [1e-15, -1e-15])
def test_the_rounding_of_a_projection_decides_nothing(noise):
    projector = np.random.default_rng(0).standard_normal(3)
    direction = np.cross(projector, [1.0, 0, 0])
    direction /= np.linalg.norm(direction)
    same = -direction + noise * projector / np.linalg.norm(projector)
    assert np.unique(numbered(np.vstack([direction, same]))).size == 1
