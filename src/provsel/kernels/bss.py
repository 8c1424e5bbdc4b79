"""Single-set spectral sparsification (BSS) without an eigenproblem in each step.

The textbook algorithm scores all d columns and solves an l x l eigenproblem in each of
its r steps. Three observations remove both; none of them changes an index or, beyond
rounding, a weight:

1. The rule asks for the feasible column of *largest norm*, so columns are scored
   lazily, in decreasing norm, until the first feasible one; a bound in single precision
   excludes most of them (`bss_search`).
2. In the eigenbasis of an earlier A = Q diag(lam) Q^T, the current matrix is diag(lam) + W^T W with the few rows W
   accepted since. Both shifted inverses, at *any* shift, follow from j x j systems (Woodbury). The eigenproblem is
   therefore solved once in `MAX_UPDATES` steps instead of once per step.
3. The potentials at a step's old shifts are those of the previous step at its new
   shifts after one rank-one change: Sherman-Morrison, with numbers from the scores of
   the accepted column.

The rest is some eighty operations per step on matrices of about 100 x 12, and half of
the time goes into calling them. Both barriers are therefore stacked. Quantities that
depend only on the barriers are computed once per eigenbasis, and those that depend only
on V (`bss_columns`) once for all r.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from provsel.kernels.bss_barriers import MAX_UPDATES, SIGNS, Array, Barriers, Diagonals
from provsel.kernels.bss_columns import Columns, OrderedColumns
from provsel.kernels.bss_search import ColumnSearch


class Sparsifier(NamedTuple):
    """The picks of BSS, one entry per step.

    Attributes
    ----------
    picks : ndarray of shape (r,), int64
        Column of each step. A column occurs twice only if no unselected one was
        feasible.
    gains : ndarray of shape (r,)
        Weight t of each step: A = sum_k gains[k] v_k v_k^T over the picks.
    n_infeasible : int
        Steps in which no column was feasible, which cannot happen in Algorithm 1 as
        proved.
    """

    picks: Columns
    gains: Array
    n_infeasible: int = 0


GAINS = ("inverse_mean", "mean")
"""Forms of the weight t: 1/t or t is the mean of a column's two scores."""

SHIFTS = ("algorithm_1", "section_4_1", "section_4_1_lower", "section_4_1_upper")
"""L = tau - s and U = delta_U (tau + s), with s = sqrt(r l) as in Algorithm 1, or s = sqrt(tau l) as section 4.1
displays it: in both barriers or in one."""

NO_CANDIDATE = ("repeat", "longest", "skip")
"""What a step does if no unselected column is feasible: a selected one gains weight, and the longest unselected is
taken if no column is feasible at all; the longest unselected is taken; or nothing is. A column that is not feasible has
the gain of the step before, 1 in the first step.
"""


