"""Obtain the files of one source: found, downloaded, or made from others."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from provsel.files import ABANDONED

from ._errors import DataIntegrityError, FetchError, MissingDataError
from ._extract import extract
from ._hashes import file_sha256
from ._locate import difference, how_to_get, locate
from ._lock import LOCK_NAME, LockEntry, read_lock, record
from ._paths import describe_roots, mirror_dir
from ._progress import Progress
from ._sources import RAW, Source, SourceFile
from .converters import run_converter

if TYPE_CHECKING:
    from ._download import Transfer

_SCRATCH = ".making-"
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Obtained:
    """What became of one file.

    Parameters
    ----------
    file : SourceFile
    path : Path or None
        Where it is, verified; None when it could not be had.
    error : Exception or None
        Why not.
    """

    file: SourceFile
    path: Path | None
    error: Exception | None


class Obtaining:
    """Obtains the files of one source, each once.

    Parameters
    ----------
    source : Source
    folder : Path
        The data folder.
    progress : Progress
    keep_raw : bool
        Keep the downloads that other files are made from. They are many times as large as what is made of them, and
        nobody reads them again.
    **transfer
        Of `Transfer`.
    """

    def __init__(self, source: Source, folder: Path, progress: Progress, *, keep_raw: bool, **transfer: Any) -> None:
        self._source, self._folder, self._progress, self._keep_raw = source, folder, progress, keep_raw
        self._options = transfer
        self._transfer: Transfer | None = None
        self._done: dict[str, Obtained] = {}

    def all_files(self) -> list[Obtained]:
        """Obtain every file that the loader can read; one that cannot be had does not stop the others."""
        return [self._obtain(file) for file in self._source.published()]

    def _obtain(self, file: SourceFile) -> Obtained:
        if file.path not in self._done:
            try:
                self._done[file.path] = Obtained(file, self._get(file), None)
            except (ValueError, OSError) as error:
                self._done[file.path] = Obtained(file, None, error)
        return self._done[file.path]

    def _get(self, file: SourceFile) -> Path:
        """Return the verified file, found, or else downloaded, or else made."""
        path, url = self._present(file), None
        if path is None and not file.fetchable:
            raise MissingDataError(
                f"{file.source}: the file {file.path} is missing. It can only be taken from a mirror folder. Searched "
                f"{describe_roots(self._folder)}. {how_to_get(file)}"
            )
        if path is None:
            path = self._folder / file.path
            try:
                url = self._download(file) if file.urls else None
            except (DataIntegrityError, FetchError) as error:
                if not file.made_from:
                    raise
                _log.info("%s; trying to make it", error)
            if url is None:
                self._make(file, path)
        try:
            self._unpack(file, path)
        except ValueError:
            if url is not None:
                path.unlink()
            raise
        if url is not None and file.digest is None:
            self._record(file, LockEntry(file_sha256(path, data=self._folder), path.stat().st_size, url))
        return path

    def _present(self, file: SourceFile) -> Path | None:
        """Return the verified file when it is there; a damaged one of ours counts as absent."""
        try:
            return locate(file, data=self._folder)
        except MissingDataError:
            return None
        except DataIntegrityError:
            mirror = mirror_dir()
            # A mirror is the user's own folder: say what is wrong with it. Our file can be had again.
            if not file.fetchable or (mirror is not None and (mirror / file.path).is_file()):
                raise
            _log.warning("%s is damaged: fetching it again", self._folder / file.path)
            return None

    def _download(self, file: SourceFile) -> str:
        """Download one file to the data folder, and return where it came from."""
        from ._download import Transfer, download  # requests takes 0.1 s to import, which loaders do not need

        if self._transfer is None:
            self._transfer = Transfer(**self._options)
        locked = file.digest is None and file.path in read_lock(self._folder)
        with self._progress.step("download", file.path, file.size) as meter:
            try:
                return download(file, self._folder, transfer=self._transfer, meter=meter)
            except DataIntegrityError as error:
                if not locked:
                    raise
                raise DataIntegrityError(
                    f"{error}. The expected hash is that of the first download: if the publisher has changed the "
                    f"file on purpose, delete its entry from {self._folder / LOCK_NAME} and fetch again"
                ) from error

    def _make(self, file: SourceFile, path: Path) -> None:
        """Make a file from others by its converter: verified in a folder of its own, and then moved to its place."""
        inputs = []
        for name in file.made_from:
            source = self._source.find(name)
            assert source is not None
            obtained = self._obtain(source)
            if obtained.path is None:
                kind = DataIntegrityError if isinstance(obtained.error, DataIntegrityError) else FetchError
                raise kind(f"cannot make {file.path} without {name}: {obtained.error}") from obtained.error
            inputs.append(obtained.path)
        assert file.converter is not None
        self._folder.mkdir(parents=True, exist_ok=True)
        self._sweep()
        with (
            self._progress.step("make", file.path, None),
            tempfile.TemporaryDirectory(dir=self._folder, prefix=_SCRATCH) as scratch,
        ):
            made = Path(scratch) / path.name
            run_converter(file.converter, inputs, made)
            if differs := difference(file, made, data=self._folder):
                raise DataIntegrityError(
                    f"{file.path}: the converter {file.converter} made another file of {', '.join(file.made_from[:3])}"
                    f": {differs}. Nothing was kept"
                )
            path.parent.mkdir(parents=True, exist_ok=True)
            os.replace(made, path)
        if not self._keep_raw:
            self._drop_raw(file)

    def _drop_raw(self, made: SourceFile) -> None:
        """Remove the raw files of ours that a file was made from, unless others still have to be made from them."""
        if mirror_dir() == self._folder:
            return
        for name in made.made_from:
            others = [file.path for file in self._source.files if name in file.made_from and file != made]
            if name.startswith(RAW) and all(path in self._done and self._done[path].path for path in others):
                with suppress(OSError):  # a folder that is not empty, or was never made
                    (self._folder / name).unlink(missing_ok=True)
                    for parent in (self._folder / name).relative_to(self._folder).parents[:-1]:
                        (self._folder / parent).rmdir()

    def _sweep(self) -> None:
        """Remove what conversions have left that were killed."""
        for folder in self._folder.glob(f"{_SCRATCH}*"):
            if time.time() - folder.stat().st_mtime > ABANDONED:
                shutil.rmtree(folder, ignore_errors=True)

    def _unpack(self, file: SourceFile, path: Path) -> None:
        """Extract an archive as the registry says; other files are left alone."""
        if file.extract and file.extract_to and file.max_expanded:
            sha256 = file.digest or file_sha256(path, data=self._folder)
            target = self._folder / file.extract_to
            extract(path, target, kind=file.extract, max_expanded=file.max_expanded, sha256=sha256)

    def _record(self, file: SourceFile, entry: LockEntry) -> None:
        """Write the first download of a file into the lock file and say so."""
        if file.path in read_lock(self._folder):
            return
        record(self._folder, file.path, entry)
        _log.warning(
            "%s: hash not known beforehand. Recorded SHA-256 %s and %d bytes in %s; later downloads must agree",
            file.path,
            entry.sha256,
            entry.size,
            self._folder / LOCK_NAME,
        )
