"""Lazy search for the feasible column of largest norm, the inner question of each BSS step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Columns = NDArray[np.int64]

CACHED_COLUMNS = 256
"""Candidates of largest norm that are kept in the current eigenbasis."""

FIRST_BLOCK = 64
"""Columns scored at first; each further block of the cache is four times as large."""

DEEP_BLOCK = 256
"""Columns scored at once beyond the cache."""

TIED_NORMS = 1e-10
"""Relative difference below which two norms count as equal; the lower index then goes first."""

PARALLEL = 1e-10
"""Distance of two unit vectors below which they count as one direction."""

SURELY_INFEASIBLE = 1e-6
"""Relative excess of U - L above which the quick form of it needs no second look."""


class ShiftedInverse:
    """M = (sign (diag(lam) + W W^T - shift I))^-1, kept as diagonal plus low rank.

    Parameters
    ----------
    lam : ndarray of shape (rank,)
    W : ndarray of shape (rank, j)
    shift : float
        The barrier.
    sign : float
        +1 for the lower barrier, -1 for the upper one: M is positive definite either way.
    """

    def __init__(self, lam: Array, W: Array, shift: float, sign: float) -> None:
        self._sign = sign
        self._diagonal = 1.0 / (sign * (lam - shift))
        self._scaled = self._diagonal[:, None] * W
        self._core = np.linalg.inv(np.eye(W.shape[1]) + sign * (W.T @ self._scaled))
        self.trace = float(self._diagonal.sum() - sign * np.vdot(self._core, self._scaled.T @ self._scaled))

    def forms(self, Z: Array) -> tuple[Array, Array]:
        """Return z^T M z and z^T M^2 z, each of shape (m,), for the rows z of Z, shape (m, rank)."""
        images = Z * self._diagonal
        images -= self._sign * (((Z @ self._scaled) @ self._core) @ self._scaled.T)
        return np.einsum("ij,ij->i", Z, images), np.einsum("ij,ij->i", images, images)

    def dense(self) -> Array:
        """Return M, shape (rank, rank)."""
        M = -self._sign * (self._scaled @ self._core @ self._scaled.T)
        M[np.diag_indices_from(M)] += self._diagonal
        return M


class Barriers(NamedTuple):
    """Both shifted inverses of a step, and by how much each potential changes with the step's shift."""

    lower: ShiftedInverse
    upper: ShiftedInverse
    lower_gain: float
    upper_gain: float

    def scores(self, Z: Array) -> Scores:
        """Return the scores of the rows of Z, shape (m, rank), given in the eigenbasis."""
        lower_linear, lower_square = self.lower.forms(Z)
        upper_linear, upper_square = self.upper.forms(Z)
        return Scores(
            lower_square / self.lower_gain - lower_linear,
            upper_square / self.upper_gain + upper_linear,
            lower_linear, lower_square, upper_linear, upper_square,
        )  # fmt: skip

    def excess(self) -> Array:
        """Return the matrix F, shape (rank, rank), of the form U - L: a column is feasible where v^T F v <= 0."""
        low, high = self.lower.dense(), self.upper.dense()
        return low + high + high @ high / self.upper_gain - low @ low / self.lower_gain


class Scores(NamedTuple):
    """Scores L and U of some columns, and the quadratic forms they are made of; each of shape (m,)."""

    L: Array
    U: Array
    lower_linear: Array
    lower_square: Array
    upper_linear: Array
    upper_square: Array


class Pick(NamedTuple):
    """The chosen column: its index, its row of V in the eigenbasis, and its scores."""

    column: int
    row: Array
    scores: Scores


