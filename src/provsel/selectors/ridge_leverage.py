"""Selection of the largest ridge leverage scores, or at random by these scores."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from provsel.kernels.graded import scale_exponent
from provsel.kernels.leverage import sample_with_replacement
from provsel.kernels.ridge_leverage import ridge_leverage_scores, scores_by_gram_matrix
from provsel.kernels.ties import TIED, rank_descending
from provsel.selectors._base import (
    BaseSelector,
    Selection,
    all_zeros,
    checked_count,
    warn_if_tied,
)
from provsel.training_view import TrainingView

STRATEGIES = ("top", "sample")


class RidgeLeverageSelector(BaseSelector):
    r"""Keep the features with the largest ridge leverage scores, or draw with probability proportional to them.

    Use it if n > d or X has noise of full rank, so that leverage scores hardly differ.
    `transform` multiplies drawn columns by `weights_` and keeps their names;
    `rescale=False` leaves their values unchanged.

    For the columns a_i of X, shape (n, d),

        l_i = a_i^T (X X^T + ridge I)^-1 a_i = sum_k V_ik^2 s_k^2 / (s_k^2 + ridge),

    with s, V the singular values and right singular vectors of X; for n > d it is the
    diagonal of G (G + ridge I)^-1, G = X^T X. Unlike leverage scores, which are all 1
    if X has full column rank, they differ between features for every n and d. They are
    computed from a Cholesky factor of X X^T + ridge I, or of G + ridge I. If rounding
    might decide between features, as for a tiny ridge, they are computed from s and V.

    Parameters
    ----------
    n_features_to_select : int or float
        r. For "sample" it is the number of draws; repeated draws are merged, so that at
        most r features are kept.
    ridge : float, default=None
        In the units of X squared. None is the mean of the squared singular values, ||X||_F^2 / min(n, d): it follows
        the units of X, and bounds the effective dimension, the sum of the scores, by min(n, d) / 2. It does not depend
        on r, so the features of "top" for small r are among those for large r. Wang, Shen, Li do not state their value.
    strategy : {"top", "sample"}, default="top"
        "top" keeps the r largest scores with unit weights. "sample" draws r times with
        replacement by p_i = l_i / sum(l) and scales by 1 / sqrt(r p_i). Repeated draws
        are merged, and their squared scales are added.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the draws.
    rescale : bool, default=True
        Multiply the kept columns by `weights_` in `transform`.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        In order of decreasing score, ties within 1e-10 by index ("sample": of their
        first draw).
    weights_ : ndarray of shape (n_selected,)
    scores_ : ndarray of shape (n_features,)
        Between 0 and 1.
    ridge_ : float
        The ridge used.
    effective_dimension_ : float
        Sum of the scores.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if X is all zeros or an option is out of range.

    Warns
    -----
    UserWarning
        If all non-zero scores are equal up to rounding, so that they do not rank
        features.

    Notes
    -----
    Singular values that are rounding errors, below about 1e-14 of the largest, count as
    zero: for a ridge smaller than their squares the scores tend to leverage scores of
    the numerical rank.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import RidgeLeverageSelector
    >>> X = np.random.default_rng(0).standard_normal((10, 200))
    >>> RidgeLeverageSelector(40, rescale=False).fit_transform(X).shape
    (10, 40)

    References
    ----------
    Wang, Shen, Li (2018), equation 2.1; Alaoui, Mahoney (2015), Fast randomized kernel
    ridge regression with statistical guarantees, definition 1.
    """

    algorithm_version = 1

    def __init__(
        self,
        n_features_to_select: int | float,
        *,
        ridge: float | None = None,
        strategy: Literal["top", "sample"] = "top",
        random_state: Any = None,
        rescale: bool = True,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.ridge = ridge
        self.strategy = strategy
        self.random_state = random_state
        self.rescale = rescale

    @property
    def is_random(self) -> bool:
        """False for `top`, which keeps the r largest scores."""
        return self.strategy == "sample"

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        r = checked_count(self, view.n_features)
        self._check_options()
        scores, ridge = self._scores(view, r)
        attributes = {
            "scores": scores,
            "ridge": ridge,
            "effective_dimension": float(scores.sum()),
        }
        reason = f"its columns are orthogonal and equally long, or ridge = {ridge:.3g} is too small to count"
        warn_if_tied(self, scores, reason, "Raise ridge, or take another selector")
        if self.strategy == "top":
            return Selection.unweighted(rank_descending(scores)[:r], **attributes)
        return Selection(
            *sample_with_replacement(scores / scores.sum(), r, rng), attributes
        )

    def _scores(self, view: TrainingView, r: int) -> tuple[NDArray[np.float64], float]:
        """Return all scores and the ridge, by the Gram matrix if it separates the largest scores within `TIED`."""
        ridge = None if self.ridge is None else float(self.ridge)
        if scale_exponent(view.X) == 0:
            scores, used, error = scores_by_gram_matrix(view.X, ridge, view.gram)
            least = (
                np.argpartition(scores, -r)[-r]
                if self.strategy == "top"
                else scores.argmax()
            )
            if error[least] < TIED * scores[least]:
                return scores, used
        basis = view.basis()
        if basis.rank == 0:
            raise all_zeros(self, view)
        if ridge is None:
            ridge = float(np.sum(basis.singular_values**2)) / min(
                view.n_samples, view.n_features
            )
        return ridge_leverage_scores(basis, ridge), ridge

    def _check_options(self) -> None:
        ridge = self.ridge
        number = isinstance(ridge, int | float | np.number) and not isinstance(
            ridge, bool
        )
        if ridge is not None and not (number and 0 < ridge < np.inf):
            raise ValueError(
                f"RidgeLeverageSelector: expected ridge to be None or a positive, finite number, got {ridge!r}; "
                f"for no ridge use LeverageScoreSelector."
            )
        if self.strategy not in STRATEGIES:
            raise ValueError(
                f"RidgeLeverageSelector: expected strategy to be one of {STRATEGIES}, got {self.strategy!r}."
            )
