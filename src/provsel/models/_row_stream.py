"""Chunks of rows that a model reads several times, checked on every pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provsel.streams.checked import checked_labels, checked_rows

CHUNK_ROWS = 4096


class RowSlices:
    """Rows X, shape (n, m), and labels y, shape (n,), in memory, as a re-iterable of (X_chunk, y_chunk)."""

    def __init__(self, X: Any, y: NDArray[Any]) -> None:
        self._X, self._y = X, y

    def __iter__(self) -> Iterator[tuple[Any, NDArray[Any]]]:
        for start in range(0, self._y.size, CHUNK_ROWS):
            rows = slice(start, start + CHUNK_ROWS)
            yield self._X[rows], self._y[rows]


class RowStream:
    """A re-iterable of (X_chunk, y_chunk) whose passes are checked against each other.

    Parameters
    ----------
    name : str
        Name of the caller for messages.
    chunks : iterable
        X_chunk of shape (b, m), dense or sparse, y_chunk of shape (b,); b may vary.

    Attributes
    ----------
    n_features : int
        m, known after the first chunk of the first pass.
    labels : ndarray of shape (n_samples,)
        y of all rows, known after the first pass.
    """

    n_features: int
    labels: NDArray[Any]

    def __init__(self, name: str, chunks: Any) -> None:
        self._name, self._chunks = name, chunks

    def first_pass(self) -> Iterator[Any]:
        """Yield the X_chunks, dense or CSR of float64; then `labels` is set.

        Raises
        ------
        ValueError
            If there are no rows, labels are missing, widths differ, or values are NaN
            or infinite.
        """
        labels: list[NDArray[Any]] = []
        start = 0
        for number, chunk in enumerate(self._iterate()):
            X, y = self._checked(number, chunk, start)
            labels.append(y)
            start += y.size
            yield X
        if start == 0:
            raise ValueError(
                f"{self._name}: expected chunks with at least one row, got none; check the source."
            )
        self.labels = np.concatenate(labels)

    def again(self) -> Iterator[tuple[Any, slice]]:
        """Yield (X_chunk, its rows), checked to be the rows of the first pass.

        Raises
        ------
        ValueError
            If the number of rows or the labels changed, as with a generator, which can
            be read only once.
        """
        stop = 0
        for number, chunk in enumerate(self._iterate()):
            X, y = self._checked(number, chunk, stop)
            rows = slice(stop, stop + y.size)
            stop = rows.stop
            if stop <= self.labels.size and not np.array_equal(y, self.labels[rows]):
                raise ValueError(
                    f"{self._name}: expected the same rows in the same order on each pass, got other labels in "
                    f"chunk {number}; pass chunks without shuffling."
                )
            yield X, rows
        if stop != self.labels.size:
            raise ValueError(
                f"{self._name}: expected the {self.labels.size} rows of the first pass on each later pass, got "
                f"{stop}; pass chunks that can be iterated again, such as row_chunks(...) or a list, not a generator."
            )

    def _iterate(self) -> Iterator[Any]:
        try:
            return iter(self._chunks)
        except TypeError:
            raise ValueError(
                f"{self._name}: expected an iterable of (X_chunk, y_chunk), got {type(self._chunks).__name__}; "
                f"pass row_chunks(...) or a list."
            ) from None

    def _checked(self, number: int, chunk: Any, start: int) -> tuple[Any, NDArray[Any]]:
        where = f"{self._name}: chunk {number}"
        if not isinstance(chunk, tuple | list) or len(chunk) != 2 or chunk[1] is None:
            raise ValueError(
                f"{where}: expected (X_chunk, y_chunk), got no labels; pass the y of the rows."
            )
        X = checked_rows(where, chunk[0], getattr(self, "n_features", None), start)
        self.n_features = X.shape[1]
        y = checked_labels(where, chunk[1], X.shape[0], start)
        # sums in float32 would depend on the chunks
        return X.astype(np.float64, copy=False), y
