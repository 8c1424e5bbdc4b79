"""The rank test of each feature alone."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from scipy.special import chdtrc
from scipy.stats import rankdata, t

from provsel.kernels.one_way import class_moments, correlations
from provsel.kernels.ranks import mean_ranks
from provsel.selectors._ranked import RankedRows, RankedSelector, Ranking


class RankTestSelector(RankedSelector):
    r"""Keep the features whose ranks differ most between classes, or follow a numeric target (monotone effects).

    Use it instead of the F test if columns have outliers, heavy tails or unknown
    scales. Strictly increasing transformations of a column do not change its score.

    For classes the score is H of the Kruskal-Wallis test, corrected for equal values,
    as in `scipy.stats.kruskal`. With two classes it orders the features like the
    Mann-Whitney-Wilcoxon test. For numbers it is the absolute value of Spearman's rank
    correlation, as in `scipy.stats.spearmanr`.

    Time O(n log n) per column, memory a copy of X; sparse X stays sparse.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of features to keep; below 1, the fraction of them.
    task : {"auto", "classification", "regression"}, default="auto"
        Kind of the target. "auto" means regression for numbers that are not all
        integers, and classification for integers and strings, as in scikit-learn's
        `type_of_target`. It raises an error for integers with very many distinct
        values.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        In order of decreasing score, ties by index.
    weights_ : ndarray of shape (n_selected,)
        Ones.
    scores_ : ndarray of shape (n_features,)
        H, or the absolute correlation; 0 for constant columns.
    p_values_ : ndarray of shape (n_features,)
        By the chi-squared or the t distribution, which need about five rows per class.
    ranking_ : ndarray of shape (n_features,), int64
        Rank of each feature, 1 for the best.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if labels are missing or have a single class, numbers are all equal,
        or the task is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import RankTestSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20))
    >>> y = np.where(X[:, 3] > 0, 1, -1)
    >>> RankTestSelector(1).fit(np.exp(X), y).indices_.tolist()
    [3]
    >>> RankTestSelector(1).fit(np.exp(X), 2 * X[:, 5] - X[:, 3]).indices_.tolist()
    [5]

    References
    ----------
    Kruskal, Wallis (1952), Use of ranks in one-criterion variance analysis; Spearman
    (1904), The proof and measurement of association between two things.
    """

    algorithm_version = 1
    takes_sparse: ClassVar[bool] = True

    def __init__(
        self,
        n_features_to_select: int | float,
        *,
        task: Literal["auto", "classification", "regression"] = "auto",
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.task = task

    def _rank(
        self, rows: RankedRows, count: int | None, rng: np.random.Generator
    ) -> Ranking:
        ranks, n_samples = mean_ranks(rows.X), rows.y.size
        if rows.classes is None:
            scores = np.abs(correlations(ranks, rankdata(rows.y)))
            freedom = max(n_samples - 2, 1)
            with np.errstate(divide="ignore"):
                p_values = 2 * t.sf(
                    scores * np.sqrt(freedom / (1 - scores**2)), freedom
                )
            return Ranking.by_scores(scores, p_values=p_values)
        moments = class_moments(ranks, rows.y)
        total = moments.between + moments.within
        scores = (n_samples - 1) * moments.between / np.where(total > 0, total, 1.0)
        return Ranking.by_scores(scores, p_values=chdtrc(rows.classes.size - 1, scores))
