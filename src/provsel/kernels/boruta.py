"""Decisions of Boruta: which features are important more, or less, often than by chance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, bdtrc

Integers = NDArray[np.int64]

TENTATIVE, CONFIRMED, REJECTED = 0, 1, -1


def decided(
    decisions: Integers, hits: Integers, n_rounds: int, alpha: float, *, two_step: bool
) -> Integers:
    """Return the decisions after a round, shape (d,): 0 tentative, 1 confirmed, -1 rejected.

    For a feature that is as important as its permuted copy, the number of hits is
    binomial with chance at most 1/2. In two steps, p-values have to pass Benjamini and
    Hochberg's procedure over the features that are not rejected, and `alpha` divided by
    the number of rounds; in one step, `alpha` divided by the number of all features.

    Parameters
    ----------
    decisions : ndarray of shape (d,)
        Decisions before the round; they are final.
    hits : ndarray of shape (d,)
        Rounds in which the feature was more important than the permuted copies.
    """
    remaining = np.flatnonzero(decisions != REJECTED)
    counts = hits[remaining]
    accept = bdtrc(counts - 1, n_rounds, 0.5)  # as many hits, or more
    reject = bdtr(counts, n_rounds, 0.5)
    after = decisions.copy()
    is_open = decisions[remaining] == TENTATIVE
    for p_values, decision in ((accept, CONFIRMED), (reject, REJECTED)):
        passes = _passes(p_values, n_rounds, alpha, hits.size, two_step=two_step)
        after[remaining[is_open & passes]] = decision
    return after


def _passes(
    p_values: NDArray[np.float64],
    n_rounds: int,
    alpha: float,
    d: int,
    *,
    two_step: bool,
) -> NDArray[np.bool_]:
    """Return which p-values are small enough."""
    if not two_step:
        return p_values <= alpha / d
    # Benjamini and Hochberg: up to the last of the sorted p-values that is below its
    # share of alpha
    order = np.argsort(p_values, kind="stable")
    below = np.flatnonzero(
        p_values[order] <= alpha * np.arange(1, order.size + 1) / order.size
    )
    passes = np.zeros(order.size, dtype=bool)
    if below.size:
        passes[order[: below[-1] + 1]] = True
    return passes & (p_values <= alpha / n_rounds)


def is_settled(
    decisions: Integers,
    hits: Integers,
    n_rounds: int,
    max_rounds: int,
    alpha: float,
    *,
    two_step: bool,
) -> bool:
    """Return whether no tentative feature can be decided in the remaining rounds.

    Whatever their hits, they would have to pass the least strict test, the one without
    the correction for several features.
    """
    counts = np.unique(hits[decisions == TENTATIVE])
    later = np.arange(n_rounds + 1, max_rounds + 1)[:, None]
    limits = alpha / later if two_step else np.full(later.shape, alpha / hits.size)
    can_be_confirmed = bdtrc(counts + later - n_rounds - 1, later, 0.5) <= limits
    can_be_rejected = (
        bdtr(np.broadcast_to(counts, can_be_confirmed.shape), later, 0.5) <= limits
    )
    return not (can_be_confirmed.any() or can_be_rejected.any())
