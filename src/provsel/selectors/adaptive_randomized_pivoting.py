"""Random selection by the volumes of rows of the leading right singular vectors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from provsel.kernels.leverage import leverage_scores
from provsel.kernels.randomized_pivoting import volume_sample
from provsel.kernels.subset_bounds import Spectrum, SubsetPromise, oblique_bound
from provsel.selectors._base import BaseSelector, Selection, checked_count
from provsel.selectors._subset import completed, leading_basis, tail_of
from provsel.training_view import TrainingView


class AdaptiveRandomizedPivotingSelector(BaseSelector):
    r"""Draw r columns with probability det(V_S)^2, where V are the leading right singular vectors.

    Use it for an unbiased choice with the best possible bound in expectation, E ||X - C
    C^+ X||_F^2 <= (r + 1)
    ||X - X_r||_F^2; `SingleSVDSelector` reaches it deterministically. The distribution is volume sampling of V, the
    projection determinantal point process with kernel V V^T, drawn row by row in O(d
    r^2); each column is included with probability equal to its leverage score.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of features r. Beyond the rank of X nothing is left, and the columns of
        largest norm follow.
    n_redraws : int, default=1
        Number of draws m, of which the one with the least bound
        (`certificates.certify_subset`, `oblique_bound`) is kept: the ratio is then at
        most 2 (r + 1) with probability 1 - 2^-m, by Markov's inequality. See `redraws`.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the draws.

    Attributes
    ----------
    indices_ : ndarray of shape (r,), int64
        In order of the draws.
    weights_ : ndarray of shape (r,)
        Ones.
    scores_ : ndarray of shape (d,)
        Leverage scores of V: the probability that a draw includes each column.
    rank_ : int
        Number of columns drawn, min(r, numerical rank of X).
    rank_tolerance_ : float
        Share of the largest singular value up to which others count as zero. `fit`
        warns if the rank depends on it.
    n_completed_ : int
        Number of features taken after the rank was exhausted, r - rank_.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if X is all zeros, or n_redraws is not a positive integer.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import AdaptiveRandomizedPivotingSelector
    >>> X = np.array([[3.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    >>> sorted(AdaptiveRandomizedPivotingSelector(2, random_state=0).fit(X).indices_.tolist())
    [0, 2]

    References
    ----------
    Cortinovis and Kressner (2024), arXiv 2412.13992. Belhadji, Bardenet, Chainais
    (2020) on the point process.
    """

    algorithm_version = 1

    def __init__(
        self,
        n_features_to_select: int | float,
        *,
        n_redraws: int = 1,
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_redraws = n_redraws
        self.random_state = random_state

    @staticmethod
    def redraws(delta: float) -> int:
        """Return the number of redraws after which the ratio is at most 2 (r + 1) with probability 1 - delta."""
        if not 0 < delta < 1:
            raise ValueError(f"redraws: expected delta to be in (0, 1), got {delta}.")
        return max(1, math.ceil(-math.log2(delta)))

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        r, m = checked_count(self, view.n_features), self.n_redraws
        if isinstance(m, bool) or not isinstance(m, int | np.integer) or m < 1:
            raise ValueError(
                f"AdaptiveRandomizedPivotingSelector: expected n_redraws to be a positive integer, got {m!r}; "
                f"redraws(delta) gives the number needed for a probability."
            )
        basis = leading_basis(self, view, r)
        draws = [volume_sample(basis.V, rng) for _ in range(m)]
        if m > 1:
            tail = tail_of(view, basis)
            draws.sort(
                key=lambda columns: oblique_bound(basis.V[columns], tail, columns)
            )  # stable: ties go to the first
        return completed(
            view,
            draws[0],
            r,
            scores=leverage_scores(basis.V),
            rank_tolerance=basis.tolerance,
        )

    def subset_promise(self, spectrum: Spectrum, rank: int) -> SubsetPromise:
        """Return the guarantee for ||X - C C^+ X|| relative to the best approximation of rank `rank_`, after `fit`."""
        k, d = self.rank_, self.n_features_in_
        return SubsetPromise(
            k,
            frobenius=k + 1.0,
            spectral=1.0 + k * (d - k),
            expectation=True,
            source="Cortinovis and Kressner (2024)",
        )
