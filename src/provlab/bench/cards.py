"""Cards that describe the content and difficulty of each data set of the benchmark.

`provsel reference --cards` writes them.

The errors are those of a random forest, a linear model, and a tree on the best single
column. They are measured over five folds, with the protocol and preparation of the data
set: balanced errors, or 1 - R^2 for numeric targets.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import f_classif, f_regression
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import balanced_accuracy_score, r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from provlab.bench.panel import CARDS, PanelDataset, base_cell
from provlab.core.cell import Cell
from provlab.core.plan import load_from
from provlab.core.tables import write_frame
from provlab.data import Dataset, MissingDataError, loader, read_source, source_names
from provlab.data.dataset import SAMPLE, sampled
from provlab.data.loaders.tables import table_entries
from provlab.run.preparation import prepared_rows, varying_columns

N_FOLDS = 5
N_TREES = 100
MAX_COLUMNS_ALONE = 30
"""Number of columns that are tried alone: those with the largest F in the first fold. The best is chosen on the rows
that it is tested on, so its error is slightly too low if there are many columns."""

CEILING, CHANCE = 0.03, 0.9
"""Data sets get no verdict on errors if the error is below the first number, or if the ratio of the error to that of
guessing is above the second."""


class Rows(NamedTuple):
    """Prepared training and test rows of a fold, their targets, and the names of the columns."""

    train: Any
    test: Any
    y: NDArray[Any]
    y_test: NDArray[Any]
    names: NDArray[np.object_]


def write_cards(datasets: Mapping[str, PanelDataset], folder: Path) -> Iterator[str]:
    """Write a card for each data set, and yield the names of the new ones; cards of unchanged data are kept.

    A card has the columns dataset, domain, source, task and folds, see `datasets.yaml`;
    rows, columns and classes, the size of the data; smallest_class, the number of rows
    of the smallest class; nonzero, the share of nonzero entries; relevant, the number
    of features that the label depends on, or 0 if it is unknown; licence and homepage
    of the source, with "" for a missing homepage; citation, the source stated in the
    records of trials; choose, the overrides; data, the identity of the data set;
    prepared, the smallest number of columns after the preparation over the folds;
    repeated, the number of rows that equal an earlier row, which are left out;
    constant, the number of constant columns; missing, the share of missing values;
    texts, the number of categorical columns; groups, the number of groups;
    error_forest, error_linear and error_column; column, the best single column;
    guessing, the error of predicting the most frequent class or the mean; and state,
    see `state_of`. A data set whose files are missing gets no card.
    """
    path = folder / CARDS
    stored = (
        pd.read_csv(path, keep_default_na=False).to_dict("records")
        if path.is_file()
        else []
    )
    cards = {card["dataset"]: card for card in stored if card["dataset"] in datasets}
    for name, entry in datasets.items():
        state = base_cell(entry).data, " ".join(entry.choose)
        if name in cards and (cards[name]["data"], cards[name]["choose"]) == state:
            cards[name] |= {"domain": entry.domain, "source": entry.source}
            continue
        cards.pop(name, None)
        with suppress(MissingDataError):
            cards[name] = card(name, entry)
            _write(datasets, cards, path)
            yield name
    _write(datasets, cards, path)


def _write(
    datasets: Mapping[str, PanelDataset], cards: Mapping[str, Any], path: Path
) -> None:
    """Write cards in the order of the data sets."""
    write_frame(pd.DataFrame([cards[name] for name in datasets if name in cards]), path)


def card(name: str, entry: PanelDataset) -> dict[str, Any]:
    """Load a data set and return its card."""
    cell = base_cell(entry)
    # warnings about categories that no training row has, classes smaller than the
    # number of inner folds, and solver iterations
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        data = load_from(cell.dataset)
        folds = [*_folds(cell, data)]
        column, error_column = _best_column(data, folds)
        errors: dict[str, Any] = {
            "error_forest": np.mean(
                [_error(_forest(data, rows), rows) for rows in folds]
            ),
            "error_linear": np.mean(
                [_error(_linear(data), _rotated(rows)) for rows in folds]
            ),
            "error_column": error_column,
        }
        n_repeated = _n_repeated(cell.dataset, data)
    errors = {kind: round(float(error), 3) for kind, error in errors.items()}
    guessing = 1.0 if data.is_regression else 1 - 1 / data.n_classes
    licence, homepage = _licence_of(cell.dataset)
    X: Any = data.X
    values = X.data if sparse.issparse(X) else X
    return {
        "dataset": name,
        "domain": entry.domain,
        "rows": X.shape[0],
        "columns": X.shape[1],
        "classes": data.n_classes,
        "smallest_class": 0
        if data.is_regression
        else np.unique(data.y, return_counts=True)[1].min(),
        "nonzero": round(np.count_nonzero(values) / np.prod(X.shape), 3),
        "relevant": entry.support,
        "source": entry.source,
        "licence": " ".join(licence.split()),
        "homepage": homepage,
        "citation": data.source,
        "choose": " ".join(entry.choose),
        "data": cell.data,
        "task": entry.task,
        "folds": entry.folds,
        "prepared": min(rows.train.shape[1] for rows in folds),
        "repeated": n_repeated,
        "constant": X.shape[1] - varying_columns(X).size,
        "missing": round(float(np.isnan(values).mean()), 4),
        "texts": len(data.categories),
        "groups": 0 if data.groups is None else np.unique(data.groups).size,
        **errors,
        "column": column,
        "guessing": round(guessing, 3),
        "state": state_of(errors, guessing),
    }


def state_of(errors: Mapping[str, float], guessing: float) -> str:
    """Return whether the errors on a data set can distinguish methods.

    The state is "ceiling" if almost no error remains, "chance" if the error is hardly
    better than guessing, "one column" if one column is as good as all within a point,
    and otherwise "ok". In the first two states, errors support no verdict.
    """
    least = min(errors["error_forest"], errors["error_linear"])
    if least < CEILING:
        return "ceiling"
    if least > CHANCE * guessing:
        return "chance"
    return "one column" if errors["error_column"] < least + 0.01 else "ok"


def _n_repeated(dataset: Mapping[str, Any], data: Dataset) -> int:
    """Return the number of rows that equal an earlier row, before repeated rows are dropped."""
    if dataset.get("distinct_rows"):
        data = load_from(
            {key: value for key, value in dataset.items() if key not in SAMPLE}
        )
    return data.n_rows - sampled(data, **{**SAMPLE, "distinct_rows": True}).n_rows


def _folds(cell: Cell, data: Dataset) -> Iterator[Rows]:
    for fold in range(N_FOLDS):
        train, test = cell.measured.rows(
            data, n_splits=N_FOLDS, split_seed=0, fold=fold
        )
        X, X_test, names = prepared_rows(
            cell.protocol["preparation"], data, train, test, 0
        )
        yield Rows(X, X_test, data.y[train], data.y[test], names)


def _error(model: Any, rows: Rows) -> float:
    """Return the balanced error of a model, or 1 - R^2."""
    predicted = model.fit(rows.train, rows.y).predict(rows.test)
    if rows.y.dtype.kind == "f":
        return float(1 - r2_score(rows.y_test, predicted))
    return float(1 - balanced_accuracy_score(rows.y_test, predicted))


def _forest(data: Dataset, rows: Rows) -> Any:
    if data.is_regression:
        # with all columns at each split, the default, the widest data set would take an
        # hour
        return RandomForestRegressor(
            N_TREES, max_features=min(1 + rows.train.shape[1] // 3, 300), random_state=0
        )
    return RandomForestClassifier(
        N_TREES, class_weight="balanced", min_samples_leaf=2, random_state=0
    )


def _linear(data: Dataset) -> Any:
    if data.is_regression:
        return RidgeCV(np.logspace(-1, 4, 6))
    model = LogisticRegression(class_weight="balanced", max_iter=200)
    return GridSearchCV(
        model, {"C": [0.01, 1.0, 100.0]}, scoring="balanced_accuracy", cv=3
    )


def _rotated(rows: Rows) -> Rows:
    """Return the rows in coordinates of the span of the training rows if there are fewer rows than columns.

    A linear model with a squared penalty gives the same predictions in these
    coordinates.
    """
    n, d = rows.train.shape
    if d <= n:
        return rows
    gram = rows.train @ rows.train.T
    values, vectors = np.linalg.eigh(gram.toarray() if sparse.issparse(gram) else gram)
    is_large = values > 1e-10 * values[-1]
    basis = vectors[:, is_large] / np.sqrt(values[is_large])
    return rows._replace(
        train=(rows.train @ rows.train.T) @ basis,
        test=(rows.test @ rows.train.T) @ basis,
    )


def _best_column(data: Dataset, folds: list[Rows]) -> tuple[str, float]:
    """Return the column whose one-column tree has the smallest error, and that error."""
    first = folds[0]
    score = f_regression if data.is_regression else f_classif
    strength = np.nan_to_num(score(first.train, first.y)[0], posinf=np.inf)
    errors = {}
    for name in first.names[np.argsort(-strength, kind="stable")[:MAX_COLUMNS_ALONE]]:
        # otherwise it is constant in a training fold
        if all(name in rows.names for rows in folds):
            errors[name] = np.mean(
                [_error(_tree(data), _of_column(rows, name)) for rows in folds]
            )
    best = min(errors, key=lambda name: errors[name])
    return str(best), float(errors[best])


def _tree(data: Dataset) -> Any:
    if data.is_regression:
        return DecisionTreeRegressor(max_depth=4, min_samples_leaf=5, random_state=0)
    return DecisionTreeClassifier(
        max_depth=4, min_samples_leaf=2, class_weight="balanced", random_state=0
    )


def _of_column(rows: Rows, name: str) -> Rows:
    [place] = np.flatnonzero(rows.names == name)
    train = rows.train[:, [place]]
    test = rows.test[:, [place]]
    if sparse.issparse(train):
        train = train.toarray()
        test = test.toarray()
    return rows._replace(train=train, test=test)


def _licence_of(dataset: Mapping[str, Any]) -> tuple[str, str]:
    """Return the licence and the homepage of the source of a data set."""
    name = dataset["name"]
    if name == "tables":
        collection = table_entries()[dataset["set"]].collection
        return collection.licence, collection.homepage
    if name in source_names():
        source = read_source(name)
        return source.licence, source.homepage
    return getattr(loader(name), "LICENCE", "Generated by provsel."), ""
