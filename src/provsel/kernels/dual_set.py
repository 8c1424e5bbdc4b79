"""Dual set selection: rows of V with a large weighted Gram matrix whose columns of E are small."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from provsel.kernels.spectral import Array

Columns = NDArray[np.int64]

TIED = 1e-10
"""Differences of scores within this share of the larger score count as equal; the lowest index is taken."""


def dual_set_columns(V: Array, squares: Array, r: int) -> tuple[Columns, Array]:
    r"""Return at most r rows with weights s: lambda_min(sum s v v^T) >= h^2 and sum s ||e||^2 <= ||E||_F^2.

    h = 1 - sqrt(k / r). A barrier moves up by one in each of r steps; a row can be
    chosen again. O(d k^2) per step.

    Parameters
    ----------
    V : ndarray of shape (d, k)
        Orthonormal columns.
    squares : ndarray of shape (d,)
        ||e_j||^2 of the columns of E.
    r : int
        Greater than k.

    Returns
    -------
    columns : ndarray of shape (m,), int64
        m <= r, distinct, in order of selection.
    scales : ndarray of shape (m,)
        sqrt(s).

    Raises
    ------
    ArithmeticError
        If no step that the theorem guarantees was found, because the columns of V are
        not orthonormal.

    References
    ----------
    Boutsidis, Drineas, Magdon-Ismail (2014), dual set spectral-Frobenius
    sparsification.
    """
    d, k = V.shape
    h = 1 - math.sqrt(k / r)
    total = float(squares.sum())
    cost = h * squares / total if total > 0 else np.zeros(d)
    A = np.zeros((k, k))
    gained: dict[int, float] = {}
    for tau in range(r):
        lam, U = eigh(A, check_finite=False)
        level = tau - math.sqrt(r * k)
        inverse = 1 / (lam - (level + 1))
        moved = float((inverse - 1 / (lam - level)).sum())
        products = (V @ U) ** 2
        gain = products @ inverse**2 / moved - products @ inverse
        margin = gain - cost
        best = float(margin.max())
        j = int(np.flatnonzero(margin >= best - TIED * np.abs(gain).max())[0])
        if margin[j] < -1e-9 * np.abs(gain).max() or gain[j] + cost[j] <= 0:
            raise ArithmeticError(
                f"dual_set_columns: expected a row that gains more than it costs in step {tau}, got {best:.3g}; "
                f"the columns of V must be orthonormal."
            )
        t = 2 / (gain[j] + cost[j])
        gained[j] = gained.get(j, 0.0) + t
        A += t * np.outer(V[j], V[j])
    columns = np.array(list(gained), dtype=np.int64)
    return columns, np.sqrt(h / r * np.array(list(gained.values())))
