"""BSS on the singular vectors of a random sketch of the rows."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy import sparse

from provsel.kernels.bss_columns import OrderedColumns
from provsel.kernels.spectral import spectral_basis
from provsel.selectors._base import BaseSelector, Selection, all_zeros, checked_count
from provsel.selectors._bss_selection import (
    bss_budget,
    bss_selection,
    check_exceeds_rank,
    check_forms,
)
from provsel.training_view import TrainingView


class ApproximateBSSSelector(BaseSelector):
    r"""Select features by BSS on the right singular vectors of G X, where G is a t x n Gaussian matrix.

    Use it instead of `BSSSelector` for many rows, if the basis of X is expensive or its
    rank exceeds r. `transform` multiplies the kept columns by `weights_` and keeps
    their names; `rescale=False` leaves their values unchanged.

    The sketch G X has rank l = min(t, rank X). BSS therefore needs only r > l, whereas
    `BSSSelector` needs r > rank X, and works with vectors of l entries. For t >= rank
    X, G X has the row space of X, so the guarantees of BSS hold for V of X itself. For
    t < rank X they hold for the row space of the sketch only.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of steps r, greater than the rank of the sketch. See `n_repeats_`.
    n_projections : int, default=256
        Rows t of G.
    weights : {"sqrt_t", "as_printed"}, default="sqrt_t"
        As in `BSSSelector`.
    rescale : bool, default=True
        Multiply the kept columns by `weights_` in `transform`.
    gain : {"inverse_mean", "mean"}, default="inverse_mean"
        As in `BSSSelector`.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the random projection.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        The distinct features, at most r, in order of selection.
    weights_ : ndarray of shape (n_selected,)
    n_repeats_ : int
        Steps in which a selected feature gained weight, r - k.
    n_infeasible_ : int
        Steps in which no column was feasible; always 0 except with `gain="mean"`.
    rank_ : int
        Rank of the sketch.
    rank_tolerance_ : float
        Share of the largest singular value up to which others count as zero.
    eigenvalue_range_ : tuple of float
        Guaranteed range of the eigenvalues of V^T R R^T V, where V are the right
        singular vectors of the sketch.
    spectral_bound_ : float
        3 sqrt(rank_ / r), the guaranteed bound on ||V^T V - V^T R R^T V||_2 with the
        same V.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if r does not exceed the rank of the sketch, or X is zero.

    Notes
    -----
    Memory: the sketch and its basis are two dense t x d arrays; sparse X stays sparse.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import ApproximateBSSSelector
    >>> X = np.random.default_rng(0).standard_normal((100, 200))
    >>> ApproximateBSSSelector(40, n_projections=20, rescale=False, random_state=0).fit_transform(X).shape
    (100, 40)

    References
    ----------
    Paul, Magdon-Ismail, Drineas (2016), Algorithm 3.
    """

    algorithm_version = 3

    def __init__(
        self,
        n_features_to_select: int | float,
        *,
        n_projections: int = 256,
        weights: Literal["sqrt_t", "as_printed"] = "sqrt_t",
        rescale: bool = True,
        gain: Literal["inverse_mean", "mean"] = "inverse_mean",
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_projections = n_projections
        self.weights = weights
        self.rescale = rescale
        self.gain = gain
        self.random_state = random_state

    @staticmethod
    def budget(rank: int, eps: float, delta: float | None = None) -> int:
        """Return the r for which Theorem 1 keeps the squared margin to within a factor 1 - eps.

        Valid for n_projections >= rank, the rank of X: the sketch then has, with
        probability one, the row space of X, so `delta` is ignored. For fewer
        projections there is no guarantee for X.
        """
        return bss_budget(rank, eps)

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        name, t = type(self).__name__, self.n_projections
        r = checked_count(self, view.n_features)
        if isinstance(t, bool) or not isinstance(t, int | np.integer) or t < 1:
            raise ValueError(
                f"{name}: expected n_projections to be a positive integer, got {t!r}."
            )
        check_forms(name, self.weights, self.gain)
        basis = spectral_basis(gaussian_sketch(view.X, int(t), rng)).warned()
        if basis.rank == 0:
            raise all_zeros(self, view)
        hint = (
            f"choose at least {basis.rank + 1}"
            if basis.rank < view.n_features
            else "there are no more features"
        )
        check_exceeds_rank(
            name, r, basis.rank, "the sketch", f"{hint}, or n_projections < {r}"
        )
        return bss_selection(
            OrderedColumns(basis.V), r, self.weights, self.gain, basis.tolerance
        )


def gaussian_sketch(X: Any, t: int, rng: np.random.Generator) -> Any:
    """Return G X, shape (t, d), for a t x n matrix G of independent N(0, 1 / t) entries and X of shape (n, d)."""
    G = rng.standard_normal((t, X.shape[0])) / np.sqrt(t)
    # the sparse factor goes first, or SciPy would transpose both
    return (
        (X.T.astype(np.float64) @ G.T).T
        if sparse.issparse(X)
        else G @ X.astype(np.float64)
    )
