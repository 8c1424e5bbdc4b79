"""Download of the files of a source; no other module of the project uses the network.

A file is taken from the mirror or the data folder, or otherwise downloaded or made from
other files. It is completed in a temporary folder and then renamed, so an interruption
leaves no partial file, and concurrent fetches are safe.
"""

from __future__ import annotations

import gzip
import io
import logging
import lzma
import os
import pickle
import runpy
import tempfile
from collections.abc import Callable, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np

from .files import (
    DataIntegrityError,
    MissingDataError,
    data_dir,
    difference,
    find_file,
    locate,
)
from .identity import dataset_names, is_place, loader
from .registry import RAW, Source, SourceFile, read_source, source_names

SCRIPTS = Path(__file__).parents[3] / "data_scripts"
"""Folder of rarely needed converters in a checkout; each is in a file of its name."""

_BLOCK = 1 << 16
_TIMEOUT = (10.0, 30.0)
"""Timeouts in seconds for the connection and for an answer."""

MAX_UNREACHABLE = 2
"""Number of unreachable hosts after which no other host is tried, because there is no network."""

_log = logging.getLogger(__name__)


class FetchError(OSError):
    """No URL delivers a file, or it cannot be made."""


class UnreachableError(FetchError):
    """No host of a file can be reached; `reason` names the hosts tried, which many files share."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class Obtained(NamedTuple):
    """Result for one file: its verified path, or None and the reason."""

    file: SourceFile
    path: Path | None
    error: Exception | None


def fetch(
    names: Sequence[str],
    *,
    keep_raw: bool = False,
    progress: bool = False,
    retries: int = 2,
) -> dict[str, list[Obtained]]:
    """Fetch data sets into `$PROVSEL_DATA`, continuing after files that cannot be obtained.

    `keep_raw` keeps downloads from which other files are made. `progress` shows the
    progress on standard error. `retries` is the number of further attempts for each
    URL.

    Returns
    -------
    dict of str to list of Obtained
        Results for the files that each loader can read, by data set name; empty if it
        needs no files.

    Raises
    ------
    ValueError
        If a name is unknown, or only the user can obtain the files. Nothing is fetched
        in these cases.
    """
    for name in names:
        if is_place(name, "path"):
            raise ValueError(
                f"data set {name}: it consists of your own files and cannot be fetched; {loader(name).OBTAIN}."
            )
    unreachable: dict[str, str] = {}
    sources = {}
    for name in names:
        # unknown names are refused
        if name in source_names() or name not in dataset_names():
            sources[name] = read_source(name)
    obtained: dict[str, list[Obtained]] = {name: [] for name in names}
    for name, source in sources.items():
        obtained[name] = _Fetch(
            source, keep_raw, progress, retries, unreachable
        ).all_files()
    return obtained


def usable(obtained: Sequence[Obtained]) -> bool:
    """Return whether the loader finds all files of one form."""
    if not obtained:
        return True
    paths = {item.file.path for item in obtained if item.path is not None}
    forms = read_source(obtained[0].file.source).forms
    return any(
        paths.issuperset(map(attrgetter("path"), files)) for files in forms.values()
    )


class _Fetch:
    """Obtains the files of one source."""

    def __init__(
        self,
        source: Source,
        keep_raw: bool,
        progress: bool,
        retries: int,
        unreachable: dict[str, str],
    ) -> None:
        # it imports rich, which loaders do not need
        from provlab.project.terminal import PlainConsole

        self._source = source
        self._keep_raw = keep_raw
        self._retries = retries
        self._console = PlainConsole(stderr=True, quiet=not progress)
        self._unreachable = unreachable  # reasons by host, shared by all sources

    def all_files(self) -> list[Obtained]:
        obtained = []
        for file in self._source.published():
            try:
                obtained.append(Obtained(file, self._obtain(file, data_dir()), None))
            except (ValueError, OSError) as error:
                obtained.append(Obtained(file, None, error))
        return obtained

    def _obtain(self, file: SourceFile, folder: Path) -> Path:
        """Return a verified file: where it already exists, or in `folder` after a download or conversion."""
        path = find_file(file.path)
        try:
            return locate(file)
        except (MissingDataError, DataIntegrityError):
            # The mirror belongs to the user, so its faults are reported. Our own file
            # can be fetched again.
            if path not in (None, data_dir() / file.path):
                raise
        if path is not None:
            _log.warning("%s is damaged: fetching it again", path)
        data_dir().mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            dir=data_dir(), prefix=".fetching-"
        ) as scratch:
            fresh = Path(scratch) / Path(file.path).name
            try:
                self._download(file, fresh)
            except FetchError:
                if not file.made_from:
                    raise
                self._make(file, fresh)
            (folder / file.path).parent.mkdir(parents=True, exist_ok=True)
            os.replace(fresh, folder / file.path)
        return folder / file.path

    def _download(self, file: SourceFile, fresh: Path) -> None:
        """Download a file from the first URL that serves it intact."""
        # with requests it takes 0.3 s to import, which loaders do not need
        import pooch
        import requests

        pooch.get_logger().setLevel("WARNING")
        reasons: list[str] = []
        tried: list[str] = []
        for url in file.urls:
            if (
                len(self._unreachable) >= MAX_UNREACHABLE
                or _host(url) in self._unreachable
            ):
                continue
            if not tried:
                size = f" ({file.size / 1e6:,.1f} MB)" if file.size else ""
                self._console.print(f"download {file.path}{size}", soft_wrap=True)
            tried.append(url)
            downloads = pooch.create(
                fresh.parent,
                "",
                registry={fresh.name: None},
                urls={fresh.name: url},
                retry_if_failed=self._retries,
            )
            try:
                downloads.fetch(
                    fresh.name,
                    downloader=lambda url, target, _: self._stream(
                        file, url, Path(target)
                    ),
                )
            except (requests.RequestException, FetchError) as error:
                reasons.append(f"{url}: {error}")
                continue
            reason = difference(file, fresh)
            if not reason:
                return
            reasons.append(f"{url}: {reason}")
            fresh.unlink()
        if file.urls and all(_host(url) in self._unreachable for url in tried):
            reason = "; ".join(self._unreachable.values())
            raise UnreachableError(
                f"could not fetch {file.path} of {file.source}: {reason}. Nothing was kept. Try again with a network, "
                f"or put the file into the mirror folder",
                reason,
            )
        raise FetchError(
            f"could not fetch {file.path} of {file.source}: {'; '.join(reasons)}. Nothing was kept. Try again later, "
            f"look for a new URL on {self._source.homepage} , or put the file into the mirror folder"
        )

    def _stream(self, file: SourceFile, url: str, target: Path) -> None:
        """Write the content of a URL to a file, up to the registered size."""
        import requests
        from rich.progress import Progress
        from urllib3.exceptions import HTTPError

        limit = file.max_size or file.size or 0
        # "identity": a body that the server compresses on the way could expand without
        # limit
        options: dict[str, Any] = {
            "timeout": _TIMEOUT,
            "headers": {"Accept-Encoding": "identity"},
            "stream": True,
        }
        bar = Progress(
            console=self._console, transient=True, disable=not self._console.is_terminal
        )
        try:
            answer = requests.get(url, **options)
        except requests.ConnectionError as error:
            cause = _no_connection(error)
            if cause:  # a further attempt would wait as long
                self._unreachable[_host(url)] = f"{_host(url)}: {cause}"
                raise FetchError(f"no connection ({cause})") from None
            raise
        with answer, target.open("wb") as output, bar:
            answer.raise_for_status()
            task = bar.add_task(file.path, total=limit)
            try:
                while block := answer.raw.read(_BLOCK):
                    output.write(block)
                    bar.update(task, completed=output.tell())
                    if output.tell() > limit:
                        raise FetchError(
                            f"the server sends more than the registered {limit} bytes of {file.path}"
                        )
            except HTTPError as error:
                raise requests.ConnectionError(error) from error  # pooch tries again

    def _make(self, file: SourceFile, fresh: Path) -> None:
        """Make a file from other files with its converter, and verify it."""
        make = converter(str(file.converter))
        inputs = []
        for name in file.made_from:
            # Raw files are many times as large as the converted ones, and are not read
            # again.
            folder = (
                fresh.parent
                if name.startswith(RAW) and not self._keep_raw
                else data_dir()
            )
            inputs.append(self._obtain(self._source.find(name), folder))
        self._console.print(f"make {file.path}", soft_wrap=True)
        make(inputs, fresh)
        reason = difference(file, fresh)
        if reason:
            raise FetchError(
                f"{file.path}: the converter {file.converter} made a different file from "
                f"{', '.join(file.made_from[:3])}"
                f": {reason}. Nothing was kept"
            )


def _host(url: str) -> str:
    return urlsplit(url).netloc


def _no_connection(error: Any) -> str:
    """Return one line stating why a host cannot be reached; "" if the connection broke."""
    from urllib3.exceptions import ConnectTimeoutError, NewConnectionError, ProxyError

    cause = getattr(error.args[0], "reason", None) if error.args else None
    if not isinstance(cause, NewConnectionError | ConnectTimeoutError | ProxyError):
        return ""
    text = str(getattr(cause, "original_error", cause))
    return text.rpartition(": ")[2].strip("'\")") or type(cause).__name__


# ---- converters


def converter(name: str) -> Callable[[Sequence[Path], Path], None]:
    """Return a converter by its name in the registry, from this module or a checkout.

    Raises
    ------
    FetchError
        If the converter needs a checkout and the installation has none.
    """

    def convert(sources: Sequence[Path], target: Path) -> None:
        [source] = sources
        target.write_bytes(CONVERTERS[name](source.read_bytes()))

    if name in CONVERTERS:
        return convert
    script = SCRIPTS / f"{name}.py"
    if not script.is_file():
        raise FetchError(
            f"the converter data_scripts/{name}.py is not installed; run the fetch in a checkout of the "
            f"repository, or put the file into the mirror folder"
        )
    function: Callable[[Sequence[Path], Path], None] = runpy.run_path(str(script))[name]
    return function


class _TokenUnpickler(pickle.Unpickler):
    """Unpickler for strings and numeric vectors only; it allows three names of NumPy and imports nothing."""

    def find_class(self, module: str, name: str) -> Any:
        of_numpy = {
            "_reconstruct": np.empty(0).__reduce__()[0],
            "ndarray": np.ndarray,
            "dtype": np.dtype,
        }
        if module.partition(".")[0] != "numpy" or name not in of_numpy:
            raise pickle.UnpicklingError(f"{module}.{name} in a pickle of tokens")
        return of_numpy[name]


def techtc_tokens(content: bytes) -> bytes:
    """Return the documents of a pickle as an xz-compressed token list, see `loaders.techtc.read_tokens`.

    The pickle, written by Python 2, holds two halves, each a pair of documents (lists
    of strings) and labels (0 or 1). Documents were assigned to the halves alternately,
    so they are taken from both alternately.
    """
    halves = _TokenUnpickler(io.BytesIO(content), encoding="bytes").load()
    n_documents = sum(len(labels) for _, labels in halves)
    lines = []
    for k in range(n_documents):
        documents, labels = halves[k % 2]
        label = b"+1" if labels[k // 2] else b"-1"
        half = b"b" if k % 2 else b"a"
        lines.append(b" ".join([label, half, *documents[k // 2]]) + b"\n")
    # preset 1 takes a sixth of the time of 6, and files are an eighth larger (18 MB in
    # total)
    return lzma.compress(b"".join(lines), preset=1)


CONVERTERS: dict[str, Callable[[bytes], bytes]] = {
    "pack_gz": lambda content: gzip.compress(content, 6, mtime=0),  # no timestamp
    "pack_xz": lambda content: lzma.compress(content, preset=6),
    "techtc_tokens": techtc_tokens,
}
