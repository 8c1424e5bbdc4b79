"""Selection of the features of a table, with the method, and the error of the whole procedure."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import PredefinedSplit, TimeSeriesSplit
from sklearn.pipeline import Pipeline

from provlab.bench.selection.folds import (
    Measure,
    Outcome,
    Problem,
    check_classes,
    n_folds,
    outcome,
    outer_splits,
    sizes_for,
)
from provlab.bench.selection.methods import chosen_methods
from provlab.bench.selection.selected import Selected
from provlab.bench.selection.table_selector import TableSelector, numbers_or_table
from provlab.bench.splits import Splits, folds_of_rows, splits_of
from provlab.core.protocols.base import check_rows
from provlab.core.protocols.scorers import stated_scorers
from provlab.core.protocols.scoring import check_scorers, scorer_of
from provlab.core.vocabulary import advice_on, file_named
from provlab.data import Dataset, load_dataset, warn_of_scales
from provlab.project.estimators import as_config, estimators_in_hand
from provlab.run.class_weights import model_by_codes
from provlab.run.executors import usable_cores
from provlab.run.isolation import isolated_children
from provlab.run.preparation import table_of

N_OUTER, N_INNER = 10, 5
N_OUTER_IN_TIME = 5

MANY_ROWS = 20_000
"""Number of rows beyond which five folds with three inner folds each are enough."""

N_OUTER_OF_MANY, N_INNER_OF_MANY = 5, 3

WORTH_WORKERS = 4.0
"""Seconds of remaining work beyond which starting worker processes pays off."""

PROGRESS_EVERY = 15.0
"""Seconds between two lines of progress."""


def select(
    X: Any,
    y: Any,
    *,
    n_features_to_select: int | None = None,
    methods: str | Iterable[str] | Mapping[str, Any] | None = None,
    scoring: Any = None,
    cv: Any = None,
    groups: Any = None,
    time: Any = None,
    task: str = "auto",
    model: Any = None,
    preparation: Any = "standardise",
    n_splits: int | None = None,
    repeats: int = 1,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Selected:
    """Choose features of a table, their number and the method, and estimate the expected error.

    Inside each training fold, inner folds compare methods and numbers of features. The smallest
    number whose mean error is within one standard error of the best is chosen, with the method that
    is best at this number. It is fitted to the training fold and tested on the held-out rows, so
    the error is that of the whole procedure. The features are those that the same procedure chooses
    on all rows.

    Preparation, selection and model use training rows only. A text column is chosen as a whole, and
    equal columns count as one.

    Parameters
    ----------
    X : DataFrame, array-like or sparse of shape (n_samples, n_columns)
        Text columns and missing values are allowed.
    y : array-like of shape (n_samples,)
        Classes, as strings or numbers, or real numbers.
    n_features_to_select : int, optional
        Number of features. None chooses it among 1, 2, 3, 5, 8, 12, 20, 30, 50, 100, 200 and all.
    methods : str, sequence of str or mapping, optional
        Names as in `selector=NAME`, also in the form "f_test,mrmr"; "all" for all fast methods; or
        a mapping of names to unfitted selectors with `n_features_to_select`. The default is eight
        methods from different families.
    scoring : str, callable or mapping, optional
        Measure that replaces the error in percent, or the root mean squared error for numbers: the
        name of a scikit-learn scorer, the result of `make_scorer`, or a function of (model, X, y),
        where greater is better and X holds the model's input rows. A mapping gives it a name.
    cv : int, splitter or iterable of (training rows, test rows), optional
        The outer folds in a form that scikit-learn accepts, instead of `n_splits` and `repeats`.
        Inner folds are stratified with whole groups as usual or, for `TimeSeriesSplit`, in row
        order with its gap.
    groups : array-like of shape (n_samples,), optional
        Group of each row, such as a patient. Rows of a group are never split between training and test rows.
    time : array-like of shape (n_samples,), optional
        Time of each row, as numbers or dates. Rows are tested only on models trained on earlier rows.
    task : {"auto", "classification", "regression"}, default="auto"
        Kind of target, if y has numbers that may be either.
    model : str or estimator, optional
        The name of a file in conf/model, or an unfitted estimator. The default is a linear SVM for
        classes, and ridge regression for numbers.
    preparation : str, transformer or None, default="standardise"
        The name of a file in conf/preparation, an unfitted transformer that keeps each column, or None.
    n_splits : int, optional
        Number of outer folds. The default is 10, or 5 for `time` or more than 20,000 rows. It is
        reduced if a class has fewer rows.
    repeats : int, default=1
        Number of repeats of the outer folds with new splits.
    random_state : int, default=0
        Seed of all folds and of random methods. The same seed gives the same result.
    n_jobs : int, optional
        Number of worker processes; by default one per core if the work takes more than a few
        seconds. Results do not depend on it.

    Returns
    -------
    Selected

    Raises
    ------
    ValueError
        If the data are invalid, a method is unknown, or a setting does not apply.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from provlab import select
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> select(X, y, methods="f_test,mrmr", n_splits=5).features
    ['petal length (cm)', 'petal width (cm)']
    """
    from provlab.bench.data_files import write_data  # the command line needs none of it

    beside = {} if groups is None else {"groups": groups}
    with TemporaryDirectory() as folder:
        settings = write_data(X, y, None, beside, Path(folder), "table", subject="select")
        try:
            dataset = load_dataset("file", **settings, task=task)
        except ValueError as error:  # the caller has no file, so the message must name arguments
            text = re.sub(r"^data set [\w.]+: ", "select: ", str(error)).replace("dataset.", "")
            raise ValueError(text) from error
    return select_on(
        dataset,
        n_features_to_select=n_features_to_select,
        methods=methods,
        scoring=scoring,
        cv=cv,
        time=None if time is None else time_order(time, dataset.n_rows),
        model=model,
        preparation=preparation,
        n_splits=n_splits,
        repeats=repeats,
        random_state=random_state,
        n_jobs=n_jobs,
        labels=np.ravel(np.asarray(y)),
    )


def select_on(
    dataset: Dataset,
    *,
    n_features_to_select: int | None = None,
    methods: str | Iterable[str] | Mapping[str, Any] | None = None,
    scoring: Any = None,
    cv: Any = None,
    time: NDArray[np.int64] | None = None,
    model: Any = None,
    preparation: Any = "standardise",
    n_splits: int | None = None,
    repeats: int = 1,
    random_state: int = 0,
    n_jobs: int | None = None,
    labels: NDArray[Any] | None = None,
    tell: Callable[[str], None] | None = None,
) -> Selected:
    """Run `select` on a loaded data set.

    Parameters
    ----------
    dataset : Dataset
    cv : see `select`
    time : ndarray of shape (n_samples,), optional
        Time order of the rows, see `time_order`.
    labels : ndarray of shape (n_samples,), optional
        Labels that the pipeline predicts; by default the names of the classes.
    tell : callable, optional
        Called with the estimated time if it is long, and then with the progress.
    """
    if labels is None:
        labels = dataset.labels
    if time is not None:
        dataset, labels = _in_order(dataset, time), labels[time]
    splits, gap = _outer_of(cv, dataset, time, random_state)
    if cv is not None and (n_splits, repeats) != (None, 1):
        raise ValueError("select: cv: n_splits and repeats cannot be combined with cv; leave them out.")
    if isinstance(cv, int):
        n_splits = cv
    is_by_time = time is not None or gap is not None
    check_classes(dataset)
    dataset, copies = _without_copies(dataset)
    notes = [f"equal columns count as one: {first} = {', '.join(names)}" for first, names in copies.items()]
    _check_count(n_features_to_select, dataset)
    preparation = _built("preparation", preparation)
    model = _model(model, dataset)
    measure = _measure(scoring, dataset, model)
    chosen, left_out = chosen_methods(
        methods, shape=dataset.X.shape, is_regression=dataset.is_regression, random_state=random_state
    )
    values, transformer = numbers_or_table(_table(dataset, preparation), preparation)
    problem = Problem(
        dataset=dataset,
        values=values,
        transformer=transformer,
        methods=tuple(chosen),
        sizes=sizes_for(dataset.X.shape[1], n_features_to_select),
        is_fixed=n_features_to_select is not None,
        model=model_by_codes(model, dataset.classes),
        measure=measure,
        by_time=is_by_time,
        random_state=random_state,
        gap=gap or 0,
    )
    folds, n_inner, note = _folds(problem, n_splits, repeats, splits)
    outcomes = _outcomes(problem, folds, n_inner, n_jobs, tell or (lambda text: None))
    pipeline = _pipeline(problem, outcomes[-1], preparation, model, labels)
    return Selected(problem, outcomes, pipeline, copies, [*notes, *left_out, *note])


# ---- input


def time_order(time: Any, n_rows: int) -> NDArray[np.int64]:
    """Return the order of rows by their times, given as numbers or as dates year-month-day."""
    values = pd.Series(np.asarray(time))
    if len(values) != n_rows:
        raise ValueError(
            f"select: time: expected a value for each of {n_rows} rows, got {len(values)}; give one value for each row."
        )
    if values.dtype.kind not in "iufM":
        texts = values
        values = pd.to_datetime(texts, format="ISO8601", errors="coerce")
        wrong = texts[values.isna()]
        if len(wrong):
            raise ValueError(
                f"select: time: expected numbers, or dates such as 2024-03-31, got {wrong.iloc[0]!r:.40} in row "
                f"{wrong.index[0]} from 0; write every value in one of these forms."
            )
    if values.isna().any():
        raise ValueError(f"select: time: expected a value in each row, got {int(values.isna().sum())} without.")
    return np.argsort(values.to_numpy(), kind="stable").astype(np.int64)


def _in_order(dataset: Dataset, order: NDArray[np.int64]) -> Dataset:
    groups = None if dataset.groups is None else dataset.groups[order]
    return replace(dataset, X=dataset.X[order], y=dataset.y[order], groups=groups)


def _without_copies(dataset: Dataset) -> tuple[Dataset, dict[str, list[str]]]:
    """Return a data set without repeated columns, and the names of the copies of each column that has any."""
    names = dataset.feature_names
    columns: Any = dataset.X
    columns = columns.tocsc() if sparse.issparse(columns) else columns
    first_of: dict[Any, str] = {}
    kept = []
    copies: dict[str, list[str]] = {}
    for place, name in enumerate(names):
        texts = dataset.categories.get(name)
        content = (_digest_of(columns, place), None if texts is None else tuple(texts))
        first = first_of.setdefault(content, str(name))
        if first == str(name):
            kept.append(place)
        else:
            copies.setdefault(first, []).append(str(name))
    if not copies:
        return dataset, {}
    categories = {name: texts for name, texts in dataset.categories.items() if name in names[kept]}
    return replace(dataset, X=dataset.X[:, kept], feature_names=names[kept], categories=categories), copies


def _digest_of(columns: Any, place: int) -> bytes:
    """Return the digest of a column's values."""
    if sparse.issparse(columns):
        start, end = columns.indptr[place : place + 2]
        content = columns.indices[start:end].tobytes() + columns.data[start:end].tobytes()
    else:
        content = columns[:, place].tobytes()
    return hashlib.sha256(content).digest()


