"""Ranks of the values of each column, dense or sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.stats import rankdata

from provsel.kernels.discrete_information import column_blocks
from provsel.kernels.spectral import Matrix


def column_ranks(X: Matrix) -> Matrix:
    """Return the ranks in each column of X, shape (n, d), of equal values their mean.

    Those of sparse X are less the rank of the zeros of their column, so that they are sparse.
    """
    if sparse.issparse(X):
        return _sparse_ranks(sparse.csc_array(X))
    ranks = np.empty(X.shape)
    for part in column_blocks(X.shape[1], X.shape[0]):
        ranks[:, part] = rankdata(np.ascontiguousarray(X[:, part].T), axis=1).T
    return ranks


def _sparse_ranks(X: Any) -> Any:
    """Return ranks less that of the zeros: of a positive value, half of the zeros more than among the values."""
    n_samples, n_features = X.shape
    columns = np.repeat(np.arange(n_features), np.diff(X.indptr))
    order = np.lexsort((X.data, columns))
    values = X.data[order]
    is_new = np.ones(values.size, dtype=bool)
    is_new[1:] = (columns[1:] != columns[:-1]) | (values[1:] != values[:-1])
    run = np.cumsum(is_new) - 1
    length = np.bincount(run)
    last = np.cumsum(length)
    mean_place = (last - (length - 1) / 2)[run] - X.indptr[columns]  # among the values of the column, from 1
    n_negative = np.bincount(columns, X.data < 0, minlength=n_features)[columns]
    n_zeros = (n_samples - np.diff(X.indptr))[columns]
    rank = mean_place + np.where(values > 0, n_zeros, 0)
    ranks = np.empty(values.size)
    ranks[order] = rank - (n_negative + (n_zeros + 1) / 2)
    return sparse.csc_array((ranks, X.indices, X.indptr), shape=X.shape).tocsr()
