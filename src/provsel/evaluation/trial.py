"""Run one task: a plain function of plain arguments that returns records."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from provsel.datasets import DataIntegrityError, Dataset, load_dataset
from provsel.evaluation.certificates import Certificate, certify_view
from provsel.evaluation.components import build
from provsel.evaluation.compression import certify_compressed_view, is_compressed
from provsel.evaluation.environment import environment, git_revision
from provsel.evaluation.fold import FoldContext
from provsel.evaluation.partitions import certify_clustering, cluster_rows
from provsel.evaluation.plan import Cell, Task, Trial, identity_of, trial_seed
from provsel.evaluation.reduction import (
    fit_reducer,
    is_random,
    is_random_model,
    kept_features,
    leaves_nothing_out,
    n_columns,
    reduced_rows,
)
from provsel.evaluation.streamed import classify_streamed
from provsel.keys import canonical_json
from provsel.models.libsvm import LibsvmSVM
from provsel.selectors._base import AbstractSelector
from provsel.selectors._view import Cost, Meter, TrainingView
from provsel.selectors.on_support_vectors import OnSupportVectors
from provsel.selectors.with_enclosing_ball_center import WithEnclosingBallCenter

Record = dict[str, Any]


@dataclass
class TaskResult:
    """Records of the trials that worked, and (key, cell, reason) of those that did not."""

    records: list[Record] = field(default_factory=list)
    failures: list[tuple[str, str, str]] = field(default_factory=list)


@dataclass
class Fitted:
    """A reducer fitted on `rows`, which are those of the fold or its support vectors, and what that cost."""

    reducer: Any
    rows: TrainingView
    selecting: Meter


def run_task(task: Task) -> TaskResult:
    """Run all trials of a task on one BLAS thread.

    Many small eigenproblems get slower with more threads, and the number of threads must not show in the results.
    A trial that fails is reported and does not stop the others.

    Raises
    ------
    DataIntegrityError
        The data set has another identity here than in the task.
    """
    result, start = TaskResult(), _cpu_seconds()
    with threadpool_limits(1):
        _check_identity(task)
        dataset = _load(canonical_json(dict(task.dataset)))
        context = _context(task, dataset)
        for trial in task.trials:
            cell = task.cells[trial.cell]
            try:
                result.records.append(_run_trial(task, cell, trial, dataset, context))
            except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
                where = f"{dataset.name}, {cell.selector.get('_target_')}, repeat {task.repeat}, fold {task.fold}"
                result.failures.append((trial.key, where, f"{type(error).__name__}: {error}"))
    share = (_cpu_seconds() - start) / len(task.trials)
    for record in result.records:
        record["task_cpu"] = share
    return result


def _cpu_seconds() -> float:
    """Return the CPU time of this process and of the children that it waited for."""
    return sum(os.times()[:4])


def _run_trial(task: Task, cell: Cell, trial: Trial, dataset: Dataset, context: FoldContext) -> Record:
    seed = trial_seed(cell, task.repeat, task.fold, trial.draw)
    fitted = _select(task, cell, seed, context.view)
    if task.split == "selection_only":
        measured = {**_search_and_pass(fitted, seed), **_unlabelled_certificate(cell, fitted).as_record()}
    elif task.split == "all_rows":
        measured = _cluster(task, cell, fitted)
    elif task.split == "streamed":
        measured = classify_streamed(_seeded(cell.model, seed), context)
    else:
        measured = _classify(cell, seed, fitted, context)
    inner, view, features = fitted.reducer, context.view, kept_features(fitted.reducer)
    record = {
        "key": trial.key,
        "cell": cell.id,
        "dataset": dataset.name,
        "data": cell.data,
        "content": dataset.content,
        "source": dataset.source,
        "setting": cell.protocol["setting"],
        "selector": type(inner).__name__,
        "config": canonical_json(cell.identity),
        "repeat": task.repeat,
        "fold": task.fold,
        "draw": trial.draw,
        "seed": seed,
        "split_seed": task.split_seed,
        "n_train": view.n_samples,
        "n_test": len(context.y_test),
        "n_features": view.n_features,
        "n_classes": dataset.n_classes,
        "n_rows": fitted.rows.n_samples,
        "rank": getattr(inner, "rank_", None),
        "n_selected": n_columns(inner),
        "n_repeats": getattr(inner, "n_repeats_", None),
        "sampling_rate": getattr(inner, "sampling_rate_", None),
        **dict.fromkeys(("error", "objective", "scaled_objective", "nmi", "ari", "cost")),
        **Certificate().as_record(),
        "features": None if features is None or features.size == view.n_features else features.astype(np.int32),
        "environment": environment(),
        "git_revision": git_revision(),
        "select_cpu": fitted.selecting.own.cpu,
        "select_wall": fitted.selecting.own.wall,
        "shared_cpu": fitted.selecting.shared.cpu,
        "shared_wall": fitted.selecting.shared.wall,
        **dict.fromkeys(("train_cpu", "train_wall", "pass_cpu", "pass_wall", "task_cpu", "file_bytes", "peak_memory")),
    }
    return record | measured


def _select(task: Task, cell: Cell, seed: int, view: TrainingView) -> Fitted:
    selector: Any = build("selector", cell.selector)
    if is_random(selector):
        selector.set_params(random_state=seed)
    setting, model = cell.protocol["setting"], build("model", cell.model)
    if setting == "supervised":
        selector = OnSupportVectors(selector, svm=model)
    elif setting == "unsupervised_with_center":
        selector = WithEnclosingBallCenter(selector)
    with view.metered() as selecting:
        if task.split == "all_rows" and not is_random(selector):
            # the rows are those of every other repeat, and so is the selection
            selector = view.shared(f"fitted {selector!r}", lambda: fit_reducer(selector, view))
        else:
            fit_reducer(selector, view)
    rows = view.on_support_vectors(model) if setting == "supervised" else view
    return Fitted(selector if setting == "unsupervised" else selector.selector_, rows, selecting)


def _search_and_pass(fitted: Fitted, seed: int) -> Record:
    """Time the fit again with what its search found, where the method searches for a parameter."""
    if not hasattr(fitted.reducer, "calibrated"):
        return {}
    start = Cost.now()
    again = fitted.reducer.calibrated().set_params(random_state=seed).fit_view(TrainingView(fitted.rows.X))
    cost = Cost.now() - start
    if not np.array_equal(again.indices_, fitted.reducer.indices_):
        raise ArithmeticError(f"{type(again).__name__}: the pass at the calibrated rate keeps other features.")
    return {"pass_cpu": cost.cpu, "pass_wall": cost.wall}


def _cluster(task: Task, cell: Cell, fitted: Fitted) -> Record:
    model, view = build("model", cell.model), fitted.rows
    if "random_state" in model.get_params():
        model.set_params(random_state=task.split_seed)  # that of all methods: they differ in what they select only
    with view.metered() as training:
        clustering = cluster_rows(fitted.reducer, model, view)
    record: Record = {**clustering.scores, "train_cpu": training.own.cpu, "train_wall": training.own.wall}
    if _is_certified(cell, fitted.reducer):
        certificate = _unlabelled_certificate(cell, fitted)
        record |= certificate.as_record()
        record |= certify_clustering(fitted.reducer, model, view, clustering, certificate)
    return record


def _classify(cell: Cell, seed: int, fitted: Fitted, context: FoldContext) -> Record:
    model = build("model", _seeded(cell.model, seed))
    inner, view, rows = fitted.reducer, context.view, fitted.rows
    with view.metered() as training:
        if leaves_nothing_out(inner, view) and not is_random_model(model):
            # the SVM that gave the support vectors is the trained model
            trained = view.svm(model)
        else:
            trained = clone(model).fit(reduced_rows(inner, rows.X), rows.y)
        predicted = trained.predict(reduced_rows(inner, context.X_test))
        error = float(np.mean(predicted != context.y_test))
    record: Record = {"error": error, "train_cpu": training.own.cpu, "train_wall": training.own.wall}
    record["objective"] = getattr(trained, "objective_", None)
    if hasattr(trained, "indices_"):  # a model that drops features itself, of those that the selector left it
        left = kept_features(inner)
        features = trained.indices_ if left is None else np.sort(left)[trained.indices_]
        record |= {"n_selected": features.size, "features": None if left is None else features.astype(np.int32)}
    record["scaled_objective"] = getattr(trained, "scaled_objective_", None)
    if cell.protocol["certify"] and is_compressed(model) and leaves_nothing_out(inner, view):
        record |= certify_compressed_view(trained, rows).as_record()
    elif _is_certified(cell, inner):
        C = model.C if isinstance(model, LibsvmSVM) else None
        record |= certify_view(inner, rows, C=C, radius=cell.protocol["setting"] != "supervised").as_record()
    return record


def _seeded(config: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Return the config of a model with the seed of the trial where the model draws."""
    return {**config, "random_state": seed} if is_random_model(build("model", config)) else dict(config)


