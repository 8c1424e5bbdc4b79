"""LIBSVM from scikit-learn, without the checks that `SVC.fit` repeats for each of thousands of small problems."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from numbers import Real
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

Array: TypeAlias = NDArray[np.float64]

MAX_ITER = 1_000_000_000
"""Limit on iterations: fits that would run for hours stop after minutes. Ten features of a hundred rows took up
to 30 million.
"""


class GramSolution(NamedTuple):
    """An SVM on a Gram matrix of n rows with k classes, numbered from 0, and p support vectors.

    Attributes
    ----------
    support : ndarray of shape (p,), int
        Rows with a non-zero dual variable, class by class.
    dual_coef : ndarray of shape (k - 1, p)
        y_i alpha_i, as in `SVC.dual_coef_`; with two classes, the second is the
        positive one.
    intercept : ndarray of shape (k (k - 1) / 2,)
    n_iter : ndarray of shape (k (k - 1) / 2,), int
        Iterations; equal to the limit if LIBSVM did not converge.
    """

    support: NDArray[np.int32]
    dual_coef: Array
    intercept: Array
    n_iter: NDArray[np.int32]


def fit_gram(
    gram: Array,
    labels: NDArray[np.int64],
    *,
    C: float,
    tol: float,
    max_iter: int = MAX_ITER,
    weights: Array | None = None,
) -> GramSolution:
    """Return LIBSVM's solution on a Gram matrix of shape (n, n), with class numbers as labels, shape (n,).

    `weights` (k,) are factors of C by class, 1 by default. The bits are those of
    `SVC(kernel="precomputed")`, at a sixth of its time for a hundred rows. On columns
    of very different scales LIBSVM can take hours: `max_iter` bounds its iterations on
    each problem of two classes.

    Raises
    ------
    ValueError
        If the Gram matrix overflows, if C or tol is not positive (LIBSVM would not
        end), or if max_iter is not a positive integer.
    """
    checked_max_iter(max_iter)
    for name, value in {"C": C, "tol": tol}.items():
        if (
            isinstance(value, bool)
            or not isinstance(value, Real)
            or not 0 < float(value) < np.inf
        ):
            raise ValueError(
                f"LIBSVM: expected {name} to be positive and finite, got {value!r:.80}."
            )
    if not np.isfinite(gram).all():
        raise ValueError(
            "LIBSVM: expected rows with finite inner products, got infinity or NaN among them; scale the columns down."
        )
    solve, weights = (
        _direct() or _by_svc,
        np.ones(int(labels.max()) + 1) if weights is None else weights,
    )
    gram, numbers = (
        np.ascontiguousarray(gram, dtype=np.float64),
        labels.astype(np.float64),
    )
    solution = solve(gram, numbers, float(C), float(tol), int(max_iter), weights)
    if not (
        np.isfinite(solution.dual_coef).all() and np.isfinite(solution.intercept).all()
    ):
        raise ValueError(
            "LIBSVM: expected a finite solution, got infinity or NaN; scale the columns down."
        )
    return solution


def checked_max_iter(max_iter: Any) -> int:
    """Return the limit of iterations as an int, or raise."""
    if (
        isinstance(max_iter, bool)
        or not isinstance(max_iter, int | np.integer)
        or max_iter < 1
    ):
        raise ValueError(
            f"LIBSVM: expected max_iter to be a positive integer, got {max_iter!r:.80}."
        )
    return int(max_iter)


def warn_early(subject: str, fits: str, max_iter: int) -> None:
    """Warn, as if from `fit` of `subject`, that LIBSVM reached its limit of iterations."""
    warnings.warn(
        f"{subject}: LIBSVM did not converge after max_iter = {max_iter} iterations{fits}; scale the "
        f"columns to one range, lower C, or raise max_iter or tol.",
        ConvergenceWarning,
        stacklevel=5,
    )


def fit_svc(svc: SVC, X: Any, labels: Any) -> SVC:
    """Return `svc`, fitted without its warning of an early end, which `n_iter_` shows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return svc.fit(X, labels)


Solver: TypeAlias = Callable[[Array, Array, float, float, int, Array], GramSolution]


def _by_svc(
    gram: Array, labels: Array, C: float, tol: float, max_iter: int, weights: Array
) -> GramSolution:
    of_class = dict(enumerate(weights.tolist()))
    svc = fit_svc(
        SVC(
            kernel="precomputed", C=C, tol=tol, max_iter=max_iter, class_weight=of_class
        ),
        gram,
        labels,
    )
    return GramSolution(svc.support_, svc.dual_coef_, svc.intercept_, svc.n_iter_)


@cache
def _direct() -> Solver | None:
    """Return scikit-learn's internal interface to LIBSVM; None if `SVC` does not use it.

    It is not a public name, so it is trusted only after it reproduced `SVC` for two and
    for three classes.
    """
    try:
        from sklearn.svm import _libsvm

        _libsvm.set_verbosity_wrap(0)
        solve = _through(_libsvm.fit)
        X = np.array(
            [[0.0, 1.0], [1.0, 3.0], [4.0, 1.0], [2.0, 2.0], [5.0, 0.0], [3.0, 7.0]]
        )
        for labels in (
            np.array([0.0, 1.0, 1.0, 0.0, 1.0, 0.0]),
            np.array([0.0, 1.0, 2.0, 0.0, 1.0, 2.0]),
        ):
            for max_iter, last in ((1, 1.0), (1000, 1.0), (1000, 2.0)):
                weights = np.append(np.ones(int(labels.max())), last)
                ours, theirs = (
                    solver(X @ X.T, labels, 0.5, 1e-3, max_iter, weights)
                    for solver in (solve, _by_svc)
                )
                for name in GramSolution._fields:
                    np.testing.assert_array_equal(
                        getattr(ours, name), getattr(theirs, name)
                    )
    except Exception:  # other versions may have it elsewhere or under another name
        return None
    return solve


def _through(fit: Any) -> Solver:
    def solve(
        gram: Array, labels: Array, C: float, tol: float, max_iter: int, weights: Array
    ) -> GramSolution:
        support, _, _, dual_coef, intercept, _, _, _, n_iter = fit(
            gram, labels, svm_type=0, kernel="precomputed", C=C, tol=tol, class_weight=weights,
            sample_weight=np.empty(0), shrinking=1, cache_size=200.0, gamma=0.0, max_iter=max_iter,
        )  # fmt: skip
        # with two classes LIBSVM treats the first as the positive one
        sign = -1.0 if weights.size == 2 else 1.0
        return GramSolution(support, sign * dual_coef, sign * intercept, n_iter)

    return solve
