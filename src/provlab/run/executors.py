"""Where tasks run. An executor takes tasks and yields their results as they come; results never depend on it."""

from __future__ import annotations

import importlib
import multiprocessing.resource_tracker
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from joblib import Parallel, delayed
from joblib.externals.loky.backend import resource_tracker

from provlab.plan import Task
from provlab.run.task import TaskResult, run_task

REPLACED = "A worker stopped while some jobs were given to the executor"
"""What loky warns of when it replaces a worker that has grown, such as by 60,000 images; nothing is lost."""

WATCH_EVERY = 1.0
"""Seconds between two looks of a worker at the process that started it."""

HANDED_WITHIN = 1.0
"""Seconds within which loky's thread hands on what it was given, which takes milliseconds."""


def execute(tasks: Sequence[Task], config: Mapping[str, Any]) -> Iterator[TaskResult]:
    """Yield the result of each task, in any order.

    Parameters
    ----------
    tasks : sequence of Task
    config : mapping
        `name`: serial, loky, dask or slurm; but for serial `n_jobs`, the number of worker processes, -1 for one a
        core. For dask `address`, that of a running scheduler, instead. For both `patience`, in seconds. For slurm what
        `dask_clusters.slurm_cluster` takes.

    Raises
    ------
    ValueError
        For an unknown executor, or one whose packages are not installed.
    ClusterError
        A cluster that cannot do the work, see `dask_client.run_on`.
    """
    name = config.get("name")
    if name not in EXECUTORS:
        raise ValueError(f"executor: expected one of {', '.join(sorted(EXECUTORS))}, got {name!r}.")
    return EXECUTORS[name](tasks, config)


def usable_cores() -> int:
    """Return the number of cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def heard(task: Task) -> TaskResult:
    """Run a task and keep what it warns of: shown as it comes, the same is said thousands of times in a run.

    Not for threads, which share how warnings are shown.
    """
    with warnings.catch_warnings(record=True) as messages:
        result = run_task(task)
    result.warnings += [f"{each.category.__name__}: {each.message}" for each in messages]
    return result


def _serial(tasks: Sequence[Task], config: Mapping[str, Any]) -> Iterator[TaskResult]:
    return map(heard, tasks)


def _loky(tasks: Sequence[Task], config: Mapping[str, Any]) -> Iterator[TaskResult]:
    warnings.filterwarnings("ignore", message=REPLACED, category=UserWarning)  # it comes from a thread of loky's
    pool = Parallel(
        n_jobs=_n_jobs(tasks, config),
        backend="loky",
        return_as="generator_unordered",
        batch_size=1,
        initializer=_end_with,
        initargs=(os.getpid(),),
    )
    return _begun(pool, tasks)


@contextmanager
def _left_alone() -> Iterator[None]:
    """Let Ctrl-C interrupt this process only, which ends the workers that start meanwhile.

    A worker that is still importing would show where it was. A Ctrl-C that comes meanwhile is kept for afterwards.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    for tracker in (multiprocessing.resource_tracker, resource_tracker):
        tracker.ensure_running()  # Python's lets the signal through when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with(parent: int) -> None:
    """Let this worker end soon after the process that started it, which cannot tell its workers when it is killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_EVERY)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _begun(pool: Parallel, tasks: Sequence[Task]) -> Iterator[TaskResult]:
    results: Generator[TaskResult] | None = None
    try:
        with _left_alone():
            results = pool(delayed(heard)(task) for task in tasks)
        for result in results:  # noqa: UP028 - "yield from" would close them itself, with warnings
            yield result
    except BrokenExecutor as error:
        raise ChildProcessError(
            "executor loky: expected worker processes that stay, got one that was ended from outside, most often by "
            "the system for lack of memory; what was computed before is stored: run the same command again, with fewer "
            "workers (executor.n_jobs=...) if it happens again."
        ) from error
    finally:
        if results is not None:
            _hand_over(pool)
            _end(results)


def _hand_over(pool: Parallel) -> None:
    """Wait until loky's thread has handed to the workers what was dispatched: ended before, it shows a KeyError."""
    pool._aborting = True  # results that come meanwhile dispatch nothing more
    waiting = getattr(getattr(getattr(pool, "_backend", None), "_workers", None), "_work_ids", None)
    limit = time.monotonic() + HANDED_WITHIN
    while waiting is not None and not waiting.empty() and time.monotonic() < limit:
        time.sleep(0.001)


def _end(results: Generator[TaskResult]) -> None:
    """End the tasks that still run; nobody wants to be warned of what was asked for."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*tasks", category=UserWarning, module="joblib")
        results.close()


def _dask(tasks: Sequence[Task], config: Mapping[str, Any]) -> Iterator[TaskResult]:
    return _clusters().run_on_dask(tasks, config, _n_jobs(tasks, config)) if tasks else iter(())


def _slurm(tasks: Sequence[Task], config: Mapping[str, Any]) -> Iterator[TaskResult]:
    return _clusters().run_on_slurm(tasks, config, _n_jobs(tasks, config)) if tasks else iter(())


def _clusters() -> ModuleType:
    """Import what needs Dask only when it is asked for: it is optional, and slow to import."""
    try:
        return importlib.import_module("provlab.run.dask_clusters")
    except ModuleNotFoundError as error:
        raise ValueError(
            f"executor: expected the packages dask and distributed, got none of the name {error.name}; "
            f"pip install 'provsel[dask]'."
        ) from None


def _n_jobs(tasks: Sequence[Task], config: Mapping[str, Any]) -> int:
    wanted = int(config.get("n_jobs", -1))
    return min(usable_cores() if wanted < 0 else wanted, max(1, len(tasks)))


EXECUTORS: dict[str, Callable[[Sequence[Task], Mapping[str, Any]], Iterator[TaskResult]]] = {
    "serial": _serial,
    "loky": _loky,
    "dask": _dask,
    "slurm": _slurm,
}