def _check_count(count: int | None, dataset: Dataset) -> None:
    n_columns = dataset.X.shape[1]
    is_count = isinstance(count, int | np.integer) and not isinstance(count, bool)
    if count is not None and (not is_count or not 1 <= count <= n_columns):
        raise ValueError(
            f"select: expected a number of features from 1 to {n_columns}, the distinct columns of {dataset.name}, "
            f"got {count!r}; omit the number to have it chosen."
        )


def _table(dataset: Dataset, preparation: Any) -> Any:
    """Return the table of a data set: a numeric array, sparse rows, or a DataFrame if it has text columns."""
    if preparation is None:
        dataset.check_complete()
        warn_of_scales(dataset)
    if sparse.issparse(dataset.X):
        return dataset.X
    return table_of(dataset)


def _built(kind: str, component: Any) -> Any:
    """Return the estimator described by a name in conf or a config; estimators are returned unchanged."""
    if isinstance(component, str):
        from provlab.core.composition import part_config
        from provlab.project.project import conf_files

        names = [path.stem for path in conf_files(kind)]
        name = file_named(kind, component, names)
        if name not in names:
            advice = advice_on(kind, component, names)
            raise ValueError(f"select: {kind}: expected one of {', '.join(names)}, got {component!r:.80}{advice}")
        component = part_config(kind, [f"{kind}={name}"])
    if not isinstance(component, Mapping):
        if component is None or (hasattr(component, "fit") and not isinstance(component, type)):
            return component
        raise ValueError(f"select: {kind}: expected a name or an unfitted estimator, got {component!r:.80}.")
    from provlab.project.components import build

    return None if component.get("_target_", "") is None else build(kind, component)


