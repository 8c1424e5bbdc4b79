"""The 1-norm SVM by Newton's method as published, with one coarse penalty and few full steps."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from provsel.kernels.lpsvm import LPSolution, lpsvm_certified
from provsel.kernels.lpsvm_newton import Penalty, excess, newton_direction

Array = NDArray[np.float64]


class Constants(NamedTuple):
    """The authors' constants: penalty parameters, final norm of the gradient, and limit of steps."""

    epsilon: float
    alpha: float
    tol: float
    max_iter: int


WIDE, TALL = Constants(0.1, 1e3, 1e-3, 50), Constants(1e-3, 1e2, 1e-5, 1_000)
"""Constants for fewer rows than columns, and otherwise."""

DELTA = 1e-3
"""Added to the diagonal of the generalised Hessian."""


def lpsvm_published(
    A: Any, y: Array, nu: float, *, max_iter: int | None = None
) -> LPSolution:
    """Take full Newton steps on the penalty of the dual, at one epsilon, from u = 0 on.

    Nothing forces the steps to descend, so they may cycle until the limit; `converged`
    states whether the gradient became small. Even then the weights solve a penalty
    problem, not the linear program: on text, several times as many are non-zero. No
    small weight is rounded to zero.

    Parameters
    ----------
    A : CSC of shape (n, d)
        D X, the rows times their labels, including parallel columns.
    y : ndarray of shape (n,)
        Labels, -1.0 and 1.0, both present.
    nu : float
        Price of a unit of slack, positive.
    max_iter : int, optional
        None is the authors' 50, or 1,000 if n >= d.

    Raises
    ------
    ArithmeticError
        If a step leads beyond the range of floating point numbers.

    References
    ----------
    Fung, Mangasarian (2004), Algorithm 3.2 and section 4.
    """
    n, d = A.shape
    constants = WIDE if n < d else TALL
    limit = constants.max_iter if max_iter is None else max_iter
    f = Penalty(A.tocsr(), y, nu, constants.epsilon, constants.alpha)
    u, steps, converged = np.zeros(n), 0, False
    while True:
        v, balance = A.T @ u, float(y @ u)
        g = f.gradient(u, v, balance)
        converged = bool(np.linalg.norm(g) <= constants.tol)
        if converged or steps == limit:
            break
        try:
            u = u + newton_direction(A, y, nu, u, v, g, DELTA, constants.alpha)
        except LinAlgError as error:
            raise ArithmeticError(
                f"the published iteration has no direction in step {steps}: {error}"
            ) from error
        steps += 1
        if not np.isfinite(u).all():
            raise ArithmeticError(f"the published iteration overflowed in step {steps}")
    w, gamma = excess(v) / constants.epsilon, -balance / constants.epsilon
    certified = lpsvm_certified(A, y, nu, w, gamma, u, steps)
    return LPSolution(
        certified.w,
        certified.gamma,
        certified.u,
        certified.objective,
        certified.gap,
        steps,
        converged,
    )
