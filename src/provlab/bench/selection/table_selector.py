"""Selection of table columns by a selector that works on the prepared columns."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from provlab.run.preparation import TablePreparation
from provsel.selectors import BaseSelector
from provsel.training_view import TrainingView


class TableSelector(TransformerMixin, BaseEstimator):
    """Keep those columns of a table, unchanged, that a selector chooses after a preparation.

    All columns that the preparation derives from one table column, such as the dummies
    of a category, are chosen together and count as one.

    Parameters
    ----------
    selector : selector
        Unfitted selector with a parameter `n_features_to_select`, `k` or
        `max_features`, which is set by this class.
    n_features_to_select : int
        Number of table columns to keep.
    preparation : transformer, optional
        Preparation fitted before the selection, see
        `provlab.run.preparation.TablePreparation`; None for a numeric table.
    columns : sequence of str, optional
        Names of the candidate columns; None means all.

    Attributes
    ----------
    features_ : list of str
        Names of the kept columns, in order of selection. Columns of arrays are named
        "1", "2", ....

    Examples
    --------
    >>> import pandas as pd
    >>> from provlab.bench.selection.table_selector import TableSelector
    >>> from provlab.run.preparation import TablePreparation
    >>> from provsel.selectors import FTestSelector
    >>> table = pd.DataFrame({"age": [20.0, 31.0, 40.0, 29.0], "town": ["Rome", "Oslo", "Rome", "Lima"]})
    >>> selector = TableSelector(FTestSelector(1), 1, preparation=TablePreparation())
    >>> selector.fit(table, [1, 0, 1, 0]).features_
    ['town']
    """

    def __init__(
        self,
        selector: Any,
        n_features_to_select: int,
        *,
        preparation: Any = None,
        columns: Sequence[str] | None = None,
    ) -> None:
        self.selector = selector
        self.n_features_to_select = n_features_to_select
        self.preparation = preparation
        self.columns = columns

    def fit(self, X: Any, y: Any) -> Self:
        """Select columns of a DataFrame, an array or a sparse matrix of shape (n_samples, n_columns)."""
        names = _names_of(X)
        candidates = list(names if self.columns is None else self.columns)
        table = _columns_of(X, candidates)
        self.texts_ = [] if sparse.issparse(table) else text_columns(table)
        values, transformer = numbers_or_table(table, self.preparation)
        rows, sources = fitted_rows(transformer, values)
        [chosen] = first_columns(
            self.selector,
            TrainingView(rows, np.asarray(y)),
            sources,
            [self.n_features_to_select],
        )
        self.features_ = [candidates[column] for column in chosen]
        self.n_features_in_ = len(names)
        return self

    def transform(self, X: Any) -> Any:
        """Return the kept columns; a DataFrame needs only these columns."""
        check_is_fitted(self)
        table = _columns_of(X, self.features_)
        if sparse.issparse(table):
            return table
        kinds = [*table.dtypes]
        if not self.texts_ and all(
            isinstance(kind, np.dtype) and kind.kind in "iufb" for kind in kinds
        ):
            # in one call, because there may be tens of thousands of columns
            return table.astype(np.float64)
        columns = {}
        for name in self.features_:
            is_text = name in self.texts_
            columns[name] = (
                _as_texts(table[name])
                if is_text
                else pd.to_numeric(table[name]).astype(np.float64)
            )
        return pd.DataFrame(columns, index=table.index)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the kept columns, in order of selection."""
        check_is_fitted(self)
        return np.array(self.features_, dtype=object)


def _names_of(X: Any) -> list[str]:
    if hasattr(X, "columns"):
        return [str(name) for name in X.columns]
    return [str(number) for number in range(1, np.shape(X)[1] + 1)]


def _columns_of(X: Any, names: Sequence[str]) -> Any:
    """Return the named columns of a table as a DataFrame or sparse rows."""
    places = {name: place for place, name in enumerate(_names_of(X))}
    missing = [name for name in names if name not in places]
    if missing:
        raise ValueError(
            f"TableSelector: expected a column {missing[0]!r:.80}, got {len(places)} columns without it; give the "
            f"columns {', '.join(map(repr, names)):.200}."
        )
    chosen = [places[name] for name in names]
    if sparse.issparse(X):
        return sparse.csr_array(X)[:, chosen]
    frame = (
        X.iloc[:, chosen]
        if hasattr(X, "iloc")
        else pd.DataFrame(np.asarray(X)[:, chosen])
    )
    return frame.set_axis(list(names), axis=1)


