"""Forward selection by the leave-one-out error of ridge regression, with rank-one updates for all candidates."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from provsel.kernels.ties import TIED

Array = NDArray[np.float64]

BLOCK = 1 << 16
"""Entries of the columns tried together: their parts stay in the cache of a processor."""


def forward_ridge(columns: Array, targets: Array, alpha: float) -> Iterator[int]:
    """Yield columns, each of which lowers the error most given the earlier ones, followed by constant columns.

    The error is the sum of the squared leave-one-out residuals over the targets, of
    ridge regression with an intercept that is not penalised. The first of equal
    candidates is picked.

    Parameters
    ----------
    columns : ndarray of shape (d, n)
        Centred columns of X, as rows; zero for constant ones.
    targets : ndarray of shape (n_targets, n)
        Centred.
    alpha : float
        Penalty, `alpha` of scikit-learn's `Ridge`.
    """
    # With G = (X_S X_S^T + I)^-1, where S are the picked columns and X has been divided
    # by sqrt(alpha), the leave-one-out residuals are (G t)_i / (G_ii - 1 / n). Adding
    # column x subtracts u u^T from G, where u = G x / sqrt(1 + x^T G x).
    d, n = columns.shape
    scaled = columns / np.sqrt(alpha)
    products = scaled.copy()  # G x of each candidate
    squares = np.einsum("dn,dn->d", scaled, scaled)  # x^T G x
    is_open = squares > 0
    constant = np.flatnonzero(~is_open)
    leverage_left = np.full(n, 1 - 1 / n)  # G_ii - 1 / n
    residuals = targets.copy()  # G t
    update = np.zeros(n)  # u of the last pick
    for _ in range(d - constant.size):
        errors = _errors_with(
            products, scaled, squares, leverage_left, residuals, update
        )
        errors[~is_open] = np.inf
        pick = int(np.argmax(errors <= errors.min() * (1 + TIED)))
        yield pick
        is_open[pick] = False
        update = products[pick] / np.sqrt(1 + squares[pick])
        leverage_left -= update**2
        residuals -= np.outer(
            residuals @ scaled[pick] / np.sqrt(1 + squares[pick]), update
        )
        squares -= (scaled @ update) ** 2
    yield from constant.tolist()


def _errors_with(
    products: Array,
    scaled: Array,
    squares: Array,
    leverage_left: Array,
    residuals: Array,
    update: Array,
) -> Array:
    """Return the error with each candidate, shape (d,); `products` get the last update in place."""
    d, n = products.shape
    errors = np.zeros(d)
    size = max(1, BLOCK // n)
    for start in range(0, d, size):
        block = slice(start, start + size)
        G_x = products[block]
        G_x -= np.outer(scaled[block] @ update, update)
        scale = 1 / np.sqrt(1 + np.maximum(squares[block], 0))
        u = G_x * scale[:, None]
        left = leverage_left - u**2
        for residual in residuals:
            slope = scaled[block] @ residual * scale
            changed = u * slope[:, None]
            np.subtract(residual, changed, out=changed)
            changed /= left
            errors[block] += np.einsum("dn,dn->d", changed, changed)
    return errors
