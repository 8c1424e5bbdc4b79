"""A subspace that begins as the span of Gaussian vectors and grows by one vector at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from provsel.kernels.gaussian_blocks import GaussianBlocks

Array = NDArray[np.float64]

SMALLEST = 1e-10
"""Directions of Lambda Lambda^T below this share of its largest eigenvalue, as beyond the rank, are left out."""
BLOCK = 4096
"""Number of rows whose coordinates are changed together."""


class GrowingSpan:
    """The span of the rows of Lambda and of added vectors, with an orthonormal basis that is never stored as a whole.

    The basis is Lambda^T T, where T T^T is the inverse of Lambda Lambda^T, and the
    added vectors, orthogonalised. Memory O(l^2 + (n + m) k) beside the rows, for k
    added vectors; Lambda is generated in blocks.

    Parameters
    ----------
    blocks : GaussianBlocks
        Lambda, shape (l, m).
    Z : ndarray of shape (n, l)
        X Lambda^T; overwritten.
    """

    def __init__(self, blocks: GaussianBlocks, Z: Array) -> None:
        self._blocks, self._columns = blocks, [np.empty((Z.shape[0], 0))]
        self._added = np.empty((0, blocks.n_features))
        values, vectors = eigh(blocks.gram(), overwrite_a=True)
        kept = values > SMALLEST * values[-1]
        self._whiten = vectors[:, kept] / np.sqrt(values[kept])
        for start in range(0, Z.shape[0], BLOCK):
            rows = slice(start, start + BLOCK)
            Z[rows, : self._whiten.shape[1]] = Z[rows] @ self._whiten
        self._first = Z[:, : self._whiten.shape[1]]

    def rows(self) -> Array:
        """Return X in coordinates of the basis, shape (n, size)."""
        return np.column_stack([self._first, *self._columns])

    def expand(self, v: Array) -> Array:
        """Return the vector, shape (m,), with the coordinates v, shape (size,)."""
        size = self._whiten.shape[1]
        return self._blocks.expand(self._whiten @ v[:size]) + self._added.T @ v[size:]

    def outside(self, w: Array) -> Array:
        """Return the part of w orthogonal to the span, shape (m,)."""
        for _ in range(2):  # one projection leaves rounding of the size of w
            first = self._whiten.T @ self._blocks.project(w[None, :])[0]
            w = w - self.expand(np.append(first, self._added @ w))
        return w

    def add(self, direction: Array, column: Array) -> None:
        """Add a unit vector orthogonal to the span, shape (m,), and X times it, shape (n,)."""
        self._added = np.vstack([self._added, direction])
        self._columns.append(column[:, None])
