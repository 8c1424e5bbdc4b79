"""Random selection by residuals: randomly pivoted QR."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from provsel.kernels.pivoted_qr import prepared_columns
from provsel.kernels.randomized_pivoting import randomly_pivoted_columns
from provsel.kernels.subset_bounds import (
    Spectrum,
    SubsetPromise,
    random_pivots_expectation,
)
from provsel.selectors._base import (
    BaseSelector,
    Selection,
    all_zeros,
    check_budget,
    checked_count,
)
from provsel.selectors._subset import completed, warn_of_hidden_columns
from provsel.training_view import TrainingView


class RandomlyPivotedQRSelector(BaseSelector):
    r"""Draw each column with probability proportional to its squared residual on the columns drawn before.

    Use it for large X, dense or sparse, and any r: no SVD, O(r nnz + (n + d) r^2). The
    expectation of ||X - C C^+ X||_F^2 is at most (1 + eps) ||X - X_k||_F^2 for r >=
    `budget(k, eps, tail_share=...)`. Columns are proposed in blocks by the residuals at
    the block's start and accepted by the current ones. This changes the time but not
    the distribution.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of features r. Once the drawn columns leave only rounding errors, the
        columns of largest norm follow.
    block_size : int, default=32
        Number of columns proposed together. Another block size draws another sample
        from the same distribution.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the draws.

    Attributes
    ----------
    indices_ : ndarray of shape (r,), int64
        In order of the draws.
    weights_ : ndarray of shape (r,)
        Ones.
    rank_ : int
        Number of columns drawn.
    n_completed_ : int
        Number of features taken after X was exhausted, r - rank_.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if X is all zeros, or block_size is not a positive integer.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import RandomlyPivotedQRSelector
    >>> X = np.array([[3.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    >>> sorted(RandomlyPivotedQRSelector(2, random_state=0).fit(X).indices_.tolist())
    [0, 2]

    References
    ----------
    Chen, Epperly, Tropp, Webber (2025), arXiv 2207.06503 (as Cholesky factorisation of
    X^T X); Epperly, Tropp, Webber (2024), arXiv 2410.03969 (rejection).
    """

    algorithm_version = 1

    def __init__(
        self,
        n_features_to_select: int | float,
        *,
        block_size: int = 32,
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.block_size = block_size
        self.random_state = random_state

    @staticmethod
    def budget(
        rank: int, eps: float, delta: float | None = None, *, tail_share: float = 0.01
    ) -> int:
        """Return an r whose expected error is at most (1 + eps) times the error of the best approximation of this rank.

        rank / eps + rank ln(1 / (eps tail_share)), with `tail_share` = ||X - X_k||_F^2
        / ||X||_F^2 or less. `delta` is ignored: the bound holds in expectation.

        References
        ----------
        Chen, Epperly, Tropp, Webber (2025), arXiv 2207.06503.
        """
        check_budget(rank, eps)
        if not 0 < tail_share <= 1:
            raise ValueError(
                f"budget: expected tail_share to be in (0, 1], got {tail_share}."
            )
        return math.ceil(rank / eps + rank * math.log(1 / (eps * tail_share)))

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        r, block = checked_count(self, view.n_features), self.block_size
        if (
            isinstance(block, bool)
            or not isinstance(block, int | np.integer)
            or block < 1
        ):
            raise ValueError(
                f"RandomlyPivotedQRSelector: expected block_size to be a positive integer, got {block!r}."
            )
        X = view.shared("prepared columns", lambda: prepared_columns(view.X))
        chosen = randomly_pivoted_columns(X, r, int(block), rng)
        if chosen.size == 0:
            raise all_zeros(self, view)
        warn_of_hidden_columns(self, view, chosen.size, r)
        return completed(view, chosen, r)

    def subset_promise(self, spectrum: Spectrum, rank: int) -> SubsetPromise:
        """Return the guarantee for ||X - C C^+ X|| relative to the best of `rank`, at most rank_, after `fit`."""
        k = min(rank, self.rank_)
        bound = random_pivots_expectation(spectrum, self.rank_, k)
        return SubsetPromise(
            k,
            frobenius=bound,
            expectation=True,
            source="recursion of the spectrum, 2^k (provsel)",
        )
