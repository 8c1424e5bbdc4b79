"""Single-set spectral sparsification (BSS) without an eigenproblem a step.

The textbook algorithm scores all d columns and solves an l x l eigenproblem in each of its r steps.
Three observations, none of which changes an index or, beyond rounding, a weight, remove both:

1. The rule asks for the feasible column of *largest norm*, so columns are scored lazily, in decreasing
   norm, until the first feasible one; most of them are left out by a look in single precision (`bss_search`).
2. In the eigenbasis of an earlier A = Q diag(lam) Q^T, the current matrix is diag(lam) + W W^T with the few
   columns W accepted since. Both shifted inverses, at *any* shift, follow from j x j systems (Woodbury), so
   the eigenproblem is solved once in `MAX_UPDATES` steps instead of once a step.
3. The potentials at a step's old shifts are the previous step's at its new shifts after one rank-one
   change: Sherman-Morrison, from numbers that the scores of the accepted column already gave.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from provsel.kernels.bss_search import Array, Barriers, Columns, ColumnSearch, Scores, ShiftedInverse

MAX_UPDATES = 24
"""Accepted columns between two eigenproblems: balances O(l^3 / j) against O(l j) a step."""

NEAR_POLE = 1.0
"""Solve the eigenproblem early when the lower barrier comes this close to an old eigenvalue. The current
spectrum stays more than 1 away from the barrier, so Woodbury's terms cancel at most a digit or two."""


class Sparsifier(NamedTuple):
    """What BSS picked, one entry a step.

    Attributes
    ----------
    picks : ndarray of shape (r,), int64
        Column of each step. A column occurs twice only where no unselected one was feasible.
    gains : ndarray of shape (r,)
        Weight t of each step: A = sum_k gains[k] v_k v_k^T over the picks.
    n_infeasible : int
        Steps in which no column was feasible, which happens with the gain "mean" only.
    """

    picks: Columns
    gains: Array
    n_infeasible: int = 0


GAINS = ("inverse_mean", "mean")
"""1/t or t is the mean of a column's two scores."""


def bss(V: Array, r: int, *, gain: str = GAINS[0], norms: Array | None = None) -> Sparsifier:
    """Pick and weigh r columns v_i (rows of V), so that sum t_i v_i v_i^T is close to a multiple of I.

    Parameters
    ----------
    V : ndarray of shape (d, rank)
        Orthonormal columns: right singular vectors of the matrix whose columns are selected.
    r : int
        Number of steps, greater than `rank`.
    gain : {"inverse_mean", "mean"}, default="inverse_mean"
        1/t = (L + U) / 2, as in Algorithm 1, or t = (L + U) / 2, without a guarantee: A then hardly grows, the lower
        barrier overtakes it, and no column is feasible. The longest that was not selected is taken in such a step, with
        the gain of the step before.
    norms : ndarray of shape (d,), optional
        Lengths by which the rule prefers columns; None are those of the rows of V.

    Returns
    -------
    Sparsifier
        With D^2 = gains * (1 - sqrt(rank / r)) / r the eigenvalues of V^T S D^2 S^T V lie within
        (1 -+ sqrt(rank / r))^2.

    Raises
    ------
    ArithmeticError
        When no column is feasible, which cannot happen while V^T V = I and 1/t is the mean.

    Notes
    -----
    Rule of choice: the feasible column of largest norm that was not selected before; norms within a
    relative 1e-10 count as equal and the lowest index wins, so that the result does not depend on how V was
    computed. Where no unselected column is feasible, a selected one gains weight, by the same rule: the
    guarantee of the lemma asks only for feasibility.

    References
    ----------
    Paul, Magdon-Ismail, Drineas (2016), Algorithm 1, Lemma 1 and section 6.2; Batson, Spielman, Srivastava
    (2009).
    """
    rank = V.shape[1]
    root, ratio = np.sqrt(r * rank), np.sqrt(rank / r)
    delta_upper = (1 + ratio) / (1 - ratio)

    search = ColumnSearch(V, norms)
    lam, W = np.zeros(rank), np.empty((rank, 0))
    old_lower, old_upper = rank / root, rank / (delta_upper * root)  # potentials of A = 0 at L_0 and U_0
    picks, gains, n_infeasible = np.empty(r, dtype=np.int64), np.empty(r), 0
    for step in range(r):
        lower_shift, upper_shift = step + 1 - root, delta_upper * (step + 1 + root)
        if W.shape[1] == MAX_UPDATES or (W.shape[1] and np.abs(lam - lower_shift).min() < NEAR_POLE):
            lam, Q = eigh(np.diag(lam) + W @ W.T, driver="evd", check_finite=False)
            search.rotate(Q)
            W = np.empty((rank, 0))
        lower = ShiftedInverse(lam, W, lower_shift, sign=1.0)
        upper = ShiftedInverse(lam, W, upper_shift, sign=-1.0)
        barriers = Barriers(lower, upper, lower.trace - old_lower, old_upper - upper.trace)
        try:
            column, row, score = search.first_feasible(barriers)
            t = 2.0 / (score.U + score.L) if gain == "inverse_mean" else 0.5 * (score.U + score.L)
        except ArithmeticError:
            if gain == "inverse_mean":
                raise
            (column, row), t = search.longest(), gains[step - 1]
            score = Scores(*(values[0] for values in barriers.scores(row[None, :])))
            n_infeasible += 1
        # traces of the inverses of A + t v v^T at the same shifts, which are the old ones of the next step
        old_lower = lower.trace - t * score.lower_square / (1 + t * score.lower_linear)
        old_upper = upper.trace + t * score.upper_square / (1 - t * score.upper_linear)
        W = np.column_stack([W, np.sqrt(t) * row])
        picks[step], gains[step] = column, t
    return Sparsifier(picks, gains, n_infeasible)
