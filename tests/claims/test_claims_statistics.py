"""Statistics of the verdicts against independent implementations, brute force and simulation."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
import scikit_posthocs
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import ttost_paired

from provlab.verdicts.claims.dataset_ranks import rank_methods
from provlab.verdicts.claims.location import near
from provlab.verdicts.claims.paired_tests import (
    MEASURED_SIZES,
    CorrectedT,
    DisjointT,
    DyadicT,
    SignedRank,
    holm,
    observations_needed,
    size_words,
)
from provlab.verdicts.fold_differences import LEVEL, FoldDifferences
from small_runs import REPO

ALTERNATIVES = ("two-sided", "less", "greater")


def equivalence_p_value(test, low, high):
    return near(low, high)[0].p_value(test)


def sample(seed, n=25, mean=0.5):
    return np.random.default_rng(seed).normal(mean, 2.0, n)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("n", [1, 2, 5, 8, 14, 50, 51, 200])
@pytest.mark.parametrize("decimals", [8, 0])  # all differ; ties and zeros
def test_signed_ranks_as_in_scipy(n, decimals, alternative):
    values = np.round(sample(n, n=n, mean=0.6), decimals)
    values[0] = values[0] or 1.0
    if n <= 8:  # SciPy's own way through all signs takes seconds with ties
        ranks = stats.rankdata(np.abs(values)) * (values != 0)
        sums = [
            ranks[list(signs)].sum()
            for signs in itertools.product((False, True), repeat=n)
        ]
        seen = ranks[values > 0].sum()
        low = np.mean([s <= seen for s in sums])
        high = np.mean([s >= seen for s in sums])
        expected = {
            "less": low,
            "greater": high,
            "two-sided": min(1.0, 2 * min(low, high)),
        }[alternative]
    else:
        expected = stats.wilcoxon(
            values, zero_method="zsplit", alternative=alternative
        ).pvalue
    assert SignedRank(values).p_value(0.0, alternative) == pytest.approx(
        expected, rel=1e-9
    )
    assert SignedRank(values + 0.7).p_value(0.7, alternative) == pytest.approx(
        expected, rel=1e-9
    )


@pytest.mark.parametrize("n", [6, 7, 12, 25, 40])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_interval_inverts_the_exact_test(n, level):
    """A shift just inside is not rejected, one just outside is; the estimate is Hodges and Lehmann's."""
    test = SignedRank(sample(n, n=n))
    averages = [
        (a + b) / 2
        for a, b in itertools.combinations_with_replacement(test.differences, 2)
    ]
    assert test.estimate == pytest.approx(np.median(averages))
    low, high = test.interval(level)
    for end, inward in ((low, 1e-6), (high, -1e-6)):
        inside, outside = (
            stats.wilcoxon(test.differences - end - shift, method="exact").pvalue
            for shift in (inward, -inward)
        )
        assert inside > 1 - level
        assert outside <= 1 - level + 1e-12


def test_too_few_differences_or_none_at_all():
    assert SignedRank(sample(1, n=5)).interval(0.95) == (-math.inf, math.inf)
    assert np.isfinite(SignedRank(sample(1, n=6)).interval(0.95)).all()
    test = SignedRank(np.zeros(20))
    assert test.p_value() == 1.0
    assert test.estimate == 0.0
    assert equivalence_p_value(test, -1, 1) < 1e-4
    noise = np.array([1e-15, -1e-15, 2e-16] * 7)  # equal means from other orders tie
    assert SignedRank(noise).p_value() == 1.0


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_t_without_overlap_is_the_plain_t_test(alternative):
    values = sample(5)
    test = CorrectedT(values, ratio=0.0)
    expected = stats.ttest_1samp(values, 0.3, alternative=alternative)
    assert test.p_value(0.3, alternative) == pytest.approx(expected.pvalue, rel=1e-10)
    assert_allclose(
        test.interval(0.95), stats.ttest_1samp(values, 0).confidence_interval(0.95)
    )


@pytest.mark.parametrize("mean", [0.0, 0.9, 3.0])
def test_tost_is_that_of_statsmodels(mean):
    rng = np.random.default_rng(6)
    first = rng.normal(mean, 1, 30)
    second = rng.normal(0, 1, 30)
    p_value, *_ = ttost_paired(first, second, -1.0, 1.0)
    assert equivalence_p_value(
        CorrectedT(first - second, ratio=0.0), -1.0, 1.0
    ) == pytest.approx(p_value, rel=1e-9)


