"""Trial records on disk: a folder of Parquet files with one row per trial, which allows concurrent writers.

A file is named by the SHA-256 of its bytes, as `sha256sum` prints it. It is created by
an atomic rename of a complete, synced temporary file, so readers, other writers and
runs after a crash see only complete files. Each file is checked against its name before
its content is used. A damaged file is set aside, and its trials count as not run. Files
with other names, from earlier versions or other programs, are read with only Parquet's
own checks.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from provlab.core.protocols import COLUMNS
from provlab.core.records import IDENTITY, check_identities, check_ranges
from provsel.files import probe, remove_abandoned, replacing

log = logging.getLogger(__name__)

VERSION = 1
"""Schema version, increased when a column changes its meaning. New columns are null in older files."""

TYPES = {
    "text": pa.string(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "number": pa.float64(),
    "seconds": pa.float64(),
    "volatile bytes": pa.int64(),
    "features": pa.list_(pa.int32()),
    "counts": pa.list_(pa.int32()),
    "names": pa.list_(pa.string()),
    "weights": pa.list_(pa.float64()),
}

TIMING = tuple(column.name for column in COLUMNS if column.kind == "seconds")
"""Columns of times. Work that trials share counts in each of them, except in `task_cpu`."""

VOLATILE = tuple(
    column.name for column in COLUMNS if column.kind in ("seconds", "volatile bytes")
)
"""Columns that differ between two runs of the same trial on the same machine; all others agree."""

LARGE = ("features", "feature_names", "coefficients")
"""Columns of lists, which take most of the memory and are read from disk only when needed."""

SCHEMA = pa.schema(
    [(column.name, TYPES[column.kind]) for column in COLUMNS],
    metadata={"provsel_schema": str(VERSION)},
)
"""Columns declared by trials, protocols and theorems: only primitives and lists, so that no code is read. Columns of a
project's own measures are added to these. They are strings or numbers, and have Arrow's type null if no trial has a
value.
"""

ENCODED = pa.dictionary(pa.int32(), pa.string())
"""Type of strings that are stored only once each."""

LOOSE_FILES = 512
"""`compact` merges if there are more small files than this."""

GROUP = 8192
"""Rows in a row group of a merged file, which is sorted by cell, so that a query of few cells reads few groups."""

MERGED = 2**28
"""Bytes of records in memory per merged file; a run of a million trials takes some gigabytes."""

LISTINGS = 100
"""Maximum number of listings of a folder whose files disappear while they are read."""

STEPS = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), "make room"),
    **dict.fromkeys(
        (errno.EROFS, errno.EACCES, errno.EPERM),
        "make it writable, or name another results folder",
    ),
    **dict.fromkeys((errno.EEXIST, errno.ENOTDIR), "name another folder"),
}
"""Remedies for system errors, by error number."""

_DIGEST = re.compile(r"(?:.*-)?([0-9a-f]{64})")
"""Pattern of the stem of a file that is named by its bytes."""


class DamagedFileError(Exception):
    """A file of the store whose bytes have changed since it was written."""


class RefusedFileError(ValueError):
    """An intact file that a newer provsel wrote or whose trials do not match their keys."""


class TrialStore:
    """Trial records in a folder.

    If a trial occurs several times, after concurrent runs or an interrupted merge, one
    row is used.

    Parameters
    ----------
    folder : path
        Folder, which is created at the first write.
    read_only : bool, default=False
        Leave damaged files in place, for example in another person's folder.
    check : bool, default=True
        Raise if a file has a trial that does not match its key, or an impossible
        number, see `provlab.core.records`. Audits, which find such trials themselves,
        disable it.

    Attributes
    ----------
    passed_over : dict of str
        Names of damaged files that were left in place, with reasons.
    """

    def __init__(
        self, folder: Path | str, *, read_only: bool = False, check: bool = True
    ) -> None:
        self.folder = Path(folder)
        self.read_only = read_only
        self.check = check
        self.passed_over: dict[str, str] = {}
        self._verified: dict[Path, tuple[int, int, int]] = {}

    def keys(self) -> set[str]:
        """Return the keys of all intact stored trials."""
        return {*self.read(["key"])["key"].to_pylist()}

    def query(
        self, cells: Iterable[str] | None = None, columns: Sequence[str] | None = None
    ) -> pa.Table:
        """Return the distinct records of the given cells, sorted by key.

        Parameters
        ----------
        cells : iterable of str, optional
            Cell ids; None takes all.
        columns : sequence of str, optional
            Columns; None takes all written columns. Columns that were never written
            have no values.
        """
        table = self.read(None if columns is None else ["key", *columns], cells)
        order = pc.sort_indices(table["key"])
        keys = table["key"].take(order).combine_chunks()
        if len(keys) > 1:  # rows are copied once, in order and without repetitions
            first = pc.not_equal(keys.slice(1), keys.slice(0, len(keys) - 1))
            order = order.filter(pa.concat_arrays([pa.array([True]), first]))
        return table.select(table.column_names if columns is None else columns).take(
            order
        )

    def read(
        self,
        columns: Sequence[str] | None = None,
        cells: Iterable[str] | None = None,
        *,
        encoded: bool = False,
    ) -> pa.Table:
        """Return columns of all files, possibly with repeated trials.

        Other processes may add, merge and remove files meanwhile. A listing made during
        a merge may lack both the large file and the small files merged into it. A
        second listing contains all files that the first lacks for this reason.

        Parameters
        ----------
        columns, cells
            As in `query`.
        encoded : bool, default=False
            Store each string only once, except for keys, which never repeat; the
            default columns are then those not in `LARGE`.

        Raises
        ------
        ValueError
            If a file has a column of a wrong type, an impossible number, or a trial
            that does not match its key. The message names the file.
        OSError
            If a file cannot be read for a reason other than damage.
        """
        wanted = None if columns is None else list(dict.fromkeys(columns))
        chosen = None if cells is None else sorted(cells)
        tables: dict[Path, pa.Table] = {}
        n_complete = 0
        for _ in range(LISTINGS):
            is_complete = True
            for path in self._files():
                if path in tables:
                    continue
                table = self._read_file(path, wanted, chosen, encoded=encoded)
                if table is None:
                    is_complete = False
                else:
                    tables[path] = table
            n_complete = n_complete + 1 if is_complete else 0
            if n_complete == 2:
                return _join(tables, wanted, encoded=encoded)
        raise OSError(
            f"store {self.folder}: its files disappeared {LISTINGS} times while they were read; wait until the "
            f"process that merges or removes them has ended."
        )

    def append(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Write records as a new file, see `write`."""
        self.write(records_table(records).sort_by("key"), prefix="")

    def add(self, trials: pa.Table) -> None:
        """Write many records, such as those of another store, sorted by cell, see `write`."""
        self.write(trials.sort_by([("cell", "ascending"), ("key", "ascending")]))

    def write(
        self, trials: pa.Table, *, prefix: str = "merged-", **options: Any
    ) -> None:
        """Write trials as a new file in the given order, if there are any.

        Parameters
        ----------
        trials : Table
        prefix : str
            Prefix of the file name. Files with the prefix "merged-" are not merged
            again.
        **options Options of the Parquet writer.

        Raises
        ------
        OSError
            If the disk is full or the folder cannot be written; no partial file is
            left.
        """
        if not len(trials):
            return
        sink = pa.BufferOutputStream()
        written = trials.drop_columns(
            [field.name for field in trials.schema if field.type == pa.null()]
        )
        pq.write_table(
            written, sink, **{"compression": "zstd", "row_group_size": GROUP, **options}
        )
        content = memoryview(sink.getvalue())
        path = self.folder / f"{prefix}{hashlib.sha256(content).hexdigest()}.parquet"
        try:
            with replacing(path) as temporary:
                temporary.write_bytes(content)
        except OSError as error:
            raise self._write_error(error, f"room for {len(trials)} records") from error

    def prepare(self) -> None:
        """Check before a run whether records can be written, and clean up after killed writers.

        Raises
        ------
        OSError
            If the folder cannot be written, or is full.
        """
        try:
            remove_abandoned(self.folder, probe(self.folder))
        except OSError as error:
            raise self._write_error(error, "a folder that can be written") from error

    def compact(self, *, minimum: int = LOOSE_FILES, at_once: int = MERGED) -> int:
        """Merge small files into large ones if there are more than `minimum`; return their number.

        A large file is on disk before its small files are removed. `at_once` bytes of
        records are in memory at a time.

        Raises
        ------
        OSError
            If the disk is full or the folder cannot be written; unmerged files are
            unchanged.
        """
        loose = [path for path in self._files() if not path.name.startswith("merged-")]
        if len(loose) <= minimum:
            return 0
        n_merged = 0
        tables: dict[Path, pa.Table] = {}
        size = 0
        loose.sort(key=_time_of)  # trials of one cell are adjacent
        for path in loose:
            table = self._read_file(path)
            # another process may have merged the files
            if table is not None and len(table):
                tables[path] = table
                size += table.nbytes
            if tables and (size >= at_once or path is loose[-1]):
                self.add(_join(tables))
                for merged in tables:
                    merged.unlink(missing_ok=True)
                n_merged += len(tables)
                tables = {}
                size = 0
        return n_merged

    def damaged_note(self) -> str:
        """Return a line on the files that were set aside and the consequence; "" if there are none."""
        names = sorted(path.name for path in self.folder.glob("*.damaged"))
        if not names:
            return ""
        shown = ", ".join(names[:3])
        if len(names) > 3:
            shown += ", ..."
        return (
            f"store {self.folder}: damaged files were set aside: {len(names)} ({shown}); their trials count as not run "
            f"until they are recomputed; delete the files then."
        )

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("*.parquet"))

    def _read_file(
        self, path: Path, columns: Sequence[str] | None = None, cells: Sequence[str] | None = None, *,
        encoded: bool = False,
    ) -> pa.Table | None:  # fmt: skip
        """Return columns of a file for the given cells; empty if it is damaged, None if it has disappeared."""
        named = _DIGEST.fullmatch(path.stem)
        try:
            with path.open("rb") as file:
                status = os.fstat(file.fileno())
                state = status.st_ino, status.st_size, status.st_mtime_ns
                is_new = self._verified.get(path) != state
                if (
                    named
                    and is_new
                    and hashlib.file_digest(file, "sha256").hexdigest() != named[1]
                ):
                    raise DamagedFileError(
                        "bytes whose SHA-256 has changed since they were written"
                    )
                file.seek(0)
                schema = pq.read_schema(file)
                _check_schema(path, schema)
                if is_new and self.check:
                    _check_identities(path, file, schema)
                self._verified[path] = state
                wanted = columns or [
                    name for name in schema.names if not (encoded and name in LARGE)
                ]
                present = [name for name in wanted if name in schema.names]
                texts = [
                    name
                    for name in present
                    if encoded and schema.field(name).type == pa.string()
                ]
                options = {
                    "columns": present,
                    "read_dictionary": texts,
                    "page_checksum_verification": True,
                }
                if cells is not None:  # row groups of other cells are not read
                    options["filters"] = pc.field("cell").isin(
                        pa.array(cells, pa.string())
                    )
                table = pq.read_table(file, **options)
        except (
            DamagedFileError,
            pa.ArrowException,
            ValueError,
            MemoryError,
            OSError,
        ) as error:
            number = getattr(error, "errno", None)
            # ESTALE is reported by file servers
            if number in (errno.ENOENT, errno.ESTALE):
                return None
            if number:  # Arrow's errors about content have no number
                raise OSError(
                    number,
                    f"store file {path}: it could not be read: {os.strerror(number)!r}; the file was left in "
                    f"place: make it readable or move it out of the store, then run the same command again.",
                ) from error
            if isinstance(error, RefusedFileError) or (
                named and not isinstance(error, DamagedFileError)
            ):
                raise  # the bytes are as written, whatever their content
            return pa.table({}) if self._set_aside(path, error) else None
        typed = _with_types(path, table, encoded=encoded)
        if self.check:
            check_ranges(typed, f"store file {path}")
        return typed

    def _set_aside(self, path: Path, error: Exception) -> bool:
        """Rename a damaged file so that it is kept but not read; return False if it has disappeared.

        In a read-only folder the file is left in place, and every reader skips it.
        """
        aside = path.with_name(f"{path.stem}-{secrets.token_hex(4)}.damaged")
        done = f"moved to {aside.name}, its trials will be rerun"
        try:
            if self.read_only:
                done = "left in place, its trials are left out"
            else:
                path.rename(aside)
        except FileNotFoundError:
            return False  # another reader was faster
        except OSError as refusal:
            done = f"left in place ({os.strerror(refusal.errno or errno.EIO)}), its trials will be rerun"
        if path.exists():
            self.passed_over[path.name] = str(error)
        log.warning(
            "store file %s: expected a complete Parquet file, got %s; %s.",
            path,
            error,
            done,
        )
        return True

    def _write_error(self, error: OSError, expected: str) -> OSError:
        """Return the error for a failed write, with its effect on the store and a remedy."""
        reason = os.strerror(error.errno) if error.errno else str(error)
        return OSError(
            error.errno or errno.EIO,
            f"store {self.folder}: expected {expected}, got {reason!r}; no partial file is left, and stored results "
            f"are intact: {STEPS.get(error.errno or 0, 'fix it')}, then run the same command again.",
        )


