"""A user's own file as a table of columns: CSV, TSV, Parquet, npz, npy, svmlight or MATLAB.

Such a file is of unknown intent: nothing in it is run, and what would take more memory than the limit is refused before
anything asks for it.
"""

from __future__ import annotations

import csv
import math
import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from provsel.streams import row_chunks
from provsel.streams.memory import MemoryLimitError, check_memory, within_memory
from provsel.streams.npz import COMPRESSED, compressed, npz_bytes, npz_headers, read_npz

T = TypeVar("T")

SEPARATORS = {".csv": ",", ".tsv": "\t"}
SVMLIGHT = (".svm", ".svmlight", ".libsvm")
FORMATS = (*SEPARATORS, ".parquet", ".npz", ".npy", ".mat", *SVMLIGHT)

LABELS_APART = (".npz", ".mat", *SVMLIGHT)
"""Formats that keep labels apart from the columns."""

OF_A_ROW, OF_A_COLUMN = 64, 256
"""Bytes that loading takes beside the numbers: labels as Python objects, and names with what tells them apart."""


MAT_NUMBERS = frozenset(
    {"double", "single", "logical", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))}
)
"""Classes of variables that are matrices of real numbers, as `scipy.io.whosmat` calls them."""

_MATRIX, _COMPRESSED = 14, 15
_NUMERIC_CLASSES = range(6, 16)
_ITEM_BYTES = {1: 1, 2: 1, 3: 2, 4: 2, 5: 4, 6: 4, 7: 4, 9: 8, 12: 8, 13: 8}
"""Of the types that numbers are stored as."""
_HEAD = 4096  # bytes; the tags of a variable take less


@dataclass(frozen=True)
class Table:
    """What a file holds.

    Parameters
    ----------
    columns : DataFrame, ndarray or csr_array of shape (n, d)
    names : list of str
        Of the columns: "1", "2", ... where the file has none.
    labels : ndarray of shape (n,), default=None
        None where the format keeps them in a column.
    """

    columns: Any
    names: list[str]
    labels: Any = None


def read_table(file: Path) -> Table:
    """Return what a file holds.

    Raises
    ------
    ValueError
        For a damaged file, and one without what its format needs; MemoryLimitError for contents that are too large.
    """
    return _sound(file, _read)


def column_names(file: Path) -> list[str]:
    """Return the names of the columns of a file, read once while it stays as it is."""
    stat = file.stat()
    return _column_names(file, stat.st_mtime_ns, stat.st_size)


def column_of_texts(file: Path, name: Any) -> Any:
    """Return a column of a CSV or TSV file as texts: pandas takes 01 for the number 1."""
    return _read_text(file, SEPARATORS[file.suffix.lower()], dtype={name: str}).columns[name]


@lru_cache(maxsize=64)
def _column_names(file: Path, changed: int, size: int) -> list[str]:
    with within_memory(f"data set {file.name}"):
        return _sound(file, _read_names)


def _read_names(file: Path) -> list[str]:
    ending = file.suffix.lower()
    if ending in SEPARATORS:
        return _read_text(file, SEPARATORS[ending], nrows=0).names
    if ending == ".parquet":
        from pyarrow.parquet import read_schema

        return [str(name) for name in read_schema(file).empty_table().to_pandas().columns]
    return _read(file).names


def _sound(file: Path, read: Callable[[Path], T]) -> T:
    """Read a file, or say that it is damaged: on damage SciPy raises nearly anything, UnboundLocalError among it."""
    try:
        return read(file)
    except (ImportError, MemoryLimitError, MemoryError):
        raise
    except Exception as error:
        if isinstance(error, ValueError) and str(error).startswith((str(file), "data set")):
            raise
        raise ValueError(
            f"{file}: expected a sound {file.suffix} file, got {type(error).__name__}: {error!s:.200}; repair it."
        ) from error


