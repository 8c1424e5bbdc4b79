"""Two classes that differ in few of many features, as Giesen et al. (2013) assume, drawn from a seed."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse

from provlab.data.dataset import Dataset, make_dataset
from provsel.checks import check_at_most

VERSION = 1
AT_LEAST = {
    **dict.fromkeys(("n_samples", "n_features", "nonzeros", "n_relevant", "n_test"), 1),
    "seed": 0,
}
AT_MOST = {"n_relevant": "n_features"}

_SOURCE = (
    "generated: for the guarantees of Giesen, Laue, Mueller (2013), Compressing support vector machines, which take "
    "rows of length at most 1 and a sparse solution"
)


def load(
    *,
    n_samples: int = 2000,
    n_features: int = 100_000,
    nonzeros: int = 100,
    n_relevant: int = 20,
    signal: float = 0.5,
    noise: float = 0.1,
    n_test: int = 1000,
    dense: bool = False,
    mirrored: bool = False,
    seed: int = 0,
) -> Dataset:
    """Draw rows of length 1 whose labels depend on the first `n_relevant` features only.

    The label is the sign of <x, w> plus noise, where w is drawn as +1 or -1 on the relevant
    features and is 0 elsewhere. Each row of a sparse X has one nonzero, at a uniform position, in
    each of `nonzeros` ranges of features of about equal width. Hence all irrelevant features are
    equally frequent, up to rounding. Half of the relevant features, but at most half of `nonzeros`,
    are in every row (more if there are too few other features). Entries are normal, and rows are
    then scaled to length 1. The features are named "1", "2", ... .

    Parameters
    ----------
    n_samples : int, default=2000
        Number n of training rows, which come first. Very few rows may all be of one
        class.
    n_features : int, default=100000
        Number m of columns.
    nonzeros : int, default=100
        Number of nonzeros per row; not used with `dense`.
    n_relevant : int, default=20
        Number s of features on which the label depends.
    signal : float, default=0.5
        Approximate expected share of the relevant features in the squared length of a
        row, between 0 and 1. With equal variances it would be s / m for dense rows, and
        no method could learn from n < m rows. It is 1 for rows with only relevant
        features.
    noise : float, default=0.1
        Standard deviation of the noise added to <x, w>, as a multiple of that of <x,
        w>.
    n_test : int, default=1000
        Number of test rows, after the training rows; `official_train` marks the
        training rows.
    dense : bool, default=False
        Whether X is dense with normal entries: "we do not assume that the data matrix
        is sparse", only that the solution is.
    mirrored : bool, default=False
        Whether training rows come in pairs with the same label and opposite signs of
        all irrelevant features. The optimal w of an SVM, which is unique, is then
        exactly zero on these features, because its reflection in them would be equally
        good.
    seed : int, default=0
        Seed of the generator; the same seed gives the same data.

    Returns
    -------
    Dataset
        X of shape (n_samples + n_test, n_features), CSR or dense, with an official
        split.
    """
    rng = np.random.default_rng(seed)
    n = (n_samples // 2 if mirrored else n_samples) + n_test
    signs = np.where(rng.random(n_relevant) < 0.5, -1.0, 1.0)
    if dense:
        k = n_features
        relevant = n_relevant
        columns = np.empty((n, 0), np.int64)
    else:
        k = nonzeros
        relevant = max(
            1, min((n_relevant + 1) // 2, k // 2), k - (n_features - n_relevant)
        )
        relevant_columns = _one_of_each_range(n, relevant, 0, n_relevant, rng)
        columns = np.hstack(
            [
                relevant_columns,
                _one_of_each_range(n, k - relevant, n_relevant, n_features, rng),
            ]
        )
    values = rng.standard_normal((n, k))
    if relevant < k:
        values[:, :relevant] *= np.sqrt(
            signal / (1.0 - signal) * (k - relevant) / relevant
        )
    values /= np.sqrt(np.einsum("ij,ij->i", values, values))[:, None]
    weights = signs if dense else signs[columns[:, :relevant]]
    score = (values[:, :relevant] * weights).sum(axis=1)
    y = np.where(score + noise * score.std() * rng.standard_normal(n) > 0, 1, -1)
    if mirrored:
        n = n_samples + n_test
        half = n_samples // 2
        rows = np.r_[:half, :half, half : n - half]
        values = values[rows]
        values[half:n_samples, relevant:] *= -1
        columns = columns[rows]
        y = y[rows]
    X: Any = values
    name = "sparse_rows_dense"
    if not dense:
        X = sparse.csr_array(
            (values.ravel(), columns.ravel(), np.arange(n + 1) * k), (n, n_features)
        )
        name = "sparse_rows"
    return make_dataset(
        X, y, name=name, source=_SOURCE, official_train=np.arange(n) < n_samples
    )


def checked(**parameters: Any) -> dict[str, Any]:
    """Check the parameters of `load`."""
    for parameter, most, words in (
        ("signal", 1, "between 0 and 1"),
        ("noise", np.inf, "of at least 0"),
    ):
        value = parameters[parameter]
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if (
            not is_number
            or not 0 <= value < most
            or (parameter == "signal" and value == 0)
        ):
            raise ValueError(
                f"sparse_rows: {parameter} must be a number {words}, got {value!r}"
            )
    for parameter in ("dense", "mirrored"):
        if not isinstance(parameters[parameter], bool):
            raise ValueError(
                f"sparse_rows: {parameter} must be true or false, got {parameters[parameter]!r}"
            )
    n_samples = parameters["n_samples"]
    if parameters["mirrored"] and n_samples % 2:
        raise ValueError(
            f"sparse_rows: n_samples must be even for mirrored rows, which come in pairs, got {n_samples}"
        )
    if not parameters["dense"]:
        check_at_most("sparse_rows", parameters, "nonzeros", "n_features")
    return parameters


def _one_of_each_range(
    n: int, k: int, start: int, stop: int, rng: np.random.Generator
) -> np.ndarray:
    """Return n rows of increasing numbers, one from each of k consecutive ranges of start, ..., stop - 1."""
    edges = start + np.arange(k + 1) * (stop - start) // max(k, 1)
    return rng.integers(edges[:-1], edges[1:], size=(n, k))
