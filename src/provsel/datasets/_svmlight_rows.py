"""Rows of svmlight files, which are read line by line."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

from sklearn.datasets import load_svmlight_file

from ._row_sources import NAME, Chunk, RowSource
from ._streams import DAMAGED, damaged

_OPEN: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
SVMLIGHT = tuple(kind + packed for kind in (".svm", ".svmlight", ".libsvm", ".txt") for packed in ("", *_OPEN))
_SCAN_ROWS = 512


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
        for lines in self._lines(size):
            yield self._parsed(lines, start, zero_based=self._zero_based, n_features=self.n_features)
            start += len(lines)
        if self.n_samples not in (None, start):
            raise ValueError(
                f"{NAME}: {self._path}: expected {self.n_samples} rows as on the first pass, got {start}; "
                f"leave the file as it is until all is read."
            )

    def _scan(self) -> int:
        n, lowest, highest = 0, 1, 0
        for lines in self._lines(_SCAN_ROWS):
            X, _ = self._parsed(lines, n, zero_based=True)
            n += len(lines)
            if X.nnz:
                lowest, highest = min(lowest, int(X.indices.min())), max(highest, int(X.indices.max()))
        if n == 0:
            raise ValueError(f"{NAME}: {self._path}: expected at least one row, got none; write it again.")
        self.n_samples, self._zero_based = n, lowest == 0
        return highest + self._zero_based

    def _lines(self, size: int) -> Iterator[list[bytes]]:
        """Yield up to `size` lines that are rows, no comments."""
        with _OPEN.get(self._path.suffix.lower(), open)(self._path, "rb") as file:
            rows = (line for line in file if line.split(b"#", 1)[0].strip())
            start = 0
            while True:
                try:
                    lines = list(islice(rows, size))
                except DAMAGED as error:
                    raise damaged(NAME, self._path, f"rows from {start} on in good order", error) from error
                if not lines:
                    return
                start += len(lines)
                yield lines

    def _parsed(self, lines: list[bytes], start: int, **options: Any) -> tuple[Any, Any]:
        try:
            X, y = load_svmlight_file(BytesIO(b"".join(lines)), **options)
        except DAMAGED as error:
            if len(lines) > 1:  # which one is it?
                for number, line in enumerate(lines, start):
                    self._parsed([line], number, **options)
            raise ValueError(
                f"{NAME}: {self._path}: expected lines 'label index:value ...' with increasing indices "
                f"{self._range(options)}, got {error} in row {start}; write the file again, or leave out n_features."
            ) from error
        return X, y

    def _range(self, options: dict[str, Any]) -> str:
        first, m = int(not options["zero_based"]), options.get("n_features")
        return f"from {first} on" if m is None else f"from {first} to {m - 1 + first}"
