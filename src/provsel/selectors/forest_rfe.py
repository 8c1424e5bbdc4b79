"""Recursive feature elimination with random forests."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np

from provsel.checks import check_integer
from provsel.kernels.elimination import by_importance, elimination_sizes
from provsel.selectors._forests import new_forest, varying_ranks
from provsel.selectors._ranked import RankedRows, RankedSelector, Ranking


class ForestRFESelector(RankedSelector):
    r"""Train a random forest, drop the features of least importance, and repeat until one remains.

    Use it for relations of any form, if correlated features would share their
    importance in one forest. It has no theorem.

    Importance is the mean decrease of impurity. The forest is trained on ranks within
    columns, so increasing transformations of a column have no effect. Features of one
    round are ordered by their importance in it, ties by index; constant columns come
    last. All numbers of features share one path: the first r features of a larger
    selection are the selection of size r.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of features to keep; below 1, the fraction of them.
    step : int or float, default=0.5
        Features to drop per round, or the fraction in (0, 1) of the *remaining*
        features, rounded down, at least 1. (A fraction is one of all d features in
        scikit-learn's `RFE`.)
    n_estimators : int, default=100
        Trees of each forest. Each node considers sqrt(m) of m features for classes, and
        m / 3 for numbers.
    task : {"auto", "classification", "regression"}, default="auto"
        Kind of the target. "auto" means regression for numbers that are not all
        integers, and classification for integers and strings, as in scikit-learn's
        `type_of_target`. It raises an error for integers with very many distinct
        values.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the forest.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        Kept features, best first.
    weights_ : ndarray of shape (n_selected,)
        Ones.
    ranking_ : ndarray of shape (n_features,), int64
        1 for the best feature, 2 for the next.
    n_rounds_ : int
        Number of forests.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if no column varies, the target does not suit the task, or a
        parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import ForestRFESelector
    >>> X = np.random.default_rng(0).standard_normal((120, 20))
    >>> y = (X[:, 3] * X[:, 5] > 0).astype(int) + (X[:, 3] > 0)
    >>> sorted(ForestRFESelector(2, random_state=0).fit(X, y).indices_.tolist())
    [3, 5]

    References
    ----------
    Granitto, Furlanello, Biasioli, Gasperi (2006), Recursive feature elimination with
    random forest for PTR-MS analysis of agroindustrial products, Chemometrics and
    Intelligent Laboratory Systems 83.
    """

    algorithm_version = 1
    needs_labels: ClassVar[bool] = True

    def __init__(
        self,
        n_features_to_select: int | float,
        *,
        step: int | float = 0.5,
        n_estimators: int = 100,
        task: Literal["auto", "classification", "regression"] = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.step = step
        self.n_estimators = n_estimators
        self.task = task
        self.random_state = random_state

    def _rank(
        self, rows: RankedRows, count: int | None, rng: np.random.Generator
    ) -> Ranking:
        check_integer("ForestRFESelector", "n_estimators", self.n_estimators, minimum=1)
        self._check_step()
        ranks = varying_ranks("ForestRFESelector", rows.X)
        order = np.arange(ranks.shape[1])
        sizes = elimination_sizes(order.size, 1, self.step)
        for size in sizes:
            remaining = np.sort(order[:size])
            forest = new_forest(
                rows.classes, int(self.n_estimators), int(rng.integers(2**31))
            )
            importances = forest.fit(ranks[:, remaining], rows.y).feature_importances_
            order[:size] = remaining[by_importance(importances)]
        is_constant = np.logical_not(ranks[:, order].any(axis=0))
        order = np.concatenate([order[~is_constant], order[is_constant]])
        return Ranking(order, attributes={"n_rounds": len(sizes)})

    def _check_step(self) -> None:
        step = self.step
        whole = isinstance(step, Integral) and not isinstance(step, bool) and step >= 1
        part = isinstance(step, float | np.floating) and 0 < step < 1
        if not (whole or part):
            raise ValueError(
                f"ForestRFESelector: expected step to be an integer >= 1, the number of features dropped in each "
                f"round, or a fraction in "
                f"(0, 1) of the remaining features, got {step!r}."
            )
