"""Files of data sets on this machine: the folders that are searched, and what tells the registered file from another.

`provsel fetch` writes to the data folder; loaders only read. The mirror folder is searched first and never written to.
"""

from __future__ import annotations

import gzip
import hashlib
import lzma
import os
import tarfile
import time
import zipfile
from collections.abc import Generator
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import IO

from .registry import SourceFile

MIRROR_VARIABLE = "PROVSEL_DATA_MIRROR"
DATA_VARIABLE = "PROVSEL_DATA"

MAX_EXPANDED = 1 << 30
"""Bytes that a packed file may expand to while its content is hashed: of time, as nothing is kept in memory."""

_BLOCK = 1 << 20
_SETTLED = 2.0
"""Seconds since the last change after which a hash is remembered: some file systems count time in steps of two."""


class MissingDataError(FileNotFoundError):
    """A file that a data set needs is in none of the searched folders; `dataset` names what to fetch, where known."""

    dataset: str = ""


class DataIntegrityError(ValueError):
    """A file is there, but is not the registered one: other hash or other size."""


def bad_line(where: object, number: int, expected: str, got: bytes) -> ValueError:
    """Return the error for a line of a text file, counted from 1."""
    shown = got[:60].decode("latin-1")
    return ValueError(
        f"{where}, line {number}: expected {expected}, got {shown!r}. The file is damaged: fetch it again"
    )


def mirror_dir() -> Path | None:
    """Return the folder `$PROVSEL_DATA_MIRROR`, or None when it is not set."""
    value = os.environ.get(MIRROR_VARIABLE, "")
    return Path(value).expanduser() if value else None


def data_dir() -> Path:
    """Return the folder `$PROVSEL_DATA`, by default `~/.cache/provsel`, for downloads and caches."""
    return Path(os.environ.get(DATA_VARIABLE) or "~/.cache/provsel").expanduser()


def search_roots(data: Path | None = None) -> list[Path]:
    """Return the folders that are searched, in order: the mirror, when one is set, then `data`, or the data folder."""
    mirror = mirror_dir()
    return ([] if mirror is None else [mirror]) + [data_dir() if data is None else data]


def describe_roots(data: Path | None = None) -> str:
    """Return the searched folders in words, for error messages."""
    mirror = mirror_dir()
    if mirror is None:
        first = f"${MIRROR_VARIABLE} (not set)"
    else:
        first = f"${MIRROR_VARIABLE}={mirror}" + ("" if mirror.is_dir() else " (no such folder)")
    return f"{first}, then ${DATA_VARIABLE}={data_dir() if data is None else data}"


def found(path: str, data: Path | None = None) -> Path | None:
    """Return the first file of this relative path in the searched folders, whatever is in it; None without one."""
    return next((root / path for root in search_roots(data) if (root / path).is_file()), None)


def locate(file: SourceFile, *, data: Path | None = None) -> Path:
    """Return the verified path of a registered file.

    Parameters
    ----------
    file : SourceFile
    data : Path or None, default=None
        Data folder in place of `$PROVSEL_DATA`.

    Returns
    -------
    Path
        In the mirror when it is there, else in the data folder.

    Raises
    ------
    MissingDataError
        When no searched folder has the file.
    DataIntegrityError
        When the first file found is not the registered one.
    """
    path = found(file.path, data)
    if path is None:
        raise MissingDataError(
            f"{file.source}: the file {file.path} is missing. Searched {describe_roots(data)}. {how_to_get(file)}"
        )
    if differs := difference(file, path):
        step = f"delete it and run `provsel fetch {file.source}`" if file.fetchable else "replace it by an intact copy"
        raise DataIntegrityError(f"{path}: {differs}. The file is damaged or another version: {step}")
    return path


def how_to_get(file: SourceFile) -> str:
    """Return the next step for a missing file, as a sentence."""
    from_mirror = f"set {MIRROR_VARIABLE} to a folder that holds {file.path}"
    if not file.fetchable:
        return f"It has no public address in the registry: {from_mirror}"
    if file.urls:
        where = f"It is published at {' , '.join(file.urls)}"
    else:
        more = f" and {len(file.made_from) - 1} more" if len(file.made_from) > 1 else ""
        where = f"It is made from the published {file.made_from[0]}{more}"
    return f"{where} : run `provsel fetch {file.source}`, or {from_mirror}"


