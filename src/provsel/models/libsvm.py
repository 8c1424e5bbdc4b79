"""Linear C-SVM solved by LIBSVM, on the Gram matrix if there are fewer rows than columns."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.svm import SVC
from sklearn.utils import compute_class_weight

from provsel.kernels.spectral import gram_matrix
from provsel.models._base import BaseLinearSVM, warn_of_many_rows
from provsel.models._libsvm_library import (
    MAX_ITER,
    GramSolution,
    checked_max_iter,
    fit_gram,
    fit_svc,
    warn_early,
)


class LibsvmSVM(BaseLinearSVM):
    """Linear soft-margin SVM by LIBSVM: hinge loss, intercept not penalised, several classes one against one.

    Use it for a few thousand rows of many features.

    The solver of the medium-scale experiments of Paul et al. (2016). For two classes
    and n < d it works on the n x n Gram matrix. BLAS computes it once, instead of row
    by row in LIBSVM's kernel cache. With several classes, ties in votes go to the
    larger sum of decision values (scikit-learn's `break_ties=True`), not to the first
    class.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the sum of slacks.
    class_weight : dict, "balanced" or None, default=None
        Factors of C by class; 1 for classes left out. "balanced" is n / (k n_class) for
        the n_class rows of each of k classes. As in scikit-learn.
    tol : float, default=1e-3
        LIBSVM's stopping tolerance, in units of y f(x).
    max_iter : int, default=1_000_000_000
        Limit on LIBSVM's iterations for each problem of two classes: some minutes for a
        few hundred rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_features) for two classes, otherwise (n_classes (n_classes - 1) / 2, n_features)
    intercept_ : ndarray of shape (1,) or (n_classes (n_classes - 1) / 2,)
    support_ : ndarray of shape (p,), int64
        Rows with a non-zero dual variable.
    dual_coef_ : ndarray of shape (n_classes - 1, p)
        y_i alpha_i of the support vectors.
    n_iter_ : ndarray of shape (n_classes (n_classes - 1) / 2,)
        LIBSVM's iterations.

    Warns
    -----
    ConvergenceWarning
        If LIBSVM stopped at `max_iter`, as on columns of very different scales.
    UserWarning
        For more than 50,000 rows, before the first iteration: the time grows at least
        with the square of their number, to hours. scikit-learn's
        `LinearSVC(dual=False)` takes seconds then, also as the `svm` of
        `OnSupportVectors`.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.models import LibsvmSVM
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20))
    >>> y = np.where(X[:, 3] > 0, 1, -1)
    >>> LibsvmSVM(C=1.0).fit(X, y).coef_.shape
    (1, 20)

    References
    ----------
    Chang, Lin (2011), LIBSVM.
    """

    algorithm_version = 1

    def __init__(
        self,
        C: float = 1.0,
        *,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        tol: float = 1e-3,
        max_iter: int = MAX_ITER,
    ) -> None:
        self.C = C
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter

    def class_weights(self, labels: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the factor of C of each class, numbered as in `labels`; a mapping has the labels of `fit` as keys."""
        classes = getattr(self, "classes_", np.unique(labels))
        # scikit-learn's checks of arguments take as long as a small fit
        if self.class_weight is None:
            return np.ones(classes.size)
        return compute_class_weight(
            self.class_weight, classes=classes, y=classes[labels]
        )

    def _solve(self, X: Any, labels: NDArray[np.int64]) -> None:
        max_iter, weights = checked_max_iter(self.max_iter), self.class_weights(labels)
        warn_of_many_rows(
            "LibsvmSVM",
            X.shape[0],
            "scikit-learn's LinearSVC(dual=False) is for many rows",
        )
        if self.classes_.size == 2 and X.shape[0] < X.shape[1]:
            solution = fit_gram(
                gram_matrix(X),
                labels,
                C=self.C,
                tol=self.tol,
                max_iter=max_iter,
                weights=weights,
            )
            self.coef_ = np.asarray(
                solution.dual_coef @ X[solution.support], dtype=np.float64
            ).reshape(1, -1)
        else:
            of_class = dict(enumerate(weights.tolist()))
            svc = SVC(
                kernel="linear",
                C=self.C,
                tol=self.tol,
                max_iter=max_iter,
                class_weight=of_class,
            )
            fit_svc(svc, X, labels)
            self.coef_ = _dense(svc.coef_)
            solution = GramSolution(
                svc.support_, _dense(svc.dual_coef_), svc.intercept_, svc.n_iter_
            )
        self.n_iter_ = solution.n_iter
        if solution.n_iter.max() >= max_iter:
            warn_early("LibsvmSVM", "", max_iter)
        self.intercept_, self.dual_coef_ = solution.intercept, solution.dual_coef
        self.support_ = solution.support.astype(np.int64)

    def _combine(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        votes = np.zeros((values.shape[0], self.classes_.size))
        confidence = np.zeros_like(votes)
        for column, (i, j) in zip(
            values.T, combinations(range(self.classes_.size), 2), strict=True
        ):
            votes[:, i] += column > 0
            votes[:, j] += column <= 0
            confidence[:, i] += column
            confidence[:, j] -= column
        # equal votes are decided by the sum of decision values, squeezed below one vote
        return votes + confidence / (3 * (np.abs(confidence) + 1))


def _dense(matrix: Any) -> NDArray[np.float64]:
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)
