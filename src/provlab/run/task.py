"""Execution of a task, by a plain function of plain arguments that returns records."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from provlab.core.cell import Cell, trial_seed
from provlab.core.plan import Task, Trial, identity_of, load_again, load_from
from provlab.core.protocols import COLUMNS, AbstractProtocol
from provlab.data import DataIntegrityError, Dataset, warn_of_scales
from provlab.project.components import is_own
from provlab.project.documents import canonical_json
from provlab.project.messages import visible
from provlab.run.class_weights import method_by_codes
from provlab.run.environment import environment, git_revision
from provlab.run.fold import Fold, make_fold
from provlab.run.limited import CUT_OFF
from provlab.run.measuring import measure as measure_trial
from provlab.run.shared_rows import ChangedInputError

Record = dict[str, Any]

EXPECTED = (ValueError, ArithmeticError, np.linalg.LinAlgError)
"""Errors with which a trial of provsel's own classes may fail; other errors are bugs of ours. Foreign classes may raise
anything.
"""


class ClusterError(OSError):
    """The cluster cannot do the work, or cannot continue."""


@dataclass
class TaskResult:
    """Records of the successful trials, (key, cell, reason) of the others, and the warnings."""

    records: list[Record] = field(default_factory=list)
    failures: list[tuple[str, str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


Results = Generator[TaskResult, None, None]
"""Results of tasks; closing the generator early stops running tasks."""


def run_task(task: Task) -> TaskResult:
    """Run all trials of a task on one BLAS thread.

    Many small eigenproblems are slower with more threads, and the number of threads
    must not affect the results. A failed trial is reported and does not stop the
    others. If the data set has no such fold, all of them fail.

    Raises
    ------
    DataIntegrityError
        If the identity of the data set here differs from that in the task.
    """
    result, start = TaskResult(), _cpu_seconds()
    with threadpool_limits(1):
        _check_identity(task)
        dataset = data_of(task)
        preparation = task.protocol.get("preparation")
        try:
            with contained():
                fold = _fold(task, dataset)
                fold.view.shared(CUT_OFF, partial(cut_off_on, task.data))
        except BaseException as error:
            # for example fewer rows of a class than folds; other data sets continue
            _raise_if_ours(error, preparation is None or is_own(preparation))
            where = f"{dataset.name}, repeat {task.repeat}, fold {task.fold}"
            result.failures = [
                (trial.key, where, reason_of(error)) for trial in task.trials
            ]
            return result
        for trial in task.trials:
            cell = task.cells[trial.cell]
            try:
                with contained():
                    record = _run_trial(task, cell, trial, dataset, fold)
                result.records.append(record)
            except BaseException as error:
                _raise_if_ours(error, cell.is_own)
                # later trials get the original rows
                if isinstance(error, ChangedInputError):
                    dataset = load_again(task.dataset)
                    _shared_fold.cache_clear()
                    fold = _fold(task, dataset)
                where = f"{dataset.name}, {cell.selector.get('_target_')}, repeat {task.repeat}, fold {task.fold}"
                result.failures.append((trial.key, where, reason_of(error)))
    share = (_cpu_seconds() - start) / len(task.trials)
    for record in result.records:
        record["task_cpu"] = share
    return result


@contextmanager
def contained() -> Iterator[None]:
    """Let foreign code end only its own trial, not this process, even in a forked copy of it.

    `os._exit` in this thread raises SystemExit in the block. A process that is forked
    in the block ends with the block at the latest, because it would otherwise continue
    with all other trials and store them twice.
    """
    process, thread, leave = os.getpid(), threading.get_ident(), os._exit

    def refuse(status: int) -> None:
        if os.getpid() != process or threading.get_ident() != thread:
            # a multiprocessing child, or our thread that ends a worker without a client
            leave(status)
        raise SystemExit(status)

    os._exit = refuse  # type: ignore[assignment]
    try:
        yield
    finally:
        os._exit = leave
        if os.getpid() != process:
            leave(1)


def _raise_if_ours(error: BaseException, is_own: bool) -> None:
    """Raise interrupts, and errors of provsel's own classes unless they are `EXPECTED`."""
    # Ctrl-C reaches only the main thread, and a Dask worker runs in another thread
    is_interrupt = (
        isinstance(error, KeyboardInterrupt)
        and threading.current_thread() is threading.main_thread()
    )
    if is_interrupt or (is_own and not isinstance(error, EXPECTED)):
        raise error