class ColumnSearch:
    """The columns in decreasing norm; the leading unselected ones are kept in the current eigenbasis.

    Whether a column is feasible depends on its direction only. Beyond the cache, therefore, one column of each
    direction is scored: in text, where most words occur in a single document, that is one in five.
    """

    def __init__(self, V: Array) -> None:
        norms = np.sqrt(np.einsum("ij,ij->i", V, V))
        self._V = V
        self._order = columns_by_norm(norms)
        self._direction = directions(V, norms)
        self._selected = np.zeros(V.shape[0], dtype=bool)
        self._Q = np.eye(V.shape[1])
        self._refill()

    def rotate(self, Q: Array) -> None:
        """Change to the eigenbasis Q, given in coordinates of the current one (in place)."""
        self._Q = self._Q @ Q
        self._refill()

    def first_feasible(self, barriers: Barriers) -> Pick:
        """Return the feasible column of largest norm, and mark it as selected (in place)."""
        for columns, rows in self._candidates(barriers):
            scores = barriers.scores(rows)
            feasible = scores.U <= scores.L
            if feasible.any():
                k = int(feasible.argmax())
                self._selected[columns[k]] = True
                return Pick(int(columns[k]), rows[k], Scores(*(values[k] for values in scores)))
        raise ArithmeticError("BSS found no feasible column: expected V with orthonormal columns")

    def _refill(self) -> None:
        self._order = self._order[~self._selected[self._order]]
        self._cached = self._V[self._order[:CACHED_COLUMNS]] @ self._Q
        self._rest: Columns | None = None

    def _candidates(self, barriers: Barriers) -> Iterator[tuple[Columns, Array]]:
        """Yield (columns, rows) in order of preference: unselected by norm, then selected by norm."""
        start, size = 0, FIRST_BLOCK
        while start < len(self._cached):
            columns = self._order[start : min(start + size, len(self._cached))]
            unselected = ~self._selected[columns]
            yield columns[unselected], self._cached[start : start + columns.size][unselected]
            start, size = start + size, 4 * size
        yield from self._deep(barriers)
        # nothing unselected is feasible: a selected column gains weight
        columns = np.flatnonzero(self._selected)
        columns = columns[columns_by_norm(np.linalg.norm(self._V[columns], axis=1))]
        yield columns, self._V[columns] @ self._Q

    def _deep(self, barriers: Barriers) -> Iterator[tuple[Columns, Array]]:
        """Yield the columns beyond the cache that are feasible or close to it, one of each direction."""
        columns = self._beyond()
        if columns.size == 0:
            return
        F = self._Q @ barriers.excess() @ self._Q.T
        tolerance = SURELY_INFEASIBLE * np.abs(F).max()
        for start in range(0, columns.size, DEEP_BLOCK):
            part = self._V[columns[start : start + DEEP_BLOCK]]
            excess = np.einsum("ij,ij->i", part @ F, part)
            maybe = excess <= tolerance * np.einsum("ij,ij->i", part, part)
            if maybe.any():
                yield columns[start : start + DEEP_BLOCK][maybe], part[maybe] @ self._Q

    def _beyond(self) -> Columns:
        """Return the unselected columns beyond the cache, one of each direction, in order of preference."""
        if self._rest is None or self._selected[self._rest].any():
            columns = self._order[len(self._cached) :]
            columns = columns[~self._selected[columns]]
            self._rest = columns[np.sort(np.unique(self._direction[columns], return_index=True)[1])]
        return self._rest


def columns_by_norm(norms: Array) -> Columns:
    """Order the non-zero columns by decreasing norm; among tied norms by increasing index.

    Parameters
    ----------
    norms : ndarray of shape (d,)

    Returns
    -------
    ndarray of shape (n_nonzero,), int64
    """
    order = np.argsort(-norms, kind="stable")
    order = order[norms[order] > 0]
    values = norms[order]
    # a group of ties ends where the norm falls below its first member's by more than the tolerance
    group = np.zeros(order.size, dtype=np.int64)
    start = 0
    for end in (np.flatnonzero(np.diff(values) < 0) + 1).tolist():
        if values[end] < values[start] * (1 - TIED_NORMS):
            start = end
            group[end] = start
    return order[np.lexsort((order, np.maximum.accumulate(group)))]


def directions(V: Array, norms: Array) -> Columns:
    """Return a number for the direction of each row of V, shape (d, rank): the same for rows that are multiples.

    Rows whose random projections agree are compared in full. A missed pair costs time, never correctness.
    """
    safe = np.where(norms > 0, norms, 1.0)
    projection = V @ np.random.default_rng(0).standard_normal(V.shape[1]) / safe
    order = np.argsort(np.abs(projection), kind="stable")
    new = np.ones(order.size, dtype=bool)
    close = np.flatnonzero(np.diff(np.abs(projection[order])) <= PARALLEL * np.sqrt(V.shape[1])) + 1
    for start in range(0, close.size, DEEP_BLOCK):
        second = close[start : start + DEEP_BLOCK]
        i, j = order[second - 1], order[second]
        scale = np.copysign(1.0, projection[i] * projection[j]) / safe[j]
        gap = V[i] / safe[i, None] - V[j] * scale[:, None]
        new[second] = np.einsum("ij,ij->i", gap, gap) > PARALLEL**2
    labels = np.empty(order.size, dtype=np.int64)
    labels[order] = np.cumsum(new)
    return labels
