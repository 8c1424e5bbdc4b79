"""Wilcoxon's signed-rank test over data sets, with the Hodges-Lehmann estimate and the interval that belong to it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from provlab.claims.statistics._base import AbstractPairedTest, Alternative, Interval, Side
from provlab.claims.statistics.rank_tests import signed_rank_p_value, signed_sums

DECIMALS = 10
"""Differences are rounded to it: means of the same errors in another order must tie."""


class SignedRank(AbstractPairedTest):
    """Signed-rank test of differences between two methods, one a data set.

    Parameters
    ----------
    differences : ndarray of shape (n,)
        Finite.

    References
    ----------
    Demsar (2006), JMLR 7, section 3.1.3: zeros are split evenly between both signs. Hollander, Wolfe (1999),
    sections 3.1-3.3: estimate and interval.
    """

    name = "Wilcoxon signed-rank"

    def __init__(self, differences: NDArray[np.float64]) -> None:
        self.differences = differences
        self.n = len(differences)
        self.estimate = float(np.median(walsh_averages(differences)))

    def p_value(self, shift: float = 0.0, alternative: Alternative = "two-sided") -> float:
        """Return the p-value: exact for small samples, with the normal approximation for large ones."""
        shifted = np.round(self.differences - shift, DECIMALS)
        if not shifted.any():
            return 1.0
        return signed_rank_p_value(shifted, alternative)

    def interval(self, level: float) -> Interval:
        """Return the order statistics of the Walsh averages that the exact null distribution (no ties) names."""
        tail = (1 - level) / 2
        below = np.cumsum(signed_sums(tuple(range(1, self.n + 1))))
        k = int(np.searchsorted(below, tail))  # first k with P(W <= k) >= tail, so that P(W <= k - 1) < tail
        if k == 0:
            return -np.inf, np.inf
        averages = np.sort(walsh_averages(self.differences))
        return float(averages[k - 1]), float(averages[len(averages) - k])

    def power(self, n: int, distance: float, level: float, side: Side) -> float:
        """See the base class: by the normal limit of the statistic, its mean and variance those of this sample, moved.

        References
        ----------
        Lehmann (1975), Nonparametrics, section 4.2: mean and variance under any alternative.
        """
        if 2.0**-n >= level:
            return 0.0
        sign = 1.0 if side == "greater" else -1.0
        one, two, three = _positive(sign * (self.differences - self.estimate) + distance)
        mean = n * one + n * (n - 1) / 2 * two
        variance = n * one * (1 - one) + n * (n - 1) * (
            two * (1 - two) / 2 + one**2 + two - 2 * one * two + (n - 2) * (three - two**2)
        )
        null_sd = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        over = mean - n * (n + 1) / 4 - float(-ndtri(level)) * null_sd
        return float(ndtr(over / math.sqrt(variance))) if variance > 0 else float(over > 0)


def _positive(values: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return P(X > 0), P(X + Y > 0), and P(X + Y > 0 and X + Z > 0) of a sample; ties count half."""
    n = len(values)
    sums = np.sign(np.round(values[:, None] + values, DECIMALS)) / 2 + 0.5
    one, with_others = float(np.diag(sums).mean()), sums.sum(axis=1) - np.diag(sums)
    if n < 3:
        two = float(with_others.sum()) / max(1, n * (n - 1))
        return one, two, two**2
    squares = (sums**2).sum(axis=1) - np.diag(sums) ** 2
    three = float((with_others**2 - squares).sum()) / (n * (n - 1) * (n - 2))
    return one, float(with_others.sum()) / (n * (n - 1)), three


def walsh_averages(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the n (n + 1) / 2 means of pairs of values, each value with itself too; values has shape (n,)."""
    first, second = np.triu_indices(len(values))
    return np.asarray((values[first] + values[second]) / 2)
