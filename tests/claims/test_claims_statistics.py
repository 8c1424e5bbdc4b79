"""Statistics of the verdicts against independent implementations, brute force and simulation."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
import scikit_posthocs
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import ttost_paired

from provlab.claims.decisions import near
from provlab.claims.statistics import (
    CorrectedT,
    DisjointT,
    DyadicT,
    SignedRank,
    falling_trend,
    holm,
    more_than_p_value,
    observations_needed,
    rank_methods,
    rank_sum_p_value,
)
from provlab.claims.statistics.dyadic_t import share_a_member
from provlab.claims.statistics.rank_tests import friedman_p_value, signed_rank_p_value, signed_sums
from provlab.claims.statistics.ranking import studentized_range_p_value, studentized_range_quantile
from provlab.claims.statistics.signed_rank import walsh_averages

ALTERNATIVES = ("two-sided", "less", "greater")


def equivalence_p_value(test, low, high):
    return near(low, high)[0].p_value(lambda bound: test.p_value(bound.at, bound.alternative))


def sample(seed, n=25, mean=0.5):
    return np.random.default_rng(seed).normal(mean, 2.0, n)


@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_null_distribution_is_that_of_all_signs(n):
    sums = [sum(r for r, sign in enumerate(signs, 1) if sign) for signs in itertools.product((0, 1), repeat=n)]
    counted = np.bincount(sums, minlength=n * (n + 1) // 2 + 1) / 2**n
    np.testing.assert_allclose(signed_sums(tuple(range(1, n + 1))), counted, atol=1e-15)


def test_hodges_lehmann_by_brute_force():
    values = sample(0, n=12)
    pairs = [(values[i] + values[j]) / 2 for i in range(12) for j in range(i, 12)]
    assert SignedRank(values).estimate == pytest.approx(np.median(pairs))
    np.testing.assert_allclose(np.sort(walsh_averages(values)), np.sort(pairs))


@pytest.mark.parametrize("n", [6, 7, 12, 25, 40])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_interval_inverts_the_exact_test(n, level):
    """A shift just inside is not rejected, one just outside is."""
    test = SignedRank(sample(n, n=n))
    low, high = test.interval(level)
    nudge = 1e-6
    for end, inward in ((low, nudge), (high, -nudge)):
        inside, outside = (
            stats.wilcoxon(test.differences - end - shift, method="exact").pvalue for shift in (inward, -inward)
        )
        assert inside > 1 - level
        assert outside <= 1 - level + 1e-12


def test_interval_of_too_few_differences_has_no_ends():
    assert SignedRank(sample(1, n=5)).interval(0.95) == (-math.inf, math.inf)
    assert np.isfinite(SignedRank(sample(1, n=6)).interval(0.95)).all()
    assert np.isfinite(SignedRank(sample(1, n=5)).interval(0.9)).all()


def test_interval_covers_the_median():
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(400):
        low, high = SignedRank(rng.standard_t(4, 15) + 1.0).interval(0.9)
        covered += low <= 1.0 <= high
    assert 0.86 <= covered / 400 <= 0.95


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_signed_rank_is_scipys_on_shifted_differences(alternative):
    values = sample(4)
    expected = stats.wilcoxon(values - 0.7, alternative=alternative).pvalue
    assert SignedRank(values).p_value(0.7, alternative) == pytest.approx(expected, rel=1e-12)


def test_signed_rank_without_differences():
    test = SignedRank(np.zeros(20))
    assert test.p_value() == 1.0
    assert test.estimate == 0.0
    assert equivalence_p_value(test, -1, 1) < 1e-4


def test_equal_means_from_other_orders_tie():
    noise = np.array([1e-15, -1e-15, 2e-16] * 7)
    assert SignedRank(noise).p_value() == 1.0


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_t_without_overlap_is_the_plain_t_test(alternative):
    values = sample(5)
    test = CorrectedT(values, ratio=0.0)
    expected = stats.ttest_1samp(values, 0.3, alternative=alternative)
    assert test.p_value(0.3, alternative) == pytest.approx(expected.pvalue, rel=1e-10)
    interval = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    np.testing.assert_allclose(test.interval(0.95), interval)


@pytest.mark.parametrize("mean", [0.0, 0.9, 3.0])
def test_tost_is_that_of_statsmodels(mean):
    rng = np.random.default_rng(6)
    first, second = rng.normal(mean, 1, 30), rng.normal(0, 1, 30)
    p_value, *_ = ttost_paired(first, second, -1.0, 1.0)
    assert equivalence_p_value(CorrectedT(first - second, ratio=0.0), -1.0, 1.0) == pytest.approx(p_value, rel=1e-9)


def test_corrected_variance_by_hand():
    values = np.array([1.0, 2.0, 4.0, 1.0])
    test = CorrectedT(values, ratio=1 / 9)
    statistic = 2.0 / math.sqrt((1 / 4 + 1 / 9) * 2.0)
    assert test.p_value() == pytest.approx(2 * stats.t.sf(statistic, 3))
    assert test.standard_error > CorrectedT(values, ratio=0.0).standard_error


def test_correction_keeps_the_level_that_the_plain_test_breaks():
    """Differences of overlapping training sets share a component: correlation n_test / (n_test + n_train) = 0.1."""
    rng = np.random.default_rng(7)
    corrected = plain = 0
    for _ in range(600):
        values = math.sqrt(0.1) * rng.standard_normal() + math.sqrt(0.9) * rng.standard_normal(100)
        corrected += CorrectedT(values, ratio=1 / 9).p_value() < 0.05
        plain += CorrectedT(values, ratio=0.0).p_value() < 0.05
    assert corrected / 600 <= 0.08
    assert plain / 600 >= 0.3


def test_real_cross_validation_misleads_the_plain_test_far_more():
    """Two useless predictors of pure noise, 10 x 10 folds of 50 rows: no difference, folds of one data set agree.

    The correction is an approximation: here, a hard case, it is above its level too, but far below the plain test.
    """
    rng = np.random.default_rng(8)
    corrected = plain = 0
    for _ in range(60):
        X, y = rng.standard_normal((50, 2)), rng.integers(0, 2, 50)
        differences = []
        for _ in range(10):
            for test in np.array_split(rng.permutation(50), 10):
                train = np.setdiff1d(np.arange(50), test)
                wrong = [_nearest_mean_errors(X[:, k], y, train, test) for k in (0, 1)]
                differences.append(wrong[0] - wrong[1])
        corrected += CorrectedT(np.array(differences), ratio=1 / 9).p_value() < 0.05
        plain += CorrectedT(np.array(differences), ratio=0.0).p_value() < 0.05
    assert corrected / 60 <= 0.3
    assert plain / 60 >= 0.5


def _nearest_mean_errors(x, y, train, test):
    zero, one = (x[train][y[train] == label].mean() for label in (0, 1))
    return np.mean((np.abs(x[test] - one) < np.abs(x[test] - zero)) != y[test])


@pytest.mark.parametrize("value", [0.0, 2.0])
@pytest.mark.parametrize("n", [3, 10])
def test_differences_that_do_not_vary(value, n):
    """The t-test says nothing then; the sign test still does, and three folds are not enough for it."""
    test = CorrectedT(np.full(n, value), ratio=1 / 9)
    assert test.p_value(value) == 1.0
    for shift in (-1.0, 1.0):
        signs = np.sum(test.estimate > shift) * n
        for alternative in ALTERNATIVES:
            expected = stats.binomtest(int(signs), n, alternative=alternative).pvalue
            assert test.p_value(shift, alternative) == pytest.approx(expected)
    assert (equivalence_p_value(test, -1, 1) < 0.05) == (n == 10 and value == 0)
    assert test.interval(0.95) == ((value, value) if n == 10 else (-math.inf, math.inf))


@pytest.mark.parametrize("n", [1, 2, 7, 12])
def test_holm_is_that_of_statsmodels(n, monkeypatch):
    monkeypatch.setattr("gc.collect", lambda: 0)  # which statsmodels calls each time: it takes longer than all the rest
    rng = np.random.default_rng(n)
    for _ in range(10):
        p_values = np.round(rng.beta(0.3, 1.0, n), 2)  # with ties, zeros and ones
        np.testing.assert_allclose(holm(p_values), multipletests(p_values, method="holm")[1], atol=1e-15)


def test_comparisons_that_could_not_be_made_make_no_verdict_easier():
    with_missing = holm([0.01, math.nan, math.nan])
    assert with_missing[0] == pytest.approx(0.03)
    assert math.isnan(with_missing[1])


def errors_of_methods(n=20, k=4, seed=9):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.normal(30, 5, (n, 1)) + rng.normal(0, 1, (n, k)) + np.arange(k), columns=list("abcd")[:k])


def test_ranking_by_hand():
    errors = errors_of_methods()
    ranking = rank_methods(errors)
    order = np.argsort(np.argsort(errors.to_numpy(), axis=1), axis=1) + 1
    n, k = errors.shape
    mean = order.mean(axis=0)
    np.testing.assert_allclose(ranking.ranks[list("abcd")], mean)
    chi2 = 12 * n / (k * (k + 1)) * ((mean**2).sum() - k * (k + 1) ** 2 / 4)
    assert ranking.p_value == pytest.approx(stats.chi2.sf(chi2, k - 1))
    assert ranking.n == n
    # Demsar (2006), Table 5: q at 0.05 for four classifiers is 2.569
    assert ranking.critical_difference == pytest.approx(2.569 * math.sqrt(k * (k + 1) / (6 * n)), rel=1e-3)
    significant = np.abs(np.subtract.outer(mean, mean)) > ranking.critical_difference
    np.testing.assert_array_equal(ranking.pairs.loc[list("abcd"), list("abcd")].to_numpy() < 0.05, significant)
    expected = scikit_posthocs.posthoc_nemenyi_friedman(errors)
    np.testing.assert_allclose(ranking.pairs, expected, atol=1e-12)  # SciPy's integral has that error


def test_ranking_uses_whole_rows():
    errors = errors_of_methods()
    errors.iloc[3, 1] = np.nan
    assert rank_methods(errors).n == len(errors) - 1


@pytest.mark.parametrize(("n", "k"), [(1, 4), (20, 2), (0, 3)])
def test_nothing_to_rank(n, k):
    assert rank_methods(errors_of_methods(n=n, k=k)) is None


def test_ranking_of_ties():
    ranking = rank_methods(pd.DataFrame(np.ones((5, 3)), columns=list("abc")))
    assert ranking.p_value == 1.0
    assert set(ranking.ranks) == {2.0}


def test_folds_with_disjoint_training_sets_have_no_term_for_their_overlap():
    """By hand: s^2 / n, and what one row's difference can vary, over the number of rows."""
    values = np.array([1.0, 2.0, 4.0, 1.0])
    test = DisjointT(values, n_folds=4, shared=0.3)
    assert test.p_value() == pytest.approx(2 * stats.t.sf(2.0 / math.sqrt(2.0 / 4 + 0.3), 3))
    twice = DisjointT(np.tile(values, 2), n_folds=4, shared=0.3)  # a second repeat trains on the same rows
    assert twice.spread(8)[1] == 3
    assert twice.standard_error == pytest.approx(math.sqrt(np.var(np.tile(values, 2), ddof=1) / 4 + 0.3))


