"""The nested procedure of `select`: measure each method at each size, and choose the best."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import get_scorer_names, root_mean_squared_error
from threadpoolctl import threadpool_limits

from provlab.bench.selection.fold_rows import inner_folds
from provlab.bench.selection.methods import Method
from provlab.bench.selection.table_selector import first_columns, fitted_rows
from provlab.core.protocols import PROTOCOLS
from provlab.core.protocols.base import Rows
from provlab.data import Classes, Dataset
from provlab.run.executors import usable_cores
from provlab.run.isolation import isolated_children
from provlab.run.scoring import inapplicable, labelled
from provsel.training_view import TrainingView

Floats = NDArray[np.float64]

Fold = tuple[Rows, Rows | None]
"""Training and test rows by number; None if nothing is tested."""

LADDER = (1, 2, 3, 5, 8, 12, 20, 30, 50, 100, 200)
"""Numbers of columns to try, besides all columns."""

WORTH_WORKERS = 4.0
"""Seconds of remaining work beyond which starting worker processes pays off."""

PROGRESS_EVERY = 15.0
"""Seconds between two lines of progress."""

EXPECTED = (ValueError, ArithmeticError, np.linalg.LinAlgError)
"""Exceptions that count as the failure of a method."""


@dataclass(frozen=True)
class Measure:
    """Measure on test rows: the error in percent, RMSE for numeric targets, or a scikit-learn scorer.

    Attributes
    ----------
    scoring : str
        Name of a scorer; "" means the error or RMSE.
    is_regression : bool
    scorer : callable, optional
        Called with a fitted model, rows and labels.
    classes : Classes, optional
        Labels that scorer objects get instead of y.
    """

    scoring: str
    is_regression: bool
    scorer: Any = None
    classes: Classes | None = None

    @property
    def sign(self) -> float:
        """1 for errors, -1 for scores; multiplied by it, lower values are better."""
        return -1.0 if self.scoring else 1.0

    @property
    def name(self) -> str:
        """Name of the measure in columns."""
        return self.scoring or ("RMSE" if self.is_regression else "error")

    @property
    def label(self) -> str:
        """Label of a column or an axis."""
        return "error (%)" if self.is_percent else self.name

    @property
    def is_percent(self) -> bool:
        """Whether it is a percentage of wrong predictions."""
        return not self.scoring and not self.is_regression

    def of(self, model: Any, X: Any, y: NDArray[Any]) -> float:
        """Return the value for a fitted model on test rows."""
        if self.scorer is not None:
            labels = y if self.classes is None else self.classes.labels_of(y)
            try:
                return float(self.scorer(labelled(model, self.classes), X, labels))
            except ValueError as error:
                if self.scoring not in get_scorer_names():
                    raise
                raise inapplicable(self.scoring, error, model, X, y, {}) from error
        predicted = model.predict(X)
        if self.is_regression:
            return float(root_mean_squared_error(y, predicted))
        return 100 * float(np.mean(predicted != y))


@dataclass(frozen=True)
class Problem:
    """Read-only data and settings that all folds share.

    Attributes
    ----------
    dataset : Dataset
        Data set without repeated columns, from which y and groups are taken.
    values : DataFrame, ndarray or CSR of shape (n_samples, n_columns)
        The table in the form that `transformer` takes.
    transformer : transformer or None
        Unfitted preparation.
    methods : tuple of Method
    sizes : tuple of int
        Sizes to try in increasing order; below the number of columns if there is a
        choice.
    is_fixed : bool
        Whether the caller requested one number, so that all columns are not a
        candidate.
    model : estimator
        Unfitted model.
    measure : Measure
    by_time : bool
        Whether rows are ordered by time.
    gap : int
        Number of rows between training and test rows that inner folds skip if rows are
        ordered by time.
    random_state : int
        Seed of all folds.
    """

    dataset: Dataset
    values: Any
    transformer: Any
    methods: tuple[Method, ...]
    sizes: tuple[int, ...]
    is_fixed: bool
    model: Any
    measure: Measure
    by_time: bool
    random_state: int
    gap: int = 0

    @property
    def protocol(self) -> Any:
        """Protocol that makes the outer and inner folds."""
        return PROTOCOLS["time_order" if self.by_time else "kfold"]

    @property
    def n_columns(self) -> int:
        """Number of columns of the table."""
        return int(self.dataset.X.shape[1])

    def rows(self, numbers: Rows) -> Any:
        """Return the given rows of the table."""
        return (
            self.values.iloc[numbers]
            if hasattr(self.values, "iloc")
            else self.values[numbers]
        )


class Measured(NamedTuple):
    """Results of all methods, trained on some rows and tested on others.

    Attributes
    ----------
    values : ndarray of shape (n_methods, n_sizes + 1)
        Values of the measure, with all columns of the table at the last size; NaN for a
        method that failed.
    of_all : float
        Value with all columns.
    guess : float
        Value of guessing the most frequent class, or the mean, for all rows.
    columns : list of list of ndarray
        Selected columns by method and size, in order of selection.
    seconds : ndarray of shape (n_methods,)
        CPU time of the selections.
    reasons : mapping
        Reasons for failures, by method name.
    """

    values: Floats
    of_all: float
    guess: float
    columns: list[list[NDArray[np.int64]]]
    seconds: Floats
    reasons: Mapping[str, str]


class Choice(NamedTuple):
    """Positions of a method and a size; the position after the last size means all columns."""

    method: int
    size: int


@dataclass(frozen=True)
class Outcome:
    """Result of the procedure on the training rows of a fold, or on all rows without a test.

    Attributes
    ----------
    choice : Choice
    of_methods : list of Choice or None
        Choice for each method alone; None for a method that failed.
    inner : ndarray of shape (n_inner_folds, n_methods, n_sizes + 1)
    tested : Measured or None
    n_train, n_test : int
    reasons : mapping
        Reasons for failures on inner folds, by method name.
    """

    choice: Choice
    of_methods: list[Choice | None]
    inner: Floats
    tested: Measured | None
    n_train: int
    n_test: int
    reasons: Mapping[str, str] = field(default_factory=dict)


def sizes_for(n_columns: int, n_features: int | None) -> tuple[int, ...]:
    """Return the sizes to try on a table: the requested one, or those of `LADDER` below the number of columns."""
    if n_features is not None:
        return (n_features,)
    return tuple(size for size in LADDER if size < n_columns)


def outcomes_of(
    problem: Problem,
    folds: Sequence[Fold],
    n_jobs: int | None,
    tell: Callable[[str], None] | None,
) -> list[Outcome]:
    """Return the outcome of each fold, followed by the outcome on all rows.

    The first fold is computed in this process, and its time decides whether to start
    workers.
    """
    every_row = np.arange(problem.dataset.n_rows)
    work: list[Fold] = [*folds, (every_row, None)]
    start = time.perf_counter()
    outcomes = [outcome(problem, work[0])]
    left = (time.perf_counter() - start) * (len(work) - 1)
    if n_jobs is None:
        n_jobs = usable_cores() if left > WORTH_WORKERS else 1
    n_workers = min(n_jobs if n_jobs > 0 else usable_cores(), len(work) - 1)
    if tell and left > WORTH_WORKERS:
        workers = f" by {n_workers} processes" if n_workers > 1 else ""
        tell(
            f"about {left / n_workers:.0f} s: {len(work) - 1} folds of {len(problem.methods)} methods{workers}"
        )
    last_told = time.perf_counter()
    in_order = Parallel(n_jobs=n_workers, return_as="generator")
    with isolated_children():
        for result in in_order(delayed(outcome)(problem, rows) for rows in work[1:]):
            outcomes.append(result)
            now = time.perf_counter()
            if tell and now - last_told >= PROGRESS_EVERY and len(outcomes) < len(work):
                tell(f"{len(outcomes)} of {len(work)} folds, {now - start:.0f} s")
                last_told = now
    return outcomes


def outcome(problem: Problem, rows: Fold) -> Outcome:
    """Choose a method and a size by inner folds of the training rows, and measure all on the test rows.

    BLAS uses one thread, because results must not depend on the number of threads and
    folds may run in parallel.
    """
    train, test = rows
    # a third of small fits
    unchecked = config_context(assume_finite=True, skip_parameter_validation=True)
    with threadpool_limits(1), unchecked, warnings.catch_warnings():
        # the same warning hundreds of times; failures are reported with their reasons
        warnings.simplefilter("ignore")
        folds = [measured(problem, *fold) for fold in inner_folds(problem, train)]
        inner = np.stack([fold.values for fold in folds])
        reasons: dict[str, str] = {}
        for fold in folds:
            reasons |= fold.reasons
        tested = None if test is None else measured(problem, train, test)
    every = range(len(problem.methods))
    choice = choose(problem, inner, every)
    if choice is None:
        texts = [f"{name}: {reason}" for name, reason in reasons.items()]
        raise ValueError(
            f"select: no method works on these rows: {'; '.join(texts):.600}"
        )
    return Outcome(
        choice=choice,
        of_methods=[choose(problem, inner, [method]) for method in every],
        inner=inner,
        tested=tested,
        n_train=train.size,
        n_test=0 if test is None else test.size,
        reasons=reasons | dict(tested.reasons if tested else {}),
    )


def choose(problem: Problem, inner: Floats, methods: Sequence[int]) -> Choice | None:
    """Return the smallest size within one standard error of the best mean, and the best method there.

    The result is None if all methods failed.

    Parameters
    ----------
    problem : Problem
    inner : ndarray of shape (n_folds, n_methods, n_sizes + 1)
    methods : sequence of int

    References
    ----------
    Breiman, Friedman, Olshen, Stone (1984), Classification and regression trees,
    section 3.4.3, give the rule.
    """
    n_sizes = inner.shape[2] - 1 if problem.is_fixed else inner.shape[2]
    losses = problem.measure.sign * inner[:, list(methods), :n_sizes]
    means = losses.mean(axis=0)
    means[np.isnan(means)] = np.inf
    errors = losses.std(axis=0, ddof=1) / np.sqrt(len(losses))
    best = np.unravel_index(np.argmin(means), means.shape)
    if np.isinf(means[best]):
        return None
    limit = means[best] + errors[best]
    size = int(np.flatnonzero((means <= limit).any(axis=0))[0])
    return Choice(methods[int(np.argmin(means[:, size]))], size)


def measured(problem: Problem, train: Rows, test: Rows) -> Measured:
    """Fit the preparation, the selectors and the models on training rows only, and measure them on test rows."""
    y_train, y_test = problem.dataset.y[train], problem.dataset.y[test]
    transformer = None if problem.transformer is None else clone(problem.transformer)
    X_train, sources = fitted_rows(transformer, problem.rows(train))
    X_test = problem.rows(test)
    if transformer is not None:
        X_test = transformer.transform(X_test)
    by_columns: dict[tuple[int, ...], float] = {}

    def value(columns: NDArray[np.int64]) -> float:
        """Return the measure of the model on given columns, computed once for all methods that select them."""
        key = tuple(np.sort(columns).tolist())
        if key not in by_columns:
            places = np.flatnonzero(np.isin(sources, columns))
            model = clone(problem.model).fit(X_train[:, places], y_train)
            by_columns[key] = problem.measure.of(model, X_test[:, places], y_test)
        return by_columns[key]

    view = TrainingView(X_train, y_train)
    values = np.full((len(problem.methods), len(problem.sizes) + 1), np.nan)
    of_all = value(np.arange(problem.n_columns))
    values[:, -1] = of_all
    seconds = np.zeros(len(problem.methods))
    columns: list[list[NDArray[np.int64]]] = []
    reasons = {}
    for place, method in enumerate(problem.methods):
        start = time.process_time()
        try:
            columns.append(first_columns(method.selector, view, sources, problem.sizes))
        except EXPECTED as error:
            columns.append([])
            reasons[method.name] = str(error)
            values[place] = np.nan
        seconds[place] = time.process_time() - start
        for size, kept in enumerate(columns[place]):
            values[place, size] = value(kept)
    return Measured(values, of_all, guessed(problem, test), columns, seconds, reasons)


def guessed(problem: Problem, test: Rows) -> float:
    """Return the measure of guessing the most frequent class or the mean of the test rows.

    If each group has its own class, guessing from the training rows would always fail,
    because that class is absent from them.
    """
    dummy = DummyRegressor() if problem.dataset.is_regression else DummyClassifier()
    y = problem.dataset.y
    return problem.measure.of(
        dummy.fit(np.zeros((y.size, 1)), y), np.zeros((test.size, 1)), y[test]
    )
