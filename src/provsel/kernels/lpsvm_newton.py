"""Newton's method for the exterior penalty of the dual of the 1-norm SVM, made convergent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve, lstsq

from provsel.kernels.lpsvm import LPSolution, lpsvm_certified, without_negligible

Array = NDArray[np.float64]

ALPHA = 1e3
"""Penalty of negative u, the authors' for n < d."""
FIRST_EPSILON, LAST_EPSILON, SHRINK = 10.0, 1e-8, 0.3
DAMPING = 0.1
"""Times epsilon, this is the authors' delta: a fixed one slows down the last steps."""
ARMIJO = 1e-4
SLOPE_TRIALS = 12


@dataclass(frozen=True)
class Penalty:
    r"""The piecewise quadratic f of Fung and Mangasarian (2004), at one epsilon, with A = D X.

    f(u) = -eps sum(u) + 1/2 (||(|A^T u| - 1)_+||^2 + (y^T u)^2 + ||(u - nu)_+||^2 +
    alpha ||(-u)_+||^2)
    """

    A: Any
    y: Array
    nu: float
    epsilon: float
    alpha: float = ALPHA

    def value(self, u: Array, v: Array, balance: float) -> float:
        """Return f(u) from u, v = A^T u and balance = y^T u."""
        over, high, low = (
            np.maximum(np.abs(v) - 1.0, 0.0),
            np.maximum(u - self.nu, 0.0),
            np.minimum(u, 0.0),
        )
        return float(
            -self.epsilon * u.sum()
            + 0.5 * (over @ over + balance**2 + high @ high + self.alpha * (low @ low))
        )

    def gradient(self, u: Array, v: Array, balance: float) -> Array:
        """Return the gradient, shape (n,)."""
        low = self.alpha * np.minimum(u, 0)
        return (
            self.A @ excess(v)
            + self.y * balance
            - self.epsilon
            + np.maximum(u - self.nu, 0)
            + low
        )

    def slopes(
        self, u: Array, s: Array, v: Array, vs: Array, balance: float, ys: float
    ) -> tuple[float, float]:
        """Return the first and second derivative along s at u, for arguments already moved there."""
        high, low, active = u > self.nu, u < 0, np.abs(v) > 1
        first = -self.epsilon * s.sum() + excess(v) @ vs + balance * ys
        first += s[high] @ (u[high] - self.nu) + self.alpha * (s[low] @ u[low])
        second = (
            vs[active] @ vs[active]
            + ys**2
            + s[high] @ s[high]
            + self.alpha * (s[low] @ s[low])
        )
        return float(first), float(second)


def excess(v: Array) -> Array:
    """Return the part of v outside [-1, 1], with its sign."""
    return v - np.clip(v, -1.0, 1.0)


def lpsvm_newton(
    A: Any, y: Array, nu: float, *, tol: float = 1e-6, max_iter: int = 3_000
) -> LPSolution:
    """Minimise the penalty for decreasing epsilon, until the relative duality gap is at most `tol`.

    The published iteration takes full steps and diverges on easy data; here a step is
    the minimum along the Newton direction, checked by Armijo's rule with halving. Its
    fixed epsilon is too coarse for text. After each epsilon the equations of the active
    rows and columns are solved, which gives the vertex itself once the sets are right.
    Every candidate is judged by its certificate, and the best is returned.

    Parameters
    ----------
    A : CSC of shape (n, d)
        D X, the rows times their labels.
    y : ndarray of shape (n,)
        Labels, -1.0 and 1.0, both present.
    nu : float
        Price of a unit of slack, positive.
    """
    n, d = A.shape
    # in units of nu, 0 <= u <= 1 and the scale of X and nu no longer matter to epsilon
    A = A * nu
    rows = A.tocsr()
    u, v, balance = np.zeros(n), np.zeros(d), 0.0
    best = lpsvm_certified(
        A, y, 1.0, np.zeros(d), -1.0 if (y > 0).sum() * 2 >= n else 1.0, u
    )
    epsilon, steps = FIRST_EPSILON, 0
    while epsilon >= LAST_EPSILON and steps < max_iter:
        f = Penalty(rows, y, 1.0, epsilon)
        while steps < max_iter:
            g = f.gradient(u, v, balance)
            if np.abs(g).max() <= 1e-5 * epsilon:
                break
            try:
                s = newton_direction(A, y, 1.0, u, v, g, DAMPING * epsilon)
            except LinAlgError:  # epsilon has become too small for the arithmetic
                break
            vs, ys = A.T @ s, float(y @ s)
            t = _step(f, u, s, v, vs, balance, ys, float(g @ s))
            steps += 1
            if t == 0.0:
                break
            u, v, balance = u + t * s, v + t * vs, balance + t * ys
        v, balance = A.T @ u, float(y @ u)
        w, gamma = excess(v) / epsilon, -balance / epsilon
        for candidate in ((w, gamma, u), _vertex(A, y, 1.0, u, v)):
            certified = lpsvm_certified(
                A, y, 1.0, without_negligible(A, candidate[0]), *candidate[1:]
            )
            best = certified if certified.gap < best.gap else best
        if best.gap <= tol:
            break
        epsilon *= SHRINK
    return LPSolution(
        nu * best.w, best.gamma, nu * best.u, nu * best.objective, best.gap, steps
    )