def test_two_classifiers_of_the_same_error_by_inverse_cross_validation():
    """Nine tenths are tested on, so that folds share test rows: without the shared term t finds too much."""
    rng = np.random.default_rng(11)
    found = plain = 0
    for _ in range(400):
        # Losses of two methods at an error rate of 0.2, of which a row decides most and the training set some.
        hard = rng.random((2, 400)) < 0.2
        losses = np.where(rng.random((2, 10, 400)) < 0.3, rng.random((2, 10, 400)) < 0.2, hard[:, None])
        parts = np.array_split(rng.permutation(400), 10)
        errors = np.array([[np.delete(losses[m, k], parts[k]).mean() for k in range(10)] for m in (0, 1)])
        differences = 100 * (errors[0] - errors[1])
        variance = 1e4 * (errors.mean(axis=1).sum() - np.diff(errors.mean(axis=1))[0] ** 2)
        found += DisjointT(differences, n_folds=10, shared=variance / 400).p_value() < 0.05
        plain += CorrectedT(differences, ratio=0.0).p_value() < 0.05
    assert found / 400 <= 0.05
    assert plain / 400 >= 0.3


PAIRS = [("a", "b"), ("a", "c"), ("c", "d"), ("e", "f"), ("f", "a"), ("g", "h"), ("i", "j")]


