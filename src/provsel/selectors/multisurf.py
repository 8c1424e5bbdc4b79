"""MultiSURF, SURF and SURF*: like ReliefF, with all rows within a radius as neighbours."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from provsel.checks import check_choice
from provsel.kernels.relief import surf_scores
from provsel.selectors._ranked import RankedRows, RankedSelector, Ranking
from provsel.selectors._relief import ranking_of

FORMS = ("multisurf", "surf", "surf_star")


class MultiSURFSelector(RankedSelector):
    r"""Keep the features that differ between near rows of different classes, where near means within a radius.

    Use it like `ReliefFSelector`, if features matter jointly, without choosing a number
    of neighbours.

    The difference of a feature is its distance in units of its range, or 0 or 1 for
    codes. The distance of two rows is the sum. Row k is near row i if it is closer than
    the mean distance of i to the others minus half its standard deviation. With H the
    near rows of the same class and M the others,

        score_j = mean over i of [ mean_{k in M} diff_j(i, k) - mean_{k in H} diff_j(i,
        k) ].

    With more than two classes, a miss of a class counts by the share of that class
    among the near misses, times the number of classes minus one. For numbers, two rows
    are of one class if their targets differ by less than the standard deviation of the
    target.

    The order of the rows does not matter, and neither do shifts and scales of columns.
    Constant features come last. No theorem bounds the loss.

    Time O(n^2 d). Memory O(n d) and blocks of some 300 MB: for more than 3,000 rows no
    n x n matrix is formed.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of features to keep; below 1, the fraction of them.
    form : {"multisurf", "surf", "surf_star"}, default="multisurf"
        "surf": the radius is the mean distance between rows, the same for all.
        "surf_star": the same, and the score of the farther rows is subtracted.
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
        -inf for constant features.
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
    Scores agree with skrebate's, for columns that are all numbers or all codes. Two
    differences: the mean distance of its SURF and SURF* counts the distance of each row
    to itself, 0; and for mixed columns it counts codes d / d_codes times in distances,
    and 1 for numbers that differ by more than their standard deviation.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import MultiSURFSelector
    >>> X = np.random.default_rng(0).standard_normal((200, 10))
    >>> sorted(MultiSURFSelector(2).fit(X, X[:, 3] * X[:, 6] > 0).indices_.tolist())
    [3, 6]

    References
    ----------
    Urbanowicz, Olson, Schmitt, Meeker, Moore (2018), Benchmarking relief-based feature
    selection methods for bioinformatics data mining, section 2; Greene, Penrod,
    Kiralis, Moore (2009), SURF; Greene, Himmelstein, Kiralis, Moore (2010), SURF*.
    """

    algorithm_version = 1

    def __init__(
        self,
        n_features_to_select: int | float,
        *,
        form: Literal["multisurf", "surf", "surf_star"] = "multisurf",
        task: Literal["auto", "classification", "regression"] = "auto",
        discrete_features: Any = False,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.form = form
        self.task = task
        self.discrete_features = discrete_features

    def _rank(
        self, rows: RankedRows, count: int | None, rng: np.random.Generator
    ) -> Ranking:
        check_choice("MultiSURFSelector", "form", self.form, FORMS)
        form, is_regression = self.form, rows.classes is None
        return ranking_of(
            "MultiSURFSelector",
            rows.X,
            self.discrete_features,
            lambda units: surf_scores(
                units, rows.y, is_regression=is_regression, form=form
            ),
        )
