"""The chi-squared statistic of each feature alone."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse
from scipy.special import chdtrc

from provsel.checks import check_choice
from provsel.kernels.one_way import class_sums
from provsel.kernels.spectral import Array, Matrix
from provsel.selectors._ranked import RankedRows, Ranking, WeightedRankedSelector


class ChiSquaredSelector(WeightedRankedSelector):
    r"""Keep the features with the largest chi-squared statistic, whose counts are not proportional to class sizes.

    Use it for counts, such as words in texts; other columns must not be negative, and
    their scale matters.

    With o_k the sum of a column in class k, and e_k its total sum times the share of
    class k, the score is sum_k (o_k - e_k)^2 / e_k, as in scikit-learn's `chi2`. Sparse
    X stays sparse.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of features to keep; below 1, the fraction of them.
    scale : {"none", "range"}, default="none"
        "range" first maps each column to [0, 1] by its smallest and largest value, so
        that negative values are allowed and units do not matter. Use it for
        standardised columns; counts would lose their meaning.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        In order of decreasing score, ties by index.
    weights_ : ndarray of shape (n_selected,)
        Ones.
    scores_ : ndarray of shape (n_features,)
        0 for columns of zeros.
    p_values_ : ndarray of shape (n_features,)
        For counts of independent events, by the chi-squared distribution.
    ranking_ : ndarray of shape (n_features,), int64
        Rank of each feature, 1 for the best.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if there are negative values without `scale`, or labels are missing,
        of one class, or real numbers.

    Examples
    --------
    >>> from provsel.selectors import ChiSquaredSelector
    >>> ChiSquaredSelector(1).fit([[2, 0, 1], [3, 1, 1], [2, 4, 1], [3, 5, 1]], ["a", "a", "b", "b"]).indices_.tolist()
    [1]

    References
    ----------
    Pearson (1900), On the criterion that a given system of deviations ...; Liu, Setiono
    (1995), Chi2: feature selection and discretization of numeric attributes.
    """

    algorithm_version = 1
    classes_only: ClassVar[bool] = True
    takes_sparse: ClassVar[bool] = True

    def __init__(
        self,
        n_features_to_select: int | float,
        *,
        scale: Literal["none", "range"] = "none",
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.scale = scale

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self.scale == "none"
        return tags

    def _rank(
        self, rows: RankedRows, count: int | None, rng: np.random.Generator
    ) -> Ranking:
        check_choice("ChiSquaredSelector", "scale", self.scale, ["none", "range"])
        least = rows.X.min()
        if least < 0 and self.scale == "none":
            raise ValueError(
                f"ChiSquaredSelector: Negative values in data. Expected counts, or other values of at least 0, got "
                f"{least:g}; use FTestSelector or RankTestSelector, or scale='range'."
            )
        weight = (
            np.ones(rows.y.size) if rows.sample_weight is None else rows.sample_weight
        )
        sizes = np.bincount(rows.y, weights=weight).astype(np.float64)
        observed = class_sums(rows.X, rows.y, weight)
        if self.scale == "range":
            observed = _in_range(observed, sizes, rows.X)
        share = sizes / weight.sum()
        expected = share[:, None] * observed.sum(axis=0)
        scores = (
            (observed - expected) ** 2 / np.where(expected > 0, expected, 1.0)
        ).sum(axis=0)
        return Ranking.by_scores(scores, p_values=chdtrc(share.size - 1, scores))


def _in_range(sums: Array, sizes: Array, X: Matrix) -> Array:
    """Return the sums of each class, shape (n_classes, d), over the columns of X scaled to [0, 1].

    Sparse X stays sparse. Constant columns become zeros.
    """
    least = _dense_row(X.min(axis=0))
    width = _dense_row(X.max(axis=0)) - least
    scaled = (sums - sizes[:, None] * least) / np.where(width > 0, width, 1.0)
    return np.where(width > 0, np.maximum(scaled, 0.0), 0.0)


def _dense_row(row: Any) -> Array:
    return row.toarray().ravel() if sparse.issparse(row) else row
