"""Leverage scores, and sampling by them with and without replacement."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Columns = NDArray[np.int64]


def leverage_scores(V: Array) -> Array:
    """Return ||V_i||^2 of each row of V, shape (d, rank); they sum to the rank."""
    return np.einsum("ij,ij->i", V, V)


def sample_with_replacement(
    p: Array, r: int, rng: np.random.Generator
) -> tuple[Columns, Array]:
    """Draw r times i.i.d. from p and merge repeated draws.

    Parameters
    ----------
    p : ndarray of shape (d,)
        Probabilities; they sum to one.
    r : int
    rng : numpy.random.Generator

    Returns
    -------
    indices : ndarray of shape (k,), int64
        The k <= r distinct columns, in order of their first draw.
    weights : ndarray of shape (k,)
        sqrt(m_i / (r p_i)) after m_i draws: the squared weights 1 / (r p_i) of repeated
        draws are added.
    """
    draws = rng.choice(p.size, size=r, p=p)
    indices, first, times = np.unique(draws, return_index=True, return_counts=True)
    order = np.argsort(first)
    indices, times = indices[order], times[order]
    return indices.astype(np.int64), np.sqrt(times / (r * p[indices]))


def sample_without_replacement(
    p: Array, r: int, rng: np.random.Generator
) -> tuple[Columns, Array]:
    """Draw exactly r distinct columns with inclusion probabilities proportional to p, capped at one.

    Systematic sampling on a random order of the columns (Madow 1949) meets the
    inclusion probabilities pi_i exactly. With weights 1 / sqrt(pi_i), the sampled V^T R
    R^T V is therefore V^T V in expectation.

    Parameters
    ----------
    p : ndarray of shape (d,)
        Probabilities, at least r of them positive.
    r : int
    rng : numpy.random.Generator

    Returns
    -------
    indices : ndarray of shape (r,), int64
    weights : ndarray of shape (r,)
    """
    inclusion = inclusion_probabilities(p, r)
    order = rng.permutation(p.size)
    ends = np.cumsum(inclusion[order])
    ends *= r / ends[-1]  # rounding must not lose the last point
    points = np.arange(r) + rng.random()
    indices = order[np.searchsorted(ends, points, side="right").clip(max=p.size - 1)]
    return indices.astype(np.int64), 1.0 / np.sqrt(inclusion[indices])


def inclusion_probabilities(p: Array, r: int) -> Array:
    """Return min(1, c p), shape (d,), with the c at which they sum to r."""
    certain = np.zeros(p.size, dtype=bool)
    while True:
        free = ~certain
        total = p[free].sum()
        inclusion = np.ones(p.size)
        if total > 0:
            inclusion[free] = (r - certain.sum()) * p[free] / total
        else:
            inclusion[free] = 0.0
        over = free & (inclusion >= 1.0)
        if not over.any():
            return inclusion
        certain |= over
