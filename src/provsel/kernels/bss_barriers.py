"""Both barriers of a BSS step: the two shifted inverses, and the scores of columns from them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgetrf, dgetri

Array = NDArray[np.float64]
Singles = NDArray[np.float32]

MAX_UPDATES = 24
"""Accepted columns between two eigenproblems: balances O(l^3 / j) against O(l j) per step."""

SIGNS = np.array([1.0, -1.0])
"""Signs of the lower and the upper barrier, for which sign (A - shift I) is positive definite."""

NEAR_POLE = 1.0
"""Solve the eigenproblem early when the lower barrier comes this close to an old eigenvalue. The current
spectrum stays more than 1 away from the barrier, so Woodbury's terms cancel at most a digit or two."""

TOUCHING = 1e-10
"""Distance from an eigenvalue at which the lower barrier counts as on it. That happens if t is the mean: sqrt(r rank)
can be a whole number, the barrier is 0 once, and A still singular. The remaining distance is then rounding, so that the
inverse is infinite, and no column feasible in this step and the next.
"""

ROUNDING = 8 * float(np.finfo(np.float32).eps)
"""Relative error of a sum of n terms in single precision, over sqrt(n): rounding errors add up like independent ones
(Higham and Mary, 2019), and 16 units of roundoff are far beyond anything observed. A wrong guess would cost the first
place in the order of norms, never feasibility, which is decided in double precision.
"""


SURELY = 1e-6
"""Share of its terms by which U - L is certainly positive in double precision."""


class Scores(NamedTuple):
    """Scores L and U of columns, each of shape (m,), and the forms z^T M z and z^T M^2 z of shape (2, m)."""

    L: Array
    U: Array
    linear: Array
    square: Array

    def of(self, k: int) -> Scores:
        """Return the scores and forms of the k-th column."""
        return Scores(self.L[k], self.U[k], self.linear[:, k], self.square[:, k])


class ExcessBound(NamedTuple):
    """A lower bound of U - L for unit vectors z, in single precision: z^2 d + (z^2 e)^2 + (z X^T) (z S^T)^T.

    Attributes
    ----------
    diagonals : ndarray of shape (2, rank)
        d and e.
    factors : ndarray of shape (2 j, rank)
        X above S.
    rounding : float
        Error of the sum.
    """

    diagonals: Singles
    factors: Singles
    rounding: float

    def is_positive(self, Z: Singles) -> NDArray[np.bool_]:
        """Tell for each row of Z, unit vectors of shape (n, rank), whether the bound is positive beyond rounding."""
        j, images = len(self.factors) // 2, Z @ self.factors.T
        linear, root = (np.square(Z) @ self.diagonals.T).T
        return (
            linear + root * root + np.vecdot(images[:, :j], images[:, j:])
            > self.rounding
        )


class Diagonals:
    """The shifted inverses (sign (diag(lam) - shift I))^-1 for an eigenbasis in the steps that use it.

    Parameters
    ----------
    lam : ndarray of shape (rank,)
    shifts : ndarray of shape (n_steps, 2)
        The lower and the upper barrier of the coming steps.

    Attributes
    ----------
    powers : ndarray of shape (n_served, 2, 2, rank)
        The two diagonals D of each step, and D^2.
    traces : ndarray of shape (n_served, 2)
    """

    def __init__(self, lam: Array, shifts: Array) -> None:
        is_near = (np.abs(lam - shifts[1:, :1]) < NEAR_POLE).any(axis=1)
        self.n_served = 1 + int(is_near.argmax()) if is_near.any() else len(shifts)
        gaps = lam - shifts[: self.n_served, :, None]
        gaps[np.abs(gaps) < TOUCHING] = 0.0
        D = SIGNS[:, None] / gaps
        self.powers, self.traces = np.stack([D, np.square(D)], axis=2), D.sum(axis=2)


