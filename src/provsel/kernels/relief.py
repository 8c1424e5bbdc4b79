"""Relief: differences of features between a row and its near rows, with the same and with other targets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist, pdist, squareform

from provsel.kernels.spectral import Array

WHOLE_ROWS = 3_000
"""Up to this many rows all distances are in memory at once (72 MB), so that each pair is visited once."""

BLOCK = 1 << 22
"""Values of a block of distances of more rows: 32 MiB."""

CACHED = 1 << 15
"""Values of a block of differences, which a cache holds."""

TIED = 1e-12
"""Distances closer than this fraction are equal: rounding in sums of differences is smaller."""

ROUGH_ROWS = 1000
"""Number of rows from which nearest rows are searched by rough distances."""

ROUGH_COLUMNS = 512
"""Columns whose differences are summed together in single precision."""

ROUGH_BLOCK = 1 << 16
"""Values of a block of rough differences: 256 KiB, which a cache holds."""


@dataclass(frozen=True)
class UnitRows:
    """Rows whose features differ by between 0 and 1.

    Attributes
    ----------
    values : ndarray of shape (n, d)
        Numeric columns, each in units of its range, then columns of codes.
    n_numbers : int
    columns : ndarray of shape (d,), int64
        Position of each column in X.
    """

    values: Array
    n_numbers: int
    columns: NDArray[np.int64]

    @classmethod
    def of(cls, X: Array, discrete: NDArray[np.bool_]) -> UnitRows:
        """Return the rows of X, shape (n, d); `discrete`, shape (d,), marks columns of codes."""
        columns = np.argsort(discrete, kind="stable")
        n_numbers = int(np.count_nonzero(~discrete))
        values = np.ascontiguousarray(X[:, columns])
        numbers = values[:, :n_numbers]
        numbers -= numbers.min(axis=0)
        spread = numbers.max(axis=0)
        numbers /= np.where(spread > 0, spread, 1.0)
        return cls(values, n_numbers, columns)

    def all_distances(self) -> Array:
        """Return the sums of the differences of all rows, shape (n, n)."""
        numbers, codes = np.hsplit(self.values, [self.n_numbers])
        sums = np.zeros(len(numbers) * (len(numbers) - 1) // 2)
        if numbers.size:
            sums += pdist(numbers, "cityblock")
        if codes.size:
            sums += codes.shape[1] * pdist(codes, "hamming")
        return squareform(sums, checks=False)

    def distances_from(self, rows: slice) -> Array:
        """Return the sums of the differences of the given rows, m, to all, shape (m, n)."""
        numbers, codes = np.hsplit(self.values, [self.n_numbers])
        sums = np.zeros((rows.stop - rows.start, len(numbers)))
        if numbers.size:
            sums += cdist(numbers[rows], numbers, "cityblock")
        if codes.size:
            sums += codes.shape[1] * cdist(codes[rows], codes, "hamming")
        return sums

    def distances_of_pairs(
        self, rows: NDArray[np.int64], others: NDArray[np.int64]
    ) -> Array:
        """Return the sums of the differences between the given pairs of rows, both of shape (m,), shape (m,)."""
        sums = np.empty(rows.size)
        step = max(1, CACHED // self.values.shape[1])
        for start in range(0, rows.size, step):
            part = slice(start, start + step)
            differences = np.abs(self.values[rows[part]] - self.values[others[part]])
            np.sign(
                differences[:, self.n_numbers :], out=differences[:, self.n_numbers :]
            )
            sums[part] = differences.sum(axis=1)
        return sums

    def rough_distances(self, rows: slice) -> NDArray[np.float32]:
        """Return the same as `distances_from` in single precision, in half the time; `rough_error` bounds the error.

        |a - b| = 2 max(a, b) - a - b: the sum of the larger values needs two passes, the sum of the differences three.
        """
        n, n_rows = len(self.values), rows.stop - rows.start
        larger = np.zeros((n_rows, n), dtype=np.float32)
        for first in range(0, self.n_numbers, ROUGH_COLUMNS):
            numbers = self.values[
                :, first : min(first + ROUGH_COLUMNS, self.n_numbers)
            ].astype(np.float32)
            _add_larger(larger, numbers, rows)
        total = self.values[:, : self.n_numbers].sum(axis=1).astype(np.float32)
        larger *= 2
        larger -= total
        larger -= total[rows, None]
        codes = self.values[:, self.n_numbers :]
        if codes.size:
            larger += codes.shape[1] * cdist(codes[rows], codes, "hamming")
        return larger

    def rough_error(self) -> float:
        """Return the largest error of a rough distance, from the number of roundings of each value."""
        n_features = self.values.shape[1]
        roundings = ROUGH_COLUMNS + n_features / ROUGH_COLUMNS + 8
        return float(roundings * n_features * np.finfo(np.float32).eps)

    def distance_blocks(
        self, *, rough: bool = False
    ) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Yield blocks of rows and their distances to all rows, shape (m, n); a row is infinitely far from itself."""
        n = len(self.values)
        step = n if n <= WHOLE_ROWS else max(1, BLOCK // n)
        for start in range(0, n, step):
            rows = slice(start, min(start + step, n))
            distances: NDArray[Any]
            if rough:
                distances = self.rough_distances(rows)
            elif step == n:
                distances = self.all_distances()
            else:
                distances = self.distances_from(rows)
            distances[np.arange(len(distances)), np.arange(rows.start, rows.stop)] = (
                np.inf
            )
            yield rows, distances

    def mean_distance(self) -> float:
        """Return the mean distance between rows, from the sorted columns."""
        n = len(self.values)
        places = 2.0 * np.arange(n) - (n - 1)
        total = float(
            places @ np.sort(self.values[:, : self.n_numbers], axis=0).sum(axis=1)
        )
        for codes in self.values[:, self.n_numbers :].T:
            counts = np.unique(codes, return_counts=True)[1]
            total += (n * n - float(counts @ counts)) / 2
        return total / (n * (n - 1) / 2)

    def add_differences(
        self,
        totals: Array,
        row: int,
        near: NDArray[np.int64],
        weights: Array,
        buffer: Array,
    ) -> None:
        """Add the weighted differences between one row and others to totals, shape (q, d), in place.

        Parameters
        ----------
        near : ndarray of shape (m,), int64
        weights : ndarray of shape (q, m)
        buffer : ndarray of shape (step, d)
            Space for differences: allocating new memory each time would cost more than
            they do.
        """
        n_numbers = self.n_numbers
        for start in range(0, near.size, len(buffer)):
            part = near[start : start + len(buffer)]
            differences = buffer[: part.size]
            np.take(self.values, part, axis=0, out=differences, mode="clip")
            differences -= self.values[row]
            np.abs(differences, out=differences)
            if n_numbers < differences.shape[1]:
                np.sign(differences[:, n_numbers:], out=differences[:, n_numbers:])
            totals += weights[:, start : start + part.size] @ differences


def _add_larger(
    sums: NDArray[np.float32], values: NDArray[np.float32], rows: slice
) -> None:
    """Add the sum of the larger values of two rows to sums, shape (m, n), in place, of `rows` and all rows."""
    ones = np.ones(values.shape[1], dtype=np.float32)
    step = max(1, ROUGH_BLOCK // values.shape[1])
    buffer = np.empty((step, values.shape[1]), dtype=np.float32)
    is_whole = len(sums) == len(values)
    for start in range(0, len(values), step):
        part = values[start : start + step]
        larger = buffer[: len(part)]
        stop = start + len(part) if is_whole else len(sums)
        for place in range(stop):
            np.maximum(part, values[rows.start + place], out=larger)
            sums[place, start : start + step] += larger @ ones
    if is_whole:  # i and j have the sum of j and i
        for start in range(step, len(values), step):
            sums[start : start + step, :start] = sums[:start, start : start + step].T


def weighted_differences(
    rows: UnitRows, weigh: Callable[[slice, Array], Array], *, rough: bool = False
) -> Array:
    """Return the sums over all pairs of rows of weight times difference, in each column of X, shape (q, d).

    Parameters
    ----------
    rows : UnitRows
    weigh : callable
        Gets rows and their distances to all, shape (m, n); returns the weights of these
        pairs, shape (q, m, n).
    rough : bool, default=False
        Whether rough distances suffice for `weigh`.
    """
    n, d = rows.values.shape
    totals = None
    buffer = np.empty((max(1, CACHED // d), d))
    for block, distances in rows.distance_blocks(rough=rough):
        weights = weigh(block, distances)
        totals = np.zeros((len(weights), d)) if totals is None else totals
        # i and j differ as j and i
        if len(distances) == n and 8 * np.count_nonzero(weights) > weights.size:
            weights = np.triu(weights + weights.transpose(0, 2, 1))
        for place, row in enumerate(range(block.start, block.stop)):
            of_row = weights[:, place]
            near = np.flatnonzero(of_row.any(axis=0))
            rows.add_differences(totals, row, near, of_row[:, near], buffer)
    sums = np.empty_like(totals)
    sums[:, rows.columns] = totals
    return sums


@dataclass(frozen=True)
class Nearest:
    """Weighting of nearest rows by exact distances, or by rough ones and exact ones in cases of doubt.

    Attributes
    ----------
    rows : UnitRows
    rough : bool
    """

    rows: UnitRows
    rough: bool

    @classmethod
    def of(cls, rows: UnitRows) -> Nearest:
        """Return the weighting for the given rows: few rows or few columns are faster with exact distances."""
        return cls(
            rows,
            len(rows.values) >= ROUGH_ROWS and rows.n_numbers >= ROUGH_COLUMNS // 4,
        )

    def shares(
        self, distances: Array, count: int, first_row: int, first_column: int
    ) -> Array:
        """Return the weight of each row among the `count` nearest, shape (m, n): they sum to 1.

        Rows that share the last place share its weight, so that their order does not
        matter.

        Parameters
        ----------
        distances : ndarray of shape (m, n)
            From rows first_row, first_row + 1, ... to rows first_column, first_column +
            1, ...
        """
        if count == 0:
            return np.zeros(distances.shape)
        last = np.partition(distances, count - 1, axis=1)[:, count - 1, None]
        doubt = 2 * self.rows.rough_error() if self.rough else 0.0
        nearer = distances < last * (1 - TIED) - doubt
        tied = distances <= last * (1 + TIED) + doubt
        tied &= ~nearer
        left = count - np.count_nonzero(nearer, axis=1, keepdims=True)
        # exact distances separate tied rows if there are more of them than places left
        if self.rough:
            doubtful = np.flatnonzero(np.count_nonzero(tied, axis=1) > left[:, 0])
            places, columns = np.nonzero(tied[doubtful])
            exact = np.full((doubtful.size, distances.shape[1]), np.inf)
            exact[places, columns] = self.rows.distances_of_pairs(
                first_row + doubtful[places], first_column + columns
            )
            last = np.take_along_axis(
                np.sort(exact, axis=1), left[doubtful] - 1, axis=1
            )
            surely = exact < last * (1 - TIED)
            nearer[doubtful] |= surely
            tied[doubtful] = (exact <= last * (1 + TIED)) & ~surely
            left[doubtful] -= np.count_nonzero(surely, axis=1, keepdims=True)
        shares = tied * (left / np.count_nonzero(tied, axis=1, keepdims=True))
        shares += nearer
        shares /= count
        return shares


def relieff_scores(rows: UnitRows, y: NDArray[np.int64], n_neighbors: int) -> Array:
    """Return ReliefF's scores of the features, shape (d,): -1 to 1, larger is better.

    Parameters
    ----------
    rows : UnitRows of shape (n, d)
    y : ndarray of shape (n,), int64
        Class numbers 0, 1, ..., at least two.
    n_neighbors : int
        Rows of the same class, and of each other one; fewer if a class has fewer.
    """
    # slices of classes are faster than lists of their rows
    by_class = np.argsort(y, kind="stable")
    rows = UnitRows(rows.values[by_class], rows.n_numbers, rows.columns)
    own = y[by_class]
    counts = np.bincount(own)
    ends = np.cumsum(counts)
    prior = counts / own.size
    nearest = Nearest.of(rows)

    def weigh(block: slice, distances: Array) -> Array:
        weights = np.empty((1, *distances.shape))
        for label, (count, end) in enumerate(zip(counts, ends, strict=True)):
            members = slice(end - count, end)
            first, last = (
                np.clip([end - count, end], block.start, block.stop) - block.start
            )
            for part, n_others in (
                (slice(first, last), count - 1),
                (slice(first), count),
                (slice(last, None), count),
            ):
                first_row = block.start + part.indices(len(distances))[0]
                share = nearest.shares(
                    distances[part, members],
                    min(n_neighbors, n_others),
                    first_row,
                    members.start,
                )
                if n_others < count:
                    weights[0, part, members] = -share
                else:
                    weights[0, part, members] = share * (
                        prior[label] / (1 - prior[own[block][part], None])
                    )
        return weights

    return weighted_differences(rows, weigh, rough=nearest.rough)[0] / y.size


def rrelieff_scores(rows: UnitRows, y: Array, n_neighbors: int) -> Array:
    """Return RReliefF's scores of the features for a target of numbers, shape (d,).

    Parameters
    ----------
    rows : UnitRows of shape (n, d)
    y : ndarray of shape (n,)
        Not all equal.
    n_neighbors : int
    """
    unit_y = (y - y.min()) / np.ptp(y)
    count = min(n_neighbors, y.size - 1)
    changed = 0.0
    nearest = Nearest.of(rows)

    def weigh(block: slice, distances: Array) -> Array:
        nonlocal changed
        shares = nearest.shares(distances, count, block.start, 0)
        with_target = shares * np.abs(unit_y[block, None] - unit_y)
        changed += float(with_target.sum())
        return np.stack([with_target, shares])

    together, alone = weighted_differences(rows, weigh, rough=nearest.rough)
    unchanged = y.size - changed
    scores = np.zeros_like(alone)
    if changed > 0:
        scores += together / changed
    if unchanged > TIED * y.size:
        scores -= (alone - together) / unchanged
    return scores


def surf_scores(
    rows: UnitRows, y: NDArray[Any], *, is_regression: bool, form: str
) -> Array:
    """Return the scores of MultiSURF, SURF or SURF* of the features, shape (d,).

    Parameters
    ----------
    rows : UnitRows of shape (n, d)
    y : ndarray of shape (n,)
        Class numbers 0, 1, ...; or numbers, two of which count as one class if they
        differ by less than their standard deviation.
    form : {"multisurf", "surf", "surf_star"}
    """
    radius = 0.0 if form == "multisurf" else rows.mean_distance()
    # of two class numbers, the equal ones
    reach = np.std(y, ddof=1) if is_regression else 0.5
    class_numbers = None if is_regression else y

    def weigh(block: slice, distances: Array) -> Array:
        same = np.abs(y[block, None] - y) < reach
        if form == "multisurf":
            return _hits_and_misses(distances < _radii(distances), same, class_numbers)[
                None
            ]
        weights = _hits_and_misses(distances < radius, same, class_numbers)
        if form == "surf_star":
            far = (distances > radius) & np.isfinite(distances)
            weights -= _hits_and_misses(far, same, class_numbers)
        return weights[None]

    return weighted_differences(rows, weigh)[0] / len(y)


def _radii(distances: Array) -> Array:
    """Return the mean distance of each row to the others minus half the standard deviation, shape (m, 1)."""
    others = np.where(np.isfinite(distances), distances, 0.0)
    n_others = distances.shape[1] - 1
    mean = others.sum(axis=1, keepdims=True) / n_others
    others -= mean
    others[~np.isfinite(distances)] = 0.0
    deviation = np.sqrt(np.einsum("ij,ij->i", others, others) / n_others)
    return mean - deviation[:, None] / 2


def _hits_and_misses(
    near: NDArray[np.bool_],
    same: NDArray[np.bool_],
    class_numbers: NDArray[np.int64] | None,
) -> Array:
    """Return the weights of near rows, shape (m, n): hits sum to -1; misses to 1 if there are two classes.

    With more classes, a miss counts by the share of its class among the near misses.
    """
    hits, misses = near & same, near & ~same
    n_hits = np.count_nonzero(hits, axis=1, keepdims=True)
    n_misses = np.count_nonzero(misses, axis=1, keepdims=True)
    weights = misses / np.maximum(n_misses, 1)
    if class_numbers is not None and class_numbers.max() > 1:
        classes = np.eye(int(class_numbers.max()) + 1)[class_numbers]
        of_class = weights @ classes
        weights *= of_class[:, class_numbers] * (classes.shape[1] - 1)
    weights -= hits / np.maximum(n_hits, 1)
    return weights
