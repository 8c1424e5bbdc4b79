"""Ranks of the values of each column: the mean rank of equal values, or the place among the distinct ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.stats import rankdata

from provsel.kernels.discrete_information import column_blocks
from provsel.kernels.spectral import Matrix

BLOCK = 1 << 20
"""Entries of the columns that are sorted together."""


def mean_ranks(X: Matrix) -> Matrix:
    """Return the ranks in each column of X, shape (n, d); equal values get their mean rank.

    For sparse X the rank of the zeros of each column is subtracted, so that the result
    is sparse.
    """
    if sparse.issparse(X):
        return _sparse_ranks(sparse.csc_array(X))
    ranks = np.empty(X.shape)
    for part in column_blocks(X.shape[1], X.shape[0]):
        ranks[:, part] = rankdata(np.ascontiguousarray(X[:, part].T), axis=1).T
    return ranks


def _sparse_ranks(X: Any) -> Any:
    """Return ranks relative to that of the zeros: a positive value also counts half of the zeros."""
    n_samples, n_features = X.shape
    columns = np.repeat(np.arange(n_features), np.diff(X.indptr))
    order = np.lexsort((X.data, columns))
    values = X.data[order]
    is_new = np.ones(values.size, dtype=bool)
    is_new[1:] = (columns[1:] != columns[:-1]) | (values[1:] != values[:-1])
    run = np.cumsum(is_new) - 1
    length = np.bincount(run)
    last = np.cumsum(length)
    # among the values of the column, from 1
    mean_place = (last - (length - 1) / 2)[run] - X.indptr[columns]
    n_negative = np.bincount(columns, X.data < 0, minlength=n_features)[columns]
    n_zeros = (n_samples - np.diff(X.indptr))[columns]
    rank = mean_place + np.where(values > 0, n_zeros, 0)
    ranks = np.empty(values.size)
    ranks[order] = rank - (n_negative + (n_zeros + 1) / 2)
    return sparse.csc_array((ranks, X.indices, X.indptr), shape=X.shape).tocsr()


def value_places(X: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the place of each value among the distinct ones of its column, from 0, shape (n, d).

    float32, which scikit-learn's trees do not copy, can hold the ranks of 16 million
    rows, but not the values themselves if they are large or close to each other.
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
