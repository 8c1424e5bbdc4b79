"""Streams of rows, from memory or from files that do not fit into it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provsel.checks import check_integer

from .checked import refuse_not_finite, refuse_unlabelled
from .row_sources import NAME, ArrayRows, Chunk, NpyRows, RowSource, SparseRows
from .sources import needing_pyarrow, source_of
from .svmlight_rows import SVMLIGHT, SvmlightRows

PARQUET = ".parquet"


class RowChunks:
    """Chunks of rows, in order, which every iteration rereads. Made by `row_chunks`.

    Attributes
    ----------
    n_samples : int or None
        n; None for an svmlight file that was not scanned.
    n_features : int
        m.
    """

    def __init__(
        self,
        source: RowSource,
        labels: NDArray[Any] | None,
        chunk_rows: int,
        where: str = "",
    ) -> None:
        self.n_samples, self.n_features = source.n_samples, source.n_features
        self._source, self._labels, self._chunk_rows, self._where = (
            source,
            labels,
            chunk_rows,
            where,
        )

    def __iter__(self) -> Iterator[Chunk]:
        """Yield (X_chunk, y_chunk): shape (b, m), dense or CSR, and shape (b,), or None without labels.

        Raises
        ------
        ValueError
            If values are NaN or infinite, labels are missing, or the file is damaged;
            the message names the chunk and the rows, counted from 0.
        """
        start = 0
        for number, (X, y) in enumerate(self._source.chunks(self._chunk_rows)):
            stop = start + X.shape[0]
            if self._labels is not None:
                y = self._labels[start:stop]
            where = f"{NAME}: chunk {number}{self._where}"
            refuse_not_finite(where, X, start)
            if y is not None:
                refuse_unlabelled(where, y, start)
            yield X, y
            start = stop


def row_chunks(
    source: Any, *, y: Any = None, chunk_rows: int = 4096, n_features: int | None = None
) -> RowChunks:
    """Return the rows of an array or a file in chunks, which can be read any number of times.

    Use it to train on rows that do not fit in memory.

    Rows of float32 stay float32, other numbers become float64. A file is never read as
    a whole, except .npz::

        for X, y in row_chunks("train.svm.xz", chunk_rows=10_000):
            ...

    Parameters
    ----------
    source : ndarray, sparse matrix, str or Path
        Of shape (n, m):

        - an array or a `numpy.memmap`. Chunks are views of it if the type is kept;
        - a `.npy` file, mapped. Best in C order: in Fortran order each chunk touches
          every column;
        - a SciPy matrix in CSR form, or a `.npz` file of one as `scipy.sparse.save_npz`
          writes, which is loaded: it needs memory for its non-zeros;
        - a `.parquet` file of n rows, each column a feature, but for the labels:
          integers, floats or booleans without nulls, float32 when all are. A row group
          at a time is in memory: write it with `row_group_size` of a few thousand rows,
          since the default is a million;
        - an svmlight text file with its labels: `.svm`, `.svmlight`, `.libsvm` or
          `.txt`, also packed (`.gz`, `.xz`, `.bz2`). Chunks are CSR of float64. Empty
          lines, comments and qid are skipped.
    y : array-like of shape (n_samples,) or str, optional
        Labels; for `.parquet` also the name of their column. None means no labels,
        except for svmlight files, which contain them.
    chunk_rows : int, default=4096
        Rows per chunk; the last one may have fewer.
    n_features : int, optional
        m, which is checked; for an svmlight file the largest index, counted from 1. If
        None, the file is scanned first, and indices may also start at 0.

    Returns
    -------
    RowChunks
        An iterable of (X_chunk, y_chunk or None), with `n_samples` and `n_features`.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the kind of source is unknown, the file is damaged, contents are not real
        numbers of shape (n, m) or have another width than n_features, labels do not
        fit, or parameters are out of range. Also if a .npz file needs more memory than
        PROVSEL_MEMORY_GB allows, by default an eighth of the machine's. For errors
        while iterating, see `RowChunks`.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.streams import row_chunks
    >>> [chunk.shape for chunk, y in row_chunks(np.eye(5), chunk_rows=2)]
    [(2, 5), (2, 5), (1, 5)]
    """
    check_integer(NAME, "chunk_rows", chunk_rows, minimum=1)
    if n_features is not None:
        check_integer(NAME, "n_features", n_features, minimum=1)
    label = y if isinstance(y, str) else None
    rows: RowSource = source_of(
        NAME,
        source,
        files={
            ".npy": NpyRows,
            ".npz": SparseRows.load,
            PARQUET: partial(_parquet_rows, label=label),
            **dict.fromkeys(SVMLIGHT, partial(SvmlightRows, n_features=n_features)),
        },
        array=ArrayRows,
        matrix=SparseRows,
        kinds=(
            "a NumPy array without mask, a SciPy CSR matrix, or the path of a .npy, .npz, .parquet or svmlight file "
            "(.svm, .svmlight, .libsvm, .txt, also .gz, .xz, .bz2)"
        ),
    )
    if n_features not in (None, rows.n_features):
        raise ValueError(
            f"{NAME}: expected rows of n_features = {n_features} values, got {rows.n_features}; check the source."
        )
    if y is not None and isinstance(rows, SvmlightRows):
        raise ValueError(
            f"{NAME}: an svmlight file contains its labels, so y must be None; leave y out."
        )
    if label is not None and not str(source).lower().endswith(PARQUET):
        raise ValueError(
            f"{NAME}: expected y to be an array, or a column of a .parquet file, got {label!r}; pass the labels."
        )
    labels = None if y is None or label is not None else np.asarray(y)
    if labels is not None and labels.shape != (rows.n_samples,):
        raise ValueError(
            f"{NAME}: expected y of shape ({rows.n_samples},), a label for each row, got shape {labels.shape}; "
            f"pass the labels of these rows."
        )
    return RowChunks(
        rows,
        labels,
        int(chunk_rows),
        f" in {source}" if isinstance(source, str | os.PathLike) else "",
    )


def _parquet_rows(path: Path, label: str | None) -> RowSource:
    with needing_pyarrow("row_chunks"):
        from .parquet_sources import ParquetRows  # slow to import, and optional

    return ParquetRows(path, label)
