"""HSIC lasso: non-negative weights with which the kernels of features approximate that of the target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from provsel.kernels.spectral import Array

BLOCK = 1 << 18
"""Values of kernels computed at once: 2 MiB, and a few times that for their inputs."""

N_CANDIDATES = 200
"""Number of features of largest HSIC with the target on which the path is first computed; the others are then checked.
"""

NEAR_ZERO = 1e-12
"""Kernels of a smaller norm, for each row of a block, are those of constants."""

DEPENDENT = 1e-6
"""Error of the gradient along the path beyond which features with weight depend on each other."""

EQUAL = 1e-10
"""Gradients and steps that differ by less, as a share of the largest penalty, are equal: the first of copies enters."""

OPTIMAL = 1e-9
"""Share of the largest penalty by which a feature may exceed the path's, from rounding."""


def row_blocks(
    n: int, size: int, n_permutations: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return blocks of rows in random order, shape (n_blocks, size): all rows `n_permutations` times but a remainder.

    A single block of all rows, shape (1, n), if there are at most `size`.
    """
    if n <= size:
        return np.arange(n)[None]
    orders = [rng.permutation(n)[: n // size * size] for _ in range(n_permutations)]
    return np.concatenate(orders).reshape(-1, size)


def block_kernels(values: Array, discrete: NDArray[np.bool_]) -> Array:
    """Return the centred kernels of norm 1 of columns in blocks of rows, as vectors, shape (n_blocks * m, d).

    Gaussian kernels of width 1; for codes, 1 / (their number in the block) for equal
    ones. A symmetric matrix of shape (size, size) becomes a vector of its diagonal and,
    times sqrt(2), of the entries above it: m = size (size + 1) / 2 values with the same
    inner products.

    Parameters
    ----------
    values : ndarray of shape (n_blocks, size, d)
    discrete : ndarray of shape (d,), bool
    """
    n_blocks, size, d = values.shape
    kernels = np.empty((n_blocks, size * (size + 1) // 2, d))
    diagonal, above = kernels[:, :size], kernels[:, size:]
    # by the rows of a kernel, in place: new memory for both values of all pairs costs
    # more than exp
    for row, later, pairs in _upper_rows(size):
        np.subtract(values[:, later], values[:, row], out=above[:, pairs])
    equal = above[:, :, discrete] == 0
    np.square(above, out=above)
    above *= -0.5
    np.exp(above, out=above)
    above[:, :, discrete] = equal
    sums = np.ones((n_blocks, size, d))
    for row, later, pairs in _upper_rows(size):
        sums[:, row] += above[:, pairs].sum(axis=1, keepdims=True)
        sums[:, later] += above[:, pairs]
    diagonal[:] = np.where(discrete, 1.0 / sums, 1.0)
    if discrete.any():
        for row, _, pairs in _upper_rows(size):
            above[:, pairs] *= diagonal[:, row]
        sums *= diagonal
    # K - row means - column means + mean
    means = sums / size
    means -= means.mean(axis=1, keepdims=True) / 2
    diagonal -= 2 * means
    for row, later, pairs in _upper_rows(size):
        above[:, pairs] -= means[:, row]
        above[:, pairs] -= means[:, later]
    above *= np.sqrt(2)
    norms = np.sqrt(np.einsum("bmd,bmd->bd", kernels, kernels))
    kernels /= np.where(norms > NEAR_ZERO * size, norms, np.inf)[:, None]
    return kernels.reshape(-1, d)


def _upper_rows(size: int) -> Iterator[tuple[slice, slice, slice]]:
    """Yield each row of a matrix, the rows after it, and the places of their pairs in the vector of all pairs."""
    start = 0
    for row in range(size - 1):
        stop = start + size - 1 - row
        yield slice(row, row + 1), slice(row + 1, size), slice(start, stop)
        start = stop


@dataclass(frozen=True)
class KernelColumns:
    """The kernels of all features in blocks of rows, computed when needed.

    Attributes
    ----------
    values : ndarray of shape (n, d)
        Numeric columns in units of their standard deviation, and codes.
    discrete : ndarray of shape (d,), bool
    blocks : ndarray of shape (n_blocks, size), int64
    """

    values: Array
    discrete: NDArray[np.bool_]
    blocks: NDArray[np.int64]

    @classmethod
    def of(
        cls, X: Array, discrete: NDArray[np.bool_], blocks: NDArray[np.int64]
    ) -> KernelColumns:
        """Return the kernels of the columns of X, shape (n, d)."""
        deviation = X.std(axis=0)
        return cls(
            X / np.where((deviation > 0) & ~discrete, deviation, 1.0), discrete, blocks
        )

    def compute(self, part: slice, columns: NDArray[np.int64]) -> Array:
        """Return the kernels of the given columns in a part of the blocks, shape (len(part) * m, len(columns))."""
        return block_kernels(
            self.values[self.blocks[part, :, None], columns], self.discrete[columns]
        )

    def products(
        self,
        columns: NDArray[np.int64],
        other_kernels: KernelColumns,
        other_columns: NDArray[np.int64],
    ) -> Array:
        """Return the mean over the blocks of the inner products between kernels of two sets of columns.

        Parameters
        ----------
        columns : ndarray of shape (p,), int64
        other_kernels : KernelColumns
            Must have the same blocks.
        other_columns : ndarray of shape (q,), int64

        Returns
        -------
        ndarray of shape (p, q)
        """
        n_blocks, size = self.blocks.shape
        n_values = size * (size + 1) // 2
        sums = np.zeros((columns.size, other_columns.size))
        width = max(1, BLOCK // n_values)
        step = max(
            1, width // max(1, min(width, max(columns.size, other_columns.size)))
        )
        for start in range(0, n_blocks, step):
            part = slice(start, min(start + step, n_blocks))
            factors = other_kernels.compute(part, other_columns)
            if other_kernels is self and other_columns is columns:
                sums += factors.T @ factors
                continue
            for low in range(0, columns.size, width):
                sums[low : low + width] += (
                    self.compute(part, columns[low : low + width]).T @ factors
                )
        return sums / n_blocks


class HSICPath(NamedTuple):
    """The end of a path of HSIC lasso.

    Attributes
    ----------
    weights : ndarray of shape (d,)
        Not negative.
    relevance : ndarray of shape (d,)
        HSIC of each feature with the target, from -1 to 1; with a single block from 0
        to 1.
    penalty : float
        lambda.
    """

    weights: Array
    relevance: Array
    penalty: float


def hsic_lasso(
    kernels: KernelColumns, target: KernelColumns, count: int | None, penalty: float
) -> HSICPath:
    """Return the weights that minimise ||L - sum_j w_j K_j||^2 / 2 + lambda sum_j w_j, w >= 0, over the mean block.

    Parameters
    ----------
    kernels : KernelColumns of d columns
    target : KernelColumns of one column, with the same blocks
    count : int or None
        lambda is the least value before more than `count` features have weight; None:
        `penalty` times the least lambda at which no feature has weight.
    """
    d = kernels.values.shape[1]
    everything = np.arange(d)
    relevance = kernels.products(everything, target, np.arange(1))[:, 0]
    candidates = np.sort(
        np.argsort(-relevance, kind="stable")[: max(N_CANDIDATES, 2 * (count or 0))]
    )
    while True:
        gram = kernels.products(candidates, kernels, candidates)
        penalties, path = _path(relevance[candidates], gram, count, penalty)
        active = np.flatnonzero(path.any(axis=1))
        others = np.setdiff1d(everything, candidates)
        if others.size:
            cross = kernels.products(others, kernels, candidates[active])
            left = relevance[others, None] - cross @ path[active]
            excess = (left - penalties - OPTIMAL * penalties[0]).max(axis=1)
            # near lambda = 0 most features are candidates, though a longer path ends
            # before: the worst come first
            worst = np.argsort(-excess, kind="stable")[: candidates.size]
            others = others[worst[excess[worst] > 0]]
        if others.size == 0:
            break
        candidates = np.union1d(candidates, others)
    weights = np.zeros(d)
    weights[candidates] = path[:, -1]
    return HSICPath(weights, relevance, float(penalties[-1]))


def _path(
    relevance: Array, gram: Array, count: int | None, penalty: float
) -> tuple[Array, Array]:
    """Return the penalties at the breakpoints of the path, shape (n_steps,), and the weights there, shape (p, n_steps).

    The path ends when `count` features have weight and one more would enter, or at
    `penalty` times the first penalty. Least angle regression with non-negative weights:
    along a segment all features with weight have the gradient lambda. A feature that
    depends on those in the path, such as a copy, keeps its gradient equal to lambda and
    does not enter.
    """
    weights = np.zeros(relevance.size)
    level = max(0.0, float(relevance.max()))
    least = penalty * level if count is None else 0.0
    levels, path = [level], [weights.copy()]
    active = [int(np.argmax(relevance >= level * (1 - EQUAL)))] if level > least else []
    while active:
        own_direction = _solved(gram[np.ix_(active, active)])
        if own_direction is None:
            break
        direction = np.zeros(relevance.size)
        direction[active] = own_direction
        slope = gram @ direction  # 1 of active ones
        gradient = relevance - gram @ weights
        enters = slope < 1 - EQUAL
        enters[active] = False
        steps = np.full(relevance.size, np.inf)
        steps[enters] = np.maximum(level - gradient[enters], 0.0) / (1 - slope[enters])
        leaves = direction < 0
        steps[leaves] = -weights[leaves] / direction[leaves]
        step = min(float(steps.min()), level - least)
        is_last = step == level - least
        weights += step * direction
        level = least if is_last else level - step
        event = int(np.argmax(steps <= step + EQUAL * levels[0]))
        if leaves[event] and not is_last:
            weights[event] = 0.0
            active.remove(event)
        elif len(active) == count or is_last:
            active = []
        else:
            active.append(event)
        levels.append(level)
        path.append(weights.copy())
    return np.array(levels), np.array(path).T


def _solved(gram: Array) -> Array | None:
    """Return G^-1 1, shape (p,), or None if the features depend on each other, so that no path continues."""
    ones = np.ones(len(gram))
    try:
        solution: Array = np.linalg.solve(gram, ones).astype(np.float64)
    except np.linalg.LinAlgError:
        return None
    return solution if np.abs(gram @ solution - ones).max() < DEPENDENT else None
