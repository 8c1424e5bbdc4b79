"""Files of NumPy arrays from anywhere: no pickles, and no memory for what they only claim to hold."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
_SMALLEST = {zipfile.ZIP_STORED: 1, zipfile.ZIP_DEFLATED: 1032}
"""Bytes that one packed byte can stand for at most."""


def check_npz(path: Path) -> None:
    """Raise unless the headers in a .npz file claim no more than the file can hold, and no Python objects.

    NumPy takes the memory that a header asks for before it reads on: 200 bytes could ask for a terabyte.

    Raises
    ------
    ValueError, OSError and whatever `zipfile` raises
        Without the name of the file: see `_streams.DAMAGED`.
    """
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if sum(info.compress_size for info in members) > path.stat().st_size:
            raise ValueError("members that share their bytes")
        if len({info.filename for info in members}) != len(members):
            raise ValueError("a member that occurs twice")
        for info in members:
            ratio = _SMALLEST.get(info.compress_type)
            if ratio is None or info.file_size > ratio * info.compress_size:
                raise ValueError(f"{info.file_size} bytes in {info.filename!r:.80}, packed in {info.compress_size}")
            with archive.open(info) as member:
                claimed = _claimed_bytes(member)
            if claimed > info.file_size:
                raise ValueError(f"a header of {claimed} bytes in {info.filename!r:.80}, which has {info.file_size}")


def read_npz(path: Path, names: Collection[str] | None = None) -> dict[str, NDArray[Any]]:
    """Return all arrays of a .npz file, or some, after `check_npz`; it raises the same, and `KeyError`."""
    check_npz(path)
    # Opened here, because np.load leaves a damaged file open.
    with path.open("rb") as handle, np.load(handle, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in (arrays.files if names is None else names)}


def _claimed_bytes(member: IO[bytes]) -> int:
    """Return the size of the array that a .npy file begins to describe."""
    read_header = _HEADERS.get(np.lib.format.read_magic(member))
    if read_header is None:
        raise ValueError("an array in a format that NumPy writes for records only")
    shape, _, dtype = read_header(member)
    if dtype.hasobject:
        raise ValueError("an array of Python objects, which only a pickle can hold")
    if min(shape, default=0) < 0:
        raise ValueError(f"an array of shape {shape}")
    return math.prod(shape) * int(dtype.itemsize)
