"""Reading of untrusted NumPy files, without pickles and without memory for data that they only claim to hold."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Collection, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from provsel.sparse_input import sparse_fault

_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
COMPRESSED = frozenset({"data", "indices", "indptr", "shape"})
"""Arrays of a matrix in CSR or CSC form, as `scipy.sparse.save_npz` names them."""

MATRIX = COMPRESSED | {"format", "_is_array"}
"""All arrays that describe such a matrix."""

_SMALLEST = {zipfile.ZIP_STORED: 1, zipfile.ZIP_DEFLATED: 1032}
"""Largest number of bytes that one compressed byte can stand for."""


Headers = dict[str, tuple[tuple[int, ...], np.dtype[Any]]]


def npz_headers(path: Path) -> Headers:
    """Return shape and type of each array in a .npz file, checked to claim no more than it can hold, and no objects.

    NumPy allocates the memory that a header requests before it reads on: 200 bytes
    could request a terabyte. Compressed contents can nevertheless be a thousand times
    the size of the file.

    Raises
    ------
    ValueError, OSError and whatever `zipfile` raises
        Without the name of the file: see `_streams.DAMAGED`.
    """
    member_headers = {}
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if sum(info.compress_size for info in members) > path.stat().st_size:
            raise ValueError("members that share their bytes")
        if len({_name(info) for info in members}) != len(members):
            raise ValueError("a member that occurs twice")
        for info in members:
            ratio = _SMALLEST.get(info.compress_type)
            if ratio is None or info.file_size > ratio * info.compress_size:
                raise ValueError(
                    f"{info.file_size} bytes in {info.filename!r:.80}, compressed to {info.compress_size}"
                )
            with archive.open(info) as member:
                shape, dtype = _header(member)
            claimed = math.prod(shape) * int(dtype.itemsize)
            if claimed > info.file_size:
                raise ValueError(
                    f"a header of {claimed} bytes in {info.filename!r:.80}, which has {info.file_size}"
                )
            member_headers[_name(info)] = shape, dtype
    return member_headers


def npz_bytes(headers: Headers, names: Collection[str]) -> int:
    """Return the bytes of the given `names` that exist."""
    return sum(
        math.prod(headers[name][0]) * int(headers[name][1].itemsize)
        for name in names
        if name in headers
    )


def read_npz(
    path: Path, names: Collection[str] | None = None
) -> dict[str, NDArray[Any]]:
    """Return all arrays of a .npz file, or those of `names` in it, after `npz_headers`; it raises the same errors."""
    kept = [name for name in npz_headers(path) if names is None or name in names]
    # Opened here, because np.load leaves a damaged file open.
    with path.open("rb") as handle, np.load(handle, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in kept}


def compressed(arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Return the matrix of the arrays of a .npz file: CSR, or as its `format` says; an array if it was saved as one.

    Raises
    ------
    ValueError
        Unless they form a matrix of real numbers in CSR or CSC form: see
        `sparse_fault`.
    KeyError
        If one of the arrays is missing.
    """
    form = arrays["format"].item() if "format" in arrays else "csr"
    form = form.decode("latin-1") if isinstance(form, bytes) else str(form)
    if form not in ("csr", "csc"):
        raise ValueError(
            f"a matrix in {form.upper():.20} form, which is neither CSR nor CSC"
        )
    data, shape = arrays["data"], arrays["shape"]
    if data.dtype.kind not in "biuf":
        raise ValueError(f"data of {data.dtype}, which are not real numbers")
    if shape.ndim != 1 or shape.dtype.kind not in "iu":
        raise ValueError(
            f"a shape of {shape.dtype} and shape {shape.shape}, which are not two integers"
        )
    size = tuple(shape.tolist())
    # SciPy supports neither half precision nor other byte orders or index types
    data = data.astype(
        np.float64 if data.dtype == np.float16 else data.dtype.newbyteorder("="),
        copy=False,
    )
    indices, indptr = (_signed(arrays[name]) for name in ("indices", "indptr"))
    if fault := sparse_fault(
        SimpleNamespace(
            format=form, shape=size, data=data, indices=indices, indptr=indptr
        )
    ):
        raise ValueError(fault)
    # save_npz marks sparse arrays, but not matrices
    kind = "matrix" if "format" in arrays and "_is_array" not in arrays else "array"
    return getattr(sparse, f"{form}_{kind}")((data, indices, indptr), shape=size)


def _signed(array: NDArray[Any]) -> NDArray[Any]:
    is_other = array.dtype.kind in "iu" and array.dtype not in (np.int32, np.int64)
    # beyond 2^63 they are negative, and not valid indices
    return array.astype(np.int64) if is_other else array


def _name(info: zipfile.ZipInfo) -> str:
    return info.filename.removesuffix(".npy")


def _header(member: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return shape and type of an array from the header of its .npy file."""
    read_header = _HEADERS.get(np.lib.format.read_magic(member))
    if read_header is None:
        raise ValueError("an array in a format that NumPy uses only for records")
    shape, _, dtype = read_header(member)
    if dtype.hasobject:
        raise ValueError("an array of Python objects, which only a pickle can hold")
    if min(shape, default=0) < 0:
        raise ValueError(f"an array of shape {shape}")
    return shape, dtype
