"""Random forests on the ranks of the columns, for selectors based on forests."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from provsel.kernels.ranks import value_places
from provsel.selectors._columns import check_varying

THIRD = 1 / 3
"""Share of the features that a node of a regression tree considers; for classes it is their square root."""


def varying_ranks(subject: str, X: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return the ranks within the columns of X, shape (n, d), or raise if no column varies."""
    ranks = value_places(X)
    check_varying(subject, np.any(ranks, axis=0))
    return ranks


def new_forest(
    classes: NDArray[Any] | None,
    n_estimators: int,
    seed: int,
    max_depth: int | None = None,
) -> Any:
    """Return an unfitted random forest for classes, or for regression if `classes` is None."""
    # takes 0.2 s
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    if classes is None:
        return RandomForestRegressor(
            n_estimators, max_features=THIRD, max_depth=max_depth, random_state=seed
        )
    return RandomForestClassifier(
        n_estimators, max_features="sqrt", max_depth=max_depth, random_state=seed
    )


def best_first(
    ranks: NDArray[np.float32], *keys: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return the order of features by decreasing keys, shape (d,) each, of which the first takes precedence.

    Constant columns come last, even if the keys of others are negative; ties are
    ordered by index.
    """
    is_constant = ~ranks.any(axis=0)
    rounded = [-np.round(key, 12) for key in reversed(keys)]
    return np.lexsort([*rounded, is_constant])