def _read(file: Path) -> Table:
    ending = file.suffix.lower()
    if ending in SEPARATORS:
        return _read_text(file, SEPARATORS[ending])
    if ending in SVMLIGHT:
        return _read_svmlight(file)
    return {".parquet": _read_parquet, ".npz": _read_npz, ".npy": _read_npy, ".mat": _read_mat}[ending](file)


def _check_size(file: Path, shape: Sequence[int], stored: int | None = None, more: int = 0) -> None:
    """Raise where d columns of n numbers, or the `stored` ones with an index each, and `more` bytes are too much."""
    if len(shape) != 2:
        raise ValueError(f"data set {file.name}: expected rows and columns, got shape {tuple(shape)}.")
    n, d = shape
    numbers = 8 * n * d if stored is None else 16 * stored
    check_memory(
        f"data set {file.name}", numbers + OF_A_ROW * n + OF_A_COLUMN * d + more, f"{n:,} rows of {d:,} columns"
    )


def _numbered(X: Any) -> list[str]:
    return [str(k) for k in range(1, X.shape[1] + 1)]


def _read_text(file: Path, separator: str, **options: Any) -> Table:
    import pandas as pd

    with file.open(encoding="utf-8", newline="") as text:
        try:
            lines = csv.reader(text, delimiter=separator)
            width = len(next((line for line in lines if any(map(str.strip, line))), ()))
        except csv.Error as error:
            raise ValueError(f"{error!s:.80} in the first line") from error
    with file.open("rb") as binary:
        ends = [(block.count(b"\n"), block.count(b"\r")) for block in iter(lambda: binary.read(1 << 20), b"")]
    # a row may be shorter than the first line, and is filled up
    _check_size(file, (max(map(sum, zip(*ends, strict=True)), default=0), width))
    frame = pd.read_csv(file, sep=separator, encoding="utf-8", **options)
    names = [str(name).strip() for name in frame.columns]
    if names and all(_is_number(name) for name in names):
        raise ValueError(
            f"data set {file.name}: expected names of columns in the first line, got the numbers "
            f"{some(names)}; write a line of names above."
        )
    return Table(frame, names)


def _read_parquet(file: Path) -> Table:
    import pandas as pd
    import pyarrow.parquet as pq

    with pq.ParquetFile(file) as opened:
        about, columns = opened.metadata, [opened.schema.column(k) for k in range(len(opened.schema))]
    # a column of lists has more values than rows; texts are as long as they say
    longer = [k for k, each in enumerate(columns) if each.max_repetition_level or each.physical_type == "BYTE_ARRAY"]
    chunks = [about.row_group(group).column(k) for group in range(about.num_row_groups) for k in longer]
    wide = sum(max(each.length or 0, 8) - 8 for each in columns)
    more = sum(8 * chunk.num_values + chunk.total_uncompressed_size for chunk in chunks) + about.num_rows * wide
    _check_size(file, (about.num_rows, len(columns)), more=more)
    # texts stay dictionaries where the file has them so: one of a megabyte may stand in each row
    texts = [each.path for each in columns if each.physical_type == "BYTE_ARRAY"]
    frame = pd.read_parquet(file, engine="pyarrow", read_dictionary=texts)
    return Table(frame, [str(name) for name in frame.columns])


def _read_npz(file: Path) -> Table:
    headers = npz_headers(file)
    form = COMPRESSED if headers.keys() >= COMPRESSED else frozenset({"X"})
    if not headers.keys() >= form | {"y"}:
        raise ValueError(f"data set {file.name}: expected arrays X and y, got {', '.join(headers) or 'none':.200}.")
    kept = form | {"y", "feature_names", "format"}
    _check_size(file, (0, 0) if form == COMPRESSED else headers["X"][0], more=npz_bytes(headers, kept))
    arrays = read_npz(file, kept)
    X: Any = compressed(arrays) if form == COMPRESSED else arrays["X"]
    if form == COMPRESSED:
        _check_size(file, X.shape, X.nnz)
    names = [str(name) for name in arrays["feature_names"]] if "feature_names" in arrays else _numbered(X)
    if len(names) != X.shape[1]:
        raise ValueError(
            f"data set {file.name}: expected {X.shape[1]} feature_names, got {len(names)}; write one for each column."
        )
    return Table(X, names, arrays["y"])


