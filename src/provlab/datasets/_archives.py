"""Members of archives of unknown intent, one after the other, without trust in what their headers say."""

from __future__ import annotations

import bz2
import errno
import gzip
import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

Members = Generator[tuple[str, IO[bytes]], None, None]
BROKEN = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, struct.error, lzma.LZMAError, EOFError),
    *(RuntimeError, MemoryError, LookupError, ArithmeticError),  # encrypted, or sizes that no computer has
)
"""What damaged archives raise, but for OSError and ValueError, which can also be a full disk and a refusal."""

MAX_MEMBERS = 1 << 17
"""More than any registered archive has; a megabyte of packed headers could make a million empty files."""

_MAX_EXTENSION = 1 << 16
_PACKED: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
_EXTENSIONS = (
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
)


def zip_members(archive: Path) -> Members:
    """Yield the regular files of a zip archive."""
    with _whole(archive, "zip"), zipfile.ZipFile(archive) as opened:
        infos = opened.infolist()
        _check_count(archive, len(infos))
        for info in infos:
            mode = stat.S_IFMT(info.external_attr >> 16)
            if mode not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise _special(archive, info.orig_filename)
            if info.orig_filename.endswith("/"):
                continue
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                # zipfile expands all of a packed block at once: of these kinds one can have gigabytes
                raise Refused(
                    f"{archive}: member {info.orig_filename!r:.80} is packed by method {info.compress_type}, expected "
                    "deflate or none. Refused"
                )
            # `orig_filename`: ZipFile has already replaced separators and cut at NUL in `filename`.
            with opened.open(info) as content:
                yield info.orig_filename, content


def tar_members(archive: Path) -> Members:
    """Yield the regular files of a tar archive, however it is compressed."""
    with (
        _whole(archive, "tar"),
        _unpacked(archive) as stream,
        tarfile.open(fileobj=stream, mode="r|", tarinfo=_BoundedInfo) as opened,
    ):
        for count, info in enumerate(opened, start=1):
            _check_count(archive, count)
            if info.isdir():
                continue
            content = opened.extractfile(info) if info.type in (tarfile.REGTYPE, tarfile.AREGTYPE) else None
            if content is None or info.sparse is not None:
                raise _special(archive, info.name)
            with content:
                yield info.name, content


class Refused(ValueError):  # noqa: N818 - what happened to the archive
    """An archive that is whole, and not wanted as it is."""


class _BoundedInfo(tarfile.TarInfo):
    """A header that is whole, and whose extension fits into memory: a long name of gigabytes would be read at once."""

    @classmethod
    def frombuf(cls, buf: Any, encoding: str, errors: str) -> _BoundedInfo:
        """Return the header in a block of 512 bytes."""
        try:
            info = super().frombuf(buf, encoding, errors)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]
            raise
        except tarfile.HeaderError as error:  # tarfile takes it for the end, and the rest would be missing in silence
            raise tarfile.ReadError(str(error)) from error
        if info.size < 0 or (info.type in _EXTENSIONS and info.size > _MAX_EXTENSION):
            raise tarfile.ReadError(f"a header of {info.size} bytes")
        return info


@contextmanager
def readable(path: Path, what: str) -> Iterator[None]:
    """Turn what a damaged file raises, wherever it is read, into a ValueError that names it.

    A damaged index sends zipfile to impossible places; a full disk stays the error that it is.
    """
    try:
        yield
    except (*BROKEN, OSError) as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL, errno.ENAMETOOLONG):
            raise
        raise ValueError(f"{path}: damaged {what} ({error!s:.200}). Delete it and fetch it again") from error


@contextmanager
def _unpacked(archive: Path) -> Iterator[Any]:
    """Open an archive; tarfile's own streams expand a packed block as a whole, whatever comes out."""
    with archive.open("rb") as raw:
        head = raw.read(6)
    opener = next((opener for magic, opener in _PACKED.items() if head.startswith(magic)), open)
    with opener(archive, "rb") as stream:
        yield stream


@contextmanager
def _whole(archive: Path, kind: str) -> Iterator[None]:
    """Name the archive where its own index cannot be understood."""
    try:
        yield
    except Refused:
        raise
    except ValueError as error:  # numbers and names that are none
        raise ValueError(f"{archive}: damaged {kind} archive ({error!s:.200}). Delete it and fetch it again") from error


def _check_count(archive: Path, count: int) -> None:
    if count > MAX_MEMBERS:
        raise Refused(f"{archive}: has more than {MAX_MEMBERS} members. Refused: do not trust this archive")


def _special(archive: Path, name: str) -> ValueError:
    """Return the error for links, devices and the like, which could point outside the folder."""
    return Refused(f"{archive}: member {name!r:.80} is a link or special file, expected regular files only. Refused")