def newton_direction(
    A: Any,
    y: Array,
    nu: float,
    u: Array,
    v: Array,
    g: Array,
    damping: float,
    alpha: float = ALPHA,
) -> Array:
    """Return -(B B^T + F)^-1 g, through the smaller of n and the number of active columns."""
    n = y.size
    F = damping + (u > nu) + alpha * (u < 0)
    B = sparse.hstack([A[:, np.flatnonzero(np.abs(v) > 1.0)], y[:, None]], format="csc")
    if B.shape[1] >= n:
        H = (B @ B.T).toarray()
        H[np.diag_indices(n)] += F
        return -cho_solve(
            cho_factor(H, lower=True, check_finite=False), g, check_finite=False
        )
    scaled = sparse.diags_array(1.0 / np.sqrt(F)) @ B
    K = (scaled.T @ scaled).toarray()
    K[np.diag_indices(K.shape[0])] += 1.0
    inner = cho_solve(
        cho_factor(K, lower=True, check_finite=False), B.T @ (g / F), check_finite=False
    )
    return (B @ inner - g) / F


def _step(
    f: Penalty,
    u: Array,
    s: Array,
    v: Array,
    vs: Array,
    balance: float,
    ys: float,
    slope: float,
) -> float:
    """Return the step length: the root of the piecewise linear slope along s, halved until Armijo's rule holds."""
    low, high, t = 0.0, np.inf, 1.0
    for _ in range(SLOPE_TRIALS):
        first, second = f.slopes(u + t * s, s, v + t * vs, vs, balance + t * ys, ys)
        if abs(first) <= 0.05 * abs(slope):
            break
        low, high = (t, high) if first < 0 else (low, t)
        guess = t - first / second if second > 0 else np.inf
        t = (
            guess
            if low < guess < high
            else (0.5 * (low + high) if high < np.inf else 2.0 * t)
        )
    value_at_u = f.value(u, v, balance)
    while (
        f.value(u + t * s, v + t * vs, balance + t * ys)
        > value_at_u + ARMIJO * t * slope
    ):
        t *= 0.5
        if t < 1e-12:
            return 0.0
    return t


def _vertex(
    A: Any, y: Array, nu: float, u: Array, v: Array
) -> tuple[Array, float, Array]:
    """Solve the optimality conditions with the active columns |v| > 1 and the free rows 0 < u < nu held fixed."""
    active, free = np.flatnonzero(np.abs(v) > 1.0), np.flatnonzero((u > 0) & (u < nu))
    w, fixed = np.zeros(v.size), np.where(u >= nu, nu, 0.0)
    if not active.size or not free.size:
        return w, 0.0, fixed
    columns = A[:, active]
    M = np.column_stack([columns[free].toarray(), -y[free]])
    primal = lstsq(M, np.ones(free.size), check_finite=False, lapack_driver="gelsy")[0]
    target = np.append(np.sign(v[active]) - columns.T @ fixed, y @ fixed)
    fixed[free] = lstsq(M.T, target, check_finite=False, lapack_driver="gelsy")[0]
    w[active] = primal[:-1]
    return w, float(primal[-1]), fixed
