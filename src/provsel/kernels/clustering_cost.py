"""The cost of a partition of the rows as a k-means clustering."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from provsel.kernels.spectral import Matrix

BLOCK_VALUES = 2_000_000
"""Values of X that are made dense, float64 and centred together: 16 MB, and the same for their means."""


def kmeans_cost(X: Matrix, labels: Any) -> float:
    r"""Return the sum of the squared distances of the rows to the mean of their cluster, in float64.

    It is ||X - P P^T X||_F^2 with the indicator P, shape (n, k), P_ic = 1 / sqrt(n_c)
    for row i in cluster c with n_c rows. Columns are centred before they are squared,
    because a difference of squared norms would cancel if means are large. Sparse
    columns are made dense, a block at a time. Costs O(n d).

    Parameters
    ----------
    X : ndarray or sparse of shape (n, d)
    labels : array-like of shape (n,)
        Clusters, of any values.

    Raises
    ------
    ValueError
        For no rows, or if there are not as many labels as rows.

    References
    ----------
    Wang, Shen, Li (2018), equations 3.5 and 3.6.
    """
    X = X.tocsc() if sparse.issparse(X) else np.asarray(X)
    if X.ndim != 2:
        raise ValueError(
            f"kmeans_cost: expected X of two dimensions, got shape {X.shape}; pass rows."
        )
    n, d = X.shape
    codes, _ = label_codes("kmeans_cost", labels, np.zeros(n))
    sizes = np.bincount(codes)
    averages = sparse.csr_array(
        (1.0 / sizes[codes], (codes, np.arange(n))), shape=(sizes.size, n)
    )
    width = max(1, BLOCK_VALUES // n)
    cost = 0.0
    for start in range(0, d, width):
        block = X[:, start : start + width]
        block = (block.toarray() if sparse.issparse(block) else block).astype(
            np.float64
        )
        block -= (averages @ block)[codes]
        cost += float(np.vdot(block, block))
    return cost


def label_codes(
    name: str, y: Any, labels: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return two labellings of the same rows as numbers 0, 1, ..., or raise."""
    first, second = np.asarray(y), np.asarray(labels)
    if first.ndim != 1 or first.shape != second.shape or first.size == 0:
        raise ValueError(
            f"{name}: expected as many labels as rows, at least one, got shapes {first.shape} and {second.shape}; "
            f"pass labels of the same rows."
        )
    return np.unique(first, return_inverse=True)[1], np.unique(
        second, return_inverse=True
    )[1]
