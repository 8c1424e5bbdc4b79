"""Mean ranking of a ranked selector over bootstrap samples of the rows."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.base import clone

from provsel.checks import check_integer
from provsel.selectors import BaseSelector
from provsel.selectors._ranked import RankedRows, RankedSelector, Ranking


class BaggedSelector(RankedSelector):
    """Mean rank of a feature over bootstrap samples of the rows.

    Parameters
    ----------
    n_features_to_select : int or float
    selector : selector
        Selector of provsel with `n_features_to_select` and `ranking_`. It must rank all
        features even if one is requested. Features with equal ranks, such as those of
        one elimination round, share the mean of their ranks.
    n_bags : int, default=20
    task : {"auto", "classification", "regression"}, default="auto"
        Kind of target, as for provsel's selectors. Each sample has as many rows of each
        class as the data.
    random_state : int, Generator or None, default=0

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
        random_state: Any = 0,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.selector = selector
        self.n_bags = n_bags
        self.task = task
        self.random_state = random_state

    def _rank(
        self, rows: RankedRows, count: int | None, rng: np.random.Generator
    ) -> Ranking:
        check_integer("BaggedSelector", "n_bags", self.n_bags, minimum=1)
        settings = self._settings(rows)
        total = np.zeros(rows.X.shape[1])
        for _ in range(int(self.n_bags)):
            bag = _bootstrap(rows, rng)
            if self.selector.is_random:
                settings["random_state"] = int(rng.integers(2**31))
            selector = (
                clone(self.selector)
                .set_params(**settings)
                .fit(rows.X[bag], rows.y[bag])
            )
            if not hasattr(selector, "ranking_"):
                raise self._unusable()
            total += rankdata(selector.ranking_)
        return Ranking.by_scores(-total / int(self.n_bags))

    def _settings(self, rows: RankedRows) -> dict[str, Any]:
        """Return the parameters to set on the selector; raise if it cannot rank all features."""
        parameters = (
            self.selector.get_params(deep=False)
            if isinstance(self.selector, BaseSelector)
            else {}
        )
        if "n_features_to_select" not in parameters:
            raise self._unusable()
        settings: dict[str, Any] = {"n_features_to_select": 1}
        if "task" in parameters:  # the task guessed from a sample may differ
            settings["task"] = (
                "regression" if rows.classes is None else "classification"
            )
        return settings

    def _unusable(self) -> ValueError:
        return ValueError(
            f"BaggedSelector: expected a selector of provsel with n_features_to_select and ranking_, got "
            f"{self.selector!r:.80}; pass, for example, FTestSelector(1)."
        )


def _bootstrap(rows: RankedRows, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return rows drawn with replacement, with the class sizes of the data."""
    if rows.classes is None:
        return rng.integers(rows.y.size, size=rows.y.size)
    drawn = []
    for label in range(rows.classes.size):
        members = np.flatnonzero(rows.y == label)
        drawn.append(rng.choice(members, members.size))
    return np.concatenate(drawn)
