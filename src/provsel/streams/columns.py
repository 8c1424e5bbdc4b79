"""Streams of columns, from memory or from files that do not fit into it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provsel.checks import check_integer

from .column_sources import NAME, ArrayColumns, ColumnSource, NpyColumns, SparseColumns
from .memory import within_memory
from .sources import needing_pyarrow, source_of


def _parquet_columns(path: Path) -> ColumnSource:
    with needing_pyarrow("column_blocks"):
        from .parquet_sources import ParquetColumns  # slow to import, and optional

    return ParquetColumns(path)


_FILES: dict[str, Callable[[Path], ColumnSource]] = {
    ".npy": NpyColumns,
    ".npz": SparseColumns.load,
    ".parquet": _parquet_columns,
}


class ColumnBlocks:
    """Blocks of columns, in order, which every iteration rereads. Made by `column_blocks`.

    Attributes
    ----------
    n_samples, n_features : int
        n and d of the whole source, regardless of `start`.
    """

    def __init__(self, source: ColumnSource, block_size: int, start: int) -> None:
        self.n_samples, self.n_features = source.shape
        self._source = source
        self._starts = range(start, self.n_features, block_size)

    def __len__(self) -> int:
        """Return the number of blocks."""
        return len(self._starts)

    def __iter__(self) -> Iterator[tuple[Any, NDArray[np.int64]]]:
        """Yield (block, feature_indices): shape (n, b), dense or CSC, and shape (b,), int64."""
        for first in self._starts:
            stop = min(first + self._starts.step, self.n_features)
            with within_memory(NAME):
                block = self._source.read(first, stop)
            yield block, np.arange(first, stop, dtype=np.int64)


def column_blocks(
    source: Any, *, block_size: int = 1024, start: int = 0
) -> ColumnBlocks:
    """Return the columns of an array or a file in blocks, for `OnlineLeverageSelector.partial_fit_columns`.

    Use it to select from columns that do not fit in memory.

    A block of float32 stays float32, other numbers become float64. A file is never read
    as a whole, except .npz::

        for block, features in column_blocks("counts.parquet"):
            selector.partial_fit_columns(block, features)

    Parameters
    ----------
    source : ndarray, sparse matrix, str or Path
        Of shape (n, d):

        - an array or a `numpy.memmap`. Blocks are views of it if the type is kept;
        - a `.npy` file, mapped. Fortran order makes blocks contiguous; in C order each
          of them touches every row;
        - a SciPy matrix in CSC form, or a `.npz` file of one as `scipy.sparse.save_npz`
          writes, which is loaded: it needs memory for its non-zeros;
        - a `.parquet` file of n rows, each column a feature: integers, floats or
          booleans without nulls, float32 when all are. Only the columns of a block are
          read; its footer, which grows with d, stays in memory.
    block_size : int, default=1024
        Columns per block; the last one may have fewer.
    start : int, default=0
        Position of the first column, up to d; `n_seen_` of a selector resumes its
        stream there.

    Returns
    -------
    ColumnBlocks
        An iterable of (block, feature_indices), with `len`, `n_samples` and
        `n_features`.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the kind of source is unknown, the file is damaged, contents are not real
        numbers of shape (n, d), or block_size or start is out of range. While
        iterating, if the columns of a block have nulls or are damaged. Also if a matrix
        or a block of Parquet needs more memory than PROVSEL_MEMORY_GB allows, by
        default an eighth of the machine's.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.streams import column_blocks
    >>> [block.shape for block, features in column_blocks(np.eye(5), block_size=2)]
    [(5, 2), (5, 2), (5, 1)]
    """
    check_integer(NAME, "block_size", block_size, minimum=1)
    check_integer(NAME, "start", start, minimum=0)
    columns: ColumnSource = source_of(
        NAME,
        source,
        files=_FILES,
        array=ArrayColumns,
        matrix=SparseColumns,
        kinds=f"a NumPy array without mask, a SciPy CSC matrix, or the path of a {', '.join(_FILES)} file",
    )
    if start > columns.shape[1]:
        raise ValueError(
            f"{NAME}: expected start to be at most the number of columns, d = {columns.shape[1]}, got {start}; "
            f"pass the n_seen_ of a stream of this source."
        )
    return ColumnBlocks(columns, int(block_size), int(start))
