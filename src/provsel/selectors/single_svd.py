"""Deterministic selection with the best possible bound if the number of columns equals the rank."""

from __future__ import annotations

from typing import Literal

import numpy as np

from provsel.kernels.single_svd import single_svd_columns
from provsel.kernels.subset_bounds import Spectrum, SubsetPromise
from provsel.kernels.tails import IdentityTail
from provsel.selectors._base import BaseSelector, Selection, checked_count
from provsel.selectors._subset import completed, leading_basis, tail_of
from provsel.training_view import TrainingView

FORMS = ("residual", "basis_only")


class SingleSVDSelector(BaseSelector):
    r"""Select r columns C with ||X - C C^+ X||_F^2 <= (r + 1) ||X - X_r||_F^2, always.

    Use it as the first choice for approximating X by its own columns. It is
    deterministic and unsupervised, needs one SVD, and no method has a better constant.
    X_r is the best approximation of rank r. Sparse X is used only in products. Let V,
    shape (d, r), be the leading right singular vectors. Each step chooses the column
    with the least
    ||f_j||^2 / ||q_j||^2. Here f_j is the part of column j of X - X_r that the oblique projection leaves so far, and
    q_j is the part of row j of V that the chosen rows leave.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of features r. Beyond the rank of X nothing is left, and the columns of
        largest norm follow.
    form : {"residual", "basis_only"}, default="residual"
        "basis_only" uses V only, and not X - X_r: the bound is 1 + r (d - r), also for
        the spectral norm.

    Attributes
    ----------
    indices_ : ndarray of shape (r,), int64
        In order of selection. Ratios that agree to 1e-10 count as tied: the lowest
        index goes first.
    weights_ : ndarray of shape (r,)
        Ones.
    rank_ : int
        Number of columns chosen, min(r, numerical rank of X).
    rank_tolerance_ : float
        Share of the largest singular value up to which others count as zero. `fit`
        warns if the rank depends on it.
    n_completed_ : int
        Number of features taken after the rank was exhausted, r - rank_.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if X is all zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import SingleSVDSelector
    >>> SingleSVDSelector(1).fit(np.array([[3.0, 2.9, 0.0], [0.0, 0.1, 1.0]])).indices_.tolist()
    [1]

    References
    ----------
    Osinsky (2023), "Close to optimal column approximations with a single SVD";
    Cortinovis and Kressner (2024), arXiv 2412.13992, who derive it from adaptive
    randomized pivoting.
    """

    algorithm_version = 1

    def __init__(
        self,
        n_features_to_select: int | float,
        *,
        form: Literal["residual", "basis_only"] = "residual",
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.form = form

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        r = checked_count(self, view.n_features)
        if self.form not in FORMS:
            raise ValueError(
                f"SingleSVDSelector: expected form to be one of {FORMS}, got {self.form!r}."
            )
        basis = leading_basis(self, view, r)
        tail = (
            tail_of(view, basis) if self.form == "residual" else IdentityTail(basis.V)
        )
        return completed(
            view, single_svd_columns(basis.V, tail), r, rank_tolerance=basis.tolerance
        )

    def subset_promise(self, spectrum: Spectrum, rank: int) -> SubsetPromise:
        """Return the guarantee for ||X - C C^+ X|| relative to the best approximation of rank `rank_`, after `fit`."""
        k, d = self.rank_, self.n_features_in_
        if self.form == "residual":
            return SubsetPromise(
                k, frobenius=k + 1.0, oblique=k + 1.0, source="Osinsky (2023)"
            )
        bound = 1.0 + k * (d - k)
        return SubsetPromise(
            k,
            frobenius=bound,
            spectral=bound,
            basis=bound,
            source="Osinsky (2023), V alone",
        )
