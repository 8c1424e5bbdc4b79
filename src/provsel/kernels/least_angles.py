"""The first features of least angle regression, on many samples of the rows at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ENTRIES = 1 << 18
"""Size of an array with all features of the problems that are solved together (2 MB)."""

NOTHING = -1

NEVER = 1e-200
"""Replaces the rate at which a column approaches the active ones, for columns that never reach them."""

EQUAL = 1e-10
"""Squared length, relative to one, below which a column is in the span of earlier ones, and share of the correlation
within which two columns enter together or the residual is zero."""


def first_least_angles(
    columns: Array, samples: NDArray[np.int64], targets: Array, count: int
) -> NDArray[np.int64]:
    """Return the features in order of entry, shape (n_samples, count); -1 after the end of the path.

    Columns have mean 0 and variance 1 on the rows of the sample. Those that are
    constant there, or in the span of columns that entered before, never enter. Columns
    that enter together are sorted by index.

    Parameters
    ----------
    columns : ndarray of shape (d, n)
        Standardised columns of X, as rows.
    samples : ndarray of shape (n_samples, m), int64
        Rows of each sample.
    targets : ndarray of shape (n_samples, n)
        Target of the regression for each sample.
    count : int
    """
    size = max(1, ENTRIES // columns.shape[0])
    blocks = []
    for start in range(0, len(samples), size):
        block = slice(start, start + size)
        blocks.append(_Problems(columns, samples[block], targets[block]).first(count))
    return np.concatenate(blocks)


class _Problems:
    """Least angle regression on several samples of the rows.

    The product of the direction v with each active column is the sign of its
    correlation, so all active correlations fall at rate 1. When a column enters, v
    changes by a multiple of its part orthogonal to the earlier ones, and products with
    all columns are updated, so that no system is solved.

    Attributes
    ----------
    mask : ndarray of shape (n_samples, n)
    inverse_norms : ndarray of shape (n_samples, d)
        Norms of the columns centred on the sample; 0 for constant columns.
    correlations, rates : ndarray of shape (n_samples, d)
        Products with the residual, and with v.
    remaining : ndarray of shape (n_samples, d)
        Squared length of the part of each column, of length 1, that is orthogonal to
        the active ones.
    closed : ndarray of shape (n_samples, d)
        Infinite if the column cannot enter any more, otherwise 0.
    largest : ndarray of shape (n_samples,)
        Absolute correlation of the active columns.
    """

    def __init__(
        self, columns: Array, samples: NDArray[np.int64], targets: Array
    ) -> None:
        self.columns = columns
        n_samples, m = samples.shape
        self.every = np.arange(n_samples)
        self.mask = np.zeros((n_samples, columns.shape[1]))
        self.mask[self.every[:, None], samples] = 1.0
        means = self.mask @ columns.T / m
        squares = self.mask @ (columns**2).T - m * means**2
        varies = squares > EQUAL * m
        self.remaining = np.where(varies, 1.0, 0.0)
        self.closed = np.where(varies, 0.0, np.inf)
        self.inverse_norms = np.where(
            varies, 1 / np.sqrt(np.where(varies, squares, 1.0)), 0.0
        )
        residual = self._centred(targets)
        self.correlations = residual @ columns.T * self.inverse_norms
        self.rates = np.zeros_like(self.correlations)
        self.largest = np.abs(self.correlations).max(axis=1)
        self.limit = EQUAL * np.linalg.norm(residual, axis=1)

    def _centred(self, values: Array) -> Array:
        """Return the values minus their mean on the sample, shape (n_samples, n); 0 on other rows."""
        counts = self.mask.sum(axis=1, keepdims=True)
        inside = values * self.mask
        return inside - self.mask * inside.sum(axis=1, keepdims=True) / counts

    def first(self, count: int) -> NDArray[np.int64]:
        """Return the first features, shape (n_samples, count)."""
        n_samples, n = self.mask.shape
        order = np.full((n_samples, count), NOTHING)
        basis = np.zeros((n_samples, count, n))
        for place in range(count):
            entering, fresh, lengths = self._enter(basis[:, :place])
            is_going = entering != NOTHING
            if not is_going.any():
                break
            order[:, place] = entering
            chosen = self.every, np.maximum(entering, 0)
            basis[:, place] = fresh
            signs = np.sign(self.correlations[chosen])
            growth = np.where(
                is_going,
                (signs - self.rates[chosen]) / np.where(is_going, lengths, 1.0),
                0.0,
            )
            products = fresh @ self.columns.T
            products *= self.inverse_norms
            self.remaining -= products**2
            # in text, most columns are copies within a half of the rows, and trying
            # them one by one would take most of the time
            self.closed[self.remaining <= EQUAL] = np.inf
            products *= growth[:, None]
            self.rates += products
        return order

    def _enter(self, basis: Array) -> tuple[NDArray[np.int64], Array, Array]:
        """Move to the point where the next columns enter; return them, their orthonormal parts and these lengths."""
        entering = np.full(self.every.size, NOTHING)
        fresh = np.zeros_like(self.mask)
        lengths = np.zeros(self.every.size)
        waiting = self.largest > self.limit
        while waiting.any():
            steps = self._steps()
            least = steps.min(axis=1) + EQUAL * self.largest
            chosen = np.argmax(steps <= least[:, None], axis=1)
            step = np.maximum(steps[self.every, chosen], 0.0)
            waiting &= step < self.largest - self.limit
            step = np.where(waiting, step, 0.0)
            if step.any():
                self.correlations -= step[:, None] * self.rates
            self.largest = self.largest - step
            part = (
                self._centred(self.columns[chosen])
                * self.inverse_norms[self.every, chosen][:, None]
            )
            for _ in range(2):  # twice, to remove rounding errors
                part -= np.einsum(
                    "sk,skn->sn", np.einsum("skn,sn->sk", basis, part), basis
                )
            length = np.linalg.norm(part, axis=1)
            self.closed[self.every[waiting], chosen[waiting]] = np.inf
            enters = waiting & (length**2 > EQUAL)
            entering[enters] = chosen[enters]
            fresh[enters] = part[enters] / length[enters, None]
            lengths[enters] = length[enters]
            waiting &= ~enters
        return entering, fresh, lengths

    def _steps(self) -> Array:
        """Return the step at which each column reaches the active correlation, shape (n_samples, d).

        Infinite for closed columns. For copies of active columns it is a rounding
        error, so that they are chosen early, and closed.
        """
        steps = self.largest[:, None] - self.correlations
        steps /= np.maximum(1.0 - self.rates, NEVER)
        falling = self.largest[:, None] + self.correlations
        falling /= np.maximum(1.0 + self.rates, NEVER)
        np.minimum(steps, falling, out=steps)
        steps += self.closed
        return steps
