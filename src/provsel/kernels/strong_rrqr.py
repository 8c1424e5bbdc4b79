"""Strong rank-revealing QR: exchanges of columns until none enlarges their volume by more than a factor f."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, solve_triangular

from provsel.kernels.column_span import dense_columns
from provsel.kernels.randomized_pivoting import residual_squares
from provsel.kernels.spectral import Array
from provsel.kernels.tails import column_squares

Columns = NDArray[np.int64]

TIED = 1e-10
"""Factors relatively this close to the largest count as equal: the lowest column enters at the earliest place."""

REACH = 1e-14
"""Bound on the error of a residual's square computed by difference, in shares of the column's."""


@dataclass(frozen=True)
class Exchanged:
    """Columns after the exchanges.

    Attributes
    ----------
    columns : ndarray of shape (k,), int64
        A column that came in takes the position of the one that it replaced.
    n_exchanges : int
    largest_factor : float
        Factor by which any remaining single exchange multiplies the volume; at most f.
    """

    columns: Columns
    n_exchanges: int
    largest_factor: float


def exchanged_columns(X: Any, start: Columns, f: float) -> Exchanged:
    r"""Exchange columns while one exchange multiplies the volume sqrt(det(C^T C)) by more than f.

    Let C = X_S = Q R, M = R^-1 Q^T X, gamma_j the norm of the part of column j outside C, and omega_i the norm of row i
    of R^-1. Exchanging S_i for j has the factor rho_ij = sqrt(M_ij^2 + gamma_j^2 omega_i^2). O(n d k) per exchange.
    Starting from the pivots of a column-pivoted QR needs few: at most log_f sqrt(k!), since this bounds how far they
    can fall short of the largest volume.

    Parameters
    ----------
    X : ndarray or CSC array of shape (n, d), float64
        Sparse X is made dense in blocks of columns, only those whose residual must be
        known exactly.
    start : ndarray of shape (k,), int64
        Independent columns.
    f : float
        At least 1; with 1 the volume is a local maximum.

    References
    ----------
    Gu and Eisenstat (1996), Algorithm 4.
    """
    chosen, n_exchanges = start.copy(), 0
    squares = column_squares(X)
    Q, R = _factors(X, chosen)
    while True:
        i, j, largest = _largest_factor(X, chosen, Q, R, squares)
        if largest <= f * (1 + TIED):
            break
        exchanged = chosen.copy()
        exchanged[i] = j
        volume = _log_volume(R)
        Q, R = _factors(X, exchanged)
        if _log_volume(R) <= volume:  # rounding alone suggested this exchange
            break
        chosen, n_exchanges = exchanged, n_exchanges + 1
    return Exchanged(chosen, n_exchanges, largest)


def _factors(X: Any, columns: Columns) -> tuple[Array, Array]:
    Q, R = qr(dense_columns(X, columns), mode="economic", check_finite=False)
    return Q, R


def _log_volume(R: Array) -> float:
    return float(np.log(np.abs(np.diagonal(R))).sum())


def _largest_factor(
    X: Any, chosen: Columns, Q: Array, R: Array, squares: Array
) -> tuple[int, int, float]:
    """Return place i, column j and the factor of the exchange that enlarges the volume most."""
    QX = np.asarray(X.T @ Q).T
    M = solve_triangular(R, QX, check_finite=False)
    inverse = solve_triangular(R, np.eye(R.shape[0]), check_finite=False)
    omega = np.einsum("ij,ij->i", inverse, inverse)
    M *= M
    M[:, chosen] = 0.0
    gamma = np.maximum(squares - np.einsum("ij,ij->j", QX, QX), 0.0)
    gamma[chosen] = 0.0
    slack = REACH * squares
    slack[chosen] = 0.0
    # By difference, gamma has an error that omega may enlarge: possible largest factors
    # are computed exactly.
    upper = (M + np.outer(omega, gamma + slack)).max(axis=0)
    lower = (M + np.outer(omega, np.maximum(gamma - slack, 0.0))).max(axis=0).max()
    doubtful = np.flatnonzero(
        (upper >= lower * (1 - TIED)) & (slack * omega.max() > TIED * upper)
    )
    gamma[doubtful] = residual_squares(X, Q, doubtful)
    factors = M + np.outer(omega, gamma)
    of_column = factors.max(axis=0)
    j = int(np.flatnonzero(of_column >= of_column.max() * (1 - TIED))[0])
    i = int(np.flatnonzero(factors[:, j] >= factors[:, j].max() * (1 - TIED))[0])
    return i, j, float(np.sqrt(factors[i, j]))