def _is_certified(cell: Cell, reducer: Any) -> bool:
    """Tell whether the protocol asks for certificates and the method promises anything."""
    promises = hasattr(reducer, "budget") or hasattr(reducer, "spectral_bound_")
    return bool(cell.protocol["certify"]) and isinstance(reducer, AbstractSelector) and promises


def _unlabelled_certificate(cell: Cell, fitted: Fitted) -> Certificate:
    """Return what can be certified of all rows, without classes to separate; nothing where it was not asked for."""
    if not _is_certified(cell, fitted.reducer):
        return Certificate()
    return certify_view(fitted.reducer, fitted.rows, C=None, margin=False, radius=False)


def _check_identity(task: Task) -> None:
    """Raise where this machine would load other files than the keys of the trials name."""
    found = identity_of(task.dataset)
    if found != task.data:
        raise DataIntegrityError(
            f"data set {task.dataset.get('name')}: expected the identity {task.data[:12]}, got {found[:12]}; this "
            f"machine has another copy of the data, or it changed since the run began: run provsel fetch "
            f"{task.dataset.get('name')}, or point PROVSEL_DATA or PROVSEL_DATA_MIRROR to the same files everywhere."
        )


def _context(task: Task, dataset: Dataset) -> FoldContext:
    if task.split == "all_rows":
        return _all_rows(canonical_json(dict(task.dataset)))
    return FoldContext(dataset, split=task.split, n_splits=task.n_splits, split_seed=task.split_seed, fold=task.fold)


@lru_cache(maxsize=1)
def _all_rows(config: str) -> FoldContext:
    """Return the context of all rows, shared by the tasks of a worker: it does not depend on the repeat."""
    return FoldContext(_load(config), split="all_rows", n_splits=1, split_seed=0, fold=0)


@lru_cache(maxsize=2)
def _load(config: str) -> Dataset:
    return load_from(json.loads(config))


def load_from(config: Mapping[str, Any]) -> Dataset:
    """Return the data set of a config: `name`, and the parameters of its loader."""
    parameters = dict(config)
    return load_dataset(parameters.pop("name"), **parameters)
