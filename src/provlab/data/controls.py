"""Controls: real data sets with a known answer.

Nothing can be learned from permuted labels, so a method that does better than chance
has used test rows. Noise columns carry no information beyond that of the real columns.
A simulated target depends on known real columns.

The three kinds of noise follow Cherepanova, Levin, Somepalli, Geiping, Bruss, Wilson,
Goldstein, Goldblum (2023), A performance-driven benchmark for feature selection in
tabular deep learning, except that corrupted columns keep their values here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .dataset import Dataset

Rows = NDArray[np.int64]


def controlled(
    dataset: Dataset,
    *,
    permute_labels: int | None,
    noise_columns: str | None,
    simulated_relevant: int | None,
    control_seed: int,
) -> Dataset:
    """Return a data set with a simulated target, noise columns and permuted labels; None skips a step.

    `load_dataset` describes the parameters.

    Raises
    ------
    ValueError
        If there are fewer columns than a control needs.
    """
    if simulated_relevant is not None:
        dataset = with_simulated_target(dataset, simulated_relevant, control_seed)
    if noise_columns is not None:
        dataset = with_noise_columns(dataset, noise_columns, control_seed)
    if permute_labels is not None:
        order = np.random.default_rng(permute_labels).permutation(dataset.n_rows)
        dataset = replace(dataset, y=dataset.y[order])
    return dataset


def with_noise_columns(dataset: Dataset, kind: str, seed: int) -> Dataset:
    """Return the data set with noise columns appended, as many as it has columns.

    Given the original columns, the noise columns carry no information about the target.

    Parameters
    ----------
    dataset : Dataset
    kind : {"permuted", "corrupted", "products"}
        "permuted" copies each column with its values permuted, "corrupted" copies each
        column with the values of only half of the rows permuted, and "products"
        multiplies pairs of columns, as many as there are columns or pairs of columns.
    seed : int

    Raises
    ------
    ValueError
        If products are requested with fewer than two numeric columns.
    """
    rng = np.random.default_rng([seed, 1])
    if kind == "products":
        added, names = _products(dataset, rng)
        categories = dict(dataset.categories)
    else:
        added = _copies(dataset.X, kind, rng)
        names = [f"{name} ({kind})" for name in dataset.feature_names]
        copied = {
            f"{name} ({kind})": texts for name, texts in dataset.categories.items()
        }
        categories = {**dataset.categories, **copied}
    X: Any = dataset.X
    joined: Any = (
        sparse.hstack([X, added], format="csr")
        if sparse.issparse(X)
        else np.hstack([X, added])
    )
    if sparse.issparse(joined):
        joined.sort_indices()
    all_names = np.array([*dataset.feature_names, *names], dtype=object)
    return replace(dataset, X=joined, feature_names=all_names, categories=categories)


def _copies(X: Any, kind: str, rng: np.random.Generator) -> Any:
    """Return X with the values of each column permuted over the rows, or over half of them if "corrupted"."""
    n_rows, n_columns = X.shape
    if not sparse.issparse(X):
        copies = np.empty_like(X)
        for column in range(n_columns):
            copies[:, column] = X[_order(n_rows, kind, rng), column]
        return copies
    copies = sparse.csc_array(X, copy=True)
    for column in range(n_columns):
        entries = slice(copies.indptr[column], copies.indptr[column + 1])
        # row order[i] goes to i
        copies.indices[entries] = np.argsort(_order(n_rows, kind, rng))[
            copies.indices[entries]
        ]
    copies.has_sorted_indices = False
    copies.sort_indices()
    return copies


def _order(n_rows: int, kind: str, rng: np.random.Generator) -> Rows:
    """Return a random order of the rows; "corrupted" permutes only a random half of them among themselves."""
    moved = rng.permutation(n_rows)
    if kind == "permuted":
        return moved
    moved = moved[: n_rows // 2]
    order = np.arange(n_rows)
    order[np.sort(moved)] = moved
    return order


def _products(dataset: Dataset, rng: np.random.Generator) -> tuple[Any, list[str]]:
    """Return products of distinct pairs of numeric columns, and their names."""
    numbers = _columns_of_numbers(dataset)
    if numbers.size < 2:
        raise ValueError(
            f"data set {dataset.name}: expected two numeric columns for noise_columns='products', got "
            f"{numbers.size}. Take noise_columns='permuted'"
        )
    n_products = min(dataset.X.shape[1], numbers.size * (numbers.size - 1) // 2)
    pairs: dict[tuple[int, int], None] = {}
    while len(pairs) < n_products:
        first, second = np.sort(rng.choice(numbers, 2, replace=False)).tolist()
        pairs[first, second] = None
    firsts, seconds = np.array([*pairs]).T
    names = [
        f"{dataset.feature_names[i]} * {dataset.feature_names[j]}" for i, j in pairs
    ]
    if not sparse.issparse(dataset.X):
        return dataset.X[:, firsts] * dataset.X[:, seconds], names
    columns = sparse.csc_array(dataset.X)
    products = columns[:, firsts] * columns[:, seconds]
    products.eliminate_zeros()  # products may underflow to zero
    return products, names


def with_simulated_target(dataset: Dataset, n_relevant: int, seed: int) -> Dataset:
    """Return the data set with a simulated target that depends on its first `n_relevant` columns.

    The relevant columns are moved to the front. The signal is the sum of these columns,
    standardised, each times a number from 1 to 2 with a random sign. The noise has the
    variance of the signal. A numeric target is replaced by signal plus noise. Classes
    are replaced by -1 or +1, depending on whether this sum is above its median. Other
    columns equal to a relevant one, such as copies, do not count as relevant.

    Raises
    ------
    ValueError
        If there are fewer numeric columns that vary and have no missing values.
    """
    X: Any = sparse.csc_array(dataset.X) if sparse.issparse(dataset.X) else dataset.X
    rng = np.random.default_rng([seed, 2])
    usable = []
    for column in _columns_of_numbers(dataset):
        values = _dense(X[:, [column]])
        if np.isfinite(values).all() and np.ptp(values) > 0:
            usable.append(column)
    if len(usable) < n_relevant:
        raise ValueError(
            f"data set {dataset.name}: expected simulated_relevant of at most {len(usable)}, the number of numeric "
            f"columns that vary and are complete, got {n_relevant}. Lower it"
        )
    relevant = rng.permutation(usable)[:n_relevant]
    values = _dense(X[:, relevant])
    weights = rng.choice([-1.0, 1.0], n_relevant) * rng.uniform(1, 2, n_relevant)
    signal = (values - values.mean(axis=0)) / values.std(axis=0) @ weights
    outcome = signal / signal.std() + rng.standard_normal(dataset.n_rows)
    others = np.setdiff1d(np.arange(X.shape[1]), relevant)
    order = np.concatenate([relevant, others])
    moved: Any = dataset.X[:, order]
    if sparse.issparse(moved):
        moved.sort_indices()
    y = (
        outcome
        if dataset.is_regression
        else np.where(outcome > np.median(outcome), 1, -1)
    )
    return replace(
        dataset,
        X=moved,
        y=y,
        feature_names=dataset.feature_names[order],
        class_names=None,
    )


def _columns_of_numbers(dataset: Dataset) -> Rows:
    return np.flatnonzero(~np.isin(dataset.feature_names, [*dataset.categories]))


def _dense(columns: Any) -> NDArray[np.float64]:
    return columns.toarray() if sparse.issparse(columns) else columns
