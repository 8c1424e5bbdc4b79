"""Deterministic selection of exactly r unweighted columns, with a bound in both norms."""

from __future__ import annotations

import numpy as np

from provsel.kernels.spectral_selection import spectral_bound, spectral_columns
from provsel.kernels.subset_bounds import Spectrum, SubsetPromise
from provsel.selectors._base import BaseSelector, Selection, checked_count
from provsel.selectors._subset import checked_target, completed, leading_basis
from provsel.training_view import TrainingView

ZERO_ROW = 1e-28
"""Squared norm up to which a row of V, with columns of length one, counts as zero."""


class SpectralSelectionSelector(BaseSelector):
    r"""Select exactly r unweighted columns that keep the k leading singular vectors independent, r >= k.

    Use it to select more columns than the rank of the approximation. With V_S the selected rows of V, shape (d, k),
    sigma_min(V_S)^2 is at least (k / d) ((r - a) / (a - 1))^2, a = sqrt((r - 1) k + 1). The error, Frobenius and
    spectral, is at most the error of X_k divided by this: about 4 k d at r = k, and 5.8 d / k at r = 2 k. For r = k
    `SingleSVDSelector` is cheaper and has a better bound.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of features r. If fewer rows of V are non-zero, the columns of largest
        norm follow.
    rank : int, default=None
        Rank k of the approximation in the bound, at most r; None takes r. It is capped
        at the rank of X.

    Attributes
    ----------
    indices_ : ndarray of shape (r,), int64
        In order of selection. Gains that agree to 1e-10 count as tied: the lowest index
        goes first.
    weights_ : ndarray of shape (r,)
        Ones.
    rank_ : int
        k, capped at the rank of X.
    rank_tolerance_ : float
        Share of the largest singular value up to which others count as zero. `fit`
        warns if the rank depends on it.
    sigma_min_bound_ : float
        The guaranteed lower bound on sigma_min(V_S).
    n_completed_ : int
        Number of features added by norm, because all other rows of V were chosen or
        zero.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if X is all zeros, or rank is not a positive number up to r.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import SpectralSelectionSelector
    >>> X = np.array([[3.0, 2.9, 0.0], [0.0, 0.1, 1.0]])
    >>> SpectralSelectionSelector(2, rank=1).fit(X).indices_.tolist()
    [0, 1]

    References
    ----------
    Kozyrev and Osinsky (2025), arXiv 2507.20435.
    """

    algorithm_version = 1

    def __init__(
        self, n_features_to_select: int | float, *, rank: int | None = None
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.rank = rank

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        r = checked_count(self, view.n_features)
        basis = leading_basis(self, view, checked_target(self, r, most=r, default=r))
        # rows of V that are zero have no gain, and fewer than r rows may be non-zero
        open_rows = np.flatnonzero(np.einsum("ij,ij->i", basis.V, basis.V) > ZERO_ROW)
        m = min(r, open_rows.size)
        chosen = open_rows[spectral_columns(basis.V[open_rows], m)]
        bound = float(np.sqrt(spectral_bound(open_rows.size, basis.rank, m)))
        return completed(
            view,
            chosen,
            r,
            rank=basis.rank,
            rank_tolerance=basis.tolerance,
            sigma_min_bound=bound,
        )

    def subset_promise(self, spectrum: Spectrum, rank: int) -> SubsetPromise:
        """Return the guarantee for ||X - C C^+ X|| relative to the best approximation of rank `rank_`, after `fit`."""
        bound = self.sigma_min_bound_**-2
        return SubsetPromise(
            self.rank_,
            frobenius=bound,
            spectral=bound,
            basis=bound,
            source="Kozyrev and Osinsky (2025)",
        )
