"""Thresholds at which nearest shrunken centroids drop features."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from provsel.kernels.one_way import class_moments
from provsel.selectors._ranked import RankedRows, Ranking, WeightedRankedSelector


class ShrunkenCentroidsSelector(WeightedRankedSelector):
    r"""Keep the features that nearest shrunken centroids drop last, as the threshold grows.

    Use it for many columns and few rows with several classes, such as genes: a feature
    counts if it separates any one class from the rest, and noise in nearly constant
    columns is damped.

    The score of feature j is the largest standardised difference of a class k, max_k |mean_kj - mean_j| / (m_k (s_j +
    s_0)), with s_j the deviation within the classes, s_0 the median of all s_j, and m_k^2 = 1 / n_k - 1 / n. With the
    shrinkage `threshold` of scikit-learn's `NearestCentroid(shrink_threshold=threshold)`, exactly the features with
    `scores_ > threshold` differ between the centroids. Because of s_0 the scales of the columns matter.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of features to keep; below 1, the fraction of them.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        In order of decreasing score, ties by index.
    weights_ : ndarray of shape (n_selected,)
        Ones.
    scores_ : ndarray of shape (n_features,)
        Thresholds at which the features drop out; infinite if no column varies within
        the classes.
    ranking_ : ndarray of shape (n_features,), int64
        Rank of each feature, 1 for the best.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if labels are missing, have a single class, or are real numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import ShrunkenCentroidsSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20))
    >>> y = np.arange(60) % 3
    >>> X[:, 3] += 3 * (y == 1)
    >>> ShrunkenCentroidsSelector(1).fit(X, y).indices_.tolist()
    [3]

    References
    ----------
    Tibshirani, Hastie, Narasimhan, Chu (2002), Diagnosis of multiple cancer types by
    shrunken centroids of gene expression, equations 1 and 2; their m_k^2 = 1 / n_k + 1
    / n is a misprint, as the authors state (2003).
    """

    algorithm_version = 1
    classes_only: ClassVar[bool] = True
    takes_sparse: ClassVar[bool] = True

    def __init__(self, n_features_to_select: int | float) -> None:
        self.n_features_to_select = n_features_to_select

    def _rank(
        self, rows: RankedRows, count: int | None, rng: np.random.Generator
    ) -> Ranking:
        moments = class_moments(rows.X, rows.y, rows.sample_weight)
        size = moments.sizes.sum()
        deviation = np.sqrt(moments.within / max(size - moments.sizes.size, 1.0))
        unit = deviation + np.median(deviation)
        difference = (
            np.abs(moments.means - moments.mean)
            / np.sqrt(1 / moments.sizes - 1 / size)[:, None]
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = difference.max(axis=0) / unit
        return Ranking.by_scores(np.where(moments.between > 0, scores, 0.0))
