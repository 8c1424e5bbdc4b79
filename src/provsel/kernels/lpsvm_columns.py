"""Merging of columns that are multiples of each other, which are common in text; a linear program needs only one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_MIX = (
    (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)),
    (np.uint64(27), np.uint64(0x94D049BB133111EB)),
)


def distinct_columns(X: Any) -> NDArray[np.int64]:
    """Return one column of each set of parallel columns: the longest, the first of equal ones; no zero columns.

    If x_j = c x_k with |c| <= 1, weight on x_j can move to x_k without a larger 1-norm,
    so the optimum of a 1-norm SVM stays the same. Columns count as parallel if their
    entries divided by the first agree bit for bit.

    Parameters
    ----------
    X : CSC of shape (n, d), float64
        Sorted indices, no stored zeros.

    Returns
    -------
    ndarray of shape (k,), int64
        Increasing.
    """
    counts = np.diff(X.indptr)
    kept = np.flatnonzero(counts)
    if not kept.size:
        return kept
    first = X.indptr[:-1][kept]
    lead = X.data[first]
    ratio = X.data / np.repeat(lead, counts[kept])
    # one 64-bit number per column: entries are mixed with a constant of their row, and
    # added modulo 2^64
    code = (
        ratio.view(np.uint64)
        + np.random.default_rng(0).integers(0, 2**64 - 1, X.shape[0], np.uint64)[
            X.indices
        ]
    )
    for shift, factor in _MIX:
        code ^= code >> shift
        code *= factor
    code ^= code >> np.uint64(31)
    codes = np.add.reduceat(code, first)
    order = np.lexsort((kept, -np.abs(lead), codes))
    ordered = codes[order]
    new = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    leader = order[np.maximum.accumulate(np.where(new, np.arange(order.size), 0))]
    # equal numbers are compared entry by entry, so that a collision cannot drop a
    # column
    merged, into = order[~new], leader[~new]
    alike = counts[kept[merged]] == counts[kept[into]]
    lengths = np.where(alike, counts[kept[merged]], 0)
    owner = np.repeat(np.arange(merged.size), lengths)
    offset = np.arange(owner.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    a, b = first[merged][owner] + offset, first[into][owner] + offset
    alike &= (
        np.bincount(
            owner, (ratio[a] != ratio[b]) | (X.indices[a] != X.indices[b]), merged.size
        )
        == 0
    )
    return np.sort(np.concatenate([kept[order[new]], kept[merged[~alike]]]))