def bss(
    columns: OrderedColumns,
    r: int,
    *,
    gain: str = GAINS[0],
    shifts: str = SHIFTS[0],
    no_candidate: str = NO_CANDIDATE[0],
) -> Sparsifier:
    """Pick and weigh r columns v_i (rows of V), so that sum t_i v_i v_i^T is close to a multiple of I.

    Parameters
    ----------
    columns : OrderedColumns
        V, shape (d, rank), has orthonormal columns: right singular vectors of the
        matrix whose columns are selected. The columns are in the order of preference of
        the rule, usually by length.
    r : int
        Number of steps, greater than `rank`.
    gain : {"inverse_mean", "mean"}, default="inverse_mean"
        1/t = (L + U) / 2, as in Algorithm 1, or t = (L + U) / 2, without a guarantee: A
        then hardly grows, the lower barrier overtakes it, and no column is feasible.
        Such a step takes the longest unselected column, with the gain of the previous
        step.
    shifts : {"algorithm_1", "section_4_1", "section_4_1_lower", "section_4_1_upper"}, default="algorithm_1"
    no_candidate : {"repeat", "longest", "skip"}, default="repeat"
        See `SHIFTS` and `NO_CANDIDATE`. Values other than the defaults are readings of
        the paper without a guarantee, and need an eigenproblem per step.

    Returns
    -------
    Sparsifier
        With D^2 = gains * (1 - sqrt(rank / r)) / r the eigenvalues of V^T S D^2 S^T V
        lie within (1 -+ sqrt(rank / r))^2.

    Raises
    ------
    ArithmeticError
        If no column is feasible, which cannot happen if V^T V = I and 1/t is the mean.

    Notes
    -----
    Rule of choice: the feasible column of largest norm that was not selected before;
    norms within a relative 1e-10 count as equal and the lowest index wins, so that the
    result does not depend on how V was computed. If no unselected column is feasible, a
    selected one gains weight, by the same rule: the guarantee of the lemma requires
    only feasibility.

    References
    ----------
    Paul, Magdon-Ismail, Drineas (2016), Algorithm 1, Lemma 1 and section 6.2; Batson,
    Spielman, Srivastava (2009).
    """
    rank = columns.V.shape[1]
    if (shifts, no_candidate) != (SHIFTS[0], NO_CANDIDATE[0]):
        return _as_read(columns, r, gain, shifts, no_candidate)
    root, ratio = np.sqrt(r * rank), np.sqrt(rank / r)
    delta_upper = (1 + ratio) / (1 - ratio)

    steps = np.arange(1, r + 1)
    # L and U after each step
    barriers_after = np.column_stack([steps - root, delta_upper * (steps + root)])
    # of both inverses for A = 0, at L_0 and U_0
    traces = np.array([rank / root, rank / (delta_upper * root)])
    search = ColumnSearch(columns)
    picks, gains, n_infeasible = np.empty(r, dtype=np.int64), np.empty(r), 0
    # A = diag(lam) + W^T W in the eigenbasis of the A of j steps ago
    lam, W, j = np.zeros(rank), np.empty((MAX_UPDATES, rank)), 0
    diagonals = Diagonals(lam, barriers_after[:MAX_UPDATES])
    for step in range(r):
        if j == diagonals.n_served:
            lam, Q = eigh(
                np.diag(lam) + W[:j].T @ W[:j], driver="evd", check_finite=False
            )
            search.rotate(Q)
            diagonals, j = Diagonals(lam, barriers_after[step : step + MAX_UPDATES]), 0
        barriers = Barriers(diagonals, j, W[:j], traces)
        try:
            column, row, score = search.first_feasible(
                barriers, may_be_none=gain == "mean"
            )
            t = (
                2.0 / (score.U + score.L)
                if gain == "inverse_mean"
                else 0.5 * (score.U + score.L)
            )
        except ArithmeticError:
            if gain == "inverse_mean":
                raise
            (column, row, score), t = search.longest(barriers), gains[step - 1]
            n_infeasible += 1
        # of the inverses of A + t v v^T at the same shifts, which are the old ones of
        # the next step
        signed_t = SIGNS * t
        traces = barriers.traces - signed_t * score.square / (
            1 + signed_t * score.linear
        )
        W[j] = np.sqrt(t) * row
        j += 1
        picks[step], gains[step] = column, t
    return Sparsifier(picks, gains, n_infeasible)


def _as_read(
    columns: OrderedColumns, r: int, gain: str, shifts: str, no_candidate: str
) -> Sparsifier:
    """Return the picks under another reading, with an eigenproblem in each step: `bss` cannot update these barriers."""
    ordered = columns.V[columns.order]
    rank = ordered.shape[1]
    ratio = np.sqrt(rank / r)
    delta_upper = (1 + ratio) / (1 - ratio)
    A, is_free = np.zeros((rank, rank)), np.ones(len(ordered), dtype=bool)
    picks, gains, n_infeasible = list[int](), list[float](), 0
    for step in range(r):
        of_algorithm, displayed = np.sqrt(r * rank), np.sqrt(step * rank)
        low = step - (
            displayed
            if shifts in ("section_4_1", "section_4_1_lower")
            else of_algorithm
        )
        high = delta_upper * (
            step
            + (
                displayed
                if shifts in ("section_4_1", "section_4_1_upper")
                else of_algorithm
            )
        )
        eigenvalues, Q = eigh(A, driver="evd", check_finite=False)
        squares = (ordered @ Q) ** 2
        below, above = (
            1 / (eigenvalues - low - 1),
            1 / (high + delta_upper - eigenvalues),
        )
        # a barrier at an eigenvalue has an infinite potential: the first term is 0
        # there
        lower = (
            squares @ below**2 / (below.sum() - (1 / (eigenvalues - low)).sum())
            - squares @ below
        )
        upper = (
            squares @ above**2 / ((1 / (high - eigenvalues)).sum() - above.sum())
            + squares @ above
        )
        feasible = (upper <= lower) & np.isfinite(lower)
        wanted = feasible & is_free
        if not wanted.any() and no_candidate == "repeat":
            wanted = feasible
        if wanted.any():
            place = int(wanted.argmax())
            mean = 0.5 * (upper[place] + lower[place])
            t = float(1 / mean if gain == "inverse_mean" else mean)
        else:
            n_infeasible += 1
            if no_candidate == "skip" or not is_free.any():
                continue
            place, t = int(is_free.argmax()), gains[-1] if gains else 1.0
        A += t * np.outer(ordered[place], ordered[place])
        is_free[place] = False
        picks.append(int(columns.order[place]))
        gains.append(t)
    if not picks:
        raise ArithmeticError("BSS: no step has a feasible column.")
    return Sparsifier(np.array(picks, dtype=np.int64), np.array(gains), n_infeasible)
