"""Sparse embedding of columns: one random bucket and one random sign each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from provsel.kernels.spectral import Matrix


def random_buckets(
    d: int, m: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int8]]:
    """Return a bucket in 0, ..., m - 1 and a sign, -1 or 1, for each of d columns, all uniform and independent."""
    buckets = rng.integers(m, size=d, dtype=np.int64)
    return buckets, (2 * rng.integers(2, size=d, dtype=np.int8) - 1).astype(np.int8)


def embed(
    X: Matrix, buckets: NDArray[np.int64], signs: NDArray[np.int8], m: int
) -> Matrix:
    """Return X S, shape (n, m), where S, shape (d, m), has signs_j at (j, buckets_j) and zeros elsewhere.

    Parameters
    ----------
    X : ndarray, CSR or CSC of shape (n, d)
        A sparse X gives a sparse result; the dtype is kept.
    buckets, signs : ndarray of shape (d,)
    m : int
    """
    kind = (
        sparse.csr_array
        if isinstance(X, np.ndarray | sparse.sparray)
        else sparse.csr_matrix
    )
    S = kind(
        (signs.astype(X.dtype), buckets, np.arange(buckets.size + 1)),
        shape=(buckets.size, m),
    )
    return X @ S
