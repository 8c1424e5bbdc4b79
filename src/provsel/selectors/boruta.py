"""Boruta: features that are more important to random forests than permuted copies of all features."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from provsel.checks import check_integers, check_positive
from provsel.kernels.boruta import CONFIRMED, REJECTED, TENTATIVE, decided, is_settled
from provsel.selectors._forests import new_forest, varying_ranks
from provsel.selectors._ranked import RankedRows, RankedSelector, Ranking

FEWEST_COPIES = 5
"""With fewer features several copies of each are used, because the largest importance of few copies is small."""


class BorutaSelector(RankedSelector):
    r"""Keep the features that are more important to random forests than permuted copies of all features.

    Use it to find all relevant features, including copies of each other, for relations
    of any form; it chooses how many. It has no theorem: its tests concern the
    importances on one sample of rows, and their levels hold for that sample.

    In each round, a forest is trained on the columns that are not yet rejected and on
    new permuted copies. A feature has a hit if its importance, the mean decrease of
    impurity, is above the `perc`-th percentile of the copies' importances. The number
    of hits of a feature that is like a copy is binomial with chance at most 1/2. By
    this number each feature is confirmed, rejected or left tentative, see `two_step`.
    The procedure ends when no feature is tentative, or none can be decided in the
    remaining rounds.

    The forest is trained on ranks within columns, so increasing transformations of a
    column have no effect.

    Parameters
    ----------
    n_features_to_select : int or float, default=None
        None keeps the confirmed features. A number keeps the best-ranked features,
        confirmed or not.
    estimator : estimator, default=None
        An estimator with `random_state`, and with `feature_importances_` after `fit`;
        it keeps its own `n_estimators`. None is a random forest of `n_estimators` trees
        of `max_depth`.
    n_estimators : int, default=100
        Trees of the forest. Each node considers sqrt(m) of m columns for classes, and m
        / 3 for numbers.
    max_depth : int or None, default=5
        Depth of the trees; BorutaPy recommends between 3 and 7. None lets them grow
        fully, as in the paper.
    max_iter : int, default=100
        Largest number of rounds.
    alpha : float, default=0.05
        Level of the tests, below 1.
    perc : float, default=100
        100 compares with the largest importance of the copies, as in the paper. Lower
        values keep more features.
    two_step : bool, default=True
        Correct for several features by Benjamini and Hochberg's procedure, and for
        several rounds by Bonferroni's, as BorutaPy does. False uses the paper's
        Bonferroni correction for several features.
    task : {"auto", "classification", "regression"}, default="auto"
        Kind of the target. "auto" means regression for numbers that are not all
        integers, and classification for integers and strings, as in scikit-learn's
        `type_of_target`. It raises an error for integers with very many distinct
        values.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the permutations and of the forest.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        Confirmed first, then tentative, then rejected ones, latest rejected first;
        within these by hits, then by mean importance over the rounds in which they took
        part.
    weights_ : ndarray of shape (n_selected,)
        Ones.
    confirmed_, tentative_ : ndarray of shape (n_features,), bool
    hits_ : ndarray of shape (n_features,), int64
    scores_ : ndarray of shape (n_features,)
        Mean importance over the rounds in which the feature took part.
    ranking_ : ndarray of shape (n_features,), int64
        1 for the best feature, 2 for the next. (BorutaPy's has 1 for all that are
        confirmed.)
    n_iter_ : int
        Rounds.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if no column varies, the target does not suit the task, the
        estimator has no importances, or a parameter is out of range.

    Warns
    -----
    UserWarning
        If no feature is confirmed; the best one is then kept.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import BorutaSelector
    >>> X = np.random.default_rng(0).standard_normal((120, 10))
    >>> y = (X[:, 3] * X[:, 5] > 0).astype(int) + (X[:, 3] > 0)
    >>> sorted(BorutaSelector(n_estimators=30, max_iter=30, random_state=0).fit(X, y).indices_.tolist())
    [3, 5]

    References
    ----------
    Kursa, Rudnicki (2010), Feature selection with the Boruta package, Journal of
    Statistical Software 36. The correction in two steps: BorutaPy.
    """

    algorithm_version = 1
    needs_labels: ClassVar[bool] = True
    has_own_number: ClassVar[bool] = True

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        estimator: Any = None,
        n_estimators: int = 100,
        max_depth: int | None = 5,
        max_iter: int = 100,
        alpha: float = 0.05,
        perc: float = 100,
        two_step: bool = True,
        task: Literal["auto", "classification", "regression"] = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.max_iter = max_iter
        self.alpha = alpha
        self.perc = perc
        self.two_step = two_step
        self.task = task
        self.random_state = random_state

    def _rank(
        self, rows: RankedRows, count: int | None, rng: np.random.Generator
    ) -> Ranking:
        self._check_options()
        ranks = varying_ranks("BorutaSelector", rows.X)
        columns = np.ascontiguousarray(ranks.T)
        d = columns.shape[0]
        decisions = np.full(d, TENTATIVE)
        hits = np.zeros(d, dtype=np.int64)
        totals = np.zeros(d)
        n_present = np.zeros(d, dtype=np.int64)
        max_iter, alpha, two_step = (
            int(self.max_iter),
            float(self.alpha),
            bool(self.two_step),
        )
        for n_rounds in range(1, max_iter + 1):
            remaining = np.flatnonzero(decisions != REJECTED)
            importances, limit = self._round(columns[remaining], rows, rng)
            hits[remaining[importances > limit]] += 1
            totals[remaining] += importances
            n_present[remaining] = n_rounds
            decisions = decided(decisions, hits, n_rounds, alpha, two_step=two_step)
            if is_settled(
                decisions, hits, n_rounds, max_iter, alpha, two_step=two_step
            ):
                break
        scores = totals / n_present
        is_constant = ~ranks.any(axis=0)
        order = np.lexsort([-scores, -hits, -n_present, -decisions, is_constant])
        confirmed, tentative = decisions == CONFIRMED, decisions == TENTATIVE
        fitted = {
            "confirmed": confirmed,
            "tentative": tentative,
            "hits": hits,
            "n_iter": n_rounds,
        }
        return Ranking(order, scores, int(confirmed.sum()), fitted)

    def _round(
        self, columns: NDArray[np.float32], rows: RankedRows, rng: np.random.Generator
    ) -> tuple[NDArray[np.float64], float]:
        """Return the importances of the remaining columns, shape (m,), and the threshold for a hit."""
        m = columns.shape[0]
        n_copies = m
        while n_copies < FEWEST_COPIES:
            n_copies *= 2
        copies = rng.permuted(np.resize(columns, (n_copies, columns.shape[1])), axis=1)
        seed = int(rng.integers(2**31))
        if self.estimator is None:
            forest = new_forest(
                rows.classes, int(self.n_estimators), seed, self.max_depth
            )
        else:
            forest = clone(self.estimator).set_params(random_state=seed)
        fitted = forest.fit(np.vstack([columns, copies]).T, rows.y)
        if not hasattr(fitted, "feature_importances_"):
            raise ValueError(
                f"BorutaSelector: expected an estimator with feature_importances_ after fit, got {forest!r:.80}; use "
                f"a forest, or leave estimator out."
            )
        importances = np.asarray(fitted.feature_importances_)
        return importances[:m], float(np.percentile(importances[m:], self.perc))

    def _check_options(self) -> None:
        name = "BorutaSelector"
        check_integers(name, vars(self), n_estimators=1, max_iter=1)
        if self.max_depth is not None:
            check_integers(name, vars(self), max_depth=1)
        check_positive(name, alpha=self.alpha, perc=self.perc)
        if not self.alpha < 1:
            raise ValueError(
                f"{name}: expected alpha to be below 1, got {self.alpha!r}."
            )
        if not self.perc <= 100:
            raise ValueError(
                f"{name}: expected perc to be at most 100, a percentile, got {self.perc!r}."
            )
        if not isinstance(self.two_step, bool | np.bool_):
            raise ValueError(
                f"{name}: expected two_step to be True or False, got {self.two_step!r}."
            )
        parameters: dict[str, Any] = getattr(self.estimator, "get_params", dict)()
        if self.estimator is not None and "random_state" not in parameters:
            raise ValueError(
                f"{name}: expected an estimator with random_state and feature_importances_, such as scikit-learn's "
                f"forests, got {self.estimator!r:.80}; leave estimator out for a random forest."
            )
