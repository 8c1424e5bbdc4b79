"""A folder of Parquet files with one row a trial: append-only, atomic, readable while it is written."""

from __future__ import annotations

import hashlib
import logging
import os
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from provsel._files import replacing
from provsel.store.schema import SCHEMA, VERSION

log = logging.getLogger(__name__)

LOOSE_FILES = 512
"""`compact` merges when there are more small files than this."""

GROUP = 8192
"""Rows of a row group of a merged file, which is sorted by cell: a query of some cells reads a few groups only."""


class TrialReader(Protocol):
    """What reads trials: the store, or a snapshot of it."""

    def query(self, cells: Iterable[str] | None = None, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the records of some cells, each trial once, those of a cell sorted by key."""


class TrialStore:
    """Trial records under one folder.

    A file appears by an atomic rename of a complete, synced temporary file, so that a reader, a second writer, or a
    run after a crash only ever sees whole files. Its name follows from the keys in it: writing the same trials twice
    changes nothing. Where a key is found twice (a merge was cut short), one row is taken.

    Parameters
    ----------
    folder : path
        Created at the first write.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)

    def keys(self) -> set[str]:
        """Return the keys of all stored trials."""
        return {key for table in self._tables(["key"]) for key in table["key"].to_pylist()}

    def append(self, records: Sequence[dict[str, Any]]) -> None:
        """Write records as one new file.

        Raises
        ------
        OSError
            When the disk is full or the folder cannot be written; no partial file is left.
        """
        if records:
            table = pa.Table.from_pylist(list(records), schema=SCHEMA)
            self._write(table.sort_by("key"), prefix="")

    def query(self, cells: Iterable[str] | None = None, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the records of some cells, sorted by key, each trial once.

        Parameters
        ----------
        cells : iterable of str, optional
            Cell ids; None takes all.
        columns : sequence of str, optional
            None takes all.
        """
        wanted = list(SCHEMA.names if columns is None else columns)
        read = list(dict.fromkeys(["key", "cell", *wanted]))
        chosen = None if cells is None else sorted(cells)
        tables = self._tables(read, cells=chosen)
        if chosen is not None:
            tables = [table.filter(pc.is_in(table["cell"], pa.array(chosen, pa.string()))) for table in tables]
        schema = pa.schema([SCHEMA.field(name) for name in read])
        merged = pa.concat_tables([schema.empty_table(), *tables]).sort_by("key").combine_chunks()
        key = merged["key"]
        if len(merged) > 1:
            first = pa.concat_arrays(
                [pa.array([True]), pc.not_equal(key.slice(1), key.slice(0, len(merged) - 1)).combine_chunks()]
            )
            merged = merged.filter(first)
        return merged.select(wanted)

    def encoded(self, columns: Sequence[str]) -> pa.Table:
        """Return columns of all files as they come, a trial perhaps twice, each string stored once."""
        schema = encoded_schema(columns)
        tables = self._tables(columns, encode=True)
        return pa.concat_tables([schema.empty_table(), *tables]).unify_dictionaries().combine_chunks()

    def compact(self, *, minimum: int = LOOSE_FILES) -> int:
        """Merge the small files into a large one when there are more than `minimum`; return how many."""
        loose = [path for path in self._files() if not path.name.startswith("merged-")]
        if len(loose) <= minimum:
            return 0
        tables = [self._read(path, SCHEMA.names) for path in loose]
        table = pa.concat_tables([table for table in tables if table is not None])
        self._write(table.sort_by([("cell", "ascending"), ("key", "ascending")]), prefix="merged-")
        # the merged file is in place before the first small one goes: a crash in between only leaves repeats
        for path in loose:
            path.unlink(missing_ok=True)
        return len(loose)

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("*.parquet"))

    def _tables(
        self, columns: Sequence[str], *, cells: Sequence[str] | None = None, encode: bool = False
    ) -> list[pa.Table]:
        before = self._files()
        tables = [self._read(path, columns, cells=cells, encode=encode) for path in before]
        if any(table is None for table in tables):
            # a file went away while we read: another process merged it, so look again
            tables = [self._read(path, columns, cells=cells, encode=encode) for path in self._files()]
        return [table for table in tables if table is not None]

    def _read(
        self, path: Path, columns: Sequence[str], *, cells: Sequence[str] | None = None, encode: bool = False
    ) -> pa.Table | None:
        schema = encoded_schema(columns) if encode else pa.schema([SCHEMA.field(name) for name in columns])
        strings = [field.name for field in schema if pa.types.is_dictionary(field.type)]
        try:
            with pq.ParquetFile(path, page_checksum_verification=True) as file:
                stored = file.schema_arrow
                stated = (stored.metadata or {}).get(b"provsel_schema", b"0")
                if "key" not in stored.names or not stated.isdigit():
                    raise pa.ArrowInvalid(f"a footer without the column key or with schema version {stated!r}")
                version = int(stated)
                if version > VERSION:
                    raise ValueError(
                        f"store file {path}: expected schema version up to {VERSION}, got {version}; "
                        f"it was written by a newer provsel: upgrade, or use another results folder."
                    )
                present = [name for name in columns if name in stored.names]
                groups = range(file.num_row_groups) if cells is None else _groups_with(file, cells)
                if cells is not None and "features" in present:
                    groups = _groups_that_hold(file, groups, cells)
                encoded = [name for name in strings if name in present]  # an older file may lack some
                options = {"metadata": file.metadata, "read_dictionary": encoded, "page_checksum_verification": True}
                with pq.ParquetFile(path, **options) if encoded else nullcontext(file) as opened:
                    table = opened.read_row_groups(list(groups), present)
        except FileNotFoundError:
            return None
        except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
            self._quarantine(path, error)
            return schema.empty_table()
        for field in schema:
            if field.name not in table.column_names:
                table = table.append_column(field, pa.nulls(len(table), field.type))
        return table.select(list(columns)).cast(schema)

    def _quarantine(self, path: Path, error: Exception) -> None:
        """Set a damaged file aside: its trials count as not run, and nothing is lost."""
        aside = path.with_suffix(".damaged")
        os.replace(path, aside)
        log.warning(
            "store file %s: expected a whole Parquet file, got %s; moved to %s, its trials will be run again.",
            path, error, aside.name,
        )  # fmt: skip

    def _write(self, table: pa.Table, *, prefix: str) -> None:
        name = hashlib.sha256("".join(table["key"].to_pylist()).encode()).hexdigest()[:32]
        with replacing(self.folder / f"{prefix}{name}.parquet") as temporary:
            pq.write_table(table, temporary, compression="zstd", write_page_checksum=True, row_group_size=GROUP)


def encoded_schema(columns: Sequence[str]) -> pa.Schema:
    """Return the schema of some columns with dictionary-encoded strings, except for keys, which never repeat."""
    fields = [SCHEMA.field(name) for name in columns]
    return pa.schema(
        [
            field.with_type(pa.dictionary(pa.int32(), pa.string()))
            if pa.types.is_string(field.type) and field.name != "key"
            else field
            for field in fields
        ]
    )


def _groups_with(file: pq.ParquetFile, cells: Sequence[str]) -> list[int]:
    """Return the row groups that can hold one of the sorted cells, by the range that the footer states for each."""
    place = file.schema_arrow.names.index("cell") if "cell" in file.schema_arrow.names else -1
    groups = []
    for k in range(file.num_row_groups):
        found = file.metadata.row_group(k).column(place).statistics if place >= 0 else None
        if found is None or not found.has_min_max or _any_between(cells, found.min, found.max):
            groups.append(k)
    return groups


def _groups_that_hold(file: pq.ParquetFile, groups: Iterable[int], cells: Sequence[str]) -> list[int]:
    """Return those of the row groups that do hold one of the cells: lists of features take long to decode."""
    chosen = pa.array(cells, pa.string())
    return [k for k in groups if pc.any(pc.is_in(file.read_row_group(k, ["cell"])["cell"], chosen)).as_py()]


def _any_between(ordered: Sequence[str], low: str, high: str) -> bool:
    place = bisect_left(ordered, low)
    return place < len(ordered) and ordered[place] <= high
