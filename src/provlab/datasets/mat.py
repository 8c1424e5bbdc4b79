"""MATLAB files, format 4 to 7: data sets of the registry that are one such file, and the shapes in a user's own."""

from __future__ import annotations

import math
import struct
import zlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from .dataset import Dataset, make_dataset
from .loading import parsed
from .registry import read_source

NUMERIC = frozenset(
    {"double", "single", "logical", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))}
)
"""Classes of variables that are matrices of real numbers, as `scipy.io.whosmat` calls them."""

_MATRIX, _COMPRESSED = 14, 15
_NUMERIC_CLASSES = range(6, 16)
_ITEM_BYTES = {1: 1, 2: 1, 3: 2, 4: 2, 5: 4, 6: 4, 7: 4, 9: 8, 12: 8, 13: 8}
"""Of the types that numbers are stored as."""
_HEAD = 4096  # bytes; the tags of a variable take less


def loader_of(name: str) -> SimpleNamespace:
    """Return the loader of a data set that the section `mat` of its source describes: what a module would have.

    Of two labels the smaller becomes -1 and the larger +1; more are kept as they are. The features are named "1", "2",
    ... .
    """
    table = read_source(name).mat
    if table is None:
        raise ValueError(
            f"source registry {name}.yaml: expected a section mat, or a module {name}, got neither. Add one"
        )

    def load() -> Dataset:
        def build(paths: list[Path], digest: str) -> Dataset:
            [file] = read_source(name).published()
            X, y = (mat_matrix(paths[0], variable) for variable in table.variables)
            X, y = X.T if table.columns_are_samples else X, y.ravel()
            classes = np.unique(y)
            labels = np.where(y == classes[1], 1, -1) if classes.size == 2 else y
            names = [str(j) for j in range(1, X.shape[1] + 1)]
            source = f"{table.citation}; {file.path}, SHA-256 {digest}"
            return make_dataset(X, labels, names, name=name, source=source)

        return parsed(name, {}, build)

    load.__doc__ = f"Load {table.holds}.\n\n{table.about}\n"
    return SimpleNamespace(VERSION=table.version, load=load)


def mat_matrix(path: Path, name: str) -> np.ndarray:
    """Return one variable of a file that is registered, or that `mat_shapes` has looked at; the others are skipped."""
    from scipy.io import loadmat

    found: np.ndarray = loadmat(str(path), variable_names=[name], appendmat=False)[name]
    return found


def mat_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the matrices of real numbers in a file of unknown intent.

    Raises
    ------
    ValueError
        For HDF5, which format 7.3 is, and for headers that do not fit the file; without its name.
    """
    from scipy.io import whosmat
    from scipy.io.matlab import matfile_version

    if matfile_version(str(path), appendmat=False)[0] == 1:  # format 4 has other headers, format 7.3 is refused below
        _check_numbers(path)
    try:
        listed = whosmat(str(path), appendmat=False)
    except NotImplementedError as error:
        raise ValueError("format 7.3, where 4 to 7 are read; save it with -v7") from error
    return {name: shape for name, shape, kind in listed if kind in NUMERIC}


def _check_numbers(path: Path) -> None:
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
