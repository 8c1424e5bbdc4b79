"""Unsupervised picking of columns one by one: by CUR, and by distance from earlier picks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import linalg, sparse

from provsel.kernels.spectral import Array, Matrix, gram_matrix
from provsel.kernels.ties import TIED, rank_descending

EXHAUSTED = 1e-10
"""Share of the squares of X below which nothing is left of it."""

ROUNDING = 1e-12
"""Accuracy of distances from inner products, as a share of the largest squared length."""


def cur_picks(X: Matrix, rank: int) -> Iterator[int]:
    """Yield all columns of X: each has the largest leverage in X projected off the columns before.

    The leverage is the sum of squares of a column of the `rank` leading right singular
    vectors. When nothing is left, columns follow by their length.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d), float64
        Sparse X only with n <= d.
    rank : int
    """
    lengths = _squared_lengths(X)
    if X.shape[0] > X.shape[1]:
        X = np.linalg.qr(X)[1]  # fewer rows with the same products of columns
    gram = gram_matrix(X)
    m, d = X.shape
    left = np.ones(d, dtype=bool)
    basis = np.empty((m, 0))
    least = EXHAUSTED * np.trace(gram)
    while basis.shape[1] < m:
        values, vectors = linalg.eigh(gram, subset_by_index=[max(0, m - rank), m - 1])
        if values[-1] <= least:
            break
        leverage = (
            (vectors[:, values > least].T @ X) ** 2 / values[values > least, None]
        ).sum(axis=0)
        pick = _first_largest(np.where(left, leverage, -1.0))
        yield pick
        left[pick] = False
        column = _dense_column(X, pick)
        for _ in range(2):  # twice, to remove rounding errors
            column = column - basis @ (basis.T @ column)
        column /= np.linalg.norm(column)
        basis = np.column_stack([basis, column])
        gram = gram - np.outer(column, column @ gram)
        gram = gram - np.outer(gram @ column, column)
    yield from (int(pick) for pick in rank_descending(lengths) if left[pick])


def farthest_picks(X: Matrix) -> Iterator[int]:
    """Yield all columns of X: each is the farthest from those before; the first is the farthest from the mean column.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d), float64
        Distances are computed from inner products; for dense X, after subtracting its
        mean column.
    """
    mean = np.asarray(X.mean(axis=1)).reshape(-1, 1)
    if not sparse.issparse(X):
        X = X - mean
        mean = np.zeros_like(mean)
    squares = _squared_lengths(X)
    noise = ROUNDING * squares.max()
    distances = squares - 2 * (X.T @ mean).ravel() + float((mean**2).sum())
    nearest = np.full(X.shape[1], np.inf)
    for _ in range(X.shape[1]):
        pick = _first_largest(distances, noise)
        yield pick
        distances = squares + squares[pick] - 2 * (X.T @ _dense_column(X, pick))
        nearest = np.minimum(nearest, np.maximum(distances, 0.0))
        nearest[pick] = -np.inf
        distances = nearest


def _squared_lengths(X: Matrix) -> Array:
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=0)).ravel()
    return np.einsum("ij,ij->j", X, X)


def _dense_column(X: Matrix, column: int) -> Array:
    if sparse.issparse(X):
        return X[:, [column]].toarray().ravel()
    return X[:, column]


def _first_largest(scores: Array, noise: float = 0.0) -> int:
    """Return the first column whose score is the largest up to rounding."""
    largest = scores.max()
    return int(np.argmax(scores >= largest - TIED * abs(largest) - noise))
