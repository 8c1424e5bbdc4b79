"""Validation of sparse matrices: consistent index arrays, and one canonical form.

SciPy's compiled code trusts the index arrays of an object: an index that is too large
reads or writes outside the arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse


def check_sparse(subject: str, X: Any) -> None:
    """Raise a `ValueError` if X is sparse and its arrays do not fit each other or its shape."""
    if sparse.issparse(X) and (fault := sparse_fault(X)):
        raise ValueError(
            f"{subject}: expected a {X.format.upper()} matrix of shape {X.shape} whose arrays are consistent, got "
            f"{fault}; build it again from its rows, columns and values."
        )


def canonical(X: Any) -> Any:
    """Return X; CSR and CSC with sorted 32-bit indices (64-bit if necessary), without duplicates or stored zeros.

    Arrays of X that already comply are shared, and never written to.
    """
    if not sparse.issparse(X) or X.format not in ("csr", "csc"):
        return X
    small = max(X.data.size, *X.shape) <= np.iinfo(np.int32).max
    indices, indptr = (
        part.astype(np.int32, copy=False) if small else part
        for part in (X.indices, X.indptr)
    )
    # a new object: flags that X remembers, such as sorted indices, may refer to earlier
    # contents of its arrays
    end = int(indptr[-1])  # the rest is spare room with arbitrary content
    result = type(X)((X.data[:end], indices[:end], indptr), shape=X.shape)
    if not result.has_canonical_format:
        result = result.copy()
        result.sum_duplicates()
    if np.count_nonzero(result.data) < result.data.size:
        result = result.copy()
        result.eliminate_zeros()
    return result


def sparse_fault(X: Any) -> str | None:
    """Return the fault in the arrays of a sparse matrix, or None; X needs only SciPy's attributes of its format.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from provsel.sparse_input import sparse_fault
    >>> X = sparse.csr_array(np.eye(3))
    >>> X.indices[1] = -7
    >>> sparse_fault(X)
    'indices from -7 to 2 where 0 to 2 are possible'
    """
    if len(X.shape) != 2:
        return f"{len(X.shape)} dimensions where 2 are needed"
    return next((fault for fault in FAULTS[X.format](X) if fault), None)


Faults: TypeAlias = Iterator[str | None]
"""Checks of one format in order; a later one relies on those before."""


def _compressed(X: Any) -> Faults:
    yield _array("data", X.data, 3 if X.format == "bsr" else 1)
    block = X.data.shape[1:] or (1, 1)
    if 0 in block or X.shape[0] % block[0] or X.shape[1] % block[1]:
        yield f"blocks of shape {block}, which do not fill it"
    n_lines, width = X.shape[0] // block[0], X.shape[1] // block[1]
    if X.format == "csc":
        n_lines, width = width, n_lines
    yield _numbers("indptr", X.indptr)
    yield _numbers("indices", X.indices)
    yield _lengths("indptr", X.indptr.size, "the shape", n_lines + 1)
    yield _lengths("indices", X.indices.size, "data", len(X.data))
    if X.indptr[0] != 0 or X.indptr[-1] > X.indices.size:
        yield f"indptr from {X.indptr[0]} to {X.indptr[-1]} where data has {X.indices.size} entries, counted from 0"
    if (X.indptr[1:] < X.indptr[:-1]).any():
        yield f"indptr that falls, after position {int(np.argmax(X.indptr[1:] < X.indptr[:-1]))}"
    yield _range("indices", X.indices[: X.indptr[-1]], width)


def _coordinates(X: Any) -> Faults:
    yield _array("data", X.data, 1)
    for name, part, size in zip(("row", "col"), X.coords, X.shape, strict=True):
        yield _numbers(name, part)
        yield _lengths(name, part.size, "data", X.data.size)
        yield _range(name, part, size)


def _diagonals(X: Any) -> Faults:
    yield _array("data", X.data, 2)
    yield _numbers("offsets", X.offsets)
    yield _lengths("offsets", X.offsets.size, "rows of data", len(X.data))
    if X.offsets.size and np.abs(X.offsets.astype(np.float64)).max() >= 2**31:
        yield f"offsets from {X.offsets.min()} to {X.offsets.max()} where SciPy reads 32 bits of them"


def _lists(X: Any) -> Faults:
    for name, part in (("rows", X.rows), ("data", X.data)):
        yield _array(name, part, 1)
        yield _lengths(name, part.size, "rows of the matrix", X.shape[0])
        yield (
            None
            if all(type(line) is list for line in part)
            else f"{name} that are not all lists"
        )
    for number, (columns, values) in enumerate(zip(X.rows, X.data, strict=True)):
        if len(columns) != len(values):
            yield _lengths(
                f"rows[{number}]", len(columns), f"data[{number}]", len(values)
            )
    yield from _places("rows", list(chain.from_iterable(X.rows)), X.shape[1])


def _keys(X: Any) -> Faults:
    keys = list(X.keys())
    if not all(type(key) is tuple and len(key) == 2 for key in keys):
        yield "keys that are not all pairs"
    for axis, name in enumerate(("row", "col")):
        yield from _places(name, [key[axis] for key in keys], X.shape[axis])


FAULTS: dict[str, Callable[[Any], Faults]] = {
    "csr": _compressed, "csc": _compressed, "bsr": _compressed, "coo": _coordinates, "dia": _diagonals, "lil": _lists,
    "dok": _keys,
}  # fmt: skip


def _array(name: str, part: Any, ndim: int) -> str | None:
    if not isinstance(part, np.ndarray) or part.ndim != ndim:
        shape = (
            f"shape {part.shape}"
            if isinstance(part, np.ndarray)
            else type(part).__name__
        )
        return f"{name} of {shape} where an array of {ndim} dimension{'s' if ndim > 1 else ''} is needed"
    return None


def _numbers(name: str, part: Any) -> str | None:
    if not isinstance(part, np.ndarray) or part.dtype not in (np.int32, np.int64):
        return f"{name} of {getattr(part, 'dtype', type(part).__name__)} where int32 or int64 is needed"
    return _array(name, part, 1)


def _lengths(name: str, size: int, longer_name: str, expected: int) -> str | None:
    return (
        None
        if size == expected
        else f"{size} entries in {name} where {longer_name} has {expected}"
    )


def _range(name: str, part: Any, size: int) -> str | None:
    # as unsigned numbers, negative values become the largest, so one pass is enough
    unsigned = part if part.flags.c_contiguous else np.ascontiguousarray(part)
    if not part.size or unsigned.view(f"u{part.itemsize}").max() < min(
        size, 1 << (8 * part.itemsize - 1)
    ):
        return None
    return (
        f"{name} from {part.min()} to {part.max()} where 0 to {size - 1} are possible"
    )


def _places(name: str, numbers: list[Any], size: int) -> Faults:
    places = np.array(numbers) if numbers else np.empty(0, dtype=np.int64)
    yield _numbers(name, places)
    yield _range(name, places, size)
