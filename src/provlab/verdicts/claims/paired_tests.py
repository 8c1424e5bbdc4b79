"""Tests of a sample of paired differences, with intervals and power, behind one interface.

Student's t uses the variances that folds and pairs of categories need, which SciPy
lacks. The signed-rank test is implemented here because SciPy needs seconds for its
exact p-value with ties. docs/decisions/dependencies.md has the measurements.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, nctdtr, ndtr, ndtri, stdtr, stdtrit

Side = Literal["less", "greater"]
Alternative = Literal["two-sided", "less", "greater"]
Floats = NDArray[np.float64]

POWER = 0.9
"""The power that a sample is planned to have."""

MAX_OBSERVATIONS = 2**19
"""The largest number of observations that is reported."""

DECIMALS = 10
"""Decimals of differences before ranking, so that means of the same errors in another order tie."""

MAX_EXACT = 50
"""The signed-rank test is exact for up to this number of differences, as in SciPy."""

MAX_EXACT_TIED = 13
"""Its limit with ties or zeros."""

NORMAL_FROM = 500
"""The normal limit gives the power for at least these degrees of freedom; SciPy's noncentral t takes seconds."""


MEASURED_SIZES = {(1, 5): (2, 6), (2, 5): (0, 6), (1, 10): (0, 7), (10, 10): (0, 14)}
"""False positive rates of `CorrectedT` at the level 0.05 in simulations without a difference, by repeats and folds.
They are the least and the largest percentage, as means over numbers of rows: docs/measured/compare_rules.csv."""


def size_words(repeats: int, n_folds: int) -> str:
    """State how often p < 0.05 occurs without a difference, for the most similar folds that were simulated."""
    designs = [design for design in MEASURED_SIZES if (design[0] > 1) == (repeats > 1)]
    nearest = min(designs, key=lambda design: abs(design[1] - n_folds))
    least, largest = MEASURED_SIZES[nearest]
    return (
        f"in simulations without a difference, p < 0.05 on {least} to {largest} % of data sets with {nearest[0]} x "
        f"{nearest[1]} folds; fewest if both methods are random, most if columns carry little information"
    )


class AbstractPairedTest(ABC):
    """A test of the location of differences, which can be shifted, and the interval that inverts it.

    Attributes
    ----------
    n : int
        Number of differences.
    estimate : float
        Their location, in the unit of the differences.
    """

    name: ClassVar[str]
    n: int
    estimate: float

    def p_value(
        self, shift: float = 0.0, alternative: Alternative = "two-sided"
    ) -> float:
        """Return the p-value of the hypothesis that the location is `shift`."""
        if alternative == "two-sided":
            return min(
                1.0,
                2
                * min(self.one_sided(shift, "less"), self.one_sided(shift, "greater")),
            )
        return min(1.0, self.one_sided(shift, alternative))

    @abstractmethod
    def one_sided(self, shift: float, side: Side) -> float:
        """Return the p-value of the hypothesis that the location is `shift`, or on the other side of it."""

    @abstractmethod
    def interval(self, level: float) -> tuple[float, float]:
        """Return the two-sided confidence interval of the location; infinite if n is too small for the level."""

    @abstractmethod
    def power(self, n: int, distance: float, level: float, side: Side) -> float:
        """Return the power of the one-sided test at `level` for n differences with the observed spread.

        Parameters
        ----------
        n : int
        distance : float
            Distance from the tested shift to the true location, in the direction of the
            alternative.
        level : float
        side : {"less", "greater"}
            The alternative.
        """

    def detectable(self, level: float, side: Side) -> float:
        """Return the smallest distance that the one-sided test at `level` detects with a power of `POWER`."""
        far = max(1e-12, abs(self.interval(0.9)[0] - self.estimate))
        if not math.isfinite(far):
            return math.inf
        while self.power(self.n, far, level, side) < POWER:
            far *= 2
            if far > 1e12:
                return math.inf
        near = 0.0
        for _ in range(40):
            middle = (near + far) / 2
            if self.power(self.n, middle, level, side) >= POWER:
                far = middle
            else:
                near = middle
        return far


