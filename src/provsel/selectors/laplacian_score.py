"""The Laplacian score, an unsupervised filter that preserves the neighbourhoods of the rows."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from provsel.kernels.laplacian import laplacian_scores, nearest_rows, neighbor_edges
from provsel.kernels.ties import rank_descending
from provsel.models._base import warn_of_many_rows
from provsel.selectors._base import BaseSelector, Selection, checked_count
from provsel.training_view import TrainingView

EDGES = ("heat", "binary")


class LaplacianScoreSelector(BaseSelector):
    r"""Keep the features that vary least between neighbours, relative to their variance.

    Use it before a clustering, without labels, if neighbouring rows should be similar
    on the kept features.

    Rows i and j are joined if either is among the nearest `n_neighbors` of the other,
    with weight w_ij = exp(-||x_i - x_j||^2 / (2 t^2)), or 1 with `edges="binary"`. With
    D = diag(W 1),

        score_j = (X_j^T D X_j - X_j^T W X_j) / (X_j^T D X_j - (1^T D X_j)^2 / (1^T D
        1)),

    between 0 and 2; the smallest are kept. Deterministic: rows at equal distance, and
    features of equal score, are taken in index order.

    Time O(n^2 d + n n_neighbors d), exact for every n: neighbours and mean distance
    come from visiting each pair once. Memory O(n n_neighbors) and blocks of 32 MiB in
    addition to X; no n x n matrix is formed.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of features to keep; below 1, the fraction of them.
    n_neighbors : int, default=5
        Less than the number of rows.
    kernel_width : float, default=None
        t, in the units of X. None is the mean distance between rows. The paper's
        exp(-||.||^2 / t') corresponds to t = sqrt(t' / 2).
    edges : {"heat", "binary"}, default="heat"
        Weights of joined rows. "binary": all 1, as in the authors' graph without a
        kernel; t is then unused.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        In order of increasing score; constant features come last.
    weights_ : ndarray of shape (n_selected,)
        Ones.
    scores_ : ndarray of shape (n_features,)
        Infinite for constant features.
    kernel_width_ : float
        The value of t; infinite with `edges="binary"`.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if there are no more rows than `n_neighbors`, if all rows are equal,
        if `edges` is unknown or does not use a given `kernel_width`, or if that is so
        small that every weight is zero.

    Warns
    -----
    UserWarning
        For more than 50,000 rows, before it starts: a million rows of a hundred
        features take hours.

    Notes
    -----
    Distances come from inner products, after centring if X is dense. Sparse X is not
    centred: its distances are exact to about 1e-6 of the largest row norm.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import LaplacianScoreSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((40, 10))
    >>> X[:, 4] = 50.0 * (np.arange(40) % 2)
    >>> LaplacianScoreSelector(1, n_neighbors=5).fit(X).indices_.tolist()
    [4]

    References
    ----------
    He, Cai, Niyogi (2005), Laplacian score for feature selection, section 2.
    """

    algorithm_version = 2

    def __init__(
        self,
        n_features_to_select: int | float,
        *,
        n_neighbors: int = 5,
        kernel_width: float | None = None,
        edges: Literal["heat", "binary"] = "heat",
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_neighbors = n_neighbors
        self.kernel_width = kernel_width
        self.edges = edges

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        r = checked_count(self, view.n_features)
        n_neighbors, width = self._checked_options(view.n_samples)
        warn_of_many_rows(
            "LaplacianScoreSelector", view.n_samples, "fit it on a sample of the rows"
        )
        part = f"laplacian scores of {n_neighbors} neighbors, width {width}"
        scores, width = view.shared(part, lambda: _scores(view, n_neighbors, width))
        return Selection.unweighted(
            rank_descending(-scores)[:r], scores=scores, kernel_width=width
        )

    def _checked_options(self, n_samples: int) -> tuple[int, float | None]:
        """Return the number of neighbours and t, or raise."""
        k, width = self.n_neighbors, self.kernel_width
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
            raise ValueError(
                f"LaplacianScoreSelector: expected n_neighbors to be a positive integer, got {k!r}."
            )
        if k >= n_samples:
            raise ValueError(
                f"LaplacianScoreSelector: expected more rows than n_neighbors = {k}, got n_samples = {n_samples}; "
                f"lower n_neighbors or give more rows."
            )
        number = isinstance(width, int | float | np.number) and not isinstance(
            width, bool
        )
        if width is not None and not (number and 0 < width < np.inf):
            raise ValueError(
                f"LaplacianScoreSelector: expected kernel_width to be None or a positive, finite number, got {width!r}."
            )
        if self.edges not in EDGES:
            raise ValueError(
                f"LaplacianScoreSelector: expected edges to be one of {EDGES}, got {self.edges!r}."
            )
        if self.edges == "binary":
            if width is not None:
                raise ValueError(
                    f"LaplacianScoreSelector: expected kernel_width to be None with edges='binary', which uses no "
                    f"kernel, got "
                    f"{width!r}; leave one of them out."
                )
            return int(k), np.inf
        return int(k), None if width is None else float(width)


def _scores(
    view: TrainingView, n_neighbors: int, width: float | None
) -> tuple[NDArray[np.float64], float]:
    """Return the scores and t, or raise; every t uses the same graph."""
    part = f"laplacian graph of {n_neighbors} neighbors"
    edges, squares, mean_distance = view.shared(
        part, lambda: _graph(view.X, n_neighbors)
    )
    width = mean_distance if width is None else width
    if width == 0:
        raise ValueError(
            f"LaplacianScoreSelector: expected at least two different rows, got {view.n_samples} equal ones; "
            f"check how X was loaded."
        )
    weights = np.exp(-squares / width / width / 2)
    if not weights.any():
        raise ValueError(
            f"LaplacianScoreSelector: expected kernel_width to be near the distance of neighbours, got {width:g}, "
            f"where "
            f"the smallest is {np.sqrt(squares.min()):g}: every weight is zero; raise kernel_width or set it None."
        )
    return laplacian_scores(_centred(view.X), edges, weights), width


def _graph(
    X: Any, n_neighbors: int
) -> tuple[NDArray[np.int64], NDArray[np.float64], float]:
    X = _centred(X)
    neighbors, mean_distance = nearest_rows(X, n_neighbors)
    edges, squares = neighbor_edges(X, neighbors)
    return edges, squares, mean_distance


def _centred(X: Any) -> Any:
    """Return X in float64, dense columns centred, which changes neither distances nor scores."""
    X = X.astype(np.float64)
    return X if sparse.issparse(X) else X - X.mean(axis=0)
