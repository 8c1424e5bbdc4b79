"""Common parts of the classifier and the selector of the feature-selective SVM: options, starts, warnings, features."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from provsel.checks import check_positive
from provsel.kernels.feature_selective import (
    feature_selective_svm,
    kernel_weights,
    largest_c1,
)
from provsel.kernels.feature_selective_compressed import feature_selective_compressed
from provsel.kernels.feature_selective_printed import (
    feature_selective_printed,
    printed_weights,
)
from provsel.kernels.gaussian_blocks import GaussianBlocks
from provsel.kernels.ties import rank_descending

Array = NDArray[np.float64]

FORMS = ("kernel_weights", "as_printed")
VARIANCES = ("1/m", "1/l")
MAX_ITER = {True: 1000, False: 100}
"""Steps of the interior point method if the problem is convex, rounds of a start if it is not."""


class FeatureSelectiveFit(NamedTuple):
    """A solution; `mu`, `w` and `coef` have shape (m,).

    Attributes
    ----------
    indices : ndarray of shape (k,), int64
        Features with mu > 0, in order of decreasing mu, ties by index; if there are
        none, the first to enter.
    mu, w, coef : ndarray of shape (m,)
        coef = sqrt(mu) * w, or mu * w as printed; w = Lambda^T w_bar if compressed.
    compressed_coef : ndarray of shape (l,) or None
        w_bar.
    objective, dual_objective, gap : float
        The last two are NaN if the problem is not convex.
    start_objectives : ndarray of shape (n_starts + 1,) or (1,)
        The last is for w = 0; the convex problem has only one.
    n_iter : int
    c1, c2 : float
        Prices of the problem, if they were given in relative units.
    """

    indices: NDArray[np.int64]
    mu: Array
    w: Array
    coef: Array
    compressed_coef: Array | None
    objective: float
    dual_objective: float
    gap: float
    start_objectives: Array
    n_iter: int
    c1: float
    c2: float


def fit_feature_selective(
    subject: str,
    X: Any,
    y: Array,
    rng: np.random.Generator,
    *,
    c1: float,
    c2: float,
    form: str,
    n_components: int | None,
    variance: str,
    n_starts: int,
    tol: float,
    max_iter: int | None,
    relative: bool,
) -> FeatureSelectiveFit:
    """Check the options of the estimator named `subject`, and solve its problem.

    Parameters
    ----------
    X : ndarray or CSR of shape (n, m)
    y : ndarray of shape (n,)
        Labels -1.0 and 1.0.

    Raises
    ------
    ValueError
        If an option is out of range, or no feature differs between the classes, so that
        none can enter, or it stopped before any weight.

    Warns
    -----
    ConvergenceWarning
        If the solver stopped before `tol`.
    UserWarning
        If all weights are zero.
    """
    _check(
        subject, c1, c2, form, n_components, variance, n_starts, tol, max_iter, relative
    )
    at_c1 = f"c1={c1:g}"
    X = (
        sparse.csr_array(X, dtype=np.float64)
        if sparse.issparse(X)
        else X.astype(np.float64, copy=False)
    )
    m = X.shape[1]
    if relative:
        c1, c2 = _in_units_of(X, y, float(c1), float(c2))
    printed, convex = (
        form == "as_printed",
        form == "kernel_weights" and n_components is None,
    )
    limit = MAX_ITER[convex] if max_iter is None else max_iter
    starts = [np.ones(m)]
    if n_components is None:
        solved = feature_selective_svm(
            X, y, c1, c2, tol=tol, max_iter=limit if convex else MAX_ITER[True]
        )
        if convex:
            mu = kernel_weights(solved.v, c1, c2)
            w = np.divide(solved.v, np.sqrt(mu), out=np.zeros(m), where=mu > 0)
            if not solved.gap <= tol:
                expected = f"a relative duality gap of at most tol = {tol:g}, got {solved.gap:.3g}"
                _warn_early(subject, f"{expected} after {solved.n_iter} steps")
                if not mu.any():
                    raise ValueError(
                        f"{subject}: expected at least one feature with non-zero weight, got none of {m} at {at_c1} "
                        f"with a relative duality gap of {solved.gap:.3g}; raise max_iter."
                    )
            values = (
                solved.objective,
                solved.dual,
                solved.gap,
                np.array([solved.objective]),
                solved.n_iter,
                c1,
                c2,
            )
            return FeatureSelectiveFit(
                _kept(subject, X, y, mu, at_c1), mu, w, solved.v, None, *values
            )
        starts.append(printed_weights(solved.v, c1, c2))
    options: dict[str, Any] = {"tol": tol, "max_iter": limit}
    if n_components is None:
        starts = _completed(starts, n_starts, rng)
        local = feature_selective_printed(X, y, c1, c2, starts, **options)
        w, w_bar = local.w, None
    else:
        scale = 1.0 / (m if variance == "1/m" else n_components)
        key = int.from_bytes(rng.bytes(16), "little")
        projection = GaussianBlocks(
            int(n_components), m, variance=scale, key=key, store=True
        )
        starts = _completed(starts, n_starts, rng)
        local = feature_selective_compressed(
            X, y, c1, c2, projection, starts, as_printed=printed, **options
        )
        w, w_bar = projection.expand(local.w), local.w
    if not local.converged:
        expected = f"rounds that lower the objective by less than tol = {tol:g} of it"
        _warn_early(subject, f"{expected}, got {local.n_iter} that lower it by more")
    values = (
        local.objective,
        np.nan,
        np.nan,
        np.array(local.objectives),
        local.n_iter,
        c1,
        c2,
    )
    return FeatureSelectiveFit(
        _kept(subject, X, y, local.mu, at_c1), local.mu, w, local.v, w_bar, *values
    )


def _in_units_of(X: Any, y: Array, c1: float, c2: float) -> tuple[float, float]:
    """Return c1 times the smallest c1 that keeps no feature, and c2 times the mean of ||Phi_i||^2.

    Both problems are invariant to a scaling of X, and c1 = 1 has the same meaning for
    every X.
    """
    squares = (
        float(X.power(2).sum() if sparse.issparse(X) else np.square(X).sum()) / y.size
    )
    c2 *= squares if squares > 0 else 1.0
    most = largest_c1(X, y, c2)
    return c1 * (most if most > 0 else 1.0), c2


def _completed(
    starts: list[Array], count: int, rng: np.random.Generator
) -> list[Array]:
    """Return `count` starts, missing ones uniformly random, and 0: no local optimum may be worse than w = 0."""
    random = [rng.random(starts[0].size) for _ in range(count - len(starts))]
    return [*starts[:count], *random, np.zeros(starts[0].size)]


def _kept(subject: str, X: Any, y: Array, mu: Array, at_c1: str) -> NDArray[np.int64]:
    """Return the features with positive mu, in order; if there are none, the first to enter, with a warning."""
    kept = np.flatnonzero(mu)
    if kept.size:
        return kept[rank_descending(mu[kept])].astype(np.int64)
    pull = np.abs(X.T @ y)
    if not pull.max() > 0:
        raise ValueError(
            f"{subject}: expected at least one feature with non-zero weight, got none of {pull.size} at {at_c1}; "
            f"check that some feature differs between the classes."
        )
    warnings.warn(
        f"{subject}: every weight is zero at {at_c1}; kept the feature that is the first to get weight as c1 falls. "
        f"Lower c1; c1_max gives its limit.",
        UserWarning,
        stacklevel=5,
    )
    return np.array([np.argmax(pull)])


def _warn_early(subject: str, expected: str) -> None:
    warnings.warn(
        f"{subject}: expected {expected}; raise max_iter or tol.",
        ConvergenceWarning,
        stacklevel=5,
    )


def _check(
    subject: str,
    c1: float,
    c2: float,
    form: str,
    n_components: int | None,
    variance: str,
    n_starts: int,
    tol: float,
    max_iter: int | None,
    relative: bool,
) -> None:
    check_positive(subject, c1=c1, c2=c2, tol=tol)
    for name, choice, choices in (
        ("form", form, FORMS),
        ("variance", variance, VARIANCES),
    ):
        if choice not in choices:
            raise ValueError(
                f"{subject}: expected {name} to be one of {choices}, got {choice!r}."
            )
    if not isinstance(relative, bool):
        raise ValueError(
            f"{subject}: expected relative to be True or False, got {relative!r}."
        )
    for name, count in {
        "n_components": n_components,
        "n_starts": n_starts,
        "max_iter": max_iter,
    }.items():
        if count is None and name != "n_starts":
            continue
        if (
            isinstance(count, bool)
            or not isinstance(count, int | np.integer)
            or count < 1
        ):
            allowed = "" if name == "n_starts" else "None or "
            raise ValueError(
                f"{subject}: expected {name} {allowed}a positive integer, got {count!r}."
            )
