"""Rows of the outer and the inner folds of `select`."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import PredefinedSplit, TimeSeriesSplit

from provlab.bench.splits import folds_of_rows, splits_of
from provlab.core.protocols.base import Rows, check_rows, rarest_class
from provlab.data import Dataset

if TYPE_CHECKING:
    from provlab.bench.selection.folds import Problem

N_OUTER, N_INNER = 10, 5

MANY_ROWS = 20_000
"""Number of rows beyond which fewer folds are enough."""

N_OUTER_OF_MANY, N_INNER_OF_MANY = 5, 3

N_OUTER_IN_TIME = 5

FEWEST_OF_A_CLASS = 4
"""Minimum number of rows per class, so that a fold can test one and the inner folds have some."""


def folds_of_cv(problem: Problem, cv: Any) -> list[tuple[Rows, Rows]]:
    """Return the training and test rows of each outer fold that `cv` gives."""
    dataset = problem.dataset
    if getattr(cv, "random_state", 0) is None:
        cv = copy(cv)
        cv.random_state = problem.random_state
    fold_of_row = folds_of_rows(cv)
    if fold_of_row is not None:
        cv = PredefinedSplit(fold_of_row)
    folds = splits_of("select", cv, dataset.X, dataset.labels, dataset.groups)
    for fold, (train, test) in enumerate(folds):
        check_rows(dataset, train, test, fold, every_class=False)
    return list(folds)


def own_folds(
    problem: Problem, n_splits: int | None, repeats: int
) -> tuple[list[tuple[Rows, Rows]], list[str]]:
    """Return the rows of each outer fold, stratified with whole groups or in the order of time, and notes."""
    dataset = problem.dataset
    usual = N_OUTER_OF_MANY if dataset.n_rows > MANY_ROWS else N_OUTER
    if problem.by_time:
        usual, repeats = N_OUTER_IN_TIME, 1
    notes = []
    n_outer = n_splits or n_folds(dataset, usual, problem.by_time)
    if not n_splits and n_outer < usual:
        what = "groups" if dataset.groups is not None else "rows of its smallest class"
        notes.append(f"only {n_outer} folds, because there are {n_outer} {what}")
    folds = []
    for repeat in range(repeats):
        splits = problem.protocol.splits(
            dataset, n_outer, problem.random_state + repeat
        )
        for fold, (train, test) in enumerate(splits):
            check_rows(dataset, train, test, fold)
            folds.append((train, test))
    return folds, notes


def inner_folds(problem: Problem, rows: Rows) -> list[tuple[Rows, Rows]]:
    """Return folds of the given rows as row numbers of the table, without folds that lack a class.

    Raises
    ------
    ValueError
        If fewer than two folds remain.
    """
    dataset = problem.dataset
    groups = None if dataset.groups is None else dataset.groups[rows]
    part = replace(dataset, y=dataset.y[rows], groups=groups)
    wanted = N_INNER_OF_MANY if dataset.n_rows > MANY_ROWS else N_INNER
    n_splits = n_folds(part, wanted, problem.by_time)
    labels = dataset.labels[rows]
    folds = []
    lacking = ""
    if n_splits > 1:
        splits = problem.protocol.splits(part, n_splits, problem.random_state)
        if problem.gap:
            splits = TimeSeriesSplit(n_splits, gap=problem.gap).split(part.y)
        for train, test in splits:
            lacked = np.setdiff1d(labels, labels[train])
            if lacked.size and not part.is_regression:
                lacking = f", because others lack class {str(lacked[0])!r}"
            elif test.size:
                folds.append((rows[train], rows[test]))
    if len(folds) < 2:
        more = "more groups of rows, or " if dataset.groups is not None else ""
        step = f"use {more}fewer folds (--folds)"
        if lacking:
            step += (
                ", or leave out that class, with +dataset.min_class_size if it is rare"
            )
        raise ValueError(
            f"data set {dataset.name}: expected two folds or more inside each training fold, with rows of each "
            f"class, got {len(folds)}{lacking}; {step}."
        )
    return folds


def n_folds(dataset: Dataset, wanted: int, by_time: bool) -> int:
    """Return the number of folds: the requested number, limited by the numbers of groups and of rows per class."""
    if by_time:
        return wanted
    if dataset.groups is not None:
        return min(wanted, np.unique(dataset.groups).size)
    return min(
        wanted, dataset.n_rows if dataset.is_regression else rarest_class(dataset)[1]
    )


def check_classes(dataset: Dataset) -> None:
    """Raise if there is only one class, or if a class has too few rows."""
    if dataset.is_regression:
        return
    if dataset.n_classes < 2:
        raise ValueError(
            f"data set {dataset.name}: expected a target of two classes or more, got one; name another target."
        )
    label, smallest = rarest_class(dataset)
    if smallest < FEWEST_OF_A_CLASS:
        raise ValueError(
            f"data set {dataset.name}: expected at least {FEWEST_OF_A_CLASS} rows of each class for nested "
            f"folds, got {smallest} of class {label}; merge it with another class, or drop such classes with "
            f"+dataset.min_class_size={FEWEST_OF_A_CLASS}."
        )
