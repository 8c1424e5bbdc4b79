"""The Laplacian score: a sparse neighbourhood graph of the rows, then one number per column."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from provsel.kernels.spectral import Array, Matrix

BLOCK = 1 << 22
"""Values of a dense block of differences: 32 MiB of float64."""

TILE = 1 << 19
"""Values of a square block of distances: 4 MiB, which stay in a cache while neighbours are looked for."""

TIE = 4e-12
"""Squared distances that differ by less than this fraction of their terms are equal: rounding is far smaller."""


def nearest_rows(X: Matrix, n_neighbors: int) -> tuple[NDArray[np.int64], float]:
    """Return the nearest other rows of each row, and the mean distance between rows, visiting each pair once.

    Time O(n^2 d), memory O(n n_neighbors) and one square block of `TILE` values: no n x
    n matrix is formed. Among rows at the same distance (`TIE`) lower row numbers come
    first. The graph therefore depends on neither the order of floating-point sums nor
    the form of X.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d), float64
        Distances come from inner products; centre a dense X whose columns are far from
        zero.
    n_neighbors : int
        Less than n.

    Returns
    -------
    neighbors : ndarray of shape (n, n_neighbors), int64
        Row numbers, in no particular order.
    mean_distance : float
        Over the n (n - 1) / 2 pairs of different rows.
    """
    n = X.shape[0]
    norms = _squared_norms(X)
    nearest, squares = np.full((n, n_neighbors), n), np.full((n, n_neighbors), np.inf)
    total = 0.0
    step = max(1, math.isqrt(TILE))
    for first in range(0, n, step):
        rows = slice(first, min(first + step, n))
        for second in range(first, n, step):
            columns = slice(second, min(second + step, n))
            tile = _squared_distances(X, norms, rows, columns)
            # differences below the rounding of the norms are meaningless, and equal
            # rows must be equal
            unknown = tile <= TIE * norms[rows, None]
            if unknown.any():
                tile[unknown] = 0.0
            if first == second:
                np.fill_diagonal(tile, 0.0)
                total += float(np.sqrt(tile).sum())
                np.fill_diagonal(tile, np.inf)
            else:
                # every row meets the others in the order of their numbers: tiles above
                # it came before
                total += 2.0 * float(np.sqrt(tile).sum())
                _merge(
                    nearest[columns], squares[columns], tile.T, first, norms[columns]
                )
            _merge(nearest[rows], squares[rows], tile, second, norms[rows])
    return nearest, total / (n * (n - 1))


def neighbor_edges(
    X: Matrix, neighbors: NDArray[np.int64]
) -> tuple[NDArray[np.int64], Array]:
    """Return the undirected edges that join a row with one of its neighbours, in either direction, and their lengths.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d), float64
    neighbors : ndarray of shape (n, n_neighbors), int64

    Returns
    -------
    edges : ndarray of shape (n_edges, 2), int64
        Each pair once, the lower row first, in increasing order.
    squares : ndarray of shape (n_edges,)
        Squared distances, from differences of rows: exact to rounding, 0 for equal
        rows.
    """
    n, k = neighbors.shape
    pairs = np.column_stack([np.repeat(np.arange(n), k), neighbors.ravel()])
    pairs.sort(axis=1)
    codes = np.unique(pairs[:, 0] * n + pairs[:, 1])
    edges = np.column_stack([codes // n, codes % n])
    squares = np.empty(len(edges))
    for start, stop in _blocks(len(edges), X.shape[1]):
        squares[start:stop] = _squared_norms(_differences(X, edges[start:stop]))
    return edges, squares


def laplacian_scores(X: Matrix, edges: NDArray[np.int64], weights: Array) -> Array:
    r"""Return the Laplacian score of each column; smaller is better, constant columns have infinity.

    With W the symmetric weights of the graph and D = diag(W 1), the numerator X_j^T (D - W) X_j is the sum of
    w_ij (difference)^2 over the edges and the denominator X_j^T D X_j - (1^T D X_j)^2 / (1^T D 1) is the
    D-weighted variance. Both are computed in these forms, which avoid cancellation.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d), float64
    edges : ndarray of shape (n_edges, 2), int64
        Each undirected edge once.
    weights : ndarray of shape (n_edges,)
        Not all zero.

    Returns
    -------
    ndarray of shape (d,)
    """
    n, d = X.shape
    degrees: Array = np.bincount(
        edges.ravel(), np.repeat(weights, 2), minlength=n
    ).astype(np.float64)
    numerator = np.zeros(d)
    for start, stop in _blocks(len(edges), d):
        differences = _differences(X, edges[start:stop])
        numerator += _weighted_squares(differences, weights[start:stop])
    # a column that is constant wherever there is an edge has variance 0 up to rounding,
    # which must not decide
    rows = X[degrees > 0]
    low, high = rows.min(axis=0), rows.max(axis=0)
    if sparse.issparse(X):
        low, high = low.toarray().ravel(), high.toarray().ravel()
    scores = np.full(d, np.inf)
    np.divide(numerator, _weighted_variance(X, degrees), out=scores, where=low < high)
    return scores


def _weighted_variance(X: Matrix, degrees: Array) -> Array:
    means = (degrees @ X) / degrees.sum()
    if not sparse.issparse(X):
        variance = np.zeros(X.shape[1])
        for start, stop in _blocks(*X.shape):
            variance += _weighted_squares(X[start:stop] - means, degrees[start:stop])
        return variance
    X = sparse.csr_array(X)
    stored = np.repeat(degrees, np.diff(X.indptr))
    on_values = np.bincount(
        X.indices, stored * (X.data - means[X.indices]) ** 2, minlength=X.shape[1]
    )
    off_values = degrees.sum() - np.bincount(X.indices, stored, minlength=X.shape[1])
    return on_values + np.maximum(off_values, 0.0) * means**2


def _squared_distances(X: Matrix, norms: Array, rows: slice, columns: slice) -> Array:
    products = (X[rows] * -2.0) @ X[columns].T
    squares: Array = products.toarray() if sparse.issparse(products) else products
    squares += norms[columns]
    squares += norms[rows, None]
    return squares


def _merge(
    nearest: NDArray[np.int64], squares: Array, tile: Array, start: int, norms: Array
) -> None:
    """Update the nearest rows found so far, shape (m, k), and their squared distances by a tile, in place.

    Parameters
    ----------
    tile : ndarray of shape (m, w)
        Squared distances to the rows start, ..., start + w - 1, which follow all
        earlier rows.
    norms : ndarray of shape (m,)
    """
    k = squares.shape[1]
    last = squares.max(axis=1)
    if np.isinf(last).any() and tile.shape[1] > k:
        last = np.minimum(last, np.partition(tile, k - 1, axis=1)[:, k - 1])
    rows, columns = _where_at_most(tile, last + _margin(last, norms))
    if rows.size == 0:
        return
    met = np.unique(rows)
    values = np.concatenate([squares[met].ravel(), tile[rows, columns]])
    numbers = np.concatenate([nearest[met].ravel(), start + columns])
    rows = np.concatenate([np.repeat(met, k), rows])
    # the k smallest; of equal ones those of lower number
    by_value = np.lexsort((values, rows))
    first = np.searchsorted(rows[by_value], met)
    last[met] = values[by_value][first + k - 1]
    margin = _margin(last, norms)
    equal, too_far = values >= (last - margin)[rows], values > (last + margin)[rows]
    order = np.lexsort((numbers, equal, too_far, rows))
    chosen = order[first[:, None] + np.arange(k)]
    nearest[met], squares[met] = numbers[chosen], values[chosen]


def _margin(squares: Array, norms: Array) -> Array:
    return np.where(np.isinf(squares), 0.0, TIE * (norms + squares))


def _where_at_most(
    tile: Array, limits: Array
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return row and column numbers of the values of `tile` up to the limit of their row."""
    below = np.less_equal(tile, limits[:, None], order="K")
    if below.flags.c_contiguous:
        rows, columns = np.divmod(np.flatnonzero(below), tile.shape[1])
    else:
        columns, rows = np.divmod(np.flatnonzero(below.T), tile.shape[0])
    return rows, columns


def _differences(X: Matrix, edges: NDArray[np.int64]) -> Matrix:
    return X[edges[:, 0]] - X[edges[:, 1]]


def _squared_norms(X: Matrix) -> Array:
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


def _weighted_squares(X: Matrix, weights: Array) -> Array:
    """Return the sum of weights_i X_ij^2 over the rows of X."""
    return np.asarray(
        weights @ (X.multiply(X) if sparse.issparse(X) else X * X)
    ).ravel()


def _blocks(n_rows: int, n_columns: int) -> Iterator[tuple[int, int]]:
    step = max(1, BLOCK // max(1, n_columns))
    for start in range(0, n_rows, step):
        yield start, min(start + step, n_rows)
