"""Greedy forward selection for ridge regression."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from provsel.checks import check_positive
from provsel.kernels.forward_ridge import forward_ridge
from provsel.kernels.standardised import indicator_targets
from provsel.selectors._columns import standardised
from provsel.selectors._ranked import RankedRows, RankedSelector, Ranking


class ForwardSelector(RankedSelector):
    r"""Repeatedly add the feature that lowers the leave-one-out error of ridge regression most.

    Use it for a few features that work well together in a linear model, for a numeric
    target or classes. It has no theorem.

    Columns are scaled to unit variance, because all have the same penalty. With S the
    picked features,

        error(S) = sum_i (y_i - f_{-i}(x_i))^2,

    where f_{-i} is ridge regression with an intercept on S, trained on all rows but i.
    Classes are regressed as 0 and 1, each against the rest if there are more than two,
    and their errors are added. This is exactly scikit-learn's
    `SequentialFeatureSelector` with `Ridge` on scaled columns and `LeaveOneOut`, but a
    step costs O(n d) for all candidates together. Memory is twice that of dense X.

    Picks depend neither on the unit or sign of a column, nor on the order of the rows.
    Ties go to the first candidate; constant columns come last.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of features to keep; below 1, the fraction of them.
    alpha : float, default=1.0
        Penalty, as in scikit-learn's `Ridge`.
    task : {"auto", "classification", "regression"}, default="auto"
        Kind of the target. "auto" means regression for numbers that are not all
        integers, and classification for integers and strings, as in scikit-learn's
        `type_of_target`. It raises an error for integers with very many distinct
        values.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        In order of selection.
    weights_ : ndarray of shape (n_selected,)
        Ones.
    ranking_ : ndarray of shape (n_features,), int64
        1 for the first pick, 2 for the second; all unpicked features share one rank.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if no column varies, the target does not suit the task, or a
        parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import ForwardSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20))
    >>> ForwardSelector(2).fit(X, 2 * X[:, 5] - X[:, 3]).indices_.tolist()
    [5, 3]

    References
    ----------
    Pahikkala, Airola, Salakoski (2010), Speeding up greedy forward selection for
    regularized least-squares, ICMLA, Algorithm 3, with an intercept.
    """

    algorithm_version = 1
    needs_labels: ClassVar[bool] = True

    def __init__(
        self,
        n_features_to_select: int | float,
        *,
        alpha: float = 1.0,
        task: Literal["auto", "classification", "regression"] = "auto",
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.task = task

    def _rank(
        self, rows: RankedRows, count: int | None, rng: np.random.Generator
    ) -> Ranking:
        check_positive("ForwardSelector", alpha=self.alpha)
        columns = standardised("ForwardSelector", rows.X)
        targets = indicator_targets(rows.y, rows.classes)
        centred = targets - targets.mean(axis=1, keepdims=True)
        return Ranking(forward_ridge(columns, centred, float(self.alpha)))
