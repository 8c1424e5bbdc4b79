"""The steps of BSS as compiled code, which is imported only where it is wanted: see `compiled`.

The algorithm and its bounds are those of `bss`, `bss_barriers` and `bss_search`, where they are explained. There, calls
of small operations take half of the time, so that as much as possible is done at once; here they cost nothing, so that
as little as possible is done: columns are scored one at a time, and U only where L is not below a bound of it.

All of it is one file: numba tells by the file of a function alone whether what it has compiled is still right. Who
changes a constant that is imported here removes the files *.nbi beside it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from provsel.kernels.bss_barriers import MAX_UPDATES, NEAR_POLE, ROUNDING, SIGNS, SURELY, TOUCHING, Array, Singles
from provsel.kernels.bss_columns import Columns, OrderedColumns
from provsel.kernels.bss_search import KEPT_ROWS, NONE_AT_ALL, NONE_FEASIBLE, TURNED_AHEAD
from provsel.kernels.compiled import jit

Marks = NDArray[np.bool_]

LOWER, UPPER = 0, 1

BLOCK = 64
"""Columns looked at at once, beyond the first."""

FIRST_BLOCK = 32

FIRST_SCORED = 2
"""Columns that are scored without a first look, where the last pick was one of so many."""

NONE = -1


class Ordered(NamedTuple):
    """What `OrderedColumns` has, as compiled code takes it."""

    V: Array
    norms: Array
    order: Columns
    heads: Columns
    direction: Columns
    next: Columns


class Barriers(NamedTuple):
    """Both shifted inverses of a step, as in `bss_barriers.Barriers`, in arrays that all steps share.

    Attributes
    ----------
    D : ndarray of shape (2, 2, rank)
        The diagonals of both, and their squares.
    S : ndarray of shape (2, MAX_UPDATES, rank)
    K, gram : ndarray of shape (2, MAX_UPDATES, MAX_UPDATES)
    scaled : ndarray of shape (4 * MAX_UPDATES, rank)
        S and S D of the lower barrier, then of the upper one, in 4 j rows.
    traces, weights : ndarray of shape (2,)
    size : ndarray of shape (1,), int64
        j, the number of columns accepted since the eigenproblem. Not a number, as each value that is known when it is
        passed on would be compiled for itself.
    """

    D: Array
    S: Array
    K: Array
    gram: Array
    scaled: Array
    traces: Array
    weights: Array
    size: Columns


class Bound(NamedTuple):
    """The lower bound of U - L in single precision, as `bss_barriers.ExcessBound`."""

    diagonals: Singles
    factors: Singles


class Search(NamedTuple):
    """The unselected columns, as in `bss_search.ColumnSearch`.

    Attributes
    ----------
    heads : ndarray of int64
    is_taken : ndarray of bool
    units, turned : ndarray of shape (n_kept, rank), float32
    counts : ndarray of shape (4,), int64
        Heads, units, turned units, and the position of the last pick.
    """

    heads: Columns
    is_taken: Marks
    units: Singles
    turned: Singles
    counts: Columns


HEADS, UNITS, TURNED, LAST = range(4)


class Scored(NamedTuple):
    """A column's row in the eigenbasis, its forms by both barriers, and room for them."""

    z: Array
    linear: Array
    square: Array
    images: Array


def picked(columns: OrderedColumns, shifts: Array, traces: Array, *, is_mean: bool) -> tuple[Columns, Array, int]:
    """Return what `bss.bss` returns: picks, gains, and the number of steps without a feasible column.

    Parameters
    ----------
    columns : OrderedColumns
    shifts : ndarray of shape (r, 2)
        Both barriers after each step.
    traces : ndarray of shape (2,)
        Of both inverses before the first; overwritten.
    is_mean : bool
        Whether t, and not 1/t, is the mean of the two scores.

    Raises
    ------
    ArithmeticError
        As `bss.bss`.
    """
    plain = Ordered(*(np.ascontiguousarray(getattr(columns, name)) for name in Ordered._fields))
    picks, gains, n_infeasible = pick_all(plain, shifts, traces, is_mean)
    if n_infeasible == NONE:
        raise ArithmeticError(NONE_AT_ALL if is_mean else NONE_FEASIBLE)
    return picks, gains, n_infeasible


@jit
def keep_parallel(V: Array, norms: Array, columns: Columns, same: Marks, limit: float) -> None:
    """As `bss_columns` does it; `limit` is of the squared distance."""
    for i in range(same.size):
        if same[i]:
            row, before, product, gap = V[columns[i + 1]], V[columns[i]], 0.0, 0.0
            for c in range(row.size):
                product += row[c] * before[c]
            of_row, of_before = 1.0 / norms[columns[i + 1]], np.copysign(1.0, product) / norms[columns[i]]
            for c in range(row.size):
                difference = row[c] * of_row - before[c] * of_before
                gap += difference * difference
            same[i] = gap <= limit


