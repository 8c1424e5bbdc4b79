r"""The feature-selective SVM as printed, which is not convex: local optima by alternating minimisation.

    min over mu in [0, 1]^m, w   (1/n) sum_i max(0, 1 - y_i <Phi_i, D(mu) w>) + c2 ||w||^2 + c1 ||mu||_1

With v = D(mu) w the penalty is c2 v_j^2 / mu_j^2 + c1 mu_j, whose minimum over mu_j is
at mu_j = min(1, (2 c2 v_j^2 / c1)^(1/3)): a multiple of |v_j|^(2/3) up to mu_j = 1, and
c2 v_j^2 + c1 beyond. Giesen, Laue, Mueller (2013), section 4.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from provsel.kernels.hinge_dual import hinge_dual

Array = NDArray[np.float64]

INNER = 0.01
"""Share of the tolerance to which the SVM is solved."""
FAINT = 1e-6
"""A smaller mu counts as zero, which alternating steps approach but never reach."""


class Alternating(NamedTuple):
    """The best of the local optima from several starts, or one of them.

    Attributes
    ----------
    mu : ndarray of shape (m,)
        In [0, 1], with exact zeros.
    w : ndarray of shape (m,) or (l,)
        w, or w_bar; zero where mu is zero, unless compressed.
    v : ndarray of shape (m,)
        Weights on the original features: mu * w, or as `feature_selective_compressed`
        says.
    objective : float
    values : tuple of float
        The objective after each step, which never rises beyond rounding.
    n_iter : int
        Rounds.
    converged : bool
        Whether the last round lowered the objective by less than the tolerance.
    objectives : tuple of float
        One value per start, in order.
    """

    mu: Array
    w: Array
    v: Array
    objective: float
    values: tuple[float, ...]
    n_iter: int
    converged: bool
    objectives: tuple[float, ...] = ()


def printed_penalty(v: Array, c1: float, c2: float) -> Array:
    """Return min over 0 < mu <= 1 of c2 v_j^2 / mu^2 + c1 mu for each j, shape (m,)."""
    mu = printed_weights(v, c1, c2)
    return c2 * np.divide(v, mu, out=np.zeros_like(mu), where=mu > 0) ** 2 + c1 * mu


def printed_weights(v: Array, c1: float, c2: float) -> Array:
    """Return the mu that attains `printed_penalty`, shape (m,)."""
    return np.minimum(1.0, np.cbrt(2.0 * c2 / c1 * v**2))


def feature_selective_printed(
    X: Any,
    y: Array,
    c1: float,
    c2: float,
    starts: Iterable[Array],
    *,
    tol: float = 1e-6,
    max_iter: int = 100,
) -> Alternating:
    """Alternate the SVM on Phi D(mu) with the closed form of the best mu, and its w, for given v = D(mu) w.

    Parameters
    ----------
    X : ndarray or sparse of shape (n, m), float64
    y : ndarray of shape (n,)
        Labels -1.0 and 1.0.
    c1, c2 : float
        Positive.
    starts : iterable of ndarray of shape (m,)
        The first mu of each run. A feature with mu = 0 stays out.
    tol : float, default=1e-6
        A run ends when a round lowers the objective by less than this share of it.
    max_iter : int, default=100
        Rounds of one run.
    """
    columns = sparse.csc_array(X) if sparse.issparse(X) else X
    return best_start(
        [_from_start(columns, y, c1, c2, mu, tol, max_iter) for mu in starts]
    )


def _from_start(
    X: Any, y: Array, c1: float, c2: float, mu: Array, tol: float, max_iter: int
) -> Alternating:
    reach = np.asarray(np.abs(X).mean(axis=0)).ravel()
    w, value, values, rounds, converged = (
        np.zeros(mu.size),
        np.inf,
        list[float](),
        0,
        False,
    )
    while rounds < max_iter and not converged:
        rounds += 1
        before, kept = value, np.flatnonzero(mu)
        fit = (
            hinge_dual(scaled(X[:, kept], mu[kept]), y, c2, tol=INNER * tol)
            if kept.size
            else None
        )
        round_objective = (fit.primal if fit else 1.0) + c1 * float(mu.sum())
        if round_objective >= value:  # within the gap of the SVM
            converged = True
            break
        w = np.zeros(mu.size)
        if fit:
            w[kept] = fit.w
        v = mu * w
        mu = printed_weights(v, c1, c2)
        # The hinge changes by at most its argument, so leaving these out lowers the
        # objective.
        mu[(mu < FAINT) & (np.abs(v) * reach <= printed_penalty(v, c1, c2))] = 0.0
        w = np.divide(v, mu, out=np.zeros_like(v), where=mu > 0)
        value = full_objective(X, y, mu * w, w, mu, c1, c2)
        values += [round_objective, value]
        converged = before - value <= tol * value
    return Alternating(mu, w, mu * w, value, tuple(values), rounds, converged)


def full_objective(
    X: Any, y: Array, v: Array, w: Array, mu: Array, c1: float, c2: float
) -> float:
    """Return (1/n) sum_i max(0, 1 - y_i <x_i, v>) + c2 ||w||^2 + c1 ||mu||_1."""
    return float(np.maximum(0.0, 1.0 - y * (X @ v)).mean() + c2 * w @ w + c1 * mu.sum())


def scaled(X: Any, factors: Array) -> Any:
    """Return X D(factors); CSR if sparse, for solvers that read rows."""
    return (
        sparse.csr_array(X @ sparse.diags_array(factors))
        if sparse.issparse(X)
        else X * factors
    )


def best_start(runs: list[Alternating]) -> Alternating:
    """Return the run with the smallest objective; ties go to the first."""
    objectives = tuple(run.objective for run in runs)
    return runs[int(np.argmin(objectives))]._replace(objectives=objectives)
