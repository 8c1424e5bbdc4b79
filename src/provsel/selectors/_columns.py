"""What methods ask of columns: which hold codes, whose order and distances mean nothing, and whether any varies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def discrete_mask(name: str, discrete_features: Any, n_features: int) -> NDArray[np.bool_]:
    """Return which columns hold codes, shape (d,), from True, False, a mask, or column numbers; or raise."""
    if isinstance(discrete_features, bool | np.bool_):
        return np.full(n_features, bool(discrete_features))
    columns = np.asarray(discrete_features)
    if columns.dtype == bool and columns.shape == (n_features,):
        return columns
    mask = np.zeros(n_features, dtype=bool)
    is_numbers = columns.dtype.kind in "iu" or columns.size == 0
    if not is_numbers or columns.ndim != 1 or not np.isin(columns, np.arange(n_features)).all():
        raise ValueError(
            f"{name}: expected discrete_features True, False, a mask of {n_features} columns, or column numbers from 0 "
            f"to {n_features - 1}, got {discrete_features!r:.80}."
        )
    mask[columns.astype(np.int64)] = True
    return mask


def varying_columns(name: str, X: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which columns of X, shape (n, d), vary, shape (d,); raise where none does."""
    varies: NDArray[np.bool_] = X.min(axis=0) < X.max(axis=0)
    if not varies.any():
        raise ValueError(
            f"{name}: expected at least two different rows, got {len(X)} equal ones; check how X was loaded."
        )
    return varies
