"""Columns of mean zero and variance one, and targets of classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

CONSTANT = 1e-13
"""A standard deviation below this many times the largest value of a column is rounding: the column is constant."""


def standardised_columns(X: Array) -> Array:
    """Return the columns of dense X, shape (n, d), as rows, shape (d, n), of mean 0 and variance 1.

    Constant columns are zero.
    """
    columns = np.array(X.T, dtype=np.float64, order="C")
    sizes = np.abs(columns).max(axis=1)
    columns -= columns.mean(axis=1, keepdims=True)
    deviations = np.sqrt(np.einsum("dn,dn->d", columns, columns) / columns.shape[1])
    is_constant = deviations <= CONSTANT * sizes
    columns[is_constant] = 0
    deviations[is_constant] = 1
    columns /= deviations[:, None]
    return columns


def indicator_targets(
    y: NDArray[np.float64 | np.int64], classes: NDArray[np.generic] | None
) -> Array:
    """Return the targets of the regression, shape (n_targets, n).

    For a regression (`classes` None) this is y; otherwise class numbers as 0 and 1: the
    second of two classes, or each of more against the rest.
    """
    if classes is None or classes.size == 2:
        return y[None, :].astype(np.float64)
    return (y == np.arange(classes.size)[:, None]).astype(np.float64)