class SignedRank(AbstractPairedTest):
    """Wilcoxon's signed-rank test of the differences between two methods, one per data set.

    The p-value agrees with SciPy's, and is exact for small samples even with ties, for
    which SciPy enumerates all 2^n signs. The interval uses the same exact distribution.

    Parameters
    ----------
    differences : ndarray of shape (n,)
        Finite.

    References
    ----------
    Demsar (2006), JMLR 7, section 3.1.3: zeros are split evenly between both signs.
    Hollander, Wolfe (1999), sections 3.1-3.3: estimate and interval.
    """

    name = "Wilcoxon signed-rank"

    def __init__(self, differences: Floats) -> None:
        self.differences = differences
        self.n = len(differences)
        first, second = np.triu_indices(self.n)
        self.walsh_averages = (differences[first] + differences[second]) / 2
        self.estimate = float(np.median(self.walsh_averages))

    def one_sided(self, shift: float, side: Side) -> float:
        """Return the p-value, which is exact for small samples and approximately normal for large ones."""
        shifted = np.round(self.differences - shift, DECIMALS)
        if not shifted.any():
            return 1.0
        n = self.n
        _, place, n_tied = np.unique(
            np.abs(shifted), return_inverse=True, return_counts=True
        )
        # twice the average ranks: integers
        doubled_ranks = (2 * np.cumsum(n_tied) - n_tied + 1)[place]
        positive_sum = int(doubled_ranks[shifted > 0].sum())
        has_ties = len(n_tied) < n or not shifted.all()
        if n <= (MAX_EXACT_TIED if has_ties else MAX_EXACT):
            # symmetric
            chances = sums_of_signed(
                tuple(sorted(doubled_ranks[shifted != 0].tolist()))
            )
            last = positive_sum if side == "less" else len(chances) - 1 - positive_sum
            return float(chances[: last + 1].sum())
        statistic = positive_sum / 2 + doubled_ranks[shifted == 0].sum() / 4
        sd = math.sqrt(
            (n * (n + 1) * (2 * n + 1) - float((n_tied**3 - n_tied).sum()) / 2) / 24
        )
        z = (statistic - n * (n + 1) / 4) / sd
        return float(ndtr(z if side == "less" else -z))

    def interval(self, level: float) -> tuple[float, float]:
        """Return order statistics of the Walsh averages, chosen by the exact null distribution without ties."""
        tail = (1 - level) / 2
        below = np.cumsum(sums_of_signed(tuple(range(1, self.n + 1))))
        # first k with P(W <= k) >= tail, so that P(W <= k - 1) < tail
        k = int(np.searchsorted(below, tail))
        if k == 0:
            return -np.inf, np.inf
        averages = np.sort(self.walsh_averages)
        return float(averages[k - 1]), float(averages[len(averages) - k])

    def power(self, n: int, distance: float, level: float, side: Side) -> float:
        """Return the power by the normal limit of the statistic, with mean and variance from the shifted sample.

        References
        ----------
        Lehmann (1975), Nonparametrics, section 4.2: mean and variance under any
        alternative.
        """
        if 2.0**-n >= level:
            return 0.0
        sign = 1.0 if side == "greater" else -1.0
        p1, p2, p3 = _positive(sign * (self.differences - self.estimate) + distance)
        mean = n * p1 + n * (n - 1) / 2 * p2
        variance = n * p1 * (1 - p1) + n * (n - 1) * (
            p2 * (1 - p2) / 2 + p1**2 + p2 - 2 * p1 * p2 + (n - 2) * (p3 - p2**2)
        )
        null_sd = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        over = mean - n * (n + 1) / 4 - float(-ndtri(level)) * null_sd
        return (
            float(ndtr(over / math.sqrt(variance))) if variance > 0 else float(over > 0)
        )


@lru_cache(1000)
def sums_of_signed(ranks: tuple[int, ...]) -> Floats:
    """Return P(sum = s), s = 0, 1, ..., for the sum of the ranks with positive sign, if signs are random."""
    weights = np.ones(1)
    for rank in ranks:
        shifted = np.zeros(len(weights) + rank)
        shifted[: len(weights)] += weights / 2
        shifted[rank:] += weights / 2
        weights = shifted
    return weights


