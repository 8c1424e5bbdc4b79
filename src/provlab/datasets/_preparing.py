"""What can be done to any data set once it is loaded: columns and rows scaled, columns in another order."""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from provsel.checks import check_choice, check_integer

from ._record import Dataset, content_digest

NOTHING: dict[str, Any] = {"unit_rows": False, "column_scaling": None, "shuffle_columns": None}
"""The parameters that every data set has, and their defaults."""

SCALINGS = ("standard", "range", "norm")

UNLIKE = 1000.0
"""Ratio of ranges of columns that is worth a warning."""


def separated(name: str, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters of a data set as those of `prepared`, completed and checked, and those of its loader.

    Raises
    ------
    ValueError
        For a bad value of the first.
    """
    found = {key: params.get(key, default) for key, default in NOTHING.items()}
    unit_rows, scaling, seed = found.values()
    if not isinstance(unit_rows, bool):
        raise ValueError(f"data set {name!r}: unit_rows must be true or false, got {unit_rows!r:.80}")
    if scaling is not None:
        check_choice(f"data set {name!r}", "column_scaling", scaling, SCALINGS)
    if seed is not None:
        check_integer(f"data set {name!r}", "shuffle_columns", seed, minimum=0)
    return found, {key: value for key, value in params.items() if key not in NOTHING}


def of_identity(preparation: Mapping[str, Any]) -> dict[str, Any]:
    """Return what identities hold of it: `unit_rows` always did, what came later is named where it is no default."""
    return {key: value for key, value in preparation.items() if key == "unit_rows" or value != NOTHING[key]}


def column_order(n_features: int, seed: int | None) -> np.ndarray:
    """Return the order of the columns, shape (n_features,), int64: that of the file, or shuffled by a seed."""
    return np.arange(n_features) if seed is None else np.random.default_rng(seed).permutation(n_features)


def prepared(dataset: Dataset, *, unit_rows: bool, column_scaling: str | None, shuffle_columns: int | None) -> Dataset:
    """Return the data set with its columns scaled, then its rows scaled to length 1, then its columns shuffled.

    Scales are those of all rows, of later test rows as well; labels have no part in them.

    Raises
    ------
    ValueError
        For sparse rows that would be shifted, and so not be sparse any more.
    """
    X, names = dataset.X, dataset.feature_names
    if column_scaling is not None:
        X = _scaled_columns(X, column_scaling, dataset.name)
    if unit_rows:
        from sklearn.preprocessing import normalize  # most runs need none of it

        X = normalize(X, copy=True)
    if shuffle_columns is not None:
        order = column_order(X.shape[1], shuffle_columns)
        shuffled: Any = X[:, order]
        if sparse.issparse(shuffled):
            shuffled.sort_indices()
        X, names = shuffled, names[order]
    if X is dataset.X:
        return dataset
    content = content_digest(X, dataset.y, names, dataset.official_train)
    return replace(dataset, X=X, feature_names=names, content=content)


def warn_of_scales(dataset: Dataset) -> None:
    """Warn where dense columns have such different ranges that nobody has thought of an SVM on them."""
    if sparse.issparse(dataset.X):
        return
    ranges = np.ptp(dataset.X, axis=0)
    if not np.any(ranges > 0):
        return
    small, large = np.argmin(np.where(ranges > 0, ranges, np.inf)), np.argmax(ranges)
    if ranges[large] > UNLIKE * ranges[small]:
        names = dataset.feature_names
        warnings.warn(
            f"data set {dataset.name!r}: expected columns of like size, got ranges from {ranges[small]:.2g} "
            f"({names[small]}) to {ranges[large]:.2g} ({names[large]}): an SVM trains long on them, and distances see "
            f"the large ones only; +dataset.column_scaling=range, or standard, makes them alike.",
            stacklevel=2,
        )


def _scaled_columns(X: Any, scaling: str, name: str) -> Any:
    """Return X with columns of length 1, or of mean 0 and variance 1, or from 0 to 1; constant ones become 0 there."""
    if scaling == "norm":
        squares = X.power(2).sum(axis=0) if sparse.issparse(X) else np.einsum("ij,ij->j", X, X)
        lengths = np.sqrt(np.asarray(squares).ravel())
        factors = 1.0 / np.where(lengths > 0, lengths, 1.0)
        return sparse.csr_array(X @ sparse.diags_array(factors)) if sparse.issparse(X) else X * factors
    if sparse.issparse(X):
        raise ValueError(
            f"data set {name!r}: column_scaling={scaling} shifts columns, and needs dense rows, got sparse ones. Take "
            f"column_scaling=norm"
        )
    shift, size = (X.mean(axis=0), X.std(axis=0)) if scaling == "standard" else (X.min(axis=0), np.ptp(X, axis=0))
    return np.where(size > 0, X - shift, 0.0) / np.where(size > 0, size, 1.0)
