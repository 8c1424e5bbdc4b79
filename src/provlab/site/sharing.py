"""Some processes that share one snapshot of the store."""

from __future__ import annotations

import gc
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any, TypeVar

from provlab.store import StoreSnapshot, TrialStore

T = TypeVar("T")

GARBAGE = 100_000
"""Objects between two searches for garbage: a report makes many and keeps most; searching took a tenth of its time."""

_here: dict[str, StoreSnapshot] = {}
"""The snapshot of this process, whether it is the first or a worker, by its file."""


def snapshot_of_this_process() -> StoreSnapshot:
    """Return the snapshot that a function called by `SnapshotPool.map` works on."""
    [snapshot] = _here.values()
    return snapshot


class SnapshotPool:
    """Calls functions in processes that have a snapshot in shared memory; in this process where one is enough.

    joblib's workers would not do: they are ended, and start anew, when they hold much memory. See `snapshot_pool`.

    Attributes
    ----------
    snapshot : StoreSnapshot
    """

    def __init__(self, store: TrialStore, pool: ProcessPoolExecutor | None, path: Path) -> None:
        self._pool, self._store, self._path = pool, store.folder, path
        self.snapshot = StoreSnapshot.take(store)
        if pool is not None:
            self.snapshot.save(path)
        _here.clear()
        _here[str(path)] = self.snapshot

    def map(self, function: Callable[..., T], *arguments: Iterable[Any]) -> Iterable[T]:
        """Return the results of the function in order."""
        if self._pool is None:
            return map(function, *arguments)
        return self._pool.map(partial(_call, self._store, self._path, function), *arguments)


@contextmanager
def rare_garbage() -> Iterator[None]:
    """Search for garbage rarely."""
    before = gc.get_threshold()
    gc.set_threshold(GARBAGE)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def snapshot_pool(store: TrialStore, n_jobs: int, folder: Path) -> Iterator[SnapshotPool]:
    """Take a snapshot, and yield processes that work on it.

    Parameters
    ----------
    store : TrialStore
    n_jobs : int
    folder : path
        For a temporary file with the snapshot, half a kilobyte a trial.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".snapshot-") as temporary:
        path = Path(temporary) / "snapshot.arrow"
        try:
            if n_jobs == 1:
                yield SnapshotPool(store, None, path)
                return
            here = dict(os.environ), os.getcwd()
            with ProcessPoolExecutor(n_jobs, mp_context=_context(), initializer=_begin, initargs=here) as pool:
                for _ in range(n_jobs):
                    pool.submit(os.getpid)  # workers start, and import, while this process reads the store
                yield SnapshotPool(store, pool, path)
        finally:
            _here.clear()


def _context() -> BaseContext:
    """Return how workers start: from one process that has imported what they need, where the system can do that."""
    if "forkserver" not in get_all_start_methods():
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload(["provlab.site.collect_claims", "provlab.site.collect"])
    return context


def _begin(environment: dict[str, str], folder: str) -> None:
    """Enter the caller's folder and environment, and so its project: a fork server keeps those of its start."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)


def _call(store: Path, path: Path, function: Callable[..., T], *arguments: Any) -> T:
    if str(path) not in _here:
        gc.set_threshold(GARBAGE)
        _here.clear()
        _here[str(path)] = StoreSnapshot.open(TrialStore(store), path)
    return function(*arguments)
