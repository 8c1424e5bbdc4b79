"""A folder of Parquet files with one row a trial: append-only, atomic, readable while it is written."""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from provlab.store.faults import agree, cast, refused, set_aside, unreadable
from provlab.store.schema import SCHEMA, record_schema
from provlab.store.seal import DamagedFileError, seal
from provlab.store.stored_file import NewerFileError, StoredFile, stored_file
from provsel.files import probe, remove_abandoned, replacing

LOOSE_FILES = 512
"""`compact` merges when there are more small files than this."""

GROUP = 8192
"""Rows of a row group of a merged file, which is sorted by cell: a query of some cells reads a few groups only."""

MERGED = 2**28
"""Bytes of records in memory, of which one merged file is made: a run of a million trials is some gigabytes."""

LOOKS = 100
"""Listings of a folder whose files go away while they are read, before that is an error."""


class TrialReader(Protocol):
    """What reads trials: the store, or a snapshot of it."""

    def query(self, cells: Iterable[str] | None = None, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the records of some cells, each trial once, those of a cell sorted by key."""


class TrialStore:
    """Trial records under one folder.

    A file appears by an atomic rename of a complete, synced temporary file, so that a reader, a second writer, or a
    run after a crash only ever sees whole files. Its name follows from the keys in it: writing the same trials twice
    changes nothing. Where a key is found twice (a merge was cut short), one row is taken. A file that is not as it was
    written any more (see `seal`) is set aside, and its trials count as not run.

    Parameters
    ----------
    folder : path
        Created at the first write.
    read_only : bool, default=False
        Leave damaged files where they are, as in the folder of somebody else.
    """

    def __init__(self, folder: Path | str, *, read_only: bool = False) -> None:
        self.folder, self.read_only = Path(folder), read_only
        self._known_files: dict[Path, dict[str, pa.DataType]] = {}

    def keys(self) -> set[str]:
        """Return the keys of all trials that are stored whole: every column is compared with its checksum.

        A run asks for them to know what is missing. It reads a few columns later; damage in another would stay.
        """
        return {key for table in self._tables(self._schema(["key"]), whole=True) for key in table["key"].to_pylist()}

    def append(self, records: Sequence[dict[str, Any]]) -> None:
        """Write records as one new file.

        Raises
        ------
        OSError
            When the disk is full or the folder cannot be written; no partial file is left.
        """
        if records:
            table = pa.Table.from_pylist(list(records), schema=record_schema(records))
            self._write(table.sort_by("key"), prefix="")

    def add(self, trials: pa.Table) -> None:
        """Write many records of another store as one file, which needs no merge with small ones.

        Raises
        ------
        OSError
            When the disk is full or the folder cannot be written; no partial file is left.
        """
        if len(trials):
            self._write(trials.sort_by([("cell", "ascending"), ("key", "ascending")]), prefix="merged-")

    def query(self, cells: Iterable[str] | None = None, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the records of some cells, sorted by key, each trial once.

        Parameters
        ----------
        cells : iterable of str, optional
            Cell ids; None takes all.
        columns : sequence of str, optional
            None takes all.
        """
        wanted = list(self.columns() if columns is None else columns)
        read = list(dict.fromkeys(["key", "cell", *wanted]))
        chosen = None if cells is None else sorted(cells)
        schema = self._schema(read)
        tables = self._tables(schema, cells=chosen)
        if chosen is not None:
            tables = [table.filter(pc.is_in(table["cell"], pa.array(chosen, pa.string()))) for table in tables]
        found = pa.concat_tables([schema.empty_table(), *tables])
        order = pc.sort_indices(found["key"])
        keys = found["key"].take(order).combine_chunks()
        if len(keys) > 1:  # rows are copied once, in their order and without repetitions
            first = pc.not_equal(keys.slice(1), keys.slice(0, len(keys) - 1))
            order = order.filter(pa.concat_arrays([pa.array([True]), first]))
        return found.select(wanted).take(order)

    def encoded(self, columns: Sequence[str]) -> pa.Table:
        """Return columns of all files as they come, a trial perhaps twice, each string stored once."""
        schema = encoded_schema(self._schema(columns))
        return pa.concat_tables([schema.empty_table(), *self._tables(schema)]).unify_dictionaries().combine_chunks()

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
            raise refused(self.folder, error, "a folder that can be written") from error

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

    def compact(self, *, minimum: int = LOOSE_FILES) -> int:
        """Merge the small files into large ones when there are more than `minimum`; return how many.

        Raises
        ------
        OSError
            When the disk is full or the folder cannot be written; what is not merged then is as it was.
        """
        loose = [path for path in self._files() if not path.name.startswith("merged-")]
        if len(loose) <= minimum:
            return 0
        schema = self._schema(self.columns())  # those that only others know are kept
        n_merged, tables, size = 0, dict[Path, pa.Table](), 0
        for path in sorted(loose, key=_written):  # those of one cell come together
            table = self._read(path, schema)
            if table is None or not len(table):  # another process may have merged it
                continue
            tables[path] = table
            size += table.nbytes
            if size >= MERGED:
                n_merged += self._merge(tables)
                tables, size = {}, 0
        return n_merged + self._merge(tables)

    def _merge(self, tables: Mapping[Path, pa.Table]) -> int:
        """Write some small files as a large one, which is on the disk before the first goes, and return how many."""
        if tables:
            self.add(pa.concat_tables(tables.values()))
        for path in tables:
            path.unlink(missing_ok=True)
        return len(tables)

    def columns(self) -> list[str]:
        """Return the names of all columns: those of `SCHEMA`, and what own measures and other versions have written."""
        return [*SCHEMA.names, *sorted(self.own_columns())]

    def _schema(self, columns: Sequence[str]) -> pa.Schema:
        """Return the types of some columns; one that nobody has written is a number."""
        others = {} if {*columns} <= {*SCHEMA.names} else self.own_columns()
        known = {name: kind for name, (kind, _) in others.items() if kind != pa.null()}
        fields = [
            SCHEMA.field(name) if name in SCHEMA.names else pa.field(name, known.get(name, pa.float64()))
            for name in columns
        ]
        return pa.schema(fields, metadata=SCHEMA.metadata)

    def own_columns(self) -> dict[str, tuple[pa.DataType, Path]]:
        """Return the columns that `SCHEMA` does not have: each with its type, null without a value, and a file.

        What is damaged is for the readers to say.

        Raises
        ------
        ValueError
            When two files have a column with two types, or no measure can have it.
        """
        found: dict[str, tuple[pa.DataType, Path]] = {}
        for path in self._files():
            known = self._known_files.get(path)
            if known is None:
                known = {}
                with suppress(OSError, ValueError, pa.ArrowException, DamagedFileError), stored_file(path) as file:
                    known = file.own_columns()
                self._known_files[path] = known
            for name, kind in known.items():
                agree(found, name, kind, path)
        return found

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("*.parquet"))

    def _tables(self, schema: pa.Schema, **options: Any) -> list[pa.Table]:
        """Read the columns of a schema from all files, while others may be added, merged and removed.

        A listing made during a merge may lack the large file and the small ones that are in it already. Whatever the
        first of two listings lacks for that reason, the second one has.
        """
        tables: dict[Path, pa.Table] = {}
        whole = 0
        for _ in range(LOOKS):
            gone = False
            for path in self._files():
                if path not in tables:
                    table = self._read(path, schema, **options)
                    gone = gone or table is None
                    if table is not None:
                        tables[path] = table
            whole = 0 if gone else whole + 1
            if whole == 2:
                return [tables[path] for path in sorted(tables)]
        raise OSError(
            f"store {self.folder}: expected files that stay while they are read, got some that went away {LOOKS} "
            f"times; wait for what merges or removes them."
        )

    def _read(
        self,
        path: Path,
        schema: pa.Schema,
        *,
        cells: Sequence[str] | None = None,
        whole: bool = False,
    ) -> pa.Table | None:
        """Return the columns of a schema, nothing of a damaged file, None when it is not there any more.

        Damaged is what is so in the columns read; with `whole`, in any.
        """
        file: StoredFile | None = None
        try:
            before = path.stat()
            with stored_file(path) as file:
                if whole:
                    file.check()
                table = file.table(schema, cells)
        except FileNotFoundError:
            return None
        except NewerFileError:
            raise
        except (DamagedFileError, pa.ArrowException, ValueError, OSError) as error:
            if getattr(error, "errno", None) == errno.ESTALE:
                return None  # as a server says that it is not there any more
            stays = unreadable(path, error, is_checked=file is not None and file.is_sealed)
            if stays is not None:
                raise stays from error
            return schema.empty_table() if set_aside(path, before, error, read_only=self.read_only) else None
        for field in schema:
            if field.name not in table.column_names:
                table = table.append_column(field, pa.nulls(len(table), field.type))
        return cast(path, table.select(schema.names), schema)

    def _write(self, table: pa.Table, *, prefix: str) -> None:
        name = hashlib.sha256("".join(table["key"].to_pylist()).encode()).hexdigest()[:32]
        for again in (True, False):
            try:
                with replacing(self.folder / f"{prefix}{name}.parquet") as temporary:
                    pq.write_table(table, temporary, compression="zstd", write_page_checksum=True, row_group_size=GROUP)
                    seal(temporary)
                return
            except FileNotFoundError as error:
                # another run's clean-up took this writer for dead, as its clock may well say
                if not again:
                    raise refused(self.folder, error, "files that stay while they are written") from error
            except OSError as error:
                raise refused(self.folder, error, f"room for {len(table)} records") from error


def _written(path: Path) -> float:
    """Return when a file was written; one that is gone is no matter."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def encoded_schema(schema: pa.Schema) -> pa.Schema:
    """Return a schema with dictionary-encoded strings, except for keys, which never repeat."""
    return pa.schema(
        [
            field.with_type(pa.dictionary(pa.int32(), pa.string()))
            if pa.types.is_string(field.type) and field.name != "key"
            else field
            for field in schema
        ]
    )
