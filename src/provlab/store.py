"""Trial records on disk: a folder of Parquet files with one row a trial, which is read while others write it.

A file is named by the SHA-256 of its bytes, as `sha256sum` prints it. It appears by an atomic rename of a complete,
synced temporary file, so that a reader, a second writer, or a run after a crash only ever sees whole files. Each file
is compared with its name before anything of it is believed. One that is damaged is set aside, and its trials count as
not run. Files of earlier versions have other names, and checksums of their own; they are read as well.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import re
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from io import BufferedReader
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from provlab.protocols import COLUMNS
from provsel.files import probe, remove_abandoned, replacing

log = logging.getLogger(__name__)

VERSION = 1
"""Raised when a column changes its meaning; a new column is filled with nulls in older files."""

TYPES = {
    "text": pa.string(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "number": pa.float64(),
    "seconds": pa.float64(),
    "volatile bytes": pa.int64(),
    "features": pa.list_(pa.int32()),
}

TIMING = tuple(column.name for column in COLUMNS if column.kind == "seconds")
"""Seconds. What trials share counts in each of them, except in `task_cpu`."""

VOLATILE = tuple(column.name for column in COLUMNS if column.kind in ("seconds", "volatile bytes"))
"""The only columns that differ between two runs of the same trial on the same machine."""

SCHEMA = pa.schema([(column.name, TYPES[column.kind]) for column in COLUMNS], metadata={"provsel_schema": str(VERSION)})
"""The union of what trials, protocols and theorems declare: primitives and lists only, so that no code is read."""

NUMBERS = ("repeat", "fold", "draw")
"""Which trial of its cell a record is of."""

LOOSE_FILES = 512
"""`compact` merges when there are more small files than this."""

GROUP = 8192
"""Rows of a row group of a merged file, which is sorted by cell: a query of some cells reads a few groups only."""

MERGED = 2**28
"""Bytes of records in memory, of which one merged file is made: a run of a million trials is some gigabytes."""

LISTINGS = 100
"""Listings of a folder whose files go away while they are read, before that is an error."""

STEPS = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), "make room"),
    **dict.fromkeys((errno.EROFS, errno.EACCES, errno.EPERM), "make it writable, or name another results folder"),
    **dict.fromkeys((errno.EEXIST, errno.ENOTDIR), "name another folder"),
}
"""What helps against an error of the system, by its number."""

_DIGEST = re.compile(r"(?:.*-)?([0-9a-f]{64})")
"""Stem of a file that is named by its bytes."""

OwnColumns = dict[str, tuple[pa.DataType, Path]]
"""Columns that `SCHEMA` does not have: the type of each, null where no record has a value, and a file that has it."""


class DamagedFileError(Exception):
    """A file of the store whose bytes are not those that were written."""


class NewerFileError(ValueError):
    """A file that a newer provsel wrote."""


class TrialReader(Protocol):
    """What reads trials: the store, or a snapshot of it."""

    def query(self, cells: Iterable[str] | None = None, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the records of some cells, each trial once, those of a cell sorted by key."""


class _Whole(NamedTuple):
    """A file that was compared with its checksum: which file it was then, and the types of its own columns."""

    state: tuple[int, int, int]
    own: dict[str, pa.DataType]


