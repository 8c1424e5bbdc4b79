"""The lengths and types in a MATLAB file of format 5 to 7, checked before SciPy's reader believes them."""

from __future__ import annotations

import math
import struct
import zlib
from pathlib import Path
from typing import IO

from scipy.io.matlab import matfile_version

_MATRIX, _COMPRESSED = 14, 15
_INT8, _INT32, _UINT32 = 1, 5, 6
_NUMERIC_CLASSES = range(6, 16)
_COMPLEX = 0x800
_ITEM_BYTES = {1: 1, 2: 1, 3: 2, 4: 2, 5: 4, 6: 4, 7: 4, 9: 8, 12: 8, 13: 8}
"""Of the types that numbers are stored as."""
_HEAD = 4096
_BLOCK = 1 << 20


def check_tags(path: Path, max_expanded: int) -> None:
    """Raise unless the types of all numeric variables are known and their lengths fit the file.

    SciPy takes a type as an index into a C array, and a wrong one ends the process; it takes memory for lengths before
    it reads on, and a few packed megabytes could expand to gigabytes in one piece.

    Raises
    ------
    ValueError, struct.error, zlib.error and whatever SciPy raises for a file without a version
        Without the name of the file.
    """
    if matfile_version(str(path), appendmat=False)[0] != 1:
        return  # format 4 has other headers, format 7.3 is refused
    size = path.stat().st_size
    with path.open("rb") as handle:
        order = "<" if handle.read(128)[126:] == b"IM" else ">"  # as SciPy takes it
        while len(tag := handle.read(8)) == 8:
            kind, length = struct.unpack(f"{order}II", tag)
            start = handle.tell()
            if start + length > size:
                raise ValueError(f"a variable of {length} bytes at {start}, the file has {size}")
            if kind == _COMPRESSED:
                _check_variable(_expanded_head(handle, length, max_expanded), order, None)
            elif kind == _MATRIX:
                _check_variable(handle.read(min(length, _HEAD)), order, length)
            handle.seek(start + length)


def _expanded_head(handle: IO[bytes], length: int, limit: int) -> bytes:
    """Return how a packed variable begins; all of it is expanded block by block, and counted."""
    inflater, head, expanded = zlib.decompressobj(), b"", 0
    while length and not inflater.eof and (block := handle.read(min(length, _BLOCK))):
        length -= len(block)
        while block and not inflater.eof:
            content = inflater.decompress(block, _BLOCK)
            block = inflater.unconsumed_tail
            head, expanded = head or content, expanded + len(content)
            if expanded > limit:
                raise ValueError(f"a variable that expands to more than {limit} bytes")
    return head[: 8 + _HEAD]


def _check_variable(head: bytes, order: str, length: int | None) -> None:
    """Check the tags of a variable; where `length` is None, `head` begins with a tag of its own that tells it."""
    if length is None:
        kind, length = struct.unpack_from(f"{order}II", head)
        head = head[8:]
        if kind != _MATRIX:
            raise ValueError(f"a packed variable of type {kind}")
    flags_type, flags_length, flags = struct.unpack_from(f"{order}III", head)
    if (flags_type, flags_length) != (_UINT32, 8):
        raise ValueError(f"flags of type {flags_type} and {flags_length} bytes")
    if flags & 0xFF not in _NUMERIC_CLASSES:
        return  # its kind is all that is read of it
    kind, size, place, after = _tag(head, order, 16)
    if kind not in (_INT32, _UINT32) or size % 4 or not 8 <= size <= 128:
        raise ValueError(f"dimensions of type {kind} and {size} bytes")
    shape = struct.unpack_from(f"{order}{size // 4}i", head, place)
    kind, size, place, after = _tag(head, order, after)
    if kind != _INT8:
        raise ValueError(f"a name of type {kind}")
    if flags & _COMPLEX:
        name = head[place : place + size].decode("latin-1")
        raise ValueError(f"expected real numbers in {name!r:.80}, got dtype complex128")
    kind, size, place, _ = _tag(head, order, after)
    if min(shape) < 0 or kind not in _ITEM_BYTES or size != math.prod(shape) * _ITEM_BYTES[kind]:
        raise ValueError(f"numbers of shape {shape} as {size} bytes of type {kind}")
    if place + size > length:
        raise ValueError(f"numbers of {size} bytes in a variable of {length}")


def _tag(head: bytes, order: str, at: int) -> tuple[int, int, int, int]:
    """Return type, bytes and place of an element, and where the next one is."""
    (word,) = struct.unpack_from(f"{order}I", head, at)
    if word >> 16:  # up to four bytes in the tag itself
        return word & 0xFFFF, word >> 16, at + 4, at + 8
    (size,) = struct.unpack_from(f"{order}I", head, at + 4)
    return word, size, at + 8, at + 8 + -(-size // 8) * 8
