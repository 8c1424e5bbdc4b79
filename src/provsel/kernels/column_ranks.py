"""Ranks of the values of each column, which are all that a tree compares."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 20
"""Entries of the columns that are sorted together."""


def column_ranks(X: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the place of each value among the distinct ones of its column, from 0, shape (n, d).

    float32, of which scikit-learn's trees make no copy, has room for the ranks of 16 million rows; of the values
    themselves it has not, where they are large or close to each other.
    """
    n, d = X.shape
    ranks = np.empty((n, d), dtype=np.float32)
    size = max(1, BLOCK // n)
    for start in range(0, d, size):
        columns = np.ascontiguousarray(X[:, start : start + size].T)
        order = np.argsort(columns, axis=1, kind="stable")
        ordered = np.take_along_axis(columns, order, axis=1)
        places = np.zeros(columns.shape, dtype=np.float32)
        np.cumsum(ordered[:, 1:] > ordered[:, :-1], axis=1, out=places[:, 1:])
        of_rows = np.empty_like(places)
        np.put_along_axis(of_rows, order, places, axis=1)
        ranks[:, start : start + size] = of_rows.T
    return ranks