def test_pairs_that_share_a_member_by_brute_force():
    values = np.array([1.0, 3.0, -2.0, 0.5, 4.0, 2.0, -1.0])
    shared = share_a_member(PAIRS)
    for (i, first), (j, second) in itertools.product(enumerate(PAIRS), repeat=2):
        assert shared[i, j] == bool(set(first) & set(second))
    n, u = len(values), values - values.mean()
    away = np.eye(n) - 1 / n
    b = away @ shared @ away
    variance = max(u @ shared @ u / (n * np.trace(b)), u @ u / (n - 1) / n)
    df = min(n - 1, np.trace(b) ** 2 / np.trace(b @ b))
    test = DyadicT(values, pairs=PAIRS)
    assert test.standard_error == pytest.approx(math.sqrt(variance))
    assert test.p_value(0.2, "greater") == pytest.approx(stats.t.sf((values.mean() - 0.2) / math.sqrt(variance), df))
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
        of = rng.standard_normal(40)
        values = np.array([of[a] + of[b] for a, b in pairs]) / 2 + math.sqrt(0.5) * rng.standard_normal(80)
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
    pilot -= pilot.mean()
    for make, tolerance in ((lambda x: CorrectedT(x, ratio=0.0), 0.06), (SignedRank, 0.09 if n == 8 else 0.05)):
        test = make(pilot)
        centre, distance = test.estimate, 0.9
        sign = 1 if side == "greater" else -1
        promised = test.power(n, distance, 0.05, side)
        samples = rng.choice(pilot, (600, n)) - centre + sign * distance
        found = np.mean([make(x).p_value(0.0, side) < 0.05 for x in samples])
        assert 0.2 < promised < 1
        assert found == pytest.approx(promised, abs=tolerance)


