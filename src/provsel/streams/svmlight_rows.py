"""Rows of svmlight files, of which one line at a time is in memory as text."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

from .row_sources import NAME, Chunk, RowSource
from .sources import DAMAGED, damaged

_OPEN: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
SVMLIGHT = tuple(kind + packed for kind in (".svm", ".svmlight", ".libsvm", ".txt") for packed in ("", *_OPEN))
_SCAN_ROWS = 512
_MAX_LINE = 1 << 26
"""Bytes; a packed file of one line would otherwise be in memory as a whole, a thousand times its size."""


class SvmlightRows(RowSource):
    """Labels and rows of a file of lines "label index:value ...", packed or not.

    Without `n_features` a first pass finds it, together with the number of rows and whether indices start at 0 or,
    as usual, at 1. With it there is no such pass, and they start at 1.
    """

    def __init__(self, path: Path, n_features: int | None = None) -> None:
        self._path, self._zero_based, self.n_samples = path, False, None
        self.n_features = self._scan() if n_features is None else n_features

    def chunks(self, size: int) -> Iterator[Chunk]:
        """Yield CSR rows and their labels, float64."""
        start = 0
        for X, y in self._parsed(size, zero_based=self._zero_based, n_features=self.n_features):
            start += y.size
            yield X, y
        if self.n_samples not in (None, start):
            raise ValueError(
                f"{NAME}: {self._path}: expected {self.n_samples} rows as on the first pass, got {start}; "
                f"leave the file as it is until all is read."
            )

    def _scan(self) -> int:
        n, lowest, highest = 0, 1, 0
        for X, y in self._parsed(_SCAN_ROWS, zero_based=True):
            n += y.size
            if X.nnz:
                lowest, highest = min(lowest, int(X.indices.min())), max(highest, int(X.indices.max()))
        if n == 0:
            raise ValueError(f"{NAME}: {self._path}: expected at least one row, got none; write it again.")
        self.n_samples, self._zero_based = n, lowest == 0
        return highest + self._zero_based

    def _parsed(self, size: int, **options: Any) -> Iterator[tuple[Any, Any]]:
        """Yield (X, y) of up to `size` rows."""
        from sklearn.datasets import load_svmlight_file  # brings the loaders of all its data sets

        with self._open() as file:
            rows, start = _rows(file), 0
            while True:
                part = _Part(rows, size)
                try:
                    X, y = load_svmlight_file(part, **options)
                except DAMAGED as error:
                    if part.failure is not None:
                        expected = f"rows from {start} on in good order"
                        raise damaged(NAME, self._path, expected, part.failure) from part.failure
                    raise self._wrong_line(error, start, size, options) from error
                if not y.size:
                    return
                start += y.size
                yield X, y

    def _wrong_line(self, error: Exception, start: int, size: int, options: dict[str, Any]) -> ValueError:
        """Return what to raise for the first line that is wrong, of the `size` from `start` on, which are read anew."""
        from sklearn.datasets import load_svmlight_file

        with self._open() as file:
            for number, line in enumerate(islice(_rows(file), start, start + size), start):
                try:
                    load_svmlight_file(BytesIO(line), **options)
                except DAMAGED as found:
                    error, start = found, number
                    break
        return ValueError(
            f"{NAME}: {self._path}: expected lines 'label index:value ...' with increasing indices "
            f"{self._range(options)}, got {error!s:.200} in row {start}; write the file again, or leave out n_features."
        )

    def _open(self) -> Any:
        return _OPEN.get(self._path.suffix.lower(), open)(self._path, "rb")

    def _range(self, options: dict[str, Any]) -> str:
        first, m = int(not options["zero_based"]), options.get("n_features")
        return f"from {first} on" if m is None else f"from {first} to {m - 1 + first}"


def _rows(file: Any) -> Iterator[bytes]:
    """Yield the lines that are rows, no comments."""
    while line := file.readline(_MAX_LINE + 1):
        if len(line) > _MAX_LINE:
            raise ValueError(f"a line of more than {_MAX_LINE} bytes")
        if line.split(b"#", 1)[0].strip():
            yield line


class _Part:
    """The next lines, as a file for `load_svmlight_file`, which asks for `read` and then only iterates.

    Lines that are joined first would be in memory twice, and rows of text take more of it than the numbers in them.
    """

    def __init__(self, rows: Iterator[bytes], size: int) -> None:
        self._rows = islice(rows, size)
        self.failure: Exception | None = None

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._rows
        except DAMAGED as error:
            self.failure = error  # of the file, where other errors are about what a line says
            raise

    def read(self) -> bytes:
        return b"".join(self)
