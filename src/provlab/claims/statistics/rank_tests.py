"""Tests on ranks, as SciPy's: importing scipy.stats costs more than judging all claims of a full store.

Exact where SciPy's are (small samples), with its normal approximation elsewhere; `tests/claims` compare all with SciPy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc, chdtrc, ndtr

from provlab.claims.statistics._base import Alternative

EXACT_PAIRED, EXACT_TIED_PAIRED = 50, 13
"""Differences up to which the signed-rank test is exact, and up to which it is with ties or zeros."""

EXACT_SMALLER = 8
"""Observations in the smaller sample up to which the test of two samples is exact, without ties."""

EXACT_TREND = 33
"""Observations up to which Kendall's test is exact, without ties."""


def signed_rank_p_value(differences: NDArray[np.float64], alternative: Alternative) -> float:
    """Return Wilcoxon's signed-rank p-value; zeros are split evenly between both signs.

    Parameters
    ----------
    differences : ndarray of shape (n,)
        Not all zero.
    alternative : {"two-sided", "less", "greater"}
    """
    n = len(differences)
    doubled, ties = _doubled_ranks(np.abs(differences))
    nonzero, rises = doubled[differences != 0], int(doubled[differences > 0].sum())
    free = len(nonzero) == n and len(ties) == n
    if n <= (EXACT_PAIRED if free else EXACT_TIED_PAIRED):
        return _tail(rises, signed_sums(tuple(sorted(nonzero.tolist()))), alternative)
    split = rises / 2 + doubled[differences == 0].sum() / 4
    sd = math.sqrt((n * (n + 1) * (2 * n + 1) - float((ties**3 - ties).sum()) / 2) / 24)
    z = (split - n * (n + 1) / 4) / sd
    if alternative == "two-sided":
        return float(2 * ndtr(-abs(z)))
    return float(ndtr(z if alternative == "less" else -z))


@lru_cache(1000)
def signed_sums(ranks: tuple[int, ...]) -> NDArray[np.float64]:
    """Return P(sum = s), s = 0, 1, ..., of the integer ranks whose sign is positive, when each has an even chance."""
    weights = np.ones(1)
    for rank in ranks:
        taken = np.zeros(len(weights) + rank)
        taken[: len(weights)] += weights / 2
        taken[rank:] += weights / 2
        weights = taken
    return weights


def rank_sum_p_value(below: NDArray[np.float64], above: NDArray[np.float64]) -> float:
    """Return the one-sided p-value of Mann and Whitney's test that `above` is higher than `below`."""
    n, m = len(below), len(above)
    lower, ties = _pairs(below, above)
    _, sizes = np.unique(np.concatenate([below, above]), return_counts=True)
    if min(n, m) <= EXACT_SMALLER and len(sizes) == n + m:
        return _tail(lower, _rank_sums(min(n, m), max(n, m)), "greater")
    variance = n * m / 12 * (n + m + 1 - float((sizes**3 - sizes).sum()) / ((n + m) * (n + m - 1)))
    over = lower + ties / 2 - n * m / 2 - 0.5
    return float(ndtr(-over / math.sqrt(variance))) if variance > 0 else 1.0


def falling_trend(samples: Sequence[NDArray[np.float64]]) -> tuple[float, float]:
    """Return Kendall's tau-b of values with the order of their samples, and the p-value of a fall; NaN if all tie.

    Parameters
    ----------
    samples : sequence of ndarray
        None empty; in their order.
    """
    pairs = [_pairs(before, after) for before, after in combinations(samples, 2)]
    rises, tied = sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)
    groups = np.array([len(sample) for sample in samples])
    _, sizes = np.unique(np.concatenate(samples), return_counts=True)
    n, between = int(groups.sum()), sum(len(a) * len(b) for a, b in combinations(samples, 2))
    apart = n * (n - 1) // 2 - int((sizes * (sizes - 1) // 2).sum())
    if between == 0 or apart == 0:
        return math.nan, math.nan
    falls = between - rises - tied
    tau = (rises - falls) / math.sqrt(between) / math.sqrt(apart)
    if len(sizes) == n == len(samples) and (n <= EXACT_TREND or min(rises, falls) <= 1):
        return tau, _tail(rises, _inversions(n), "less")
    (x0, x1, x2), (y0, y1, y2) = _tie_terms(groups), _tie_terms(sizes)
    m = n * (n - 1.0)
    variance = (m * (2 * n + 5) - x2 - y2) / 18 + 2 * x0 * y0 / m + x1 * y1 / (9 * m * (n - 2))
    return tau, float(ndtr((rises - falls) / math.sqrt(variance)))


