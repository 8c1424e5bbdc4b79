"""Fetch the files of a source: the only code of the project that touches the network."""

import logging
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from ._errors import DataIntegrityError, MissingDataError
from ._extract import extract
from ._locate import file_sha256, how_to_get, locate
from ._lock import LOCK_NAME, LockEntry, read_lock, record
from ._paths import data_dir as default_data_dir
from ._paths import describe_roots, mirror_dir
from ._registry import dataset_names
from ._sources import SourceFile, read_source, source_names

_log = logging.getLogger(__name__)


def fetch(
    name: str,
    *,
    data_dir: Path | None = None,
    registry: Path | None = None,
    retries: int = 3,
    timeout: float = 30.0,
    backoff: float = 1.0,
    progress: bool = False,
) -> list[Path]:
    """Make the files of a data set available: take those that are there, download and verify the others.

    Parameters
    ----------
    name : str
        One of `source_names()`; a data set that needs no files is accepted and nothing is done.
    data_dir : Path or None, default=None
        Folder to write to, in place of `$PROVSEL_DATA`.
    registry : Path or None, default=None
        Folder of source YAML files; None is the registry of the package.
    retries : int, default=3
        Attempts after the first, for each address.
    timeout : float, default=30
        Seconds without an answer after which an attempt fails.
    backoff : float, default=1
        Seconds before the second attempt; doubled before each further one.
    progress : bool, default=False
        Show a progress bar.

    Returns
    -------
    list of Path
        The verified files. Archives are extracted beside them as the registry says.

    Raises
    ------
    ValueError
        For an unknown name or an archive that is refused.
    MissingDataError
        When the files have no public address and no mirror holds them.
    DataIntegrityError
        When what arrives, or what a mirror holds, is not the registered file. Nothing is kept of a download.
    FetchError
        When no address could be downloaded. Nothing is kept.
    """
    if name not in source_names(registry) and name in dataset_names():
        _log.info("%s needs no files: nothing to fetch", name)
        return []
    source = read_source(name, registry)
    folder = default_data_dir() if data_dir is None else Path(data_dir)
    paths: list[Path] = []
    absent: list[SourceFile] = []
    for file in source.files:
        path = _present(file, folder)
        downloaded = None
        if path is None and not file.urls:
            absent.append(file)
            continue
        if path is None:
            path = folder / file.path
            downloaded = _download(file, folder, retries=retries, timeout=timeout, backoff=backoff, progress=progress)
        try:
            _unpack(file, path, folder)
        except ValueError:
            if downloaded is not None:
                path.unlink()
            raise
        if downloaded is not None and file.sha256 is None:
            _record(file, folder, downloaded)
        paths.append(path)
    if absent and not any(file.urls for file in source.files):
        raise MissingDataError(
            f"{name}: {len(absent)} of {len(source.files)} files are missing, among them {absent[0].path}. "
            f"They can only be taken from a mirror folder. Searched {describe_roots(folder)}. "
            f"{how_to_get(absent[0])}"
        )
    if absent:
        _log.info("%s: %d files without a public address are in no mirror; left out", name, len(absent))
    return paths


def _present(file: SourceFile, folder: Path) -> Path | None:
    """Return the verified file when it is there; a damaged download of ours counts as absent."""
    try:
        return locate(file, data=folder)
    except MissingDataError:
        return None
    except DataIntegrityError:
        mirror = mirror_dir()
        # A mirror is the user's own folder: say what is wrong with it. Our download can be made again.
        if not file.urls or (mirror is not None and (mirror / file.path).is_file()):
            raise
        _log.warning("%s is damaged: downloading it again", folder / file.path)
        return None


def _download(
    file: SourceFile, folder: Path, *, retries: int, timeout: float, backoff: float, progress: bool
) -> LockEntry:
    """Download one file to the data folder, verified against the registry or the lock file."""
    from ._download import download  # pooch takes 0.1 s to import, which loaders do not need

    locked = read_lock(folder).get(file.path) if file.sha256 is None else None
    expected = locked.sha256 if locked else file.sha256
    with _display(progress) as shown:
        task = None if shown is None else (shown, shown.add_task(file.path, total=file.size))
        try:
            sha256, size, url = download(
                file,
                folder / file.path,
                expected=expected,
                retries=retries,
                timeout=timeout,
                backoff=backoff,
                shown=task,
            )
        except DataIntegrityError as error:
            if locked is None:
                raise
            raise DataIntegrityError(
                f"{error}. The expected hash is that of the first download: if the publisher has changed the "
                f"file on purpose, delete its entry from {folder / LOCK_NAME} and fetch again"
            ) from error
    return LockEntry(sha256, size, url)


def _unpack(file: SourceFile, path: Path, folder: Path) -> None:
    """Extract an archive as the registry says; other files are left alone."""
    if file.extract and file.extract_to and file.max_expanded:
        target = folder / file.extract_to
        sha256 = file.sha256 or file_sha256(path)
        extract(path, target, kind=file.extract, max_expanded=file.max_expanded, sha256=sha256)


def _record(file: SourceFile, folder: Path, entry: LockEntry) -> None:
    """Write the first download of a file into the lock file and say so."""
    if file.path in read_lock(folder):
        return
    record(folder, file.path, entry)
    _log.warning(
        "%s: hash not known beforehand. Recorded SHA-256 %s and %d bytes in %s; later downloads must agree",
        file.path,
        entry.sha256,
        entry.size,
        folder / LOCK_NAME,
    )


def _display(progress: bool) -> AbstractContextManager[Any]:
    """Return a progress display, or a context that gives None."""
    if not progress:
        return nullcontext()
    from rich.progress import Progress

    return Progress()
