"""Random selection by leverage scores."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from provsel.kernels.leverage import (
    leverage_scores,
    sample_with_replacement,
    sample_without_replacement,
)
from provsel.kernels.spectral import SpectralBasis
from provsel.kernels.ties import ZERO, number_tied, rank_descending
from provsel.selectors._base import (
    BaseSelector,
    Selection,
    check_budget,
    checked_basis,
    checked_count,
    warn_if_tied,
)
from provsel.training_view import TrainingView

STRATEGIES = ("sample", "top")

MOST = 0.9
"""Share of ||X||_F^2 that the singular values of the recommended `rank` hold."""


class LeverageScoreSelector(BaseSelector):
    r"""Draw features with probability proportional to their leverage scores.

    Use it as a fast selector with a guarantee: one decomposition of X serves every r.
    Its bound holds with high probability; the bound of `BSSSelector` always holds.
    `transform` multiplies drawn columns by `weights_` and keeps their names;
    `rescale=False` leaves their values unchanged.

    Let V, shape (d, rank), be the right singular vectors of X. Feature i is drawn with
    p_i = ||V_i||^2 / rank, r times with replacement, and scaled by 1 / sqrt(r p_i).
    Repeated draws are merged, and their squared scales are added.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of draws r. With replacement, at most r features are kept.
    strategy : {"sample", "top"}, default="sample"
        "top" keeps the r largest scores with unit weights: deterministic, without a
        theorem.
    replace : bool, default=True
        Draw with replacement, as the paper does. Without replacement, exactly r
        features are drawn by systematic sampling with inclusion probabilities pi_i
        proportional to p_i (capped at 1) and scaled by 1 / sqrt(pi_i).
    rescale : bool, default=True
        Multiply the kept columns by `weights_` in `transform`, as the margin bound
        needs.
    rank : int, default=None
        Use only the `rank` largest singular values; None takes all non-zero ones, as
        the theorems need. Set it if X has full column rank, like most tables with more
        rows than columns; otherwise every score is 1. A good choice is a small number
        of singular values that hold most of ||X||_F^2.
    columns : {"V", "sigma_V"}, default="V"
        p_i is proportional to ||V_i||^2, or to ||Sigma V_i||^2, the squared length of
        column i of X. The latter has no theorem.
    center : bool, default=False
        V is taken from X minus its column means, which makes a dense copy.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the draws.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        Kept features, in order of their first draw. With "top", in order of decreasing
        score; scores that agree to 1e-10 count as ties, sorted by index.
    weights_ : ndarray of shape (n_selected,)
    scores_ : ndarray of shape (n_features,)
        Leverage scores; they sum to the rank. Squared lengths with `columns="sigma_V"`.
    rank_ : int
    rank_tolerance_ : float
        Share of the largest singular value up to which others count as zero. `fit`
        warns if the rank depends on it.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if X is all zeros, or `replace=False` requests more features than
        have a positive score.

    Warns
    -----
    UserWarning
        If all non-zero scores are equal up to rounding, so that they do not rank
        features.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import LeverageScoreSelector
    >>> X = np.random.default_rng(0).standard_normal((10, 200))
    >>> selector = LeverageScoreSelector(40, rescale=False, random_state=0).fit(X)
    >>> selector.indices_.size <= 40, round(selector.scores_.sum())
    (True, 10)
    >>> bool((selector.transform(X) == X[:, selector.get_support()]).all())
    True

    References
    ----------
    Paul, Magdon-Ismail, Drineas (2016), Algorithm 2, equation 4, Theorems 2 and 4.
    """

    algorithm_version = 1

    def __init__(
        self,
        n_features_to_select: int | float,
        *,
        strategy: Literal["sample", "top"] = "sample",
        replace: bool = True,
        rescale: bool = True,
        rank: int | None = None,
        columns: Literal["V", "sigma_V"] = "V",
        center: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.strategy = strategy
        self.replace = replace
        self.rescale = rescale
        self.rank = rank
        self.columns = columns
        self.center = center
        self.random_state = random_state

    @staticmethod
    def budget(rank: int, eps: float, delta: float = 0.01) -> int:
        """Return an r that keeps the squared margin to a factor 1 - eps with probability 1 - delta.

        The paper's Lemma 3 prints another form, r = O(rank / eps^2 log(rank / (eps^2
        sqrt(delta)))) for
        ||E||_2 <= eps, and leaves its constant open. Matrix Bernstein (Tropp 2012, Theorem 1.4) for draws with
        replacement gives P(||E||_2 >= s) <= 2 rank exp(-r s^2 / (2 (rank - 1) (1 + s /
        3))); the margin needs s = eps / 2.
        """
        check_budget(rank, eps)
        if not 0 < delta < 1:
            raise ValueError(f"budget: expected delta to be in (0, 1), got {delta}.")
        s = eps / 2
        return max(
            1,
            math.ceil(2 * (rank - 1) * (1 + s / 3) / s**2 * math.log(2 * rank / delta)),
        )

    @property
    def is_random(self) -> bool:
        """False for `top`, which keeps the r largest scores."""
        return self.strategy == "sample"

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        r = checked_count(self, view.n_features)
        if self.strategy not in STRATEGIES:
            raise ValueError(
                f"LeverageScoreSelector: expected strategy to be one of {STRATEGIES}, got {self.strategy!r}."
            )
        basis = checked_basis(self, view)
        scores = (
            leverage_scores(basis.V)
            if self.columns == "V"
            else basis.lengths(self.columns) ** 2
        )
        warn_if_tied(self, scores, *_reason_and_advice(self.columns, scores, basis))
        attributes = {
            "scores": scores,
            "rank": basis.rank,
            "rank_tolerance": basis.tolerance,
        }
        if self.strategy == "top":
            return Selection.unweighted(
                rank_descending(scores, noise=ZERO)[:r], **attributes
            )
        p = scores / scores.sum()
        if self.replace:
            return Selection(*sample_with_replacement(p, r, rng), attributes)
        positive = int(np.count_nonzero(p))
        if positive < r:
            raise ValueError(
                f"LeverageScoreSelector: expected at least {r} features with a positive score to draw without "
                f"replacement, got {positive}; ask for at most {positive}, or set replace=True."
            )
        return Selection(*sample_without_replacement(p, r, rng), attributes)


def _reason_and_advice(
    columns: str, scores: NDArray[np.float64], basis: SpectralBasis
) -> tuple[str, str]:
    """Return why scores can be equal, and the advice."""
    if columns != "V":
        return (
            "all columns of X are equally long",
            "Do not standardise the columns, or set columns='V' and rank=",
        )
    if basis.rank < number_tied(scores):
        return (
            f"the rows of V, of rank {basis.rank}, are equally long",
            "Give another rank=",
        )
    shares = np.cumsum(basis.singular_values**2)
    k = min(int(np.searchsorted(shares, MOST * shares[-1])) + 1, basis.rank - 1)
    return (
        f"X has full column rank, {basis.rank}",
        f"Give rank=, the number of singular values to keep, less than that: the largest {k} hold "
        f"{shares[k - 1] / shares[-1]:.0%} of ||X||_F^2",
    )
