"""Compression of rows to a file: chunks are joined, compressed by threads, and written in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from provsel.kernels.gaussian_blocks import GaussianBlocks
from provsel.streams.checked import Labels
from provsel.streams.sources import needing_pyarrow

Item = TypeVar("Item")
Result = TypeVar("Result")

TOGETHER = 2**26
"""Bytes of rows and of compressed rows, 64 MB, up to which chunks are joined, so that blocks of Lambda that are not
kept are regenerated less often.
"""


def write_compressed(
    name: str,
    path: str | Path,
    chunks: Iterable[tuple[Any, Labels]],
    blocks: GaussianBlocks,
    n: int | None,
    n_jobs: int,
) -> int:
    """Write X Lambda^T of the checked chunks, n rows if known, to the file `path`, and return their number."""
    with needing_pyarrow("GaussianCompression"):
        from provsel.streams.compressed_file import compressed_file

    about = {
        "n_components": blocks.n_components,
        "n_features": blocks.n_features,
        "variance": blocks.variance,
        "key": blocks.key,
    }

    def compressed(chunk: tuple[Any, Labels]) -> tuple[Any, Labels]:
        return blocks.project(chunk[0]), chunk[1]

    with (
        threadpool_limits(1),  # more threads would change the order of sums
        compressed_file(name, path, n, about) as file,
        closing(
            in_order(compressed, together(chunks, blocks.n_components), n_jobs)
        ) as done,
    ):
        for Z, y in done:
            file.write(Z, y)
    return file.n_rows


def together(
    chunks: Iterable[tuple[Any, Labels]], n_components: int
) -> Iterator[tuple[Any, Labels]]:
    """Yield the rows of `chunks` joined into larger chunks of up to TOGETHER bytes including their compressed rows."""
    held: list[tuple[Any, Labels]] = []
    size = 0
    for X, y in chunks:
        added = 8 * X.shape[0] * n_components + (
            12 * X.nnz if sparse.issparse(X) else X.nbytes
        )
        if held and (
            size + added > TOGETHER or sparse.issparse(X) != sparse.issparse(held[0][0])
        ):
            yield _joined(held)
            held, size = [], 0
        held.append((X, y))
        size += added
    if held:
        yield _joined(held)


def in_order(
    function: Callable[[Item], Result], items: Iterable[Item], n_jobs: int
) -> Generator[Result, None, None]:
    """Yield function(item) in order, by `n_jobs` threads, of which up to 2 n_jobs are finished or running."""
    if n_jobs == 1:
        yield from map(function, items)
        return
    waiting: deque[Future[Result]] = deque()
    pool = ThreadPoolExecutor(n_jobs)
    try:
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) == 2 * n_jobs:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _joined(held: list[tuple[Any, Labels]]) -> tuple[Any, Labels]:
    if len(held) == 1:
        return held[0]
    rows = [X for X, _ in held]
    labels = [y for _, y in held if y is not None]
    X = (
        sparse.vstack(rows, format="csr")
        if sparse.issparse(rows[0])
        else np.concatenate(rows)
    )
    return X, np.concatenate(labels) if labels else None
