"""Fetch the files of a source: the only code of the project that touches the network.

A file is found in the mirror or the data folder, or else downloaded, or else made from others that are. It is complete
in a temporary folder before it takes its place by a rename: an interruption leaves no half a file, and two fetches at
once do no harm.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from .converters import run_converter
from .files import (
    DataIntegrityError,
    MissingDataError,
    describe_roots,
    difference,
    how_to_get,
    locate,
    mirror_dir,
)
from .files import (
    data_dir as default_data_dir,
)
from .identity import dataset_names
from .registry import RAW, Source, SourceFile, forms_of, read_source, source_names

_SCRATCH = ".fetching-"
_ABANDONED = 86400.0
"""Seconds after which a temporary folder is taken for one of a process that was killed."""
_BLOCK = 1 << 16
_PAGES = (b"<!doctype html", b"<html", b"<?xml")
_log = logging.getLogger(__name__)


class FetchError(OSError):
    """No address of a file serves it, or it cannot be made."""


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


def fetch(
    names: Sequence[str],
    *,
    data_dir: Path | None = None,
    registry: Path | None = None,
    keep_raw: bool = False,
    progress: bool = False,
    retries: int = 2,
    timeout: float = 30.0,
) -> dict[str, list[Obtained]]:
    """Fetch several data sets, and continue after a file that cannot be had.

    Parameters
    ----------
    names : sequence of str
    data_dir : Path or None, default=None
        Folder to write to, in place of `$PROVSEL_DATA`.
    registry : Path or None, default=None
        Folder of source YAML files; None is the registry of the package.
    keep_raw : bool, default=False
        Keep the downloads that other files are made from.
    progress : bool, default=False
        Show on the standard error output what is going on.
    retries : int, default=2
        Attempts after the first, for each address.
    timeout : float, default=30
        Seconds without an answer after which an attempt fails.

    Returns
    -------
    dict of str to list of Obtained
        By name, what became of each file that the loader can read; empty for a data set that needs none.

    Raises
    ------
    ValueError
        For an unknown name or a malformed entry of the registry, before anything is fetched.
    """
    known, loaders = source_names(registry), dataset_names()
    sources = {name: read_source(name, registry) for name in names if name in known or name not in loaders}
    folder = default_data_dir() if data_dir is None else Path(data_dir)
    with _Steps(progress) as steps:
        fetched = {
            name: _Fetch(source, folder, steps, keep_raw=keep_raw, retries=retries, timeout=timeout).all_files()
            for name, source in sources.items()
        }
    return {name: fetched.get(name, []) for name in names}


def usable(obtained: Sequence[Obtained]) -> bool:
    """Tell whether the loader finds all that it needs: the files of one form."""
    there = {item.file.path for item in obtained if item.path is not None}
    forms = forms_of([item.file for item in obtained])
    return any(all(file.path in there for file in files) for files in forms.values())


class _Fetch:
    """Obtains the files of one source, each once."""

    def __init__(
        self, source: Source, folder: Path, steps: _Steps, *, keep_raw: bool, retries: int, timeout: float
    ) -> None:
        self._source, self._folder, self._steps, self._keep_raw = source, folder, steps, keep_raw
        self._retries, self._timeout = retries, timeout
        self._done: dict[str, Obtained] = {}

    def all_files(self) -> list[Obtained]:
        return [self._obtain(file) for file in self._source.published()]

    def _obtain(self, file: SourceFile) -> Obtained:
        if file.path not in self._done:
            try:
                self._done[file.path] = Obtained(file, self._path(file, self._folder), None)
            except (ValueError, OSError) as error:
                self._done[file.path] = Obtained(file, None, error)
        return self._done[file.path]

    def _path(self, file: SourceFile, folder: Path) -> Path:
        """Return a verified file: where it was found, or below `folder` when it is downloaded or made."""
        if (there := self._present(file)) is not None:
            return there
        if not file.fetchable:
            raise MissingDataError(
                f"{file.source}: the file {file.path} is missing. It can only be taken from a mirror folder. Searched "
                f"{describe_roots(self._folder)}. {how_to_get(file)}"
            )
        with _scratch(self._folder) as scratch:
            fresh = scratch / Path(file.path).name
            try:
                self._download(file, fresh)
            except FetchError as error:
                if not file.made_from:
                    raise
                _log.info("%s; trying to make it", error)
                self._make(file, fresh, scratch)
            (folder / file.path).parent.mkdir(parents=True, exist_ok=True)
            os.replace(fresh, folder / file.path)
        return folder / file.path

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

    def _download(self, file: SourceFile, fresh: Path) -> None:
        """Download a file from the first address that serves it intact."""
        import pooch  # with requests it takes 0.3 s to import, which loaders do not need
        import requests

        pooch.get_logger().setLevel("WARNING")
        reasons = []
        for url in file.urls:
            downloads = pooch.create(
                fresh.parent, "", registry={fresh.name: None}, urls={fresh.name: url}, retry_if_failed=self._retries
            )
            try:
                with self._steps.step("download", file) as bar:
                    # "identity": a body that the server compresses on the way could expand without limit
                    options = {"timeout": self._timeout, "headers": {"Accept-Encoding": "identity"}}
                    get = pooch.HTTPDownloader(progressbar=bar, chunk_size=_BLOCK, **options)
                    downloads.fetch(fresh.name, downloader=get)
            except (requests.RequestException, FetchError) as error:
                reasons.append(f"{url}: {error}")
                continue
            if not (differs := difference(file, fresh)):
                return
            with fresh.open("rb") as body:
                if body.read(200).lstrip().lower().startswith(_PAGES) and file.format != "html":
                    differs += ", which is a web page; probably an error page or a log-in"
            reasons.append(f"{url}: {differs}")
            fresh.unlink()
        raise FetchError(
            f"could not fetch {file.path} of {file.source}: {'; '.join(reasons) or 'it has no address'}. Nothing was "
            f"kept. Try again later, look for a new address on {self._source.homepage} , or put the file into the "
            "mirror folder"
        )

    def _make(self, file: SourceFile, fresh: Path, scratch: Path) -> None:
        """Make a file from others by its converter, and verify it."""
        inputs = []
        for name in file.made_from:
            part = self._source.find(name)
            assert part is not None
            if name.startswith(RAW):  # many times as large as what is made of it, and nobody reads it again
                inputs.append(self._path(part, self._folder if self._keep_raw else scratch))
                continue
            obtained = self._obtain(part)
            if obtained.path is None:
                raise FetchError(f"cannot make {file.path} without {name}: {obtained.error}") from obtained.error
            inputs.append(obtained.path)
        with self._steps.step("make", file):
            run_converter(str(file.converter), inputs, fresh)
        if differs := difference(file, fresh):
            raise FetchError(
                f"{file.path}: the converter {file.converter} made another file of {', '.join(file.made_from[:3])}"
                f": {differs}. Nothing was kept"
            )


class _Steps:
    """Shows downloads and conversions: as bars in a terminal, as lines of text elsewhere, or not at all."""

    def __init__(self, shown: bool) -> None:
        from rich import progress  # loaders do without

        from provlab.terminal import PlainConsole

        console = PlainConsole(stderr=True)
        columns = progress.TextColumn("{task.description}", markup=False), progress.BarColumn()
        self._bars = progress.Progress(
            *columns, progress.DownloadColumn(), console=console, disable=not (shown and console.is_terminal)
        )
        self._lines = console if shown and not console.is_terminal else None

    def __enter__(self) -> _Steps:
        self._bars.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bars.stop()

    @contextmanager
    def step(self, verb: str, file: SourceFile) -> Iterator[_Bar]:
        """Show that a file is downloaded or made; yield the bar that pooch moves."""
        if self._lines is not None:
            known = f" ({file.size / 1e6:,.1f} MB)" if file.size and verb == "download" else ""
            self._lines.print(f"{verb} {file.path}{known}", soft_wrap=True)
        task = self._bars.add_task(f"{verb} {file.path}", total=file.size)
        try:
            yield _Bar(file, lambda count, total: self._bars.update(task, completed=count, total=total or None))
        finally:
            self._bars.remove_task(task)


class _Bar:
    """The progress bar of a transfer, which ends it beyond the registered size."""

    def __init__(self, file: SourceFile, move: Callable[[int, int], None]) -> None:
        self._file, self._move = file, move
        self.total = 0

    @property
    def total(self) -> int:
        """Bytes that the server announces, 0 when it does not; pooch sets it at the beginning of each attempt."""
        return self._total

    @total.setter
    def total(self, total: int) -> None:
        self._total, self._count = total, 0

    def update(self, count: int) -> None:
        """Add the bytes of a block; pooch takes each for a whole one."""
        self._count += count
        limit = self._file.max_size or self._file.size
        if limit is not None and self._count >= limit + _BLOCK:
            raise FetchError(f"it sends more than the registered {limit} bytes of {self._file.path}")
        self._move(self._count, self._total)

    def reset(self) -> None:
        """Count from zero, as pooch does at the end to add the right number."""
        self._count = 0

    close = reset


@contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder inside of the data folder, and remove those that killed processes have left."""
    folder.mkdir(parents=True, exist_ok=True)
    for other in folder.glob(f"{_SCRATCH}*"):
        with suppress(FileNotFoundError):  # another fetch has just ended
            if time.time() - other.stat().st_mtime > _ABANDONED:
                shutil.rmtree(other, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=_SCRATCH) as scratch:
        yield Path(scratch)
