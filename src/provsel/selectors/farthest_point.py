"""Farthest point sampling of columns."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from provsel.kernels.column_picks import farthest_picks
from provsel.selectors._ranked import RankedRows, RankedSelector, Ranking


class FarthestPointSelector(RankedSelector):
    r"""Repeatedly keep the column that is farthest from those kept before.

    Use it without labels, for columns that differ from each other and cover all others.
    No column is farther from its nearest kept column than twice the smallest possible
    distance for that number of columns (Gonzalez 1985).

    The first column is the farthest from the mean of all columns. Distances are
    Euclidean. The result is deterministic: ties go to the first column, so copies come
    last.

    Adding a number to a row of X, orthogonal transformations of its rows and scaling X
    as a whole do not change the selection. Units of columns do, so scale them first.

    Time O(n d r). Memory O(n d); sparse X stays sparse.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of features to keep; below 1, the fraction of them.

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
        From `fit`, if X is all zeros.

    Notes
    -----
    Selections agree with scikit-matter's `FPS` with the same first column; its default
    is column 0.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import FarthestPointSelector
    >>> FarthestPointSelector(2).fit(np.array([[3.0, 2.9, 0.0, 0.1], [0.0, 0.1, 1.0, 0.0]])).indices_.tolist()
    [2, 0]

    References
    ----------
    Gonzalez (1985), Clustering to minimize the maximum intercluster distance; Eldar,
    Lindenbaum, Porat, Zeevi (1997), The farthest point strategy for progressive image
    sampling; Imbalzano, Anelli, Giofré, Klees, Behler, Ceriotti (2018), section II.
    """

    algorithm_version = 1
    needs_labels: ClassVar[bool] = False
    takes_sparse: ClassVar[bool] = True

    def __init__(self, n_features_to_select: int | float) -> None:
        self.n_features_to_select = n_features_to_select

    def _rank(
        self, rows: RankedRows, count: int | None, rng: np.random.Generator
    ) -> Ranking:
        return Ranking(farthest_picks(rows.X))