def test_variances_by_hand():
    values = np.array([1.0, 2.0, 4.0, 1.0])
    corrected = CorrectedT(values, ratio=1 / 9)
    assert corrected.p_value() == pytest.approx(
        2 * stats.t.sf(2.0 / math.sqrt((1 / 4 + 1 / 9) * 2.0), 3)
    )
    # disjoint training sets: s^2 / n, and what one row's difference can vary, over the
    # number of rows
    disjoint = DisjointT(values, n_folds=4, shared=0.3)
    assert disjoint.p_value() == pytest.approx(
        2 * stats.t.sf(2.0 / math.sqrt(2.0 / 4 + 0.3), 3)
    )
    # a second repeat trains on the same rows
    twice = DisjointT(np.tile(values, 2), n_folds=4, shared=0.3)
    assert twice.spread(8)[1] == 3
    assert twice.spread(8)[0] == pytest.approx(
        math.sqrt(np.var(np.tile(values, 2), ddof=1) / 4 + 0.3)
    )


def test_correction_keeps_the_level_that_the_plain_test_breaks():
    """Differences of overlapping training sets share a component: correlation n_test / (n_test + n_train) = 0.1."""
    rng = np.random.default_rng(7)
    samples = [
        math.sqrt(0.1) * rng.standard_normal()
        + math.sqrt(0.9) * rng.standard_normal(100)
        for _ in range(600)
    ]
    assert (
        np.mean(
            [CorrectedT(values, ratio=1 / 9).p_value() < 0.05 for values in samples]
        )
        <= 0.08
    )
    assert (
        np.mean([CorrectedT(values, ratio=0.0).p_value() < 0.05 for values in samples])
        >= 0.3
    )


def test_two_classifiers_of_the_same_error_by_inverse_cross_validation():
    """Nine tenths are tested on, so that folds share test rows: without the shared term t finds too much."""
    rng = np.random.default_rng(11)
    disjoint = plain = 0
    for _ in range(400):
        # Losses of two methods at an error rate of 0.2, of which a row decides most and
        # the training set some.
        hard = rng.random((2, 400)) < 0.2
        losses = np.where(
            rng.random((2, 10, 400)) < 0.3,
            rng.random((2, 10, 400)) < 0.2,
            hard[:, None],
        )
        parts = np.array_split(rng.permutation(400), 10)
        errors = np.empty((2, 10))
        for m, k in np.ndindex(2, 10):
            errors[m, k] = np.delete(losses[m, k], parts[k]).mean()
        differences = 100 * (errors[0] - errors[1])
        variance = 1e4 * (
            errors.mean(axis=1).sum() - np.diff(errors.mean(axis=1))[0] ** 2
        )
        disjoint += (
            DisjointT(differences, n_folds=10, shared=variance / 400).p_value() < 0.05
        )
        plain += CorrectedT(differences, ratio=0.0).p_value() < 0.05
    assert disjoint / 400 <= 0.05
    assert plain / 400 >= 0.3


def test_the_stated_sizes_are_those_of_the_measured_table():
    table = pd.read_csv(REPO / "docs" / "measured" / "compare_rules.csv")
    simulated = table[~table["what"].str.contains(":")]
    for (repeats, n_folds), stated in MEASURED_SIZES.items():
        shares = (
            simulated[simulated["folds"] == f"{repeats} x {n_folds}"]
            .groupby("what")["compare"]
            .mean()
        )
        assert stated == (round(100 * shares.min()), round(100 * shares.max()))
        assert f"{stated[0]} to {stated[1]} %" in size_words(repeats, n_folds)
    assert size_words(1, 24) == size_words(1, 10)
    assert size_words(3, 4) == size_words(2, 5)


@pytest.mark.parametrize("value", [0.0, 2.0])
@pytest.mark.parametrize("n", [3, 10])
def test_differences_that_do_not_vary(value, n):
    """The t-test says nothing then; the sign test still does, and three folds are not enough for it."""
    test = CorrectedT(np.full(n, value), ratio=1 / 9)
    assert test.p_value(value) == 1.0
    for shift, alternative in itertools.product((-1.0, 1.0), ALTERNATIVES):
        signs = np.sum(test.estimate > shift) * n
        expected = stats.binomtest(int(signs), n, alternative=alternative).pvalue
        assert test.p_value(shift, alternative) == pytest.approx(expected)
    assert (equivalence_p_value(test, -1, 1) < 0.05) == (n == 10 and value == 0)
    assert test.interval(0.95) == ((value, value) if n == 10 else (-math.inf, math.inf))


