"""Sources of streams of rows: a class for each kind of source, with a width and chunks in order."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .sources import checked_form, checked_shape, kept_type, loaded_npz, mapped_npy

NAME = "row_chunks"
Chunk = tuple[Any, NDArray[Any] | None]


class RowSource(ABC):
    """Rows that can be read in order, any number of times.

    Attributes
    ----------
    n_samples : int or None
        n; None if it requires a pass over the rows.
    n_features : int
        m.
    """

    n_samples: int | None
    n_features: int

    @abstractmethod
    def chunks(self, size: int) -> Iterator[Chunk]:
        """Yield (X, y) of up to `size` rows: X float32 or float64, dense or CSR; y None without labels."""


class ArrayRows(RowSource):
    """Rows of an array of shape (n, m), in memory or mapped."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.n_samples, self.n_features = checked_shape(NAME, "array", array)
        self._array = np.asarray(array)

    def chunks(self, size: int) -> Iterator[Chunk]:
        """Yield views if the type is kept."""
        for start in range(0, len(self._array), size):
            yield (
                self._array[start : start + size].astype(
                    kept_type(self._array.dtype), copy=False
                ),
                None,
            )


class NpyRows(RowSource):
    """Rows of the array in a .npy file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        array = mapped_npy(NAME, path)
        self.n_samples, self.n_features = self._shape = checked_shape(
            NAME, str(path), array
        )
        self._type = kept_type(array.dtype)

    def chunks(self, size: int) -> Iterator[Chunk]:
        """Yield copies."""
        for start in range(0, self._shape[0], size):
            # remapped for each chunk, because pages would otherwise stay in the memory
            # of the process
            yield (
                np.array(
                    mapped_npy(NAME, self._path)[start : start + size], dtype=self._type
                ),
                None,
            )


class SparseRows(RowSource):
    """Rows of a sparse matrix in CSR form, in memory."""

    def __init__(self, matrix: Any, name: str = "sparse matrix") -> None:
        self._matrix = checked_form(NAME, name, matrix, "csr", "rows")
        self.n_samples, self.n_features = matrix.shape

    @classmethod
    def load(cls, path: Path) -> SparseRows:
        """Return the rows of a file that `scipy.sparse.save_npz` wrote."""
        return cls(loaded_npz(NAME, path), str(path))

    def chunks(self, size: int) -> Iterator[Chunk]:
        """Yield copies, CSR."""
        for start in range(0, self._matrix.shape[0], size):
            yield (
                self._matrix[start : start + size].astype(
                    kept_type(self._matrix.dtype), copy=False
                ),
                None,
            )
