"""Deterministic selection with a constant factor, for about twice as many columns as the rank."""

from __future__ import annotations

import math

import numpy as np

from provsel.kernels.dual_set import dual_set_columns
from provsel.kernels.pivoted_qr import PivotedQR
from provsel.kernels.subset_bounds import Spectrum, SubsetPromise
from provsel.selectors._base import BaseSelector, Selection, check_budget, checked_count
from provsel.selectors._subset import checked_target, completed, leading_basis, tail_of
from provsel.training_view import TrainingView


class DualSetSelector(BaseSelector):
    r"""Select r > k columns with ||X - C C^+ X||_F^2 <= (1 + 1 / (1 - sqrt(k / r))^2) ||X - X_k||_F^2.

    Use it for a bound that grows neither with the rank k nor with the number of
    features: 12.7 at r = 2 k, and close to 2 for large r. Let V be the k leading right
    singular vectors. The weighted rows of V for the chosen columns have a Gram matrix
    bounded away from zero, and their parts in X - X_k stay small. Deterministic; sparse
    X is used in products only.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of features r, at least 2. A column may be taken repeatedly, which leaves
        fewer columns. The pivots of QR on the residual of X are then added, which
        lowers the error further; beyond the rank of X, the columns of largest norm are
        added.
    rank : int, default=None
        Rank k of the approximation in the bound, below r; None takes r // 2. It is
        capped at the rank of X.

    Attributes
    ----------
    indices_ : ndarray of shape (r,), int64
        In order of selection. Scores that agree to 1e-10 count as tied: the lowest
        index goes first.
    weights_ : ndarray of shape (r,)
        Ones: the bound concerns the span.
    dual_weights_ : ndarray of shape (r,)
        Weights with which the selected rows of V have eigenvalues of at least (1 -
        sqrt(k / r))^2; 0 for columns added afterwards.
    rank_ : int
        k, capped at the rank of X.
    rank_tolerance_ : float
        Share of the largest singular value up to which others count as zero. `fit`
        warns if the rank depends on it.
    n_repeats_ : int
        Steps in which a selected column gained weight.
    n_completed_ : int
        Number of features added by norm, because nothing was left of X.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if X is all zeros, or rank is not a positive number below r.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import DualSetSelector
    >>> X = np.array([[3.0, 2.9, 0.0], [0.0, 0.1, 1.0]])
    >>> DualSetSelector(2, rank=1).fit(X).indices_.tolist()
    [0, 2]

    References
    ----------
    Boutsidis, Drineas, Magdon-Ismail (2014), SIAM Journal on Computing 43.
    """

    algorithm_version = 1

    def __init__(
        self, n_features_to_select: int | float, *, rank: int | None = None
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.rank = rank

    @staticmethod
    def budget(rank: int, eps: float, delta: float | None = None) -> int:
        """Return the least r whose error is at most (2 + eps) times the error of the best approximation of this rank.

        1 + 1 / (1 - sqrt(rank / r))^2 <= 2 + eps. `delta` is ignored: nothing is drawn.
        """
        check_budget(rank, eps)
        r = rank / (1 - 1 / math.sqrt(1 + eps)) ** 2
        return math.ceil(r * (1 - 1e-12))

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        r = checked_count(self, view.n_features)
        if r < 2:
            raise ValueError(
                f"DualSetSelector: expected n_features_to_select to be at least 2, more than the rank, got {r}; for "
                f"one column use SingleSVDSelector."
            )
        basis = leading_basis(
            self, view, checked_target(self, r, most=r - 1, default=r // 2)
        )
        columns, scales = dual_set_columns(basis.V, tail_of(view, basis).squares, r)
        n_repeats = r - columns.size
        if n_repeats:
            pivots = PivotedQR(view.X).take(columns)
            more = pivots.extend(pivots.pivots.size + n_repeats).pivots
            columns = np.concatenate([columns, more[~np.isin(more, columns)]])
        weights = np.zeros(r)
        weights[: scales.size] = scales
        attributes = {"rank": basis.rank, "rank_tolerance": basis.tolerance}
        return completed(
            view, columns, r, n_repeats=n_repeats, dual_weights=weights, **attributes
        )

    def subset_promise(self, spectrum: Spectrum, rank: int) -> SubsetPromise:
        """Return the guarantee for ||X - C C^+ X|| relative to the best approximation of rank `rank_`, after `fit`."""
        bound = 1 + 1 / (1 - math.sqrt(self.rank_ / self.indices_.size)) ** 2
        return SubsetPromise(
            self.rank_,
            frobenius=bound,
            oblique=bound,
            source="Boutsidis, Drineas, Magdon-Ismail (2014)",
        )
