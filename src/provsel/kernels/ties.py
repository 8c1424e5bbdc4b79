"""Ordering by scores that does not depend on rounding."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from provsel.kernels.spectral import Array

TIED = 1e-10
"""Share of a score within which the next one counts as equal, far above the rounding of sums and eigenvectors."""

ZERO = 1e-20
"""Share of the largest score that a zero score may have if scores are squares: that of a rounding error."""


def rank_descending(scores: Array, *, noise: float = 0.0) -> NDArray[np.int64]:
    """Return the order, shape (d,), of scores of shape (d,), finite or -inf, from the largest; ties by index.

    Copies of a column have equal scores, but computed ones differ in their last digits
    by the order of the sums: dense and sparse forms of the same data would be ranked
    differently. Neighbours in the sorted order are ties when they differ by at most
    `TIED` of the first one, or by `noise` of the largest score. Because ties depend on
    gaps and not on a grid, equal scores are never split by a boundary.
    """
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    if ordered.size < 2:
        return order
    with np.errstate(invalid="ignore"):  # two infinities are a tie
        gaps = ordered[:-1] - ordered[1:]
        apart = gaps > TIED * np.abs(ordered[:-1]) + noise * np.abs(ordered[0])
    if not gaps[~apart].any():
        # the stable sort has put exact ties, which are most, in order of index
        return order
    group = np.zeros(order.size, dtype=np.int64)
    np.cumsum(apart, out=group[1:])
    return order[np.lexsort((order, group))]


def first_largest(scores: Array) -> int:
    """Return the first place of the largest of the scores, shape (d,), or of one that differs by rounding only."""
    largest = scores.max()
    return int(np.argmax(scores >= largest - TIED * abs(largest)))


def number_tied(scores: Array) -> int:
    """Return how many of the squares `scores`, shape (d,), are non-zero if all of these are equal, otherwise 0."""
    others = scores[scores > TIED * scores.max()]
    return others.size if others.min() >= others.max() * (1 - TIED) else 0
