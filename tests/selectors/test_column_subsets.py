"""Selectors of column subsets: beside plain loops, their laws by enumeration, their guarantees on many inputs."""

import numpy as np
import pytest
from scipy import sparse, stats

from provsel import selectors
from provsel.kernels.randomized_pivoting import randomly_pivoted_columns, volume_sample
from provsel.kernels.subset_bounds import (
    Spectrum,
    oblique_bound,
    random_pivots_expectation,
)
from provsel.kernels.tails import IdentityTail
from textbook_subsets import (
    MATRICES,
    kahan,
    leading,
    pivot_law,
    ratios,
    text,
    textbook_exchanges,
    textbook_single_svd,
    volume_law,
)

DETERMINISTIC = {
    "single svd": selectors.SingleSVDSelector,
    "basis only": lambda r: selectors.SingleSVDSelector(r, form="basis_only"),
    "strong rrqr": selectors.StrongRRQRSelector,
    "strong rrqr f=1": lambda r: selectors.StrongRRQRSelector(r, f=1.0),
}
RANDOM = {
    "arp": selectors.AdaptiveRandomizedPivotingSelector,
    "rpqr": selectors.RandomlyPivotedQRSelector,
}
EVERY = DETERMINISTIC | {
    name: (lambda r, cls=cls: cls(r, random_state=0)) for name, cls in RANDOM.items()
}
BARRIERS = {
    "spectral": lambda k, most=2**40: selectors.SpectralSelectionSelector(
        min(2 * k, most), rank=k
    ),
    "dual set": lambda k, most=2**40: selectors.DualSetSelector(
        min(2 * k, most), rank=k
    ),
}
AT_THE_RANK = {"spectral at the rank": selectors.SpectralSelectionSelector}
PIVOTS = {"rrqr": lambda r: selectors.RRQRSelector(r, completion="norm")}

FALSE_ALARM = 1e-6
"""Chance that a test of a law fails although it holds; seeds are fixed, so that it does or does not for good."""


def law_holds(counts, law):
    """Chi-squared test of counted outcomes; rare ones, expected less than five times, are put together."""
    total = sum(counts.values())
    assert set(counts) <= {outcome for outcome, p in law.items() if p > 0}
    rare = {outcome for outcome, p in law.items() if p * total < 5}
    pairs = [
        (counts.get(outcome, 0), p * total)
        for outcome, p in law.items()
        if outcome not in rare
    ]
    pairs.append(
        (sum(counts.get(o, 0) for o in rare), sum(law[o] for o in rare) * total)
    )
    observed, expected = np.array([pair for pair in pairs if pair[1] > 0]).T
    return (
        stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue
        > FALSE_ALARM
    )


def counted(draw, times):
    counts = {}
    for _ in range(times):
        outcome = draw()
        counts[outcome] = counts.get(outcome, 0) + 1
    return counts


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_single_svd_is_the_textbook(name, form):
    X, k = MATRICES[name]
    if name == "low rank, less noise" and form is sparse.csr_array:
        pytest.skip("the Gram matrix of the rows holds nothing of a tail of 1e-14")
    V, E = leading(X, k)
    ours = (
        selectors.SingleSVDSelector(k).fit(form(X)).indices_,
        selectors.SingleSVDSelector(k, form="basis_only").fit(form(X)).indices_,
    )
    plain = textbook_single_svd(V, E), textbook_single_svd(V, np.eye(len(V)) - V @ V.T)
    # the tail of its last columns is rounding, which decides the order, but not the set
    if name == "Kahan":
        ours, plain = np.sort(ours), np.sort(plain)
    np.testing.assert_array_equal(ours, plain)


