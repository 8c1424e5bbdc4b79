"""One feature at a time: means and deviations of classes, F statistics, correlations with a target.

Rows are processed in blocks, and columns are centred before they are squared, so that a
large mean does not hide small deviations.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from provsel.kernels.spectral import Array, Matrix

BLOCK = 1 << 20
"""Values of a block of rows: 8 MiB of float64."""

ROUNDING = np.finfo(np.float64).eps ** 2
"""Times n^2: the share of a column's squares that rounding in sums of n values can leave of zero deviations."""


@dataclass(frozen=True)
class ClassMoments:
    """Moments of each column in each class.

    Attributes
    ----------
    sizes : ndarray of shape (n_classes,)
        Sums of weights.
    means : ndarray of shape (n_classes, d)
    mean : ndarray of shape (d,)
        Means over all rows.
    between, within : ndarray of shape (d,)
        Sums of squares of the classes' means around the mean, and of the rows around
        the mean of their class; 0 if only rounding is left.
    """

    sizes: Array
    means: Array
    mean: Array
    between: Array
    within: Array


def class_moments(
    X: Matrix, y: NDArray[np.int64], weight: Array | None = None
) -> ClassMoments:
    """Return the moments of X, ndarray or CSR of shape (n, d), in the classes y = 0, 1, ..., rows weighted."""
    if weight is None:
        weight = np.ones(y.size)
    sizes = np.asarray(np.bincount(y, weights=weight), dtype=np.float64)
    means = _weighted_sums(X, _members(y, weight)) / sizes[:, None]
    mean = sizes @ means / sizes.sum()
    between = sizes @ (means - mean) ** 2
    if not sparse.issparse(X):
        mean, means = X[0] + mean, X[0] + means
    within, squares = _squares_around(X, means, y, weight)
    noise = ROUNDING * y.size**2 * squares
    between[between <= noise] = 0.0
    within[within <= noise] = 0.0
    return ClassMoments(sizes, means, mean, between, within)


def f_statistics(moments: ClassMoments) -> Array:
    """Return the F statistics of an analysis of variance, shape (d,).

    Zero if the means do not differ, infinite if nothing else varies.
    """
    n_classes = moments.sizes.size
    freedom = max(moments.sizes.sum() - n_classes, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (moments.between / (n_classes - 1)) / (moments.within / freedom)
    return np.where(moments.between > 0, ratio, 0.0)


def correlations(X: Matrix, y: Array, weight: Array | None = None) -> Array:
    """Return the correlations of the columns of X, ndarray or CSR of shape (n, d), with y; 0 for constant columns."""
    if weight is None:
        weight = np.ones(y.size)
    deviation = y - weight @ y / weight.sum()
    deviation -= weight @ deviation / weight.sum()
    moments = class_moments(X, np.zeros(y.size, dtype=np.int64), weight)
    products = _weighted_sums(X, (weight * deviation)[None, :])[0]
    scale = np.sqrt(moments.within * (weight @ deviation**2))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(scale > 0, np.clip(products / scale, -1.0, 1.0), 0.0)


def f_of_correlations(r: Array, size: float) -> Array:
    """Return the F statistic of each correlation r of `size` rows, infinite if r is 1 or -1 to rounding."""
    unexplained = 1.0 - r**2
    unexplained[unexplained < 8 * np.finfo(np.float64).eps] = 0.0
    with np.errstate(divide="ignore"):
        return r**2 / unexplained * max(size - 2, 1)


def class_sums(X: Matrix, y: NDArray[np.int64], weight: Array) -> Array:
    """Return the sums of X, ndarray or CSR of shape (n, d), over each class, shape (n_classes, d), rows weighted."""
    product = _members(y, weight) @ X
    return product.toarray() if sparse.issparse(product) else product


def _members(y: NDArray[np.int64], weight: Array) -> Any:
    """Return the weights of the rows of each class, CSR of shape (n_classes, n)."""
    shape = int(y.max()) + 1, y.size
    return sparse.csc_array((weight, y, np.arange(y.size + 1)), shape=shape).tocsr()


def _weighted_sums(X: Matrix, weights: Any) -> Array:
    """Return weights, shape (m, n), times sparse X, or times X minus its first row: exactly 0 for constant columns."""
    if sparse.issparse(X):
        product = weights @ X
        return product.toarray() if sparse.issparse(product) else product
    sums = np.zeros((weights.shape[0], X.shape[1]))
    for rows in row_blocks(*X.shape):
        sums += weights[:, rows] @ (X[rows] - X[0])
    return sums


def _squares_around(
    X: Matrix, centers: Array, y: NDArray[np.int64], weight: Array
) -> tuple[Array, Array]:
    """Return the weighted sums of (X - centers[y])^2, and of X^2 or of (X - X[0])^2 for dense X, shape (d,)."""
    if sparse.issparse(X):
        return _sparse_squares_around(X, centers, y, weight)
    around, squares = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    for rows in row_blocks(*X.shape):
        block = X[rows]
        squares += weight[rows] @ (block - X[0]) ** 2
        around += weight[rows] @ (block - centers[y[rows]]) ** 2
    return around, squares


def _sparse_squares_around(
    X: Any, centers: Array, y: NDArray[np.int64], weight: Array
) -> tuple[Array, Array]:
    """Do the same as `_squares_around`: values one by one, and the zeros of a class together."""
    n_features = X.shape[1]
    rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    labels, weights = y[rows], weight[rows]
    cells = labels * n_features + X.indices
    deviations = X.data - centers[labels, X.indices]
    around = np.bincount(
        X.indices, weights * deviations**2, minlength=n_features
    ).astype(np.float64, copy=False)
    n_values = np.bincount(cells, minlength=centers.size).reshape(centers.shape)
    weight_of_values = np.bincount(cells, weights, minlength=centers.size).reshape(
        centers.shape
    )
    sizes = np.bincount(y, weights=weight)
    weight_of_zeros = np.maximum(sizes[:, None] - weight_of_values, 0.0)
    # not the difference between sums of the same weights
    weight_of_zeros[n_values == np.bincount(y)[:, None]] = 0.0
    around += (weight_of_zeros * centers**2).sum(axis=0)
    squares = np.bincount(X.indices, weights * X.data**2, minlength=n_features).astype(
        np.float64, copy=False
    )
    return around, squares


def row_blocks(n_samples: int, n_features: int) -> Iterator[slice]:
    """Yield slices of rows that together hold about `BLOCK` values."""
    step = max(1, BLOCK // n_features)
    for start in range(0, n_samples, step):
        yield slice(start, min(start + step, n_samples))