def records_table(records: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Return records as a table: the columns of `SCHEMA`, followed by those of the project's own measures."""
    own = sorted(set().union(*records) - {*SCHEMA.names})
    measured = {}
    for name in own:
        measured[name] = [record.get(name) for record in records]
    types = pa.table(measured).schema
    return pa.Table.from_pylist(
        list(records), schema=pa.schema([*SCHEMA, *types], metadata=SCHEMA.metadata)
    )


def _check_schema(path: Path, schema: pa.Schema) -> None:
    """Check that a file holds trials and was not written by a newer version."""
    stated = (schema.metadata or {}).get(b"provsel_schema", b"0")
    if (
        schema.names.count("cell") != 1
        or len({*schema.names}) < len(schema.names)
        or not stated.isdigit()
    ):
        raise DamagedFileError(
            f"a footer that lacks the column cell, names a column twice, or states schema version {stated!r}"
        )
    if wrong := [name for name in schema.names if not name.isidentifier()]:
        raise DamagedFileError(
            f"a column {wrong[0]!r:.80}, a name that measures cannot use"
        )
    if int(stated) > VERSION:
        raise RefusedFileError(
            f"store file {path}: expected schema version up to {VERSION}, got {int(stated)}; "
            f"it was written by a newer provsel: upgrade, or use another results folder."
        )


def _check_identities(path: Path, file: BinaryIO, schema: pa.Schema) -> None:
    """Check that each record belongs to the trial of its key; packed trials have short names of cells instead."""
    if not {*IDENTITY} <= {*schema.names}:
        return
    texts = [
        name
        for name in ("cell", "data", "config")
        if schema.field(name).type == pa.string()
    ]
    table = pq.read_table(
        file,
        columns=[*IDENTITY],
        read_dictionary=texts,
        page_checksum_verification=True,
    )
    try:
        check_identities(_with_types(path, table, encoded=True), f"store file {path}")
    except ValueError as error:
        raise RefusedFileError(str(error)) from error


def _with_types(path: Path, table: pa.Table, *, encoded: bool) -> pa.Table:
    """Return the columns of a file with the types of a store; a column without values has the type null."""
    columns = []
    for field, column in zip(table.schema, table.columns, strict=True):
        stored_kind = (
            field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        )
        own = (
            pa.float64()
            if pa.types.is_integer(stored_kind) or pa.types.is_floating(stored_kind)
            else pa.string()
        )
        kind = SCHEMA.field(field.name).type if field.name in SCHEMA.names else own
        try:
            if column.null_count == len(column):
                columns.append(pa.nulls(len(column)))
                continue
            # otherwise a cast would convert strings that look like numbers
            pa.unify_schemas(
                [
                    pa.schema([(field.name, type_of_values)])
                    for type_of_values in (stored_kind, kind)
                ],
                promote_options="permissive",
            )
            if encoded and kind == pa.string() and field.name != "key":
                columns.append(
                    column
                    if field.type == ENCODED
                    else column.cast(kind).dictionary_encode()
                )
            else:
                columns.append(column.cast(kind))
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise ValueError(
                f"store file {path}: expected the column {field.name} as {kind}, got {stored_kind!s:.80} "
                f"({error!s:.200}); it was not written by provsel, or is damaged: move it out of the store; its trials "
                f"will be rerun."
            ) from error
    return pa.table(columns, names=table.column_names)


def _join(
    tables: Mapping[Path, pa.Table],
    columns: Sequence[str] | None = None,
    *,
    encoded: bool = False,
) -> pa.Table:
    """Return the rows of all files, with nulls in columns that a file lacks."""
    names = columns or [
        name for name in SCHEMA.names if not (encoded and name in LARGE)
    ]
    kinds = {field.name: field.type for field in SCHEMA}
    if encoded:
        texts = [field.name for field in SCHEMA if field.type == pa.string()]
        kinds |= dict.fromkeys(texts, ENCODED)
        kinds["key"] = pa.string()  # keys never repeat
    schema = pa.schema(
        [(name, kinds.get(name, pa.null())) for name in names], metadata=SCHEMA.metadata
    )
    rows = [tables[path] for path in sorted(tables)]
    try:
        joined = pa.concat_tables(
            [schema.empty_table(), *rows], promote_options="permissive"
        )
    except pa.ArrowTypeError as error:
        raise ValueError(
            f"store {min(tables).parent}: expected columns of the same type in all files, got others: {error}; rename "
            f"the measure's field in one of the projects, or move its files out of the store."
        ) from error
    return joined.select([*names, *sorted({*joined.column_names} - {*names})])


def _time_of(path: Path) -> float:
    """Return the time when a file was written; a file that has disappeared counts as old."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
