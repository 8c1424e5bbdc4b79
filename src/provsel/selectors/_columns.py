"""Masks of discrete and of varying columns, and columns as codes for counting mutual information."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from provsel.checks import check_choice, check_integer
from provsel.kernels.discrete_information import (
    CodedColumns,
    Codes,
    binned,
    coded,
    column_blocks,
)
from provsel.kernels.standardised import standardised_columns
from provsel.selectors._ranked import RankedRows, check_dense_size

STRATEGIES = ("quantile", "width")


def discrete_mask(subject: str, discrete_features: Any, X: Any) -> NDArray[np.bool_]:
    """Return which columns are discrete, shape (d,), or raise.

    "auto" means all columns of sparse X and none of dense X; a boolean means all or
    none; an array is a mask or lists columns.
    """
    n_features = X.shape[1]
    if isinstance(discrete_features, str) and discrete_features == "auto":
        return np.full(n_features, sparse.issparse(X))
    if isinstance(discrete_features, bool | np.bool_):
        return np.full(n_features, bool(discrete_features))
    places = np.asarray(discrete_features)
    if places.dtype == bool and places.shape == (n_features,):
        return places
    is_places = places.ndim == 1 and (places.dtype.kind in "iu" or places.size == 0)
    if not is_places or (
        places.size and not (places.min() >= 0 and places.max() < n_features)
    ):
        raise ValueError(
            f"{subject}: expected discrete_features 'auto', a truth value, a mask of {n_features} columns, or column "
            f"numbers from 0 to {n_features - 1}, got {discrete_features!r:.80}."
        )
    mask = np.zeros(n_features, dtype=bool)
    mask[places.astype(np.int64)] = True
    return mask


def check_bins(selector: Any) -> None:
    """Raise if `n_bins` or `strategy` of a selector is out of range."""
    check_integer(type(selector).__name__, "n_bins", selector.n_bins, minimum=2)
    check_choice(type(selector).__name__, "strategy", selector.strategy, STRATEGIES)


def coded_columns(
    selector: Any, X: Any, is_discrete: NDArray[np.bool_]
) -> CodedColumns:
    """Return the columns of X, shape (n, d), as codes: discrete features unchanged, others binned."""
    if sparse.issparse(X):
        check_dense_size(type(selector).__name__, X)
        X = sparse.csc_array(X)
    codes: Codes = np.empty(X.shape[::-1], dtype=np.int32)
    for part in column_blocks(X.shape[1], X.shape[0]):
        columns = np.ascontiguousarray(
            (X[:, part].toarray() if sparse.issparse(X) else X[:, part]).T
        )
        counted = is_discrete[part]
        block = np.empty(columns.shape, dtype=np.int32)
        block[counted] = coded(columns[counted])
        block[~counted] = binned(
            columns[~counted], int(selector.n_bins), selector.strategy
        )
        codes[part] = block
    return CodedColumns.of(codes)


def coded_target(selector: Any, rows: RankedRows) -> NDArray[np.int64]:
    """Return the class numbers, or the bins of a numeric target, shape (n,)."""
    if rows.classes is not None:
        return rows.y
    return binned(rows.y[None, :], int(selector.n_bins), selector.strategy)[0].astype(
        np.int64
    )


def varying_columns(subject: str, X: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which columns of X, shape (n, d), vary, shape (d,), or raise if none does."""
    varies: NDArray[np.bool_] = X.min(axis=0) < X.max(axis=0)
    if not varies.any():
        raise ValueError(
            f"{subject}: expected at least two different rows, got {len(X)} equal ones; check how X was loaded."
        )
    return varies


def check_varying(subject: str, varies: NDArray[np.bool_]) -> None:
    """Raise if the mask, shape (d,), marks no column as varying."""
    if not varies.any():
        raise ValueError(
            f"{subject}: expected at least one feature that varies, got none of {varies.size}; check X."
        )


def standardised(subject: str, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the `standardised_columns` of X, shape (d, n), or raise if none varies."""
    columns = standardised_columns(X)
    check_varying(subject, np.any(columns, axis=1))
    return columns
