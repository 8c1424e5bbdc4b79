"""Selection of the features of a table, with the method, and the error of the whole procedure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import TimeSeriesSplit
from sklearn.pipeline import Pipeline

from provlab.bench.by_name import built, named
from provlab.bench.selection.fold_rows import check_classes, folds_of_cv, own_folds
from provlab.bench.selection.folds import (
    Measure,
    Outcome,
    Problem,
    outcomes_of,
    sizes_for,
)
from provlab.bench.selection.methods import chosen_methods
from provlab.bench.selection.selected import Selected
from provlab.bench.selection.table_selector import TableSelector, numbers_or_table
from provlab.core.protocols.scorers import stated_scorers
from provlab.core.protocols.scoring import check_scorers, scorer_of
from provlab.data import Dataset, load_dataset, warn_of_scales
from provlab.project.estimators import as_config, estimators_in_hand
from provlab.run.class_weights import model_by_codes
from provlab.run.preparation import table_of


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

    Inside each training fold, inner folds compare methods and numbers of features. The
    smallest number whose mean error is within one standard error of the best is chosen,
    with the method that is best at this number. It is fitted to the training fold and
    tested on the held-out rows, so the error is that of the whole procedure. The
    features are those that the same procedure chooses on all rows.

    Preparation, selection and model use training rows only. A text column is chosen as
    a whole, and equal columns count as one.

    Parameters
    ----------
    X : DataFrame, array-like or sparse of shape (n_samples, n_columns)
        Text columns and missing values are allowed.
    y : array-like of shape (n_samples,)
        Classes, as strings or numbers, or real numbers.
    n_features_to_select : int, optional
        Number of features. None chooses it among 1, 2, 3, 5, 8, 12, 20, 30, 50, 100,
        200 and all.
    methods : str, sequence of str or mapping, optional
        Names as in `selector=NAME`, also in the form "f_test,mrmr"; "all" for all fast
        methods; or a mapping of names to unfitted selectors with
        `n_features_to_select`. The default is eight methods from different families.
    scoring : str, callable or mapping, optional
        Measure that replaces the error in percent, or the root mean squared error for
        numbers: the name of a scikit-learn scorer, the result of `make_scorer`, or a
        function of (model, X, y), where greater is better and X holds the model's input
        rows. A mapping gives it a name.
    cv : int, splitter or iterable of (training rows, test rows), optional
        The outer folds in a form that scikit-learn accepts, instead of `n_splits`,
        `repeats` and `time`. Inner folds are stratified with whole groups as usual or,
        for `TimeSeriesSplit`, in row order with its gap.
    groups : array-like of shape (n_samples,), optional
        Group of each row, such as a patient. Rows of a group are never split between
        training and test rows.
    time : array-like of shape (n_samples,), optional
        Time of each row, as numbers or dates. Rows are tested only on models trained on
        earlier rows.
    task : {"auto", "classification", "regression"}, default="auto"
        Kind of target, if y has numbers that may be either.
    model : str or estimator, optional
        The name of a file in conf/model, or an unfitted estimator. The default is a
        linear SVM for classes, and ridge regression for numbers.
    preparation : str, transformer or None, default="standardise"
        The name of a file in conf/preparation, an unfitted transformer that keeps each
        column, or None.
    n_splits : int, optional
        Number of outer folds. The default is 10, or 5 for `time` or more than 20,000
        rows. It is reduced if a class has fewer rows.
    repeats : int, default=1
        Number of repeats of the outer folds with new splits.
    random_state : int, default=0
        Seed of all folds and of random methods. The same seed gives the same result.
    n_jobs : int, optional
        Number of worker processes; by default one per core if the work takes more than
        a few seconds. Results do not depend on it.

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
        settings = write_data(
            X, y, None, beside, Path(folder), "table", subject="select"
        )
        try:
            dataset = load_dataset("file", **settings, task=task)
        except ValueError as error:
            # the caller has no file, so the message must name arguments
            text = re.sub(r"^data set [\w.]+: ", "select: ", str(error)).replace(
                "dataset.", ""
            )
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
    if cv is not None and (n_splits, repeats) != (None, 1):
        raise ValueError(
            "select: cv: n_splits and repeats cannot be combined with cv; leave them out."
        )
    if isinstance(cv, int):
        cv, n_splits = None, cv
    if cv is not None and time is not None:
        raise ValueError(
            "select: cv: time cannot be combined with cv; sort the rows and use TimeSeriesSplit."
        )
    if labels is None:
        labels = dataset.labels
    if time is not None:
        dataset, labels = _in_order(dataset, time), labels[time]
    check_classes(dataset)
    dataset, copies = _without_copies(dataset)
    notes = [
        f"equal columns count as one: {first} = {', '.join(names)}"
        for first, names in copies.items()
    ]
    _check_count(n_features_to_select, dataset)
    preparation = _estimator("preparation", preparation)
    if preparation is None:
        dataset.check_complete()
        warn_of_scales(dataset)
    model = _model(model, dataset)
    measure = _measure(scoring, dataset, model)
    chosen, left_out = chosen_methods(
        methods,
        shape=dataset.X.shape,
        is_regression=dataset.is_regression,
        random_state=random_state,
    )
    table = table_of(dataset)
    values, transformer = numbers_or_table(table, preparation)
    problem = Problem(
        dataset=dataset,
        values=values,
        transformer=transformer,
        methods=tuple(chosen),
        sizes=sizes_for(dataset.X.shape[1], n_features_to_select),
        is_fixed=n_features_to_select is not None,
        model=model_by_codes(model, dataset.classes),
        measure=measure,
        by_time=time is not None or isinstance(cv, TimeSeriesSplit),
        random_state=random_state,
        gap=cv.gap if isinstance(cv, TimeSeriesSplit) else 0,
    )
    if cv is None:
        folds, note = own_folds(problem, n_splits, repeats)
    else:
        folds, note = folds_of_cv(problem, cv), []
    outcomes = outcomes_of(problem, folds, n_jobs, tell)
    pipeline = _fitted_pipeline(
        problem, outcomes[-1], table, preparation, model, labels
    )
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
        raise ValueError(
            f"select: time: expected a value in each row, got {int(values.isna().sum())} without."
        )
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
    categories = {
        name: texts for name, texts in dataset.categories.items() if name in names[kept]
    }
    return replace(
        dataset, X=dataset.X[:, kept], feature_names=names[kept], categories=categories
    ), copies


def _digest_of(columns: Any, place: int) -> bytes:
    """Return the digest of a column's values."""
    if sparse.issparse(columns):
        start, end = columns.indptr[place : place + 2]
        content = (
            columns.indices[start:end].tobytes() + columns.data[start:end].tobytes()
        )
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


