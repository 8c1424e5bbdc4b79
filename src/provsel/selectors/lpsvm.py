"""Features with non-zero weight in a 1-norm linear-programming SVM."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import ClassifierTags

from provsel.kernels.lpsvm import LPSolution, lpsvm_highs
from provsel.kernels.lpsvm_columns import distinct_columns
from provsel.kernels.lpsvm_newton import lpsvm_newton
from provsel.kernels.lpsvm_published import lpsvm_published
from provsel.labels import signs_of_two_classes
from provsel.models._base import warn_of_many_rows
from provsel.selectors._base import BaseSelector, Selection
from provsel.selectors._size_search import SizeRange
from provsel.training_view import TrainingView

PUBLISHED = "as_published"
SOLVERS: dict[str, Callable[..., LPSolution]] = {
    "highs": lpsvm_highs,
    "newton": lpsvm_newton,
    PUBLISHED: lpsvm_published,
}
AUTO = "highs"
"""Faster to the optimum than Newton's method wherever both were measured (experiments/benchmarks/lpsvm.py)."""

MAX_ITER = {"highs": 1_000_000, "newton": 3_000, PUBLISHED: None}


class LPSVMSelector(BaseSelector):
    r"""Keep the features to which a linear-programming SVM gives weight; it chooses their number itself.

    Use it for very sparse selections of two classes; for exactly r features, within `AtSize`.

    For two classes, with labels y = -1 and +1 in sorted order of the labels,

        min ||w||_1 + nu sum(xi)   s.t.   y_i (x_i . w - gamma) + xi_i >= 1,   xi >= 0.

    Deterministic. Of columns that are multiples of each other only the longest can be kept, the first of
    equals. The optimal weights need not be unique otherwise: HiGHS returns a vertex, with at most n non-zeros,
    and the same one for the same X and y.

    Parameters
    ----------
    nu : float, default=1.0
        Price of a unit of slack. More features are kept as it grows.
    solver : {"auto", "highs", "newton", "as_published"}, default="auto"
        "highs" is the simplex method on the linear program; "newton" the paper's Newton method for the exterior
        penalty of the dual, with Armijo's rule and a decreasing penalty parameter. "auto" is "highs", which was
        faster wherever both were measured. "as_published" is the authors' iteration: one coarse penalty, full steps,
        at most 50 of them (1,000 for n >= d). It solves another problem where it converges, mostly does not, and keeps
        several times as many features; parallel columns are all kept.
    tol : float, default=1e-6
        Largest relative duality gap that passes without a warning; not of "as_published", which has its own rule.
    max_iter : int, default=None
        Limit of the simplex or Newton steps; None is 1,000,000 or 3,000, or what was published.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        Features with non-zero weight, in order of decreasing |w|. Where w = 0 is optimal, as for small nu, the
        one that gets weight first as nu grows.
    weights_ : ndarray of shape (n_selected,)
        Ones.
    coef_ : ndarray of shape (1, n_features)
        w.
    intercept_ : ndarray of shape (1,)
        -gamma: the decision is the sign of X w + intercept.
    classes_ : ndarray of shape (2,)
    objective_ : float
        ||w||_1 + nu sum(xi).
    gap_ : float
        (objective - value of a feasible dual point) / objective: a certificate, whatever the solver did.
    n_iter_ : int
    converged_ : bool
        With "as_published" whether the gradient became as small as published, otherwise whether the gap is below `tol`.
    solver_ : str
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, when there are not two classes, a parameter is out of range, or no feature differs between
        the classes, or the published iteration diverges.

    Warns
    -----
    ConvergenceWarning
        When the relative duality gap is above `tol`, or the published iteration ended at its limit.
    UserWarning
        When w = 0 is optimal. For more than 50,000 rows, before it starts: the program has a variable for each.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import LPSVMSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20))
    >>> y = np.where(X[:, 3] > 0, 1, -1)
    >>> LPSVMSelector(nu=0.05).fit(X, y).indices_.tolist()
    [3]

    References
    ----------
    Fung, Mangasarian (2004), A feature selection Newton method for support vector machine classification;
    Bradley, Mangasarian (1998), Feature selection via concave minimization and support vector machines.
    """

    algorithm_version = 1
    needs_labels: ClassVar[bool] = True
    size_range: ClassVar[SizeRange] = SizeRange("nu", 1e-6, 1e2)

    def __init__(
        self,
        *,
        nu: float = 1.0,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
    ) -> None:
        self.nu = nu
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        solver, max_iter = self._checked_options()
        warn_of_many_rows("LPSVMSelector", view.n_samples, "fit it on a sample of the rows, or take L1SVMSelector")
        classes, signs = signs_of_two_classes("LPSVMSelector", view.y)
        X = sparse.csc_array(view.X, dtype=np.float64, copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        kept = np.flatnonzero(np.diff(X.indptr)) if solver == PUBLISHED else distinct_columns(X)
        A = sparse.csc_array(X[:, kept].multiply(signs[:, None]))
        options: dict[str, Any] = {"tol": self.tol} if solver == "newton" else {}
        try:
            found = SOLVERS[solver](A, signs, float(self.nu), max_iter=max_iter, **options)
        except ArithmeticError as error:
            raise ValueError(
                f"LPSVMSelector: expected the published iteration to stay finite, got: {error}; take solver='highs'."
            ) from error
        converged = found.converged if solver == PUBLISHED else found.gap <= self.tol
        if solver == PUBLISHED and not converged:
            warnings.warn(
                f"LPSVMSelector: expected the published iteration to converge, got none after {found.n_iter} steps, "
                f"with a relative duality gap of {found.gap:.3g}; so it was published, solver='highs' is exact.",
                ConvergenceWarning,
                stacklevel=4,
            )
        elif not converged:
            warnings.warn(
                f"LPSVMSelector: expected a relative duality gap of at most tol = {self.tol:g}, got {found.gap:.3g} "
                f"after {found.n_iter} steps of solver={solver!r}; raise max_iter, raise tol or take solver='highs'.",
                ConvergenceWarning,
                stacklevel=4,
            )
        coef = np.zeros((1, view.n_features))
        coef[0, kept] = found.w
        support = np.flatnonzero(coef[0])
        if support.size == 0:
            support = kept[[self._first_to_enter(A, found, view.n_features)]]
        return Selection.unweighted(
            support[np.argsort(-np.abs(coef[0, support]), kind="stable")],
            classes=classes,
            coef=coef,
            intercept=np.array([-found.gamma]),
            objective=found.objective,
            gap=found.gap,
            n_iter=found.n_iter,
            converged=bool(converged),
            solver=solver,
        )

    def _first_to_enter(self, A: sparse.csc_array, found: LPSolution, n_features: int) -> int:
        """Return the column that gets weight first as nu grows, with a warning; raise where there is none."""
        pull = np.abs(A.T @ found.u)
        if found.gap > self.tol or not pull.max(initial=0.0) > 0:
            advice = "raise max_iter" if found.gap > self.tol else "check that some feature differs between the classes"
            raise ValueError(
                f"LPSVMSelector: expected at least one feature with non-zero weight, got none of {n_features} "
                f"at nu={self.nu:g} with a relative duality gap of {found.gap:.3g}; {advice}."
            )
        warnings.warn(
            f"LPSVMSelector: every weight is zero at nu={self.nu:g}; kept the one feature that gets weight first as nu "
            f"grows. Raise nu.",
            UserWarning,
            stacklevel=5,
        )
        return int(np.argmax(pull))

    def _checked_options(self) -> tuple[str, int | None]:
        """Return the solver and its limit of steps, None for the published one, or raise."""
        for name in ("nu", "tol"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0 < value < np.inf:
                raise ValueError(f"LPSVMSelector: expected a positive, finite {name}, got {value!r}.")
        if self.solver not in ("auto", *SOLVERS):
            raise ValueError(f"LPSVMSelector: expected solver in {('auto', *SOLVERS)}, got {self.solver!r}.")
        solver = AUTO if self.solver == "auto" else self.solver
        limit = MAX_ITER[solver] if self.max_iter is None else self.max_iter
        if limit is None:
            return solver, None
        if isinstance(limit, bool) or not isinstance(limit, int | np.integer) or limit < 1:
            raise ValueError(f"LPSVMSelector: expected max_iter None or a positive integer, got {self.max_iter!r}.")
        return solver, int(limit)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags
