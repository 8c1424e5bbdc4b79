"""The mutual information of each feature alone with the target."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import scale
from sklearn.utils import check_random_state

from provsel.checks import check_integer
from provsel.kernels.discrete_information import (
    coded,
    column_blocks,
    information_with_codes,
    information_with_sparse,
)
from provsel.kernels.neighbor_information import (
    information_of_codes,
    information_with_classes,
    information_with_numbers,
)
from provsel.selectors._columns import discrete_mask
from provsel.selectors._ranked import RankedRows, RankedSelector, Ranking

NOISE = 1e-10
"""Noise relative to the mean absolute value, or to 1 if that is smaller, which separates equal values."""


class MutualInformationSelector(RankedSelector):
    r"""Keep the features with the largest mutual information with the target, for any form of dependence.

    Use it as a filter if effects are neither linear nor monotone. It needs a few
    hundred rows to detect weak effects, and does not detect that two features carry the
    same information.

    Numbers are compared by the distances to their nearest neighbours, as in
    scikit-learn's `mutual_info_classif` and `mutual_info_regression`, for all columns
    at once. The scores are the same, for columns with equal values if the seed is the
    same. Discrete features are counted. Neither the scale nor the shift of a column
    changes its score.

    Time O(n log n) per column for classes, and O(n sqrt(n)) for numbers; memory a copy
    of X.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of features to keep; below 1, the fraction of them.
    n_neighbors : int, default=3
        Larger numbers lower the variance and raise the bias.
    discrete_features : {"auto"}, bool, or array of bool or of int, default="auto"
        Mask, or column numbers, of the features whose values are counted. "auto": all
        of sparse X, none of dense X.
    task : {"auto", "classification", "regression"}, default="auto"
        Kind of the target. "auto" means regression for numbers that are not all
        integers, and classification for integers and strings, as in scikit-learn's
        `type_of_target`. It raises an error for integers with very many distinct
        values.
    random_state : int, RandomState instance, Generator or None, default=None
        Seed of the noise, 1e-10 of the values, that separates equal ones. An int gives
        the noise of scikit-learn.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        In order of decreasing score, ties by index.
    weights_ : ndarray of shape (n_selected,)
        Ones.
    scores_ : ndarray of shape (n_features,)
        Estimated mutual information in nats, at least 0.
    ranking_ : ndarray of shape (n_features,), int64
        Rank of each feature, 1 for the best.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if labels are missing or have a single class, numbers are all equal,
        a parameter is out of range, or sparse X has features that are not discrete.

    Notes
    -----
    scikit-learn squares distances, and takes them from inner products in classes of
    `2 n_neighbors` rows or fewer. It can therefore count a neighbour exactly at the
    radius, which none of the papers does, so that its count in one row may differ by
    one. Constant columns have a score of 0 here, and the score of the noise there.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import MutualInformationSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 20))
    >>> y = np.where(np.abs(X[:, 3]) > 0.7, 1, -1)
    >>> MutualInformationSelector(1, random_state=0).fit(X, y).indices_.tolist()
    [3]

    References
    ----------
    Kraskov, Stoegbauer, Grassberger (2004), Estimating mutual information, estimator 1;
    Ross (2014), Mutual information between discrete and continuous data sets.
    """

    algorithm_version = 1
    takes_sparse: ClassVar[bool] = True

    def __init__(
        self,
        n_features_to_select: int | float,
        *,
        n_neighbors: int = 3,
        discrete_features: Any = "auto",
        task: Literal["auto", "classification", "regression"] = "auto",
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.discrete_features = discrete_features
        self.task = task
        self.random_state = random_state

    def _rank(
        self, rows: RankedRows, count: int | None, rng: np.random.Generator
    ) -> Ranking:
        X, y, is_number = rows.X, rows.y, rows.classes is None
        check_integer(
            "MutualInformationSelector", "n_neighbors", self.n_neighbors, minimum=1
        )
        is_discrete = discrete_mask(
            "MutualInformationSelector", self.discrete_features, X
        )
        if sparse.issparse(X) and not is_discrete.all():
            raise ValueError(
                f"MutualInformationSelector: in sparse X all features must be discrete, got "
                f"{np.count_nonzero(~is_discrete)} that are not; make X dense, or set discrete_features=True."
            )
        if is_number and self.n_neighbors >= y.size:
            raise ValueError(
                f"MutualInformationSelector: expected n_neighbors to be below the number of rows, n_samples = "
                f"{y.size}, got "
                f"{self.n_neighbors}; lower n_neighbors."
            )
        drawn = (
            check_random_state(self.random_state)
            if isinstance(self.random_state, Integral)
            else rng
        )
        scores = np.empty(X.shape[1])
        if not is_discrete.all():
            numbers = _with_noise(X[:, ~is_discrete], drawn)
        if is_number:
            y = _with_noise(y[:, None], drawn)[0]
        if not is_discrete.all():
            estimate = (
                information_with_numbers if is_number else information_with_classes
            )
            scores[~is_discrete] = estimate(numbers, y, int(self.n_neighbors))
            # not the score of the noise
            scores[~is_discrete & (np.ptp(X, axis=0) == 0)] = 0.0
        if is_discrete.any():
            scores[is_discrete] = self._of_discrete(
                X[:, is_discrete], y, is_number=is_number
            )
        return Ranking.by_scores(scores)

    def _of_discrete(
        self, X: Any, y: NDArray[Any], *, is_number: bool
    ) -> NDArray[np.float64]:
        """Return the scores of discrete features, shape (d,)."""
        if sparse.issparse(X):
            if not is_number:
                return information_with_sparse(X, y)
            X = sparse.csc_array(X)
        scores = np.empty(X.shape[1])
        for part in column_blocks(X.shape[1], X.shape[0]):
            columns = X[:, part].toarray() if sparse.issparse(X) else X[:, part]
            codes = coded(np.ascontiguousarray(columns.T))
            if is_number:
                scores[part] = information_of_codes(codes, y, int(self.n_neighbors))
            else:
                scores[part] = information_with_codes(codes, y)
        return scores


def _with_noise(X: NDArray[np.float64], rng: Any) -> NDArray[np.float64]:
    """Return the columns as rows, shape (d, n), scaled to a deviation of 1 and with noise."""
    X = scale(X, with_mean=False)
    X += (
        NOISE
        * np.maximum(1.0, np.abs(X).mean(axis=0))
        * rng.standard_normal(size=X.shape)
    )
    return np.ascontiguousarray(X.T)
