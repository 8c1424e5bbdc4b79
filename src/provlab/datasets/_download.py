"""Download one file to its place: streamed, limited, resumed where it broke, verified, and moved at the end."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from io import SEEK_END
from pathlib import Path
from typing import IO

import requests

from ._arriving import arriving, kept
from ._errors import DataIntegrityError, FetchError
from ._locate import difference
from ._sources import SourceFile

_BLOCK = 1 << 16
_SNIFFED = 1024
_BROKEN = (requests.RequestException, FetchError)
_log = logging.getLogger(__name__)

Meter = Callable[[int, int | None], None]
"""Is told how many bytes are there, and of how many if that is known."""


@dataclass(frozen=True)
class Transfer:
    """How to download.

    Parameters
    ----------
    retries : int, default=3
        Attempts after the first, for each address, when the connection fails or the body is cut.
    timeout : float, default=30
        Seconds without an answer after which an attempt fails.
    backoff : float, default=1
        Seconds before the second attempt; doubled before each further one.
    session : requests.Session
        Keeps connections open from file to file.
    """

    retries: int = 3
    timeout: float = 30.0
    backoff: float = 1.0
    session: requests.Session = field(default_factory=requests.Session)


class _WrongRestError(DataIntegrityError):
    """What was kept and what arrived are no file together."""


class _Sink:
    """Counts and writes what arrives, and refuses error pages and bodies that are too large."""

    def __init__(self, handle: IO[bytes], file: SourceFile, url: str) -> None:
        self._handle, self._file, self._url, self._head = handle, file, url, b""
        self.count = self.kept = handle.seek(0, SEEK_END)
        """Bytes that are there, and those among them of an earlier attempt."""

    def start_anew(self) -> None:
        """Drop what was kept: the server sends the whole."""
        self._handle.truncate(0)
        self.count = self.kept = 0

    def write(self, chunk: bytes) -> None:
        """Take the next part of the body."""
        self.count += len(chunk)
        limit = self._file.max_size or self._file.size
        if limit is not None and self.count > limit:
            raise DataIntegrityError(f"{self._url} sends more than the registered {limit} bytes of {self._file.path}")
        if len(self._head) < _SNIFFED:
            self._head += chunk[: _SNIFFED - len(self._head)]
            if self._file.format != "html" and _looks_like_html(self._head):
                raise DataIntegrityError(
                    f"{self._url} answers with a web page, expected {self._file.format}; probably an error page"
                )
        self._handle.write(chunk)


def download(file: SourceFile, folder: Path, *, transfer: Transfer, meter: Meter) -> str:
    """Download a file from the first address that serves it intact.

    Parameters
    ----------
    file : SourceFile
        With at least one address.
    folder : Path
        The data folder. The file's place in it is taken by a verified file only.
    transfer : Transfer
    meter : callable
        Is told of the progress.

    Returns
    -------
    str
        The address.

    Raises
    ------
    DataIntegrityError
        When every address serves something else than the registered file. Nothing is kept.
    FetchError
        When no address could be downloaded. What arrived of a file whose hash is known is kept for the next attempt.
    OSError
        When the file cannot be written. Nothing is kept.
    """
    failures: list[Exception] = []
    reasons: list[str] = []
    for url in file.urls:
        for attempt in range(1 + transfer.retries):
            try:
                try:
                    return _attempt(file, url, folder, transfer, meter)
                except _WrongRestError as error:
                    _log.info("%s: %s; starting anew", url, error)
                    return _attempt(file, url, folder, transfer, meter)
            except DataIntegrityError as error:
                failures.append(error)  # the server is sure of its answer: asking again would not help
                reasons.append(str(error))
                break
            except _BROKEN as error:
                status = getattr(getattr(error, "response", None), "status_code", None)
                permanent = status is not None and 400 <= status < 500 and status not in (408, 425, 429)
                if permanent or attempt == transfer.retries:
                    failures.append(error)
                    reasons.append(f"{url}: {error} ({attempt + 1} attempts)")
                    break
                _log.info("%s: %s; trying again", url, error)
                time.sleep(transfer.backoff * 2**attempt)
    kind = DataIntegrityError if all(isinstance(error, DataIntegrityError) for error in failures) else FetchError
    count = kept(folder / file.path, file.digest)
    left = f"The {count} bytes that arrived are kept, the next fetch resumes there" if count else "Nothing was kept"
    raise kind(
        f"could not fetch {file.path} of {file.source}: {'; '.join(reasons)}. {left}. "
        "Try again later, look for a new address on the home page, or put the file into the mirror folder"
    )


def _attempt(file: SourceFile, url: str, folder: Path, transfer: Transfer, meter: Meter) -> str:
    """Make one attempt at one address."""
    with arriving(folder / file.path, file.digest, keep_on=(*_BROKEN, KeyboardInterrupt)) as handle:
        sink = _Sink(handle, file, url)
        try:
            _receive(file, url, sink, transfer, meter)
            handle.flush()
            if differs := difference(file, Path(handle.name), data=folder):
                raise DataIntegrityError(f"{url}: {differs}")
        except DataIntegrityError as error:
            if sink.kept:  # perhaps that was of another file: the whole decides
                raise _WrongRestError(str(error)) from error
            raise
    return url


def _receive(file: SourceFile, url: str, sink: _Sink, transfer: Transfer, meter: Meter) -> None:
    """Ask for what is missing, and take it."""
    # "identity": a body that the server compresses on the way could expand without limit.
    headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={sink.kept}-"} if sink.kept else {})}
    with transfer.session.get(url, headers=headers, timeout=transfer.timeout, stream=True) as answer:
        if sink.kept and answer.status_code == requests.codes.requested_range_not_satisfiable:
            raise _WrongRestError(f"{url} has no bytes after the {sink.kept} that were kept")
        answer.raise_for_status()
        if sink.kept and answer.status_code != requests.codes.partial_content:
            sink.start_anew()
        if sink.kept and not answer.headers.get("Content-Range", "").startswith(f"bytes {sink.kept}-"):
            raise _WrongRestError(f"{url} was asked for the bytes from {sink.kept} on and sends others")
        length = answer.headers.get("Content-Length", "")
        other_sizes = file.content_sha256 is not None
        total = sink.kept + int(length) if length.isdecimal() else None if other_sizes else file.size
        for chunk in answer.iter_content(_BLOCK):
            sink.write(chunk)
            meter(sink.count, total)
    if total is not None and sink.count < total:
        raise FetchError(f"the transfer was cut: {sink.count} of {total} bytes arrived")
    if sink.count == 0:
        raise FetchError("the answer is empty")


def _looks_like_html(head: bytes) -> bool:
    """Tell whether a body begins like a web page."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if text.startswith((b"<!doctype html", b"<html")):
        return True
    return text.startswith((b"<?xml", b"<!--")) and (b"<html" in text or b"<!doctype html" in text)