@jit
def positive_inverse(A: Array) -> bool:
    """Replace a symmetric positive definite A, shape (j, j), by its inverse (in place); tell whether it was one."""
    j = len(A)
    for k in range(j):
        pivot = A[k, k]
        if not pivot > 0.0:
            return False
        A[k, k] = 1.0
        for c in range(j):
            A[k, c] /= pivot
        for i in range(j):
            if i != k:
                factor = A[i, k]
                A[i, k] = 0.0
                for c in range(j):
                    A[i, c] -= factor * A[k, c]
    return True


@jit
def set_barriers(made: Barriers, lam: Array, W: Array, low: float, high: float, old_traces: Array) -> bool:
    """Shift both barriers (in place); W has shape (j, rank). False where rounding has left no inverse."""
    j, rank = W.shape
    made.size[0] = j
    for s in range(2):
        sign, shift, trace = SIGNS[s], (low, high)[s], 0.0
        for c in range(rank):
            gap = lam[c] - shift
            D = sign / (0.0 if abs(gap) < TOUCHING else gap)
            made.D[s, 0, c], made.D[s, 1, c] = D, D * D
            trace += D
        for p in range(j):
            for c in range(rank):
                made.S[s, p, c] = made.scaled[2 * s * j + p, c] = W[p, c] * made.D[s, 0, c]
                made.scaled[(2 * s + 1) * j + p, c] = W[p, c] * made.D[s, 1, c]
        made.traces[s] = trace
    if j:
        products = np.dot(made.scaled[: 4 * j], W.T)
        for s in range(2):
            # the inverse of 1 + sign W D W^T, which is positive definite as both shifted matrices are
            K, gram, trace = products[2 * s * j : (2 * s + 1) * j], products[(2 * s + 1) * j : (2 * s + 2) * j], 0.0
            for p in range(j):
                for q in range(j):
                    K[p, q] *= SIGNS[s]
                K[p, p] += 1.0
            if not positive_inverse(K):
                return False
            for p in range(j):
                for q in range(j):
                    made.K[s, p, q], made.gram[s, p, q] = -SIGNS[s] * K[p, q], gram[p, q]
                    trace += made.K[s, p, q] * gram[p, q]
            made.traces[s] += trace
    for s in range(2):
        made.weights[s] = 1.0 / (old_traces[s] - made.traces[s])
    return True


@jit
def set_forms(scored: Scored, made: Barriers, s: int) -> None:
    """Compute z M z and z M^2 z for one barrier (in place)."""
    z, first, second = scored.z, scored.images[0], scored.images[1]
    rank, j = z.size, made.size[0]
    for p in range(j):
        total = 0.0
        for c in range(rank):
            total += made.S[s, p, c] * z[c]
        first[p] = total
    for p in range(j):
        total = 0.0
        for q in range(j):
            total += made.K[s, p, q] * first[q]
        second[p] = total
    linear, square = 0.0, 0.0
    for c in range(rank):
        image = made.D[s, 0, c] * z[c]
        for p in range(j):
            image += made.S[s, p, c] * second[p]
        linear += image * z[c]
        square += image * image
    scored.linear[s], scored.square[s] = linear, square


@jit
def scores(scored: Scored, made: Barriers) -> tuple[float, float]:
    """Return L and U of a column; infinity in place of U where L is below its bound by the diagonal."""
    z, rank = scored.z, scored.z.size
    set_forms(scored, made, LOWER)
    L = -(scored.linear[LOWER] + made.weights[LOWER] * scored.square[LOWER])
    linear, length = 0.0, 0.0
    for c in range(rank):
        linear += made.D[UPPER, 0, c] * z[c] * z[c]
        length += z[c] * z[c]
    if (linear + made.weights[UPPER] * linear * linear / length) * (1 - 1e-9) > L:
        return L, np.inf
    set_forms(scored, made, UPPER)
    return L, scored.linear[UPPER] + made.weights[UPPER] * scored.square[UPPER]


@jit
def leave_none(made: Barriers, W: Array) -> bool:
    """Tell whether the eigenvalues of A alone show that no vector is feasible."""
    lower, upper = made.D[LOWER, 0], made.D[UPPER, 0].min()
    most, growth = lower.max(), 0.0
    if not lower.min() > 0:
        return False
    for p in range(len(W)):
        for c in range(lower.size):
            growth += W[p, c] * W[p, c]
    least, weight = 1.0 / (1.0 / lower.min() + growth), made.weights[LOWER]
    minus_L = min(least + weight * least * least, most + weight * most * most)
    return minus_L + upper + made.weights[UPPER] * upper * upper > SURELY * (most + abs(weight) * most * most)


