"""A ranked selector on many bootstrap samples of the rows: the mean of its rankings."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import resample

from provsel.checks import check_integer
from provsel.selectors._ranked import RankedRows, RankedSelector, Ranking


class BaggedSelector(RankedSelector):
    """Orders the features by the mean of their ranks over bootstrap samples.

    Parameters
    ----------
    n_features_to_select : int or float
    selector : selector
        With `ranking_`. Asked for one feature, which orders all.
    n_bags : int, default=20
    task : {"auto", "classification", "regression"}, default="auto"
        Kind of the target, as for provsel's selectors. The samples have the classes' sizes.
    random_state : int, default=0

    Source: Abeel, Helleputte, Van de Peer, Dupont, Saeys (2010), with equal weights.
    """

    algorithm_version = 1
    needs_labels: ClassVar[bool] = True

    def __init__(
        self,
        n_features_to_select: int | float,
        *,
        selector: Any,
        n_bags: int = 20,
        task: Literal["auto", "classification", "regression"] = "auto",
        random_state: int = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.selector = selector
        self.n_bags = n_bags
        self.task = task
        self.random_state = random_state

    def _rank(self, rows: RankedRows, count: int | None, rng: np.random.Generator) -> Ranking:
        check_integer("BaggedSelector", "n_bags", self.n_bags, minimum=1)
        classes = None if rows.classes is None else rows.y
        total = np.zeros(rows.X.shape[1])
        for _ in range(self.n_bags):
            bag = _bootstrap(len(rows.y), classes, int(rng.integers(2**31)))
            selector = clone(self.selector).set_params(n_features_to_select=1)
            total += selector.fit(rows.X[bag], rows.y[bag]).ranking_
        return Ranking.by_scores(-total / self.n_bags)


def _bootstrap(n_rows: int, classes: NDArray[np.int64] | None, seed: int) -> NDArray[np.int64]:
    """Return rows drawn with replacement, as many of each class as there are."""
    if classes is None:
        return np.asarray(resample(np.arange(n_rows), random_state=seed))
    rng = np.random.RandomState(seed)
    parts = [resample(np.flatnonzero(classes == label), random_state=rng) for label in np.unique(classes)]
    return np.concatenate(parts)