def _model(model: Any, dataset: Dataset) -> Any:
    """Return the unfitted model; by default a linear model that is fast for the shape of the table."""
    from sklearn.base import is_classifier, is_regressor

    if model in (None, "by_task"):
        return _default_model(dataset)
    built = _built("model", model)
    wanted = is_regressor if dataset.is_regression else is_classifier
    if not wanted(built):
        kind = (
            "numbers, such as ridge, lasso or svr" if dataset.is_regression else "classes, such as libsvm or logistic"
        )
        raise ValueError(
            f"select: model: expected a model that predicts {kind}, got {type(built).__name__}; if the kind of "
            f"target is wrong, set it with --task."
        )
    return built


def _measure(scoring: Any, dataset: Dataset, model: Any) -> Measure:
    """Return the measure for a scikit-learn scorer, the result of `make_scorer`, or a function."""
    if not scoring:
        return Measure("", dataset.is_regression)
    with estimators_in_hand():
        scorers = stated_scorers(as_config(scoring))
        check_scorers(scorers, model)
        if len(scorers) != 1:
            raise ValueError(
                f"select: scoring: expected a single scorer, got {', '.join(scorers)}; name the one that decides."
            )
        [(name, config)] = scorers.items()
        classes = None if isinstance(config, str) else dataset.classes
        return Measure(name, dataset.is_regression, scorer_of(config), classes)


