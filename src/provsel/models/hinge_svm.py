"""The linear SVM that compression approximates, with its duality gap."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from provsel.checks import check_positive
from provsel.kernels.hinge_dual import hinge_dual
from provsel.models._base import BaseBinarySVM


class HingeSVM(BaseBinarySVM):
    r"""Two-class linear SVM on all features, solved to a certified duality gap.

    Use it if the optimum itself matters; for classification, `LiblinearSVM` is faster.

        min_w (1/n) sum_i max(0, 1 - y_i <x_i, w>) + c ||w||^2

    `CompressedLinearSVM` approximates this problem, so this class is its reference: the
    same c, no intercept.

    Parameters
    ----------
    c : float, default=1e-4
        Weight of ||w||^2 relative to the mean hinge loss. In terms of a sum of losses,
        C = 1 / (2 c n).
    tol : float, default=1e-6
        Target for the relative duality gap.
    max_iter : int, default=500
        Limit on the Newton steps.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    coef_ : ndarray of shape (1, n_features)
    intercept_ : ndarray of shape (1,)
        Zero: the problem above has no intercept. Append a constant feature for a
        (penalised) one.
    dual_coef_ : ndarray of shape (n_samples,)
        y_i alpha_i, 0 <= alpha_i <= C.
    objective_, dual_objective_ : float
        Objectives at `coef_` and at alpha: the optimum lies between.
    gap_ : float
        (objective_ - dual_objective_) / objective_.
    n_features_in_ : int
        d.
    n_iter_ : int
        Newton steps taken.

    Raises
    ------
    ValueError
        From `fit`, if parameters are out of range, or there are more than two classes.

    Warns
    -----
    ConvergenceWarning
        If `gap_` stays above `tol`.

    Notes
    -----
    Nothing is random. Sparse rows stay sparse; float32 is solved in float64, which
    takes a copy. `kernels.hinge_dual` describes the algorithm and its memory.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.models import HingeSVM
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20))
    >>> y = np.where(X[:, 3] > 0, 1, -1)
    >>> HingeSVM(c=1e-3).fit(X, y).predict(X).shape
    (60,)

    References
    ----------
    Giesen, Laue, Mueller (2013), Compressing support vector machines, section 2.
    """

    algorithm_version = 1

    def __init__(
        self, c: float = 1e-4, *, tol: float = 1e-6, max_iter: int = 500
    ) -> None:
        self.c = c
        self.tol = tol
        self.max_iter = max_iter

    def _solve(self, X: Any, labels: NDArray[np.int64]) -> None:
        self._check()
        signs = self._signs(labels)
        solved = hinge_dual(
            X.astype(np.float64, copy=False),
            signs,
            self.c,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        if not solved.converged:
            warnings.warn(
                f"HingeSVM: expected a relative duality gap of at most {self.tol:g}, got {solved.gap:.2g} after "
                f"{solved.n_iter} Newton steps; scale the features, or raise c, tol or max_iter.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.coef_, self.intercept_ = solved.w[None, :], np.zeros(1)
        self.dual_coef_ = signs * solved.alpha
        self.objective_, self.dual_objective_, self.gap_ = (
            solved.primal,
            solved.dual,
            solved.gap,
        )
        self.n_iter_ = solved.n_iter

    def _check(self) -> None:
        check_positive("HingeSVM", c=self.c, tol=self.tol)
        if (
            isinstance(self.max_iter, bool)
            or not isinstance(self.max_iter, int | np.integer)
            or self.max_iter < 1
        ):
            raise ValueError(
                f"HingeSVM: expected max_iter to be a positive integer, got {self.max_iter!r}."
            )
