"""Lazy search for the feasible column of largest norm, which each BSS step needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from provsel.kernels.bss_barriers import Array, Barriers, ExcessBound, Scores, Singles
from provsel.kernels.bss_columns import Columns, OrderedColumns

FIRST_BLOCK = 16
"""Columns checked in the first block beyond the place of the last pick, to which the next is usually close. Each
further block is twice as large, up to `BLOCK`.
"""

BLOCK = 512

EARLY = 16
"""Columns that are scored without a first check, if the last pick was one of this many."""

KEPT_ROWS = 4096
"""Directions whose unit vectors are kept in the current eigenbasis; those beyond are rotated each time."""

TURNED_AHEAD = 64
"""Directions rotated in addition to the requested ones: a few large products cost less than many small ones."""

FIRST_SCORED = 4
"""Number of seemingly feasible columns that are scored at first: usually one of them is feasible."""


NONE_FEASIBLE = "BSS found no feasible column: expected V with orthonormal columns"
NONE_AT_ALL = "BSS found no feasible column, and none that was not selected before"


class Pick(NamedTuple):
    """The chosen column: its index, its row of V in the eigenbasis, and its scores."""

    column: int
    row: Array
    scores: Scores


class ColumnSearch:
    """The unselected columns in decreasing norm, one of each direction, in the current eigenbasis.

    Whether a column is feasible depends on its direction only; in text, where most
    words occur in a single document, one column in five has its own direction. A first
    check of unit vectors in single precision excludes those that are surely infeasible;
    the others are scored.

    Parameters
    ----------
    columns : OrderedColumns
    """

    def __init__(self, columns: OrderedColumns) -> None:
        rank = columns.V.shape[1]
        self._columns, self._is_taken = (
            columns,
            np.zeros(columns.order.size, dtype=bool),
        )
        # places: the first unselected one of each direction
        self._heads = columns.heads.copy()
        # the leading directions as unit vectors, in the coordinates of V and in the
        # current eigenbasis
        self._units = np.empty(
            (min(KEPT_ROWS, columns.heads.size), rank), dtype=np.float32
        )
        self._turned, self._n_units = np.empty_like(self._units), 0
        self._Q, self._n_turned = np.eye(rank), 0
        self._Q_single = self._Q.astype(np.float32)
        self._last = 0  # position of the last pick among the heads

    def rotate(self, Q: Array) -> None:
        """Change to the eigenbasis Q, shape (rank, rank), given in coordinates of the current one."""
        self._Q, self._n_turned = self._Q @ Q, 0
        self._Q_single = self._Q.astype(np.float32)

    def first_feasible(self, barriers: Barriers, *, may_be_none: bool) -> Pick:
        """Return the feasible column of largest norm, and mark it as selected (in place).

        `may_be_none`: the eigenvalues may show at once that no column is feasible.
        """
        for places, rows in self._candidates(barriers, may_be_none):
            scores = barriers.scores(rows)
            # if the barrier is at an eigenvalue, L is inf or NaN, and no column is
            # feasible
            feasible = (scores.U <= scores.L) & np.isfinite(scores.L)
            k = int(feasible.argmax())
            if feasible[k]:
                return self._picked(int(places[k]), rows[k], scores.of(k))
        raise ArithmeticError(NONE_FEASIBLE)

    def longest(self, barriers: Barriers) -> Pick:
        """Return the longest column that was not selected, feasible or not, and mark it as selected (in place)."""
        if self._heads.size == 0:
            raise ArithmeticError(NONE_AT_ALL)
        rows = self._rotated(self._heads[:1])
        return self._picked(int(self._heads[0]), rows[0], barriers.scores(rows).of(0))

    def _candidates(
        self, barriers: Barriers, may_be_none: bool
    ) -> Iterator[tuple[Columns, Array]]:
        """Yield (places, rows) that may be feasible, in order of preference: unselected, then selected ones."""
        start = 0
        if self._last < EARLY and self._heads.size:
            start = EARLY
            yield self._heads[:EARLY], self._rotated(self._heads[:EARLY])
        if may_be_none and barriers.leave_none():
            return
        bound = barriers.excess_bound()
        yield from self._feasible_looks(
            self._heads[start:], bound, self._last + FIRST_BLOCK
        )
        # nothing unselected is feasible: a selected column gains weight
        first = self._columns.heads
        yield from self._feasible_looks(first[self._is_taken[first]], bound, BLOCK)

    def _feasible_looks(
        self, places: Columns, bound: ExcessBound, size: int
    ) -> Iterator[tuple[Columns, Array]]:
        """Yield (places, rows) of those that look feasible, in batches of `size`, doubled each time."""
        start, size = 0, min(size, BLOCK)
        while start < places.size:
            block = places[start : start + size]
            maybe = block[
                ~bound.is_positive(self._unit_rows(self._columns.direction[block]))
            ]
            for part in (maybe[:FIRST_SCORED], maybe[FIRST_SCORED:]):
                if part.size:
                    yield part, self._rotated(part)
            start, size = start + size, min(2 * size, BLOCK)

    def _rotated(self, places: Columns) -> Array:
        return self._columns.V[self._columns.order[places]] @ self._Q

    def _unit_rows(self, directions: Columns) -> Singles:
        """Return unit vectors in the current eigenbasis; leading ones are cached after their first use."""
        end = int(directions.max()) + 1
        if end > len(self._units):
            return self._unit_vectors(directions) @ self._Q_single
        if end > self._n_turned:
            self._turn(end)
        return self._turned[directions]

    def _turn(self, end: int) -> None:
        """Cache the unit vectors of at least the `end` leading directions in the current eigenbasis, in place."""
        end = min(end + TURNED_AHEAD, len(self._units))
        if end > self._n_units:
            self._units[self._n_units : end] = self._unit_vectors(
                np.arange(self._n_units, end)
            )
            self._n_units = end
        new = slice(self._n_turned, end)
        np.matmul(self._units[new], self._Q_single, out=self._turned[new])
        self._n_turned = end

    def _unit_vectors(self, directions: Columns) -> Singles:
        columns = self._columns.order[self._columns.heads[directions]]
        return (self._columns.V[columns] / self._columns.norms[columns, None]).astype(
            np.float32
        )

    def _picked(self, place: int, row: Array, scores: Scores) -> Pick:
        """Return the pick, after the next column of its direction has replaced it among the heads."""
        if not self._is_taken[place]:
            self._is_taken[place] = True
            heads, follower = self._heads, self._columns.next[place]
            at = self._last = int(heads.searchsorted(place))
            if follower < 0:
                heads[at:-1] = heads[at + 1 :]
                self._heads = heads[:-1]
            else:
                end = int(heads.searchsorted(follower))
                heads[at : end - 1] = heads[at + 1 : end]
                heads[end - 1] = follower
        return Pick(int(self._columns.order[place]), row, scores)