def _positive(values: Floats) -> tuple[float, float, float]:
    """Return P(X > 0), P(X + Y > 0), and P(X + Y > 0 and X + Z > 0) for two or more values; ties count half."""
    n = len(values)
    is_positive = np.sign(np.round(values[:, None] + values, DECIMALS)) / 2 + 0.5
    of_self = np.diag(is_positive)
    with_others = is_positive.sum(axis=1) - of_self
    p1 = float(of_self.mean())
    p2 = float(with_others.sum()) / (n * (n - 1))
    if n < 3:
        return p1, p2, p2**2
    squares = (is_positive**2).sum(axis=1) - of_self**2
    p3 = float((with_others**2 - squares).sum()) / (n * (n - 1) * (n - 2))
    return p1, p2, p3


class AbstractStudentT(AbstractPairedTest):
    """A t-test of the mean of n >= 2 finite differences, shape (n,); subclasses differ in the variance of the mean.

    If all differences are equal, t is undefined, and the sign test decides: three equal
    folds prove nothing, but a hundred do.
    """

    def __init__(self, differences: Floats) -> None:
        self.n = len(differences)
        self.estimate = float(np.mean(differences))
        self.variance = (
            0.0 if np.ptp(differences) == 0 else float(np.var(differences, ddof=1))
        )

    @abstractmethod
    def spread(self, n: int) -> tuple[float, float]:
        """Return standard error and degrees of freedom of the mean of n differences like these."""

    def one_sided(self, shift: float, side: Side) -> float:
        """Return the p-value from Student's t, or from the sign test if all differences are equal."""
        distance = self.estimate - shift
        if self.variance == 0:
            is_beyond = distance > 0 if side == "greater" else distance < 0
            return 2.0**-self.n if is_beyond else 1.0
        error, df = self.spread(self.n)
        statistic = distance / error
        return float(stdtr(df, -statistic if side == "greater" else statistic))

    def interval(self, level: float) -> tuple[float, float]:
        """Return estimate -+ quantile x standard error."""
        error, df = self.spread(self.n)
        if self.variance == 0 and 2.0 ** (1 - self.n) > 1 - level:  # by the sign test
            return -math.inf, math.inf
        half = float(stdtrit(df, (1 + level) / 2)) * error
        return self.estimate - half, self.estimate + half

    def power(self, n: int, distance: float, level: float, side: Side) -> float:
        """Return the power by the noncentral t distribution; both sides have the same power."""
        error, df = self.spread(n)
        if level <= 0:
            return 0.0
        if self.variance == 0:
            return float(distance > 0 and 2.0**-n < level)
        if df > NORMAL_FROM:
            return float(ndtr(distance / error + ndtri(level)))
        # takes a tenth of the time of scipy.stats.nct, and is called thousands of times
        power = 1.0 - float(nctdtr(df, distance / error, -stdtrit(df, level)))
        # SciPy's series fails in the far tail
        return power if math.isfinite(power) else float(distance > 0)


class ShareTest(AbstractPairedTest):
    """Exact binomial test of a share; each observation is 0 or 1, or the mean over a group of these.

    A mean over a group varies at most as much as a single observation with the same
    probability, so a group counts as one observation. Student's t is wrong for shares
    near 0 or 1, because their distribution is skewed.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Values from 0 to 1.

    References
    ----------
    Clopper, Pearson (1934), Biometrika 26; the incomplete beta function also accepts
    fractional counts.
    """

    name = "binomial"

    def __init__(self, values: Floats) -> None:
        self.n = len(values)
        self.estimate = float(np.mean(values))
        self.cases = float(np.sum(values))

    def one_sided(self, shift: float, side: Side) -> float:
        """Return the probability of a sum at most, or at least, the observed one if the share is `shift`."""
        if side == "less":
            return (
                float(betainc(self.n - self.cases, self.cases + 1, 1 - shift))
                if self.cases < self.n
                else 1.0
            )
        return (
            float(betainc(self.cases, self.n - self.cases + 1, shift))
            if self.cases > 0
            else 1.0
        )

    def interval(self, level: float) -> tuple[float, float]:
        """Return the shares that neither one-sided test rejects."""
        tail = (1 - level) / 2
        low = (
            float(betaincinv(self.cases, self.n - self.cases + 1, tail))
            if self.cases > 0
            else 0.0
        )
        high = (
            float(betaincinv(self.cases + 1, self.n - self.cases, 1 - tail))
            if self.cases < self.n
            else 1.0
        )
        return low, high

    def power(self, n: int, distance: float, level: float, side: Side) -> float:
        """Return the power in the normal limit, with the spread of this share, which is positive."""
        share = (self.cases + 1) / (self.n + 2)
        sd = math.sqrt(share * (1 - share) / n)
        return float(ndtr(distance / sd + ndtri(level))) if level > 0 else 0.0


