"""Files of data sets on this machine: the searched folders, and the verification of registered files.

`provsel fetch` writes to the data folder; loaders only read. The mirror folder is
searched first and never written to.
"""

from __future__ import annotations

import gzip
import hashlib
import lzma
import os
import tarfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import IO, Any

from provlab.project.documents import file_state

from .registry import SourceFile

MIRROR_VARIABLE = "PROVSEL_DATA_MIRROR"
DATA_VARIABLE = "PROVSEL_DATA"

ROW_BYTES = 64
COLUMN_BYTES = 256
"""Memory per column of a user's table in addition to the numbers, for labels and names."""


class MissingDataError(FileNotFoundError):
    """A required file is in none of the searched folders; `dataset` names the data set to fetch, if known."""

    def __init__(self, message: str, dataset: str = "") -> None:
        super().__init__(message)
        self.dataset = dataset


class DataIntegrityError(ValueError):
    """A file exists but is not the registered one, because its hash or size differs."""


class TableError(ValueError):
    """A user's table cannot be read unambiguously. The message does not include the file name."""


@dataclass(frozen=True)
class ArchivedFile:
    """A file in a user's zip archive, which is not unpacked to disk; `size` is its uncompressed size."""

    archive: Path
    name: str
    size: int

    def __str__(self) -> str:
        return f"{self.archive}/{self.name}"

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the content, equal to that of the unpacked file."""
        return hashlib.sha256(self.read_bytes()).hexdigest()

    def read_bytes(self) -> bytes:
        """Return the content.

        Raises
        ------
        ValueError
            If the archive is damaged.
        """
        from provsel.streams.sources import DAMAGED  # a plan does not need its imports

        try:
            with (
                zipfile.ZipFile(self.archive) as archive,
                archive.open(self.name) as content,
            ):
                return content.read(self.size)  # at most the declared size
        except DAMAGED as error:
            raise _damaged(self, error) from error


def mirror_dir() -> Path | None:
    """Return the folder `$PROVSEL_DATA_MIRROR`, or None if it is not set."""
    value = os.environ.get(MIRROR_VARIABLE, "")
    return Path(value).expanduser() if value else None


def data_dir() -> Path:
    """Return the folder `$PROVSEL_DATA`, by default `~/.cache/provsel`, for downloads and caches."""
    return Path(os.environ.get(DATA_VARIABLE) or "~/.cache/provsel").expanduser()


def describe_roots() -> str:
    """Return a description of the searched folders for error messages."""
    mirror = mirror_dir()
    if mirror is None:
        first = f"${MIRROR_VARIABLE} (not set)"
    elif mirror.is_dir():
        first = f"${MIRROR_VARIABLE}={mirror}"
    else:
        first = f"${MIRROR_VARIABLE}={mirror} (no such folder)"
    return f"{first}, then ${DATA_VARIABLE}={data_dir()}"


def find_file(path: str) -> Path | None:
    """Return the first file with this relative path in the mirror or the data folder, without verifying it."""
    for root in (mirror_dir(), data_dir()):
        if root is not None and (root / path).is_file():
            return root / path
    return None


def locate(file: SourceFile) -> Path:
    """Return the verified path of a registered file, in the mirror or otherwise in the data folder.

    Raises
    ------
    MissingDataError
        If no searched folder has the file.
    DataIntegrityError
        If the first file found is not the registered one.
    """
    path = find_file(file.path)
    if path is None:
        where = (
            f"published at {' , '.join(file.urls)}"
            if file.urls
            else f"made from the published {file.made_from[0]}"
        )
        raise MissingDataError(
            f"{file.source}: the file {file.path} is missing. Searched {describe_roots()}. It is {where} : run "
            f"`provsel fetch {file.source}`, or set {MIRROR_VARIABLE} to a folder that holds {file.path}",
            dataset=file.source,
        )
    reason = difference(file, path)
    if reason:
        raise DataIntegrityError(
            f"{path}: {reason}. The file is damaged or another version: delete it and run `provsel fetch {file.source}`"
        )
    return path


def difference(file: SourceFile, path: Path) -> str:
    """Return a description of expected and actual properties of a file; "" if it is the registered file.

    The size and the SHA-256 are compared, or the content of a compressed file.
    """
    size = path.stat().st_size
    expected = f"{file.size} bytes"
    got = f"{size} bytes"
    if file.size in (None, size):
        expected = f"SHA-256 {file.sha256}"
        got = f"SHA-256 {file_sha256(path)}"
        if expected == got:
            return ""
    if file.content_sha256 is not None:
        try:
            content = file_sha256(path, file.format)
        except Exception as error:
            # a damaged or different file: each library raises its own errors
            content = f"that cannot be read ({error!s:.300})"
        if content == file.content_sha256:
            return ""
        expected += f" or the content {file.content_sha256}"
        got += f" and the content {content}"
    return f"expected {expected} (the source registry), found {got}"


def file_sha256(path: Path, packed: str = "") -> str:
    """Return the SHA-256 of a file, or of the content of a compressed one.

    Versions of zlib and liblzma compress the same content to different bytes, and
    GitHub may recompress a commit at any time. The hash of the compressed file then
    changes, but not that of its content. A process hashes a file only once while the
    file system reports it as unchanged.

    Parameters
    ----------
    path : Path
    packed : {"", "gz", "xz", "npz", "tar.gz", "tar.xz"}, default=""
        "gz" and "xz" mean the hash of the uncompressed stream. For archives, the hash
        is over all files sorted by name: the name, a zero byte, and the 32 bytes of the
        file's SHA-256. A top folder that contains all files is not part of their names,
        because GitHub names it after the commit.

    Raises
    ------
    Exception
        Any error of the library if the file is damaged.
    """
    return _hashed(path.absolute(), packed, file_state(path))


@lru_cache(maxsize=4096)
def _hashed(path: Path, packed: str, state: object) -> str:
    openers: dict[str, Any] = {"": open, "gz": gzip.open, "xz": lzma.open}
    if packed in openers:
        with openers[packed](path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    hashes = {}
    for name, stream in _members(path, packed):
        hashes[name] = hashlib.file_digest(stream, "sha256").digest()  # type: ignore[arg-type]
    tops = {"".join(name.partition("/")[:2]) for name in hashes}
    top = tops.pop() if len(tops) == 1 else ""
    if not top.endswith("/"):
        top = ""
    digest = hashlib.sha256()
    for name in sorted(hashes):  # removing a common prefix keeps the order
        digest.update(
            name.removeprefix(top).encode("utf-8", "surrogateescape")
            + b"\0"
            + hashes[name]
        )
    return digest.hexdigest()


def archived_files(archive: Path) -> Sequence[ArchivedFile]:
    """Return the files of a user's zip archive; the list is cached while the archive is unchanged.

    Raises
    ------
    ValueError
        If the archive is damaged.
    """
    return _archived(archive.absolute(), file_state(archive))


@lru_cache(maxsize=4)
def _archived(archive: Path, state: object) -> Sequence[ArchivedFile]:
    from provsel.streams.sources import DAMAGED

    try:
        with zipfile.ZipFile(archive) as content:
            entries = content.infolist()
    except DAMAGED as error:
        raise _damaged(archive, error) from error
    return [
        ArchivedFile(archive, entry.filename, entry.file_size)
        for entry in entries
        if not entry.is_dir()
    ]


def _damaged(file: object, error: Exception) -> ValueError:
    return ValueError(
        f"{file}: expected an intact zip archive, got {type(error).__name__}: {error!s:.200}; download it again."
    )


def _members(path: Path, kind: str) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield the name and content of each file in a zip ("npz") or tar archive."""
    if kind == "npz":
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                with archive.open(name) as stream:
                    yield name, stream
        return
    with tarfile.open(path, "r|*") as archive:
        for member in archive:
            if content := member.isreg() and archive.extractfile(member):
                yield member.name, content
