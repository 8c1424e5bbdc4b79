"""LIBSVM as scikit-learn brings it, without what `SVC.fit` checks anew at each of thousands of small problems."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from numbers import Real
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

Array: TypeAlias = NDArray[np.float64]


class GramSolution(NamedTuple):
    """An SVM on a Gram matrix of n rows, p of which are support vectors, of k classes numbered from 0 on.

    Attributes
    ----------
    support : ndarray of shape (p,), int
        Rows with a non-zero dual variable, class by class.
    dual_coef : ndarray of shape (k - 1, p)
        y_i alpha_i, as `SVC.dual_coef_`: of two classes, the second is the positive one.
    intercept : ndarray of shape (k (k - 1) / 2,)
    """

    support: NDArray[np.int32]
    dual_coef: Array
    intercept: Array


def fit_gram(gram: Array, labels: NDArray[np.int64], *, C: float, tol: float) -> GramSolution:
    """Return LIBSVM's solution on a Gram matrix of shape (n, n), labels (n,) being the numbers of the classes.

    The bits are those of `SVC(kernel="precomputed")`, at a sixth of its time for a hundred rows.

    Raises
    ------
    ValueError
        The Gram matrix overflows; C or tol is no positive number, with which LIBSVM would not end.
    """
    for name, value in {"C": C, "tol": tol}.items():
        if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < np.inf:
            raise ValueError(f"LIBSVM: expected {name} positive and finite, got {value!r:.80}.")
    if not np.isfinite(gram).all():
        raise ValueError(
            "LIBSVM: expected rows with finite inner products, got infinity or NaN among them; scale the columns down."
        )
    solve = _direct() or _by_svc
    found = solve(np.ascontiguousarray(gram, dtype=np.float64), labels.astype(np.float64), float(C), float(tol))
    if not (np.isfinite(found.dual_coef).all() and np.isfinite(found.intercept).all()):
        raise ValueError("LIBSVM: expected a finite solution, got infinity or NaN; scale the columns down.")
    return found


Solver: TypeAlias = Callable[[Array, Array, float, float], GramSolution]


def _by_svc(gram: Array, labels: Array, C: float, tol: float) -> GramSolution:
    svc = SVC(kernel="precomputed", C=C, tol=tol).fit(gram, labels)
    return GramSolution(svc.support_, svc.dual_coef_, svc.intercept_)


@cache
def _direct() -> Solver | None:
    """Return scikit-learn's own door to LIBSVM; None where it is not, or no longer, what `SVC` goes through.

    It is no public name, so it is believed only after it has given what `SVC` gives, for two classes and for three.
    """
    try:
        from sklearn.svm import _libsvm

        _libsvm.set_verbosity_wrap(0)
        solve = _through(_libsvm.fit)
        X = np.array([[0.0, 1.0], [1.0, 3.0], [4.0, 1.0], [2.0, 2.0], [5.0, 0.0], [3.0, 7.0]])
        for labels in (np.array([0.0, 1.0, 1.0, 0.0, 1.0, 0.0]), np.array([0.0, 1.0, 2.0, 0.0, 1.0, 2.0])):
            ours, theirs = (one(X @ X.T, labels, 0.5, 1e-3) for one in (solve, _by_svc))
            for name in GramSolution._fields:
                np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    except Exception:  # another version may have it elsewhere, or ask it in another way
        return None
    return solve


def _through(fit: Any) -> Solver:
    def solve(gram: Array, labels: Array, C: float, tol: float) -> GramSolution:
        n_classes = int(labels.max()) + 1
        support, _, _, dual_coef, intercept, *_ = fit(
            gram, labels, svm_type=0, kernel="precomputed", C=C, tol=tol, class_weight=np.ones(n_classes),
            sample_weight=np.empty(0), shrinking=1, cache_size=200.0, gamma=0.0,
        )  # fmt: skip
        sign = -1.0 if n_classes == 2 else 1.0  # of two classes LIBSVM takes the first for the positive one
        return GramSolution(support, sign * dual_coef, sign * intercept)

    return solve