PAIRS = [
    ("a", "b"),
    ("a", "c"),
    ("c", "d"),
    ("e", "f"),
    ("f", "a"),
    ("g", "h"),
    ("i", "j"),
]


def test_pairs_that_share_a_member_by_brute_force():
    values = np.array([1.0, 3.0, -2.0, 0.5, 4.0, 2.0, -1.0])
    overlaps = [
        not {*first}.isdisjoint(second)
        for first, second in itertools.product(PAIRS, repeat=2)
    ]
    shared = np.reshape(overlaps, (len(PAIRS), len(PAIRS))).astype(float)
    n = len(values)
    u = values - values.mean()
    away = np.eye(n) - 1 / n
    b = away @ shared @ away
    variance = max(u @ shared @ u / (n * np.trace(b)), u @ u / (n - 1) / n)
    df = min(n - 1, np.trace(b) ** 2 / np.trace(b @ b))
    test = DyadicT(values, pairs=PAIRS)
    assert test.spread(n)[0] == pytest.approx(math.sqrt(variance))
    assert test.p_value(0.2, "greater") == pytest.approx(
        stats.t.sf((values.mean() - 0.2) / math.sqrt(variance), df)
    )
    apart = DyadicT(values, pairs=[(str(k), f"{k}'") for k in range(n)])
    assert apart.p_value() == pytest.approx(stats.ttest_1samp(values, 0).pvalue)


def test_common_members_mislead_the_plain_test():
    """80 pairs of 40 categories, with half of the variance theirs; the signed rank takes them for independent."""
    rng = np.random.default_rng(12)
    every = list(itertools.combinations(range(40), 2))
    pairs = [every[k] for k in rng.choice(len(every), 80, replace=False)]
    names = [(str(a), str(b)) for a, b in pairs]
    dyadic = ranks = 0
    for _ in range(400):
        effects = rng.standard_normal(40)
        values = np.array([effects[a] + effects[b] for a, b in pairs]) / 2 + math.sqrt(
            0.5
        ) * rng.standard_normal(80)
        dyadic += DyadicT(values, pairs=names).p_value() < 0.05
        ranks += SignedRank(values).p_value() < 0.05
    assert dyadic / 400 <= 0.075
    assert ranks / 400 >= 0.12


@pytest.mark.parametrize("n", [8, 30])
@pytest.mark.parametrize("side", ["less", "greater"])
def test_power_is_the_share_of_samples_that_reject(n, side):
    """From a large sample with heavy tails; the normal limit of ranks is coarser at n = 8."""
    rng = np.random.default_rng(13)
    pilot = rng.logistic(size=400)
    for make, tolerance in (
        (lambda x: CorrectedT(x, ratio=0.0), 0.06),
        (SignedRank, 0.09 if n == 8 else 0.05),
    ):
        test = make(pilot - pilot.mean())
        promised = test.power(n, 0.9, 0.05, side)
        moved = (
            rng.choice(pilot - pilot.mean(), (600, n))
            - test.estimate
            + (0.9 if side == "greater" else -0.9)
        )
        assert 0.2 < promised < 1
        assert np.mean(
            [make(x).p_value(0.0, side) < 0.05 for x in moved]
        ) == pytest.approx(promised, abs=tolerance)


def test_the_number_that_is_needed_by_statsmodels():
    values = sample(14, 40, 0.6)
    test = CorrectedT(values, ratio=0.0)
    needed = observations_needed(
        [lambda n: test.power(n, test.estimate, 0.025, "greater")]
    )
    effect = values.mean() / values.std(ddof=1)
    assert needed == math.ceil(
        TTestPower().solve_power(effect, None, 0.025, 0.9, alternative="larger")
    )
    detectable = TTestPower().solve_power(
        None, 40, 0.025, 0.9, alternative="larger"
    ) * values.std(ddof=1)
    assert test.detectable(0.025, "greater") == pytest.approx(detectable, rel=1e-4)
    assert test.detectable(0.0, "greater") == math.inf  # a level that nothing reaches

    # more folds of the same data do not decide everything
    folds = CorrectedT(sample(15, 10, 0.3), ratio=1 / 9)
    assert (
        observations_needed(
            [lambda n: folds.power(n, folds.estimate, 0.025, "greater")]
        )
        == math.inf
    )
    assert observations_needed([lambda n: folds.power(n, 100.0, 0.025, "greater")]) < 10