@pytest.mark.parametrize("name", sorted(set(MATRICES) - {"Kahan"}))
@pytest.mark.parametrize("f", [2.0, 1.0])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_strong_rrqr_is_the_textbook(name, f, form):
    X, k = MATRICES[name]
    k = min(k, 6)
    start = selectors.RRQRSelector(k).fit(X).indices_
    chosen, exchanges, largest = textbook_exchanges(X, start, f)
    selector = selectors.StrongRRQRSelector(k, f=f).fit(form(X))
    np.testing.assert_array_equal(selector.indices_, chosen)
    assert selector.n_exchanges_ == exchanges
    assert selector.largest_factor_ == pytest.approx(largest, rel=1e-6)
    assert selector.largest_factor_ <= f * (1 + 1e-9)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_exchanges_happen(form):
    """Kahan's matrix needs one; without it the pivots, the negative control, break the bound by ten orders."""
    X = kahan(60)
    k = 59
    selector = selectors.StrongRRQRSelector(k).fit(form(X))
    assert selector.n_exchanges_ >= 1
    bound = selector.subset_promise(
        Spectrum(np.linalg.svd(X, compute_uv=False)), k
    ).spectral
    assert bound == 1 + 4 * k
    assert max(ratios(X, selector.indices_, k)) <= bound
    assert min(ratios(X, selectors.RRQRSelector(k).fit(X).indices_, k)) > 1e10


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("method", DETERMINISTIC | AT_THE_RANK | BARRIERS)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_guarantees_of_deterministic_methods(name, method, form):
    X, k = MATRICES[name]
    if method in BARRIERS:  # of fewer than all columns
        k = 3 if name == "hardest" else min(k, 8)
        selector = BARRIERS[method](k, X.shape[1] - 1).fit(form(X))
    else:
        selector = (DETERMINISTIC | AT_THE_RANK)[method](k).fit(form(X))
    promise = selector.subset_promise(Spectrum(np.linalg.svd(X, compute_uv=False)), k)
    frobenius, spectral = ratios(X, selector.indices_, k)
    assert promise.rank == k
    assert frobenius <= promise.frobenius * (1 + 1e-8)
    assert not spectral > promise.spectral * (1 + 1e-8)


@pytest.fixture(scope="module")
def counts():
    """Return text as it is, k, the dense rows, and their singular values, which take a second."""
    X, k = text()
    dense = X.toarray().astype(float)
    return X, k, dense, np.linalg.svd(dense, compute_uv=False)


@pytest.mark.parametrize("method", EVERY | BARRIERS)
def test_guarantees_on_text(method, counts):
    X, k, dense, sigma = counts
    selector = (EVERY | BARRIERS)[method](k).fit(X)
    promise = selector.subset_promise(Spectrum(sigma), k)
    frobenius, spectral = ratios(dense, selector.indices_, k, sigma)
    if not promise.expectation:
        assert frobenius <= promise.frobenius
        assert not spectral > promise.spectral
    # the control: rare words say nothing of the matrix
    rare = np.argsort(np.linalg.norm(dense, axis=0), kind="stable")[:k]
    assert ratios(dense, rare, k, sigma)[0] > max(frobenius, 2)


def test_the_control_breaks_the_bounds():
    """Uniform choices break k + 1, and even 1 + 4 k (d - k), where few columns carry the singular vectors."""
    X, k = MATRICES["low rank, less noise"]
    worst = np.argsort(np.linalg.norm(X, axis=0))[:k]
    assert ratios(X, worst, k)[0] > k + 1
    X = X.copy()
    X[:, :k] = 1e-9 * np.eye(*X.shape)[:, :k]
    assert min(ratios(X, np.arange(k), k)) > 1 + 4 * k * (X.shape[1] - k)


def test_adaptive_randomized_pivoting_has_the_law_of_volumes():
    V, _ = leading(np.random.default_rng(0).standard_normal((5, 7)), 3)
    rng = np.random.default_rng(1)
    counts = counted(lambda: tuple(sorted(volume_sample(V, rng).tolist())), 8_000)
    assert law_holds(counts, volume_law(V))
    law_of_another_matrix = volume_law(
        leading(np.random.default_rng(2).standard_normal((5, 7)), 3)[0]
    )
    assert not law_holds(counts, law_of_another_matrix)