def difference(file: SourceFile, path: Path) -> str:
    """Return what was expected of a file and what was found, in words; "" for the registered file.

    Its size and SHA-256 decide, or else the content of a packed file.
    """
    size = path.stat().st_size
    if file.digest is None and file.size is None:
        return ""
    if file.sha256 is not None and file.size in (None, size):
        expected, got = f"SHA-256 {file.sha256}", f"SHA-256 {file_sha256(path)}"
    else:
        expected, got = f"{file.size} bytes", f"{size} bytes"
    if file.sha256 is not None and expected == got:
        return ""
    if file.content_sha256 is not None:
        try:
            content = file_sha256(path, file.format)
        except Exception as error:  # damaged, or another file: each library has errors of its own
            content = f"that cannot be read ({error!s:.300})"
        if content == file.content_sha256:
            return ""
        expected, got = f"{expected} or the content {file.content_sha256}", f"{got} and the content {content}"
    return f"expected {expected} (the source registry), found {got}"


def file_sha256(path: Path, packed: str = "") -> str:
    """Return the SHA-256 of a file, or with a format of `registry.PACKED` that of what it holds.

    A process hashes a file once, as long as the file system says that it is the same.
    """
    status = path.stat()
    state = status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
    compute = _remembered if time.time() - max(status.st_mtime, status.st_ctime) > _SETTLED else _computed
    return compute(path.absolute(), packed, state)


def _computed(path: Path, packed: str, state: object) -> str:
    if packed:
        return content_sha256(path, packed)
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


_remembered = lru_cache(maxsize=4096)(_computed)


def content_sha256(path: Path, kind: str) -> str:
    """Return the SHA-256 of what a packed file holds.

    zlib and liblzma pack the same content to other bytes in other versions, and GitHub packs a commit anew when it
    likes to: the hash of the packed file tells these apart, this one does not.

    Parameters
    ----------
    path : Path
    kind : str
        One of `registry.PACKED`. "gz", "xz": the hash of the uncompressed stream. The archives: the hash over all
        members, sorted by name, of the name, a zero byte, and the 32 bytes of the member's SHA-256. A folder that all
        members lie in is not part of their names: GitHub names it after the commit.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        For one that expands to more than `MAX_EXPANDED`, or an archive with links, devices or repeated members.
    Exception
        For a damaged file, whatever its library raises.
    """
    if kind in ("gz", "xz"):
        with (gzip if kind == "gz" else lzma).open(path, "rb") as stream:
            return _hashed(stream, MAX_EXPANDED)[0].hex()
    hashes: dict[str, bytes] = {}
    left = MAX_EXPANDED
    with closing(members(path, kind)) as opened:
        for name, stream in opened:
            if name in hashes:
                raise ValueError(f"{path}: the member {name!r:.80} occurs twice. Fetch the archive again")
            hashes[name], left = _hashed(stream, left)
    tops = {name.partition("/")[:2] for name in hashes}
    shared = "".join(tops.pop()) if len(tops) == 1 else ""
    top = shared if shared.endswith("/") else ""
    digest = hashlib.sha256()
    for name in sorted(hashes):  # one prefix less changes no order
        digest.update(name.removeprefix(top).encode("utf-8", "surrogateescape") + b"\0" + hashes[name])
    return digest.hexdigest()


def members(path: Path, kind: str) -> Generator[tuple[str, IO[bytes]], None, None]:
    """Yield name and content of the files of a zip archive ("npz"), or of a tar archive, one after the other."""
    if kind == "npz":
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if not info.is_dir():
                    with archive.open(info) as stream:
                        yield info.filename, stream
        return
    with tarfile.open(path, "r|*") as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isreg() else None
            if content is not None:
                yield member.name, content
            elif not member.isdir():
                raise ValueError(f"{path}: the member {member.name!r:.80} is a link or device, expected a file")


def _hashed(stream: IO[bytes], left: int) -> tuple[bytes, int]:
    """Return the SHA-256 of the rest of a stream, and how many bytes of `left` the others may have."""
    digest = hashlib.sha256()
    while block := stream.read(_BLOCK):
        left -= len(block)
        if left < 0:
            raise ValueError(f"it expands to more than {MAX_EXPANDED} bytes")
        digest.update(block)
    return digest.digest(), left
