"""Spectral selection by one barrier: exactly r unweighted rows of V whose Gram matrix is bounded away from zero."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.optimize import brentq, minimize_scalar

from provsel.kernels.spectral import Array
from provsel.kernels.ties import TIED, rank_descending

Columns = NDArray[np.int64]

WIDER = 1e-3
"""Share by which brackets of the barrier are widened, against rounding at their ends."""

CERTIFIED = 1e-9
"""Relative slack of the check that a step meets its guarantee."""


def spectral_bound(d: int, k: int, r: int) -> float:
    r"""Return the sigma_min(V_S)^2 that `spectral_columns` guarantees for r of d rows, (k/d) ((r - a) / (a - 1))^2.

    a = sqrt((r - 1) k + 1); for k = 1 it is r / d.

    References
    ----------
    Kozyrev and Osinsky (2025), arXiv 2507.20435.
    """
    if k == 1:
        return r / d
    alpha = math.sqrt((r - 1) * k + 1)
    return k / d * ((r - alpha) / (alpha - 1)) ** 2


def spectral_columns(V: Array, r: int) -> Columns:
    r"""Return r rows S of V with sigma_min(V_S)^2 >= `spectral_bound(d, k, r)`.

    With Y = V_S^T V_S so far and a barrier l below its spectrum where tr (Y - l I)^-1 =
    eps, each step moves the barrier up by a delta that some row allows: the row whose
    gain is largest. O(d k^2) per step. Each step checks that the chosen row keeps the
    trace, so that the guarantee holds for every returned selection.

    Parameters
    ----------
    V : ndarray of shape (d, k)
        Orthonormal columns.
    r : int
        At least k, at most d.

    Returns
    -------
    ndarray of shape (r,), int64
        In order of selection.

    Raises
    ------
    ArithmeticError
        If no step that the theorem guarantees was found, because the columns of V are
        not orthonormal.

    References
    ----------
    Kozyrev and Osinsky (2025), arXiv 2507.20435. The condition checked in each step is
    provsel's own wording.
    """
    d, k = V.shape
    if k == 1:
        return rank_descending(np.abs(V[:, 0]))[:r]
    eps = _barrier_trace(d, k, r)
    Y = np.zeros((k, k))
    is_open = np.ones(d, dtype=bool)
    chosen: list[int] = []
    for s in range(r):
        lam, U = eigh(Y, check_finite=False)
        low, high = lam[0] - k / eps * (1 + WIDER), lam[0] - 1 / eps * (1 - WIDER)
        barrier = float(
            brentq(
                lambda level, lam=lam: float((1 / (lam - level)).sum()) - eps,
                low,
                high,
                xtol=1e-300,
            )
        )
        # only rounding can give another eps; the barrier must stay below the spectrum
        # after the step
        delta = min(_step(barrier, eps, k, d - s), (lam[0] - barrier) * (1 - 1e-12))
        inverse = 1 / (lam - (barrier + delta))
        squares = (V @ U) ** 2
        gains = (squares @ inverse**2) / (1 + squares @ inverse)
        gains[~is_open] = -np.inf
        best = gains.max()
        if best < inverse.sum() - eps * (1 + CERTIFIED):
            raise ArithmeticError(
                f"spectral_columns: expected a row with a gain of {inverse.sum() - eps:.6g} in step {s}, got {best:.6g}"
                f"; the columns of V must be orthonormal."
            )
        j = int(np.flatnonzero(gains >= best - TIED * abs(best))[0])
        chosen.append(j)
        is_open[j] = False
        Y += np.outer(V[j], V[j])
    return np.array(chosen, dtype=np.int64)


def _step(barrier: float, eps: float, k: int, left: int) -> float:
    """Return how far the barrier may move: the smaller root of (eps/k) x^2 - (1 + eps w / N) x + w / N, N rows left."""
    w = 1.0 - barrier - k / eps
    b, c = 1.0 + eps * w / left, w / left
    return 2 * c / (b + math.sqrt(max(b * b - 4 * eps / k * c, 0.0)))


def _barrier_trace(d: int, k: int, r: int) -> float:
    """Return the eps with the best guarantee of r steps, r delta - (k - 1) / eps, whose maximum is `spectral_bound`."""

    def lost(log_eps: float) -> float:
        eps = math.exp(log_eps)
        return (k - 1) / eps - r * _step(-k / eps, eps, k, d)

    middle = math.log(d)
    minimum = minimize_scalar(
        lost,
        bounds=(middle - 12, middle + 12),
        method="bounded",
        options={"xatol": 1e-10},
    )
    return math.exp(float(minimum.x))
