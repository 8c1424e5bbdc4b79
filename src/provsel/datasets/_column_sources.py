"""Where streams of columns come from: a class for each kind of source, with a shape and a `read`."""

from __future__ import annotations

import zipfile
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy import sparse

NAME = "column_blocks"
_DAMAGED = (
    *(ValueError, TypeError, KeyError, AttributeError, OverflowError, SyntaxError, TokenError),  # from headers
    *(OSError, EOFError, NotImplementedError, zipfile.BadZipFile, zlib.error, pa.ArrowException),
)


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
        self.shape = _checked_shape("array", array)
        self._array = np.asarray(array)

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return the columns, a view where the type is kept."""
        return self._array[:, start:stop].astype(_kept_type(self._array.dtype), copy=False)


class NpyColumns(ColumnSource):
    """Columns of the array in a .npy file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        array = self._mapped()
        self.shape = _checked_shape(str(path), array)
        self._type = _kept_type(array.dtype)

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return a copy of the columns."""
        # mapped anew for each block: else the pages that were read stay in the memory of the process
        return np.array(self._mapped()[:, start:stop], dtype=self._type)

    def _mapped(self) -> NDArray[Any]:
        try:
            mapped: NDArray[Any] = np.lib.format.open_memmap(self._path, mode="r")
        except _DAMAGED as error:
            raise _damaged(self._path, "a whole .npy file of numbers", error) from error
        return mapped


class SparseColumns(ColumnSource):
    """Columns of a sparse matrix in CSC form, which is in memory."""

    def __init__(self, matrix: Any, name: str = "sparse matrix") -> None:
        if matrix.format != "csc":
            raise ValueError(
                f"{NAME}: expected {name} in CSC form, whose columns can be read one by one, got "
                f"{matrix.format.upper()}; convert it with .tocsc()."
            )
        self.shape = _checked_shape(name, matrix)
        self._matrix = matrix

    @classmethod
    def load(cls, path: Path) -> SparseColumns:
        """Return the columns of a file that `scipy.sparse.save_npz` wrote."""
        try:
            matrix = sparse.load_npz(path)
            if matrix.format == "csc":
                matrix.check_format(full_check=True)  # else indices out of range read foreign memory later
        except _DAMAGED as error:
            raise _damaged(path, "a whole .npz file as scipy.sparse.save_npz writes", error) from error
        return cls(matrix, str(path))

    def read(self, start: int, stop: int) -> Any:
        """Return a copy of the columns, CSC."""
        return self._matrix[:, start:stop].astype(_kept_type(self._matrix.dtype), copy=False)


class ParquetColumns(ColumnSource):
    """Columns of a Parquet file; its footer is held in memory, the columns only while their block is read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = pq.ParquetFile(path)
            schema = self._file.schema_arrow
        except _DAMAGED as error:
            raise _damaged(path, "a whole Parquet file", error) from error
        self._names = schema.names
        for field in schema:
            if not (pa.types.is_integer(field.type) or pa.types.is_floating(field.type) or field.type == pa.bool_()):
                raise ValueError(
                    f"{NAME}: {path}: expected numeric columns, got {field.type} in column {field.name!r}; "
                    f"drop or convert it."
                )
        if len(set(self._names)) < len(self._names):
            repeated = Counter(self._names).most_common(1)[0][0]
            raise ValueError(
                f"{NAME}: {path}: expected distinct column names, got {repeated!r} more than once; rename them."
            )
        # one type for the file: else the scores would depend on which columns share a block
        single = all(type_ == pa.float32() for type_ in schema.types)
        self._type = np.float32 if single and self._names else np.float64
        self.shape = (self._file.metadata.num_rows, len(self._names))

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Return the columns, in Fortran order."""
        names = self._names[start:stop]
        try:
            # a name "a" also reads a column "a.b", as if it were nested
            table = self._file.read(columns=names, use_threads=False).select(names)
        except _DAMAGED as error:
            raise _damaged(self._path, f"columns {names[0]!r} to {names[-1]!r} in good order", error) from error
        block = np.empty((self.shape[0], stop - start), dtype=self._type, order="F")
        for position, (name, column) in enumerate(zip(names, table.columns, strict=True)):
            if column.null_count:
                raise ValueError(
                    f"{NAME}: {self._path}: expected numbers without nulls, got nulls in column {name!r}; "
                    f"fill them or drop the column."
                )
            block[:, position] = column.to_numpy()
        return block


def _kept_type(dtype: np.dtype[Any]) -> type[np.floating]:
    return np.float32 if dtype.kind == "f" and dtype.itemsize == 4 else np.float64


def _checked_shape(name: str, array: Any) -> tuple[int, int]:
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise ValueError(
            f"{NAME}: expected {name} to be real numbers of shape (n, d), got {array.dtype} of shape {array.shape}; "
            f"pass a matrix whose columns are the features."
        )
    n, d = array.shape
    return n, d


def _damaged(path: Path, expected: str, error: Exception) -> ValueError:
    return ValueError(f"{NAME}: {path}: expected {expected}, got {error!r} on reading; write it again.")