@pytest.mark.parametrize("n", [1, 2, 7, 12])
def test_holm_is_that_of_statsmodels(n):
    # with ties, zeros and ones
    p_values = np.round(np.random.default_rng(n).beta(0.3, 1.0, n), 2)
    assert_allclose(
        holm(p_values), multipletests(p_values, method="holm")[1], atol=1e-15
    )


def errors_of_methods(n=20, k=4, seed=9):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        rng.normal(30, 5, (n, 1)) + rng.normal(0, 1, (n, k)) + np.arange(k),
        columns=list("abcd")[:k],
    )


@pytest.mark.parametrize("decimals", [8, 0])  # all differ; ties
def test_ranking_as_in_scipy_and_posthocs(decimals):
    errors = errors_of_methods().round(decimals)
    ranking = rank_methods(errors).set_index("method")
    best, [difference] = ranking.index[0], ranking["critical_difference"].unique()
    mean = stats.rankdata(errors, axis=1).mean(axis=0)
    assert_allclose(ranking.loc[list("abcd"), "rank"], mean)
    assert_allclose(
        ranking["friedman_p"], stats.friedmanchisquare(*errors.to_numpy().T).pvalue
    )
    # Demsar (2006), Table 5: q at 0.05 for four classifiers is 2.569
    assert difference == pytest.approx(2.569 * math.sqrt(4 * 5 / (6 * 20)), rel=1e-3)
    pairs = scikit_posthocs.posthoc_nemenyi_friedman(errors)
    assert_array_equal(pairs < 0.05, np.abs(np.subtract.outer(mean, mean)) > difference)
    assert_allclose(ranking["p_against_best"][list("abcd")], pairs[best], atol=1e-12)


def test_what_is_ranked():
    errors = errors_of_methods()
    errors.iloc[3, 1] = np.nan
    assert {*rank_methods(errors)["n"]} == {len(errors) - 1}
    assert [
        len(rank_methods(errors_of_methods(n=n, k=k)))
        for n, k in ((1, 4), (20, 2), (0, 3))
    ] == [0] * 3
    ties = rank_methods(pd.DataFrame(np.ones((5, 3)), columns=list("abc")))
    assert {*ties["friedman_p"]} == {1.0}
    assert {*ties["rank"]} == {2.0}


def alike(n_methods, seed, n_folds=10):
    """Folds of methods without a difference, correlated as the corrected t-test takes them to be."""
    rng = np.random.default_rng([seed, n_methods])
    ratio = 1 / (n_folds - 1)
    correlation = ratio / (1 + ratio)
    own = np.sqrt(1 - correlation) * rng.standard_normal((n_folds, n_methods))
    values = pd.DataFrame(np.sqrt(correlation) * rng.standard_normal(n_methods) + own)
    return FoldDifferences(values.rename(columns=str), ratio)


def test_of_methods_that_are_alike_few_are_called_worse_than_the_best():
    """Holm over the others alone, as if the best had not been chosen on the same folds, errs twice as often or more."""
    tables = [alike(12, seed) for seed in range(150)]
    wrong = np.mean([folds.to_best()["p"].min() < LEVEL for folds in tables])
    by_holm = np.mean(
        [
            folds.to(folds.values[folds.best].to_numpy())["p"].drop(folds.best).min()
            < LEVEL
            for folds in tables
        ]
    )
    assert wrong <= 0.07
    assert by_holm > max(0.07, 1.5 * wrong)


def test_differences_to_the_best_are_those_by_hand():
    folds = alike(3, seed=1)
    scores = FoldDifferences(-folds.values, folds.ratio, sign=-1.0)
    others = folds.values.drop(columns=folds.best)
    tests = {
        name: CorrectedT(
            (others[name] - folds.values[folds.best]).to_numpy(), ratio=1 / 9
        )
        for name in others
    }
    expected = holm([1.5 * test.p_value() for test in tests.values()])
    table = folds.to_best()
    assert table["p"].tolist() == expected
    assert table["difference"].tolist() == [test.estimate for test in tests.values()]
    assert scores.best == folds.best
    assert scores.to_best()["p"].tolist() == pytest.approx(expected)
    assert scores.detectable() == pytest.approx(folds.detectable())
    level = LEVEL / 2 / 3
    assert folds.detectable() == pytest.approx(
        np.median([test.detectable(level, "greater") for test in tests.values()])
    )