def test_the_number_that_is_needed_by_statsmodels():
    from statsmodels.stats.power import TTestPower

    values = sample(14, 40, 0.6)
    test = CorrectedT(values, ratio=0.0)
    needed = observations_needed([lambda n: test.power(n, test.estimate, 0.025, "greater")])
    effect = values.mean() / values.std(ddof=1)
    assert needed == math.ceil(TTestPower().solve_power(effect, None, 0.025, 0.9, alternative="larger"))
    detectable = TTestPower().solve_power(None, 40, 0.025, 0.9, alternative="larger") * values.std(ddof=1)
    assert test.detectable(0.025, "greater") == pytest.approx(detectable, rel=1e-4)


def test_more_folds_of_the_same_data_do_not_decide_everything():
    values = sample(15, 10, 0.3)
    test = CorrectedT(values, ratio=1 / 9)
    assert observations_needed([lambda n: test.power(n, test.estimate, 0.025, "greater")]) == math.inf
    assert observations_needed([lambda n: test.power(n, 100.0, 0.025, "greater")]) < 10


@pytest.fixture
def all_signs_at_once(monkeypatch):
    """Let SciPy take the statistic of all 2^n signs in one call: it counts the axis from the end, as SciPy can."""
    one_by_one = stats.permutation_test

    def at_once(data, statistic, **settings):
        return one_by_one(data, lambda signed, axis: statistic(signed), vectorized=True, **settings)

    monkeypatch.setattr(stats, "permutation_test", at_once)