class TrialStore:
    """Trial records under one folder.

    Where a trial is found twice, as two runs computed it at once or a merge was cut short, one row is taken.

    Parameters
    ----------
    folder : path
        Created at the first write.
    read_only : bool, default=False
        Leave damaged files where they are, as in the folder of somebody else.

    Attributes
    ----------
    passed_over : dict of str
        Names of damaged files that were left where they are, and what is wrong with each.
    """

    def __init__(self, folder: Path | str, *, read_only: bool = False) -> None:
        self.folder, self.read_only = Path(folder), read_only
        self.passed_over: dict[str, str] = {}
        self._whole: dict[Path, _Whole] = {}

    def keys(self) -> set[str]:
        """Return the keys of all trials that are stored whole."""
        return {key for table in self._tables(["key"]) for key in table["key"].to_pylist()}

    def query(self, cells: Iterable[str] | None = None, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the records of some cells, sorted by key, each trial once.

        Parameters
        ----------
        cells : iterable of str, optional
            Cell ids; None takes all.
        columns : sequence of str, optional
            None takes all. One that nobody has written is a number that is not there.
        """
        wanted = list(self.columns() if columns is None else columns)
        read = list(dict.fromkeys(["key", "cell", *wanted]))
        chosen = None if cells is None else sorted(cells)
        tables = self._tables(read, chosen)
        if chosen is not None:
            tables = [table.filter(pc.is_in(table["cell"], pa.array(chosen, pa.string()))) for table in tables]
        found = pa.concat_tables([self._schema(read).empty_table(), *tables])
        order = pc.sort_indices(found["key"])
        keys = found["key"].take(order).combine_chunks()
        if len(keys) > 1:  # rows are copied once, in their order and without repetitions
            first = pc.not_equal(keys.slice(1), keys.slice(0, len(keys) - 1))
            order = order.filter(pa.concat_arrays([pa.array([True]), first]))
        return found.select(wanted).take(order)

    def encoded(
        self, columns: Sequence[str], cells: Sequence[str] | None = None, *, complete: bool = False
    ) -> pa.Table:
        """Return columns of all files as they come, a trial perhaps twice, each string stored once.

        Parameters
        ----------
        columns : sequence of str
            `cell` among them, where some cells are asked for.
        cells : sequence of str, optional
            Sorted cell ids; None takes all.
        complete : bool, default=False
            Pass over files that lack one of the columns, rather than have nulls there.
        """
        tables = self._tables(columns, cells, encoded=True, complete=complete)
        if cells is not None:
            tables = [table.filter(pc.is_in(table["cell"], pa.array(cells, pa.string()))) for table in tables]
        empty = _encoded(self._schema(columns)).empty_table()
        return pa.concat_tables([empty, *tables]).unify_dictionaries().combine_chunks()

    def columns(self) -> list[str]:
        """Return the names of all columns: those of `SCHEMA`, and what own measures and other versions have written."""
        return [*SCHEMA.names, *sorted(self.own_columns())]

    def own_columns(self) -> OwnColumns:
        """Return the columns that `SCHEMA` does not have.

        Raises
        ------
        ValueError
            When two files have a column with two types, or no measure can have it.
        """
        self._tables([])
        found: OwnColumns = {}
        for path in self._files():
            if path in self._whole:
                for name, kind in self._whole[path].own.items():
                    agree(found, name, kind, path)
        return found

    def append(self, records: Sequence[dict[str, Any]]) -> None:
        """Write records as one new file; see `write`."""
        self.write(pa.Table.from_pylist(list(records), schema=record_schema(records)).sort_by("key"), prefix="")

    def add(self, trials: pa.Table) -> None:
        """Write many records, such as those of another store, sorted by cell; see `write`."""
        self.write(trials.sort_by([("cell", "ascending"), ("key", "ascending")]))

    def write(self, trials: pa.Table, *, prefix: str = "merged-", **options: Any) -> None:
        """Write trials as one new file, as they come; nothing where there are none.

        Parameters
        ----------
        trials : Table
        prefix : str
            Of the file's name. One that begins with "merged-" needs no merge with small ones.
        **options
            Of Parquet's writer.

        Raises
        ------
        OSError
            When the disk is full or the folder cannot be written; no partial file is left.
        """
        if not len(trials):
            return
        sink = pa.BufferOutputStream()
        pq.write_table(trials, sink, **{"compression": "zstd", "row_group_size": GROUP, **options})
        content = memoryview(sink.getvalue())
        path = self.folder / f"{prefix}{hashlib.sha256(content).hexdigest()}.parquet"
        for again in (True, False):
            try:
                with replacing(path) as temporary:
                    temporary.write_bytes(content)
                return
            except FileNotFoundError as error:
                # another run's clean-up took this writer for dead, as its clock may well say
                if not again:
                    raise self._refused(error, "files that stay while they are written") from error
            except OSError as error:
                raise self._refused(error, f"room for {len(trials)} records") from error

    def prepare(self) -> None:
        """Find out now, rather than after hours, whether records can be written, and clean up after killed writers.

        Raises
        ------
        OSError
            When the folder cannot be written, or is full.
        """
        try:
            remove_abandoned(self.folder, probe(self.folder))
        except OSError as error:
            raise self._refused(error, "a folder that can be written") from error

    def compact(self, *, minimum: int = LOOSE_FILES, at_once: int = MERGED) -> int:
        """Merge the small files into large ones when there are more than `minimum`; return how many.

        A large file is on the disk before the first small one goes. In memory are `at_once` bytes of records.

        Raises
        ------
        OSError
            When the disk is full or the folder cannot be written; what is not merged then is as it was.
        """
        loose = [path for path in self._files() if not path.name.startswith("merged-")]
        if len(loose) <= minimum:
            return 0
        columns = self.columns()  # those that only others know are kept
        types = self._schema(columns)
        n_merged, tables, size = 0, dict[Path, pa.Table](), 0
        loose.sort(key=_written)  # those of one cell come together
        for path in loose:
            table = self._read(path, types)
            if table is not None and len(table):  # another process may have merged it
                tables[path] = table
                size += table.nbytes
            if tables and (size >= at_once or path is loose[-1]):
                self.add(pa.concat_tables(tables.values()))
                for merged in tables:
                    merged.unlink(missing_ok=True)
                n_merged, tables, size = n_merged + len(tables), {}, 0
        return n_merged

    def damaged_files(self) -> list[str]:
        """Return the names of the files that were set aside and not deleted since."""
        return sorted(path.name for path in self.folder.glob("*.damaged"))

    def damaged_note(self) -> str:
        """Return in one line how many files were set aside, and what that means; empty when there are none."""
        names = self.damaged_files()
        if not names:
            return ""
        shown = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
        files = "1 damaged file was" if len(names) == 1 else f"{len(names)} damaged files were"
        return (
            f"store {self.folder}: {files} set aside ({shown}); their trials count as not run until they are "
            f"computed again: delete the files then."
        )

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("*.parquet"))

    def _schema(self, columns: Sequence[str]) -> pa.Schema:
        """Return the types of some columns; one that nobody has written is a number."""
        others = {} if {*columns} <= {*SCHEMA.names} else self.own_columns()
        known = {name: kind for name, (kind, _) in others.items() if kind != pa.null()}
        return pa.schema(
            [
                SCHEMA.field(name) if name in SCHEMA.names else pa.field(name, known.get(name, pa.float64()))
                for name in columns
            ],
            metadata=SCHEMA.metadata,
        )

    def _tables(
        self,
        columns: Sequence[str],
        cells: Sequence[str] | None = None,
        *,
        encoded: bool = False,
        complete: bool = False,
    ) -> list[pa.Table]:
        """Read columns of all files, while others may be added, merged and removed.

        A listing made during a merge may lack the large file and the small ones that are in it already. Whatever the
        first of two listings lacks for that reason, the second one has.
        """
        types = self._schema(columns)
        types = _encoded(types) if encoded else types
        tables: dict[Path, pa.Table] = {}
        n_whole = 0
        for _ in range(LISTINGS):
            gone = False
            for path in self._files():
                if path not in tables:
                    table = self._read(path, types, cells, complete=complete)
                    gone = gone or table is None
                    if table is not None:
                        tables[path] = table
            n_whole = 0 if gone else n_whole + 1
            if n_whole == 2:
                return [tables[path] for path in sorted(tables)]
        raise OSError(
            f"store {self.folder}: expected files that stay while they are read, got some that went away {LISTINGS} "
            f"times; wait for what merges or removes them."
        )

    def _read(
        self, path: Path, types: pa.Schema, cells: Sequence[str] | None = None, *, complete: bool = False
    ) -> pa.Table | None:
        """Return columns of a file, of the row groups that may hold some sorted cells.

        Nothing of a damaged file; None when it is not there any more.
        """
        state: tuple[int, int, int] | None = None
        try:
            with path.open("rb") as file:
                state = _state(os.fstat(file.fileno()))
                known = self._whole.get(path)
                is_known = known is not None and known.state == state
                if is_known and not len(types):
                    return types.empty_table()
                strings = [field.name for field in types if pa.types.is_dictionary(field.type)]
                parquet = _opened(path, file, is_known=is_known, strings=strings)
                if not is_known:
                    self._whole[path] = _Whole(state, _own_columns(parquet))
                present = [name for name in parquet.schema_arrow.names if name in types.names]
                groups = [] if complete and len(present) < len(types) else _groups(parquet, cells)
                table = parquet.read_row_groups(groups, present)
        except NewerFileError:
            raise
        except FileNotFoundError:
            return None
        except (DamagedFileError, pa.ArrowException, ValueError, MemoryError, OSError) as error:
            self._whole.pop(path, None)
            if (number := getattr(error, "errno", None)) == errno.ESTALE:
                return None  # as a server says that it is not there any more
            if number:  # Arrow's errors about content have none
                raise OSError(
                    number,
                    f"store file {path}: expected to read it, got {os.strerror(number)!r}; it stays where it is: mend "
                    f"that, or move it out of the store, then run the same command again.",
                ) from error
            if isinstance(error, MemoryError) and _DIGEST.fullmatch(path.stem):
                raise  # the sizes in a damaged footer ask for any amount of memory; this one's are right
            return types.empty_table() if state is None or self._set_aside(path, state, error) else None
        return _cast(path, table, types)

    def _set_aside(self, path: Path, state: tuple[int, int, int], error: Exception) -> bool:
        """Rename a damaged file, so that nobody reads it and nothing is lost; False when it is another one by now.

        It takes a name that no file has. Where the folder is read-only it stays, and is passed over by every reader.
        """
        numbers = (f".{number}" if number > 1 else "" for number in count(1))
        aside = next(to for k in numbers if not os.path.lexists(to := path.with_name(f"{path.stem}{k}.damaged")))
        done, step = "left where it is", "its trials will be run again"
        try:
            if _state(path.stat()) != state:
                return False
            if self.read_only:
                step = "its trials are left out"
            else:
                os.replace(path, aside)
                done = f"moved to {aside.name}"
        except FileNotFoundError:
            return False  # another reader was faster
        except OSError as refusal:
            done += f" ({os.strerror(refusal.errno or errno.EIO)})"
        if path.exists():
            self.passed_over[path.name] = str(error)
        log.warning("store file %s: expected a whole Parquet file, got %s; %s, %s.", path, error, done, step)
        return True

    def _refused(self, error: OSError, expected: str) -> OSError:
        """Return the error of a write that the system refused, with what it means for the store and what helps."""
        reason = os.strerror(error.errno) if error.errno else str(error)
        return OSError(
            error.errno or errno.EIO,
            f"store {self.folder}: expected {expected}, got {reason!r}; nothing half-written is left, and what was "
            f"stored is whole: {STEPS.get(error.errno or 0, 'see to it')}, then run the same command again.",
        )


def record_schema(records: Iterable[Mapping[str, Any]]) -> pa.Schema:
    """Return the schema of some records: `SCHEMA`, and after it the columns of the project's own measures."""
    own: dict[str, pa.DataType] = {}
    for record in records:
        for name in record.keys() - {*SCHEMA.names}:
            own[name] = pa.string() if isinstance(record[name], str) else own.get(name, pa.float64())
    return pa.schema([*SCHEMA, *(pa.field(name, own[name]) for name in sorted(own))], metadata=SCHEMA.metadata)


def agree(known: OwnColumns, name: str, kind: pa.DataType, path: Path) -> None:
    """Note the type of a column that `SCHEMA` does not have.

    Raises
    ------
    ValueError
        When no measure can have such a column, or another file has it with another type: names both.
    """
    if not name.isidentifier() or kind not in (*TYPES.values(), pa.null()):
        raise ValueError(
            f"store file {path}: expected own columns to have a name of letters and digits and to be text or numbers, "
            f"got {name!r:.80} as {kind!s:.80}; it was not written by provsel: leave it out, or move it out of the "
            f"store."
        )
    first, where = known.get(name, (pa.null(), path))
    if pa.null() not in (first, kind) and first != kind:
        raise ValueError(
            f"store file {path}: expected the column {name} as {first}, as in {where}, got {kind}; a column has one "
            f"type: rename the measure's field in one of the projects, or leave out one of the files."
        )
    if name not in known or first == pa.null():
        known[name] = kind, path


def _opened(path: Path, file: BufferedReader, *, is_known: bool, strings: Sequence[str] = ()) -> pq.ParquetFile:
    """Open a file that is as it was written; `is_known` says that it was compared with its checksum before."""
    digest = _DIGEST.fullmatch(path.stem)
    if not is_known:
        if digest is None:
            _check_earlier(file)
        elif hashlib.file_digest(file, "sha256").hexdigest() != digest[1]:
            raise DamagedFileError("bytes with another SHA-256 than when it was written")
    file.seek(0)
    metadata = pq.read_metadata(file)
    schema = metadata.schema.to_arrow_schema()
    stated = (schema.metadata or {}).get(b"provsel_schema", b"0")
    if schema.names.count("cell") != 1 or len({*schema.names}) < len(schema.names) or not stated.isdigit():
        raise DamagedFileError(f"a footer without the column cell, with one twice, or schema version {stated!r}")
    encoded = [name for name in strings if name in schema.names]
    if int(stated) > VERSION:
        raise NewerFileError(
            f"store file {path}: expected schema version up to {VERSION}, got {int(stated)}; "
            f"it was written by a newer provsel: upgrade, or use another results folder."
        )
    return pq.ParquetFile(file, metadata=metadata, read_dictionary=encoded)


def _check_earlier(file: BufferedReader) -> None:
    """Compare a file with the checksums that it holds itself, as earlier versions wrote them.

    They stand where Parquet's readers never look: after the pages a CRC-32 of each column chunk, their number, and the
    CRC-32 of these and of the footer, 4 bytes each, then a mark of 8 bytes. A file without that mark, as the first
    version and other programs write it, has checksums of its pages at most.
    """

    def at(start: int, length: int) -> bytes:
        file.seek(max(0, start))
        return file.read(length)

    size = file.seek(0, os.SEEK_END)
    end = at(size - 8, 8)
    footer = size - 8 - int.from_bytes(end[:4], "little")
    if not end.endswith(b"PAR1") or footer < 4:
        raise DamagedFileError(f"a file of {size} bytes that does not end as one")
    head = at(footer - 16, 16)
    if footer < 16 or not head.endswith(b"provsel1"):
        file.seek(0)
        parquet = pq.ParquetFile(file, page_checksum_verification=True)
        for group in range(parquet.num_row_groups):
            parquet.read_row_group(group)
        return
    n = int.from_bytes(head[:4], "little")
    sums, tail = at(footer - 16 - 4 * n, 4 * n + 4), at(footer, size - footer)
    if zlib.crc32(tail, zlib.crc32(sums)) != int.from_bytes(head[4:8], "little"):
        raise DamagedFileError("a footer with another checksum than when it was written")
    file.seek(0)
    groups = pq.read_metadata(file)
    chunks = [
        groups.row_group(group).column(k) for group in range(groups.num_row_groups) for k in range(groups.num_columns)
    ]
    if len(chunks) != n:
        raise DamagedFileError(f"checksums of {n} column chunks, and {len(chunks)} of these")
    for k, chunk in enumerate(chunks):
        start = chunk.dictionary_page_offset if chunk.has_dictionary_page else chunk.data_page_offset
        if zlib.crc32(at(start, chunk.total_compressed_size)) != int.from_bytes(sums[4 * k : 4 * k + 4], "little"):
            raise DamagedFileError(f"column {chunk.path_in_schema} with another checksum than when it was written")


def _groups(parquet: pq.ParquetFile, cells: Sequence[str] | None) -> list[int]:
    """Return the row groups that can hold one of some sorted cells, by the range that the footer states for each."""
    every = list(range(parquet.num_row_groups))
    if cells is None:
        return every
    found = []
    for group in every:
        stated = _statistics(parquet, "cell", group)
        if stated is None or not stated.has_min_max or not isinstance(stated.min, str):
            found.append(group)
        else:
            place = bisect_left(cells, stated.min)
            if place < len(cells) and cells[place] <= stated.max:
                found.append(group)
    return found


def _own_columns(parquet: pq.ParquetFile) -> dict[str, pa.DataType]:
    """Return the types of the columns that `SCHEMA` does not have, null for one without any value."""
    found = {}
    for field in parquet.schema_arrow:
        if field.name not in SCHEMA.names:
            kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
            stated = [_statistics(parquet, field.name, group) for group in range(parquet.num_row_groups)]
            has_values = not all(each is not None and each.has_null_count and not each.num_values for each in stated)
            kind = pa.string() if pa.types.is_large_string(kind) else kind
            found[field.name] = kind if has_values else pa.null()
    return found


def _statistics(parquet: pq.ParquetFile, column: str, group: int) -> Any:
    """Return what the footer says of a column in a row group; None where there is nothing, as of a nested column."""
    place = next((k for k in range(len(parquet.schema)) if parquet.schema.column(k).path == column), None)
    return None if place is None else parquet.metadata.row_group(group).column(place).statistics


def _cast(path: Path, table: pa.Table, types: pa.Schema) -> pa.Table:
    """Return a file's columns with the types of a schema; those that the file lacks are null.

    Raises
    ------
    ValueError
        Names the file, and the columns of other types.
    """
    columns, wrong = [], []
    for field in types:
        found = table[field.name] if field.name in table.column_names else None
        if found is not None and found.type == field.type:
            columns.append(found)
            continue
        if found is None or found.null_count == len(table):  # of whatever type, there is no value to convert
            columns.append(pa.nulls(len(table), field.type))
            continue
        try:
            if _kind(found.type) != _kind(field.type):  # a text that reads as a number would become one
                raise pa.ArrowTypeError("another type")
            columns.append(found.cast(field.type))
        except (pa.ArrowException, UnicodeDecodeError) as error:
            wrong.append(f"{field.name} as {field.type}, got {found.type} ({error})")
    if wrong:
        raise ValueError(
            f"store file {path}: expected the column {'; '.join(wrong)}; it was not written by provsel, or is "
            f"damaged: move it out of the store, its trials will be run again."
        )
    return pa.table(columns, schema=types)


def _kind(found: pa.DataType) -> str:
    """Return what a type holds, however it is stored."""
    if pa.types.is_dictionary(found):
        return _kind(found.value_type)
    if pa.types.is_list(found) or pa.types.is_large_list(found):
        return f"list of {_kind(found.value_type)}"
    if found in (pa.string(), pa.large_string(), pa.binary()):  # bytes become text where they are UTF-8
        return "text"
    return "number" if pa.types.is_integer(found) or pa.types.is_floating(found) else str(found)


def _encoded(schema: pa.Schema) -> pa.Schema:
    """Return a schema with dictionary-encoded strings, except for keys, which never repeat."""
    code = pa.dictionary(pa.int32(), pa.string())
    return pa.schema(
        [field.with_type(code) if field.type == pa.string() and field.name != "key" else field for field in schema]
    )


def _state(found: os.stat_result) -> tuple[int, int, int]:
    """Return what differs between two files of one name."""
    return found.st_ino, found.st_size, found.st_mtime_ns


def _written(path: Path) -> float:
    """Return when a file was written; one that is gone is no matter."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
