"""Some processes that share one snapshot of the store."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Self, TypeVar

from provsel.store import StoreSnapshot, TrialStore

T = TypeVar("T")

_here: dict[str, StoreSnapshot] = {}
"""The snapshot of this process, whether it is the first or a worker."""


def snapshot_of_this_process() -> StoreSnapshot:
    """Return the snapshot that a function called by `SnapshotPool.map` works on."""
    return _here["snapshot"]


class SnapshotPool:
    """Calls functions in processes that have the snapshot in shared memory; in this process where one is enough.

    joblib's workers would not do: they are ended, and start anew, when they hold much memory.

    Parameters
    ----------
    snapshot : StoreSnapshot
    n_jobs : int
    folder : path
        For the temporary file that is shared.
    """

    def __init__(self, snapshot: StoreSnapshot, n_jobs: int, folder: Path) -> None:
        self._snapshot, self._n_jobs, self._folder = snapshot, n_jobs, folder
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        _here["snapshot"] = self._snapshot
        if self._n_jobs > 1:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._file = tempfile.NamedTemporaryFile(dir=self._folder, suffix=".arrow")
            self._snapshot.save(Path(self._file.name))
            start = (str(self._snapshot.store.folder), self._file.name)
            self._pool = ProcessPoolExecutor(
                self._n_jobs, mp_context=get_context("spawn"), initializer=_open, initargs=start
            )
        return self

    def map(self, function: Callable[..., T], *arguments: Iterable[Any]) -> Iterable[T]:
        """Return the results of the function in order."""
        return map(function, *arguments) if self._pool is None else self._pool.map(function, *arguments)

    def __exit__(self, *_: object) -> None:
        _here.clear()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._file.close()


def _open(folder: str, path: str) -> None:
    _here["snapshot"] = StoreSnapshot.open(TrialStore(folder), Path(path))
