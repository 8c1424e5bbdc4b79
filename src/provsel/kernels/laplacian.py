"""The Laplacian score: a sparse neighbourhood graph of the rows, then one number a column."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from provsel.kernels.spectral import Array, Matrix

BLOCK = 1 << 22
"""Values of a dense block of distances or differences: 32 MiB of float64."""

TIE = 4e-12
"""Squared distances closer than this fraction of what they were computed from are equal: rounding is far less."""


def nearest_rows(X: Matrix, n_neighbors: int) -> tuple[NDArray[np.int64], float]:
    """Return the nearest other rows of each row and the mean distance of two rows, in one pass over all pairs.

    Time O(n^2 d), memory O(n n_neighbors) and one block of `BLOCK` values: n x n is never formed. Of rows at the
    same distance (`TIE`) those of lower number are taken, so that the graph depends on neither the order of
    floating-point sums nor the form of X.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d), float64
        Distances come from inner products; centre a dense X whose columns are far from zero.
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
    neighbors, total = np.empty((n, n_neighbors), dtype=np.int64), 0.0
    for start, stop in _blocks(n, n):
        squares = _squared_distances(X, norms, start, stop)
        # below the rounding of the norms nothing is known: equal rows must come out equal
        squares[squares <= TIE * norms[start:stop, None]] = 0.0
        own = np.arange(stop - start), np.arange(start, stop)
        squares[own] = 0.0
        total += float(np.sqrt(squares).sum())
        squares[own] = np.inf
        neighbors[start:stop] = _smallest(squares, n_neighbors, norms[start:stop])
    return neighbors, total / (n * (n - 1))


def neighbor_edges(X: Matrix, neighbors: NDArray[np.int64]) -> tuple[NDArray[np.int64], Array]:
    """Return the undirected edges that join a row with one of its neighbours, either side's, and their lengths.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, d), float64
    neighbors : ndarray of shape (n, n_neighbors), int64

    Returns
    -------
    edges : ndarray of shape (n_edges, 2), int64
        Each pair once, the lower row first, in increasing order.
    squares : ndarray of shape (n_edges,)
        Squared distances, from differences of rows: exact to rounding, 0 for equal rows.
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
    D-weighted variance. Both are computed in these forms, which lose nothing to cancellation.

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
    degrees: Array = np.bincount(edges.ravel(), np.repeat(weights, 2), minlength=n).astype(np.float64)
    numerator = np.zeros(d)
    for start, stop in _blocks(len(edges), d):
        differences = _differences(X, edges[start:stop])
        numerator += _weighted_squares(differences, weights[start:stop])
    # a column that is constant wherever there is an edge has variance 0 but for rounding, which must not decide
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
    on_values = np.bincount(X.indices, stored * (X.data - means[X.indices]) ** 2, minlength=X.shape[1])
    off_values = degrees.sum() - np.bincount(X.indices, stored, minlength=X.shape[1])
    return on_values + np.maximum(off_values, 0.0) * means**2


def _squared_distances(X: Matrix, norms: Array, start: int, stop: int) -> Array:
    products = X[start:stop] @ X.T
    squares = products.toarray() if sparse.issparse(products) else products
    squares *= -2.0
    squares += norms
    squares += norms[start:stop, None]
    return squares


def _smallest(squares: Array, count: int, norms: Array) -> NDArray[np.int64]:
    """Return the columns of the `count` smallest values of each row, of equal values those of lower number."""
    last = np.partition(squares, count - 1, axis=1)[:, count - 1]
    tolerance = TIE * (norms + last)
    rows, columns = np.nonzero(squares <= (last + tolerance)[:, None])
    equal = squares[rows, columns] >= (last - tolerance)[rows]
    order = np.lexsort((columns, equal, rows))
    first = np.searchsorted(rows, np.arange(len(squares)))
    return columns[order][first[:, None] + np.arange(count)]


def _differences(X: Matrix, edges: NDArray[np.int64]) -> Matrix:
    return X[edges[:, 0]] - X[edges[:, 1]]


def _squared_norms(X: Matrix) -> Array:
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)


def _weighted_squares(X: Matrix, weights: Array) -> Array:
    """Return the sum of weights_i X_ij^2 over the rows of X."""
    return np.asarray(weights @ (X.multiply(X) if sparse.issparse(X) else X * X)).ravel()


def _blocks(n_rows: int, n_columns: int) -> Iterator[tuple[int, int]]:
    step = max(1, BLOCK // max(1, n_columns))
    for start in range(0, n_rows, step):
        yield start, min(start + step, n_rows)
