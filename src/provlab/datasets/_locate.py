"""Find a registered file among the searched folders and verify it."""

from pathlib import Path

from ._errors import DataIntegrityError, MissingDataError
from ._hashes import file_content_sha256, file_sha256
from ._lock import read_lock
from ._paths import MIRROR_VARIABLE, data_dir, describe_roots, search_roots
from ._sources import SourceFile


def is_present(path: str) -> bool:
    """Tell whether a searched folder has a file, whatever is in it."""
    return any((root / path).is_file() for root in search_roots())


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
    if not file.fetchable:
        return f"It has no public address in the registry: {from_mirror}"
    if file.urls:
        where = f"It is published at {' , '.join(file.urls)}"
    else:
        more = f" and {len(file.made_from) - 1} more" if len(file.made_from) > 1 else ""
        where = f"It is made from the published {file.made_from[0]}{more}"
    return f"{where} : run `provsel fetch {file.source}`, or {from_mirror}"


def verify(file: SourceFile, path: Path, *, data: Path | None = None) -> None:
    """Raise unless a file is the registered one, or that of the first download.

    Parameters
    ----------
    file : SourceFile
    path : Path
        The file on disk.
    data : Path or None, default=None
        Data folder, for its lock file and its memory of hashes.

    Raises
    ------
    DataIntegrityError
        On another size or hash, and other content where that is registered.
    """
    if differs := difference(file, path, data=data):
        step = f"delete it and run `provsel fetch {file.source}`" if file.fetchable else "replace it by an intact copy"
        raise DataIntegrityError(f"{path}: {differs}. The file is damaged or another version: {step}")


def difference(file: SourceFile, path: Path, *, data: Path | None = None) -> str:
    """Return what was expected of a file and what was found, in words; "" for the registered file.

    Size and hash decide, or else the content of a packed file; without registered hashes those of the first download.
    A file of which nothing is known is taken as it is.
    """
    folder = data_dir() if data is None else data
    size, sha256, known_from = file.size, file.sha256, "the source registry"
    if file.digest is None and (entry := read_lock(folder).get(file.path)) is not None:
        size, sha256, known_from = entry.size, entry.sha256, "the first download, in the lock file"
    expected, found, found_size = "", "", path.stat().st_size
    if size is not None and found_size != size:
        expected, found = f"{size} bytes", f"{found_size} bytes"
    elif sha256 is not None:
        expected, found = f"SHA-256 {sha256}", f"SHA-256 {file_sha256(path, data=folder)}"
        if expected == found:
            return ""
    elif file.content_sha256 is None:
        return ""
    if file.content_sha256 is not None:
        try:
            content = file_content_sha256(path, file.format, limit=file.max_expanded, data=folder)
        except ValueError as error:
            content = f"that cannot be read ({error!s:.300})"
        if content == file.content_sha256:
            return ""
        expected = f"{expected} or the content {file.content_sha256}".removeprefix(" or ")
        found = f"{found} and the content {content}".removeprefix(" and ")
    return f"expected {expected} ({known_from}), found {found}"
