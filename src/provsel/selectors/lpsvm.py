"""Features with non-zero weight in a 1-norm linear-programming SVM."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from provsel.checks import check_positive
from provsel.kernels.lpsvm import LPSolution, lpsvm_highs
from provsel.kernels.lpsvm_columns import distinct_columns
from provsel.kernels.lpsvm_newton import lpsvm_newton
from provsel.kernels.lpsvm_published import lpsvm_published
from provsel.labels import by_total_weight, of_problems, one_against_rest
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
"""Reached the optimum faster than Newton's method in all measurements (bench_lpsvm of experiments/benchmarks)."""

MAX_ITER = {"highs": 1_000_000, "newton": 3_000, PUBLISHED: None}


class LPSVMSelector(BaseSelector):
    r"""Keep the features with non-zero weight in a linear-programming SVM; it chooses how many.

    Use it for very sparse selections. To get exactly r features wrap it in `AtSize`.

    For two classes, with labels y = -1 and +1 in sorted order of the labels,

        min ||w||_1 + nu sum(xi)   s.t.   y_i (x_i . w - gamma) + xi_i >= 1,   xi >= 0.

    With more classes each is separated from the rest, and a feature is kept if it has
    weight in any of these problems.

    The result is deterministic. If columns are multiples of each other, only the
    longest can be kept, and of equally long ones the first. Otherwise the optimal
    weights need not be unique. HiGHS returns a vertex with at most n non-zeros, always
    the same one for the same X and y.

    Parameters
    ----------
    nu : float, default=1.0
        Price of a unit of slack. Larger values keep more features.
    solver : {"auto", "highs", "newton", "as_published"}, default="auto"
        "highs" is the simplex method on the linear program; "newton" the paper's Newton
        method for the exterior penalty of the dual, with Armijo's rule and a decreasing
        penalty parameter. "auto" is "highs", which was faster in all measurements.
        "as_published" is the authors' iteration: one coarse penalty, full steps, at
        most 50 of them (1,000 for n >= d). If it converges, it solves another problem;
        usually it does not converge, and it keeps several times as many features.
        Parallel columns are all kept.
    tol : float, default=1e-6
        Largest relative duality gap without a warning; not for "as_published", which
        has its own rule.
    max_iter : int, default=None
        Limit on the simplex or Newton steps; None is 1,000,000 or 3,000, or the
        published limit.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        Features with non-zero weight, in order of decreasing |w|, summed over the
        problems. If w = 0 is optimal, as for small nu, the feature that gets weight
        first as nu grows.
    weights_ : ndarray of shape (n_selected,)
        Ones.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        w.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        -gamma: the decision is the sign of X w + intercept.
    classes_ : ndarray of shape (n_classes,)
    objective_ : float, or ndarray of shape (n_classes,) for more than two classes, as gap_, n_iter_ and converged_
        ||w||_1 + nu sum(xi).
    gap_ : float
        (objective - value of a feasible dual point) / objective: a certificate,
        regardless of the solver.
    n_iter_ : int
    converged_ : bool
        With "as_published" whether the gradient became as small as published, otherwise
        whether the gap is below `tol`.
    solver_ : str
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if there are fewer than two classes, a parameter is out of range, no
        feature differs between the classes, or the published iteration diverges.

    Warns
    -----
    ConvergenceWarning
        If the relative duality gap is above `tol`, or the published iteration ended at
        its limit.
    UserWarning
        If w = 0 is optimal; also for more than 20 different whole numbers with fewer
        than 5 rows each. Also for more than 50,000 rows, before it starts, because the
        program has a variable per row.

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
    Fung, Mangasarian (2004), A feature selection Newton method for support vector
    machine classification; Bradley, Mangasarian (1998), Feature selection via concave
    minimization and support vector machines.
    """

    algorithm_version = 1
    needs_labels: ClassVar[bool] = True
    classes_only: ClassVar[bool] = True
    size_range: ClassVar[SizeRange] = SizeRange("nu", 1e-6, 1e2)

    def __init__(
        self,
        *,
        nu: float = 1.0,
        solver: Literal["auto", "highs", "newton", "as_published"] = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
    ) -> None:
        self.nu = nu
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        solver, max_iter = self._checked_options()
        warn_of_many_rows(
            "LPSVMSelector",
            view.n_samples,
            "fit it on a sample of the rows, or take L1SVMSelector",
        )
        classes, problems = one_against_rest("LPSVMSelector", view.y)
        X = sparse.csc_array(view.X, dtype=np.float64, copy=True)
        X.sum_duplicates()
        X.eliminate_zeros()
        columns = (
            np.flatnonzero(np.diff(X.indptr))
            if solver == PUBLISHED
            else distinct_columns(X)
        )
        X = sparse.csc_array(X[:, columns])
        solutions = [self._solve(X, signs, solver, max_iter) for signs in problems]
        converged = [
            bool(
                solution.converged if solver == PUBLISHED else solution.gap <= self.tol
            )
            for solution in solutions
        ]
        if not all(converged):
            self._warn_early(solutions, converged, solver)
        coef = np.zeros((len(solutions), view.n_features))
        coef[:, columns] = [solution.w for solution in solutions]
        kept = by_total_weight(np.abs(coef))[1]
        if kept.size == 0:
            kept = columns[
                [self._first_to_enter(X, problems, solutions, view.n_features)]
            ]
        return Selection.unweighted(
            kept,
            classes=classes,
            coef=coef,
            intercept=np.array([-solution.gamma for solution in solutions]),
            objective=of_problems([solution.objective for solution in solutions]),
            gap=of_problems([solution.gap for solution in solutions]),
            n_iter=of_problems([solution.n_iter for solution in solutions]),
            converged=of_problems(converged),
            solver=solver,
        )

    def _solve(
        self,
        X: sparse.csc_array,
        signs: NDArray[np.float64],
        solver: str,
        max_iter: int | None,
    ) -> LPSolution:
        """Return the solution of one problem of two classes."""
        options: dict[str, Any] = {"tol": self.tol} if solver == "newton" else {}
        A = sparse.csc_array(X.multiply(signs[:, None]))
        try:
            return SOLVERS[solver](
                A, signs, float(self.nu), max_iter=max_iter, **options
            )
        except ArithmeticError as error:
            raise ValueError(
                f"LPSVMSelector: expected the published iteration to stay finite, got: {error}; use solver='highs'."
            ) from error

    def _warn_early(
        self, solutions: list[LPSolution], converged: list[bool], solver: str
    ) -> None:
        """Warn of the problem with the largest duality gap among those that did not converge."""
        worst = max(
            (
                solution
                for solution, ended in zip(solutions, converged, strict=True)
                if not ended
            ),
            key=lambda e: e.gap,
        )
        if solver == PUBLISHED:
            message = (
                f"LPSVMSelector: expected the published iteration to converge, got none after {worst.n_iter} steps, "
                f"with a relative duality gap of {worst.gap:.3g}; so it was published, solver='highs' is exact."
            )
        else:
            message = (
                f"LPSVMSelector: expected a relative duality gap of at most tol = {self.tol:g}, got {worst.gap:.3g} "
                f"after {worst.n_iter} steps of solver={solver!r}; raise max_iter, raise tol or take solver='highs'."
            )
        warnings.warn(message, ConvergenceWarning, stacklevel=5)

    def _first_to_enter(
        self,
        X: sparse.csc_array,
        problems: NDArray[np.float64],
        solutions: list[LPSolution],
        n_features: int,
    ) -> int:
        """Return the first column to get weight as nu grows, with a warning; raise if there is none."""
        duals = problems * np.array([solution.u for solution in solutions])
        pull, gap = (
            np.abs(X.T @ duals.T).max(axis=1, initial=0.0),
            max(solution.gap for solution in solutions),
        )
        if gap > self.tol or not pull.max(initial=0.0) > 0:
            advice = (
                "raise max_iter"
                if gap > self.tol
                else "check that some feature differs between the classes"
            )
            raise ValueError(
                f"LPSVMSelector: expected at least one feature with non-zero weight, got none of {n_features} "
                f"at nu={self.nu:g} with a relative duality gap of {gap:.3g}; {advice}."
            )
        warnings.warn(
            f"LPSVMSelector: every weight is zero at nu={self.nu:g}; kept the feature that is the first to get "
            f"weight as nu grows. Raise nu.",
            UserWarning,
            stacklevel=5,
        )
        return int(np.argmax(pull))

    def _checked_options(self) -> tuple[str, int | None]:
        """Return the solver and its limit of steps, which is None for the published solver, or raise."""
        check_positive("LPSVMSelector", nu=self.nu, tol=self.tol)
        if self.solver not in ("auto", *SOLVERS):
            raise ValueError(
                f"LPSVMSelector: expected solver to be one of {('auto', *SOLVERS)}, got {self.solver!r}."
            )
        solver = AUTO if self.solver == "auto" else self.solver
        limit = MAX_ITER[solver] if self.max_iter is None else self.max_iter
        if limit is None:
            return solver, None
        if (
            isinstance(limit, bool)
            or not isinstance(limit, int | np.integer)
            or limit < 1
        ):
            raise ValueError(
                f"LPSVMSelector: expected max_iter to be None or a positive integer, got {self.max_iter!r}."
            )
        return solver, int(limit)