@pytest.mark.usefixtures("all_signs_at_once")
@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("n", [1, 2, 5, 13, 14, 40, 50, 51, 200])
@pytest.mark.parametrize("decimals", [8, 0])  # all differ; ties and zeros
@pytest.mark.parametrize("seed", range(4))
def test_signed_ranks_as_in_scipy(n, decimals, alternative, seed):
    differences = np.round(sample(seed, n=n, mean=0.3 * seed), decimals)
    differences[0] = differences[0] or 1.0
    known = stats.wilcoxon(differences, zero_method="zsplit", alternative=alternative).pvalue
    assert signed_rank_p_value(differences, alternative) == pytest.approx(known, rel=1e-9)


def two_samples(n, m, decimals, seed):
    rng = np.random.default_rng(seed)
    return np.round(rng.normal(0, 1, n), decimals), np.round(rng.normal(0.4, 1, m), decimals)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 6), (5, 3), (8, 8), (8, 60), (9, 9), (30, 12), (200, 150)])
@pytest.mark.parametrize("decimals", [8, 0])
@pytest.mark.parametrize("seed", range(3))
def test_rank_sums_as_in_scipy(n, m, decimals, seed):
    below, above = two_samples(n, m, decimals, seed)
    known = stats.mannwhitneyu(above, below, alternative="greater").pvalue
    assert rank_sum_p_value(below, above) == pytest.approx(known, rel=1e-9)


def test_rank_sums_of_one_value():
    assert rank_sum_p_value(np.ones(10), np.ones(12)) == 1.0


@pytest.mark.parametrize("sizes", [(1, 1), (1,) * 6, (1,) * 30, (1,) * 34, (4, 9), (10, 10, 10), (3, 1, 50, 2)])
@pytest.mark.parametrize("decimals", [8, 0])
@pytest.mark.parametrize("slope", [-1.0, 0.0, 0.5])
def test_trends_as_in_scipy(sizes, decimals, slope):
    rng = np.random.default_rng(len(sizes))
    samples = [np.round(rng.normal(slope * place, 2, n), decimals) for place, n in enumerate(sizes)]
    known = stats.kendalltau(
        np.repeat(np.arange(len(sizes)), sizes), np.concatenate(samples), alternative="less"
    )  # fmt: skip
    np.testing.assert_allclose(falling_trend(samples), known, rtol=1e-9)


@pytest.mark.parametrize("samples", [[np.ones(3), np.ones(2)], [np.arange(5.0)]])
def test_no_trend_where_values_or_samples_do_not_differ(samples):
    assert np.isnan(falling_trend(samples)).all()


@pytest.mark.parametrize("decimals", [8, 0])
@pytest.mark.parametrize(("n", "k"), [(2, 3), (20, 4), (80, 7)])
def test_friedman_as_in_scipy(n, k, decimals):
    errors = np.round(np.random.default_rng(n).normal(0, 1, (n, k)) + 0.2 * np.arange(k), decimals)
    known = stats.friedmanchisquare(*errors.T).pvalue
    assert friedman_p_value(stats.rankdata(errors, axis=1)) == pytest.approx(known, rel=1e-9)


@pytest.mark.parametrize(("successes", "trials", "share"), [(0, 5, 0.1), (1, 1, 0.3), (3, 40, 0.05), (200, 1000, 0.25)])
def test_more_than_as_in_scipy(successes, trials, share):
    known = stats.binomtest(successes, trials, share, alternative="greater").pvalue
    assert more_than_p_value(successes, trials, share) == pytest.approx(known, rel=1e-12)


@pytest.mark.parametrize("k", [2, 3, 7, 20])
def test_studentized_range_as_in_scipy(k):
    q = np.array([0.0, 0.3, 2.0, 3.5, 6.0])
    np.testing.assert_allclose(
        studentized_range_p_value(q, k), stats.studentized_range.sf(q, k, np.inf), rtol=1e-6, atol=1e-12
    )
    for share in (0.5, 0.95, 0.99):
        known = stats.studentized_range.ppf(share, k, np.inf)
        assert studentized_range_quantile(share, k) == pytest.approx(known, rel=1e-6)


def test_studentized_range_of_two_is_the_normal_tail():
    q = np.array([0.5, 5.0, 15.0])
    np.testing.assert_allclose(studentized_range_p_value(q, 2), 2 * stats.norm.sf(q / math.sqrt(2)), rtol=1e-10)
