"""Rank-revealing QR: the pivots of a column-pivoted factorisation."""

from __future__ import annotations

from functools import partial

import numpy as np

from provsel.kernels.pivoted_qr import PivotedQR
from provsel.selectors._base import BaseSelector, Selection, all_zeros, checked_count
from provsel.training_view import TrainingView

SHARED_STEP = 64
"""Pivots of one shared part of a view: whoever asks for fewer or more is charged for the parts that it used."""


class RRQRSelector(BaseSelector):
    """Select the first r pivots of QR with column pivoting: greedily the column of largest residual.

    Deterministic, unsupervised and unweighted. Sparse X stays sparse.

    Parameters
    ----------
    n_features_to_select : int
        Number of features r. Beyond the rank of X every residual is zero, and the columns of largest norm follow.

    Attributes
    ----------
    indices_ : ndarray of shape (r,), int64
        In order of selection. Residual norms that agree to 1e-10 count as tied: the lowest index goes first.
    weights_ : ndarray of shape (r,)
        Ones.
    rank_ : int
        Number of true pivots, min(r, numerical rank of X).
    n_completed_ : int
        Number of features taken after the rank was exhausted, r - rank_.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, when X is all zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import RRQRSelector
    >>> RRQRSelector(2).fit(np.array([[3.0, 2.9, 0.0], [0.0, 0.1, 1.0]])).indices_
    array([0, 2])

    References
    ----------
    Businger and Golub (1965); the baseline of Paul, Magdon-Ismail, Drineas (2016), section 6.
    """

    algorithm_version = 1

    def __init__(self, n_features_to_select: int) -> None:
        self.n_features_to_select = n_features_to_select

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        r = checked_count(self, view.n_features)
        state: PivotedQR = view.shared("pivoted qr", lambda: PivotedQR(view.X))
        for k in range(SHARED_STEP, r + SHARED_STEP, SHARED_STEP):
            view.shared(f"pivoted qr {k}", partial(state.extend, k))
            if state.exhausted and len(state.pivots) <= k:
                break
        pivots = state.pivots[:r]
        if pivots.size == 0:
            raise all_zeros(self, view)
        chosen = pivots if pivots.size == r else np.concatenate([pivots, state.completion()[: r - pivots.size]])
        return Selection.unweighted(chosen, rank=pivots.size, n_completed=r - pivots.size)
