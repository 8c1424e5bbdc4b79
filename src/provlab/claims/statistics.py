"""Corrections for many comparisons, trends, intervals of slopes and ratios, and ranks of methods.

SciPy's where its numbers are the same and exact enough. Functions import `scipy.stats` themselves: that takes half a
second, and most claims do without.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import bdtrc, chdtrc, ndtr, stdtrit

Floats = NDArray[np.float64]


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's step-down adjusted p-values.

    Parameters
    ----------
    p_values : sequence of float
        NaN stands for a comparison that was planned but could not be made: it counts as 1, so that no verdict gets
        easier because others are missing.

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6.
    """
    values = np.asarray(p_values, dtype=float)
    missing = np.isnan(values)
    values = np.where(missing, 1.0, values)
    order = np.argsort(values, kind="stable")
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(np.arange(len(values), 0, -1) * values[order]))
    return [float(value) for value in np.where(missing, np.nan, adjusted)]


def more_than_p_value(successes: int, trials: int, share: float) -> float:
    """Return the binomial p-value of a probability of more than `share`."""
    return float(bdtrc(successes - 1, trials, share)) if successes else 1.0


def rank_sum_p_value(below: Floats, above: Floats) -> float:
    """Return the one-sided p-value of Mann and Whitney's test that `above` is higher than `below`."""
    from scipy.stats import mannwhitneyu

    return float(mannwhitneyu(above, below, alternative="greater").pvalue)


def falling_trend(samples: Sequence[Floats]) -> tuple[float, float]:
    """Return Kendall's tau-b of values with the order of their samples, and the p-value of a fall; NaN if all tie.

    Parameters
    ----------
    samples : sequence of ndarray
        None empty; in their order.
    """
    from scipy.stats import kendalltau

    order = np.repeat(np.arange(len(samples)), [len(sample) for sample in samples])
    found = kendalltau(order, np.concatenate(samples), alternative="less")
    return float(found.statistic), float(found.pvalue)


def slope_interval(x: Floats, y: Floats, alpha: float) -> tuple[float, float, float]:
    """Return the slope of the least-squares line and its 1 - 2 alpha interval; unbounded from two points."""
    centred = x - x.mean()
    slope = float(centred @ y / (centred @ centred))
    freedom = x.size - 2
    if freedom < 1:
        return slope, -math.inf, math.inf
    residuals = y - y.mean() - slope * centred
    half = float(stdtrit(freedom, 1 - alpha) * math.sqrt(residuals @ residuals / freedom / (centred @ centred)))
    return slope, slope - half, slope + half


def difference_interval(own: Floats, other: Floats, alpha: float) -> tuple[float, float, float]:
    """Return the difference of two means, with its 1 - alpha interval (Welch's t); unbounded from a single value."""
    difference = float(own.mean() - other.mean())
    if min(own.size, other.size) < 2:
        return difference, -math.inf, math.inf
    parts = own.var(ddof=1) / own.size, other.var(ddof=1) / other.size
    variance = sum(parts)
    if not variance:
        return difference, difference, difference
    freedom = variance**2 / (parts[0] ** 2 / (own.size - 1) + parts[1] ** 2 / (other.size - 1))
    half = float(stdtrit(freedom, 1 - alpha / 2) * math.sqrt(variance))
    return difference, difference - half, difference + half


@dataclass(frozen=True)
class Ranking:
    """Average ranks and their tests.

    Attributes
    ----------
    ranks : Series
        Average rank of each method, 1 is the lowest error; sorted.
    n : int
        Data sets that all methods have.
    p_value : float
        Friedman's test that all methods are the same.
    pairs : DataFrame
        Nemenyi's p-value of each pair.
    critical_difference : float
        Two methods whose ranks differ by less are not told apart.
    """

    ranks: pd.Series
    n: int
    p_value: float
    pairs: pd.DataFrame
    critical_difference: float


def rank_methods(errors: pd.DataFrame, *, alpha: float = 0.05) -> Ranking | None:
    """Rank methods over data sets; None with fewer than three methods or two data sets, where there is no test.

    Parameters
    ----------
    errors : DataFrame of shape (data sets, methods)
        Lower is better; rows with a NaN are left out.
    alpha : float
        Level of the critical difference.

    References
    ----------
    Demsar (2006), JMLR 7, section 3.2.
    """
    whole = errors.dropna()
    n, k = whole.shape
    if n < 2 or k < 3:
        return None
    each = whole.rank(axis=1)
    ranks = each.mean()
    spread = float(((each.to_numpy() - (k + 1) / 2) ** 2).sum())  # n k (k^2 - 1) / 12 without ties
    between = float(((each.to_numpy().mean(axis=0) - (k + 1) / 2) ** 2).sum())
    p_value = float(chdtrc(k - 1, n * n * (k - 1) * between / spread)) if spread else 1.0  # Friedman
    # Nemenyi: a difference of two average ranks has this standard deviation, times the root of 2
    sd = float(np.sqrt(k * (k + 1) / (6 * n)))
    apart = np.abs(np.subtract.outer(ranks.to_numpy(), ranks.to_numpy())) / sd * np.sqrt(2)
    pairs = pd.DataFrame(studentized_range_p_value(apart, k), whole.columns, whole.columns)
    difference = studentized_range_quantile(1 - alpha, k) / math.sqrt(2) * sd
    return Ranking(ranks.sort_values(kind="stable"), n, p_value, pairs, difference)


def studentized_range_p_value(q: Floats, k: int) -> Floats:
    """Return P(range of k standard normal variables >= q), of the shape of q: the limit of many degrees of freedom.

    The lowest is z, and not all others are between z and z + q: summed over z by the trapezoid rule, which on the whole
    line is as exact as the numbers for a smooth integrand. All terms are positive: small p-values are exact too, where
    SciPy's integral has an error of 1e-12.
    """
    z = np.linspace(-30.0, 9.0, 1301)
    density, above = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi), ndtr(-z)
    beyond = np.minimum(ndtr(-z - np.asarray(q)[..., None]) / above, 1.0)
    with np.errstate(divide="ignore"):
        not_all = -np.expm1((k - 1) * np.log1p(-beyond))
    found: Floats = k * (density * above ** (k - 1) * not_all).sum(axis=-1) * (z[1] - z[0])
    return np.minimum(found, 1.0)


def studentized_range_quantile(share: float, k: int) -> float:
    """Return the q below which the range of k standard normal variables is with that probability, by bisection."""
    low, high = 0.0, 100.0
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        enough = 1.0 - float(studentized_range_p_value(np.array(middle), k)) >= share
        low, high = (low, middle) if enough else (middle, high)
    return high
