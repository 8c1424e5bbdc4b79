"""Columns chosen one by one so that an oblique projection onto them stays close to the best approximation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from provsel.kernels.spectral import Array
from provsel.kernels.tails import Tail

Columns = NDArray[np.int64]

TIED = 1e-10
"""Scores within this relative distance of the best count as equal; the lowest index is taken."""

DEPENDENT = 1e-13
"""A squared residual below this share of the largest is rounding: its row depends on those chosen."""

STALE = 1e-8
"""A downdated score that differs by more than this share from the exact one is replaced, and the choice repeated."""


def single_svd_columns(V: Array, tail: Tail) -> Columns:
    r"""Return k columns S with ||E||_F^2 + ||E_S (V_S^+)^T||_F^2 <= (k + 1) ||E||_F^2.

    With q_i the part of row v_i outside the span of the chosen ones, and F = E (I - Pi), Pi the oblique projector so
    far, choosing j adds ||f_j||^2 / ||q_j||^2 to ||F||_F^2. In step t, as the ||q_i||^2 sum to k - t, the least of
    these ratios is at most ||F||_F^2 / (k - t), and the growth factors multiply to k + 1.

    Parameters
    ----------
    V : ndarray of shape (d, k)
        Orthonormal columns.
    tail : Tail
        E; the tail of the identity makes the choice depend on V alone.

    Returns
    -------
    ndarray of shape (k,), int64
        In order of selection. Ratios within a relative 1e-10 count as equal and the
        lowest index is taken.

    References
    ----------
    Osinsky (2023), "Close to optimal column approximations with a single SVD".
    """
    d, k = V.shape
    chosen: list[int] = []
    left = np.einsum("ij,ij->i", V, V)  # ||q_i||^2
    # ||f_i||^2; if E is zero up to rounding, the largest ||q_i|| wins
    squares = tail.squares + tail.rounding
    U = np.zeros((k, k))
    A = np.zeros((tail.column(0).size, k), order="F")  # F = E - A P^T
    P = np.zeros((d, k), order="F")
    for t in range(k):
        while True:
            j = _least_ratio(squares, left)
            u = V[j] - U[:, :t] @ (U[:, :t].T @ V[j])
            u -= U[:, :t] @ (U[:, :t].T @ u)
            f = tail.column(j) - A[:, :t] @ P[j, :t]
            exact_left, exact_square = float(u @ u), float(f @ f) + tail.rounding
            ratio = exact_square / exact_left if exact_left > 0 else np.inf
            if ratio <= squares[j] / left[j] * (1 + STALE) or (
                left[j] == exact_left and squares[j] == exact_square
            ):
                break
            left[j], squares[j] = exact_left, exact_square
        u /= np.linalg.norm(u)
        p = V @ u
        p[chosen] = 0.0
        A[:, t] = f / p[j]
        g = tail.products(f) - P[:, :t] @ (A[:, :t].T @ f)
        share = p / p[j]
        squares += share * (float(f @ f) * share - 2 * g)
        left -= p**2
        np.maximum(squares, tail.rounding, out=squares)
        np.maximum(left, 0.0, out=left)
        U[:, t], P[:, t] = u, p
        chosen.append(j)
        left[j] = squares[j] = 0.0
    return np.array(chosen, dtype=np.int64)


def _least_ratio(squares: Array, left: Array) -> int:
    """Return the row with the smallest ratio among rows independent of the chosen ones; ties by index."""
    open_rows = np.flatnonzero(left > DEPENDENT * left.max())
    ratios = squares[open_rows] / left[open_rows]
    return int(open_rows[np.flatnonzero(ratios <= ratios.min() * (1 + TIED))[0]])
