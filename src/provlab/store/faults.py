"""What becomes of a damaged file, and what is said of errors of the system."""

from __future__ import annotations

import errno
import logging
import os
from itertools import count
from pathlib import Path

import pyarrow as pa

from provlab.store.schema import TYPES

log = logging.getLogger(__name__)

STEPS = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), "make room"),
    **dict.fromkeys((errno.EROFS, errno.EACCES, errno.EPERM), "make it writable, or name another results folder"),
    **dict.fromkeys((errno.EEXIST, errno.ENOTDIR), "name another folder"),
}
"""What helps against an error of the system, by its number."""


def refused(folder: Path, error: OSError, expected: str) -> OSError:
    """Return the error of a write that the system refused, with what it means for the store and what helps."""
    reason = os.strerror(error.errno) if error.errno else str(error)
    step = STEPS.get(error.errno or 0, "see to it")
    return OSError(
        error.errno or errno.EIO,
        f"store {folder}: expected {expected}, got {reason!r}; nothing half-written is left, and what was stored is "
        f"whole: {step}, then run the same command again.",
    )


def unreadable(path: Path, error: Exception, *, is_checked: bool) -> OSError | None:
    """Return the error of a file that the system does not let us read; None where its content is to blame.

    Parameters
    ----------
    path : Path
    error : Exception
    is_checked : bool
        Whether the footer had its checksum: sizes in a damaged one can ask for any amount of memory.
    """
    number = getattr(error, "errno", None)  # Arrow's own errors about content have none
    if isinstance(error, MemoryError) and is_checked:
        number = errno.ENOMEM
    if not number:
        return None
    return OSError(
        number,
        f"store file {path}: expected to read it, got {os.strerror(number)!r}; it stays where it is: mend that, or "
        f"move it out of the store, then run the same command again.",
    )


def set_aside(path: Path, seen: os.stat_result, error: Exception, *, read_only: bool = False) -> bool:
    """Rename a damaged file, so that nobody reads it and nothing is lost: its trials count as not run.

    It takes a name that no file has. Where the folder is read-only it stays, and is passed over by every reader.

    Parameters
    ----------
    path : Path
    seen : os.stat_result
        Of the file before it was read.
    error : Exception
        What is wrong with it.
    read_only : bool, default=False
        Whether it is somebody else's: it stays then.

    Returns
    -------
    bool
        False when there is no file of that name by now, or another one, which a run wrote.
    """
    numbers = (f".{number}" if number > 1 else "" for number in count(1))
    aside = next(to for k in numbers if not os.path.lexists(to := path.with_name(f"{path.stem}{k}.damaged")))
    step = "its trials are left out" if read_only else "its trials will be run again"
    try:
        now = path.stat()
        if (now.st_ino, now.st_size, now.st_mtime_ns) != (seen.st_ino, seen.st_size, seen.st_mtime_ns):
            return False
        if not read_only:
            os.replace(path, aside)
        done = "left where it is" if read_only else f"moved to {aside.name}"
    except FileNotFoundError:
        return False  # another reader was faster
    except OSError as refusal:
        done = f"left where it is ({os.strerror(refusal.errno or errno.EIO)})"
    log.warning("store file %s: expected a whole Parquet file, got %s; %s, %s.", path, error, done, step)
    return True


def agree(known: dict[str, tuple[pa.DataType, Path]], name: str, kind: pa.DataType, path: Path) -> None:
    """Note the type of a column that `SCHEMA` does not have; null is that of a column without any value.

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


def cast(path: Path, table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return the table with the types of the schema, which has the same columns.

    Raises
    ------
    ValueError
        Names the file, and the columns of other types.
    """
    for place, field in enumerate(schema):
        if table[field.name].null_count == len(table):  # of whatever type, there is no value to convert
            table = table.set_column(place, field.name, pa.nulls(len(table), field.type))
    try:
        if any(_kind(field.type) != _kind(found.type) for field, found in zip(schema, table.schema, strict=True)):
            raise pa.ArrowTypeError("another type")  # a text that reads as a number would become one
        return table.cast(schema)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        wrong = [
            f"{field.name} as {field.type}, got {found.type}"
            for field, found in zip(schema, table.schema, strict=True)
            if field.type != found.type
        ]
        raise ValueError(
            f"store file {path}: expected the column {'; '.join(wrong) or 'values that are text'} ({error}); it was "
            f"not written by provsel, or is damaged: move it out of the store, its trials will be run again."
        ) from error


def _kind(found: pa.DataType) -> str:
    """Return what a type holds, however it is stored."""
    if pa.types.is_dictionary(found):
        return _kind(found.value_type)
    if pa.types.is_list(found) or pa.types.is_large_list(found):
        return f"list of {_kind(found.value_type)}"
    if found in (pa.string(), pa.large_string(), pa.binary()):  # bytes become text where they are UTF-8
        return "text"
    return "number" if pa.types.is_integer(found) or pa.types.is_floating(found) else str(found)
