"""Rank-revealing QR: the pivots of a column-pivoted factorisation."""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np

from provsel.kernels.pivoted_qr import PivotedQR
from provsel.selectors._base import BaseSelector, Selection, all_zeros, checked_count
from provsel.selectors._subset import warn_of_hidden_columns
from provsel.training_view import TrainingView

COMPLETIONS = ("lapack", "norm")

SHARED_STEP = 64
"""Number of pivots per shared part of a view, because each selector is charged for the parts that it used."""


class RRQRSelector(BaseSelector):
    """Select the first r pivots of QR with column pivoting: greedily the column of largest residual.

    Use it as a fast deterministic baseline without labels, for columns that are as
    independent as pivoting can make them.

    Deterministic, unsupervised and unweighted. Sparse X stays sparse.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of features r. Beyond the rank of X every residual is zero up to
        rounding.
    completion : {"lapack", "norm"}, default="lapack"
        Order of the features beyond the rank. "lapack": the columns in the order in
        which LAPACK's dgeqp3 leaves them, as shown by MATLAB's `qr` and
        `scipy.linalg.qr(pivoting=True)`: each pivot swaps places with the column at its
        step, and the others stay. These are therefore mostly the first columns of X.
        "norm": by decreasing norm.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        In order of selection. Residual norms that agree to 1e-10 count as tied: the
        lowest index goes first.
    weights_ : ndarray of shape (n_selected,)
        Ones.
    rank_ : int
        Number of true pivots, min(r, numerical rank of X).
    n_completed_ : int
        Number of features taken after the rank was exhausted, r - rank_.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if X is all zeros, or for an unknown `completion`.

    Notes
    -----
    If the numerical rank is below min(n, d), LAPACK continues to swap columns by
    residuals that are only rounding; "lapack" stops at the rank, so the result is the
    same on every machine. If residuals tie, LAPACK takes the column that comes first at
    that step, and this class the one with the lowest index.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import RRQRSelector
    >>> X = np.array([[3.0, 2.9, 0.0, 0.0], [0.0, 0.1, 1.0, 2.0]])
    >>> RRQRSelector(3).fit(X).indices_  # rank 2; column 1 made room for column 3
    array([0, 3, 2])
    >>> RRQRSelector(3, completion="norm").fit(X).indices_
    array([0, 3, 1])

    References
    ----------
    Businger and Golub (1965); the baseline of Paul, Magdon-Ismail, Drineas (2016),
    section 6.
    """

    algorithm_version = 2

    def __init__(
        self,
        n_features_to_select: int | float,
        *,
        completion: Literal["lapack", "norm"] = "lapack",
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.completion = completion

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        r = checked_count(self, view.n_features)
        if self.completion not in COMPLETIONS:
            raise ValueError(
                f"RRQRSelector: expected completion to be one of {COMPLETIONS}, got {self.completion!r}."
            )
        state = shared_pivots(view, r)
        pivots = state.pivots[:r]
        if pivots.size == 0:
            raise all_zeros(self, view)
        if pivots.size < r:
            warn_of_hidden_columns(self, view, pivots.size, r)
            rest = (
                state.rest_of_swaps()
                if self.completion == "lapack"
                else state.rest_by_norm()
            )
            chosen = np.concatenate([pivots, rest[: r - pivots.size]])
        else:
            chosen = pivots
        return Selection.unweighted(
            chosen, rank=pivots.size, n_completed=r - pivots.size
        )


def shared_pivots(view: TrainingView, r: int) -> PivotedQR:
    """Return the factorisation that all fits on this view share, with r pivots or all that the rank allows."""
    state: PivotedQR = view.shared("pivoted qr", lambda: PivotedQR(view.X))
    for k in range(SHARED_STEP, r + SHARED_STEP, SHARED_STEP):
        view.shared(f"pivoted qr {k}", partial(state.extend, k))
        if state.exhausted and len(state.pivots) <= k:
            break
    return state