def _as_texts(column: pd.Series) -> pd.Series:
    """Return a text column as objects, with NaN for missing values."""
    texts = column.astype(object)
    return texts.where(column.isna(), texts.astype(str)).where(column.notna(), np.nan)


def text_columns(table: pd.DataFrame) -> list[str]:
    """Return the names of the columns that are not numeric."""
    return [str(name) for name, kind in table.dtypes.items() if kind.kind not in "iufb"]


def numbers_or_table(table: Any, preparation: Any) -> tuple[Any, Any]:
    """Return a table in the fastest form for its preparation, and the preparation.

    A numeric table is returned as an array: for thousands of columns, fitting to arrays
    takes a tenth of the time.
    """
    is_sparse = sparse.issparse(table)
    has_texts = not is_sparse and text_columns(table)
    if has_texts or not isinstance(preparation, TablePreparation | None):
        return table, clone(preparation)
    values = table if is_sparse else table.to_numpy(dtype=np.float64, na_value=np.nan)
    if preparation is None:
        return values, None
    is_complete = is_sparse or not np.isnan(values).any()
    return values, preparation.of_numbers(is_sparse=is_sparse, impute=not is_complete)


def fitted_rows(transformer: Any, rows: Any) -> tuple[Any, NDArray[np.int64]]:
    """Fit a preparation; return the prepared rows, and the source column of each prepared column.

    Raises
    ------
    ValueError
        If a foreign transformer changes the number of columns.
    """
    n_columns = rows.shape[1]
    if transformer is None:
        return rows, np.arange(n_columns)
    prepared = transformer.fit_transform(rows)
    if isinstance(transformer, TablePreparation):
        return prepared, transformer.sources()
    if prepared.shape[1] != n_columns:
        raise ValueError(
            f"select: expected a preparation that keeps each column, got {type(transformer).__name__}, which turns "
            f"{n_columns} columns into {prepared.shape[1]}; choose another one, or use provsel run with selector=..."
        )
    return prepared, np.arange(n_columns)


def first_columns(
    selector: Any, view: TrainingView, sources: NDArray[np.int64], sizes: Sequence[int]
) -> list[NDArray[np.int64]]:
    """Return the table columns that a selector keeps at each of the given increasing sizes, best first.

    A table column counts as kept if a column derived from it is kept. If several are
    derived from one, more columns are requested from the selector until enough table
    columns are kept. There may be fewer.
    """
    chosen = []
    count = 0
    for size in sizes:
        count = max(count, size)
        while True:
            kept = _kept(selector, view, count)
            columns = list(dict.fromkeys(sources[kept].tolist()))
            if len(columns) >= size or kept.size < count or count == view.n_features:
                break
            count += 1
        chosen.append(np.array(columns[:size], dtype=np.int64))
    return chosen


def _kept(selector: Any, view: TrainingView, count: int) -> NDArray[np.int64]:
    """Return the columns that a selector keeps when `count` are requested; fits on one view share the ranking."""
    if isinstance(selector, BaseSelector):
        # it is unfitted and has only parameters, and `clone` takes as long as a fit
        selector = copy.copy(selector)
        selector.n_features_to_select = count
        return selector.fit_view(view).indices_
    fitted = sized(selector, count).fit(view.X, view.y)
    return np.flatnonzero(fitted.get_support())


SIZES = ("n_features_to_select", "k", "max_features")
"""Names that selectors use for the requested number; SelectKBest has `k`, and SelectFromModel `max_features`."""


def sized(selector: Any, count: int) -> Any:
    """Return an unfitted copy of a selector with the given number of features."""
    parameters = selector.get_params(deep=False)
    name = next(name for name in SIZES if name in parameters)
    return clone(selector).set_params(**{name: count})
