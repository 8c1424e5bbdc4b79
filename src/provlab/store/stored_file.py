"""One Parquet file of a store: opened once, and compared with its checksums before anything of it is believed."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from provlab.store.schema import SCHEMA, VERSION
from provlab.store.seal import DamagedFileError, check_chunks, read_seal

DAMAGE = (DamagedFileError, pa.ArrowException, UnicodeDecodeError)
"""What reading a file raises whose bytes are not those that were written."""

SMALL = 1 << 18
"""Bytes. A file up to this size is read at once: it is opened, and may be far away, once."""


class StoredFile:
    """A file of the store whose footer is as it was written; see `stored_file`.

    Attributes
    ----------
    parquet : ParquetFile
    names : list of str
        Its columns.
    is_sealed : bool
        Whether it has checksums of all its bytes; an older one has those of its pages only.
    """

    def __init__(self, source: Any) -> None:
        self._source, self._sums = source, read_seal(source)
        self.is_sealed = self._sums is not None
        self.parquet = pq.ParquetFile(source, page_checksum_verification=True)
        schema = self.parquet.schema_arrow
        self.names = list(schema.names)
        stated = (schema.metadata or {}).get(b"provsel_schema", b"0")
        if self.names.count("key") != 1 or len({*self.names}) < len(self.names) or not stated.isdigit():
            raise DamagedFileError(f"a footer without the column key, with one twice, or schema version {stated!r}")
        self.version = int(stated)

    def own_columns(self) -> dict[str, pa.DataType]:
        """Return the types of the columns that `SCHEMA` does not have, null for one without any value."""
        found = {}
        for field in self.parquet.schema_arrow:
            kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
            kind = pa.string() if pa.types.is_large_string(kind) else kind
            if field.name not in SCHEMA.names:
                found[field.name] = kind if self._has_values(field.name) else pa.null()
        return found

    def _has_values(self, column: str) -> bool:
        """Tell by the footer whether a column has a value other than null."""
        place, metadata = place_of(self.parquet, column), self.parquet.metadata
        groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)] if place >= 0 else []
        found = [(group.column(place).statistics, group.num_rows) for group in groups]
        return place < 0 or not all(s is not None and s.has_null_count and s.null_count == n for s, n in found)

    def check(self) -> None:
        """Compare all columns with the checksums that the file has.

        Raises
        ------
        DamagedFileError, pyarrow.ArrowException, OSError without errno
            When one differs.
        """
        groups = range(self.parquet.num_row_groups)
        if self._sums is None:
            self.parquet.read_row_groups(groups)
        else:
            check_chunks(self._source, self.parquet.metadata, self._sums, groups, self.names)

    def table(self, schema: pa.Schema, cells: Sequence[str] | None = None) -> pa.Table:
        """Return those columns of a schema that the file has: of all row groups, or of those that may hold the cells.

        Parameters
        ----------
        schema : Schema
        cells : sequence of str, optional
            Sorted.
        """
        present = [name for name in schema.names if name in self.names]  # an older file may lack some
        groups: Iterable[int] = range(self.parquet.num_row_groups)
        if cells is not None:
            groups = groups_with(self.parquet, cells)
            if "features" in present and "cell" in self.names:
                groups = self.groups_that_hold(groups, cells)
        return self.read(groups, present, strings=[n for n in present if pa.types.is_dictionary(schema.field(n).type)])

    def read(self, groups: Iterable[int], columns: Sequence[str], *, strings: Sequence[str] = ()) -> pa.Table:
        """Return columns of row groups; `strings` are those that come dictionary-encoded."""
        chosen = list(groups)
        if self._sums is not None:
            check_chunks(self._source, self.parquet.metadata, self._sums, chosen, columns)
        if not strings:
            return self.parquet.read_row_groups(chosen, list(columns))
        options = {"metadata": self.parquet.metadata, "page_checksum_verification": True}
        with pq.ParquetFile(self._source, read_dictionary=list(strings), **options) as opened:
            return opened.read_row_groups(chosen, list(columns))

    def groups_that_hold(self, groups: Iterable[int], cells: Sequence[str]) -> list[int]:
        """Return those of the row groups that do hold one of the cells: lists of features take long to decode."""
        chosen = pa.array(cells, pa.string())
        return [k for k in groups if pc.any(pc.is_in(self.read([k], ["cell"])["cell"], chosen)).as_py()]


def groups_with(file: pq.ParquetFile, cells: Sequence[str]) -> list[int]:
    """Return the row groups that can hold one of the sorted cells, by the range that the footer states for each."""
    place = place_of(file, "cell")
    groups = []
    for k in range(file.num_row_groups):
        found = file.metadata.row_group(k).column(place).statistics if place >= 0 else None
        if (
            found is None
            or not found.has_min_max
            or not isinstance(found.min, str)
            or _any_between(cells, found.min, found.max)
        ):
            groups.append(k)
    return groups


def place_of(file: pq.ParquetFile, column: str) -> int:
    """Return the place of a column's values, -1 where there are none of its own: a nested column has several."""
    return next((k for k in range(len(file.schema)) if file.schema.column(k).path == column), -1)


def _any_between(ordered: Sequence[str], low: str, high: str) -> bool:
    place = bisect_left(ordered, low)
    return place < len(ordered) and ordered[place] <= high


@contextmanager
def stored_file(path: Path) -> Iterator[StoredFile]:
    """Open a file of the store.

    Raises
    ------
    DamagedFileError, pyarrow.ArrowException, OSError without errno
        When it is not whole.
    OSError with errno
        When it cannot be read: this says nothing about its content.
    ValueError
        When a newer provsel wrote it.
    """
    small = path.stat().st_size <= SMALL
    with pa.BufferReader(path.read_bytes()) if small else pa.OSFile(str(path), "rb") as source:
        file = StoredFile(source)
        if file.version > VERSION:
            raise NewerFileError(path, file.version)
        yield file


class NewerFileError(ValueError):
    """A file that a newer provsel wrote."""

    def __init__(self, path: Path, version: int) -> None:
        self.version = version
        super().__init__(
            f"store file {path}: expected schema version up to {VERSION}, got {version}; "
            f"it was written by a newer provsel: upgrade, or use another results folder."
        )
