"""The F test of each feature alone."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from scipy.special import fdtrc

from provsel.kernels.one_way import (
    class_moments,
    correlations,
    f_of_correlations,
    f_statistics,
)
from provsel.selectors._ranked import RankedRows, Ranking, WeightedRankedSelector


class FTestSelector(WeightedRankedSelector):
    r"""Keep the features with the largest F statistic, for linear effects of single features.

    Use it as the fastest filter for labels or a numeric target, or before a more
    expensive method. It does not detect that two features carry the same information.

    For classes, F is the ratio of the variances between and within the classes, as in
    scikit-learn's `f_classif`; for numbers it is r^2 / (1 - r^2) (n - 2) of the
    correlation r, as in `f_regression`. Means are subtracted first, so that columns far
    from zero keep their digits. Neither the scale nor the shift of a column changes its
    score.

    Time and memory O(n d), or proportional to the non-zero values of sparse X.

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
        F statistics: 0 for constant columns, infinite if a column is a function of the
        class or linear in the target.
    p_values_ : ndarray of shape (n_features,)
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
    >>> from provsel.selectors import FTestSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20))
    >>> y = np.where(X[:, 3] > 0, 1, -1)
    >>> FTestSelector(1).fit(X, y).indices_.tolist()
    [3]
    >>> FTestSelector(2).fit(X, 2 * X[:, 5] - X[:, 3]).indices_.tolist()
    [5, 3]

    References
    ----------
    Fisher (1925), Statistical methods for research workers, chapter 7.
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
        size = rows.y.size if rows.sample_weight is None else rows.sample_weight.sum()
        if rows.classes is None:
            scores = f_of_correlations(
                correlations(rows.X, rows.y, rows.sample_weight), size
            )
            freedom = 1
        else:
            moments = class_moments(rows.X, rows.y, rows.sample_weight)
            scores = f_statistics(moments)
            freedom = moments.sizes.size - 1
        p_values = fdtrc(freedom, max(size - freedom - 1, 1), scores)
        return Ranking.by_scores(scores, p_values=p_values)
