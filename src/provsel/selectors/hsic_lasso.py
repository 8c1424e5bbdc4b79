"""HSIC lasso: features whose kernels add up to that of the target."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from provsel.checks import check_integer, check_positive
from provsel.kernels.hsic_lasso import KernelColumns, hsic_lasso, row_blocks
from provsel.kernels.ties import rank_descending
from provsel.selectors._columns import discrete_mask, varying_columns
from provsel.selectors._ranked import RankedRows, RankedSelector, Ranking, completed


class HSICLassoSelector(RankedSelector):
    r"""Keep the features with non-zero weight in the HSIC lasso, on which the target depends, without copies.

    Use it for any form of dependence on single features, and for few features without
    redundancy.

    With K_j and L the centred kernels of feature j and of the target, each of norm 1,

        min ||L - sum_j w_j K_j||^2 / 2 + alpha sum_j w_j,  w >= 0.

    Kernels are Gaussian, of width 1 for columns in units of their standard deviation;
    for classes and codes they are 1 / n_c for two rows of class c, and 0 otherwise.
    They are computed in random blocks of rows, and the problem is averaged over the
    blocks. The path over alpha is exact: it is computed on the features of largest HSIC
    with the target, and the others are then checked on it.

    Of several copies of a column, the first is kept. Shifts and scales of columns do
    not matter, and the order of the rows matters only through the blocks. No theorem
    bounds the loss.

    Time O(n_permutations n block_size d). Memory O(n d) and blocks of some 10 MB: no
    kernel of all rows is formed.

    Parameters
    ----------
    n_features_to_select : int or float, optional
        The path stops before another feature gets weight. If it ends earlier, the
        features with the largest HSIC are added. None keeps all features with weight at
        `penalty`.
    penalty : float, default=0.1
        alpha in units of alpha_max, the least alpha at which no feature has weight; for
        `n_features_to_select=None`.
    block_size : int or None, default=20
        Rows per block. None, or at least the number of rows: one block of all rows,
        without randomness, as in the first paper.
    n_permutations : int, default=3
        Number of times that all rows are divided into blocks in another order; a
        remainder is left out.
    task : {"auto", "classification", "regression"}, default="auto"
        Kind of the target; "auto" means regression for numbers that are not all
        integers.
    discrete_features : bool or array-like, default=False
        Columns of codes: all, none, a mask of shape (n_features,), or column numbers.
    random_state : int, Generator or None, default=None
        Seed of the blocks of rows.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        In order of decreasing weight, ties by index; then of decreasing HSIC.
    weights_ : ndarray of shape (n_selected,)
        Ones.
    scores_ : ndarray of shape (n_features,)
        w.
    hsic_ : ndarray of shape (n_features,)
        Normalised HSIC of each feature with the target: at most 1, and about 0 for
        independent ones.
    alpha_, alpha_max_ : float
    ranking_ : ndarray of shape (n_features,), int64
        Rank of each feature, 1 for the best.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if labels are missing or have a single class, numbers or rows are
        all equal, a parameter is out of range, or sparse X has more than 125 million
        entries, zeros included.

    Warns
    -----
    UserWarning
        If no feature has weight at `penalty`.

    Notes
    -----
    Features and weights agree with pyHSICLasso for the same blocks; it computes in
    single precision.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import HSICLassoSelector
    >>> X = np.random.default_rng(0).standard_normal((200, 10))
    >>> HSICLassoSelector(2, random_state=0).fit(X, X[:, 3] ** 2 + abs(X[:, 6])).indices_.tolist()
    [3, 6]

    References
    ----------
    Yamada, Jitkrittum, Sigal, Xing, Sugiyama (2014), High-dimensional feature selection
    by feature-wise kernelized lasso, equation 5; blocks: Climente-González, Azencott,
    Kaski, Yamada (2019), Block HSIC Lasso.
    """

    algorithm_version = 3
    has_own_number: ClassVar[bool] = True
    order_depends_on_number: ClassVar[bool] = True

    def __init__(
        self,
        n_features_to_select: int | float | None = None,
        *,
        penalty: float = 0.1,
        block_size: int | None = 20,
        n_permutations: int = 3,
        task: Literal["auto", "classification", "regression"] = "auto",
        discrete_features: Any = False,
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.penalty = penalty
        self.block_size = block_size
        self.n_permutations = n_permutations
        self.task = task
        self.discrete_features = discrete_features
        self.random_state = random_state

    def _rank(
        self, rows: RankedRows, count: int | None, rng: np.random.Generator
    ) -> Ranking:
        n_samples = len(rows.X)
        check_positive("HSICLassoSelector", penalty=self.penalty)
        check_integer(
            "HSICLassoSelector", "n_permutations", self.n_permutations, minimum=1
        )
        if self.block_size is not None:
            check_integer("HSICLassoSelector", "block_size", self.block_size, minimum=2)
        discrete = discrete_mask("HSICLassoSelector", self.discrete_features, rows.X)
        varies = varying_columns("HSICLassoSelector", rows.X)
        blocks = row_blocks(
            n_samples, self.block_size or n_samples, self.n_permutations, rng
        )
        kernels = KernelColumns.of(rows.X, discrete, blocks)
        target = KernelColumns.of(
            rows.y[:, None], np.array([rows.classes is not None]), blocks
        )
        path = hsic_lasso(kernels, target, count, float(self.penalty))
        n_weighted = np.count_nonzero(path.weights)
        return Ranking(
            completed(
                rank_descending(path.weights)[:n_weighted],
                np.where(varies, path.relevance, -np.inf),
            ),
            path.weights,
            int(n_weighted),
            {
                "hsic": path.relevance,
                "alpha": path.penalty,
                "alpha_max": max(0.0, float(path.relevance.max())),
            },
        )
