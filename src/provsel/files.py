"""Files appear whole or not at all, and what killed writers left is told from what living ones write."""

from __future__ import annotations

import errno
import os
import re
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ABANDONED = 3600.0
"""Seconds since the last write to a temporary file after which its writer is taken for dead.

Neither a process number nor a lock would tell: the writer may be on another host that shares the folder. A writer that
is alive nevertheless finds its file gone, and gets FileNotFoundError.
"""

PROBE = 1 << 16
"""Bytes that `probe` writes: more than what a full file system may still take into an inode or a rest of a block."""

_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{12}\.part")
_NO_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM, errno.EBADF, errno.EISDIR)
"""What systems say that cannot sync a folder."""


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Yield a temporary path beside `target` that takes its place on success and is removed on failure.

    The file, and that it is there, are on the disk when the context ends: another file that it replaces may then go.

    Parameters
    ----------
    target : Path
        File to write. Its folder is made when needed.

    Yields
    ------
    Path
        Does not exist yet; the same folder, so that the final move is atomic.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = _temporary(target)
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())  # or a power cut could leave an empty file under the final name
        os.replace(temporary, target)
        _sync_folder(target.parent)
    finally:
        with suppress(OSError):  # the error that brought us here is to be seen
            temporary.unlink(missing_ok=True)


@contextmanager
def replacing_folder(target: Path) -> Iterator[Path]:
    """Yield a new, empty folder that takes the place of `target` on success; on failure the old one stays.

    Parameters
    ----------
    target : Path
        Folder to write. The one that it lies in is made when needed.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as temporary:
        folder = Path(temporary) / "new"
        folder.mkdir()
        yield folder
        if target.exists():
            target.rename(Path(temporary) / "old")
        folder.rename(target)


def probe(folder: Path) -> float:
    """Write a small file into a folder, remove it, and return its time: by the clock that the folder's files have.

    The folder is made when needed. That clock may be a server's, and may be put right at any time: times of files are
    comparable with each other, and not with the clock of this host.

    Raises
    ------
    OSError
        When the folder cannot be written, or is full.
    """
    folder.mkdir(parents=True, exist_ok=True)
    temporary = _temporary(folder / "probe")
    try:
        with temporary.open("xb") as file:
            file.write(bytes(PROBE))
            file.flush()
            os.fsync(file.fileno())
        return temporary.stat().st_mtime
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def remove_abandoned(folder: Path, now: float) -> int:
    """Remove the temporary files of dead writers in a folder, and return how many there were.

    Parameters
    ----------
    folder : Path
    now : float
        From `probe`.
    """
    removed = 0
    for path in folder.glob(".*.part"):
        with suppress(OSError):  # gone in the meantime, or somebody else's
            if _TEMPORARY.fullmatch(path.name) and now - path.stat().st_mtime > ABANDONED:
                path.unlink()
                removed += 1
    return removed


def _temporary(target: Path) -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")


def _sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk, where the system can do that."""
    try:
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise
