"""Features with non-zero weight in an L1-regularised linear SVM."""

from __future__ import annotations

import warnings
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from provsel.checks import check_positive
from provsel.labels import by_total_weight, of_problems, one_against_rest
from provsel.models._liblinear_library import liblinear_version, train_liblinear
from provsel.selectors._base import BaseSelector, Selection
from provsel.selectors._size_search import SizeRange
from provsel.training_view import TrainingView

L1R_L2LOSS_SVC = 5
"""LIBLINEAR's -s: L1-regularised squared hinge loss, by coordinate descent on w."""
SEED = 1
"""Seed of the C library's rand(): the one with which the C standard starts an unseeded program."""
TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5)
"""LIBLINEAR's -e, tried in this order, with its default first, until the gap is small enough. Starting with a small
tolerance can be worse: features that were set aside return only when the others meet it, and 1,000 rounds are the
limit."""


class L1SVMSelector(BaseSelector):
    r"""Keep the features with non-zero weight in an L1-regularised linear SVM; it chooses how many.

    Use it as the standard sparse linear classifier. To get exactly r features wrap it
    in `AtSize`; for a numeric target use `LassoSelector`.

    For two classes, with labels y = -1 and +1 in sorted order of the labels,

        min ||w||_1 + C sum_i max(0, 1 - y_i <x_i, w>)^2.

    With more classes each is separated from the rest, and a feature is kept if it has
    weight in any of these problems. There is no intercept, as in the feature-selective
    SVM. Append a constant feature for a (penalised) one.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the sum of losses. More features are kept as it grows.
    tol : float, default=1e-2
        Target for the relative duality gap. LIBLINEAR measures differently: it is run
        with `-e` 0.01, its default, then 0.001, and so on down to 1e-5 until the gap is
        met. For large C, from about 100 times the smallest that keeps a feature, 1,000
        rounds may be too few. Too many features are then kept, with a warning.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        Features with non-zero weight, in order of decreasing |w|, summed over the
        problems, ties by index. If w = 0 is optimal, as for small C, the feature that
        gets weight first as C grows.
    weights_ : ndarray of shape (n_selected,)
        Ones.
    scores_ : ndarray of shape (n_features,)
        |w|, summed over the problems.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        w.
    classes_ : ndarray of shape (n_classes,)
    objective_, gap_ : float, or ndarray of shape (n_classes,) for more than two classes
        The value of w, and the share of it by which it may exceed the optimum: a
        certificate, regardless of the solver.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if there are fewer than two classes, a parameter is out of range, or
        no feature differs between the classes.

    Warns
    -----
    ConvergenceWarning
        If the relative duality gap is above `tol`.
    UserWarning
        If scikit-learn's LIBLINEAR is used, see `LiblinearSVM`; if w = 0 is optimal;
        and for more than 20 different whole numbers with fewer than 5 rows each.

    Notes
    -----
    LIBLINEAR shuffles with the C library's `rand()`, which is seeded before each run: a
    fit depends only on its arguments. The whole process shares `rand()`, so fits in
    several threads wait for each other.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import L1SVMSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20))
    >>> y = np.where(X[:, 3] > 0, 1, -1)
    >>> L1SVMSelector(C=0.02).fit(X, y).indices_.tolist()
    [3]

    References
    ----------
    Fan, Chang, Hsieh, Wang, Lin (2008), LIBLINEAR; Yuan, Chang, Hsieh, Lin (2010), A
    comparison of optimization methods and software for large-scale L1-regularized
    linear classification.
    """

    algorithm_version = liblinear_version(1)
    needs_labels: ClassVar[bool] = True
    classes_only: ClassVar[bool] = True
    size_range: ClassVar[SizeRange] = SizeRange("C", 1e-6, 1e2)

    def __init__(self, *, C: float = 1.0, tol: float = 1e-2) -> None:
        self.C = C
        self.tol = tol

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        check_positive("L1SVMSelector", C=self.C, tol=self.tol)
        classes, problems = one_against_rest("L1SVMSelector", view.y)
        X = sparse.csr_matrix(view.X, dtype=np.float64)
        C, tol = float(self.C), float(self.tol)
        solved = [_solved(X, y, C, tol) for y in problems]
        gaps = [gap for _, gap in solved]
        if not max(gaps) <= tol:
            warnings.warn(
                f"L1SVMSelector: expected a relative duality gap of at most tol = {tol:g}, got {max(gaps):.3g} after "
                f"{len(TOLERANCES)} runs of LIBLINEAR; lower C, raise tol, or scale the features.",
                ConvergenceWarning,
                stacklevel=4,
            )
        coef = np.array([solution.w for solution, _ in solved])
        size, kept = by_total_weight(np.abs(coef))
        if kept.size == 0:
            kept = np.array([_first_to_enter(X, problems, C)])
        return Selection.unweighted(
            kept,
            scores=size,
            coef=coef,
            classes=classes,
            objective=of_problems([solution.objective for solution, _ in solved]),
            gap=of_problems(gaps),
        )


