"""Random pivots: rows of V by adaptive randomized pivoting, and columns of X by randomly pivoted QR."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from provsel.kernels.column_span import dense_columns
from provsel.kernels.spectral import Array
from provsel.kernels.tails import column_squares

Columns = NDArray[np.int64]

DRIFT = 1e-8
"""Squared norms whose sum differs from k - t by more than this are recomputed."""

EXHAUSTED = 1e-13
"""Share of a column's squared residual at the start of a block below which it repeats columns of the block."""

WORN = 1e-5
"""Downdated squared norms are recomputed when their sum has fallen below this share of its last exact value."""

BLOCK = 2**20
"""Entries of the columns whose residuals are formed at once."""


def volume_sample(V: Array, rng: np.random.Generator) -> Columns:
    """Draw k rows S of V with probability det(V_S)^2: one pass of adaptive randomized pivoting.

    Row after row is drawn with probability proportional to its squared residual outside
    the rows drawn before. This is the projection determinantal point process with
    kernel V V^T. O(d k) per draw.

    Parameters
    ----------
    V : ndarray of shape (d, k)
        Orthonormal columns.
    rng : numpy.random.Generator
        One uniform number per draw.

    Returns
    -------
    ndarray of shape (k,), int64
        In order of the draws.
    """
    k = V.shape[1]
    chosen: list[int] = []
    norms = np.einsum("ij,ij->i", V, V)
    left, U = norms.copy(), np.zeros((k, k))
    for t in range(k):
        if abs(left.sum() - (k - t)) > DRIFT:
            left = np.maximum(
                norms - np.einsum("ij,ij->i", V @ U[:, :t], V @ U[:, :t]), 0.0
            )
            left[chosen] = 0.0
        j = _draw(left, rng.random(1))[0]
        u = V[j] - U[:, :t] @ (U[:, :t].T @ V[j])
        u -= U[:, :t] @ (U[:, :t].T @ u)
        u /= np.linalg.norm(u)
        U[:, t] = u
        left = np.maximum(left - (V @ u) ** 2, 0.0)
        chosen.append(int(j))
        left[chosen] = 0.0
    return np.array(chosen, dtype=np.int64)


def randomly_pivoted_columns(
    X: Any, r: int, block_size: int, rng: np.random.Generator
) -> Columns:
    """Draw up to r columns, each with probability proportional to its squared residual outside those drawn before.

    A block of columns is proposed by the residuals at its start; in turn, each is
    accepted with probability equal to its current residual over its initial one. The
    distribution is that of single draws, whatever the size of the blocks, but X is read
    once per block. O(r nnz + (n + d) r^2).

    Parameters
    ----------
    X : ndarray or CSC array of shape (n, d), float64
    r : int
    block_size : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of shape (k,), int64
        In order of the draws; k < r if the residual of every column is below 8 max(n,
        d) eps of its length.

    References
    ----------
    Epperly, Tropp, Webber (2024), arXiv 2410.03969, accelerated by rejection.
    """
    squares = column_squares(X)
    # the part of a column left by rounding
    zeros = (8 * max(X.shape) * np.finfo(np.float64).eps) ** 2 * squares
    left, exact = squares.copy(), float(squares.sum())
    Q = np.zeros((X.shape[0], 0), order="F")
    chosen: list[int] = []
    transposed = X.T
    while len(chosen) < r and left.sum() > 0:
        proposed = _draw(left, rng.random(block_size))
        chances = rng.random(block_size)
        block = dense_columns(X, proposed)
        for _ in range(2):
            block -= Q @ (Q.T @ block)
        block[:, np.einsum("ij,ij->j", block, block) <= zeros[proposed]] = 0.0
        accepted = _accepted(block, left[proposed], chances, r - len(chosen))
        if accepted.size == 0:  # a downdated norm was too large
            left = _exact_residuals(X, Q, zeros, chosen)
            continue
        new = qr(block[:, accepted], mode="economic", check_finite=False)[0]
        new = qr(new - Q @ (Q.T @ new), mode="economic", check_finite=False)[0]
        chosen += proposed[accepted].tolist()
        Q = np.hstack([Q, new])
        left = np.maximum(
            left - np.einsum("ij,ij->i", products := transposed @ new, products), 0.0
        )
        left[chosen] = 0.0
        if left.sum() < WORN * exact:
            left = _exact_residuals(X, Q, zeros, chosen)
            exact = float(left.sum())
    return np.array(chosen, dtype=np.int64)


def _exact_residuals(X: Any, Q: Array, zeros: Array, chosen: list[int]) -> Array:
    """Return `residual_squares`, with zeros for the chosen columns and up to `zeros`, shape (d,)."""
    left = residual_squares(X, Q)
    left[left <= zeros] = 0.0
    left[chosen] = 0.0
    return left


def residual_squares(X: Any, Q: Array, columns: Columns | None = None) -> Array:
    """Return the squared norms of the residuals of columns of X, all or some, outside the span of the orthonormal Q.

    Parameters
    ----------
    X : ndarray or CSC array of shape (n, d), float64
        One block of columns is dense at a time.
    Q : ndarray of shape (n, k)
    columns : ndarray of shape (m,), int64, optional

    Returns
    -------
    ndarray of shape (m,)
    """
    columns = np.arange(X.shape[1]) if columns is None else columns
    step = 1 + BLOCK // X.shape[0]
    squares = np.empty(columns.size)
    for start in range(0, columns.size, step):
        part = dense_columns(X, columns[start : start + step])
        for _ in range(2):
            part -= Q @ (Q.T @ part)
        squares[start : start + step] = np.einsum("ij,ij->j", part, part)
    return squares


def _accepted(
    block: Array, at_start: Array, chances: Array, most: int
) -> NDArray[np.int64]:
    """Return the positions in the block that are accepted, up to `most`: a Cholesky factorisation with rejections.

    Parameters
    ----------
    block : ndarray of shape (n, b)
        Residuals at the start of the block.
    at_start : ndarray of shape (b,)
        Their squared norms, which gave the proposal probabilities.
    chances : ndarray of shape (b,)
        Uniform numbers.
    """
    # otherwise products of squares of small values underflow
    exponent = -int(np.frexp(at_start.max())[1]) // 2
    block, at_start = np.ldexp(block, exponent), np.ldexp(at_start, 2 * exponent)
    gram = block.T @ block
    accepted: list[int] = []
    for i in range(at_start.size):
        # the first has its whole residual: a downdated norm in `at_start` must not
        # refuse it
        if gram[i, i] > 0 and (i == 0 or chances[i] * at_start[i] < gram[i, i]):
            accepted.append(i)
            if len(accepted) == most:
                break
            gram[i + 1 :, i + 1 :] -= (
                np.outer(gram[i + 1 :, i], gram[i, i + 1 :]) / gram[i, i]
            )
            repeats = np.flatnonzero(np.diagonal(gram) <= EXHAUSTED * at_start)
            gram[repeats, repeats] = 0.0
    return np.array(accepted, dtype=np.int64)


def _draw(weights: Array, uniforms: Array) -> NDArray[np.int64]:
    """Return positions drawn with probabilities proportional to `weights`, shape (d,), one for each uniform number."""
    ends = np.cumsum(weights)
    return (
        np.searchsorted(ends, uniforms * ends[-1], side="right")
        .clip(max=weights.size - 1)
        .astype(np.int64)
    )
