"""ReliefF, and RReliefF for numeric targets: features that differ between near rows with different targets."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from provsel.checks import check_integer
from provsel.kernels.relief import relieff_scores, rrelieff_scores
from provsel.selectors._ranked import RankedRows, RankedSelector, Ranking
from provsel.selectors._relief import ranking_of


class ReliefFSelector(RankedSelector):
    r"""Keep the features that differ between near rows of different classes, but not within a class.

    Use it if features matter jointly: it finds features that are uninformative alone,
    as in an exclusive or.

    The difference of a feature is its distance in units of its range, or 0 or 1 for
    codes. For each row i, H are its `n_neighbors` nearest rows of the same class, and
    M_c those of another class c, by the sum of all differences. With P the shares of
    the classes,

        score_j = mean_i [ sum_c P(c) / (1 - P(c_i)) mean_{k in M_c} diff_j(i, k) -
        mean_{k in H} diff_j(i, k) ].

    For numeric targets this is RReliefF: the probability that a feature differs if the
    target does, minus the probability if it does not, over the `n_neighbors` nearest
    rows, which have equal weights.

    Rows that tie for the last place among the nearest share its weight, so the order of
    the rows does not matter. Neither do shifts and scales of columns. Constant features
    come last. No theorem bounds the loss.

    Time O(n^2 d). Memory O(n d) and blocks of some 200 MB: for more than 3,000 rows no
    n x n matrix is formed. From 1,000 rows and 128 numeric features on, distances in
    single precision decide which distances are computed exactly, with the same scores.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of features to keep; below 1, the fraction of them.
    n_neighbors : int, default=10
        Number of neighbours per class, or fewer if a class has fewer rows. The default
        is that of the authors; skrebate's is 100.
    task : {"auto", "classification", "regression"}, default="auto"
        Kind of the target; "auto" means regression for numbers that are not all
        integers.
    discrete_features : bool or array-like, default=False
        Columns of codes: all, none, a mask of shape (n_features,), or column numbers.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        In order of decreasing score, ties by index.
    weights_ : ndarray of shape (n_selected,)
        Ones.
    scores_ : ndarray of shape (n_features,)
        From -1 to 1; -inf for constant features.
    ranking_ : ndarray of shape (n_features,), int64
        Rank of each feature, 1 for the best.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if labels are missing or have a single class, numbers or rows are
        all equal, a parameter is out of range, or sparse X has more than 125 million
        entries, zeros included.

    Notes
    -----
    Scores agree with skrebate's for two classes or classes of equal size, without ties.
    Otherwise skrebate omits P. For mixed columns it counts codes d / d_codes times in
    distances, and 1 for numbers that differ by more than their standard deviation. For
    numeric targets it uses classes of near targets instead of RReliefF.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import ReliefFSelector
    >>> X = np.random.default_rng(0).standard_normal((200, 10))
    >>> sorted(ReliefFSelector(2).fit(X, X[:, 3] * X[:, 6] > 0).indices_.tolist())
    [3, 6]

    References
    ----------
    Kononenko (1994), Estimating attributes, section 3; Robnik-Šikonja, Kononenko
    (2003), Theoretical and empirical analysis of ReliefF and RReliefF, Figures 2 and 3.
    """

    algorithm_version = 1

    def __init__(
        self,
        n_features_to_select: int | float,
        *,
        n_neighbors: int = 10,
        task: Literal["auto", "classification", "regression"] = "auto",
        discrete_features: Any = False,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.task = task
        self.discrete_features = discrete_features

    def _rank(
        self, rows: RankedRows, count: int | None, rng: np.random.Generator
    ) -> Ranking:
        check_integer("ReliefFSelector", "n_neighbors", self.n_neighbors, minimum=1)
        n_neighbors = int(self.n_neighbors)
        scores = rrelieff_scores if rows.classes is None else relieff_scores
        return ranking_of(
            "ReliefFSelector",
            rows.X,
            self.discrete_features,
            lambda units: scores(units, rows.y, n_neighbors),
        )
