"""Deterministic selection by single-set spectral sparsification."""

from __future__ import annotations

from typing import Literal

import numpy as np

from provsel.checks import check_choice
from provsel.kernels.bss import NO_CANDIDATE, SHIFTS
from provsel.kernels.bss_columns import OrderedColumns
from provsel.selectors._base import (
    BaseSelector,
    Selection,
    checked_basis,
    checked_count,
)
from provsel.selectors._bss_selection import (
    bss_budget,
    bss_selection,
    check_exceeds_rank,
    check_forms,
)
from provsel.training_view import TrainingView


class BSSSelector(BaseSelector):
    r"""Select features by single-set spectral sparsification (Batson, Spielman, Srivastava).

    Use it if a bound must always hold, not only with high probability, and r may exceed
    the rank. Each step scans all features. `transform` multiplies the kept columns by
    `weights_` and keeps their names; `rescale=False` leaves their values unchanged.

    Deterministic. With V, shape (d, rank), the right singular vectors of X, r > rank
    steps pick columns of V^T and weights D so that, for R = S D,

        (1 - sqrt(rank/r))^2 <= eig(V^T R R^T V) <= (1 + sqrt(rank/r))^2,
        ||V^T V - V^T R R^T V||_2 <= 3 sqrt(rank/r),

    and the margin of a hard-margin SVM on X R is at least (1 - eps) that on X for r >=
    `budget(rank, eps)`.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of steps r, greater than the rank of X. Fewer distinct features are kept
        if no unselected column was feasible, see `n_repeats_`.
    weights : {"sqrt_t", "as_printed"}, default="sqrt_t"
        D = sqrt(t). The paper prints 1 / sqrt(t), which violates its Lemma 1, and is
        available to demonstrate this.
    rescale : bool, default=True
        Multiply the kept columns by `weights_` in `transform`, as the theorems need.
    rank : int, default=None
        Use the `rank` largest singular values only; None takes all non-zero ones, as
        the theorems need.
    gain : {"inverse_mean", "mean"}, default="inverse_mean"
        Weight of a pick. The mean of its scores L and U is 1/t, as in Algorithm 1, or
        t. With "mean" there is no guarantee: soon no column is feasible, and the
        longest one is picked.
    shifts : {"algorithm_1", "section_4_1", "section_4_1_lower", "section_4_1_upper"}, default="algorithm_1"
        The barriers are L = tau - s and U = delta_U (tau + s) in step tau. Algorithm 1
        has s = sqrt(r rank); section 4.1 displays s = sqrt(tau rank), in both barriers
        or in one. Only the first has a guarantee.
    no_candidate : {"repeat", "longest", "skip"}, default="repeat"
        If no unselected column is feasible, a selected one gains weight; the longest
        unselected one is taken; or the step is skipped, and fewer features are kept.
        Only the first keeps the guarantee.
    columns : {"V", "sigma_V"}, default="V"
        The longest feasible column is picked, measured in V^T, or in Sigma V^T, whose
        columns are as long as those of X.
    center : bool, default=False
        V is taken from X minus its column means, which makes a dense copy.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        The distinct features, at most r, in order of selection.
    weights_ : ndarray of shape (n_selected,)
        Scale of each: the square root of its summed gains t, times sqrt((1 -
        sqrt(rank/r)) / r).
    n_repeats_ : int
        Steps in which a selected feature gained weight, r - k.
    n_infeasible_ : int
        Steps in which no column was feasible; 0 for Algorithm 1 as proved.
    rank_ : int
        Rank that was sparsified.
    rank_tolerance_ : float
        Share of the largest singular value up to which others count as zero. `fit`
        warns if the rank depends on it.
    eigenvalue_range_ : tuple of float
        The range that Lemma 1 guarantees for the eigenvalues of V^T R R^T V. Like
        `spectral_bound_`, it is not set with non-default `gain`, `shifts` or
        `no_candidate`.
    spectral_bound_ : float
        3 sqrt(rank / r), the bound of Lemma 2 on ||E||_2.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if r does not exceed the rank (the message names the smallest r that
        works) or X is zero.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import BSSSelector
    >>> X = np.random.default_rng(0).standard_normal((10, 200))
    >>> selector = BSSSelector(40, rescale=False)
    >>> selector.fit_transform(X).shape, bool((selector.transform(X) == X[:, selector.get_support()]).all())
    ((10, 40), True)

    References
    ----------
    Paul, Magdon-Ismail, Drineas (2016), Algorithm 1, Lemmas 1-2, Theorems 1 and 3,
    section 6.2.
    """

    algorithm_version = 3

    def __init__(
        self,
        n_features_to_select: int | float,
        *,
        weights: Literal["sqrt_t", "as_printed"] = "sqrt_t",
        rescale: bool = True,
        rank: int | None = None,
        gain: Literal["inverse_mean", "mean"] = "inverse_mean",
        shifts: Literal[
            "algorithm_1", "section_4_1", "section_4_1_lower", "section_4_1_upper"
        ] = "algorithm_1",
        no_candidate: Literal["repeat", "longest", "skip"] = "repeat",
        columns: Literal["V", "sigma_V"] = "V",
        center: bool = False,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.weights = weights
        self.rescale = rescale
        self.rank = rank
        self.gain = gain
        self.shifts = shifts
        self.no_candidate = no_candidate
        self.columns = columns
        self.center = center

    @staticmethod
    def budget(rank: int, eps: float, delta: float | None = None) -> int:
        """Return the r for which Theorem 1 keeps the squared margin to within a factor 1 - eps.

        The proof needs ||E||_2 <= eps / 2, and Lemma 2 gives 3 sqrt(rank / r). `delta`
        is ignored: nothing is drawn.
        """
        return bss_budget(rank, eps)

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        r = checked_count(self, view.n_features)
        check_forms("BSSSelector", self.weights, self.gain)
        check_choice("BSSSelector", "shifts", self.shifts, SHIFTS)
        check_choice("BSSSelector", "no_candidate", self.no_candidate, NO_CANDIDATE)
        basis = checked_basis(self, view)
        hint = (
            f"the smallest that works is {basis.rank + 1}"
            if basis.rank < view.n_features
            else f"X has full column rank, so give rank < {max(r, 2)} as well"
        )
        check_exceeds_rank("BSSSelector", r, basis.rank, "X", hint)
        lengths = None if self.columns == "V" else basis.lengths(self.columns)
        # all r share them
        name = f"ordered columns {basis.rank} {self.columns!r} {self.center}"
        columns = view.shared(name, lambda: OrderedColumns(basis.V, lengths))
        readings = {"shifts": self.shifts, "no_candidate": self.no_candidate}
        return bss_selection(
            columns, r, self.weights, self.gain, basis.tolerance, **readings
        )
