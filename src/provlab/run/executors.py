"""Executors, which run tasks and yield their results as they arrive; results never depend on them."""

from __future__ import annotations

import math
import multiprocessing
import multiprocessing.resource_tracker
import os
import re
import signal
import threading
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any

import joblib
from joblib.externals.loky import ProcessPoolExecutor
from joblib.externals.loky.backend import resource_tracker

from provlab.core.plan import Task
from provlab.project.messages import to_install, visible
from provlab.project.terminal import visible_output
from provlab.run.isolation import isolated_children
from provlab.run.streamed import ONE_THREAD
from provlab.run.task import Results, TaskResult, cut_off_on, run_task

EXECUTORS = ("auto", "serial", "loky", "dask", "slurm")

WORKERS_START = 4.0
"""Seconds until workers compute, for the start of Python and the imports of a task."""

LONG_TASK = 10.0
"""Seconds beyond which a first task does more than import and load."""

REPLACED = "A worker stopped while some jobs were given to the executor"
"""Harmless warning of loky when it replaces a worker whose memory has grown, for example by 60,000 images."""

THREADS_END = 10.0
"""Seconds that the threads of a pool may take to end after a shutdown."""

WATCH_EVERY = 1.0
"""Seconds between two checks of a worker that its parent process is alive."""


def execute(tasks: Sequence[Task], config: Mapping[str, Any]) -> Results:
    """Yield the result of each task, in any order.

    Parameters
    ----------
    tasks : sequence of Task
    config : mapping
        `name` is auto, serial, loky, dask or slurm. `n_jobs`, for all but serial, is
        the number of worker processes, or -1 for one per core. `address`, an
        alternative for dask, is the address of a running scheduler. `patience`, for
        dask and slurm, is in seconds. slurm also takes the arguments of
        `dask.slurm_cluster`. `private_copies` names classes that get rows to which they
        may write.

    Raises
    ------
    ValueError
        If the executor or the number of workers is invalid, or its packages are not
        installed.
    ChildProcessError
        If a worker process was killed.
    ClusterError
        If a cluster cannot do the work, see `dask.run_on`.
    """
    cut_off_on.cache_clear()  # other processes start with an empty cache
    tasks = [replace(task, private_copies=_private_copies(config)) for task in tasks]
    name, wanted = config.get("name"), str(config.get("n_jobs", -1))
    if not re.fullmatch(r"-?[1-9]\d*", wanted, re.ASCII):
        raise ValueError(
            f"executor.n_jobs: expected a number of worker processes above 0, or -1 for one on each core, got "
            f"{wanted:.80}; "
            f"correct it."
        )
    n_jobs = min(
        usable_cores() if wanted.startswith("-") else int(wanted), max(1, len(tasks))
    )
    if name == "serial":
        return _isolated(run_and_record(task) for task in tasks)
    if name == "auto":
        return _isolated(_by_work(tasks, n_jobs))
    if name == "loky":
        return _isolated(_loky(tasks, n_jobs))
    if name not in EXECUTORS:
        raise ValueError(
            f"executor: expected one of {', '.join(sorted(EXECUTORS))}, got {name!r}."
        )
    try:
        from provlab.run.dask import run_on_cluster  # optional, and slow to import
    except ModuleNotFoundError as error:
        raise ValueError(
            f"executor: this executor needs the packages dask and distributed, but {error.name} is not installed; "
            f"{to_install('dask')}."
        ) from None
    return _isolated(run_on_cluster(tasks, config, n_jobs))


def _isolated(results: Results) -> Results:
    """Yield results from child processes that import nothing from the data folder."""
    with isolated_children():
        yield from results


def _private_copies(config: Mapping[str, Any]) -> tuple[str, ...]:
    names = config.get("private_copies", ())
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise ValueError(
            f"executor.private_copies: expected a list of classes with their modules, got {names!r:.80}; write it "
            f"like [my_study.MySelector]."
        )
    return tuple(names)


def usable_cores() -> int:
    """Return the number of cores that this process may use, given its affinity and container quota."""
    return int(joblib.cpu_count())


def run_and_record(task: Task) -> TaskResult:
    """Run a task and collect its warnings, because repeated warnings would be shown thousands of times.

    It must not be used in threads, which share the handling of warnings.
    """
    with warnings.catch_warnings(record=True) as messages:
        if any(
            action == "error" for action, *_ in warnings.filters
        ):  # as with python -W error; results do not depend on it
            warnings.simplefilter("default")
        result = run_task(task)
    result.warnings += [
        visible(f"{message.category.__name__}: {message.message}")
        for message in messages
    ]
    return result


def run_in_worker(task: Task) -> TaskResult:
    """Run a task like `run_and_record` in a process whose output no command shows."""
    with visible_output():
        return run_and_record(task)


def _by_work(tasks: Sequence[Task], n_jobs: int) -> Results:
    """Run tasks in this process while that is faster than starting workers, and the rest in workers.

    The first task includes imports and loading, so the second shows how long the others
    take.
    """
    seconds_a_trial = math.inf
    for place, task in enumerate(tasks):
        start = time.perf_counter()
        result = run_and_record(task)
        elapsed = time.perf_counter() - start
        yield result
        seconds_a_trial = min(seconds_a_trial, elapsed / len(task.trials))
        tasks_left = tasks[place + 1 :]
        is_known = place > 0 or elapsed > LONG_TASK
        left = seconds_a_trial * sum(len(task_left.trials) for task_left in tasks_left)
        n_workers = min(n_jobs, len(tasks_left))
        if is_known and n_workers > 1 and WORKERS_START + left / n_workers < left:
            yield from _loky(tasks_left, n_workers)
            return


def _loky(tasks: Sequence[Task], n_jobs: int) -> Results:
    """Run tasks in processes of this machine; two per worker are submitted at a time."""
    # issued by a thread of loky
    warnings.filterwarnings("ignore", message=REPLACED, category=UserWarning)
    others, threads = set(multiprocessing.active_children()), set(threading.enumerate())
    pool = ProcessPoolExecutor(
        n_jobs,
        env=dict.fromkeys(ONE_THREAD, "1"),
        initializer=_end_with,
        initargs=(os.getpid(),),
    )
    left = iter(tasks)
    running: set[Future[TaskResult]] = set()
    finished = False
    try:
        with _uninterrupted():
            running |= {
                pool.submit(run_in_worker, task) for task in islice(left, 2 * n_jobs)
            }
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            running |= {
                pool.submit(run_in_worker, task) for task in islice(left, len(done))
            }
            for future in done:
                yield future.result()
        finished = True
    except BrokenExecutor as error:
        raise ChildProcessError(
            "executor loky: a worker process was killed, most often for lack of memory; finished trials are stored: "
            "run the same command again, with fewer workers (executor.n_jobs=...) "
            "if it happens again."
        ) from error
    finally:
        if not finished:  # the running tasks are no longer needed
            for child in set(multiprocessing.active_children()) - others:
                child.terminate()
        pool.shutdown(wait=True)
        # loky does not wait for the thread that feeds its queue. If Python ends while
        # the thread removes the queue's semaphores, the resource tracker complains of a
        # leaked one.
        for thread in set(threading.enumerate()) - threads:
            thread.join(THREADS_END)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Delay Ctrl-C until the end of the block; processes started in it ignore Ctrl-C and are ended by this one."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    for tracker in (multiprocessing.resource_tracker, resource_tracker):
        # Python's own tracker does not block the signal when it starts
        tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with(parent: int) -> None:
    """Make this worker end soon after its parent, which cannot notify workers when it is killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_EVERY)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
