"""Rows of svmlight files; about 64 kB of lines at a time are in memory as text."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
from collections.abc import Callable, Iterator
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .row_sources import NAME, Chunk, RowSource
from .sources import DAMAGED, damaged
from .svmlight_text import Rows, joined, parsed

OPEN: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".xz": lzma.open,
    ".bz2": bz2.open,
}
SVMLIGHT = tuple(
    kind + packed
    for kind in (".svm", ".svmlight", ".libsvm", ".txt")
    for packed in ("", *OPEN)
)
_QUERY = re.compile(rb"\sqid:([0-9]{1,18})(?!\S)")
_INDEX = re.compile(rb"\s([0-9]{1,18}):")
_SCAN_ROWS = 512
_TOGETHER = 1 << 16
"""Bytes of lines that are parsed together, because rows of text take more memory than their numbers."""
_LAST_BEFORE_LABELS = ord("#")
MAX_LINE = 1 << 26
"""Largest line in bytes; otherwise a compressed file of one line would expand in memory to a thousand times its
size."""


class SvmlightRows(RowSource):
    """Labels and rows of a file of lines "label index:value ...", possibly compressed.

    Without `n_features` a first pass finds it, and the number of rows. Unless
    `zero_based` is set, this pass also finds whether indices start at 0 or, as usual,
    at 1. With `n_features` there is no such pass, and they start at 1 by default.
    """

    def __init__(
        self, path: Path, n_features: int | None = None, zero_based: bool | None = None
    ) -> None:
        self._path, self._given, self._zero_based, self.n_samples = (
            path,
            zero_based,
            bool(zero_based),
            None,
        )
        self.n_features = self._scan() if n_features is None else n_features

    def chunks(self, size: int) -> Iterator[Chunk]:
        """Yield CSR rows and their labels, float64."""
        start = 0
        for X, y in self._parsed(
            size, zero_based=self._zero_based, n_features=self.n_features
        ):
            start += y.size
            yield X, y
        if self.n_samples not in (None, start):
            raise ValueError(
                f"{NAME}: {self._path}: expected {self.n_samples} rows as on the first pass, got {start}; leave the "
                f"file unchanged until it is read."
            )

    def _scan(self) -> int:
        n, lowest, highest = 0, 1, 0
        for X, y in self._parsed(_SCAN_ROWS, zero_based=True):
            n += y.size
            if X.nnz:
                lowest, highest = (
                    min(lowest, int(X.indices.min())),
                    max(highest, int(X.indices.max())),
                )
        if n == 0:
            raise ValueError(
                f"{NAME}: {self._path}: expected at least one row, got none; write the file again."
            )
        self.n_samples = n
        self._zero_based = lowest == 0 if self._given is None else self._given
        return highest + self._zero_based

    def _parsed(
        self, size: int, *, zero_based: bool, n_features: int | None = None
    ) -> Iterator[tuple[Any, Any]]:
        """Yield (X, y) of up to `size` rows."""
        with self._open() as file:
            rows, start = _rows(file), 0
            while True:
                parts: list[Rows] = []
                stop = start + size
                while start < stop and (lines := self._next(rows, stop - start, start)):
                    parts.append(self._numbers(lines, start, zero_based, n_features))
                    start += len(lines)
                if not parts:
                    return
                yield joined(parts, n_features)

    def _next(self, rows: Iterator[bytes], most: int, start: int) -> list[bytes]:
        """Return the next lines, at most `most` and about `_TOGETHER` bytes; none at the end."""
        lines, size = [], 0
        try:
            for line in islice(rows, most):
                lines.append(line)
                size += len(line)
                if size > _TOGETHER:
                    break
        except DAMAGED as error:
            raise damaged(
                NAME, self._path, f"rows from {start} on in good order", error
            ) from error
        return lines

    def _numbers(
        self, lines: list[bytes], start: int, zero_based: bool, n_features: int | None
    ) -> Rows:
        """Return the content of the lines from row `start` on, or raise for the first invalid one."""
        try:
            return parsed(lines, zero_based=zero_based, n_features=n_features)
        except DAMAGED as error:
            wrong: tuple[Exception, int] = error, start
        for number, line in enumerate(lines, start):
            label = line.split(None, 1)[0]
            if b"," in label and b":" not in label:
                raise ValueError(
                    f"{NAME}: {self._path}: expected one label in each row, got "
                    f"{label.decode(errors='replace')!r:.80} in "
                    f"row {number}; rows with several labels cannot be read: write one."
                )
            try:
                parsed([line], zero_based=zero_based, n_features=n_features)
            except DAMAGED as error:
                wrong = error, number
                break
        first = int(not zero_based)
        span = (
            f"from {first} on"
            if n_features is None
            else f"from {first} to {n_features - 1 + first}"
        )
        step = (
            "write the file again"
            if n_features is None
            else "write the file again, or leave out n_features"
        )
        fault = _disorder(lines[wrong[1] - start]) or f"{wrong[0]!s:.200}"
        raise ValueError(
            f"{NAME}: {self._path}: expected lines 'label index:value ...' with increasing indices {span}, got "
            f"{fault} in row {wrong[1]}; {step}."
        ) from wrong[0]

    def _open(self) -> Any:
        return OPEN.get(self._path.suffix.lower(), open)(self._path, "rb")


def _disorder(line: bytes) -> str:
    """Return which two indices of a row are out of order, or equal; "" if none are."""
    indices = [int(index) for index in _INDEX.findall(line.split(b"#", 1)[0])]
    for before, after in pairwise(indices):
        if after == before:
            return f"index {after} twice"
        if after < before:
            return f"index {after} after {before}"
    return ""


def query_ids(path: Path) -> NDArray[np.int64] | None:
    """Return the number after qid: in each row, shape (n,); None unless all rows have one."""
    ids = []
    with OPEN.get(path.suffix.lower(), open)(path, "rb") as file:
        for line in _rows(file):
            if (match := _QUERY.search(line.split(b"#", 1)[0])) is None:
                return None
            ids.append(int(match[1]))
    return np.array(ids, dtype=np.int64)


def _rows(file: Any) -> Iterator[bytes]:
    """Yield the lines with rows, without comments."""
    while line := file.readline(MAX_LINE + 1):
        if len(line) > MAX_LINE:
            raise ValueError(f"a line of more than {MAX_LINE} bytes")
        # most lines begin with a label; only other lines are inspected
        if line[0] > _LAST_BEFORE_LABELS or line.split(b"#", 1)[0].strip():
            yield line
