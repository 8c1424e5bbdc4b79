"""Numeric variables of MATLAB files, and the data sets that are one such file with `X` and `Y`."""

import math
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
from scipy.io import loadmat, whosmat

from ._cache import cached
from ._identity import content_of, identity_from, paths_of, registered
from ._mat_tags import check_tags
from ._record import Dataset, make_dataset

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


def load_mat_dataset(
    name: str,
    path: str,
    citation: str,
    *,
    variables: tuple[str, str] = ("X", "Y"),
    columns_are_samples: bool = False,
    unread: Collection[str] = (),
) -> Dataset:
    """Load a data set that is one registered MATLAB file with a matrix of samples and a vector of labels.

    Parameters
    ----------
    name : str
        Name of the loader and of its source.
    path : str
        Relative path in the mirror and in the data folder.
    citation : str
        For `source`.
    variables : (str, str), default=("X", "Y")
        Names of the matrix and of the labels.
    columns_are_samples : bool, default=False
        The matrix is stored with one sample a column, in place of one a row.
    unread : collection of str, default=()
        See `read_mat`.

    Returns
    -------
    Dataset
        Dense. Of two labels the smaller becomes -1 and the larger +1; more are kept as they are. The features
        are named "1", "2", ... .
    """
    files = registered(name, [path])
    [found], digest = paths_of(files), content_of(files)

    def build() -> Dataset:
        X, Y = read_mat(found, variables, unread=unread)
        if columns_are_samples:
            X = X.T
        if 1 not in Y.shape:
            raise ValueError(
                f"{found}: expected one label a row in {variables[1]!r}, got shape {Y.shape}. It is another file"
            )
        labels = Y.ravel()
        classes = np.unique(labels)
        if classes.size < 2:
            raise ValueError(
                f"{found}: expected at least two classes in {variables[1]!r}, got {classes}. It is another file"
            )
        if classes.size == 2:
            labels = np.where(labels == classes[1], 1, -1)
        names = [str(j) for j in range(1, X.shape[1] + 1)]
        return make_dataset(X, labels, names, name=name, source=f"{citation}; {path}, SHA-256 {digest}")

    return cached(name, identity_from(name, {}, files), build)


def _damaged(path: Path, error: Exception) -> ValueError:
    """Return the error for a file that SciPy cannot read."""
    return ValueError(f"{path}: cannot be read as a MATLAB file ({error!s:.200}). Replace it by an intact copy")