def reason_of(error: BaseException) -> str:
    """Return the reason of a failed trial as safe text, because a foreign error can contain anything."""
    if isinstance(error, SystemExit):
        return f"SystemExit: expected code that leaves this process alone, got a call that ends it, with {error.code!r}"
    return visible(f"{type(error).__name__}: {error}")


def _cpu_seconds() -> float:
    """Return the CPU time of this process and of its finished children."""
    return sum(os.times()[:4])


def _run_trial(
    task: Task, cell: Cell, trial: Trial, dataset: Dataset, fold: Fold
) -> Record:
    seed = trial_seed(cell, task.repeat, task.fold, trial.draw)
    cell.measured.check_data(cell.method, dataset)
    method = method_by_codes(cell.method, dataset.classes)

    def measure(rows: Fold) -> Record:
        return measure_trial(
            cell.measured, method, rows, seed=seed, split_seed=task.split_seed
        )

    if cell.foreign:
        # it imports scikit-learn, which planning does not need
        from provlab.run.foreign import run_foreign_trial

        measured = run_foreign_trial(
            measure, cell, fold, seed=seed, private_copies=task.private_copies
        )
    else:
        measured = measure(fold)
    return {column.name: column.default for column in COLUMNS} | {
        "key": trial.key,
        "cell": cell.id,
        "dataset": dataset.name,
        "data": cell.data,
        "content": dataset.content,
        "source": dataset.source,
        "setting": cell.protocol["setting"],
        "config": cell.json,
        "repeat": task.repeat,
        "fold": task.fold,
        "draw": trial.draw,
        "seed": seed,
        "split_seed": task.split_seed,
        "n_classes": dataset.n_classes,
        **fold.as_record(),
        **measured,
        "environment": environment(),
        "git_revision": git_revision(),
    }


def _check_identity(task: Task) -> None:
    """Raise if the files on this machine differ from those in the keys of the trials."""
    identity = identity_of(task.dataset)
    if identity != task.data:
        raise DataIntegrityError(
            f"data set {task.dataset.get('name')}: expected the identity {task.data[:12]}, got {identity[:12]}; this "
            f"machine has another copy of the data, or the data have changed since the run began: run provsel fetch "
            f"{task.dataset.get('name')}, or point PROVSEL_DATA or PROVSEL_DATA_MIRROR to the same files everywhere."
        )


def _fold(task: Task, dataset: Dataset) -> Fold:
    measured, preparation = task.cells[0].measured, task.protocol.get("preparation")
    if measured.keeps_fold:
        return _shared_fold(
            measured,
            canonical_json(dict(task.dataset)),
            task.data,
            canonical_json(preparation),
        )
    numbers = {
        "n_splits": task.protocol["n_splits"],
        "split_seed": task.split_seed,
        "fold": task.fold,
    }
    return make_fold(measured, dataset, **numbers, preparation=preparation)


def data_of(task: Task) -> Dataset:
    """Return the data set of a task, with warnings about a user's own file."""
    dataset = load_from(task.dataset)
    if task.dataset["name"] == "file" and task.protocol.get("preparation") is None:
        warn_of_scales(dataset)
    return dataset


@lru_cache(maxsize=1)
def cut_off_on(data: str) -> dict[str, float]:
    """Return the known cut-offs of selections on a data set, shared by all its folds in this process."""
    return {}


@lru_cache(maxsize=1)
def _shared_fold(
    measured: AbstractProtocol, config: str, data: str, preparation: str
) -> Fold:
    """Return the rows that all tasks of a protocol share in every repeat, while the data are unchanged."""
    prepared = json.loads(preparation)
    return make_fold(
        measured,
        load_from(json.loads(config)),
        n_splits=1,
        split_seed=0,
        fold=0,
        preparation=prepared,
    )
