"""Numeric variables of MATLAB files, and the data sets that are one such file."""

import math
from collections.abc import Collection, Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from scipy.io import loadmat, whosmat

from ._cache import parsed
from ._mat_tags import check_tags
from ._record import Dataset, make_dataset
from ._sources import MatTable, read_source

_NUMERIC = frozenset(
    {"double", "single", "logical", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))}
)
_MAX_BYTES = 1 << 28
_MAX_ENTRIES = 1 << 26
_MAX_EXPANDED = 8 * _MAX_ENTRIES + (1 << 20)


def read_mat(path: Path, names: Sequence[str], *, unread: Collection[str] = ()) -> list[np.ndarray]:
    """Return numeric variables of a MATLAB file, format 4 to 7.

    Parameters
    ----------
    path : Path
        All its variables must be numeric: a cell, struct, object or function handle is refused before any
        content is read, because SciPy would build objects from it.
    names : sequence of str
        Variables to read.
    unread : collection of str, default=()
        Variables that may be of any kind, because they are skipped: none of `names`.

    Returns
    -------
    list of ndarray
        Dense, two-dimensional, real, in the order of `names`.

    Raises
    ------
    ValueError
        For a damaged file, another format, another kind of variable, a missing one or one that is too large.
    """
    if path.stat().st_size > _MAX_BYTES:
        raise ValueError(f"{path}: expected a MATLAB file of at most {_MAX_BYTES} bytes, got more. Delete it")
    try:
        check_tags(path, _MAX_EXPANDED)
        listed = whosmat(str(path), appendmat=False)
    except NotImplementedError as error:  # format 7.3 is HDF5
        raise ValueError(f"{path}: expected MATLAB format 4 to 7, got {error}. Save it with -v7") from error
    except Exception as error:  # on damage SciPy raises nearly anything, UnboundLocalError and MemoryError among it
        raise _damaged(path, error) from error
    for name, shape, kind in listed:
        if name in unread and name not in names:
            continue
        if kind not in _NUMERIC:
            raise ValueError(
                f"{path}: expected numeric variables only, got {name!r:.80} of class {kind}. Do not trust it"
            )
        if math.prod(shape) > _MAX_ENTRIES or len(shape) != 2:
            raise ValueError(
                f"{path}: expected matrices of at most {_MAX_ENTRIES} entries, got {name!r:.80} of shape {shape}. "
                "Delete it"
            )
    found = [name for name, _, _ in listed]
    for name in names:
        if found.count(name) != 1:
            raise ValueError(f"{path}: expected one variable {name!r}, the file has {found!s:.200}. It is another file")
    try:
        content = loadmat(str(path), variable_names=list(names), appendmat=False)
    except Exception as error:
        raise _damaged(path, error) from error
    arrays = [content[name] for name in names if name in content]
    if len(arrays) < len(names):
        raise _damaged(path, ValueError("variables that cannot be read"))
    for name, array in zip(names, arrays, strict=True):
        if array.dtype.kind not in "iufb":
            raise ValueError(f"{path}: expected real numbers in {name!r}, got dtype {array.dtype}. It is another file")
    return arrays


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
            X, labels = _samples(paths[0], table)
            names = [str(j) for j in range(1, X.shape[1] + 1)]
            source = f"{table.citation}; {file.path}, SHA-256 {digest}"
            return make_dataset(X, labels, names, name=name, source=source)

        return parsed(name, {}, build)

    load.__doc__ = f"Load {table.holds}.\n\n{table.about}\n"
    return SimpleNamespace(VERSION=table.version, load=load)


def _samples(path: Path, table: MatTable) -> tuple[np.ndarray, np.ndarray]:
    """Return the matrix with samples in rows, and the labels."""
    X, Y = read_mat(path, table.variables, unread=table.unread)
    if 1 not in Y.shape:
        raise ValueError(
            f"{path}: expected one label a row in {table.variables[1]!r}, got shape {Y.shape}. It is another file"
        )
    classes = np.unique(Y)
    if classes.size < 2:
        raise ValueError(
            f"{path}: expected at least two classes in {table.variables[1]!r}, got {classes}. It is another file"
        )
    labels = np.where(Y.ravel() == classes[1], 1, -1) if classes.size == 2 else Y.ravel()
    return (X.T if table.columns_are_samples else X), labels


def _damaged(path: Path, error: Exception) -> ValueError:
    """Return the error for a file that SciPy cannot read."""
    return ValueError(f"{path}: cannot be read as a MATLAB file ({error!s:.200}). Replace it by an intact copy")
