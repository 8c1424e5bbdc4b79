"""Extract an archive of unknown intent: inside its folder only, and within a limit of bytes."""

import contextlib
import errno
import lzma
import stat
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Generator
from pathlib import Path
from typing import IO

from ._paths import is_safe_relative

MARKER = ".provsel-archive"
_BLOCK = 1 << 20
Members = Generator[tuple[str, IO[bytes]], None, None]
BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    struct.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    RuntimeError,
)


def extract(archive: Path, folder: Path, *, kind: str, max_expanded: int, sha256: str) -> Path:
    """Extract an archive to a folder, completely or not at all.

    Parameters
    ----------
    archive : Path
    folder : Path
        Takes the place of an earlier extraction. When that was of this very archive, nothing is done.
    kind : {"zip", "tar"}
    max_expanded : int
        Bytes that all members may have together.
    sha256 : str
        Hash of the archive, kept in the folder to recognise it later.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    ValueError
        When a member would leave the folder, is a link or device, or occurs twice; when the archive is
        damaged or expands beyond the limit; when the folder is there but not from an earlier extraction.
        Nothing is left behind.
    """
    marker = folder / MARKER
    if marker.is_file() and marker.read_bytes() == sha256.encode():
        return folder
    if folder.exists() and not marker.is_file():
        raise ValueError(
            f"{folder}: there already, but not from an earlier fetch. Move it away, so that {archive.name} "
            "can be extracted there"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.", suffix=".part") as scratch:
        fresh = Path(scratch) / "new"
        fresh.mkdir()
        members = _zip_members if kind == "zip" else tar_members
        room = max_expanded
        try:
            # Closed explicitly, so that the archive is closed when a member is refused in the middle.
            with contextlib.closing(members(archive)) as stream:
                for name, content in stream:
                    room -= _write(archive, fresh, name, content, room, max_expanded)
        except (*BROKEN, OSError) as error:
            # A damaged index sends zipfile to impossible places; a full disk stays the error that it is.
            if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL, errno.ENAMETOOLONG):
                raise
            raise ValueError(f"{archive}: damaged {kind} archive ({error}). Delete it and fetch it again") from error
        (fresh / MARKER).write_bytes(sha256.encode())
        if folder.exists():
            folder.rename(Path(scratch) / "old")
        fresh.rename(folder)
    return folder


def _write(archive: Path, root: Path, name: str, content: IO[bytes], room: int, limit: int) -> int:
    """Write one member and return its size; the declared size is not believed."""
    if not is_safe_relative(name):
        raise ValueError(f"{archive}: member {name!r} would leave its folder. Refused: do not trust this archive")
    target = root / name
    written = 0
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as handle:
            while block := content.read(_BLOCK):
                written += len(block)
                if written > room:
                    raise ValueError(
                        f"{archive}: expands to more than the registered {limit} bytes. Refused: if the "
                        "archive is right, raise max_expanded in the source registry"
                    )
                handle.write(block)
    except (FileExistsError, IsADirectoryError, NotADirectoryError) as error:
        raise ValueError(f"{archive}: member {name!r} occurs twice. Refused: fetch the archive again") from error
    return written


def _zip_members(archive: Path) -> Members:
    """Yield the regular files of a zip archive."""
    with zipfile.ZipFile(archive) as opened:
        for info in opened.infolist():
            mode = stat.S_IFMT(info.external_attr >> 16)
            if mode not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise _special(archive, info.filename)
            if info.orig_filename.endswith("/"):
                continue
            # `orig_filename`: ZipFile has already replaced separators and cut at NUL in `filename`.
            with opened.open(info) as content:
                yield info.orig_filename, content


def tar_members(archive: Path) -> Members:
    """Yield the regular files of a tar archive, however it is compressed."""
    with tarfile.open(archive, mode="r|*") as opened:
        for info in opened:
            if info.isdir():
                continue
            content = opened.extractfile(info) if info.type in (tarfile.REGTYPE, tarfile.AREGTYPE) else None
            if content is None:
                raise _special(archive, info.name)
            with content:
                yield info.name, content


def _special(archive: Path, name: str) -> ValueError:
    """Return the error for links, devices and the like, which could point outside the folder."""
    return ValueError(f"{archive}: member {name!r} is a link or special file, expected regular files only. Refused")
