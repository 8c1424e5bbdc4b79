"""Reader of R data files as a stream.

The format is that written by R's `save`, RDX2 or RDX3 in XDR (R Internals,
"Serialization Formats"), compressed with gzip, bzip2 or xz. Only the types in the
registered files are supported: vectors, lists and wrappers of a vector.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

_NULL, _REFERENCE, _WRAPPER = 254, 255, 238
_SYMBOL, _PAIRS, _TEXT, _TRUTHS, _INTEGERS, _DOUBLES = 1, 2, 9, 10, 13, 14
_HAS_ATTRIBUTES, _HAS_NAME = 0x200, 0x400

_OPENERS: dict[bytes, Any] = {
    b"\x1f\x8b": gzip.open,
    b"BZ": bz2.open,
    b"\xfd7": lzma.open,
}
"""Decompressors by the first two bytes of a compressed file."""

MISSING_INTEGER = -(2**31)
"""R's missing value for integers and booleans."""


@dataclass(frozen=True)
class RVector:
    """An R vector or list, with attributes such as names, levels and class; `vector[name]` is an entry.

    `values` is int32 for integers and booleans, float64 for doubles, a list of str for
    strings, with None for missing ones, and a list of objects for lists.
    """

    values: Any
    attributes: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.values[self.attributes["names"].values.index(name)]


def read_r_data(
    path: Path, *, doubles: Callable[[np.ndarray], Any] = np.asarray
) -> dict[str, Any]:
    """Return the objects of an R data file by name, each an RVector, a list of pairs or None.

    `doubles` is called with each vector of doubles, shape (n,), when it is read, and
    its result replaces the vector.
    """
    with path.open("rb") as packed:
        opener = _OPENERS[packed.read(2)]
    with opener(path) as unpacked:
        return _Reader(io.BufferedReader(unpacked, 1 << 20), doubles).objects()


class _Reader:
    """Reads the objects of one stream in order."""

    def __init__(self, stream: IO[bytes], doubles: Callable[[np.ndarray], Any]) -> None:
        self._stream, self._doubles = stream, doubles
        self._symbols: list[str] = []

    def objects(self) -> dict[str, Any]:
        form = self._stream.read(5)
        self._stream.read(14)  # the format, its version, and versions of R
        if form == b"RDX3\n":
            self._stream.read(self._integer())  # the name of the encoding
        return dict(self._item())

    def _integer(self) -> int:
        return struct.unpack(">i", self._stream.read(4))[0]

    def _numbers(self, kind: str) -> np.ndarray:
        length = self._integer()
        values = np.frombuffer(
            self._stream.read(length * np.dtype(kind).itemsize), dtype=f">{kind}"
        )
        return values.astype(kind)

    def _item(self) -> Any:
        """Read one object; symbols and strings become str, pair lists become a list of (name or None, value)."""
        flags = self._integer()
        kind = flags & 0xFF
        if kind == _NULL:
            return None
        if kind == _SYMBOL:
            self._symbols.append(self._item())
            return self._symbols[-1]
        if kind == _REFERENCE:
            return self._symbols[(flags >> 8) - 1]
        if kind == _TEXT:
            length = self._integer()
            return None if length < 0 else self._stream.read(length).decode("latin-1")
        if kind == _PAIRS:
            name = self._item() if flags & _HAS_NAME else None
            value = self._item()
            rest = self._item()
            return [(name, value), *rest] if isinstance(rest, list) else [(name, value)]
        if kind == _WRAPPER:
            _class, [(_, vector)], attributes = self._item(), self._item(), self._item()
            return RVector(vector.values, dict(attributes or ()))
        if kind == _DOUBLES:
            values: Any = self._doubles(self._numbers("f8"))
        elif kind in (_INTEGERS, _TRUTHS):
            values = self._numbers("i4")
        else:  # strings or a list
            values = [self._item() for _ in range(self._integer())]
        return RVector(values, dict(self._item()) if flags & _HAS_ATTRIBUTES else {})
