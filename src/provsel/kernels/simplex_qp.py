"""Concave quadratic programs over products of simplices, which give the smallest ball and the hard margin.

References
----------
.. [1] K. Fischer, B. Gaertner, M. Kutz. Fast smallest-enclosing-ball computation in high dimensions.
   ESA 2003, LNCS 2832, 630-641. A walk drops one point at a time, also over dependent points.
.. [2] J. J. Judice, F. M. Pires. A block principal pivoting algorithm for large-scale strictly monotone
   linear complementarity problems. Computers & Operations Research 21 (1994), 587-596.
.. [3] J. Kim, H. Park. Fast nonnegative matrix factorization: an active-set-like method and comparisons.
   SIAM J. Sci. Comput. 33 (2011), 3261-3281. Many exchanges at once, and single ones if they fail.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs, dpstrf

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

ROUNDING = 1e-14
"""Relative changes of the objective, and spreads of the points, below this size are rounding noise."""
DEPENDENT = 1e-12
"""A Cholesky pivot below this share of its diagonal entry counts as zero: the row depends on the others."""
PROXIMAL = 1e-9
"""Relative ridge for a dependent face: the step then runs along the null direction. Exceeds `DEPENDENT`."""
LEAST_SHIFT = 1e-6
"""Level relative to the mean squared length, for sets in which more than half of the points coincide."""


def translate_gram(G: Array) -> Array:
    """Return the Gram matrix (n, n) with the shortest row as origin: exact for counts; 0 if all rows coincide."""
    origin = int(np.argmin(G.diagonal()))
    local = G - G[origin] - G[origin][:, None] + G[origin, origin]
    return (
        local
        if local.diagonal().max() > ROUNDING * np.abs(G).max()
        else np.zeros_like(local)
    )


def maximize_on_simplices(
    Q: Array,
    q: Array,
    groups: Array,
    start: Indices,
    *,
    tol: float,
    block: int,
    floor: Array | float = 0.0,
) -> Array:
    """Maximize f(p) = q^T p - p^T Q p / 2 over p >= 0 that sums to 1 in each group; return p, shape (n,).

    From the support `start`, with a member of each group, up to `block` variables enter
    at once, and all that turn negative leave at once. A block that does not raise f
    shrinks, in the end to one variable and a walk. Ends if the duality gap is at most
    tol |f(p)|, |f(p)| <= (sum_i floor_i p_i)^2, rounding stops all progress, or after 3
    n + 20 steps; the caller certifies p. The rows of groups (k, n) are 0/1 and sum to
    ones.
    """
    # Group sums are fixed, so a constant on each group's block of Q only moves f; it
    # makes the block definite where points are affinely (not: linearly) independent.
    # The median spares the digits of short rows.
    shift = (
        max(float(np.median(Q.diagonal())), LEAST_SHIFT * float(Q.diagonal().mean()))
        or 1.0
    )
    shifted = Q + shift * (groups.T @ groups)
    p = _best_on_face(shifted, q, groups, start)
    gradient, value, gap = _evaluate(Q, q, groups, p)
    for _ in range(3 * p.size + 20):
        target, noise, support = (
            tol * abs(value),
            ROUNDING * abs(value),
            np.flatnonzero(p),
        )
        if gap <= target or abs(value) <= np.sum(floor * p) ** 2:
            break
        excess = gradient - ((groups * p) @ gradient) @ groups
        outside = np.flatnonzero((p == 0.0) & (excess > 0.1 * target))
        outside = outside[np.argsort(-excess[outside], kind="stable")]
        size = min(block, outside.size)
        while True:
            face = np.sort(np.append(support, outside[: max(size, 1)]))
            trial = (
                _best_on_face(shifted, q, groups, face)
                if size
                else _walk(Q, shifted, q, groups, p, face)
            )
            gradient, new_value, new_gap = _evaluate(Q, q, groups, trial)
            # Near the end the gain, of second order, falls below rounding before the
            # gap does.
            if new_value > value + noise or (
                new_value > value - noise and new_gap < gap
            ):
                break
            if not size:
                return p
            size //= 4
        p, value, gap, block = trial, new_value, new_gap, 2 * max(size, 1)
    return p


def _evaluate(
    Q: Array, q: Array, groups: Array, p: Array
) -> tuple[Array, float, float]:
    """Return the gradient (n,), f(p) and the duality gap at p."""
    support = np.flatnonzero(p)
    gradient = q - p[support] @ Q[support]
    ceiling = sum(gradient[group > 0].max() for group in groups)
    return gradient, 0.5 * float(p @ (q + gradient)), float(ceiling - p @ gradient)


def _best_on_face(Q: Array, q: Array, groups: Array, face: Indices) -> Array:
    """Solve on a face, drop *all* negative entries, and repeat until none is left: usually 2 to 4 solves."""
    while True:
        factor, kept = _factor(Q, face)
        face = face[kept]
        entries = _solve(factor, groups[:, face], q[face], 1.0)
        positive = entries > 0.0
        # every group keeps a member, even if rounding breaks its sum
        for member in groups[:, face] > 0:
            positive[np.argmax(np.where(member, entries, -np.inf))] = True
        if positive.all():
            return _spread(groups, face, entries)
        face = face[positive]


def _walk(
    Q: Array, shifted: Array, q: Array, groups: Array, p: Array, face: Indices
) -> Array:
    """Walk from p to the best point of a face, dropping the one blocking entry at a time; f never falls."""
    entries = p[face]
    while True:
        (factor, kept), ridge = _factor(shifted, face), PROXIMAL
        full_step = 1.0 if kept.size == face.size else np.inf
        while kept.size < face.size:
            (factor, kept), ridge = _factor(shifted, face, ridge), 100.0 * ridge
        members, inner = groups[:, face], Q[np.ix_(face, face)]
        slope = q[face] - inner @ entries
        # the level carries no information but costs digits
        slope -= ((members * entries) @ slope) @ members
        direction = _solve(factor, members, slope, 0.0)
        rise, curvature = float(direction @ slope), float(direction @ inner @ direction)
        if not rise > 0.0:
            return _spread(groups, face, entries)
        limits = np.full(face.size, np.inf)
        np.divide(entries, -direction, out=limits, where=direction < 0.0)
        blocking = int(np.argmin(limits))
        length = min(rise / curvature if curvature > 0.0 else np.inf, full_step)
        entries = np.maximum(entries + min(length, limits[blocking]) * direction, 0.0)
        if length < limits[blocking]:
            return _spread(groups, face, entries)
        face, entries = np.delete(face, blocking), np.delete(entries, blocking)


def _factor(Q: Array, face: Indices, ridge: float = 0.0) -> tuple[Array, Indices]:
    """Return the Cholesky factor of Q on the independent part of a face, and the positions of that part."""
    M = Q[np.ix_(face, face)]
    M.flat[:: face.size + 1] *= 1.0 + ridge
    factor, failed = dpotrf(M, lower=1, clean=0)
    if not failed and (factor.diagonal() ** 2 >= DEPENDENT * M.diagonal()).all():
        return factor, np.arange(face.size)
    # Duplicated documents are common. A row that is left out here can return in a later
    # step.
    _, pivots, rank, _ = dpstrf(M, lower=1, tol=DEPENDENT * M.diagonal().max())
    kept = np.sort(pivots[:rank] - 1)
    return dpotrf(M[np.ix_(kept, kept)], lower=1, clean=0)[0], kept


def _solve(factor: Array, members: Array, right: Array, total: float) -> Array:
    """Solve M z + members^T mu = right with members z = total, given the Cholesky factor of M."""
    solved, _ = dpotrs(factor, np.vstack([members, right]).T, lower=1)
    images, free = solved[:, :-1], solved[:, -1]
    return free - images @ np.linalg.solve(members @ images, members @ free - total)


def _spread(groups: Array, face: Indices, entries: Array) -> Array:
    """Return the feasible p, shape (n,), from its entries on the face, clipped and rescaled."""
    p = np.zeros(groups.shape[1])
    p[face] = np.maximum(entries, 0.0)
    return p / ((groups @ p) @ groups)
