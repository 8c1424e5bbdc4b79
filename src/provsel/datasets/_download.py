"""Download one file to its place: streamed, limited, verified while it arrives, and moved at the end."""

import hashlib
import logging
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import pooch

from provsel._files import replacing

from ._errors import DataIntegrityError, FetchError
from ._sources import SourceFile

_SNIFFED = 1024
_log = logging.getLogger(__name__)


@dataclass
class _Sink:
    """File-like target that counts, hashes and refuses error pages and bodies that are too large."""

    handle: IO[bytes]
    file: SourceFile
    url: str
    count: int = 0
    digest: Any = field(default_factory=hashlib.sha256)
    head: bytes = b""

    def write(self, chunk: bytes) -> int:
        """Take the next part of the body."""
        self.count += len(chunk)
        limit = self.file.size or self.file.max_size
        if limit is not None and self.count > limit:
            raise DataIntegrityError(f"{self.url} sends more than the registered {limit} bytes of {self.file.path}")
        if len(self.head) < _SNIFFED:
            self.head += chunk[: _SNIFFED - len(self.head)]
            if self.file.format != "html" and _looks_like_html(self.head):
                raise DataIntegrityError(
                    f"{self.url} answers with a web page, expected {self.file.format}; probably an error page"
                )
        self.digest.update(chunk)
        return self.handle.write(chunk)

    def flush(self) -> None:
        """Do nothing: the file is flushed when it is closed."""


@dataclass
class _Meter:
    """Pooch's progress protocol; `total` is how we learn the Content-Length, 0 when there is none."""

    shown: Any = None
    total: int = 0

    def update(self, amount: int) -> None:
        """Show progress, when that is wanted."""
        if self.shown is not None:
            progress, task = self.shown
            progress.update(task, total=self.total or None, advance=amount)

    def reset(self) -> None:
        """Start again from zero."""
        if self.shown is not None:
            progress, task = self.shown
            progress.reset(task)

    def close(self) -> None:
        """Do nothing: the caller closes the display."""


def download(
    file: SourceFile,
    target: Path,
    *,
    expected: str | None,
    retries: int,
    timeout: float,
    backoff: float,
    shown: Any = None,
) -> tuple[str, int, str]:
    """Download a file from the first address that serves it intact.

    Parameters
    ----------
    file : SourceFile
        With at least one address.
    target : Path
        Replaced only by a verified file; on failure nothing is left behind.
    expected : str or None
        SHA-256 of the registry or the lock file, when one is known.
    retries : int
        Attempts after the first, for each address, when the connection fails or the body is cut.
    timeout, backoff : float
        Seconds; the pause doubles after every attempt.
    shown : (rich Progress, task) or None, default=None
        Where to show progress.

    Returns
    -------
    sha256 : str
    size : int
    url : str

    Raises
    ------
    DataIntegrityError
        When every address serves something else than the registered file.
    FetchError
        When no address could be downloaded.
    """
    failures: list[Exception] = []
    reasons: list[str] = []
    for url in file.urls:
        for attempt in range(1 + retries):
            try:
                return _attempt(file, url, target, expected, timeout, _Meter(shown))
            except DataIntegrityError as error:
                failures.append(error)  # the server is sure of its answer: asking again would not help
                reasons.append(str(error))
                break
            except OSError as error:  # requests' exceptions are OSErrors too
                status = getattr(getattr(error, "response", None), "status_code", None)
                permanent = status is not None and 400 <= status < 500 and status not in (408, 425, 429)
                if permanent or attempt == retries:
                    failures.append(error)
                    reasons.append(f"{url}: {error} ({attempt + 1} attempts)")
                    break
                _log.info("%s: %s; trying again", url, error)
                time.sleep(backoff * 2**attempt)
    kind = DataIntegrityError if all(isinstance(error, DataIntegrityError) for error in failures) else FetchError
    raise kind(
        f"could not fetch {file.path} of {file.source}: {'; '.join(reasons)}. Nothing was kept. "
        "Try again later, look for a new address on the home page, or put the file into the mirror folder"
    )


def _attempt(
    file: SourceFile, url: str, target: Path, expected: str | None, timeout: float, meter: _Meter
) -> tuple[str, int, str]:
    """Make one attempt at one address."""
    # "identity": a body that the server compresses on the way could expand without limit.
    headers = {"Accept-Encoding": "identity"}
    downloader = pooch.HTTPDownloader(progressbar=meter, chunk_size=1 << 16, timeout=timeout, headers=headers)
    with replacing(target) as temporary:
        with temporary.open("xb") as handle:
            sink = _Sink(handle, file, url)
            downloader(url, sink, None)
        wanted = meter.total or file.size or 0
        if sink.count < wanted:
            raise FetchError(f"the transfer was cut: {sink.count} of {wanted} bytes arrived")
        if sink.count == 0:
            raise FetchError("the answer is empty")
        found = sink.digest.hexdigest()
        if expected is not None and found != expected:
            raise DataIntegrityError(f"{url}: expected SHA-256 {expected}, found {found} ({sink.count} bytes)")
    return found, sink.count, url


def _looks_like_html(head: bytes) -> bool:
    """Tell whether a body begins like a web page."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if text.startswith((b"<!doctype html", b"<html")):
        return True
    return text.startswith((b"<?xml", b"<!--")) and (b"<html" in text or b"<!doctype html" in text)