@jit
def set_bound(bound: Bound, made: Barriers) -> float:
    """Compute the bound of U - L (in place), and return the error of the sum."""
    rank, j, weight = made.D.shape[2], made.size[0], made.weights[LOWER]
    largest, size = 0.0, 0.0
    for c in range(rank):
        lower, upper = made.D[LOWER, 0, c] + weight * made.D[LOWER, 1, c], made.D[UPPER, 0, c]
        bound.diagonals[0, c], bound.diagonals[1, c] = lower + upper, np.sqrt(made.weights[UPPER]) * upper
        largest, size = max(largest, upper), max(size, abs(lower))
    size += largest + made.weights[UPPER] * largest * largest
    if j:
        K = made.K[LOWER, :j, :j].copy()
        mixed, inner = np.empty((j, 2 * j)), np.dot(np.dot(K, made.gram[LOWER, :j, :j].copy()), K)
        for p in range(j):
            for q in range(j):
                mixed[p, q], mixed[p, j + q] = K[p, q] + weight * inner[p, q], 2.0 * weight * K[p, q]
        X, of_X, of_S = np.dot(mixed, made.scaled[: 2 * j]), 0.0, 0.0
        for p in range(j):
            for c in range(rank):
                bound.factors[p, c], bound.factors[j + p, c] = X[p, c], made.S[LOWER, p, c]
                of_X += X[p, c] * X[p, c]
                of_S += made.S[LOWER, p, c] * made.S[LOWER, p, c]
        size += np.sqrt(of_X * of_S)
    return ROUNDING * np.sqrt(rank) * size


@jit
def may_be_feasible(Z: Singles, bound: Bound, made: Barriers, rounding: float, out: Columns) -> int:
    """Write the places of the rows of Z whose bound is not positive beyond rounding; return how many there are."""
    j, limit, n = made.size[0], np.float32(rounding), 0
    images = np.dot(Z, bound.factors[: 2 * j].T)
    for i in range(len(Z)):
        linear, root = np.float32(0), np.float32(0)
        for c in range(Z.shape[1]):
            square = Z[i, c] * Z[i, c]
            linear += square * bound.diagonals[0, c]
            root += square * bound.diagonals[1, c]
        total = linear + root * root
        for c in range(j):
            total += images[i, c] * images[i, j + c]
        if not total > limit:
            out[n] = i
            n += 1
    return n


@jit
def unit_rows(columns: Ordered, search: Search, places: Columns, Q: Singles) -> Singles:
    """Return the unit vectors of some places in the eigenbasis; the leading ones are kept."""
    rank, end = Q.shape[0], 0
    for place in places:
        end = max(end, columns.direction[place] + 1)
    found = np.empty((places.size, rank), dtype=np.float32)
    if end > len(search.units):
        for i in range(places.size):
            set_unit(columns, columns.direction[places[i]], found[i])
        return np.dot(found, Q)
    counts = search.counts
    if end > counts[TURNED]:
        end = min(end + TURNED_AHEAD, len(search.units))
        for i in range(counts[UNITS], end):
            set_unit(columns, i, search.units[i])
        counts[UNITS] = max(counts[UNITS], end)
        np.dot(search.units[counts[TURNED] : end], Q, search.turned[counts[TURNED] : end])
        counts[TURNED] = end
    for i in range(places.size):
        found[i] = search.turned[columns.direction[places[i]]]
    return found


@jit
def set_unit(columns: Ordered, direction: int, out: Singles) -> None:
    """Write the unit vector of a direction, in the coordinates of V."""
    column = columns.order[columns.heads[direction]]
    for c in range(out.size):
        out[c] = columns.V[column, c] / columns.norms[column]


@jit
def first_feasible(
    columns: Ordered,
    search: Search,
    made: Barriers,
    bound: Bound,
    scored: Scored,
    W: Array,
    Q: Array,
    Q_single: Singles,
) -> tuple[int, float, float]:
    """Return the place of the feasible column of largest norm, or NONE, with L and U."""
    heads, start = search.heads[: search.counts[HEADS]], 0
    if search.counts[LAST] < FIRST_SCORED:
        start = min(FIRST_SCORED, heads.size)
        for place in heads[:start]:
            np.dot(columns.V[columns.order[place]], Q, scored.z)
            L, U = scores(scored, made)
            if U <= L < np.inf:
                return place, L, U
    if leave_none(made, W):
        return NONE, 0.0, 0.0
    rounding, maybe = set_bound(bound, made), np.empty(BLOCK, dtype=np.int64)
    for is_selected in range(2):
        if is_selected:  # nothing unselected is feasible: a selected column gains weight
            heads, start = columns.heads[search.is_taken[columns.heads]], 0
        size = FIRST_BLOCK
        while start < heads.size:
            places = heads[start : start + size]
            Z = unit_rows(columns, search, places, Q_single)
            for i in maybe[: may_be_feasible(Z, bound, made, rounding, maybe)]:
                np.dot(columns.V[columns.order[places[i]]], Q, scored.z)
                L, U = scores(scored, made)
                if U <= L < np.inf:
                    return places[i], L, U
            start, size = start + size, BLOCK
    return NONE, 0.0, 0.0


