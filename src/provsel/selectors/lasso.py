"""Features with non-zero weight in the lasso."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.linear_model import Lasso

from provsel.checks import check_integer, check_positive
from provsel.kernels.spectral import centred_columns
from provsel.labels import by_total_weight, signs_of_two_classes, target_of
from provsel.selectors._base import BaseSelector, Selection
from provsel.selectors._size_search import SizeRange
from provsel.training_view import TrainingView


class LassoSelector(BaseSelector):
    r"""Keep the features with non-zero weight in the lasso; it chooses how many.

    Use it as the standard sparse model for a numeric target; for classes use
    `L1SVMSelector`. To get exactly r features, wrap it in `AtSize`. Scale the columns
    first, because the penalty applies to unscaled w.

    With an intercept b that is not penalised, scikit-learn's `Lasso` solves

        min ||y - X w - b||^2 / (2 n) + alpha ||w||_1.

    For alpha >= alpha_max = max |X^T (y - mean y)| / n, with centred columns, w = 0.

    Parameters
    ----------
    penalty : float, default=0.1
        alpha in units of alpha_max, so that one value suits targets and columns of any
        unit. Larger values keep fewer features; from 1 on, all weights are zero.
    tol : float, default=1e-6
        Scikit-learn's: target for the duality gap, in units of ||y - mean y||^2 / n.
    max_iter : int, default=10_000
        Limit on the rounds of coordinate descent.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        Features with non-zero weight, in order of decreasing |w|, ties by index. If w =
        0 is optimal, as for a large penalty, the feature that first gets weight as the
        penalty decreases.
    weights_ : ndarray of shape (n_selected,)
        Ones.
    scores_ : ndarray of shape (n_features,)
        |w|.
    coef_ : ndarray of shape (n_features,)
        w.
    intercept_ : float
        b.
    alpha_, alpha_max_ : float
    objective_, gap_ : float
        The objective at w and b, and the share of it by which it may exceed the
        optimum, by scikit-learn's duality gap.
    n_iter_ : int
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if strings do not have two classes, numbers are all equal, a
        parameter is out of range, or no feature varies with the target.

    Warns
    -----
    ConvergenceWarning
        Scikit-learn's, if `tol` was not reached.
    UserWarning
        If w = 0 is optimal.

    Notes
    -----
    The target is treated as numbers, even if they are integers. Strings of two classes
    become -1 and 1, in sorted order.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import AtSize, LassoSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20))
    >>> y = 2 * X[:, 5] - X[:, 3] + 0.1 * rng.standard_normal(60)
    >>> LassoSelector(penalty=0.3).fit(X, y).indices_.tolist()
    [5, 3]
    >>> AtSize(LassoSelector(), 2).fit(X, y).indices_.tolist()
    [5, 3]

    References
    ----------
    Tibshirani (1996), Regression shrinkage and selection via the lasso, Journal of the
    Royal Statistical Society B 58.
    """

    algorithm_version = 1
    needs_labels: ClassVar[bool] = True
    size_range: ClassVar[SizeRange] = SizeRange("penalty", 1e-4, 0.99)

    def __init__(
        self, *, penalty: float = 0.1, tol: float = 1e-6, max_iter: int = 10_000
    ) -> None:
        self.penalty = penalty
        self.tol = tol
        self.max_iter = max_iter

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        check_positive("LassoSelector", penalty=self.penalty, tol=self.tol)
        check_integer("LassoSelector", "max_iter", self.max_iter, minimum=1)
        y, n = _numbers(view.y), view.n_samples
        X = (
            sparse.csc_array(view.X)
            if sparse.issparse(view.X)
            else np.asfortranarray(view.X)
        )
        X = X.astype(np.float64, copy=False)
        pull = np.abs(_pull(X, y - y.mean()))
        most = float(pull.max()) / n
        if not most > 0:
            raise ValueError(
                f"LassoSelector: expected at least one feature with non-zero weight, got none of {pull.size}; check "
                f"that some feature varies with the target."
            )
        alpha = float(self.penalty) * most
        model = Lasso(alpha, tol=float(self.tol), max_iter=int(self.max_iter)).fit(X, y)
        size, kept = by_total_weight(np.abs(model.coef_)[None, :])
        if kept.size == 0:
            kept = np.array([np.argmax(pull)])
            warnings.warn(
                f"LassoSelector: every weight is zero at penalty={self.penalty:g}; kept the feature that is the "
                f"first to get weight as penalty falls. Lower penalty.",
                UserWarning,
                stacklevel=4,
            )
        residual = y - model.predict(X)
        objective = float(residual @ residual) / (2 * n) + alpha * float(size.sum())
        return Selection.unweighted(
            kept,
            scores=size,
            coef=model.coef_,
            intercept=float(model.intercept_),
            alpha=alpha,
            alpha_max=most,
            objective=objective,
            gap=float(model.dual_gap_) / objective,
            n_iter=int(model.n_iter_),
        )


def _numbers(y: NDArray[Any] | None) -> NDArray[np.float64]:
    """Return y as float64, or -1 and 1 for strings of two classes; raise for other strings."""
    if y is None or isinstance(y[0], str):
        return signs_of_two_classes("LassoSelector", y)[1]
    return target_of("LassoSelector", y, "regression")[1]


def _pull(X: Any, y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the products of y, which sums to zero, with the centred columns of X, shape (d,)."""
    if sparse.issparse(X):
        return np.asarray(X.T @ y - X.mean(axis=0) * y.sum())
    return centred_columns(X).T @ y
