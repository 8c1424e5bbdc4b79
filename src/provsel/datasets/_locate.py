"""Find a registered file among the searched folders and verify it."""

import hashlib
from collections.abc import Sequence
from pathlib import Path

from ._errors import DataIntegrityError, MissingDataError
from ._lock import read_lock
from ._paths import MIRROR_VARIABLE, data_dir, describe_roots, search_roots
from ._sources import SourceFile, read_source

_BLOCK = 1 << 20


def file_sha256(path: Path) -> str:
    """Return the SHA-256 of a file, read in blocks."""
    digest = hashlib.sha256()
    with path.open("rb") as handle:
        while block := handle.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def content_hash(paths: Sequence[Path]) -> str:
    """Return the SHA-256 of one file, or one over the hashes of several, in their order."""
    hashes = [file_sha256(path) for path in paths]
    return hashes[0] if len(hashes) == 1 else hashlib.sha256(" ".join(hashes).encode()).hexdigest()


def locate_registered(source: str, path: str) -> Path:
    """Return `locate` of the file that the registry of `source` has under `path`; a loader names its own files."""
    file = read_source(source).find(path)
    assert file is not None
    return locate(file)


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
    for root in search_roots(data):
        path = root / file.path
        if path.is_file():
            verify(file, path, data=data)
            return path
    raise MissingDataError(
        f"{file.source}: the file {file.path} is missing. Searched {describe_roots(data)}. {how_to_get(file)}"
    )


def how_to_get(file: SourceFile) -> str:
    """Return the next step for a missing file, as a sentence."""
    from_mirror = f"set {MIRROR_VARIABLE} to a folder that holds {file.path}"
    if not file.urls:
        return f"It has no public address in the registry: {from_mirror}"
    return f"It is published at {' , '.join(file.urls)} : run `provsel fetch {file.source}`, or {from_mirror}"


def verify(file: SourceFile, path: Path, *, data: Path | None = None) -> str | None:
    """Compare a file with its registered size and hash, or with those of the first download.

    Parameters
    ----------
    file : SourceFile
    path : Path
        The file on disk.
    data : Path or None, default=None
        Data folder, for its lock file.

    Returns
    -------
    str or None
        The verified SHA-256; None when neither registry nor lock knows one.

    Raises
    ------
    DataIntegrityError
        On another size or hash.
    """
    size, sha256, known_from = file.size, file.sha256, "the source registry"
    if sha256 is None:
        folder = data_dir() if data is None else data
        entry = read_lock(folder).get(file.path)
        if entry is not None:
            size, sha256, known_from = entry.size, entry.sha256, "the first download, in the lock file"
    found_size = path.stat().st_size
    if size is not None and found_size != size:
        raise _mismatch(file, path, known_from, f"{size} bytes", f"{found_size} bytes")
    if sha256 is None:
        return None
    found = file_sha256(path)
    if found != sha256:
        raise _mismatch(file, path, known_from, f"SHA-256 {sha256}", f"SHA-256 {found}")
    return sha256


def _mismatch(file: SourceFile, path: Path, known_from: str, expected: str, found: str) -> DataIntegrityError:
    """Return the error for a file that is not the registered one."""
    step = f"delete it and run `provsel fetch {file.source}`" if file.urls else "replace it by an intact copy"
    return DataIntegrityError(
        f"{path}: expected {expected} ({known_from}), found {found}. The file is damaged or another version: {step}"
    )