def _default_model(dataset: Dataset) -> Any:
    from sklearn.linear_model import Ridge
    from sklearn.svm import LinearSVC

    from provsel.models import LibsvmSVM

    n_rows, n_columns = dataset.X.shape
    if dataset.is_regression:
        return Ridge(random_state=0)
    if n_rows < n_columns:
        return LibsvmSVM()
    return LinearSVC(dual=False, random_state=0)  # a tenth of LIBSVM's time on thousands of rows


# ---- computation


def _outer_of(
    cv: Any, dataset: Dataset, time: NDArray[np.int64] | None, random_state: int
) -> tuple[Splits | None, int | None]:
    """Return the outer folds and the time gap that `cv` gives; each is None if `cv` does not give it."""
    if cv is None or isinstance(cv, int):
        return None, None
    if getattr(cv, "random_state", 0) is None:
        cv = copy(cv)
        cv.random_state = random_state
    stated = folds_of_rows(cv)
    if stated is not None:
        cv = PredefinedSplit(stated)
    # cv numbers the rows of the caller, which have been sorted by time
    order = np.arange(dataset.n_rows) if time is None else np.argsort(time)
    splits = splits_of("select", cv, dataset.X[order], dataset.labels[order], _rows(dataset.groups, order))
    gap = cv.gap if isinstance(cv, TimeSeriesSplit) else None
    if time is None:
        return splits, gap
    moved = []
    for train, test in splits:
        moved.append((np.sort(order[train]), np.sort(order[test])))
    return tuple(moved), gap


