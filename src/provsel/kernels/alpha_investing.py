"""Alpha-investing: one pass over the columns, each tested against a wealth that acceptances replenish."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import erfc

from provsel.kernels.spectral import Array, Matrix

BLOCK = 64
"""Columns that are made dense and projected together, by matrix products instead of vector products."""

CANCELLED = 1e-5
"""Where a squared length outside the span is a smaller fraction of the whole, it is not taken as a difference."""

DEPENDENT = 1e-8
"""A column of which less than this fraction lies outside the span of the accepted ones explains nothing new."""

P_VALUES: dict[str, Callable[[float], float]] = {
    "likelihood_ratio": lambda statistic: math.exp(-statistic / 2),
    "chi2": lambda statistic: float(erfc(math.sqrt(statistic / 2))),  # upper tail, one degree of freedom
}
"""From n drop / RSS, twice the gain in log-likelihood at the current variance, to a p-value."""


@dataclass(frozen=True)
class Investment:
    """What one pass accepted.

    Attributes
    ----------
    accepted : ndarray of shape (k,), int64
        Columns, increasing.
    p_values : ndarray of shape (d,)
        1 for columns in the span of the constant and the accepted ones before them.
    wealth : ndarray of shape (d,)
        After each column.
    residual : ndarray of shape (n,)
        Of the target after the last column; orthogonal to the constant and the accepted columns.
    """

    accepted: NDArray[np.int64]
    p_values: Array
    wealth: Array
    residual: Array


def alpha_investing(X: Matrix, target: Array, *, wealth: float, delta: float, p_value: str) -> Investment:
    """Test the columns in their order; the i-th, from 1, is accepted when its p-value is below wealth / (2 i).

    The residual of `target` is that of least squares on the constant and the accepted columns. An orthonormal
    basis of these is kept, so that a column costs O(n k), with k accepted; memory O(n (k + `BLOCK`)) beside X.

    Parameters
    ----------
    X : ndarray or sparse of shape (n, d)
        Sparse X is made dense `BLOCK` columns at a time.
    target : ndarray of shape (n,)
        Not constant.
    wealth, delta : float
        The wealth at the start, and what an acceptance adds; every test costs its level.
    p_value : {"likelihood_ratio", "chi2"}
    """
    n, d = X.shape
    X = X.tocsc() if sparse.issparse(X) else X
    tail = P_VALUES[p_value]
    directions, k = np.full((n, 8), 1 / math.sqrt(n), order="F"), 1  # the first k columns count
    residual = _outside(directions[:, :1], target.astype(np.float64))
    rss = float(residual @ residual)
    # a residual of rounding errors would be explained by anything
    exhausted = rss * DEPENDENT**2
    accepted: list[int] = []
    p_values, path = np.ones(d), np.empty(d)
    for start in range(0, d, BLOCK):
        block = _dense_columns(X, start, min(start + BLOCK, d))
        sizes = np.einsum("ij,ij->j", block, block)
        inside = directions[:, :k].T @ block
        squares = sizes - np.einsum("ij,ij->j", inside, inside)
        # numbers of Python: a thousand columns of a thousand rows take no longer than their tests
        numbers = list(zip(sizes.tolist(), squares.tolist(), (residual @ block).tolist(), strict=True))
        for offset in range(block.shape[1]):
            i, (size, square, product) = start + offset, numbers[offset]
            level = wealth / (2 * (i + 1))
            wealth -= level
            if square < size * CANCELLED:
                z = _outside(directions[:, :k], block[:, offset])
                square, product = float(z @ z), float(z @ residual)
            if rss > exhausted and square > size * DEPENDENT**2:
                p = p_values[i] = tail(n * (product * product / square) / rss)
                if p < level:
                    accepted.append(i)
                    wealth += delta
                    z = _outside(directions[:, :k], block[:, offset])
                    directions = _with_room(directions, k)
                    directions[:, k] = q = z / np.linalg.norm(z)
                    k += 1
                    residual = _outside(q[:, None], residual)
                    rss = float(residual @ residual)
                    later = block[:, offset + 1 :]
                    squares[offset + 1 :] -= (q @ later) ** 2
                    found = sizes[offset + 1 :], squares[offset + 1 :], residual @ later
                    numbers[offset + 1 :] = zip(*(values.tolist() for values in found), strict=True)
            path[i] = wealth
    return Investment(np.asarray(accepted, dtype=np.int64), p_values, path, residual)


def _outside(basis: Array, column: Array) -> Array:
    """Return `column`, shape (n,), less its projection on `basis`, shape (n, k), orthonormal; done twice."""
    once = column - basis @ (basis.T @ column)
    return once - basis @ (basis.T @ once)


def _with_room(directions: Array, k: int) -> Array:
    """Return `directions` with at least one column beyond the first k, which it may have copied."""
    if k < directions.shape[1]:
        return directions
    larger = np.empty((directions.shape[0], 2 * k), order="F")
    larger[:, :k] = directions
    return larger


def _dense_columns(X: Matrix, start: int, stop: int) -> Array:
    columns = X[:, start:stop]
    return np.asarray(columns.toarray(order="F") if sparse.issparse(X) else columns, dtype=np.float64)
