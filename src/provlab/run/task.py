"""Run one task: a plain function of plain arguments that returns records."""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from provlab.datasets import DataIntegrityError, Dataset, warn_of_scales
from provlab.identity.cell import Cell, trial_seed
from provlab.identity.keys import canonical_json
from provlab.plan import Task, Trial, identity_of, load_again, load_from
from provlab.protocols import COLUMNS, AbstractProtocol, Fold
from provlab.protocols.base import ChangedInputError
from provlab.run.environment import environment, git_revision

Record = dict[str, Any]

EXPECTED = (ValueError, ArithmeticError, np.linalg.LinAlgError)
"""What a trial of provsel's own classes may fail with; another error is one of ours. Others' classes raise anything."""


class ClusterError(OSError):
    """The cluster cannot do the work, or not any more."""


@dataclass
class TaskResult:
    """Records of the trials that worked, (key, cell, reason) of those that did not, and what was warned of."""

    records: list[Record] = field(default_factory=list)
    failures: list[tuple[str, str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


Results = Generator[TaskResult, None, None]
"""Of some tasks; closed early, it ends those that still run."""


def run_task(task: Task) -> TaskResult:
    """Run all trials of a task on one BLAS thread.

    Many small eigenproblems get slower with more threads, and the number of threads must not show in the results.
    A trial that fails is reported and does not stop the others; where the data set has no such fold, all of them fail.

    Raises
    ------
    DataIntegrityError
        The data set has another identity here than in the task.
    """
    result, start = TaskResult(), _cpu_seconds()
    with threadpool_limits(1):
        _check_identity(task)
        dataset = data_of(task)
        try:
            fold = _fold(task, dataset)
        except ValueError as error:  # such as fewer rows of a class than folds; other data sets continue
            where = f"{dataset.name}, repeat {task.repeat}, fold {task.fold}"
            result.failures = [(trial.key, where, f"{type(error).__name__}: {error}") for trial in task.trials]
            return result
        for trial in task.trials:
            cell = task.cells[trial.cell]
            try:
                result.records.append(_run_trial(task, cell, trial, dataset, fold))
            except Exception as error:
                if cell.is_own and not isinstance(error, EXPECTED):
                    raise
                if isinstance(error, ChangedInputError):  # the trials that follow get the rows as they were
                    dataset = load_again(task.dataset)
                    _shared_fold.cache_clear()
                    fold = _fold(task, dataset)
                where = f"{dataset.name}, {cell.selector.get('_target_')}, repeat {task.repeat}, fold {task.fold}"
                result.failures.append((trial.key, where, f"{type(error).__name__}: {error}"))
    share = (_cpu_seconds() - start) / len(task.trials)
    for record in result.records:
        record["task_cpu"] = share
    return result


def _cpu_seconds() -> float:
    """Return the CPU time of this process and of the children that it waited for."""
    return sum(os.times()[:4])


def _run_trial(task: Task, cell: Cell, trial: Trial, dataset: Dataset, fold: Fold) -> Record:
    seed = trial_seed(cell, task.repeat, task.fold, trial.draw)
    cell.measured.check_data(cell.method, dataset)

    def measure(rows: Fold) -> Record:
        return cell.measured.run(cell.method, rows, seed=seed, split_seed=task.split_seed)

    if cell.foreign:
        from provlab.run.foreign import run_foreign_trial  # scikit-learn, which those who only plan need not wait for

        measured = run_foreign_trial(measure, cell, fold, seed=seed, private_copies=task.private_copies)
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
    """Raise where this machine would load other files than the keys of the trials name."""
    found = identity_of(task.dataset)
    if found != task.data:
        raise DataIntegrityError(
            f"data set {task.dataset.get('name')}: expected the identity {task.data[:12]}, got {found[:12]}; this "
            f"machine has another copy of the data, or it changed since the run began: run provsel fetch "
            f"{task.dataset.get('name')}, or point PROVSEL_DATA or PROVSEL_DATA_MIRROR to the same files everywhere."
        )


def _fold(task: Task, dataset: Dataset) -> Fold:
    measured, preparation = task.cells[0].measured, task.protocol.get("preparation")
    if measured.keeps_fold:
        return _shared_fold(measured, canonical_json(dict(task.dataset)), task.data, canonical_json(preparation))
    numbers = {"n_splits": task.protocol["n_splits"], "split_seed": task.split_seed, "fold": task.fold}
    return measured.fold(dataset, **numbers, preparation=preparation)


def data_of(task: Task) -> Dataset:
    """Return the data set of a task; warn of what people should know of a file of their own."""
    dataset = load_from(task.dataset)
    if task.dataset["name"] == "file" and task.protocol.get("preparation") is None:
        warn_of_scales(dataset)
    return dataset


@lru_cache(maxsize=1)
def _shared_fold(measured: AbstractProtocol, config: str, data: str, preparation: str) -> Fold:
    """Return the rows that all tasks of a protocol share, whatever their repeat, while the data have this identity."""
    prepared = json.loads(preparation)
    return measured.fold(load_from(json.loads(config)), n_splits=1, split_seed=0, fold=0, preparation=prepared)
