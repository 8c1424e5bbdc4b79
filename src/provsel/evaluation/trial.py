"""Run one task: a plain function of plain arguments that returns records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from provsel.datasets import Dataset, load_dataset
from provsel.evaluation.certificates import Certificate, certify_view
from provsel.evaluation.components import build
from provsel.evaluation.environment import environment, git_revision
from provsel.evaluation.fold import FoldContext, reduced_rows
from provsel.evaluation.keys import canonical_json, seed_from
from provsel.evaluation.plan import Cell, Task, Trial
from provsel.models.libsvm import LibsvmSVM
from provsel.selectors._base import AbstractSelector
from provsel.selectors._view import TrainingView
from provsel.selectors.on_support_vectors import OnSupportVectors
from provsel.selectors.with_enclosing_ball_center import WithEnclosingBallCenter

Record = dict[str, Any]


@dataclass
class TaskResult:
    """Records of the trials that worked, and (key, cell, reason) of those that did not."""

    records: list[Record] = field(default_factory=list)
    failures: list[tuple[str, str, str]] = field(default_factory=list)


def run_task(task: Task) -> TaskResult:
    """Run all trials of a task on one BLAS thread.

    Many small eigenproblems get slower with more threads, and the number of threads must not show in the results.
    A trial that fails is reported and does not stop the others.
    """
    result = TaskResult()
    with threadpool_limits(1):
        dataset = _load(canonical_json(dict(task.dataset)))
        context = FoldContext(
            dataset, split=task.split, n_splits=task.n_splits, split_seed=task.split_seed, fold=task.fold
        )
        for trial in task.trials:
            cell = task.cells[trial.cell]
            try:
                result.records.append(_run_trial(task, cell, trial, dataset, context))
            except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
                where = f"{dataset.name}, {cell.selector.get('_target_')}, repeat {task.repeat}, fold {task.fold}"
                result.failures.append((trial.key, where, f"{type(error).__name__}: {error}"))
    return result


def _run_trial(task: Task, cell: Cell, trial: Trial, dataset: Dataset, context: FoldContext) -> Record:
    model, view = build("model", cell.model), context.view
    selector: Any = _seeded(build("selector", cell.selector), trial.key)
    setting = cell.protocol["setting"]
    if setting == "supervised":
        selector = OnSupportVectors(selector, svm=model)
    elif setting == "unsupervised_with_center":
        selector = WithEnclosingBallCenter(selector)
    with view.metered() as selecting:
        selector.fit_view(view)
    inner = selector if setting == "unsupervised" else selector.selector_
    rows = view.on_support_vectors(model) if isinstance(selector, OnSupportVectors) else view
    with view.metered() as training:
        error = _test_error(inner, model, view, rows, context)
    certificate = Certificate()
    if cell.protocol["certify"] and hasattr(inner, "budget"):
        certificate = certify_view(
            inner,
            rows,
            C=model.C if isinstance(model, LibsvmSVM) else None,
            radius=setting != "supervised",
        )
    return {
        "key": trial.key,
        "cell": cell.id,
        "dataset": dataset.name,
        "fingerprint": dataset.fingerprint,
        "setting": setting,
        "selector": type(inner).__name__,
        "config": canonical_json(cell.identity),
        "repeat": task.repeat,
        "fold": task.fold,
        "draw": trial.draw,
        "seed": seed_from(trial.key),
        "split_seed": task.split_seed,
        "n_train": view.n_samples,
        "n_test": len(context.y_test),
        "n_features": view.n_features,
        "n_rows": rows.n_samples,
        "rank": getattr(inner, "rank_", None),
        "n_selected": inner.indices_.size,
        "n_repeats": getattr(inner, "n_repeats_", None),
        "error": error,
        **certificate.as_record(),
        "features": None if inner.indices_.size == view.n_features else inner.indices_.astype(np.int32),
        "environment": environment(),
        "git_revision": git_revision(),
        "select_cpu": selecting.own.cpu,
        "select_wall": selecting.own.wall,
        "shared_cpu": selecting.shared.cpu,
        "shared_wall": selecting.shared.wall,
        "train_cpu": training.own.cpu,
        "train_wall": training.own.wall,
    }


def _test_error(
    selector: AbstractSelector, model: Any, view: TrainingView, rows: TrainingView, context: FoldContext
) -> float:
    if selector.indices_.size == view.n_features and (selector.weights_ == 1.0).all():
        # nothing was left out: the SVM that gave the support vectors is the trained model
        predicted = view.svm(model).predict(context.X_test)
    else:
        trained = clone(model).fit(reduced_rows(selector, rows.X), rows.y)
        predicted = trained.predict(reduced_rows(selector, context.X_test))
    return float(np.mean(predicted != context.y_test))


def _seeded(selector: AbstractSelector, key: str) -> AbstractSelector:
    return selector.set_params(random_state=seed_from(key)) if selector.is_random else selector


@lru_cache(maxsize=2)
def _load(config: str) -> Dataset:
    return load_from(json.loads(config))


def load_from(config: Mapping[str, Any]) -> Dataset:
    """Return the data set of a config: `name`, and the parameters of its loader."""
    parameters = dict(config)
    return load_dataset(parameters.pop("name"), **parameters)