def _estimator(kind: str, component: Any) -> Any:
    """Return the estimator described by a name in conf or a config; estimators are returned unchanged."""
    if isinstance(component, str):
        return named(kind, component)
    if isinstance(component, Mapping):
        return built(kind, component)
    if component is None or (
        hasattr(component, "fit") and not isinstance(component, type)
    ):
        return component
    raise ValueError(
        f"select: {kind}: expected a name or an unfitted estimator, got {component!r:.80}."
    )


def _model(model: Any, dataset: Dataset) -> Any:
    """Return the unfitted model; by default a linear model that is fast for the shape of the table."""
    from sklearn.base import is_classifier, is_regressor

    if model in (None, "by_task"):
        return _default_model(dataset)
    estimator = _estimator("model", model)
    wanted = is_regressor if dataset.is_regression else is_classifier
    if not wanted(estimator):
        kind = (
            "numbers, such as ridge, lasso or svr"
            if dataset.is_regression
            else "classes, such as libsvm or logistic"
        )
        raise ValueError(
            f"select: model: expected a model that predicts {kind}, got {type(estimator).__name__}; if the kind of "
            f"target is wrong, set it with --task."
        )
    return estimator


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
    # a tenth of LIBSVM's time on thousands of rows
    return LinearSVC(dual=False, random_state=0)


def _fitted_pipeline(
    problem: Problem,
    final: Outcome,
    table: Any,
    preparation: Any,
    model: Any,
    labels: NDArray[Any],
) -> Pipeline:
    """Return selector, preparation and model as a pipeline fitted on all rows.

    To predict, it needs only the selected columns.
    """
    names = problem.dataset.feature_names.tolist()
    method, size = final.choice
    count = problem.sizes[size] if size < len(problem.sizes) else problem.n_columns
    selector = TableSelector(
        problem.methods[method].selector, count, preparation=preparation, columns=names
    )
    steps = [
        ("columns", selector),
        ("preparation", preparation),
        ("model", clone(model)),
    ]
    return Pipeline([step for step in steps if step[1] is not None]).fit(table, labels)
