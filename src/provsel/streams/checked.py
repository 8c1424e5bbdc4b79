"""Chunks of rows from any source, checked: shape, type, values, labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from provsel.kernels.finite_rows import rows_not_finite
from provsel.sparse_input import check_sparse

Labels = NDArray[Any] | None


def checked_chunks(
    name: str, chunks: Any, n_features: int | None = None
) -> Iterator[tuple[Any, Labels]]:
    """Yield the pairs (X_chunk, y_chunk or None) of `chunks` with rows, X dense or CSR, float32 or float64.

    Raises
    ------
    ValueError
        If chunks are not such pairs, widths differ from each other or from
        `n_features`, values are NaN or infinite, types of values or labels change,
        labels are missing or have a wrong number, or there are no rows. The message
        names the chunk, and the rows of invalid values.
    """
    try:
        chunks = iter(chunks)
    except TypeError:
        raise ValueError(
            f"{name}: expected an iterable of (X_chunk, y_chunk or None), got {type(chunks).__name__}; pass "
            f"row_chunks(...) or a list."
        ) from None
    start, first = 0, ("", "")
    for number, chunk in enumerate(chunks):
        where = f"{name}: chunk {number}"
        if not isinstance(chunk, tuple | list) or len(chunk) != 2:
            raise ValueError(
                f"{where}: expected (X_chunk, y_chunk or None), got {type(chunk).__name__}; yield pairs."
            )
        X = checked_rows(where, chunk[0], n_features, start)
        n_features = X.shape[1]
        if X.shape[0]:
            y = (
                None
                if chunk[1] is None
                else checked_labels(where, chunk[1], X.shape[0], start)
            )
            kinds = (f"values of {X.dtype}", _kind(y))
            for expected, got in zip(first, kinds, strict=True):
                if start and got != expected:
                    raise ValueError(
                        f"{where}: expected {expected} as in the chunks before, got {got}; give all chunks the same "
                        f"form."
                    )
            first = kinds
            yield X, y
        start += X.shape[0]
    if not start:
        raise ValueError(
            f"{name}: expected chunks with at least one row, got none; check the source."
        )


def checked_rows(where: str, chunk: Any, n_features: int | None, start: int) -> Any:
    """Return a chunk of rows, dense or CSR, float32 or float64; `start` rows came before it.

    Raises
    ------
    ValueError
        As `checked_chunks`.
    """
    check_sparse(where, chunk)
    X: Any = chunk.tocsr() if sparse.issparse(chunk) else np.asarray(chunk)
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise ValueError(
            f"{where}: expected real numbers of shape (b, m), got {X.dtype} of shape {X.shape}; convert them."
        )
    if X.shape[1] != (n_features or X.shape[1]) or not X.shape[1]:
        raise ValueError(
            f"{where}: expected {n_features or 'at least 1'} features"
            f"{' as before' if n_features else ''}, got {X.shape[1]}; give all chunks the same columns."
        )
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    refuse_not_finite(where, X, start)
    return X


def checked_labels(where: str, labels: Any, n: int, start: int) -> NDArray[Any]:
    """Return the labels of a chunk of `n` rows; errors as of `checked_chunks`."""
    y = np.asarray(labels)
    if y.shape != (n,):
        raise ValueError(
            f"{where}: expected one label for each of its {n} rows, got labels of shape {y.shape}; pass the labels "
            f"of these rows."
        )
    refuse_unlabelled(where, y, start)
    return y


def refuse_not_finite(where: str, X: Any, start: int) -> None:
    """Raise if rows hold NaN or infinity."""
    _refuse(where, rows_not_finite(X), start, "finite numbers", "NaN or infinity")


def refuse_unlabelled(where: str, y: NDArray[Any], start: int) -> None:
    """Raise if rows have no label."""
    if y.dtype.kind == "O":
        missing = np.flatnonzero([label is None or label != label for label in y])
    else:
        missing = (
            np.flatnonzero(~np.isfinite(y))
            if y.dtype.kind == "f"
            else np.empty(0, dtype=np.intp)
        )
    _refuse(where, missing, start, "a label for each row", "none or NaN")


def _kind(y: Labels) -> str:
    if y is None:
        return "no labels"
    return f"labels of {'strings' if y.dtype.kind == 'U' else y.dtype}"


def _refuse(
    where: str, rows: NDArray[np.intp], start: int, expected: str, got: str
) -> None:
    if rows.size:
        listed = ", ".join(map(str, start + rows[:5])) + (
            f" and {rows.size - 5} more" if rows.size > 5 else ""
        )
        raise ValueError(
            f"{where}: expected {expected}, got {got} in rows {listed} of all, counted from 0; fill or drop them."
        )