def small_and_uneven():
    """Return a 4 x 6 matrix whose columns have unequal norms, and two of which are nearly the same."""
    X = np.random.default_rng(4).standard_normal((4, 6)) * np.array(
        [3, 1, 1, 1, 2, 0.5]
    )
    X[:, 5] = X[:, 4] + 0.1 * X[:, 0]
    return X


@pytest.fixture(scope="module")
def law_of_triples():
    """Return the law of three pivots of that matrix; the plain block, which takes every proposal, does not have it."""
    X = small_and_uneven()
    law = pivot_law(X, 3)
    assert sum(law.values()) == pytest.approx(1)
    rng = np.random.default_rng(5)
    p = (X**2).sum(axis=0) / (X**2).sum()
    assert not law_holds(
        counted(lambda: tuple(rng.choice(6, 3, replace=False, p=p).tolist()), 3_000),
        law,
    )
    return law


@pytest.mark.parametrize("block_size", [1, 2, 5])
def test_randomly_pivoted_qr_has_the_law_of_one_draw_at_a_time(
    block_size, law_of_triples
):
    """Ordered triples; the control is in the fixture."""
    X = small_and_uneven()
    rng = np.random.default_rng(5)
    counts = counted(
        lambda: tuple(randomly_pivoted_columns(X, 3, block_size, rng).tolist()), 3_000
    )
    assert law_holds(counts, law_of_triples)


@pytest.mark.parametrize("block_size", [1, 2, 5])
def test_randomly_pivoted_qr_draws_the_same_of_sparse_columns(block_size):
    """So that they have the law of dense ones, and draw as many random numbers: one generator goes through all."""
    X = small_and_uneven()
    ours = np.random.default_rng(6)
    theirs = np.random.default_rng(6)
    columns = sparse.csc_array(X)
    for _ in range(100):
        drawn = randomly_pivoted_columns(columns, 3, block_size, ours)
        np.testing.assert_array_equal(
            drawn, randomly_pivoted_columns(X, 3, block_size, theirs)
        )


def mean_exceeds(draws, bound):
    """Tell whether the expectation of non-negative draws must be above a bound.

    By five standard errors of the mean, chance of a false alarm 3e-7 where the mean is
    normal; or, whatever the tails, by Markov's inequality: at most a quarter exceeds
    four times the bound, tested as a binomial at `FALSE_ALARM`.
    """
    far = int((np.array(draws) > 4 * bound).sum())
    by_markov = (
        stats.binomtest(far, len(draws), 0.25, alternative="greater").pvalue
        < FALSE_ALARM
    )
    return by_markov or np.mean(draws) > bound + 5 * np.std(draws) / np.sqrt(len(draws))


@pytest.mark.parametrize(
    "name", ["wide", "low rank plus noise", "duplicates", "few non-zeros"]
)
@pytest.mark.parametrize("method", RANDOM)
def test_expectations_of_random_methods(name, method):
    """Means of 200 draws; the exact means of small matrices are those of the tests by enumeration."""
    X, k = MATRICES[name]
    draws = [
        ratios(X, RANDOM[method](k, random_state=seed).fit(X).indices_, k)[0]
        for seed in range(200)
    ]
    promise = (
        RANDOM[method](k, random_state=0)
        .fit(X)
        .subset_promise(Spectrum(np.linalg.svd(X, compute_uv=False)), k)
    )
    assert promise.expectation
    assert not mean_exceeds(draws, promise.frobenius)
    assert min(draws) >= 1 - 1e-9


def test_uniform_draws_break_the_expectation():
    X, k = MATRICES["low rank plus noise"]
    rng = np.random.default_rng(0)
    draws = [
        ratios(X, rng.choice(X.shape[1], k, replace=False), k)[0] for _ in range(200)
    ]
    bound = random_pivots_expectation(
        Spectrum(np.linalg.svd(X, compute_uv=False)), k, k
    )
    assert mean_exceeds(draws, k + 1)
    assert mean_exceeds(draws, bound)


