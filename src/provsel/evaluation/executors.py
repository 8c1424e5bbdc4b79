"""Where tasks run. An executor takes tasks and yields their results as they come; results never depend on it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from joblib import Parallel, delayed

from provsel.evaluation.plan import Task
from provsel.evaluation.trial import TaskResult, run_task


def execute(tasks: Sequence[Task], config: Mapping[str, Any]) -> Iterator[TaskResult]:
    """Yield the result of each task, in any order.

    Parameters
    ----------
    tasks : sequence of Task
    config : mapping
        `name`: serial or loky; for loky `n_jobs`, the number of worker processes, -1 for one a core.

    Raises
    ------
    ValueError
        For an unknown executor.
    """
    name = config.get("name")
    if name not in EXECUTORS:
        raise ValueError(f"executor: expected one of {', '.join(sorted(EXECUTORS))}, got {name!r}.")
    return EXECUTORS[name](tasks, config)


def usable_cores() -> int:
    """Return the number of cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _serial(tasks: Sequence[Task], config: Mapping[str, Any]) -> Iterator[TaskResult]:
    return map(run_task, tasks)


def _loky(tasks: Sequence[Task], config: Mapping[str, Any]) -> Iterator[TaskResult]:
    wanted = int(config.get("n_jobs", -1))
    n_jobs = min(usable_cores() if wanted < 0 else wanted, max(1, len(tasks)))
    pool = Parallel(n_jobs=n_jobs, backend="loky", return_as="generator_unordered", batch_size=1)
    return pool(delayed(run_task)(task) for task in tasks)


EXECUTORS: dict[str, Callable[[Sequence[Task], Mapping[str, Any]], Iterator[TaskResult]]] = {
    "serial": _serial,
    "loky": _loky,
}
