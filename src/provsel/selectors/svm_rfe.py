"""Recursive feature elimination with a linear SVM, or with ridge regression for numbers."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.svm import LinearSVC

from provsel.kernels.elimination import (
    RemainingColumns,
    best,
    by_importance,
    elimination_sizes,
)
from provsel.labels import target_of
from provsel.models._liblinear_library import liblinear_version
from provsel.models._libsvm_library import checked_max_iter, fit_gram, warn_early
from provsel.models.liblinear import LiblinearSVM
from provsel.selectors._base import BaseSelector, Selection, checked_count
from provsel.training_view import TrainingView

TOLERANCES = {
    "libsvm": 1e-3,
    "liblinear": 0.1,
    "liblinear_primal": 0.01,
    "ridge": 1e-10,
}
SOLVERS = ("auto", *TOLERANCES)

GRAM_ROWS = 2_000
"""Up to this many rows "auto" is LIBSVM on the n x n Gram matrix (32 MB)."""

PRIMAL_ROWS, PRIMAL_RATIO = 50_000, 100
"""Beyond this many rows, and this many times the features, "auto" is LIBLINEAR in the primal. At 100,000 x 100 the dual
solver takes minutes, because it sweeps over the rows repeatedly. Newton's method in the primal takes a second.
"""

DENSE_ENTRIES = 10_000_000
"""Ridge regression makes sparse columns of up to this many entries dense (80 MB): a factorisation is exact, and faster
than conjugate gradients, which do not end if columns have very different scales.
"""

MILD = 1e8
"""Largest condition number of X X^T + alpha I with which it is solved, to some eight digits. It is larger for wide rows
with a column of another scale. Singular values, which are ten times slower, then preserve small parts.
"""

NEAR = 1e-6
"""Largest partial derivative that conjugate gradients may leave without a warning, relative to the largest at w = 0."""

SHARED_ROUNDS = 128
"""Each fit computes a path with more rounds itself, because sharing it would store d numbers per round."""


class SVMRFESelector(BaseSelector):
    r"""Train a linear SVM, drop the features of smallest abs(w), and repeat until r remain.

    Use it as the strong baseline with labels, without a guarantee, if many fits are affordable. For a numeric target
    the model is ridge regression, min ||w||^2 / 2 + C ||r||^2.

    Features with equal abs(w), such as copies of a column, are kept lowest index first.
    With several classes, the importance of a feature is the sum of w^2 over the binary
    problems, as in scikit-learn's `RFE` (one against one with LIBSVM, one against the
    rest with LIBLINEAR).

    Fits on one view with different r share all rounds except the last.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of features r that remain.
    step : int or float, default=0.1
        Features to drop per round, or the fraction in (0, 1) of the *remaining*
        features, rounded down, at least 1; never below r. (A fraction is one of all d
        features in scikit-learn's `RFE`.)
    C : float, default=1.0
        Weight of the sum of losses. For numbers, the weight of the squared residuals:
        scikit-learn's `Ridge(alpha=1 / (2 C))`, with an intercept that is not
        penalised.
    task : {"auto", "classification", "regression"}, default="auto"
        Kind of the target. "auto" means regression for numbers that are not all
        integers, and classification for integers and strings, as in scikit-learn's
        `type_of_target`. It raises an error for integers with very many distinct
        values.
    solver : {"auto", "libsvm", "liblinear", "liblinear_primal", "ridge"}, default="auto"
        "libsvm": hinge loss, intercept not penalised, on the n x n Gram matrix of the
        remaining columns, which takes n^2 memory. "liblinear": squared hinge loss, no
        intercept, on the (sparse) columns, for many rows, solved in the dual;
        "liblinear_primal" is the same in the primal, for n >> d. Hinge and squared
        hinge are different models and select different features. "auto" is "libsvm" for
        n <= 2000, "liblinear_primal" for n > 50,000 and n > 100 d, and otherwise
        "liblinear". In the primal, 20 of 100 features of a million rows take some 150
        seconds. For numbers, and only for them, it is "ridge": a factorisation, or
        conjugate gradients for sparse X of more than ten million entries, zeros
        included.
    tol : float, default=None
        Stopping tolerance; None is the solver's own: 1e-3 for LIBSVM, 0.1 for
        LIBLINEAR's dual, 0.01 for its primal, 1e-10 for the conjugate gradients.
    max_iter : int, default=1_000_000
        Limit on LIBSVM's iterations in each round, for each problem of two classes.
        LIBLINEAR has its own.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        Kept features, in order of decreasing importance in the last model that was
        trained.
    weights_ : ndarray of shape (n_selected,)
        Ones.
    ranking_ : ndarray of shape (n_features,), int64
        1 for kept features, 2 for those dropped in the last round, and so on.
    n_rounds_ : int
        Number of models trained.
    n_iter_ : int
        The most iterations that LIBSVM needed for a problem of two classes in any
        round; 0 with LIBLINEAR, 1 with ridge.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if labels are missing or have a single class, numbers are all equal,
        step, C, task, solver, tol or max_iter is out of range, the solver is for the
        other task, or a model has w = 0.

    Warns
    -----
    ConvergenceWarning
        If LIBSVM stopped at `max_iter` in some round, or conjugate gradients stopped
        early, as on columns of very different scales.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import SVMRFESelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20))
    >>> y = np.where(X[:, 3] > 0, 1, -1)
    >>> SVMRFESelector(1).fit(X, y).indices_.tolist()
    [3]
    >>> SVMRFESelector(2).fit(X, 2 * X[:, 5] - X[:, 3]).indices_.tolist()
    [5, 3]

    References
    ----------
    Guyon, Weston, Barnhill, Vapnik (2002); Paul, Magdon-Ismail, Drineas (2016), section
    6.1.3.
    """

    algorithm_version = liblinear_version(1)
    needs_labels: ClassVar[bool] = True

    def __init__(
        self,
        n_features_to_select: int | float,
        *,
        step: int | float = 0.1,
        C: float = 1.0,
        task: Literal["auto", "classification", "regression"] = "auto",
        solver: Literal[
            "auto", "libsvm", "liblinear", "liblinear_primal", "ridge"
        ] = "auto",
        tol: float | None = None,
        max_iter: int = 1_000_000,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.step = step
        self.C = C
        self.task = task
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        r = checked_count(self, view.n_features)
        classes, target = target_of("SVMRFESelector", view.y, self.task)
        step, C, solver, tol = _checked_options(
            self, view.n_samples, view.n_features, is_ridge=classes is None
        )
        max_iter = checked_max_iter(self.max_iter)
        trainer = _Trainer(view, target, solver, C, tol, max_iter)
        sizes = elimination_sizes(view.n_features, r, step)
        ranking = np.ones(view.n_features, dtype=np.int64)
        last: _Round | None = None
        n_iter, worst = np.zeros(len(sizes), dtype=np.int64), 0.0
        kept = np.arange(view.n_features)
        for k, left in enumerate([*sizes[1:], r]):
            compute = partial(trainer.train, last, kept)
            name = f"rfe C={C!r} step={step!r} {solver} tol={tol!r} max_iter={max_iter} round {k}"
            # the training set of a round does not depend on r, but the cut does
            trained = (
                view.shared(name, compute) if len(sizes) <= SHARED_ROUNDS else compute()
            )
            if last is not None:
                last.columns = None
            last, kept = trained, best(trained.importances, left)
            n_iter[k], worst = trained.n_iter, max(worst, trained.gradient)
            ranking[trained.features] = len(sizes) - k + 1
            ranking[trained.features[kept]] = 1
        n_early = np.count_nonzero(n_iter >= max_iter) if solver == "libsvm" else 0
        if n_early:
            warn_early(
                "SVMRFESelector", f" in {n_early} of {len(sizes)} rounds", max_iter
            )
        if worst > NEAR:
            warnings.warn(
                f"SVMRFESelector: expected conjugate gradients to leave a relative gradient of at most {NEAR:g}, got "
                f"{worst:.1g}; scale the columns to one range.",
                ConvergenceWarning,
                stacklevel=4,
            )
        order = kept[by_importance(trained.importances[kept])]
        return Selection.unweighted(
            trained.features[order],
            ranking=ranking,
            n_rounds=len(sizes),
            n_iter=int(n_iter.max()),
        )


@dataclass
class _Round:
    """One trained round.

    Attributes
    ----------
    features : ndarray of shape (m,), int64
        The features it was trained on, increasing.
    importances : ndarray of shape (m,)
        abs(w), or the norm of w over the binary problems.
    columns : RemainingColumns or ndarray or CSR of shape (n, m), or None
        Gram matrix of these features, needed only by the next round and then freed.
    n_iter : int
        LIBSVM's iterations, see `n_iter_`.
    gradient : float
        Relative gradient left by conjugate gradients, see `NEAR`; 0 with other solvers.
    """

    features: NDArray[np.int64]
    importances: NDArray[np.float64]
    columns: Any
    n_iter: int = 0
    gradient: float = 0.0


@dataclass(frozen=True)
class _Trainer:
    """Trains the rounds of one path.

    Attributes
    ----------
    target : ndarray of shape (n_samples,)
        Class numbers, int64, or the target of ridge regression, float64.
    solver : {"libsvm", "liblinear", "liblinear_primal", "ridge"}
    """

    view: TrainingView
    target: NDArray[Any]
    solver: str
    C: float
    tol: float
    max_iter: int

    def train(self, previous: _Round | None, kept: NDArray[np.int64]) -> _Round:
        """Return the round on the features at the positions `kept` of the `previous` one, or on all."""
        if previous is None:
            features, columns = kept, self._all_columns()
        else:
            features = previous.features[kept]
            columns = (
                previous.columns.only(kept)
                if self.solver == "libsvm"
                else previous.columns[:, kept]
            )
        solve = {"libsvm": self._libsvm, "ridge": self._ridge}.get(
            self.solver, self._liblinear
        )
        binary, how = solve(columns)
        # the norm over one problem is abs(w)
        importances = (
            np.abs(binary[0]) if len(binary) == 1 else np.sqrt((binary**2).sum(axis=0))
        )
        if previous is None and not importances.any():
            raise ValueError(
                f"SVMRFESelector: expected a model with a non-zero weight, got w = 0 on all {kept.size} features; "
                f"check that X is not all zeros and that its rows differ with the target."
            )
        return _Round(features, importances, columns, **how)

    def _all_columns(self) -> Any:
        if self.solver == "libsvm":
            return RemainingColumns.of(self.view.X, self.view.gram())
        if self.solver == "liblinear_primal":
            return self.view.X
        if self.solver == "ridge":
            return self.view.X.astype(np.float64, copy=False)
        return sparse.csr_matrix(self.view.X, dtype=np.float64)

    def _liblinear(self, columns: Any) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """Return w of each binary problem, shape (n_problems, m), and other results of a round: no iterations here."""
        if self.solver == "liblinear_primal":
            svm = LinearSVC(dual=False, fit_intercept=False, C=self.C, tol=self.tol)
            return svm.fit(columns, self.target).coef_, {}
        return LiblinearSVM(C=self.C, tol=self.tol).fit(columns, self.target).coef_, {}

    def _ridge(self, columns: Any) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """Like `_liblinear`, for the single problem of regression, with the remaining gradient."""
        n_samples, n_features = columns.shape
        is_sparse = sparse.issparse(columns) and n_samples * n_features > DENSE_ENTRIES
        if sparse.issparse(columns) and not is_sparse:
            columns = columns.toarray()
        alpha = 0.5 / self.C
        # then "cholesky" factorises X X^T, otherwise X^T X, which scales do not harm
        by_rows = n_features > n_samples
        solver = "sparse_cg" if is_sparse else "cholesky"
        if by_rows and not is_sparse and np.linalg.norm(columns) ** 2 > MILD * alpha:
            solver = "svd"
        model = Ridge(alpha=alpha, solver=solver, tol=self.tol).fit(
            columns, self.target
        )
        gradient = 0.0
        if is_sparse:
            left = (
                columns.T @ (self.target - model.predict(columns)) - alpha * model.coef_
            )
            at_zero = float(
                np.abs(columns.T @ (self.target - self.target.mean())).max()
            )
            gradient = float(np.abs(left).max()) / at_zero if at_zero > 0 else 0.0
        return model.coef_[None, :], {"n_iter": 1, "gradient": gradient}

    def _libsvm(
        self, columns: RemainingColumns
    ) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """Like `_liblinear`, with the largest number of iterations.

        For each pair of classes i < j, the dual variables are in row j - 1 for i, and
        in row i for j.
        """
        svm = fit_gram(
            columns.gram, self.target, C=self.C, tol=self.tol, max_iter=self.max_iter
        )
        owner = self.target[svm.support]
        pairs = list(combinations(range(int(self.target.max()) + 1), 2))
        duals = np.zeros((len(pairs), self.target.size))
        for row, (i, j) in zip(duals, pairs, strict=True):
            row[svm.support] = np.where(owner == i, svm.dual_coef[j - 1], 0) + np.where(
                owner == j, svm.dual_coef[i], 0
            )
        return columns.weighted_sums(duals), {"n_iter": int(svm.n_iter.max())}


def _checked_options(
    selector: SVMRFESelector, n_samples: int, n_features: int, *, is_ridge: bool
) -> tuple[int | float, float, str, float]:
    """Return step, C, solver and tol as Python values, with "auto" and None resolved, or raise."""
    name, step, C, solver, tol = (
        type(selector).__name__,
        selector.step,
        selector.C,
        selector.solver,
        selector.tol,
    )
    whole = isinstance(step, Integral) and not isinstance(step, bool) and step >= 1
    part = (
        isinstance(step, Real)
        and not isinstance(step, Integral)
        and 0 < float(step) < 1
    )
    if not (whole or part):
        raise ValueError(
            f"{name}: expected step to be an integer >= 1, the number of features dropped in each round, or a "
            f"fraction in (0, 1) of "
            f"the "
            f"remaining features, got {step!r}."
        )
    if not _is_positive(C):
        raise ValueError(f"{name}: expected C to be positive and finite, got {C!r}.")
    if solver not in SOLVERS:
        raise ValueError(
            f"{name}: expected solver to be one of {SOLVERS}, got {solver!r}."
        )
    if solver != "auto" and (solver == "ridge") != is_ridge:
        allowed = (
            "'auto' or 'ridge' for numbers"
            if is_ridge
            else "other than 'ridge' for classes"
        )
        raise ValueError(
            f"{name}: expected solver {allowed}, got {solver!r}; change solver or task."
        )
    if tol is not None and not _is_positive(tol):
        raise ValueError(
            f"{name}: expected tol to be None or positive and finite, got {tol!r}."
        )
    if solver == "auto":
        primal = n_samples > max(PRIMAL_ROWS, PRIMAL_RATIO * n_features)
        solver = (
            "libsvm"
            if n_samples <= GRAM_ROWS
            else "liblinear_primal"
            if primal
            else "liblinear"
        )
        solver = "ridge" if is_ridge else solver
    if tol is None:
        tol = TOLERANCES[solver]
    return int(step) if whole else float(step), float(C), solver, float(tol)


def _is_positive(value: Any) -> bool:
    return (
        isinstance(value, Real)
        and not isinstance(value, bool)
        and 0 < float(value) < math.inf
    )
