"""Linear SVM that chooses its features by a weight on each, jointly with its coefficients."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_consistent_length, column_or_1d

from provsel.kernels.feature_selective import largest_c1
from provsel.kernels.feature_selective_fit import fit_feature_selective
from provsel.labels import check_several
from provsel.models._base import BaseBinarySVM
from provsel.validation import CheckedSelectorMixin, as_generator, checked_array


class FeatureSelectiveSVM(CheckedSelectorMixin, BaseBinarySVM):
    r"""Two-class linear SVM with feature weights mu in [0, 1]; features with mu = 0 are dropped.

    Use it to select few features with the classifier that is also the final model.

        min over mu, w   (1/n) sum_i max(0, 1 - y_i <Phi_i, D(f) w>) + c2 ||w||^2 + c1 ||mu||_1

    - `form="kernel_weights"`: f = sqrt(mu), so that mu_j weights the rank-one kernel of
      feature j. Convex: in v = D(f) w the penalty is 2 sqrt(c1 c2) |v_j| up to |v_j| =
      sqrt(c1 / c2), and c2 v_j^2 + c1 beyond. Solved with a duality gap as certificate.
    - `form="as_printed"`: f = mu, so that the kernels' weights are mu_j^2. The penalty
      grows like |v_j|^(2/3); not convex. Alternating minimisation from several starts:
      a local optimum, at best.

    Compressed, with `n_components` = l, D(f) w is D(f) Lambda^T w_bar with a Gaussian
    Lambda, shape (l, m), and the penalty is c2 ||w_bar||^2. Neither form is then
    convex; both are solved by alternating between w_bar, an SVM, and f. As printed,
    that is a linear program, with sparse solutions; with weights on the kernels it is a
    quadratic program with the price c1 ||f||^2. The derivative of this price is 0 at 0,
    so that only about half of the mu become zero.

    Parameters
    ----------
    c1 : float, default=1e-3
        Price of a feature in full use, in units of the mean hinge loss. From `c1_max`
        on, no feature is used.
    c2 : float, default=1e-4
        Weight of ||w||^2.
    form : {"kernel_weights", "as_printed"}, default="kernel_weights"
        Whether the weights mu multiply the kernels, or the features as in the printed
        problem; see above.
    n_components : int, default=None
        l; None does not compress. Lambda is kept in memory during the fit, 8 l m bytes.
    variance : {"1/m", "1/l"}, default="1/m"
        Variance of the entries of Lambda; the first is the printed one, and keeps the
        length of Lambda^T w_bar, the only recovery here. No effect without compression.
    n_starts : int, default=3
        Used if the problem is not convex: mu = 1, then the solution of the convex form
        unless compressed, then uniformly random mu. The best end point is returned, or
        w = 0 if that is better than all.
    tol : float, default=1e-6
        Target for the relative duality gap; if the problem is not convex, the share of
        the objective by which a round must lower it for another to follow.
    max_iter : int, default=None
        Limit on the steps of the interior point method (None is 1000), or on the rounds
        of a start (None is 100).
    relative : bool, default=False
        c1 in units of `c1_max` and c2 in units of the mean ||Phi_i||^2 of the training
        rows. The fit is then the same for s Phi, and the same c1 from 0 to 1 suits all
        data: from 1 on, form="kernel_weights" keeps nothing.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the starts and of Lambda.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    mu_ : ndarray of shape (n_features,)
    coef_ : ndarray of shape (1, n_features)
        v: the effective weights on the original features, compressed or not.
    intercept_ : ndarray of shape (1,)
        Zero: the problem above has no intercept. Append a constant feature for a
        (penalised) one.
    indices_ : ndarray of shape (n_selected,), int64
        Features with mu > 0, in order of decreasing mu, ties by index. If all are zero,
        the one that gets weight first as c1 falls.
    w_ : ndarray of shape (n_features,)
        w, or Lambda^T w_bar, before the weights: `coef_` is w_ times mu_ or its root.
    compressed_coef_ : ndarray of shape (l,) or None
        w_bar.
    objective_ : float
        Value of the problem above over the training rows, with ||w_bar||^2 if
        compressed.
    dual_objective_, gap_ : float
        A lower bound on the optimum, and (objective_ - dual_objective_) / objective_: a
        certificate, regardless of the solver. NaN if the problem is not convex.
    start_objectives_ : ndarray of shape (n_starts + 1,) or (1,)
        Final objective of each start, the last for w = 0; the convex problem has only
        one.
    n_iter_ : int
    c1_, c2_ : float
        The prices, if they were given in relative units.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if labels do not have two classes, a parameter is out of range, or
        no feature differs between the classes.

    Warns
    -----
    ConvergenceWarning
        If `tol` was not reached.
    UserWarning
        If every weight is zero.

    Notes
    -----
    Equal columns get equal weights in the convex form. As printed, w = 0 is a local
    optimum for every c1.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.models import FeatureSelectiveSVM
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20))
    >>> y = np.where(X[:, 3] > 0, 1, -1)
    >>> bool(3 in FeatureSelectiveSVM(c1=1e-2, c2=1e-2).fit(X, y).indices_)
    True

    References
    ----------
    Giesen, Laue, Mueller (2013), Compressing support vector machines, section 4.
    """

    algorithm_version = 1

    def __init__(
        self,
        *,
        c1: float = 1e-3,
        c2: float = 1e-4,
        form: Literal["kernel_weights", "as_printed"] = "kernel_weights",
        n_components: int | None = None,
        variance: Literal["1/m", "1/l"] = "1/m",
        n_starts: int = 3,
        tol: float = 1e-6,
        max_iter: int | None = None,
        relative: bool = False,
        random_state: Any = None,
    ) -> None:
        self.c1 = c1
        self.c2 = c2
        self.form = form
        self.n_components = n_components
        self.variance = variance
        self.n_starts = n_starts
        self.tol = tol
        self.max_iter = max_iter
        self.relative = relative
        self.random_state = random_state

    @property
    def is_random(self) -> bool:
        """Whether the problem has random starts or a random matrix; the convex form has neither."""
        return self.form != "kernel_weights" or self.n_components is not None

    def _solve(self, X: Any, labels: NDArray[np.int64]) -> None:
        signs = self._signs(labels)
        options = self.get_params(deep=False)
        rng = as_generator(options.pop("random_state"))
        fit = fit_feature_selective(type(self).__name__, X, signs, rng, **options)
        for name, value in fit._asdict().items():
            setattr(self, f"{name}_", value)
        self.coef_, self.intercept_ = fit.coef[None, :], np.zeros(1)

    @staticmethod
    def c1_max(X: Any, y: Any, c2: float) -> float:
        """Return the smallest c1 with which form="kernel_weights" drops all features of X, shape (n, m).

        max_j |Phi_j^T y / n|^2 / (4 c2), with y of shape (n,), two classes.
        """
        X, y = checked_array("c1_max", X, dtype=np.float64), column_or_1d(y)
        check_consistent_length(X, y)
        if not 0 < c2 < np.inf:
            raise ValueError(f"c1_max: expected a positive, finite c2, got {c2!r}.")
        classes = np.unique(y)
        check_several("c1_max", classes)
        if classes.size > 2:
            raise ValueError(
                f"c1_max: expected labels of two classes, got {classes.size}; pass the rows of two classes."
            )
        X = sparse.csr_array(X) if sparse.issparse(X) else X
        return largest_c1(X, np.where(y == classes[1], 1.0, -1.0), c2)
