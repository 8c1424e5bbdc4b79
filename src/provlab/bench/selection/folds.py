"""The nested procedure of `select`: measure each method at each size, and choose among them."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import TimeSeriesSplit
from threadpoolctl import threadpool_limits

from provlab.bench.selection.methods import Method
from provlab.bench.selection.table_selector import first_columns, fitted_rows
from provlab.core.protocols import PROTOCOLS
from provlab.core.protocols.base import Rows, check_rows, rarest_class
from provlab.data import Classes, Dataset
from provlab.run.scoring import labelled
from provsel.training_view import TrainingView

Floats = NDArray[np.float64]

Fold = tuple[Rows, Rows | None]
"""Numbers of training and of test rows; None where nothing is tested."""

LADDER = (1, 2, 3, 5, 8, 12, 20, 30, 50, 100, 200)
"""Numbers of columns that are tried, where there are more columns; and all."""

FEWEST_OF_A_CLASS = 4
"""Rows of a class, for a fold to test one and the inner folds to have some."""

EXPECTED = (ValueError, ArithmeticError, np.linalg.LinAlgError)
"""What a method may fail with."""


@dataclass(frozen=True)
class Measure:
    """What is measured on test rows: the error in percent, RMSE of numbers, or a scorer of scikit-learn.

    Attributes
    ----------
    scoring : str
        Name of a scorer; "" is the error, or RMSE.
    is_regression : bool
    scorer : callable, optional
        Called with a fitted model, rows and labels.
    classes : Classes, optional
        The labels that scorer objects see in place of y.
    """

    scoring: str
    is_regression: bool
    scorer: Any = None
    classes: Classes | None = None

    @property
    def sign(self) -> float:
        """1 for errors, -1 for scores: multiplied by it, lower is better."""
        return -1.0 if self.scoring else 1.0

    @property
    def name(self) -> str:
        """Of a column."""
        return self.scoring or ("RMSE" if self.is_regression else "error")

    @property
    def label(self) -> str:
        """Heading of a column or an axis."""
        return "error (%)" if self.is_percent else self.name

    @property
    def is_percent(self) -> bool:
        """Whether it is a share of wrong rows."""
        return not self.scoring and not self.is_regression

    def of(self, model: Any, X: Any, y: NDArray[Any]) -> float:
        """Return the value of a fitted model on test rows."""
        if self.scorer is not None:
            labels = y if self.classes is None else self.classes.labels_of(y)
            return float(self.scorer(labelled(model, self.classes), X, labels))
        predicted = model.predict(X)
        if self.is_regression:
            return float(root_mean_squared_error(y, predicted))
        return 100 * float(np.mean(predicted != y))


@dataclass(frozen=True)
class Problem:
    """Everything that a fold needs; it is read-only.

    Attributes
    ----------
    dataset : Dataset
        Source of y and groups, without repeated columns.
    values : DataFrame, ndarray or CSR of shape (n_samples, n_columns)
        The table in the form that `transformer` takes.
    transformer : transformer or None
        Unfitted.
    methods : tuple of Method
    sizes : tuple of int
        Increasing; below the number of columns if there is a choice.
    is_fixed : bool
        Whether the caller asked for one number, so that all columns are not a candidate.
    model : estimator
        Unfitted.
    measure : Measure
    by_time : bool
        Whether rows are ordered by time.
    gap : int
        Number of rows left out between training and test rows of inner folds in time.
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
        """Makes outer and inner folds."""
        return PROTOCOLS["time_order" if self.by_time else "kfold"]

    @property
    def n_columns(self) -> int:
        """Columns of the table."""
        return int(self.dataset.X.shape[1])

    def rows(self, numbers: Rows) -> Any:
        """Return rows of the table."""
        return self.values.iloc[numbers] if hasattr(self.values, "iloc") else self.values[numbers]


class Measured(NamedTuple):
    """All methods, trained on some rows and tested on others.

    Attributes
    ----------
    values : ndarray of shape (n_methods, n_sizes + 1)
        Of the measure; the last column is that of all columns. NaN for a method that failed.
    of_all : float
        With all columns.
    guess : float
        Measure of guessing the most frequent class, or the mean, for all rows.
    columns : list of list of ndarray
        By method and size, in order of selection.
    seconds : ndarray of shape (n_methods,)
        CPU time of the selections.
    reasons : mapping
        Why methods failed, by their names.
    """

    values: Floats
    of_all: float
    guess: float
    columns: list[list[NDArray[np.int64]]]
    seconds: Floats
    reasons: Mapping[str, str]


class Choice(NamedTuple):
    """A method and a size, by position; the last size means all columns."""

    method: int
    size: int


