"""Pickles of token lists, read without unpickling: an interpreter of the opcodes that such a file needs, and no others.

It builds lists, tuples, byte strings, integers and None. A name is compared with three that are known and becomes an
inert mark: none is ever looked up. The vector of labels that the marks describe is decoded here.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from ._small import read_small

# In brackets what the largest of the published files has.
_MAX_BYTES = 8_000_000  # [3,307,540]
_MAX_OPCODES = 1_000_000  # [544,574]
_MAX_MEMO = 400_000  # [181,471]
_MAX_STACK = 50  # [17] of open lists, tuples and what waits in them: nothing can be nested deeper
_MAX_ARGUMENT = 20_000  # bytes of one, as it is written [3,759]
_MAX_LABELS = 1_000  # [83]

_NUMBER = re.compile(rb"-?[0-9]{1,9}")
_ESCAPED = rb"\\(?:x[0-9a-f]{2}|[\\'\"ntr])"
# The quote that a text stands in occurs in it as an escape only; possessive, so that no text takes long.
_TEXT = {
    b"'": re.compile(rb"(?:[ -&(-\[\]-~]|" + _ESCAPED + rb")*+"),
    b'"': re.compile(rb"(?:[ !#-\[\]-~]|" + _ESCAPED + rb")*+"),
}
_ESCAPE = re.compile(_ESCAPED)
# A string without escapes that is remembered and appended, as nearly all are: three opcodes.
_ITEM = re.compile(rb"S'([ -&(-\[\]-~]{0,100}+)'\np([0-9]{1,9})\na")
_PLAIN = {b"\\\\": b"\\", b"\\'": b"'", b'\\"': b'"', b"\\n": b"\n", b"\\t": b"\t", b"\\r": b"\r"}


class _Name(Enum):
    """The names that a vector of int32 is written with; never looked up."""

    RECONSTRUCT = b"numpy.core.multiarray _reconstruct"
    NDARRAY = b"numpy ndarray"
    DTYPE = b"numpy dtype"


@dataclass
class _Int32:
    """The type int32, before and after its byte order is told."""

    little: bool = False


@dataclass
class Vector:
    """A vector of int32, before and after its numbers are told."""

    values: tuple[int, ...] | None = None


def read_token_pickle(path: Path) -> Any:
    """Return what a pickle of protocol 0 describes, as a tree of fresh lists, tuples, bytes, ints, None and `Vector`.

    Parameters
    ----------
    path : Path
        Of unknown intent.

    Returns
    -------
    object
        No list or tuple occurs twice in it, so that it is no larger than the file.

    Raises
    ------
    ValueError
        For any other opcode, name, call or state, and beyond the limits of this module; it names file and byte.
    """
    return _Machine(path, read_small(path, _MAX_BYTES, "a pickle")).run()


class _Machine:
    """A stack, the places of its open marks, and the memo."""

    def __init__(self, path: Path, data: bytes) -> None:
        self._path, self._data, self._at = path, data, 0
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: list[Any] = []

    def run(self) -> Any:
        """Interpret all opcodes, and return what is left."""
        data, stack, marks, left = self._data, self._stack, self._marks, _MAX_OPCODES
        while left > 0:
            left -= 3 * self._append_strings((left - 1) // 3) + 1
            if self._at == len(data):
                raise self._bad("the opcode of the end", "the end of the file")
            opcode = data[self._at : self._at + 1]
            self._at += 1
            if opcode == b".":
                if marks or len(stack) != 1 or self._at != len(data):
                    raise self._bad("the end after one object", "an end elsewhere")
                return stack[0]
            action = _ACTIONS.get(opcode)
            if action is None:
                raise self._bad(f"one of the opcodes {str(b''.join(_ACTIONS), 'ascii')}.", repr(opcode))
            action(self)
            if len(stack) + len(marks) > _MAX_STACK:
                raise self._bad(f"a stack of at most {_MAX_STACK}", "a deeper one")
        raise self._bad(f"at most {_MAX_OPCODES} opcodes", "more")

    def _bad(self, expected: str, got: str) -> ValueError:
        return ValueError(
            f"{self._path}, byte {self._at}: expected {expected}, got {got:.80}. It is another file or damaged: "
            "fetch it again, and never unpickle it"
        )

    def _line(self) -> bytes:
        end = self._data.find(b"\n", self._at, self._at + _MAX_ARGUMENT + 1)
        if end < 0:
            raise self._bad(f"an argument of at most {_MAX_ARGUMENT} bytes", "no end of it")
        line, self._at = self._data[self._at : end], end + 1
        return line

    def _pop(self) -> Any:
        self._top()
        return self._stack.pop()

    def _is_bare(self) -> bool:
        """Tell whether nothing stands above the last mark."""
        return len(self._stack) == (self._marks[-1] if self._marks else 0)

    def _top(self) -> Any:
        if self._is_bare():
            raise self._bad("something on the stack", "nothing")
        return self._stack[-1]

    def _items(self) -> list[Any]:
        if not self._marks:
            raise self._bad("a mark on the stack", "none")
        start = self._marks.pop()
        items = self._stack[start:]
        del self._stack[start:]
        return items

    def _append_strings(self, most: int) -> int:
        """Do what is next where that are strings for the list on top of the stack; return how many it were."""
        memo, before, at = self._memo, len(self._memo), self._at
        open_list = not self._is_bare() and type(self._stack[-1]) is list
        if open_list and len(self._stack) + len(self._marks) < _MAX_STACK:
            end = min(before + most, _MAX_MEMO)
            match, data, number = _ITEM.match, self._data, before
            while (item := match(data, at)) and number < end and item[2] == b"%d" % number:
                memo.append(item[1])
                at = item.end()
                number += 1
            self._stack[-1] += memo[before:]
            self._at = at
        return len(memo) - before

    # The opcodes.

    def _mark(self) -> None:
        self._marks.append(len(self._stack))

    def _list(self) -> None:
        self._stack.append(self._items())

    def _tuple(self) -> None:
        self._stack.append(tuple(self._items()))

    def _none(self) -> None:
        self._stack.append(None)

    def _string(self) -> None:
        line = self._line()
        quote, text = line[:1], line[1:-1]
        if len(line) < 2 or line[-1:] != quote or quote not in _TEXT or not _TEXT[quote].fullmatch(text):
            raise self._bad("a quoted string of printable ASCII", repr(line[:40]))
        self._stack.append(_ESCAPE.sub(_unescaped, text) if b"\\" in text else text)

    def _integer(self) -> None:
        line = self._line()
        if not _NUMBER.fullmatch(line):
            raise self._bad("an integer of at most nine digits", repr(line[:40]))
        # Protocol 0 has no opcode for true and false: they are numbers of two digits.
        self._stack.append(line == b"01" if line in (b"00", b"01") else int(line))

    def _long(self) -> None:
        line = self._line()
        if line[-1:] != b"L" or not _NUMBER.fullmatch(line[:-1]):
            raise self._bad("a long integer of at most nine digits", repr(line[:40]))
        self._stack.append(int(line[:-1]))

    def _append(self) -> None:
        item = self._pop()
        target = self._top()
        if type(target) is not list:
            raise self._bad("a list to append to", type(target).__name__)
        target.append(item)

    def _put(self) -> None:
        line = self._line()
        if line != b"%d" % len(self._memo):
            raise self._bad(f"the memo's next entry, {len(self._memo)}", repr(line[:40]))
        if len(self._memo) == _MAX_MEMO:
            raise self._bad(f"at most {_MAX_MEMO} entries of the memo", "more")
        self._memo.append(self._top())

    def _get(self) -> None:
        line = self._line()
        # a number without sign, and only one that Python reads in no time
        if not line.isdigit() or len(line) > 9 or int(line) >= len(self._memo):
            raise self._bad(f"an entry of the memo of {len(self._memo)}", repr(line[:40]))
        found = self._memo[int(line)]
        if not isinstance(found, bytes | _Name | _Int32):
            # Else a list could hold itself, and a few bytes stand for a tree without end.
            raise self._bad("a string, name or type from the memo", type(found).__name__)
        self._stack.append(found)

    def _global(self) -> None:
        name = self._line() + b" " + self._line()
        known = {known.value: known for known in _Name}
        if name not in known:
            raise self._bad(f"one of the names {', '.join(str(n, 'ascii') for n in known)}", repr(name[:60]))
        self._stack.append(known[name])

    def _reduce(self) -> None:
        arguments, function = self._pop(), self._pop()
        if function is _Name.RECONSTRUCT and _same(arguments, (_Name.NDARRAY, (0,), b"b")):
            self._stack.append(Vector())
        elif function is _Name.DTYPE and _same(arguments, (b"i4", 0, 1)):
            self._stack.append(_Int32())
        else:
            raise self._bad("the call that makes a vector of int32", "another call")

    def _build(self) -> None:
        state, item = self._pop(), self._top()
        if isinstance(item, _Int32) and _same(state, (3, b"<", None, None, None, -1, -1, 0)):
            item.little = True
        elif isinstance(item, Vector) and item.values is None and isinstance(state, tuple) and len(state) == 5:
            item.values = self._numbers(*state)
        else:
            raise self._bad("the state of a vector of int32", "another state")

    def _numbers(self, version: Any, shape: Any, kind: Any, fortran: Any, raw: Any) -> tuple[int, ...]:
        """Decode the state of a vector."""
        one_dimension = isinstance(shape, tuple) and len(shape) == 1 and type(shape[0]) is int
        if not (one_dimension and 0 <= shape[0] <= _MAX_LABELS and isinstance(raw, bytes) and len(raw) == 4 * shape[0]):
            raise self._bad(f"a vector of at most {_MAX_LABELS} numbers of 4 bytes", "another shape or length")
        if not (_same((version, fortran), (1, False)) and isinstance(kind, _Int32) and kind.little):
            raise self._bad("little-endian int32, version 1", "another type")
        return struct.unpack(f"<{shape[0]}i", raw)


_ACTIONS: dict[bytes, Callable[[_Machine], None]] = {
    b"(": _Machine._mark,
    b"l": _Machine._list,
    b"t": _Machine._tuple,
    b"N": _Machine._none,
    b"S": _Machine._string,
    b"I": _Machine._integer,
    b"L": _Machine._long,
    b"a": _Machine._append,
    b"p": _Machine._put,
    b"g": _Machine._get,
    b"c": _Machine._global,
    b"R": _Machine._reduce,
    b"b": _Machine._build,
}


def _same(found: Any, expected: Any) -> bool:
    """Compare with types: True is not 1 here."""
    if isinstance(expected, tuple):
        pairs = isinstance(found, tuple) and len(found) == len(expected)
        return pairs and all(_same(one, other) for one, other in zip(found, expected, strict=True))
    return type(found) is type(expected) and found == expected


def _unescaped(escape: re.Match[bytes]) -> bytes:
    return _PLAIN.get(escape[0]) or bytes([int(escape[0][2:], 16)])
