r"""The compressed feature-selective SVM, in either form, by alternating minimisation.

    min over mu in [0, 1]^m and w_bar of length l

    (1/n) sum_i max(0, 1 - y_i <Phi_i, D(f) Lambda^T w_bar>) + c2 ||w_bar||^2 + c1 ||mu||_1

with factors f = mu as printed, or f = sqrt(mu) for weights mu on the kernels. Neither is convex: the kernel Phi D(f)
Lambda^T Lambda D(f) Phi^T has cross terms f_j f_k, and is no longer a weighted sum of kernels. Both are convex in
w_bar, and in f: with q = Lambda^T w_bar fixed, Phi D(f) q = Phi D(q) f. As printed this is a linear program in f, with
sparse solutions. With f = sqrt(mu) the derivative of the price c1 ||f||^2 is 0 at 0. Every feature for which q has the
right sign, about half of them, therefore gets some weight. Giesen, Laue, Mueller (2013), section 4.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from provsel.kernels.diagonal_gram import gram_columns
from provsel.kernels.feature_selective_printed import (
    INNER,
    Alternating,
    best_start,
    full_objective,
    scaled,
)
from provsel.kernels.gaussian_blocks import GaussianBlocks
from provsel.kernels.hinge_barrier import Parts, hinge_barrier
from provsel.kernels.hinge_dual import hinge_dual

Array = NDArray[np.float64]

LINEAR = Parts.of([1], linear=[1], quadratic=[0], upper=[1])
"""c1 ||f||_1 in units of c1."""
QUADRATIC = Parts.of([1], linear=[0], quadratic=[1], upper=[1])
"""c1 ||f||^2 in units of 2 c1."""
NEARLY = 0.9
"""Share of the necessary pull at which a column enters."""
WORSE = 1e3
"""Factor above the least gap at which the steps end."""


def feature_selective_compressed(
    X: Any,
    y: Array,
    c1: float,
    c2: float,
    projection: GaussianBlocks,
    starts: Iterable[Array],
    *,
    as_printed: bool = True,
    tol: float = 1e-6,
    max_iter: int = 100,
) -> Alternating:
    """Alternate the SVM on Phi D(f) Lambda^T, the scale of f relative to w_bar, and the best f for q = Lambda^T w_bar.

    Parameters
    ----------
    X, y, c1, c2, starts, tol, max_iter
        As for `feature_selective_printed`.
    projection : GaussianBlocks
        Lambda, of shape (l, m).
    as_printed : bool, default=True
        f = mu; else f = sqrt(mu).

    Returns
    -------
    Alternating
        `w` is w_bar, `v` is D(f) Lambda^T w_bar.
    """
    X = sparse.csr_array(X) if sparse.issparse(X) else X
    runs = [
        _from_start(X, y, c1, c2, projection, mu, as_printed, tol, max_iter)
        for mu in starts
    ]
    return best_start(runs)


def _from_start(
    X: Any,
    y: Array,
    c1: float,
    c2: float,
    projection: GaussianBlocks,
    mu: Array,
    as_printed: bool,
    tol: float,
    max_iter: int,
) -> Alternating:
    def weights(f: Array) -> Array:
        return f if as_printed else f**2

    f = mu if as_printed else np.sqrt(mu)
    signed = scaled(X.T, y).T
    w, q, value, values = (
        np.zeros(projection.n_components),
        np.zeros(f.size),
        np.inf,
        list[float](),
    )
    rounds, converged = 0, False
    while rounds < max_iter and not converged:
        rounds += 1
        before = value
        fit = hinge_dual(projection.project(scaled(X, f)), y, c2, tol=INNER * tol)
        objective = fit.primal + c1 * float(weights(f).sum())
        if objective >= value:  # within the gap of the SVM
            converged = True
            break
        f, w = _balanced(f, fit.w, c1, c2, as_printed)
        q = projection.expand(w)
        value = full_objective(X, y, f * q, w, weights(f), c1, c2)
        values += [objective, value]
        best_f = _best_factors(
            scaled(signed, q), 2.0 * c2 * fit.alpha, c1, as_printed, INNER * tol
        )
        objective = full_objective(X, y, best_f * q, w, weights(best_f), c1, c2)
        if objective < value:
            f, value = best_f, objective
        values.append(value)
        converged = before - value <= tol * value
    return Alternating(weights(f), w, f * q, value, tuple(values), rounds, converged)


def _balanced(
    f: Array, w: Array, c1: float, c2: float, linear: bool
) -> tuple[Array, Array]:
    """Return (t f, w / t), the same decision, with the cheapest t; otherwise both would shrink to 0."""
    norm, price = c2 * float(w @ w), c1 * float(f.sum() if linear else f @ f)
    if norm == 0.0 or price == 0.0:
        return f, w
    t = np.cbrt(2.0 * norm / price) if linear else (norm / price) ** 0.25
    t = min(float(t), 1.0 / float(f.max()))
    return t * f, w / t


def _best_factors(B: Any, alpha: Array, c1: float, linear: bool, tol: float) -> Array:
    """Return argmin over f in [0, 1]^m of the mean hinge loss of B f plus c1 sum(f), or c1 ||f||^2; shape (m,).

    Columns whose value of B^T alpha is below their price are 0 at the optimum. The
    given alpha guesses these columns, and the solution corrects the guess.
    """
    n, m = B.shape
    B = sparse.csc_array(B) if sparse.issparse(B) else B
    price, parts = (c1, LINEAR) if linear else (2.0 * c1, QUADRATIC)
    C, threshold = 1.0 / (n * price), float(parts.linear[0, 0])
    f, inside, pull = np.zeros(m), np.zeros(m, dtype=bool), B.T @ (alpha / price)
    while (pull[~inside] > threshold).any():
        inside |= pull > NEARLY * threshold
        columns = np.flatnonzero(inside)
        part, best, least = gram_columns(B, columns), None, np.inf
        for point in hinge_barrier(part, C, parts):
            primal = C * float(
                np.maximum(1.0 - part @ point.x[0], 0.0).sum()
            ) + parts.cost(point.x)
            gap = primal - float(
                point.alpha.sum() - parts.conjugate(part.T @ point.alpha).sum()
            )
            if gap < least:
                least, best = gap, point
            if gap <= tol * primal or gap > WORSE * least:
                break
        if best is None:
            break
        f = np.zeros(m)
        f[columns] = np.where(best.x[0] > best.lower[0], best.x[0], 0.0)
        f[columns[1.0 - best.x[0] < best.higher[0]]] = 1.0
        pull = B.T @ best.alpha
    return f
