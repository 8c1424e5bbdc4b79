"""What becomes of a damaged file, and what is said of errors of the system."""

from __future__ import annotations

import errno
import logging
import os
from pathlib import Path

import pyarrow as pa

log = logging.getLogger(__name__)

STEPS = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), "make room"),
    **dict.fromkeys((errno.EROFS, errno.EACCES, errno.EPERM), "make it writable, or name another results folder"),
    **dict.fromkeys((errno.EEXIST, errno.ENOTDIR), "name another results folder"),
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


def set_aside(path: Path, seen: os.stat_result, error: Exception) -> bool:
    """Rename a damaged file, so that nobody reads it and nothing is lost: its trials count as not run.

    Where the folder is read-only it stays, and is passed over by every reader.

    Parameters
    ----------
    path : Path
    seen : os.stat_result
        Of the file before it was read.
    error : Exception
        What is wrong with it.

    Returns
    -------
    bool
        False when there is no file of that name by now, or another one, which a run wrote.
    """
    aside = path.with_suffix(".damaged")
    try:
        now = path.stat()
        if (now.st_ino, now.st_size, now.st_mtime_ns) != (seen.st_ino, seen.st_size, seen.st_mtime_ns):
            return False
        os.replace(path, aside)
        done = f"moved to {aside.name}"
    except FileNotFoundError:
        return False  # another reader was faster
    except OSError as refusal:
        done = f"left where it is ({os.strerror(refusal.errno or errno.EIO)})"
    log.warning(
        "store file %s: expected a whole Parquet file, got %s; %s, its trials will be run again.", path, error, done
    )
    return True


def cast(path: Path, table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return the table with the types of the schema, which has the same columns.

    Raises
    ------
    ValueError
        Names the file, and the columns of other types.
    """
    try:
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