def friedman_p_value(ranks: NDArray[np.float64]) -> float:
    """Return Friedman's p-value that all methods are the same; 1 where all tie everywhere.

    Parameters
    ----------
    ranks : ndarray of shape (n_datasets, n_methods)
        Average ranks within each row.
    """
    n, k = ranks.shape
    spread = float(((ranks - (k + 1) / 2) ** 2).sum())  # n k (k^2 - 1) / 12 without ties
    if spread == 0:
        return 1.0
    between = float(((ranks.mean(axis=0) - (k + 1) / 2) ** 2).sum())
    return float(chdtrc(k - 1, n * n * (k - 1) * between / spread))


def more_than_p_value(successes: int, trials: int, share: float) -> float:
    """Return the binomial p-value of a probability of more than `share`."""
    return float(bdtrc(successes - 1, trials, share)) if successes else 1.0


def _pairs(before: NDArray[np.float64], after: NDArray[np.float64]) -> tuple[int, int]:
    """Return in how many pairs of values the one of `after` is higher, and in how many both are equal."""
    ordered = np.sort(before)
    lower, up_to = (np.searchsorted(ordered, after, side) for side in ("left", "right"))
    return int(lower.sum()), int((up_to - lower).sum())


def _doubled_ranks(values: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return twice the average ranks, which are integers, and how often each value is there."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (2 * last - counts + 1)[place], counts


def _tail(statistic: int, probabilities: NDArray[np.float64], alternative: Alternative) -> float:
    """Return the p-value of a statistic whose null distribution on 0, 1, ... is symmetric."""
    mirrored = len(probabilities) - 1 - statistic
    low, high = (float(probabilities[: place + 1].sum()) for place in (statistic, mirrored))
    return min(1.0, {"less": low, "greater": high, "two-sided": 2 * min(low, high)}[alternative])


@cache
def _rank_sums(n: int, m: int) -> NDArray[np.float64]:
    """Return P(U = u), u = 0 ... n m, of samples of n and m observations, by which one has the highest of all."""
    found = [np.ones(1) for _ in range(n + 1)]  # of 0 ... n, and of as many as there are yet
    for j in range(m + 1):
        for i in range(1, n + 1):
            chances = np.zeros(i * j + 1)
            chances[j:] = i / (i + j) * found[i - 1]
            if j:
                chances[: len(found[i])] += j / (i + j) * found[i]
            found[i] = chances
    return found[n]


@cache
def _inversions(n: int) -> NDArray[np.float64]:
    """Return P(k inversions) of a permutation of n values."""
    probabilities = np.ones(1)
    for size in range(2, n + 1):
        probabilities = np.convolve(probabilities, np.full(size, 1 / size))
    return probabilities


def _tie_terms(sizes: NDArray[np.int64]) -> tuple[float, float, float]:
    """Return the sums over ties of t (t - 1) / 2, t (t - 1) (t - 2) and t (t - 1) (2 t + 5)."""
    t = sizes.astype(float)
    return (
        float((t * (t - 1) / 2).sum()),
        float((t * (t - 1) * (t - 2)).sum()),
        float((t * (t - 1) * (2 * t + 5)).sum()),
    )
