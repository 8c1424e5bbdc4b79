"""Strong rank-revealing QR."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np

from provsel.kernels.pivoted_qr import prepared_columns
from provsel.kernels.strong_rrqr import exchanged_columns
from provsel.kernels.subset_bounds import Spectrum, SubsetPromise
from provsel.selectors._base import BaseSelector, Selection, all_zeros, checked_count
from provsel.selectors._subset import completed, warn_of_hidden_columns
from provsel.selectors.rrqr import shared_pivots
from provsel.training_view import TrainingView


class StrongRRQRSelector(BaseSelector):
    r"""Exchange the pivots of QR until no exchange enlarges their volume by more than a factor f.

    Use it for a choice without an SVD that is bounded in both norms: ||X - C C^+ X||^2
    <= (1 + f^2 r (d - r))
    ||X - X_r||^2, Frobenius and spectral. The pivots alone (`RRQRSelector`) can be off by 4^r. The result is
    deterministic. Exchanges are rarely needed.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of features r. Beyond the rank of X nothing is left, and the columns of
        largest norm follow.
    f : float, default=2.0
        At least 1; with 1 the volume is a local maximum.

    Attributes
    ----------
    indices_ : ndarray of shape (r,), int64
        The pivots in order, each exchanged column at the position of the one it
        replaced.
    weights_ : ndarray of shape (r,)
        Ones.
    rank_ : int
        Number of columns chosen, min(r, numerical rank of X).
    n_completed_ : int
        Number of features taken after the rank was exhausted, r - rank_.
    n_exchanges_ : int
    largest_factor_ : float
        Factor by which any single exchange would still multiply the volume: at most f.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if X is all zeros, or f is below 1.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import StrongRRQRSelector
    >>> StrongRRQRSelector(2).fit(np.array([[3.0, 2.9, 0.0], [0.0, 0.1, 1.0]])).indices_.tolist()
    [0, 2]

    References
    ----------
    Gu and Eisenstat (1996), Algorithm 4.
    """

    algorithm_version = 1

    def __init__(self, n_features_to_select: int | float, *, f: float = 2.0) -> None:
        self.n_features_to_select = n_features_to_select
        self.f = f

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        r, f = checked_count(self, view.n_features), self.f
        if isinstance(f, bool) or not isinstance(f, Real) or not 1 <= f < math.inf:
            raise ValueError(
                f"StrongRRQRSelector: expected a finite f of at least 1, got {f!r}."
            )
        pivots = shared_pivots(view, r).pivots[:r]
        if pivots.size == 0:
            raise all_zeros(self, view)
        warn_of_hidden_columns(self, view, pivots.size, r)
        X: Any = view.shared("prepared columns", lambda: prepared_columns(view.X))
        exchanged = exchanged_columns(X, pivots, float(f))
        return completed(
            view,
            exchanged.columns,
            r,
            n_exchanges=exchanged.n_exchanges,
            largest_factor=exchanged.largest_factor,
        )

    def subset_promise(self, spectrum: Spectrum, rank: int) -> SubsetPromise:
        """Return the guarantee for ||X - C C^+ X|| relative to the best approximation of rank `rank_`, after `fit`."""
        k, d = self.rank_, self.n_features_in_
        bound = 1.0 + float(self.f) ** 2 * k * (d - k)
        return SubsetPromise(
            k, frobenius=bound, spectral=bound, source="Gu and Eisenstat (1996)"
        )
