"""Preparation of table columns before features are selected, fitted on the training rows of each fold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)

from provlab.project.components import build, is_own
from provsel import reducers
from provsel.checks import check_choice

if TYPE_CHECKING:
    import pandas as pd

    from provlab.data import Dataset

__all__ = ["TablePreparation"]

MISSING = ("mean", "median", "most_frequent")
LARGEST_SQUARED = 1e150
"""Numbers larger than this overflow when variances are computed."""

SCALES = ("standard", "range", "robust")


class TablePreparation(TransformerMixin, BaseEstimator):
    """Impute missing values, encode strings and scale numbers with scikit-learn's transformers.

    Parameters
    ----------
    missing : {"mean", "median", "most_frequent"} or None, default="median"
        Replacement of missing numbers; missing strings become the most frequent one.
        None refuses missing values.
    categories : {"one_hot"} or None, default="one_hot"
        A text column becomes one 0/1 column per category, named COLUMN_TEXT, or a
        single column if there are two categories. A category that does not occur in
        training rows gives zeros. None refuses text columns.
    scale : {"standard", "range", "robust"} or None, default=None
        Scaling of numbers to mean 0 and variance 1, to the range from 0 to 1, or to
        median 0 and interquartile range 1. Sparse rows are divided but not shifted, so
        they stay sparse.
    drop_constant : bool, default=False
        Whether to drop resulting columns that are constant in the training rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from provlab.run.preparation import TablePreparation
    >>> table = pd.DataFrame({"age": [20.0, None, 40.0], "town": ["Rome", "Oslo", "Lima"]})
    >>> TablePreparation(scale="range").fit(table).get_feature_names_out().tolist()
    ['age', 'town_Lima', 'town_Oslo', 'town_Rome']
    """

    algorithm_version = 1

    def __init__(
        self,
        *,
        missing: str | None = "median",
        categories: str | None = "one_hot",
        scale: str | None = None,
        drop_constant: bool = False,
    ) -> None:
        self.missing = missing
        self.categories = categories
        self.scale = scale
        self.drop_constant = drop_constant

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit on a DataFrame or a sparse matrix of numbers; y is ignored.

        Raises
        ------
        ValueError
            If a setting is unknown, or there are missing values or strings that the
            settings refuse.
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and return the same rows as numbers; `fit` followed by `transform` would compute everything twice."""
        for name, choices in (
            ("missing", MISSING),
            ("categories", ("one_hot",)),
            ("scale", SCALES),
        ):
            if getattr(self, name) is not None:
                check_choice("preparation", name, getattr(self, name), choices)
        self.transformer_ = self._transformer(X)
        rows = self.transformer_.fit_transform(X)
        if self.drop_constant:
            self.varying_ = varying_columns(rows)
        return self._without_constant(rows)

    def _transformer(self, X: Any) -> Any:
        """Return the steps to fit, without `drop_constant`."""
        if sparse.issparse(X):
            return self.of_numbers(is_sparse=True)
        is_text = np.array([kind.kind == "O" for kind in X.dtypes], dtype=bool)
        if is_text.any() and self.categories is None:
            texts = X.columns[is_text]
            value = X[texts[0]].dropna().iloc[0]
            raise ValueError(
                f"preparation: expected numeric columns, got the string {value!r:.40} in column {texts[0]!r:.80}; "
                f"choose preparation=one_hot, or leave it out: dataset.left_out=[{','.join(texts):.200}]."
            )
        if self.missing is None and X.isna().any(axis=None):
            raise ValueError(
                f"preparation: expected no missing values, got {int(X.isna().sum().sum())}; set preparation.missing to "
                f"one of {', '.join(MISSING)}."
            )
        encoder = OneHotEncoder(
            drop="if_binary", handle_unknown="ignore", sparse_output=False
        )
        return ColumnTransformer(
            [
                # masks avoid searching for each name among all names
                ("numbers", self.of_numbers(), ~is_text),
                (
                    "texts",
                    make_pipeline(SimpleImputer(strategy="most_frequent"), encoder),
                    is_text,
                ),
            ],
            verbose_feature_names_out=False,
        )

    def of_numbers(self, *, is_sparse: bool = False, impute: bool = True) -> Any:
        """Return an unfitted pipeline for numeric columns; imputation can be left out."""
        scalers = {
            None: None,
            "standard": StandardScaler(with_mean=not is_sparse),
            "range": MaxAbsScaler() if is_sparse else MinMaxScaler(),
            "robust": RobustScaler(with_centering=not is_sparse),
        }
        scaler = scalers[self.scale] or "passthrough"
        if not impute:
            return make_pipeline(scaler)
        return make_pipeline(
            SimpleImputer(strategy=self.missing or "median", keep_empty_features=True),
            scaler,
        )

    def sources(self) -> NDArray[np.int64]:
        """Return the number of the table column from which each column of `transform` is made."""
        return self._without_constant(self._all_sources())

    def _all_sources(self) -> NDArray[np.int64]:
        places = np.arange(self.transformer_.n_features_in_)
        if not isinstance(self.transformer_, ColumnTransformer):
            return places
        numbers, texts = (
            places[mask] for _, _, mask in self.transformer_.transformers_[:2]
        )
        if not texts.size:
            return numbers
        encoder = self.transformer_.named_transformers_["texts"][-1]
        n_dummies = [names.size for names in encoder.categories_]
        if encoder.drop_idx_ is not None:
            n_dummies = [
                n - (dropped is not None)
                for n, dropped in zip(n_dummies, encoder.drop_idx_, strict=True)
            ]
        return np.concatenate([numbers, np.repeat(texts, n_dummies)])

    def transform(self, X: Any) -> Any:
        """Return rows as numbers, shape (n, columns), dense for a DataFrame and sparse for a sparse matrix."""
        return self._without_constant(self.transformer_.transform(X))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns of `transform`."""
        return self._without_constant(
            np.asarray(
                self.transformer_.get_feature_names_out(input_features), dtype=object
            )
        )

    def _without_constant(self, columns: Any) -> Any:
        """Return an array without the columns or entries that belong to constant columns."""
        return columns[..., self.varying_] if self.drop_constant else columns


def varying_columns(rows: Any) -> NDArray[np.int64]:
    """Return the numbers of the columns with more than one value."""
    if sparse.issparse(rows):
        differs = (
            rows.max(axis=0).toarray().ravel() != rows.min(axis=0).toarray().ravel()
        )
    else:
        differs = (rows != rows[:1]).any(axis=0)
    return np.flatnonzero(differs)


def table_of(dataset: Dataset) -> pd.DataFrame | sparse.csr_array:
    """Return the features of a data set as named columns of numbers and strings, or its sparse rows."""
    import pandas as pd

    if sparse.issparse(dataset.X):
        return dataset.X
    table = pd.DataFrame(dataset.X, columns=dataset.feature_names)
    for column, names in dataset.categories.items():
        codes = table[column].fillna(-1).astype(int)
        table[column] = pd.Series(pd.Categorical.from_codes(codes, names), dtype=object)
    return table


def prepared_rows(
    config: Mapping[str, Any],
    dataset: Dataset,
    train: NDArray[np.int64],
    test: NDArray[np.int64],
    seed: int,
) -> tuple[Any, Any, NDArray[np.object_]]:
    """Return training rows, test rows and column names after a transformer fitted on the training rows only.

    `config` is the config of the transformer. `train` and `test` are row numbers.
    `seed` is used by a random transformer without its own seed. The results are
    float64, dense or CSR.

    Raises
    ------
    ValueError
        If the transformer fails or does not return a table of finite numbers.
    """
    transformer, table = build("preparation", config), table_of(dataset)
    reducers.seed(transformer, seed)
    subject = f"data set {dataset.name}: preparation"
    rows: Any = table if sparse.issparse(table) else table.iloc
    try:
        X_train = transformer.fit_transform(rows[train], dataset.y[train])
        if not is_own(config):
            # a foreign class may reuse this memory for the test rows
            X_train = X_train.copy()
        parts = [X_train]
        parts.append(transformer.transform(rows[test]) if test.size else parts[0][:0])
    except Exception as error:  # a foreign class may raise anything
        text = str(error).removeprefix("preparation: ")
        raise ValueError(
            f"{subject}: expected rows that {type(transformer).__name__} takes: {text}"
        ) from error
    X, X_test = map(_as_numbers, parts)
    if X.ndim != 2 or not (_is_finite(X) and _is_finite(X_test)):
        _check_overflow(subject, dataset)
        raise ValueError(
            f"{subject}: expected a table of finite numbers, got {X.shape} with NaN or infinite values; add a "
            f"step that fills them, or choose preparation=impute."
        )
    try:
        # a DataFrame has column names, and sparse rows have none
        column_names = dataset.feature_names if sparse.issparse(table) else None
        names = np.asarray(
            transformer.get_feature_names_out(column_names), dtype=object
        )
    except (AttributeError, ValueError):
        # for example a function, which cannot name its outputs
        n_columns = X.shape[1]
        if n_columns == dataset.X.shape[1]:
            return X, X_test, dataset.feature_names
        names = np.array([str(k) for k in range(1, n_columns + 1)], dtype=object)
    return X, X_test, names


def _as_numbers(rows: Any) -> Any:
    return (
        sparse.csr_array(rows, dtype=float)
        if sparse.issparse(rows)
        else np.asarray(rows, dtype=float)
    )


def _is_finite(rows: Any) -> bool:
    values = rows.data if sparse.issparse(rows) else rows
    return bool(np.isfinite(values).all())


def _check_overflow(subject: str, dataset: Dataset) -> None:
    """Raise if numbers are so large that scaling makes them infinite."""
    X = dataset.X if sparse.issparse(dataset.X) else np.nan_to_num(dataset.X)
    size = abs(X).max(axis=0)
    sizes = size.toarray().ravel() if sparse.issparse(size) else size
    column = int(np.argmax(sizes))
    if sizes[column] <= LARGEST_SQUARED:
        return
    name = dataset.feature_names[column]
    raise ValueError(
        f"{subject}: expected numbers that can be scaled, got values up to {sizes[column]:.3g} in column "
        f"{name!r:.80}, whose squares overflow 64-bit numbers; divide the column by a constant, such as "
        f"{sizes[column]:.0e}, "
        f"or leave it out: dataset.left_out=[{name:.80}]."
    )