def test_the_expected_error_of_random_pivots_is_below_the_recursion():
    """By enumeration of all ordered pairs and triples; and from r = k on below 2^k."""
    X = np.random.default_rng(6).standard_normal((5, 7)) * np.array(
        [4, 1, 1, 1, 0.1, 0.1, 2]
    )
    spectrum = Spectrum(np.linalg.svd(X, compute_uv=False))
    for r, k in [(1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3)]:
        mean = sum(p * ratios(X, list(S), k)[0] for S, p in pivot_law(X, r).items())
        assert (
            mean
            <= random_pivots_expectation(spectrum, r, k) * (1 + 1e-12)
            <= 2**k * (1 + 1e-12)
        )
    cut = Spectrum(spectrum.values[:2], spectrum.tail(2))
    assert random_pivots_expectation(spectrum, 3, 1) <= random_pivots_expectation(
        cut, 3, 1
    )


@pytest.mark.parametrize("eps", [0.1, 0.5])
@pytest.mark.parametrize("rank", [1, 7, 40])
def test_randomly_pivoted_budget_is_enough_for_the_recursion(rank, eps):
    share = 0.02
    r = selectors.RandomlyPivotedQRSelector.budget(rank, eps, tail_share=share)
    for squares in (np.ones(rank), 0.5 ** np.arange(rank)):
        rest = np.full(20 * r, share / (20 * r))
        spectrum = Spectrum(
            np.sqrt(np.concatenate([squares / squares.sum() * (1 - share), rest]))
        )
        assert random_pivots_expectation(spectrum, r, rank) <= 1 + eps
        # as many as the rank are not
        assert random_pivots_expectation(spectrum, rank, rank) > 1 + eps


def test_more_redraws_are_no_worse_and_seldom_exceed_twice_k_plus_one():
    X, k = MATRICES["low rank plus noise"]
    V, _ = leading(X, k)

    def fit(m, seed):
        return (
            selectors.AdaptiveRandomizedPivotingSelector(
                k, n_redraws=m, random_state=seed
            )
            .fit(X)
            .indices_
        )

    def worst(m):
        return max(ratios(X, fit(m, seed), k)[0] for seed in range(20))

    assert worst(20) <= 2 * (k + 1)  # 20 fits, each fails with a chance of 2^-20
    assert worst(20) < worst(1)
    assert selectors.AdaptiveRandomizedPivotingSelector.redraws(1e-6) == 20
    assert oblique_bound(V[fit(1, 0)], IdentityTail(V), fit(1, 0)) >= 1


@pytest.mark.parametrize("method", EVERY | PIVOTS)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_more_than_the_rank(method, form):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((20, 5)) @ rng.standard_normal((5, 40))
    X[:, 3] = 0
    selector = (EVERY | PIVOTS)[method](40).fit(form(X))
    assert (selector.rank_, selector.n_completed_) == (5, 35)
    assert np.linalg.matrix_rank(X[:, selector.indices_[:5]]) == 5
    completed = np.linalg.norm(X, axis=0)[selector.indices_[5:]]
    assert (np.diff(completed) <= 0).all()
    assert selector.indices_[-1] == 3


@pytest.fixture(scope="module")
def twenty_thousand():
    """Rows and columns: a dense X would have 3.2 GB."""
    X = sparse.random_array(
        (20_000, 20_000),
        density=1e-4,
        random_state=np.random.default_rng(8),
        format="csr",
    )
    return sparse.csr_array(
        X
        + sparse.csr_array(
            (np.full(60, 5.0), (np.arange(60), np.arange(60) % 6)), X.shape
        )
    )


@pytest.mark.parametrize("method", EVERY | BARRIERS)
def test_large_sparse_rows_are_never_made_dense(method, twenty_thousand, monkeypatch):
    """The leading space comes by Lanczos."""
    X = twenty_thousand
    original = type(X).toarray

    def toarray(self, *args, **kwargs):
        assert np.prod(self.shape) < 2**24
        return original(self, *args, **kwargs)

    monkeypatch.setattr(type(X), "toarray", toarray)
    selector = (EVERY | BARRIERS)[method](6).fit(X)
    assert selector.indices_.size == (12 if method in BARRIERS else 6)
    if "rp" not in method:
        assert set(range(6)) <= set(selector.indices_)
