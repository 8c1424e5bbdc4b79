"""The 1-norm linear-programming SVM: its certificate, and its exact solution by HiGHS.

    primal   min  ||w||_1 + nu sum(xi)   s.t.  D (X w - gamma) + xi >= 1,  xi >= 0,   D = diag(y)
    dual     max  sum(u)                 s.t.  |X^T D u| <= 1,  y^T u = 0,  0 <= u <= nu

Fung and Mangasarian (2004), A feature selection Newton method for support vector
machine classification.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

Array = NDArray[np.float64]

NEGLIGIBLE = 1e-9
"""A weight whose column contributes at most this fraction of the largest contribution is rounding, not a choice."""


EXACT = 1e-6
"""A solution with a larger relative duality gap is not optimal, and the program is solved again in other units."""


@dataclass(frozen=True)
class LPSolution:
    """A feasible pair of the primal and the dual.

    Attributes
    ----------
    w : ndarray of shape (d,)
    gamma : float
        Decide by the sign of X w - gamma.
    u : ndarray of shape (n,)
        Feasible for the dual.
    objective : float
        ||w||_1 + nu sum(xi), with the smallest feasible xi; positive if both classes are present.
    gap : float
        (objective - sum(u)) / objective, at least 0 beyond rounding: the optimum lies
        within this fraction.
    n_iter : int
    converged : bool
        Whether a method that is not judged by its gap met its own stopping rule.
    """

    w: Array
    gamma: float
    u: Array
    objective: float
    gap: float
    n_iter: int
    converged: bool = True


def lpsvm_certified(
    A: Any, y: Array, nu: float, w: Array, gamma: float, u: Array, n_iter: int = 0
) -> LPSolution:
    """Return (w, gamma) with a dual point derived from u that certifies it; valid for any w, gamma and u.

    Parameters
    ----------
    A : ndarray or sparse of shape (n, d)
        D X, the rows times their labels.
    y : ndarray of shape (n,)
        Labels, -1.0 and 1.0, both present.
    u : ndarray of shape (n,)
        Clipped to [0, nu]; then the heavier class is scaled down until y^T u = 0, and
        then all of u until |A^T u| <= 1.
    """
    slack = np.maximum(1.0 - (A @ w - gamma * y), 0.0)
    objective = float(np.abs(w).sum() + nu * slack.sum())
    u = np.clip(u, 0.0, nu)
    positive, negative = u[y > 0].sum(), u[y < 0].sum()
    balanced = min(positive, negative)
    if balanced > 0:
        u = u * np.where(y > 0, balanced / positive, balanced / negative)
        u = u / max(1.0, np.abs(A.T @ u).max(initial=0.0))
    else:
        u = np.zeros_like(u)
    return LPSolution(
        w, float(gamma), u, objective, float((objective - u.sum()) / objective), n_iter
    )


def without_negligible(A: Any, w: Array) -> Array:
    """Return w, with exact zeros wherever w_j max|A_j| is rounding error."""
    if not w.any():
        return w
    share = np.abs(w) * abs(A).max(axis=0)
    share = share.toarray().ravel() if sparse.issparse(share) else share
    return np.where(share > NEGLIGIBLE * share.max(), w, 0.0)


def lpsvm_highs(
    A: Any,
    y: Array,
    nu: float,
    *,
    max_iter: int = 1_000_000,
    max_seconds: float = np.inf,
) -> LPSolution:
    """Solve the primal by the dual simplex method of HiGHS (SciPy): a vertex, exact to rounding.

    Parameters
    ----------
    A : CSC of shape (n, d)
        D X; parallel columns are best merged first, see `distinct_columns`.
    y : ndarray of shape (n,)
        Labels, -1.0 and 1.0, both present.
    nu : float
        Price of a unit of slack, positive.
    max_iter : int
        Limit on the simplex steps. The last point is returned, and its gap states its
        quality.
    max_seconds : float
        The same for wall-clock time; the answer then depends on the machine.
    """
    n, d = A.shape
    # A power of two loses no bit. HiGHS's tolerances are absolute, so weights must not
    # be of order 1e-9.
    peaks = abs(A).max(axis=0).toarray().ravel() if d else np.ones(1)
    unit = (
        2.0 ** np.round(np.log2(np.median(peaks[peaks > 0])))
        if (peaks > 0).any()
        else 1.0
    )
    scaled = A / unit
    constraints = sparse.hstack(
        [-scaled, scaled, y[:, None], -sparse.eye_array(n)], format="csc"
    )
    bounds = np.tile([0.0, np.inf], (2 * d + 1 + n, 1))
    bounds[2 * d, 0] = -np.inf
    solutions, steps = list[LPSolution](), 0
    # HiGHS treats costs below its tolerances as zero: if a price of slack was lost,
    # both are multiplied.
    for factor in (1.0, float(2.0 ** -np.round(np.log2(nu * unit)))):
        cost = factor * np.concatenate([np.ones(2 * d), [0.0], np.full(n, nu * unit)])
        # presolve is faster, but rarely ends with a solution that cannot be mapped back
        for presolve in (True, False):
            program = linprog(
                cost,
                A_ub=constraints,
                b_ub=-np.ones(n),
                bounds=bounds,
                method="highs-ds",
                options={
                    "presolve": presolve,
                    "maxiter": max_iter,
                    "time_limit": max_seconds,
                },
            )
            steps += int(program.nit)
            if program.status in (0, 1):
                break
        solutions.append(_certified(A, y, nu, program, unit, factor, steps))
        if solutions[-1].gap <= EXACT or program.status == 1:
            break
    return min(solutions, key=lambda solution: solution.gap)


def _certified(
    A: Any, y: Array, nu: float, program: Any, unit: float, factor: float, steps: int
) -> LPSolution:
    """Return the solution of HiGHS for columns divided by `unit` and costs times `factor`; zero if it failed."""
    n, d = A.shape
    if program.x is None:
        return lpsvm_certified(
            A,
            y,
            nu,
            np.zeros(d),
            -1.0 if (y > 0).sum() * 2 >= n else 1.0,
            np.zeros(n),
            steps,
        )
    marginals = program.ineqlin.marginals
    u = np.zeros(n) if marginals is None else -np.asarray(marginals) / factor
    w = without_negligible(A, (program.x[:d] - program.x[d : 2 * d]) / unit)
    return lpsvm_certified(A, y, nu, w, program.x[2 * d], u / unit, steps)
