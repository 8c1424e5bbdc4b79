"""CUR: columns of largest leverage, chosen one by one."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy import sparse

from provsel.checks import check_integer
from provsel.kernels.column_picks import cur_picks
from provsel.selectors._ranked import (
    RankedRows,
    RankedSelector,
    Ranking,
    check_dense_size,
)


class CURSelector(RankedSelector):
    r"""Repeatedly keep the column with the largest leverage in the residual of X.

    Use it without labels, for columns from which X can be reconstructed.
    `SingleSVDSelector` does this with a theorem.

    In each step, the score of a column is the sum of squares of its entries in the
    `rank` leading right singular vectors of X. The column with the largest score is
    kept, and X is projected off it. The result is deterministic: ties go to the first
    column. When nothing is left of X, columns follow by decreasing length.

    Scaling X as a whole, orthogonal transformations of its rows and signs of columns do
    not change the selection. Units of columns do, so scale them first. No theorem
    bounds the loss, because theorems on CUR are about random draws.

    Time O(n d min(n, d) + r min(n, d)^3), memory O(n d). Sparse X stays sparse if it
    has at least as many columns as rows.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of features to keep; below 1, the fraction of them.
    rank : int, default=1
        Number of singular vectors.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        In order of selection.
    weights_ : ndarray of shape (n_selected,)
        Ones.
    ranking_ : ndarray of shape (n_features,), int64
        Rank of each feature, 1 for the best; all features not kept share one rank.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if X is all zeros, or rank is out of range.

    Notes
    -----
    Selections agree with scikit-matter's `CUR`, whose random start of the singular
    vectors decides ties.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import CURSelector
    >>> CURSelector(2).fit(np.array([[3.0, 2.9, 0.0], [0.0, 0.1, 1.0]])).indices_.tolist()
    [0, 2]

    References
    ----------
    Mahoney, Drineas (2009), CUR matrix decompositions for improved data analysis;
    Imbalzano, Anelli, Giofré, Klees, Behler, Ceriotti (2018), Automatic selection of
    atomic fingerprints, section II.
    """

    algorithm_version = 1
    needs_labels: ClassVar[bool] = False
    takes_sparse: ClassVar[bool] = True

    def __init__(self, n_features_to_select: int | float, *, rank: int = 1) -> None:
        self.n_features_to_select = n_features_to_select
        self.rank = rank

    def _rank(
        self, rows: RankedRows, count: int | None, rng: np.random.Generator
    ) -> Ranking:
        check_integer("CURSelector", "rank", self.rank, minimum=1)
        X = rows.X
        if sparse.issparse(X) and X.shape[0] > X.shape[1]:
            check_dense_size("CURSelector", X)
            X = X.toarray()
        return Ranking(cur_picks(X, int(self.rank)))
