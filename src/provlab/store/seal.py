"""Checksums of all bytes of a Parquet file, kept in the file.

Parquet has checksums of pages, but none of page headers and of the footer: a flipped bit there can rename a column, so
that it reads as empty, or change a type or a number of rows, and nothing notices. The seal stands between the last page
and the footer, where Parquet's readers never look, as they go by the footer's offsets::

    pages | CRC-32 of each column chunk | their number | CRC-32 of all but pages | mark | footer, its length, PAR1
    -       4 bytes each, by row group    4 bytes        4 bytes                   8      -

So any reader of Parquet reads a sealed file; one that writes it anew leaves out the seal, and the file is as any other.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

MARK = b"provsel1"
END = b"PAR1"

_U4 = np.dtype("<u4")
_HEAD = 8 + len(MARK)
"""Bytes from the number of sums up to the footer."""

_LENGTH = 8
"""Bytes of the footer's length and of `END`."""


class DamagedFileError(Exception):
    """A file of the store whose bytes are not those that were written."""


def seal(path: Path) -> None:
    """Add checksums to a complete Parquet file that nobody else reads yet."""
    metadata = pq.read_metadata(path)
    with path.open("r+b") as file:
        footer = _footer(file.seek(0, 2), lambda start, length: _at(file, start, length))
        tail = _at(file, footer, file.seek(0, 2) - footer)
        ranges = [_range(metadata, group, place) for group, place in _chunks(metadata)]
        sums = np.array([zlib.crc32(_at(file, *each)) for each in ranges], _U4)
        counted = sums.tobytes() + len(sums).to_bytes(4, "little")
        file.seek(footer)
        file.write(counted + _sum_of(counted, tail) + MARK + tail)


def read_seal(source: Any) -> NDArray[np.uint32] | None:
    """Return the checksums of the column chunks when the footer and they are as they were written.

    Parameters
    ----------
    source : pyarrow.NativeFile

    Returns
    -------
    array of uint32, shape (n_groups * n_columns,)
        By row group; None for a file without a seal, such as one of an older provsel.

    Raises
    ------
    DamagedFileError
        When the file has no end, or other bytes than those that were sealed.
    """

    def at(start: int, length: int) -> bytes:
        return bytes(source.read_at(length, start))

    size = source.size()
    footer = _footer(size, at)
    head = at(max(0, footer - _HEAD), _HEAD)
    if footer < _HEAD or not head.endswith(MARK):
        return None
    n = int.from_bytes(head[:4], "little")
    start = footer - _HEAD - 4 * n
    if start < 0:
        raise DamagedFileError(f"a seal of {n} column chunks, for which the file is too short")
    counted, tail = at(start, 4 * n + 4), at(footer, size - footer)
    if _sum_of(counted, tail) != head[4:8]:
        raise DamagedFileError("a footer with another checksum than when it was written")
    return np.frombuffer(counted, _U4, count=n)


def check_chunks(
    source: Any, metadata: Any, sums: NDArray[np.uint32], groups: Iterable[int], columns: Sequence[str]
) -> None:
    """Compare the bytes of some columns in some row groups with their checksums.

    Raises
    ------
    DamagedFileError
        Names the first column that differs.
    """
    names = metadata.schema.to_arrow_schema().names
    if len(names) != metadata.num_columns or sums.size != metadata.num_columns * metadata.num_row_groups:
        raise DamagedFileError(f"a seal of {sums.size} column chunks for another number of them")
    places = [(name, names.index(name)) for name in columns]
    for group in groups:
        for name, place in places:
            start, length = _range(metadata, group, place)
            if zlib.crc32(source.read_at(length, start)) != sums[group * metadata.num_columns + place]:
                raise DamagedFileError(f"column {name} with another checksum than when it was written")


def _footer(size: int, at: Any) -> int:
    """Return where the footer begins."""
    end = at(max(0, size - _LENGTH), _LENGTH)
    start = size - _LENGTH - int.from_bytes(end[:4], "little")
    if not end.endswith(END) or start < len(END):
        raise DamagedFileError(f"a file of {size} bytes that does not end as one")
    return start


def _chunks(metadata: Any) -> Iterator[tuple[int, int]]:
    return ((group, place) for group in range(metadata.num_row_groups) for place in range(metadata.num_columns))


def _range(metadata: Any, group: int, place: int) -> tuple[int, int]:
    """Return first byte and number of bytes of a column chunk, headers of its pages included."""
    chunk = metadata.row_group(group).column(place)
    first = chunk.dictionary_page_offset if chunk.has_dictionary_page else chunk.data_page_offset
    return first, chunk.total_compressed_size


def _at(file: Any, start: int, length: int) -> bytes:
    file.seek(start)
    return bytes(file.read(length))


def _sum_of(counted: bytes, tail: bytes) -> bytes:
    return zlib.crc32(tail, zlib.crc32(counted)).to_bytes(4, "little")