class _Certified(NamedTuple):
    """w of shape (d,), its value, and a lower bound on the optimum."""

    w: NDArray[np.float64]
    objective: float
    dual: float


def _certified(
    X: sparse.csr_matrix, y: NDArray[np.float64], w: NDArray[np.float64], C: float
) -> _Certified:
    """Return w with the value of the best multiple of the dual point given by its slacks.

    The dual: max over alpha >= 0 with |X^T (y alpha)| <= 1 of sum alpha - ||alpha||^2 /
    (4 C).
    """
    slack = np.maximum(0.0, 1.0 - y * (X @ w))
    objective = float(np.abs(w).sum() + C * slack @ slack)
    alpha = 2.0 * C * slack
    total, square = float(alpha.sum()), float(alpha @ alpha)
    if square == 0.0:  # no row has slack, and alpha = 0 gives the bound 0
        return _Certified(w, objective, 0.0)
    pull = float(np.abs(X.T @ (y * alpha)).max(initial=0.0))
    scale = min(2.0 * C * total / square, 1.0 / pull if pull > 0 else np.inf)
    return _Certified(w, objective, scale * total - scale**2 * square / (4.0 * C))


def _solved(
    X: sparse.csr_matrix, y: NDArray[np.float64], C: float, tol: float
) -> tuple[_Certified, float]:
    """Return the best w of runs with decreasing tolerances, and its relative duality gap."""
    solution = _certified(X, y, np.zeros(X.shape[1]), C)
    best = solution.dual
    for eps in () if _is_zero_optimal(X, y, C) else TOLERANCES:
        candidate = _certified(X, y, _liblinear(X, y, C, eps), C)
        best = max(best, candidate.dual)
        solution = candidate if candidate.objective < solution.objective else solution
        if solution.objective - best <= tol * solution.objective:
            break
    return solution, max(solution.objective - best, 0.0) / solution.objective


def _is_zero_optimal(X: sparse.csr_matrix, y: NDArray[np.float64], C: float) -> bool:
    return bool(2.0 * C * np.abs(X.T @ y).max(initial=0.0) <= 1.0)


def _liblinear(
    X: sparse.csr_matrix, y: NDArray[np.float64], C: float, eps: float
) -> NDArray[np.float64]:
    """Return LIBLINEAR's w, shape (d,)."""
    return train_liblinear(
        "L1SVMSelector", X, y, solver=L1R_L2LOSS_SVC, C=C, tol=eps, seed=SEED
    )[0][0]


def _first_to_enter(
    X: sparse.csr_matrix, problems: NDArray[np.float64], C: float
) -> int:
    """Return the first column to get weight as C grows, with a warning; raise if there is none."""
    pull = np.abs(X.T @ problems.T).max(axis=1)
    if not pull.max(initial=0.0) > 0:
        raise ValueError(
            f"L1SVMSelector: expected at least one feature with non-zero weight, got none of {pull.size} at C={C:g}; "
            f"check that some feature differs between the classes."
        )
    warnings.warn(
        f"L1SVMSelector: every weight is zero at C={C:g}; kept the feature that is the first to get weight as C grows. "
        f"Raise C.",
        UserWarning,
        stacklevel=5,
    )
    return int(np.argmax(pull))
