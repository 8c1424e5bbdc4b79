"""Sources of streams of columns: a class for each kind of source, with a shape and a `read`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .sources import checked_form, checked_shape, kept_type, loaded_npz, mapped_npy

NAME = "column_blocks"


class ColumnSource(ABC):
    """Columns that can be read a few at a time.

    Attributes
    ----------
    shape : tuple of int
        (n, d).
    """

    shape: tuple[int, int]

    @abstractmethod
    def read(self, start: int, stop: int) -> Any:
        """Return the columns start, ..., stop - 1, shape (n, stop - start), float32 or float64, dense or CSC."""


class ArrayColumns(ColumnSource):
    """Columns of an array of shape (n, d), in memory or mapped."""

    def __init__(self, array: NDArray[Any]) -> None:
        self.shape = checked_shape(NAME, "array", array)
        self._array = np.asarray(array)

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return the columns, a view if the type is kept."""
        return self._array[:, start:stop].astype(
            kept_type(self._array.dtype), copy=False
        )


class NpyColumns(ColumnSource):
    """Columns of the array in a .npy file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        array = mapped_npy(NAME, path)
        self.shape = checked_shape(NAME, str(path), array)
        self._type = kept_type(array.dtype)

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return a copy of the columns."""
        # remapped for each block, because pages would otherwise stay in the memory of
        # the process
        return np.array(mapped_npy(NAME, self._path)[:, start:stop], dtype=self._type)


class SparseColumns(ColumnSource):
    """Columns of a sparse matrix in CSC form, in memory."""

    def __init__(self, matrix: Any, name: str = "sparse matrix") -> None:
        self._matrix = checked_form(NAME, name, matrix, "csc", "columns")
        self.shape = matrix.shape

    @classmethod
    def load(cls, path: Path) -> SparseColumns:
        """Return the columns of a file that `scipy.sparse.save_npz` wrote."""
        return cls(loaded_npz(NAME, path), str(path))

    def read(self, start: int, stop: int) -> Any:
        """Return a copy of the columns, CSC."""
        return self._matrix[:, start:stop].astype(
            kept_type(self._matrix.dtype), copy=False
        )
