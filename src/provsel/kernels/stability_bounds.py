"""Bounds of complementary pairs stability selection on features that most halves of the rows select by chance.

A feature is selected on a half with a probability of at most theta = q / d. The share
of the halves of B pairs that select it reaches tau with a probability of at most a
constant times theta^2, which bounds the expected number of such false features.
"""

from __future__ import annotations

from math import ceil, inf, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar

STEP = 1e-9
"""Shares are multiples of 1 / (2 B); a threshold within this distance of a multiple equals it."""

FLAT = 1e8
"""Replaces an infinite shift, at which a law (a + i)^(1 / r) is uniform."""

STEEP = 1e-8


def false_selections(count: int, n_features: int, threshold: float) -> float:
    """Return q^2 / ((2 tau - 1) d): bound without an assumption on the shares.

    `count` is q, the largest number of features that a half selects.
    """
    return count**2 / ((2 * threshold - 1) * n_features)


def unimodal_false_selections(
    count: int, n_features: int, threshold: float, n_pairs: int
) -> float:
    """Return the bound if the share of pairs that select a feature on both halves has a unimodal law.

    Infinite if the theorem is vacuous: for theta > 1 / sqrt(3), or a threshold close to
    1/2.
    """
    theta = count / n_features
    tau = _attained(threshold, n_pairs)
    least = min(0.5 + theta**2, 0.5 + 1 / (2 * n_pairs) + 0.75 * theta**2)
    if theta > 1 / sqrt(3) or tau <= least or tau < 0.5 + 1 / n_pairs - STEP:
        return inf
    if tau <= 0.75:
        constant = 1 / (2 * (2 * tau - 1 - 1 / (2 * n_pairs)))
    else:
        constant = 4 * (1 - tau + 1 / (2 * n_pairs)) / (1 + 1 / n_pairs)
    return constant * theta * count


def concave_false_selections(
    count: int, n_features: int, threshold: float, n_pairs: int
) -> float:
    """Return the bound if the share of pairs has a -1/2-concave law, and the share of halves a -1/4-concave one."""
    theta = count / n_features
    tau = _attained(threshold, n_pairs)
    of_pairs = concave_tail(theta**2, 2 * tau - 1, n_pairs, -1 / 2)
    of_halves = concave_tail(theta, tau, 2 * n_pairs, -1 / 4)
    return min(of_pairs, of_halves) * n_features


def _attained(threshold: float, n_pairs: int) -> float:
    """Return the least share that reaches the threshold."""
    return ceil(2 * n_pairs * threshold - STEP) / (2 * n_pairs)


def concave_tail(mean: float, threshold: float, n_steps: int, r: float) -> float:
    """Return the largest P(Z >= threshold) of r-concave laws on 0, 1 / B, ..., 1 whose mean is at most `mean`.

    Such a law has p^r convex where it is positive; r < 0. The largest tail has p_i = (a + i)^(1 / r) up to some k,
    less at k + 1, and 0 beyond. For each k and a > 0 the mean determines how much less.
    """
    first = max(0, ceil(n_steps * threshold - STEP))
    expected = mean * n_steps
    if first == 0 or 2 * expected >= first:
        return 1.0
    upper = FLAT
    largest = 0.0
    for k in range(first - 1, n_steps):
        shifts = (_shift(k + 1, expected, r), upper)
        largest = max(largest, _largest_in(shifts, k, first, expected, r))
        upper = shifts[0]
    return min(1.0, largest)


def _largest_in(
    shifts: tuple[float, float], k: int, first: int, expected: float, r: float
) -> float:
    """Return the largest P(B Z >= first) among laws truncated after k, over shifts a between two limits."""

    def negative_tail(log_shift: float) -> float:
        weights = (np.exp(log_shift) + np.arange(k + 1)) ** (1 / r)
        sums = weights.sum(), np.arange(k + 1) @ weights
        # the weight at k + 1
        last = max((expected * sums[0] - sums[1]) / (k + 1 - expected), 0.0)
        return float(weights[:first].sum() / (sums[0] + last)) - 1.0

    limits = np.log(shifts)
    inside = minimize_scalar(
        negative_tail, bounds=limits, method="bounded", options={"xatol": 1e-9}
    )
    return max(-float(inside.fun), -negative_tail(limits[0]), -negative_tail(limits[1]))


def _shift(k: int, expected: float, r: float) -> float:
    """Return the a for which the law (a + i)^(1 / r) on 0, ..., k has the mean `expected`, below k / 2."""
    places = np.arange(k + 1)

    def excess(log_shift: float) -> float:
        weights: NDArray[np.float64] = (np.exp(log_shift) + places) ** (1 / r)
        return float(places @ weights / weights.sum()) - expected

    low, high = np.log(STEEP), np.log(FLAT)
    if excess(low) > 0 or excess(high) < 0:
        return STEEP if excess(low) > 0 else FLAT
    return float(np.exp(brentq(excess, low, high, xtol=1e-13)))
