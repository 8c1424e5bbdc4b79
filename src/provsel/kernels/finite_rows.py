"""Detection of rows with NaN or infinite values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from provsel.kernels.spectral import Matrix


def rows_not_finite(X: Matrix) -> NDArray[np.intp]:
    """Return the rows of X, dense or CSR of floats, that hold NaN or infinity, increasing."""
    values = X.data if sparse.issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # needs no boolean array
            return np.empty(0, dtype=np.intp)
    if not sparse.issparse(X):
        return np.flatnonzero(~np.isfinite(X).all(axis=1))
    return np.unique(
        np.searchsorted(X.indptr, np.flatnonzero(~np.isfinite(values)), side="right")
        - 1
    )
