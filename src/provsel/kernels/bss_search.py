"""Lazy search for the feasible column of largest norm, the inner question of each BSS step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Columns = NDArray[np.int64]
Singles = NDArray[np.float32]

FIRST_BLOCK = 64
"""Columns looked at at once at first; each further block is twice as large, up to `BLOCK`."""

BLOCK = 512

KEPT_ROWS = 4096
"""Directions whose unit vectors are kept in the current eigenbasis; those beyond are turned each time."""

EARLY = 64
"""Columns that are scored without a first look, where the last pick was one of so many: their norms hardly differ."""

FIRST_SCORED = 4
"""Of the columns that look feasible, those that are scored at first: mostly the very first is feasible."""

TIED_NORMS = 1e-10
"""Relative difference below which two norms count as equal; the lower index then goes first."""

PARALLEL = 1e-10
"""Distance of two unit vectors below which they count as one direction."""

ROUNDING = 8 * float(np.finfo(np.float32).eps)
"""Relative error of a sum of n terms in single precision, over sqrt(n): rounding errors add up like independent ones
(Higham and Mary, 2019), and 16 units of roundoff are far beyond what is ever seen. A wrong guess would cost the
first place in the order of norms, never feasibility, which is decided in double precision."""


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

    def form(self, linear: float, square: float) -> tuple[Array, Array, Array]:
        """Return d, X and S with z^T (linear M + square M^2) z = z^2 d + 2 (z X) (z S)^T, without a product of rank^3.

        Shapes (rank,), (rank, j) and (rank, j).
        """
        # with D the diagonal and L = -+S C: M = D + L S^T, so M^2 = D^2 + D L S^T + S (D L)^T + L (S^T L) S^T
        low_rank = -self._sign * (self._scaled @ self._core)
        X = (0.5 * linear) * low_rank
        X += square * (self._diagonal[:, None] * low_rank + low_rank @ (0.5 * (self._scaled.T @ low_rank)))
        return self._diagonal * (linear + square * self._diagonal), X, self._scaled


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

    def excess(self) -> Excess:
        """Return the form U - L: a column is feasible where it is not positive."""
        d_lower, X_lower, S_lower = self.lower.form(1.0, -1.0 / self.lower_gain)
        d_upper, X_upper, S_upper = self.upper.form(1.0, 1.0 / self.upper_gain)
        d, X, S = d_lower + d_upper, np.hstack([X_lower, X_upper]), np.hstack([S_lower, S_upper])
        size = np.abs(d).max() + 2 * np.sqrt(np.vdot(X, X) * np.vdot(S, S))
        rounding = ROUNDING * float(np.sqrt(d.size) * size)
        return Excess(d.astype(np.float32), X.astype(np.float32), S.astype(np.float32), rounding)


class Excess(NamedTuple):
    """A quadratic form z^2 d + 2 (z X) (z S)^T of shapes (rank,), (rank, m), (rank, m), and its rounding error."""

    d: Singles
    X: Singles
    S: Singles
    rounding: float

    def surely_positive(self, Z: Singles) -> NDArray[np.bool_]:
        """Tell for each row of Z, unit vectors of shape (n, rank), whether the form is positive beyond rounding."""
        return np.square(Z) @ self.d + 2 * np.einsum("ij,ij->i", Z @ self.X, Z @ self.S) > self.rounding


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
    """The unselected columns in decreasing norm, one of each direction, in the current eigenbasis.

    Whether a column is feasible depends on its direction only; in text, where most words occur in a single document,
    one column in five has a direction of its own. A first look at unit vectors in single precision leaves out what is
    surely infeasible; the others are scored.

    Parameters
    ----------
    V : ndarray of shape (d, rank)
    preferred : ndarray of shape (d,), optional
        Lengths that decide the order; None are those of the rows of V. A column whose row of V is zero is never taken.
    """

    def __init__(self, V: Array, preferred: Array | None = None) -> None:
        norms = np.sqrt(np.einsum("ij,ij->i", V, V))
        self._V, self._norms = V, norms
        self._order = columns_by_norm(norms if preferred is None else np.where(norms > 0, preferred, 0.0))
        _, first, label = np.unique(directions(V, norms)[self._order], return_index=True, return_inverse=True)
        # places in the order: `_heads` are the first unselected one of each direction, `_next` follows in the same
        self._heads, self._is_taken = np.sort(first), np.zeros(self._order.size, dtype=bool)
        self._place = np.searchsorted(self._heads, first)[label]
        self._next = np.full(self._order.size, -1)
        grouped = np.argsort(label, kind="stable")
        follows = label[grouped[1:]] == label[grouped[:-1]]
        self._next[grouped[:-1][follows]] = grouped[1:][follows]
        self._representative = self._order[self._heads]
        # the leading directions as unit vectors, in the coordinates of V and in the current eigenbasis
        self._units = np.empty((min(KEPT_ROWS, self._heads.size), V.shape[1]), dtype=np.float32)
        self._turned, self._n_units = np.empty_like(self._units), 0
        self._Q, self._n_turned = np.eye(V.shape[1]), 0
        self._was_early = True
        self._early: Array | None = None

    def rotate(self, Q: Array) -> None:
        """Change to the eigenbasis Q, shape (rank, rank), given in coordinates of the current one."""
        self._Q, self._n_turned, self._early = self._Q @ Q, 0, None
        self._heads = self._heads[~self._is_taken[self._heads]]

    def first_feasible(self, barriers: Barriers) -> Pick:
        """Return the feasible column of largest norm, and mark it as selected (in place)."""
        for places, rows in self._candidates(barriers):
            scores = barriers.scores(rows)
            feasible = scores.U <= scores.L
            if feasible.any():
                k = int(feasible.argmax())
                self._select(int(places[k]))
                return Pick(int(self._order[places[k]]), rows[k], Scores(*(values[k] for values in scores)))
        raise ArithmeticError("BSS found no feasible column: expected V with orthonormal columns")

    def longest(self) -> tuple[int, Array]:
        """Return index and row of the longest column that was not selected, and mark it as selected (in place)."""
        place = int(np.argmin(self._is_taken))
        if self._is_taken[place]:
            raise ArithmeticError("BSS found no feasible column, and none that was not selected before")
        self._select(place)
        return int(self._order[place]), self._rotated(np.array([place]))[0]

    def _candidates(self, barriers: Barriers) -> Iterator[tuple[Columns, Array]]:
        """Yield (places, rows) that may be feasible, in order of preference: unselected, then selected ones."""
        start = 0
        if self._was_early:
            start = min(EARLY, self._heads.size)
            if self._early is None or start > len(self._early):
                self._early = self._rotated(self._heads[:start])
            heads = self._heads[:start]
            left = ~self._is_taken[heads]
            yield heads[left], self._early[left]
        self._was_early, size, excess = False, FIRST_BLOCK, None
        while start < self._heads.size:
            heads = self._unselected(slice(start, start + size))
            if heads.size:
                excess = barriers.excess() if excess is None else excess
                maybe = heads[~excess.surely_positive(self._rows(self._place[heads]))]
                for part in (maybe[:FIRST_SCORED], maybe[FIRST_SCORED:]):
                    if part.size:
                        self._was_early = start == 0 and part[0] <= self._heads[:EARLY][-1]
                        yield part, self._rotated(part)
            start, size = start + size, min(2 * size, BLOCK)
        # nothing unselected is feasible: a selected column gains weight
        places = np.flatnonzero(self._is_taken)
        yield places, self._rotated(places)

    def _rotated(self, places: Columns) -> Array:
        return self._V[self._order[places]] @ self._Q

    def _unselected(self, part: slice) -> Columns:
        heads = self._heads[part]
        return heads[~self._is_taken[heads]]

    def _rows(self, directions: Columns) -> Singles:
        """Return unit vectors in the current eigenbasis; the leading ones are kept once they were asked for."""
        end = int(directions.max()) + 1
        if end > len(self._units):
            return self._unit_vectors(directions) @ self._Q.astype(np.float32)
        if end > self._n_units:
            self._units[self._n_units : end] = self._unit_vectors(np.arange(self._n_units, end))
            self._n_units = end
        if end > self._n_turned:
            new = slice(self._n_turned, end)
            np.matmul(self._units[new], self._Q.astype(np.float32), out=self._turned[new])
            self._n_turned = end
        return self._turned[directions]

    def _unit_vectors(self, directions: Columns) -> Singles:
        columns = self._representative[directions]
        return (self._V[columns] / self._norms[columns, None]).astype(np.float32)

    def _select(self, place: int) -> None:
        follower = self._next[place]
        if follower >= 0 and not self._is_taken[place]:
            self._heads = np.insert(self._heads, np.searchsorted(self._heads, follower), follower)
            self._early = None
        self._is_taken[place] = True


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
    for start in range(0, close.size, BLOCK):
        second = close[start : start + BLOCK]
        i, j = order[second - 1], order[second]
        # not the projections' signs: of two that are zero they are rounding, and another one on each processor
        scale = np.copysign(1.0, np.einsum("ij,ij->i", V[i], V[j])) / safe[j]
        gap = V[i] / safe[i, None] - V[j] * scale[:, None]
        new[second] = np.einsum("ij,ij->i", gap, gap) > PARALLEL**2
    labels = np.empty(order.size, dtype=np.int64)
    labels[order] = np.cumsum(new)
    return labels