def _rows(values: NDArray[Any] | None, order: NDArray[np.int64]) -> NDArray[Any] | None:
    return None if values is None else values[order]


def _folds(
    problem: Problem, n_splits: int | None, repeats: int, splits: Splits | None
) -> tuple[list[Any], int, list[str]]:
    """Return the outer folds, the number of inner folds, and notes."""
    dataset = problem.dataset
    is_large = dataset.n_rows > MANY_ROWS
    n_inner = N_INNER_OF_MANY if is_large else N_INNER
    if splits is not None:
        for fold, (train, test) in enumerate(splits):
            check_rows(dataset, train, test, fold, every_class=False)
        return list(splits), n_inner, []
    wanted = n_splits or (N_OUTER_OF_MANY if is_large else N_OUTER)
    if problem.by_time:
        wanted, repeats = n_splits or N_OUTER_IN_TIME, 1
    n_outer = wanted if n_splits else n_folds(dataset, wanted, problem.by_time)
    notes = []
    if n_outer < wanted:
        what = "groups" if dataset.groups is not None else "rows of its smallest class"
        notes.append(f"only {n_outer} folds, because there are {n_outer} {what}")
    return list(outer_splits(problem, n_outer, repeats)), n_inner, notes


def _outcomes(
    problem: Problem, folds: Sequence[Any], n_inner: int, n_jobs: int | None, tell: Callable[[str], None]
) -> list[Outcome]:
    """Return the outcome of each fold, followed by the outcome on all rows.

    The first fold is computed in this process, and its time decides whether to start workers.
    """
    every_row = np.arange(problem.dataset.n_rows)
    work = [*folds, (every_row, None)]
    start = time.perf_counter()
    first = outcome(problem, work[0], n_inner)
    left = (time.perf_counter() - start) * (len(work) - 1)
    n_workers = n_jobs or 1
    if n_jobs is None and left > WORTH_WORKERS:
        n_workers = usable_cores()
    n_workers = min(n_workers, len(work) - 1) if n_workers > 0 else usable_cores()
    if left > WORTH_WORKERS:
        workers = f" by {n_workers} processes" if n_workers > 1 else ""
        tell(f"about {left / n_workers:.0f} s: {len(work) - 1} folds of {len(problem.methods)} methods{workers}")
    outcomes = [first]
    last_told = time.perf_counter()
    with isolated_children():
        for result in _further(problem, work[1:], n_inner, n_workers):
            outcomes.append(result)
            now = time.perf_counter()
            if now - last_told >= PROGRESS_EVERY and len(outcomes) < len(work):
                tell(f"{len(outcomes)} of {len(work)} folds, {now - start:.0f} s")
                last_told = now
    return outcomes


def _further(problem: Problem, work: Sequence[Any], n_inner: int, n_workers: int) -> Iterator[Outcome]:
    """Yield the outcome of each fold in order."""
    if n_workers == 1:
        yield from (outcome(problem, rows, n_inner) for rows in work)
        return
    from joblib import Parallel, delayed

    in_order = Parallel(n_jobs=n_workers, return_as="generator")
    yield from in_order(delayed(outcome)(problem, rows, n_inner) for rows in work)


def _pipeline(problem: Problem, final: Outcome, preparation: Any, model: Any, labels: NDArray[Any]) -> Pipeline:
    """Return selector, preparation and model as a pipeline fitted on all rows.

    To predict, it needs only the selected columns.
    """
    dataset = problem.dataset
    names = dataset.feature_names.tolist()
    method, size = final.choice
    count = problem.sizes[size] if size < len(problem.sizes) else problem.n_columns
    selector = TableSelector(problem.methods[method].selector, count, preparation=preparation, columns=names)
    steps = [("columns", selector), ("preparation", preparation), ("model", clone(model))]
    table = dataset.X if sparse.issparse(dataset.X) else table_of(dataset)
    return Pipeline([step for step in steps if step[1] is not None]).fit(table, labels)