class CorrectedT(AbstractStudentT):
    """Corrected resampled t-test: the variance of the mean is (1 / n + ratio) s^2 instead of s^2 / n.

    Folds share training rows, so their differences are correlated. s^2 / n is then too
    small, and the plain t-test finds differences that do not exist.

    Parameters
    ----------
    differences : ndarray of shape (n,)
        One difference per fold.
    ratio : float
        Test rows per training row, n_test / n_train: 1/9 for ten-fold cross-validation.
        0 gives the plain t-test, for independent differences.

    References
    ----------
    Nadeau, Bengio (2003), Machine Learning 52, section 3; Bouckaert, Frank (2004),
    PAKDD, for repeated folds.
    """

    name = "corrected resampled t"

    def __init__(self, differences: Floats, *, ratio: float) -> None:
        super().__init__(differences)
        self.ratio = ratio

    def spread(self, n: int) -> tuple[float, float]:
        """Return standard error and degrees of freedom of the mean of n differences like these."""
        return math.sqrt((1 / n + self.ratio) * self.variance), n - 1


class DisjointT(AbstractStudentT):
    """The t-test for inverse cross-validation, where each fold trains on one part and tests on all others.

    The training sets of a repeat are disjoint, so the term n_test / n_train of the
    corrected test, which accounts for overlap, does not apply. That term was derived
    for small, disjoint test sets, and a ratio of 9 would make every difference
    inconclusive. These folds share test rows: the variance of the mean is s^2 / n, as
    for independent folds, plus their covariance. The latter is at most v divided by the
    number of rows, where v is the variance of the difference on one row. For the
    difference of two losses of 0 or 100 points, with means e and f in points, v is at
    most 100 (e + f) - (e - f)^2, because in the extreme case all errors of both methods
    are on different rows. The bound is conservative, because s^2 already includes much
    of the covariance.

    Parameters
    ----------
    differences : ndarray of shape (n,)
        One difference per fold, from all repeats.
    n_folds : int
        Number of folds per repeat. Training sets of different repeats overlap, so
        additional repeats do not count as additional folds.
    shared : float
        Bound on the covariance, v divided by the number of rows.

    References
    ----------
    Nadeau, Bengio (2003), Machine Learning 52, section 2: the variance of a mean over
    training and test sets is s^2 / n and the covariance. Dietterich (1998), Neural
    Computation 10: v by the rows on which two classifiers differ.
    """

    name = "t over disjoint training sets"

    def __init__(self, differences: Floats, *, n_folds: int, shared: float) -> None:
        super().__init__(differences)
        self.repeats = max(1.0, self.n / n_folds)
        self.shared = shared

    def spread(self, n: int) -> tuple[float, float]:
        """Return standard error and degrees of freedom of the mean of n differences like these."""
        n_folds = max(2.0, n / self.repeats)
        return math.sqrt(self.variance / n_folds + self.shared), n_folds - 1


class DyadicT(AbstractStudentT):
    """Dyadic-robust t-test: differences of two pairs may be correlated if the pairs share a member.

    Let u be the residuals from the mean, and let A_ij = 1 if pairs i and j share a
    member or are equal. The variance of the mean is u' A u / n^2. In small samples this
    estimate is biased downwards, because residuals are smaller than errors, and it is
    unstable, because few members occur in many pairs. Both are corrected as by Bell and
    McCaffrey for clusters. Let B = M A M, where M is the projection that removes the
    mean. Scaling by n / tr(B) makes the estimate unbiased for independent errors, and t
    has tr(B)^2 / tr(B^2) degrees of freedom. A is not a covariance matrix, so the
    estimate can be below s^2 / n, the variance for independent pairs, or even negative.
    The larger of the two is used.

    Parameters
    ----------
    differences : ndarray of shape (n,)
        One difference per pair.
    pairs : sequence of (str, str)
        Members of each pair.

    References
    ----------
    Fafchamps, Gubert (2007), Journal of Development Economics 83; Cameron, Miller
    (2014), Robust inference for dyadic data; Aronow, Samii, Assenova (2015), Political
    Analysis 23. Degrees of freedom: Bell, McCaffrey (2002), Survey Methodology 28;
    Imbens, Kolesar (2016), Review of Economics and Statistics 98.
    """

    name = "dyadic-robust t"

    def __init__(
        self, differences: Floats, *, pairs: Sequence[tuple[str, str]]
    ) -> None:
        super().__init__(differences)
        shared, trace, squares = _sharing(tuple(pairs))
        self.df = min(self.n - 1.0, trace**2 / squares) if trace > 0 else 1.0
        residuals = np.asarray(differences) - self.estimate
        sandwich = (
            float(residuals @ shared @ residuals) / (self.n * trace)
            if trace > 0
            else math.inf
        )
        self.inflation = (
            max(1.0, sandwich / (self.variance / self.n)) if self.variance else 1.0
        )

    def spread(self, n: int) -> tuple[float, float]:
        """Return standard error and degrees of freedom, assuming that further data sets share members as these do."""
        return math.sqrt(self.inflation * self.variance / n), max(
            1.0, self.df * n / self.n
        )


