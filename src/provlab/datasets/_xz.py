"""One stream of xz from anywhere, expanded as it is asked for: no memory for what its headers claim."""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import IO

_MEMORY = 1 << 27
"""Bytes that the decoder may take: the largest preset needs 65 MiB, a header can ask for 4 GiB."""

_BLOCK = 1 << 16


class XzStream:
    """Expands a file and hands out its bytes.

    Parameters
    ----------
    path : Path
        For messages.
    file : binary file
        Read in blocks.
    max_expanded : int
        Bytes that it may expand to.
    what : str
        What the file should be, for messages.
    """

    def __init__(self, path: Path, file: IO[bytes], *, max_expanded: int, what: str) -> None:
        self.taken = 0
        self._path, self._file, self._limit, self._what = path, file, max_expanded, what
        self._decoder = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MEMORY)
        self._block, self._at = b"", 0

    def take(self, count: int) -> bytes:
        """Return the next bytes, fewer than `count` at the end only.

        Raises
        ------
        ValueError
            For a damaged file, or one that expands beyond the limit.
        """
        end = self._at + count
        if end > len(self._block):
            self._fill(count)
            end = count
        out = self._block[self._at : end]
        self._at += len(out)
        self.taken += len(out)
        return out

    def _fill(self, count: int) -> None:
        """Have `count` bytes in the block where there are so many, and what is left of the last block first."""
        parts = [self._block[self._at :]]
        have = len(parts[0])
        while have < count and (block := self._expand(max(count - have, _BLOCK))):
            parts.append(block)
            have += len(block)
        if self.taken + have > self._limit:
            raise ValueError(
                f"{self._path}: expands to more than {self._limit} bytes; expected {self._what}. Delete it"
            )
        self._block, self._at = b"".join(parts), 0

    def _expand(self, most: int) -> bytes:
        """Return some more bytes, none at the end of the stream."""
        try:
            while not self._decoder.eof:
                packed = self._file.read(_BLOCK) if self._decoder.needs_input else b""
                if self._decoder.needs_input and not packed:
                    raise EOFError("it ends before its end-of-stream marker")
                if block := self._decoder.decompress(packed, most):
                    return block
            if self._decoder.unused_data or self._file.read(1):
                raise EOFError("bytes follow the end of its stream")
        except (lzma.LZMAError, EOFError) as error:
            raise ValueError(
                f"{self._path}: cannot be decompressed ({error}); expected a complete .xz file. "
                "Replace it by an intact copy"
            ) from error
        return b""


def read_xz(path: Path, limit: int, what: str) -> bytes:
    """Return what a file holds that expands to at most `limit` bytes.

    Raises
    ------
    ValueError
        As `XzStream.take`.
    """
    with path.open("rb") as file:
        stream = XzStream(path, file, max_expanded=limit, what=what)
        return b"".join(iter(lambda: stream.take(_BLOCK), b""))
