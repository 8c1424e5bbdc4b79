"""Atomic writing of files, and removal of leftovers of killed writers."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ABANDONED = 3600.0
"""Seconds since the last write to a temporary file after which its writer is assumed dead. A process number or a lock
would not help, because the writer may be on another host that shares the folder. A writer that is still alive gets a
FileNotFoundError.
"""

PROBE = 1 << 16
"""Bytes that `probe` writes, more than a full file system could still store in an inode or a partial block."""

WRITTEN = ".written"
"""File in a folder of `replacing_folder` with the paths of the files that it wrote, one per line."""

_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{12}\.part")
_NO_SYNC = (
    errno.EINVAL,
    errno.ENOTSUP,
    errno.EACCES,
    errno.EPERM,
    errno.EBADF,
    errno.EISDIR,
)
"""Errors of systems that cannot sync a folder."""


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Yield a temporary path beside `target` that replaces it on success and is removed on failure.

    The file and its folder entry are on disk when the context ends, so that a file that
    it replaces may be removed.

    Parameters
    ----------
    target : Path
        File to write. Its folder is created if needed.

    Yields
    ------
    Path
        Does not exist yet; in the same folder, so that the final move is atomic.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = _temporary(target)
    try:
        yield temporary
        with temporary.open("rb") as file:
            # otherwise a power cut could leave an empty file under the final name
            os.fsync(file.fileno())
        os.replace(temporary, target)
        _sync_folder(target.parent)
    except OSError as error:
        if (
            error.errno
            and str(error) == f"[Errno {error.errno}] {os.strerror(error.errno)}"
        ):  # a full disk names no file
            error.filename = str(target)
        _name(error, temporary, target)
        raise
    finally:
        with suppress(OSError):  # the original error must stay visible
            temporary.unlink(missing_ok=True)


@contextmanager
def replacing_folder(target: Path, *, keep: bool = False) -> Iterator[Path]:
    """Yield a new, empty folder that replaces `target` on success; on failure the old one is kept.

    Parameters
    ----------
    target : Path
        Folder to write. The parent folder is created if needed.
    keep : bool, default=False
        Keep the files of the old folder that an earlier call did not write; `WRITTEN`
        lists those that this one does.

    Raises
    ------
    OSError
        When `target` is a file, or cannot be replaced.
    """
    if target.exists() and not target.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(target))
    beside = target.parent / f".{target.name}-"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            prefix=beside.name, dir=target.parent
        ) as temporary:
            folder, old = Path(temporary) / "new", Path(temporary) / "old"
            folder.mkdir()
            yield folder
            if keep:
                _keep_others(target, folder)
            if target.exists():
                target.rename(old)
            try:
                folder.rename(target)
            except BaseException:
                if old.exists():
                    old.rename(target)
                raise
    except OSError as error:
        _name(error, beside, target)
        raise


def _keep_others(old: Path, new: Path) -> None:
    """Copy files that the old folder does not list as written into the new folder, and list the new folder's files."""
    mine = _files(new)
    listed = old / WRITTEN
    stale = (
        listed.read_text(encoding="utf-8", errors="replace").splitlines()
        if listed.is_file()
        else []
    )
    for name in sorted(_files(old) - {*mine, *stale, WRITTEN}):
        if (
            any(part.as_posix() in mine for part in Path(name).parents)
            or (new / name).is_dir()
        ):
            raise FileExistsError(
                errno.EEXIST, os.strerror(errno.EEXIST), str(old / name)
            )
        (new / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(old / name, new / name, follow_symlinks=False)
    (new / WRITTEN).write_text(
        "".join(f"{name}\n" for name in sorted(mine)), encoding="utf-8"
    )


def _files(folder: Path) -> set[str]:
    """Return the relative paths of all files and links below a folder."""
    paths = (
        path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()
    )
    return {path.relative_to(folder).as_posix() for path in paths}


def _name(error: OSError, temporary: Path, target: Path) -> None:
    """Make an error about a temporary file or folder name its final path."""
    if str(error.filename).startswith(str(temporary)):
        error.filename, error.filename2 = str(target), None


def probe(folder: Path) -> float:
    """Write a small file into a folder, remove it, and return its time stamp.

    The folder is created if needed. Its time stamps may come from the clock of a
    server, which may be adjusted at any time. They are comparable with each other, but
    not with the clock of this host.

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
        with suppress(OSError):  # removed in the meantime, or owned by another user
            if (
                _TEMPORARY.fullmatch(path.name)
                and now - path.stat().st_mtime > ABANDONED
            ):
                path.unlink()
                removed += 1
    return removed


def _temporary(target: Path) -> Path:
    return target.with_name(f".{target.name}.{secrets.token_hex(6)}.part")


def _sync_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk, if the system supports it."""
    try:
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise
