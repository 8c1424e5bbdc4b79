"""What the records of some trials say, and which columns their writers did not know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from provlab.store import SCHEMA, TrialStore
from provlab.store.faults import set_aside
from provlab.store.stored_file import DAMAGE, StoredFile, stored_file


@dataclass(frozen=True)
class Stored:
    """A stored record, and the columns that whoever wrote it did not know."""

    values: dict[str, Any]
    absent: frozenset[str] = frozenset()


def read_records(store: TrialStore, keys: Sequence[str]) -> dict[str, Stored]:
    """Return the records of some keys, each with the columns that its file lacked.

    A merge of files fills those columns with nulls. In a merged file, a column is therefore taken as absent from a
    record where it is null in it and in all others that the same git revision wrote.
    """
    for _ in range(3):
        try:
            return _read(store, pa.array(keys, pa.string()))
        except FileNotFoundError:
            continue  # another process merged the file, so look again
    raise OSError(
        f"store {store.folder}: expected files that stay, got one that went away three times; wait for the runs."
    )


def _read(store: TrialStore, keys: pa.Array) -> dict[str, Stored]:
    found: dict[str, Stored] = {}
    blank = dict.fromkeys(SCHEMA.names)
    for path in sorted(store.folder.glob("*.parquet")):
        seen = path.stat()
        try:
            with stored_file(path) as file:
                table = _rows(file, keys)
                is_merged = path.name.startswith("merged-") and len(table) > 0
                unwritten = _never_written(file, table) if is_merged else {}
        except DAMAGE as error:
            set_aside(path, seen, error)
            continue
        lacking = frozenset(SCHEMA.names) - set(table.column_names)
        for values in table.to_pylist():
            absent = lacking | unwritten.get(values.get("git_revision"), frozenset())
            found.setdefault(values["key"], Stored({**blank, **values}, absent))
    return found


def _rows(file: StoredFile, keys: pa.Array) -> pa.Table:
    """Return the rows of some keys with the columns that the file has; in memory is one row group at a time."""
    present = [name for name in SCHEMA.names if name in file.names]
    present += [name for name in file.names if name not in SCHEMA.names]  # of measures of the project's own
    own = file.parquet.schema_arrow
    schema = pa.schema([SCHEMA.field(name) if name in SCHEMA.names else own.field(name) for name in present])
    tables = [schema.empty_table()]
    for group in range(file.parquet.num_row_groups):
        chosen = pc.is_in(file.read([group], ["key"])["key"], keys)
        if pc.any(chosen).as_py():
            tables.append(file.read([group], present).filter(chosen).select(present).cast(schema))
    return pa.concat_tables(tables)


def _never_written(file: StoredFile, drawn: pa.Table) -> dict[str | None, frozenset[str]]:
    """Return, by git revision, the columns that are null in all its records of a file."""
    names = [
        name
        for name in drawn.column_names
        if drawn[name].null_count and name != "git_revision" and not pa.types.is_list(drawn[name].type)
    ]
    if not names or "git_revision" not in drawn.column_names:
        return {}
    table = file.read(range(file.parquet.num_row_groups), [*names, "git_revision"])
    counts = table.group_by("git_revision").aggregate([(name, "count") for name in names]).to_pylist()
    return {line["git_revision"]: frozenset(name for name in names if line[f"{name}_count"] == 0) for line in counts}
