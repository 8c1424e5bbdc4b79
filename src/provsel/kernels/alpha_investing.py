"""Alpha-investing: one pass over the columns, whose tests spend a wealth that acceptances replenish."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import erfc

from provsel.kernels.spectral import Array, Matrix
from provsel.kernels.tails import column_squares

BLOCK = 64
"""Columns made dense and projected together, by matrix products instead of vector products."""

CANCELLED = 1e-5
"""If a squared length outside the span is a smaller fraction of the whole, it is not computed as a difference."""

DEPENDENT = 1e-8
"""A column with less than this fraction outside the span of the accepted ones explains nothing new."""

P_VALUES: dict[str, Callable[[Array], Array]] = {
    "likelihood_ratio": lambda statistics: np.exp(-0.5 * statistics),
    # upper tail, one degree of freedom
    "chi2": lambda statistics: np.asarray(erfc(np.sqrt(0.5 * statistics))),
}
"""From n drop / RSS, twice the gain in log-likelihood at the current variance, to p-values, elementwise."""


@dataclass(frozen=True)
class Investment:
    """The result of one pass.

    Attributes
    ----------
    accepted : ndarray of shape (k,), int64
        Columns, increasing.
    p_values : ndarray of shape (d,)
        1 for columns in the span of the constant and the accepted ones before them.
    wealth : ndarray of shape (d,)
        After each column.
    residual : ndarray of shape (n,)
        Residual of the target after the last column; orthogonal to the constant and the
        accepted columns.
    """

    accepted: NDArray[np.int64]
    p_values: Array
    wealth: Array
    residual: Array


def alpha_investing(
    X: Matrix, target: Array, *, wealth: float, delta: float, p_value: str
) -> Investment:
    """Test the columns in order; the i-th, from 1, is accepted if its p-value is below wealth / (2 i).

    The residual of `target` is taken from least squares on the constant and the
    accepted columns. An orthonormal basis of these is kept, so that a column costs O(n
    k), with k accepted columns; memory O(n (k + `BLOCK`)) beside X.

    Parameters
    ----------
    X : ndarray or sparse of shape (n, d)
        Sparse X is made dense `BLOCK` columns at a time.
    target : ndarray of shape (n,)
        Not constant.
    wealth, delta : float
        The wealth at the start, and the amount that an acceptance adds; every test
        costs its level.
    p_value : {"likelihood_ratio", "chi2"}
    """
    n, d = X.shape
    X = X.tocsc() if sparse.issparse(X) else X
    tail, sizes = P_VALUES[p_value], column_squares(X)
    # the first k columns count
    directions, k = np.full((n, 8), 1 / math.sqrt(n), order="F"), 1
    residual = _outside(directions[:, :1], target.astype(np.float64))
    rss = float(residual @ residual)
    # any column would explain a residual of rounding errors
    exhausted = rss * DEPENDENT**2
    accepted: list[int] = []
    p_values = np.ones(d)
    # the wealth after a column is a `share` of one number, which grows when a column is
    # accepted
    share = np.multiply.accumulate(1 - 0.5 / np.arange(1, d + 1))
    prices = np.concatenate([[1.0], share[:-1]]) * (0.5 / np.arange(1, d + 1))
    shared = [wealth]
    for start in range(0, d, BLOCK):
        if rss <= exhausted:
            break
        block = _dense_columns(X, start, min(start + BLOCK, d))
        b, whole, price = (
            block.shape[1],
            sizes[start : start + BLOCK],
            prices[start : start + BLOCK],
        )
        # a row for each direction, of which the block may add b
        inside = np.empty((k + b, b))
        inside[:k] = directions[:, :k].T @ block
        squares, too_small = (
            whole - np.einsum("ij,ij->j", inside[:k], inside[:k]),
            CANCELLED * whole,
        )
        products = residual @ block
        first = 0  # earlier columns are done
        while first < b and rss > exhausted:
            # all remaining columns are tested as if none of them were accepted, which
            # is right up to the first accepted one
            left, levels = squares[first:], shared[-1] * price[first:]
            doubtful = left <= too_small[first:]
            any_doubtful = bool(doubtful.any())
            if any_doubtful:
                left = np.where(doubtful, np.inf, left)
            block_p_values = tail(products[first:] ** 2 / left * (n / rss))
            passed = block_p_values < levels
            if any_doubtful:
                passed &= ~doubtful
            count = int(passed.argmax())  # passed over
            count = count if passed[count] else b - first
            for i in np.flatnonzero(doubtful[:count]).tolist() if any_doubtful else ():
                z = _outside(directions[:, :k], block[:, first + i])
                square = float(z @ z)
                if square > whole[first + i] * DEPENDENT**2:
                    block_p_values[i] = tail(
                        np.asarray((z @ residual) ** 2 / square * (n / rss))
                    )
                    if block_p_values[i] < levels[i]:
                        count = i
                        break
            j = first + count
            p_values[start + first : start + min(j + 1, b)] = block_p_values[
                : count + 1
            ]
            first = j + 1
            if j == b:
                break
            accepted.append(start + j)
            shared.append(shared[-1] + delta / share[start + j])
            z = block[:, j] - directions[:, :k] @ inside[:k, j]
            z -= directions[:, :k] @ (directions[:, :k].T @ z)
            directions = _with_room(directions, k)
            directions[:, k] = q = z / math.sqrt(z @ z)
            product = q @ residual
            residual = residual - product * q
            residual -= (q @ residual) * q
            rss = float(residual @ residual)
            later = block[:, first:]
            along = inside[k, first:] = q @ later
            squares[first:] -= along**2
            # its error is rounding of the target, like that of the residual
            products[first:] -= product * along
            k += 1
    path = np.repeat(shared, np.diff([0, *accepted, d])) * share
    return Investment(np.asarray(accepted, dtype=np.int64), p_values, path, residual)


def _outside(basis: Array, column: Array) -> Array:
    """Return `column`, shape (n,), minus its projection on the orthonormal `basis`, shape (n, k), projected twice."""
    once = column - basis @ (basis.T @ column)
    return once - basis @ (basis.T @ once)


def _with_room(directions: Array, k: int) -> Array:
    """Return `directions` with room for at least one column beyond the first k, possibly as a copy."""
    if k < directions.shape[1]:
        return directions
    larger = np.empty((directions.shape[0], 2 * k), order="F")
    larger[:, :k] = directions
    return larger


def _dense_columns(X: Matrix, start: int, stop: int) -> Array:
    columns = X[:, start:stop]
    return np.asarray(
        columns.toarray(order="F") if sparse.issparse(X) else columns, dtype=np.float64
    )