def _read_npy(file: Path) -> Table:
    X = np.load(file, mmap_mode="r", allow_pickle=False)
    _check_size(file, X.shape)
    return Table(X, _numbered(X))


def _read_mat(file: Path) -> Table:
    from scipy.io import loadmat, whosmat
    from scipy.io.matlab import matfile_version

    if matfile_version(str(file), appendmat=False)[0] == 1:  # format 4 has other headers, format 7.3 is refused below
        _check_mat_numbers(file)
    try:
        listed = whosmat(str(file), appendmat=False)
    except NotImplementedError as error:
        raise ValueError("format 7.3, where 4 to 7 are read; save it with -v7") from error
    shapes = {name: shape for name, shape, kind in listed if kind in MAT_NUMBERS}
    if not shapes.keys() >= {"X", "Y"}:
        found = ", ".join(shapes) or "none"
        raise ValueError(f"data set {file.name}: expected matrices X and Y of real numbers, got {found:.200}.")
    _check_size(file, shapes["X"], more=OF_A_ROW * np.prod(shapes["Y"], dtype=object))
    arrays = loadmat(str(file), variable_names=["X", "Y"], appendmat=False)
    return Table(arrays["X"], _numbered(arrays["X"]), arrays["Y"].ravel())


def _read_svmlight(file: Path) -> Table:
    rows = row_chunks(file)
    # a value takes 16 bytes, and about as many characters
    _check_size(file, (rows.n_samples or 0, rows.n_features), file.stat().st_size // 16)
    chunks = [*rows]
    X = sparse.vstack([X for X, _ in chunks], format="csr")
    return Table(X, _numbered(X), np.concatenate([y for _, y in chunks]))


def _check_mat_numbers(path: Path) -> None:
    """Raise unless the numbers of each variable have a type that is known, and as many bytes as their shape takes.

    SciPy takes a type as an index into a C array, and a wrong one ends the process; a few packed bytes may state a
    small shape and expand to gigabytes. All else it checks.
    """
    with path.open("rb") as file:
        order = "<" if file.read(128)[126:] == b"IM" else ">"  # as SciPy takes it
        while len(tag := file.read(8)) == 8:
            kind, length = struct.unpack(f"{order}II", tag)
            end = file.tell() + length
            if end > path.stat().st_size:
                raise ValueError(f"a variable that ends at byte {end}, the file has {path.stat().st_size}")
            head = file.read(min(length, _HEAD))
            if kind == _COMPRESSED:
                head = zlib.decompressobj().decompress(head, 8 + _HEAD)[8:]
            if kind in (_MATRIX, _COMPRESSED) and head[8 if order == "<" else 11] in _NUMERIC_CLASSES:
                _, size, place, at = _tag(head, order, 16)
                shape = struct.unpack_from(f"{order}{size // 4}i", head, place)
                *_, at = _tag(head, order, at)  # after the name
                kind, size, *_ = _tag(head, order, at)
                if kind not in _ITEM_BYTES or size != math.prod(shape) * _ITEM_BYTES[kind]:
                    raise ValueError(f"numbers of shape {shape} as {size} bytes of type {kind}")
            file.seek(end)


def _tag(head: bytes, order: str, at: int) -> tuple[int, int, int, int]:
    """Return type, bytes and place of an element, and where the next one is."""
    (word,) = struct.unpack_from(f"{order}I", head, at)
    if word >> 16:  # up to four bytes in the tag itself
        return word & 0xFFFF, word >> 16, at + 4, at + 8
    (size,) = struct.unpack_from(f"{order}I", head, at + 4)
    return word, size, at + 8, at + 8 + -(-size // 8) * 8


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def some(names: Sequence[str], shown: int = 5) -> str:
    """Return the first of some names for a message, and how many more there are."""
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    return f"{', '.join(f'{name:.40}' for name in names[:shown])}{more}"