@jit
def take(columns: Ordered, search: Search, place: int) -> None:
    """Mark a column as selected; the next of its direction takes its place among the heads (in place)."""
    if search.is_taken[place]:
        return
    search.is_taken[place] = True
    heads, follower = search.heads[: search.counts[HEADS]], columns.next[place]
    at = search.counts[LAST] = np.searchsorted(heads, place)
    end = heads.size if follower < 0 else np.searchsorted(heads, follower)
    heads[at : end - 1] = heads[at + 1 : end]
    if follower < 0:
        search.counts[HEADS] -= 1
    else:
        heads[end - 1] = follower


@jit
def pick_all(columns: Ordered, shifts: Array, traces: Array, is_mean: bool) -> tuple[Columns, Array, int]:
    """Return picks, gains and the number of steps without a feasible column; NONE for that where it must not be.

    `traces` become those of the next step each time (in place).
    """
    V, rank, r = columns.V, columns.V.shape[1], len(shifts)
    n_kept = min(KEPT_ROWS, columns.heads.size)
    search = Search(
        columns.heads.copy(), np.zeros(columns.order.size, dtype=np.bool_), np.empty((n_kept, rank), dtype=np.float32),
        np.empty((n_kept, rank), dtype=np.float32), np.zeros(4, dtype=np.int64),
    )  # fmt: skip
    search.counts[HEADS] = columns.heads.size
    made = Barriers(
        np.empty((2, 2, rank)), np.empty((2, MAX_UPDATES, rank)), np.empty((2, MAX_UPDATES, MAX_UPDATES)),
        np.empty((2, MAX_UPDATES, MAX_UPDATES)), np.empty((4 * MAX_UPDATES, rank)), np.empty(2), np.empty(2),
        np.zeros(1, dtype=np.int64),
    )  # fmt: skip
    bound = Bound(np.empty((2, rank), dtype=np.float32), np.empty((2 * MAX_UPDATES, rank), dtype=np.float32))
    scored = Scored(np.empty(rank), np.empty(2), np.empty(2), np.empty((2, MAX_UPDATES)))
    lam, W, j, Q = np.zeros(rank), np.empty((MAX_UPDATES, rank)), 0, np.eye(rank)
    Q_single = Q.astype(np.float32)
    picks, gains, n_infeasible = np.empty(r, dtype=np.int64), np.empty(r), 0
    for step in range(r):
        low, high, is_near = shifts[step, LOWER], shifts[step, UPPER], False
        for c in range(rank):
            is_near = is_near or abs(lam[c] - low) < NEAR_POLE
        if j == MAX_UPDATES or (j > 0 and (is_near or not set_barriers(made, lam, W[:j], low, high, traces))):
            A = np.dot(W[:j].T, W[:j])
            for c in range(rank):
                A[c, c] += lam[c]
            lam, turn = np.linalg.eigh(A)
            Q = np.dot(Q, turn)
            Q_single, j = Q.astype(np.float32), 0
            search.counts[TURNED] = 0
        if j == 0:
            set_barriers(made, lam, W[:0], low, high, traces)
        place, L, U = first_feasible(columns, search, made, bound, scored, W[:j], Q, Q_single)
        if place != NONE:
            t = 0.5 * (U + L) if is_mean else 2.0 / (U + L)
        elif is_mean and search.counts[HEADS]:
            place, t = search.heads[0], gains[step - 1]
            np.dot(V[columns.order[place]], Q, scored.z)
            set_forms(scored, made, LOWER)
            set_forms(scored, made, UPPER)
            n_infeasible += 1
        else:
            return picks, gains, NONE
        take(columns, search, place)
        for s in range(2):
            signed_t = SIGNS[s] * t
            traces[s] = made.traces[s] - signed_t * scored.square[s] / (1 + signed_t * scored.linear[s])
        W[j] = np.sqrt(t) * scored.z
        j += 1
        picks[step], gains[step] = columns.order[place], t
    return picks, gains, n_infeasible