@dataclass(frozen=True)
class Outcome:
    """The procedure on the training rows of a fold, or on all rows without a test.

    Attributes
    ----------
    choice : Choice
    of_methods : list of Choice or None
        The size chosen for each method separately; None for a method that failed.
    inner : ndarray of shape (n_inner_folds, n_methods, n_sizes + 1)
    tested : Measured or None
    n_train, n_test : int
    reasons : mapping
        Why methods failed on inner folds.
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


def outcome(problem: Problem, rows: Fold, n_inner: int) -> Outcome:
    """Choose method and size by inner folds of the training rows, and measure everything on the test rows.

    One BLAS thread: results must not depend on the number of threads, and folds may run in parallel.
    """
    train, test = rows
    unchecked = config_context(assume_finite=True, skip_parameter_validation=True)  # a third of the time of small fits
    with threadpool_limits(1), unchecked, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the same hundreds of times; what fails is told by its reason
        folds = [measured(problem, *fold) for fold in inner_splits(problem, train, n_inner)]
        inner = np.stack([fold.values for fold in folds])
        reasons: dict[str, str] = {}
        for fold in folds:
            reasons |= fold.reasons
        tested = None if test is None else measured(problem, train, test)
    every = range(len(problem.methods))
    choice = choose(problem, inner, every)
    if choice is None:
        texts = [f"{name}: {reason}" for name, reason in reasons.items()]
        raise ValueError(f"select: no method works on these rows: {'; '.join(texts):.600}")
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
    """Return the smallest size within one standard error of the best mean, with the best method at that size.

    None if all of them failed.

    Parameters
    ----------
    problem : Problem
    inner : ndarray of shape (n_folds, n_methods, n_sizes + 1)
    methods : sequence of int

    References
    ----------
    Breiman, Friedman, Olshen, Stone (1984), Classification and regression trees, section 3.4.3, for the rule.
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
    """Fit preparation, selectors and models on training rows only, and measure them on the test rows."""
    y_train, y_test = problem.dataset.y[train], problem.dataset.y[test]
    transformer = None if problem.transformer is None else clone(problem.transformer)
    X_train, sources = fitted_rows(transformer, problem.rows(train))
    X_test = problem.rows(test)
    if transformer is not None:
        X_test = transformer.transform(X_test)
    by_columns: dict[tuple[int, ...], float] = {}

    def value(columns: NDArray[np.int64]) -> float:
        """Return the measure of the model on some columns, computed once for all methods that select them."""
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
    """Return the measure of guessing the most frequent class, or the mean, of the test rows.

    Guessing from the training rows would always fail if each group has one class, which is then absent from training.
    """
    dummy = DummyRegressor() if problem.dataset.is_regression else DummyClassifier()
    y = problem.dataset.y
    return problem.measure.of(dummy.fit(np.zeros((y.size, 1)), y), np.zeros((test.size, 1)), y[test])


# ---- folds


def n_folds(dataset: Dataset, wanted: int, by_time: bool) -> int:
    """Return the number of folds: the requested one, limited by the numbers of groups and of rows per class."""
    if by_time:
        return wanted
    if dataset.groups is not None:
        return min(wanted, np.unique(dataset.groups).size)
    return min(wanted, dataset.n_rows if dataset.is_regression else rarest_class(dataset)[1])


def check_classes(dataset: Dataset) -> None:
    """Raise for a single class, and for classes with too few rows.

    Raises
    ------
    ValueError
        Names the class.
    """
    if dataset.is_regression:
        return
    if dataset.n_classes < 2:
        raise ValueError(
            f"data set {dataset.name}: expected a target of two classes or more, got one; name another target."
        )
    label, smallest = rarest_class(dataset)
    if smallest < FEWEST_OF_A_CLASS:
        raise ValueError(
            f"data set {dataset.name}: expected at least {FEWEST_OF_A_CLASS} rows of each class, for folds inside of "
            f"folds, got {smallest} of class {label}; join it with another class, or leave such classes out by "
            f"+dataset.min_class_size={FEWEST_OF_A_CLASS}."
        )


def outer_splits(problem: Problem, n_splits: int, repeats: int) -> Iterator[tuple[Rows, Rows]]:
    """Yield training and test rows of each fold: classes in equal shares, groups whole, or in the order of time."""
    dataset = problem.dataset
    for repeat in range(repeats):
        splits = problem.protocol.splits(dataset, n_splits, problem.random_state + repeat)
        for fold, (train, test) in enumerate(splits):
            check_rows(dataset, train, test, fold)
            yield train, test


def inner_splits(problem: Problem, rows: Rows, wanted: int) -> list[tuple[Rows, Rows]]:
    """Return folds of the given rows as row numbers of the table, without folds that lack a class.

    Raises
    ------
    ValueError
        Fewer than two are there.
    """
    dataset = problem.dataset
    groups = None if dataset.groups is None else dataset.groups[rows]
    part = replace(dataset, y=dataset.y[rows], groups=groups)
    n_splits = n_folds(part, wanted, problem.by_time)
    folds = []
    if n_splits > 1:
        splits = problem.protocol.splits(part, n_splits, problem.random_state)
        if problem.gap:
            splits = TimeSeriesSplit(n_splits, gap=problem.gap).split(part.y)
        for train, test in splits:
            has_all = part.is_regression or np.unique(part.y[train]).size == part.n_classes
            if has_all and test.size:
                folds.append((rows[train], rows[test]))
    if len(folds) < 2:
        raise ValueError(
            f"data set {dataset.name}: expected two folds or more inside of each training fold, with rows of each "
            f"class, got {len(folds)}; use larger groups of rows, or fewer folds (--folds)."
        )
    return folds
