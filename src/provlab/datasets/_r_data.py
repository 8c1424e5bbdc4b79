"""R data files, read as a stream: vectors and lists with their attributes. Nothing is evaluated, nothing else is read.

The form is RDX2 in XDR (R Internals, "Serialization Formats"), packed with xz. A data frame of mostly zeros expands
to gigabytes of doubles: of a vector of doubles only the non-zero entries are kept.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._xz import XzStream

# In brackets what the largest of the published files has.
_MAX_EXPANDED = 2_400_000_000  # bytes of the stream [2,275,170,000]
_MAX_KEPT = 1 << 26  # bytes of numbers and texts that are kept [11,000,000]
_MAX_ITEMS = 400_000  # [190,372]
_MAX_LENGTH = 100_000  # of a vector or list [47,339]
_MAX_TEXT = 4_096  # bytes of a string [254]
_MAX_SYMBOLS = 100  # [6]
_MAX_DEPTH = 16  # [7]

_NULL, _REFERENCE = 254, 255
_SYMBOL, _PAIRS, _TEXT, _LOGICALS, _INTEGERS, _DOUBLES, _TEXTS, _LIST = 1, 2, 9, 10, 13, 14, 16, 19
_HAS_ATTRIBUTES, _HAS_TAG = 0x200, 0x400
_HEAD = b"RDX2\nX\n"


class RVector(NamedTuple):
    """A vector or list: its values and its attributes by name."""

    values: Any
    attributes: dict[str, Any]


class Doubles(NamedTuple):
    """The entries of a vector of doubles that are not zero: positions from 0, int32, and values, float64."""

    length: int
    positions: NDArray[np.int32]
    values: NDArray[np.float64]


def read_r_data(path: Path) -> dict[str, Any]:
    """Return the objects of an R data file by name.

    Parameters
    ----------
    path : Path
        Of unknown intent.

    Returns
    -------
    dict
        Objects are None, `RVector` with values of type `Doubles`, int32 array (integers and logicals), list of str or
        None (texts, taken as latin-1) or list of objects, and dict (pair lists).

    Raises
    ------
    ValueError
        For damage, other types of objects, and beyond the limits of this module; it names file and byte.
    """
    with path.open("rb") as file:
        return _Reader(path, XzStream(path, file, max_expanded=_MAX_EXPANDED, what="an R data file")).read()


class _Reader:
    def __init__(self, path: Path, stream: XzStream) -> None:
        self._path, self._stream = path, stream
        self._symbols: list[str] = []
        self._items, self._kept = _MAX_ITEMS, _MAX_KEPT

    def read(self) -> dict[str, Any]:
        """Read the whole file."""
        head = self._stream.take(len(_HEAD))
        if head != _HEAD:
            raise self._bad("the first bytes of an R data file, RDX2 in XDR", repr(head))
        version, _, _ = (self._integer() for _ in range(3))  # the others are R's own version
        if version != 2:
            raise self._bad("version 2 of the format", str(version))
        objects = self._item(0)
        if not isinstance(objects, dict):
            raise self._bad("a pair list of objects", type(objects).__name__)
        if self._stream.take(1):
            raise self._bad("the end after the objects", "more bytes")
        return objects

    def _bad(self, expected: str, got: str) -> ValueError:
        return ValueError(
            f"{self._path}, byte {self._stream.taken} expanded: expected {expected}, got {got:.80}. It is another "
            "file or damaged: fetch it again"
        )

    def _take(self, count: int) -> bytes:
        content = self._stream.take(count)
        if len(content) != count:
            raise self._bad(f"{count} more bytes", "the end of the file")
        return content

    def _integer(self) -> int:
        number: int = struct.unpack(">i", self._take(4))[0]
        return number

    def _length(self, largest: int) -> int:
        """Read a length; nothing is allocated before it is checked."""
        length = self._integer()
        if not 0 <= length <= largest:
            raise self._bad(f"a length from 0 to {largest}", str(length))
        return length

    def _keep(self, size: int) -> None:
        self._kept -= size
        if self._kept < 0:
            raise self._bad(f"at most {_MAX_KEPT} bytes of numbers and texts", "more")

    def _header(self, depth: int) -> int:
        """Read the flags that an object begins with."""
        self._items -= 1
        if self._items < 0:
            raise self._bad(f"at most {_MAX_ITEMS} objects", "more")
        if depth > _MAX_DEPTH:
            raise self._bad(f"objects in at most {_MAX_DEPTH} levels", "more")
        return self._integer()

    def _item(self, depth: int) -> Any:
        """Read one object; symbols and texts come as str, pair lists as dict."""
        flags = self._header(depth)
        kind = flags & 0xFF
        if kind == _NULL:
            return None
        if kind == _SYMBOL:
            return self._symbol(depth)
        if kind == _REFERENCE:
            return self._reference(flags >> 8)
        if kind == _TEXT:
            return self._text()
        if kind == _PAIRS:
            return self._pairs(flags, depth)
        values = self._values(kind, depth)
        attributes = self._item(depth + 1) if flags & _HAS_ATTRIBUTES else {}
        if not isinstance(attributes, dict):
            raise self._bad("a pair list of attributes", type(attributes).__name__)
        return RVector(values, attributes)

    def _values(self, kind: int, depth: int) -> Any:
        """Read the entries of a vector or list."""
        if kind == _DOUBLES:
            return self._doubles()
        if kind in (_INTEGERS, _LOGICALS):
            length = self._length(_MAX_LENGTH)
            self._keep(4 * length)
            return np.frombuffer(self._take(4 * length), dtype=">i4").astype(np.int32)
        if kind not in (_TEXTS, _LIST):
            raise self._bad("a vector, list or symbol", f"an R object of type {kind}")
        items = [self._item(depth + 1) for _ in range(self._length(_MAX_LENGTH))]
        if kind == _TEXTS and not all(item is None or isinstance(item, str) for item in items):
            raise self._bad("texts in a vector of texts", "something else")
        return items

    def _doubles(self) -> Doubles:
        length = self._length(_MAX_LENGTH)
        content = self._take(8 * length)
        values = np.frombuffer(content, dtype=">f8")
        # of native integers, which takes a fifth of the time of foreign floats; -0 has a bit that is set
        positions = np.flatnonzero(np.frombuffer(content, dtype=np.int64))
        positions = positions[values[positions] != 0]
        self._keep(12 * positions.size)
        return Doubles(length, positions.astype(np.int32), values[positions].astype(np.float64))

    def _text(self) -> str | None:
        length = self._integer()
        if length == -1:  # R's NA
            return None
        if not 0 <= length <= _MAX_TEXT:
            raise self._bad(f"a text of at most {_MAX_TEXT} bytes", f"a length of {length}")
        self._keep(length)
        return self._take(length).decode("latin-1")

    def _symbol(self, depth: int) -> str:
        """Read a name that is new; later ones refer to it by its number."""
        name = self._item(depth + 1)
        if not isinstance(name, str):
            raise self._bad("a text as a symbol's name", type(name).__name__)
        if len(self._symbols) == _MAX_SYMBOLS:
            raise self._bad(f"at most {_MAX_SYMBOLS} symbols", "more")
        self._symbols.append(name)
        return name

    def _reference(self, packed: int) -> str:
        number = packed or self._integer()
        if not 1 <= number <= len(self._symbols):
            raise self._bad(f"a reference to one of {len(self._symbols)} symbols", f"number {number}")
        return self._symbols[number - 1]

    def _pairs(self, flags: int, depth: int) -> dict[str, Any]:
        """Read a pair list of distinct names; its tail is read in a loop, however long it is."""
        pairs: dict[str, Any] = {}
        while flags & 0xFF == _PAIRS:
            if flags & _HAS_ATTRIBUTES or not flags & _HAS_TAG:
                raise self._bad("pairs with names and without attributes", f"flags {flags:#x}")
            name = self._item(depth + 1)
            if not isinstance(name, str) or name in pairs:
                raise self._bad("distinct names in a pair list", repr(name))
            pairs[name] = self._item(depth + 1)
            flags = self._header(depth)
        if flags & 0xFF != _NULL:
            raise self._bad("a pair list that ends with NULL", f"flags {flags:#x}")
        return pairs
