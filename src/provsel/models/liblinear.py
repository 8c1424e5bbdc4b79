"""Linear SVM solved by LIBLINEAR's dual coordinate descent, repeatable bit for bit."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from provsel.checks import check_positive
from provsel.models._base import BaseLinearSVM
from provsel.models._liblinear_library import liblinear_version, train_liblinear

SOLVERS = {"squared_hinge": 1, "hinge": 3}
"""LIBLINEAR's -s: L2-regularised, dual."""


class LiblinearSVM(BaseLinearSVM):
    """Linear L2-regularised SVM by LIBLINEAR, dual form; several classes are each trained against the rest.

    Use it for many rows and features, especially sparse ones.

    The solver of the large-scale experiments of Paul et al. (2016): L2 loss in the dual
    (`-s 1`), C = 10. LIBLINEAR shuffles with the C library's `rand()` and never seeds
    it, so two calls in one process would differ. Here it is seeded before each fit, so
    a fit depends on nothing but its arguments. The whole process shares `rand()`, so
    fits in several threads wait for each other.

    The authors' package liblinear-official is used if it is installed, except on
    Windows. Otherwise scikit-learn's copy of LIBLINEAR solves the same problem to the
    same tolerance, with other random numbers.

    Parameters
    ----------
    C : float, default=10.0
        Weight of the sum of losses.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        Squared hinge loss, or hinge loss.
    fit_intercept : bool, default=False
        Append a constant feature (penalised, LIBLINEAR's `-B 1`); LIBLINEAR's default,
        and the paper's, is none.
    tol : float, default=0.1
        LIBLINEAR's `-e`; 0.1 is its own default for the dual solvers.
    random_state : int, default=1
        Seed of `rand()`; 1 is the seed of an unseeded program in the C standard.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_features) for two classes, otherwise (n_classes, n_features)
    intercept_ : ndarray of shape (1,) or (n_classes,)

    Warns
    -----
    UserWarning
        From the first `fit`, if scikit-learn's LIBLINEAR is used.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.models import LiblinearSVM
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20))
    >>> y = np.where(X[:, 3] > 0, 1, -1)
    >>> LiblinearSVM(C=10.0).fit(X, y).coef_.shape
    (1, 20)

    References
    ----------
    Fan, Chang, Hsieh, Wang, Lin (2008), LIBLINEAR.
    """

    algorithm_version = liblinear_version(1)

    def __init__(
        self,
        C: float = 10.0,
        *,
        loss: Literal["squared_hinge", "hinge"] = "squared_hinge",
        fit_intercept: bool = False,
        tol: float = 0.1,
        random_state: int = 1,
    ) -> None:
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.random_state = random_state

    def _solve(self, X: Any, labels: NDArray[np.int64]) -> None:
        if self.loss not in SOLVERS:
            raise ValueError(
                f"LiblinearSVM: expected loss to be one of {sorted(SOLVERS)}, got {self.loss!r}."
            )
        check_positive("LiblinearSVM", C=self.C, tol=self.tol)
        bias = 1 if self.fit_intercept else -1
        self.coef_, self.intercept_ = train_liblinear(
            "LiblinearSVM", X, labels, solver=SOLVERS[self.loss], C=self.C, tol=self.tol, seed=int(self.random_state),
            bias=bias,
        )  # fmt: skip
