"""Seconds of the clock of commands, imports and executors, and CPU seconds of a fold with shared parts."""

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from functools import cache

import pytest
from inputs import TECHTC, contenders, loaded

from provlab.core.artefact import compose_artefact
from provlab.core.cell import trial_seed
from provlab.core.composition import compose_config
from provlab.core.plan import cells_of, load_from, make_tasks
from provlab.core.protocols import protocol_named
from provlab.project.components import build
from provlab.run.executors import execute
from provlab.run.fold import make_fold
from provlab.run.task import run_task
from provsel.kernels.spectral import spectral_basis
from provsel.reducers import reduced_rows
from provsel.selectors import OnSupportVectors

by_the_clock = pytest.mark.benchmark(timer=time.perf_counter)
"""Of new processes, whose CPU seconds are not ours."""

SVM = "import sklearn.svm"
MEMORY = tempfile.TemporaryDirectory(prefix="benchmarks-")
"""Removed at the end."""

IMPORTS = ["import provsel.selectors", "import provsel.models", "import provlab.data"]


def started(*arguments):
    """Return a function that waits for a new process, which has the user's data sets and remembers nothing else."""
    environment = {**os.environ, "PROVSEL_DATA": MEMORY.name}
    command = [sys.executable, *map(str, arguments)]
    return lambda: subprocess.run(
        command, check=True, stdout=subprocess.DEVNULL, env=environment
    )


@by_the_clock
@contenders("new", SVM)
@pytest.mark.parametrize("statement", IMPORTS)
def bench_imports(benchmark, statement, contender):
    benchmark.extra_info["goal"] = f"new / {SVM} <= 1.3"
    benchmark(started("-c", statement if contender == "new" else SVM))


@by_the_clock
@contenders("command", SVM)
@pytest.mark.parametrize(
    "command", ["--help", "status --help", "status --results {}", "verify --results {}"]
)
def bench_commands(benchmark, tmp_path, command, contender):
    """Time commands of nothing that is stored."""
    words = command.format(tmp_path).split()
    benchmark(
        started("-c", SVM) if contender == SVM else started("-m", "provlab.cli", *words)
    )


@cache
def small_tasks(number):
    """Return tasks of one trial each, of the cheapest kind, all of one small data set."""
    dataset = [
        "dataset.n_samples=60",
        "dataset.n_features=120",
        f"protocol.repeats={number // 10 + 1}",
    ]
    selector = [
        "selector=uniform",
        "selector.n_features_to_select=5",
        "protocol.setting=unsupervised",
    ]
    tasks = make_tasks(
        cells_of(compose_config([*dataset, *selector, "protocol.certify=false"]))
    )
    return [replace(task, trials=task.trials[:1]) for task in tasks[:number]]


EXECUTORS = {
    "serial": {"name": "serial"},
    "loky": {"name": "loky", "n_jobs": 2},
    "dask": {"name": "dask", "n_jobs": 2},
}


@by_the_clock
@contenders(*EXECUTORS, "dask at an address")
@pytest.mark.parametrize("number", [60, 300])
def bench_tasks(benchmark, number, contender):
    tasks = small_tasks(number)
    if contender in EXECUTORS:
        benchmark(lambda: list(execute(tasks, EXECUTORS[contender])))
        return
    with pytest.importorskip("distributed").LocalCluster(
        2, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        there = {"name": "dask", "address": cluster.scheduler_address}
        benchmark(lambda: list(execute(tasks, there)))


def fold_of(task):
    numbers = {
        "n_splits": task.protocol["n_splits"],
        "split_seed": task.split_seed,
        "fold": task.fold,
    }
    return make_fold(
        protocol_named(task.protocol["split"]), load_from(task.dataset), **numbers
    )


def each_trial_alone(task):
    """Fit every trial for itself, as a user without a shared fold would."""
    fold = fold_of(task)
    X, y = fold.view.X, fold.view.y
    for trial in task.trials:
        cell = task.cells[trial.cell]
        selector, model = build("selector", cell.selector), build("model", cell.model)
        if selector.is_random:
            selector.set_params(
                random_state=trial_seed(cell, task.repeat, task.fold, trial.draw)
            )
        rows = slice(None)
        if cell.protocol["setting"] == "supervised":
            around = OnSupportVectors(selector, svm=model).fit(X, y)
            selector = around.selector_
            if selector.indices_.size < X.shape[1]:
                rows = around.support_rows_
        else:
            selector.fit(X, y)
        model.fit(reduced_rows(selector, X[rows]), y[rows]).predict(
            reduced_rows(selector, fold.X_test)
        )


def shared_parts(task):
    """Do what all trials of the task share, without the trials."""
    view = fold_of(task).view
    build("model", task.cells[task.trials[0].cell].model).fit(view.X, view.y)
    spectral_basis(view.X)


@cache
def task_of(name, setting, methods):
    loaded("techtc", set=name)
    settings = [
        f"dataset.set=[{name}]",
        f"protocol.setting={setting}",
        "protocol.repeats=1",
        "protocol.certify=false",
    ]
    task = next(iter(make_tasks(compose_artefact("paul2016/figure1", settings).cells)))
    if methods == "all":
        return task
    trials = [
        trial
        for trial in task.trials
        if "BSS" not in task.cells[trial.cell].selector["_target_"]
    ]
    return replace(task, trials=tuple(trials))


FOLDS = {
    "shared": run_task,
    "each trial alone": each_trial_alone,
    "SVM and basis": shared_parts,
}


@contenders(*FOLDS)
@pytest.mark.parametrize("methods", ["all", "without BSS"])
@pytest.mark.parametrize("setting", ["supervised", "unsupervised"])
@pytest.mark.parametrize("name", TECHTC)
def bench_fold(benchmark, name, setting, methods, contender):
    if methods == "all":
        benchmark.extra_info["goal"] = "shared / each trial alone <= 0.333"
    benchmark(FOLDS[contender], task_of(name, setting, methods))
