"""The convex feature-selective SVM in units for an interior point method, on some or all columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import lstsq

from provsel.kernels.diagonal_gram import gram_columns
from provsel.kernels.hinge_barrier import BarrierPoint, Parts, hinge_barrier

Array = NDArray[np.float64]

WORSE = 1e3
"""Factor above the least gap at which the steps end."""
FAR = 1e6
"""Largest h that is needed, because the quadratic part is then out of reach."""
MAX_POLISHED = 1500
"""Equations up to which the final active set is solved exactly."""
SHARP = 1e-9
"""Relative gap of a polished point that needs no further step; when the sets are right, it is rounding."""


class FeatureSelective(NamedTuple):
    """A primal-dual pair of the convex problem.

    Attributes
    ----------
    v : ndarray of shape (m,)
        Weights on the original features, with exact zeros.
    alpha : ndarray of shape (n,)
        Dual variables, 0 <= alpha <= 1/n.
    objective, dual : float
        Value of v, and the lower bound from alpha: the optimum lies between.
    gap : float
        (objective - dual) / objective.
    n_iter : int
        Steps of the interior point method, over all sets of columns.
    """

    v: Array
    alpha: Array
    objective: float
    dual: float
    gap: float
    n_iter: int


class FeatureSelectiveUnits:
    """The problem with v in units of `unit` and its value in units of 2 sqrt(c1 c2) unit, where the slope of |v| is 1.

    The penalty is |v| + max(0, |v| - h)^2 / (2 h) then. The unit is sqrt(c1 / c2), with h = 1, unless that is far more
    than a margin of 1 needs, as for counts: then every |v| would be tiny, and the steps short.
    """

    def __init__(self, c1: float, c2: float, X: Any, y: Array) -> None:
        squares = (
            X.power(2).sum(axis=0) if sparse.issparse(X) else np.square(X).sum(axis=0)
        )
        longest = np.sqrt(float(np.max(squares)) / y.size)
        corner = np.sqrt(c1 / c2)
        self.unit = min(corner, 1.0 / longest) if longest > 0 else corner
        self.h = corner / self.unit
        self.value = 2.0 * np.sqrt(c1 * c2) * self.unit
        self.C = 1.0 / (self.value * y.size)
        signs = y[:, None] * self.unit
        self.A = (
            sparse.csc_array(X.multiply(signs)) if sparse.issparse(X) else signs * X
        )
        near = min(self.h, FAR)
        self.parts = Parts.of(
            [1, -1, 1, -1],
            [1, 1, 1, 1],
            [0, 0, 1 / near, 1 / near],
            [near, near, np.inf, np.inf],
        )

    def certified(self, A: Any, v: Array, alpha: Array) -> FeatureSelective:
        """Return v and alpha with their values; A may be some of the columns only."""
        size = np.abs(v)
        loss = self.C * float(np.maximum(1.0 - A @ v, 0.0).sum())
        objective = loss + float(
            (size + np.maximum(size - self.h, 0.0) ** 2 / (2.0 * self.h)).sum()
        )
        pull = np.abs(A.T @ alpha)
        dual = float(alpha.sum() - 0.5 * self.h * np.maximum(pull**2 - 1.0, 0.0).sum())
        most = pull.max(initial=1.0)
        if alpha.sum() / most > dual:  # a large h punishes the last digit of |u| = 1
            alpha, dual = alpha / most, float(alpha.sum() / most)
        return FeatureSelective(
            v, alpha, objective, dual, max(objective - dual, 0.0) / objective, 0
        )

    def in_original_units(
        self, solution: FeatureSelective, n_iter: int
    ) -> FeatureSelective:
        """Return the pair in the units of X, c1 and c2."""
        v, alpha, objective, dual, gap, _ = solution
        return FeatureSelective(
            self.unit * v,
            self.value * alpha,
            self.value * objective,
            self.value * dual,
            gap,
            n_iter,
        )

    def on_columns(
        self, columns: NDArray[np.int64], accuracy: float, tol: float, max_iter: int
    ) -> tuple[Array, Array, int]:
        """Return v, shape (p,), and alpha of the problem on some columns, and the steps taken."""
        B = gram_columns(self.A, columns)
        steps, goal, rough = 0, accuracy, accuracy / 100 if accuracy > tol else 0.0
        inside, best = None, None
        for steps, point in enumerate(
            hinge_barrier(B, self.C, self.parts, max_iter=max_iter), start=1
        ):
            inner = self.certified(
                B, (self.parts.signs * point.x).sum(axis=0), point.alpha
            )
            inside = inner if inside is None or inner.gap < inside.gap else inside
            if inner.gap > WORSE * inside.gap:  # rounding increases the gap again
                break
            if inner.gap > goal and steps < max_iter:
                continue
            for v, alpha in self._sharpened(B, inner.v, point):
                sharpened = self.certified(B, v, alpha)
                best = sharpened if best is None or sharpened.gap < best.gap else best
            if best is not None and best.gap <= max(SHARP, rough):
                break
            goal *= 0.1
        if inside is not None and (best is None or best.gap > max(tol, inside.gap)):
            # zeros were guessed where a weight is as small as the threshold
            best = inside
        if best is None:
            return np.zeros(columns.size), np.full(B.shape[0], self.C), steps
        return best.v, best.alpha, steps

    def _sharpened(
        self, B: Any, v: Array, point: BarrierPoint
    ) -> list[tuple[Array, Array]]:
        """Return v with zeros and its alpha, and the exact solution on the same active set."""
        size = np.abs(v)
        v = np.where(size > 1.0 - np.abs(B.T @ point.alpha), v, 0.0)
        pairs = [(v, point.alpha)]
        linear, quadratic = (
            np.flatnonzero((v != 0) & side) for side in (size < self.h, size >= self.h)
        )
        used = point.alpha / self.C
        free = np.flatnonzero((used > point.slack) & (1.0 - used > point.excess))
        order = free.size + linear.size
        if not 0 < order <= MAX_POLISHED:
            return pairs
        # Margins of 1 on free rows, |u| = 1 on the linear part, v = h u on the
        # quadratic one, which is eliminated.
        fixed = np.where(used > 0.5, self.C, 0.0)
        fixed[free] = 0.0
        L, Q = (_dense(B[:, part]) for part in (linear, quadratic))
        system = np.zeros((order, order))
        system[: free.size, : free.size] = self.h * (Q[free] @ Q[free].T)
        system[: free.size, free.size :] = L[free]
        system[free.size :, : free.size] = L[free].T
        right = np.concatenate(
            [1.0 - self.h * (Q[free] @ (Q.T @ fixed)), np.sign(v[linear]) - L.T @ fixed]
        )
        solved = lstsq(system, right, check_finite=False, lapack_driver="gelsy")[0]
        fixed[free] = solved[: free.size]
        exact = np.zeros_like(v)
        exact[linear], exact[quadratic] = solved[free.size :], self.h * (Q.T @ fixed)
        return [*pairs, (exact, np.clip(fixed, 0.0, self.C))]


def _dense(part: Any) -> Array:
    return part.toarray() if sparse.issparse(part) else part
