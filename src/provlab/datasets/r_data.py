"""R data files, read as a stream: a large data frame is never whole in memory.

The form is the one that R's `save` writes, RDX2 or RDX3 in XDR (R Internals, "Serialization Formats"), packed with xz,
gzip or bzip2 or not at all. Nothing is evaluated: functions, environments and formulas are refused.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

_PACKED: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
_NULL, _REFERENCE = 254, 255
_SYMBOL, _PAIRS, _TEXT, _LOGICALS, _INTEGERS, _DOUBLES, _TEXTS, _LIST = 1, 2, 9, 10, 13, 14, 16, 19
_HAS_ATTRIBUTES, _HAS_TAG = 0x200, 0x400


@dataclass(frozen=True)
class RVector:
    """A vector or list of R; `vector[name]` is an entry.

    Parameters
    ----------
    values : ndarray or list
        int32 for integers and logicals, where the smallest number is NA; float64 for doubles; lists of str or None for
        texts, of objects for lists.
    attributes : dict
        Such as names, levels and class, by name.
    """

    values: Any
    attributes: dict[str, Any]

    @property
    def names(self) -> list[str]:
        """Names of the entries, empty where they have none."""
        names = self.attributes.get("names")
        return [] if names is None else names.values

    def __getitem__(self, name: str) -> Any:
        return self.values[self.names.index(name)]


def read_r_data(path: Path, *, doubles: Callable[[np.ndarray], Any] | None = None) -> dict[str, Any]:
    """Return the objects of an R data file by name.

    Parameters
    ----------
    path : Path
    doubles : callable, default=None
        Called with each vector of doubles, shape (n,), as it is read; what it returns is kept in its place.

    Returns
    -------
    dict of str to RVector, dict (pair lists) or None

    Raises
    ------
    ValueError
        For another format, damage, and objects that are no data; it names file and byte.
    """
    with path.open("rb") as file:
        head = file.read(6)
    opener = next((opener for magic, opener in _PACKED.items() if head.startswith(magic)), open)
    with opener(path, "rb") as unpacked:
        reader = _Reader(io.BufferedReader(unpacked, 1 << 20), doubles)
        try:
            return reader.objects()
        except (ValueError, EOFError, OSError, LookupError, RecursionError, lzma.LZMAError, zlib.error) as error:
            raise ValueError(
                f"{path}, byte {reader.taken} expanded: expected R data of vectors and lists, got {error!s:.200}. "
                "It is another file or damaged: fetch it again"
            ) from error


class _Reader:
    """The objects of one stream, one after the other."""

    def __init__(self, stream: IO[bytes], doubles: Callable[[np.ndarray], Any] | None) -> None:
        self.taken = 0
        self._stream, self._doubles = stream, doubles
        self._symbols: list[str] = []

    def objects(self) -> dict[str, Any]:
        """Read the whole stream."""
        head = self._take(7)
        if head not in (b"RDX2\nX\n", b"RDX3\nX\n"):
            raise ValueError(f"the first bytes {head!r}")
        version, _, _ = (self._integer() for _ in range(3))  # the others are R's own version
        if version == 3:
            self._take(self._integer())  # the encoding of the machine that wrote it
        return self._item() or {}

    def _take(self, count: int) -> bytes:
        content = self._stream.read(count) if count >= 0 else b""
        if len(content) != count:
            raise EOFError(f"the end of the file where {count} bytes were due")
        self.taken += count
        return content

    def _integer(self) -> int:
        return struct.unpack(">i", self._take(4))[0]

    def _item(self) -> Any:
        """Read one object; symbols and texts come as str, pair lists as dict."""
        flags = self._integer()
        kind = flags & 0xFF
        if kind == _NULL:
            return None
        if kind == _SYMBOL:
            self._symbols.append(self._item())
            return self._symbols[-1]
        if kind == _REFERENCE:
            return self._symbols[(flags >> 8 or self._integer()) - 1]
        if kind == _TEXT:
            length = self._integer()
            return None if length == -1 else self._take(length).decode("latin-1")
        if kind == _PAIRS:
            return self._pairs(flags)
        values = self._values(kind)
        return RVector(values, self._item() if flags & _HAS_ATTRIBUTES else {})

    def _values(self, kind: int) -> Any:
        if kind not in (_DOUBLES, _INTEGERS, _LOGICALS, _TEXTS, _LIST):
            raise ValueError(f"an R object of type {kind}")
        length = self._integer()
        if kind == _DOUBLES:
            values = np.frombuffer(self._take(8 * length), dtype=">f8").astype(np.float64)
            return values if self._doubles is None else self._doubles(values)
        if kind in (_INTEGERS, _LOGICALS):
            return np.frombuffer(self._take(4 * length), dtype=">i4").astype(np.int32)
        return [self._item() for _ in range(length)]

    def _pairs(self, flags: int) -> dict[str, Any]:
        """Read a pair list; its tail is read in a loop, however long it is."""
        pairs: dict[str, Any] = {}
        while flags & 0xFF == _PAIRS:
            if flags & _HAS_ATTRIBUTES or not flags & _HAS_TAG:
                raise ValueError("a pair list with attributes or without names")
            name = self._item()
            pairs[name] = self._item()
            flags = self._integer()
        return pairs
