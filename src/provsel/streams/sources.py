"""Common parts of streams of columns and rows: opening and checking files, and recognising kinds of sources."""

from __future__ import annotations

import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tokenize import TokenError
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from provsel.sparse_input import check_sparse

from .memory import MemoryLimitError, check_memory, within_memory
from .npz import MATRIX, compressed, npz_bytes, npz_headers, read_npz

Source = TypeVar("Source")

DAMAGED = (
    # from headers
    *(
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        ArithmeticError,
        SyntaxError,
        TokenError,
    ),
    # nested or encrypted, or sizes that no computer has
    *(RuntimeError, MemoryError, struct.error),
    *(OSError, EOFError, zipfile.BadZipFile, zlib.error, lzma.LZMAError),
)


def source_of(
    subject: str,
    source: Any,
    *,
    files: Mapping[str, Callable[[Path], Source]],
    array: Callable[[NDArray[Any]], Source],
    matrix: Callable[[Any], Source],
    kinds: str,
) -> Source:
    """Return what `files` makes of a path with one of its endings, `array` of an array, or `matrix` of a sparse matrix.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the source is none of `kinds`.
    """
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        for ending, make in files.items():
            if path.name.lower().endswith(ending):
                if not path.is_file():
                    raise FileNotFoundError(
                        f"{subject}: there is no file {path}; check the path."
                    )
                return make(path)
    elif sparse.issparse(source):
        return matrix(source)
    elif isinstance(source, np.ndarray) and not isinstance(source, np.ma.MaskedArray):
        return array(source)
    got = (
        repr(str(source))
        if isinstance(source, str | os.PathLike)
        else type(source).__name__
    )
    raise ValueError(
        f"{subject}: expected {kinds}, got {got}; convert it to one of these."
    )


def mapped_npy(subject: str, path: Path) -> NDArray[Any]:
    """Return the array of a .npy file, mapped."""
    try:
        with np.errstate(over="ignore"):  # a header can claim sizes that overflow
            mapped: NDArray[Any] = np.lib.format.open_memmap(path, mode="r")
    except DAMAGED as error:
        raise damaged(subject, path, "a whole .npy file of numbers", error) from error
    return mapped


def loaded_npz(subject: str, path: Path) -> Any:
    """Return the sparse matrix of a file that `scipy.sparse.save_npz` wrote, in CSR or CSC form."""
    with within_memory(f"{subject}: {path}"):
        try:
            needed = npz_bytes(npz_headers(path), MATRIX)
            check_memory(f"{subject}: {path}", needed, "a matrix")
            return compressed(read_npz(path, MATRIX))
        except (MemoryLimitError, MemoryError):
            raise
        except DAMAGED as error:
            raise damaged(
                subject,
                path,
                "a whole .npz file as scipy.sparse.save_npz writes",
                error,
            ) from error


def checked_form(subject: str, name: str, matrix: Any, form: str, lines: str) -> Any:
    """Return a sparse matrix of real numbers in `form`, "csr" or "csc", whose rows or columns are its `lines`."""
    if matrix.format != form:
        raise ValueError(
            f"{subject}: expected {name} to be in {form.upper()} form, whose {lines} can be read one by one, got "
            f"{matrix.format.upper()}; convert it with .to{form}()."
        )
    checked_shape(subject, name, matrix)
    check_sparse(subject, matrix)
    return matrix


def checked_shape(subject: str, name: str, array: Any) -> tuple[int, int]:
    """Return the shape of a matrix of real numbers."""
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise ValueError(
            f"{subject}: expected {name} to be real numbers of shape (n, d), got {array.dtype} of shape {array.shape}; "
            f"pass a matrix whose columns are the features."
        )
    n, d = array.shape
    # such a file has no content, and may claim 10^12 columns to iterate over
    if min(n, d) == 0:
        raise ValueError(
            f"{subject}: expected {name} to have rows and columns, got shape ({n}, {d}); check the source."
        )
    return n, d


def kept_type(dtype: np.dtype[Any]) -> type[np.floating]:
    """Return float32 for float32, and float64 otherwise."""
    return np.float32 if dtype.kind == "f" and dtype.itemsize == 4 else np.float64


def damaged(subject: str, path: Path, expected: str, error: Exception) -> ValueError:
    """Return the error for a file that cannot be read."""
    return ValueError(
        f"{subject}: {path}: expected {expected}, got {error!r:.300} while reading; write the file again."
    )


@contextmanager
def needing_pyarrow(subject: str) -> Iterator[None]:
    """State what to install if a block imports a module for Parquet, and pyarrow is missing.

    Raises
    ------
    ImportError
        Names the subject.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "pyarrow":
            raise
        raise ImportError(
            f"{subject}: a Parquet file needs the package pyarrow, which is not installed; pip install pyarrow."
        ) from error