class Barriers:
    """M = (sign (A - shift I))^-1 for the lower and the upper barrier, with A = diag(lam) + W^T W.

    The two go through the same operations, stacked in the first axis: the matrices of a
    step are so small that the number of calls matters more than the arithmetic. By
    Woodbury's identity M = D + S^T K S, with D diagonal, S = W D of shape (j, rank),
    and K = -(sign I + W D W^T)^-1 of shape (j, j).

    Parameters
    ----------
    diagonals : Diagonals
    step : int
        Index of the current step in `diagonals`.
    W : ndarray of shape (j, rank)
    old_traces : ndarray of shape (2,)
        Traces of both inverses before the barriers were shifted.

    Attributes
    ----------
    traces : ndarray of shape (2,)
    """

    def __init__(
        self, diagonals: Diagonals, step: int, W: Array, old_traces: Array
    ) -> None:
        powers, (j, rank) = diagonals.powers[step], W.shape
        scaled = powers[:, :, None] * W
        products = (scaled.reshape(4 * j, rank) @ W.T).reshape(2, 2, j, j)
        self._powers, self._W = powers, W
        # the second is S above S D
        self._S, self._scaled = scaled[:, 0], scaled.reshape(2, 2 * j, rank)
        self._gram = np.ascontiguousarray(products[:, 1])  # S S^T
        self._K = np.empty((2, j, j))
        for K, sign, product in zip(self._K, SIGNS, products[:, 0], strict=True):
            _negative_inverse(sign, product, K)
        self.traces = diagonals.traces[step] + np.vecdot(
            self._K.reshape(2, j * j), self._gram.reshape(2, j * j)
        )
        # each potential changes with the shift: the lower one grows, the upper one
        # falls
        self._weights = 1.0 / (old_traces - self.traces)

    def scores(self, Z: Array) -> Scores:
        """Return the scores of the rows of Z, shape (m, rank), given in the eigenbasis."""
        images = Z * self._powers[:, :1]  # rows z M, of shape (2, m, rank)
        images += Z @ self._S.transpose(0, 2, 1) @ self._K @ self._S
        linear, square = np.vecdot(images, Z), np.vecdot(images, images)
        minus_L, U = linear + self._weights[:, None] * square
        return Scores(-minus_L, U, linear, square)

    def leave_none(self) -> bool:
        """Return whether the eigenvalues of A alone show that no vector is feasible, as they can if t is the mean.

        A then hardly grows and all eigenvalues of A - lower are about the same. Their
        inverses x lie in a known interval: A - diag(lam) is positive semidefinite, of
        trace |W|^2.
        """
        (lower, _), upper = self._powers[0], self._powers[1, 0].min()
        most = lower.max()
        if not lower.min() > 0:  # the barrier is among the eigenvalues
            return False
        least = 1.0 / (1.0 / lower.min() + np.vdot(self._W, self._W))
        lower_weight, upper_weight = self._weights
        minus_L = min(x + lower_weight * x**2 for x in (least, most))
        return bool(
            minus_L + upper + upper_weight * upper**2
            > SURELY * (most + abs(lower_weight) * most**2)
        )

    def excess_bound(self) -> ExcessBound:
        """Return a lower bound of U - L: where it is positive, a column is infeasible.

        L is exact: M^2 = D^2 + (S D)^T K S + S^T K (S D) + S^T K (S S^T) K S, so that M + weight M^2 is diagonal but
        for the symmetric part of S^T X, X = (K + weight K S S^T K) S + 2 weight K (S D). The upper barrier is far off,
        so U is bounded by the diagonal: A >= diag(lam) makes M >= D there, and z^T M^2 z >= (z^T M z)^2 for a unit
        vector z.
        """
        (lower_weight, upper_weight), K, (j, rank) = (
            self._weights,
            self._K[0],
            self._S.shape[1:],
        )
        X = np.concatenate(
            [K + K @ (lower_weight * self._gram[0]) @ K, 2.0 * lower_weight * K], axis=1
        )
        factors = np.concatenate(
            [X @ self._scaled[0], self._S[0]], dtype=np.float32, casting="same_kind"
        )
        (D, square), upper = self._powers[0], self._powers[1, 0]
        lower = D + lower_weight * square
        diagonals = np.array(
            [lower + upper, np.sqrt(upper_weight) * upper], dtype=np.float32
        )
        largest = upper.max()
        size = np.abs(lower).max() + largest + upper_weight * largest**2
        size += math.sqrt(
            np.vdot(factors[:j], factors[:j]) * np.vdot(factors[j:], factors[j:])
        )
        return ExcessBound(diagonals, factors, ROUNDING * math.sqrt(rank) * float(size))


def _negative_inverse(sign: float, P: Array, out: Array) -> None:
    """Write -(sign I + P)^-1 for symmetric P, shape (j, j), to `out` (in place; P is overwritten)."""
    # LAPACK refuses empty matrices; `numpy.linalg.inv` takes half as long again
    if P.size:
        P.flat[:: len(P) + 1] += sign
        lu, pivots, _ = dgetrf(P.T)
        np.negative(dgetri(lu, pivots, overwrite_lu=1)[0], out=out)