@lru_cache(maxsize=8)  # the tests of thousands of universes use the same pairs
def _sharing(pairs: tuple[tuple[str, str], ...]) -> tuple[Floats, float, float]:
    """Return A of `DyadicT`, tr(B) and tr(B^2)."""
    members = sorted({name for pair in pairs for name in pair})
    incidence = np.zeros((len(pairs), len(members)))
    for k, pair in enumerate(pairs):
        for name in pair:
            incidence[k, members.index(name)] = 1
    shared = (incidence @ incidence.T > 0).astype(float)
    centred = shared - shared.mean(axis=0)
    centred -= centred.mean(axis=1, keepdims=True)
    return shared, float(np.trace(centred)), float((centred**2).sum())


def observations_needed(powers: Sequence[Callable[[int], float]]) -> float:
    """Return the smallest n at which all given one-sided tests reject jointly with a power of `POWER`.

    The joint probability of a miss is bounded by the sum over the tests (Bonferroni),
    which is exact if only one of them can miss. Infinite if even `MAX_OBSERVATIONS` do
    not suffice, for instance if additional folds of the same data do not help.
    """

    def enough(n: int) -> bool:
        return sum(1 - power(n) for power in powers) <= 1 - POWER

    needed = 2 + bisect_left(range(2, MAX_OBSERVATIONS + 1), True, key=enough)
    return float(needed) if needed <= MAX_OBSERVATIONS else math.inf


def observations_for_p(n: int, p_value: float, level: float) -> float:
    """Return the sample size at which a test rejects at `level` with a power of `POWER`, given its p-value at n.

    This applies to one-sided tests with asymptotically normal statistics whose mean
    grows like the square root of n: binomial tests, rank tests, Kendall's tau. Infinite
    if the effect in the sample has the opposite sign.

    References
    ----------
    Noether (1987), Journal of the American Statistical Association 82.
    """
    z = float(-ndtri(p_value))
    if not z > 0:  # also for NaN
        return math.inf
    return math.ceil(n * ((float(ndtri(POWER)) - float(ndtri(level))) / z) ** 2)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's step-down adjusted p-values.

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6.
    """
    values = np.asarray(p_values, dtype=float)
    order = np.argsort(values, kind="stable")
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(
        1.0, np.maximum.accumulate(np.arange(len(values), 0, -1) * values[order])
    )
    return adjusted.tolist()


def mean_difference(
    differences: Floats, *, ratio: float = 0.0, level: float | None = None
) -> dict[str, float]:
    """Return a mean difference, its 95 % interval and p by the corrected resampled t; NaN for too few values.

    Parameters
    ----------
    differences : ndarray of shape (n,)
        One per fold, or one per data set or domain.
    ratio : float, default=0
        See `CorrectedT`.
    level : float, optional
        Level of the one-sided test for which the detectable difference is returned.

    Returns
    -------
    dict
        difference, low, high and p; if a level is given, detectable instead of p.
    """
    line = dict.fromkeys(
        ["difference", "low", "high", "p" if level is None else "detectable"], math.nan
    )
    if len(differences):
        line["difference"] = float(np.mean(differences))
    if len(differences) > 1:
        test = CorrectedT(differences, ratio=ratio)
        line["low"], line["high"] = test.interval(0.95)
        if level is None:
            line["p"] = test.p_value()
        else:
            line["detectable"] = test.detectable(level, "less")
    return line
