"""R data files, read as a stream.

The form is the one that R's `save` writes, RDX2 in XDR (R Internals, "Serialization Formats"), packed with xz. What
registered files have is read: vectors and lists, without missing texts.
"""

from __future__ import annotations

import io
import lzma
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

_NULL, _REFERENCE = 254, 255
_SYMBOL, _PAIRS, _TEXT, _INTEGERS, _DOUBLES = 1, 2, 9, 13, 14
_HAS_ATTRIBUTES = 0x200


@dataclass(frozen=True)
class RVector:
    """A vector or list of R, with attributes such as names, levels and class; `vector[name]` is an entry.

    `values` are int32 for integers, float64 for doubles, lists of str for texts, and of objects for lists.
    """

    values: Any
    attributes: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.values[self.attributes["names"].values.index(name)]


def read_r_data(path: Path, *, doubles: Callable[[np.ndarray], Any] = np.asarray) -> dict[str, Any]:
    """Return the objects of an R data file by name: RVector, dict (pair lists) or None.

    `doubles` is called with each vector of doubles, shape (n,), as it is read; what it returns is kept in its place.
    """
    with lzma.open(path) as unpacked:
        return _Reader(io.BufferedReader(unpacked, 1 << 20), doubles).objects()


class _Reader:
    """The objects of one stream, one after the other."""

    def __init__(self, stream: IO[bytes], doubles: Callable[[np.ndarray], Any]) -> None:
        self._stream, self._doubles = stream, doubles
        self._symbols: list[str] = []

    def objects(self) -> dict[str, Any]:
        self._stream.read(19)  # RDX2, the format, and versions of both and of R
        return self._item()

    def _integer(self) -> int:
        return struct.unpack(">i", self._stream.read(4))[0]

    def _numbers(self, kind: str) -> np.ndarray:
        length = self._integer()
        values = np.frombuffer(self._stream.read(length * np.dtype(kind).itemsize), dtype=f">{kind}")
        return values.astype(kind)

    def _item(self) -> Any:
        """Read one object; symbols and texts come as str, pair lists, whose pairs all have names, as dict."""
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
            return self._stream.read(self._integer()).decode("latin-1")
        if kind == _PAIRS:
            pairs = {self._item(): self._item()}
            while self._integer() & 0xFF == _PAIRS:
                pairs |= {self._item(): self._item()}
            return pairs
        if kind == _DOUBLES:
            values: Any = self._doubles(self._numbers("f8"))
        elif kind == _INTEGERS:
            values = self._numbers("i4")
        else:  # texts or a list
            values = [self._item() for _ in range(self._integer())]
        return RVector(values, self._item() if flags & _HAS_ATTRIBUTES else {})
