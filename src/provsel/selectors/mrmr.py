"""Minimum redundancy, maximum relevance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from provsel.checks import check_choice
from provsel.kernels.greedy_information import (
    ClassInformation,
    difference,
    mrmr_picks,
    quotient,
)
from provsel.kernels.one_way import (
    class_moments,
    correlations,
    f_of_correlations,
    f_statistics,
)
from provsel.kernels.ties import TIED
from provsel.selectors._columns import (
    check_bins,
    coded_columns,
    coded_target,
    discrete_mask,
)
from provsel.selectors._ranked import RankedRows, RankedSelector, Ranking

RELEVANCES = ("f_test", "mutual_information")
REDUNDANCIES = ("correlation", "mutual_information")
SCHEMES = ("quotient", "difference")
DENOMINATORS = ("mean", "max")


class MRMRSelector(RankedSelector):
    r"""Pick features with much information about the target that the features picked before do not carry.

    Use it as a fast step beyond a filter if many columns are redundant. It accounts for
    the redundancy of pairs, but not for joint effects of two columns.

    The first feature has the largest relevance; each further one has the largest
    relevance divided by its mean redundancy with the features picked before
    ("quotient"), or minus it ("difference"). The defaults are those of the package
    mrmr-selection: F statistic over absolute correlation, called FCQ. With
    `relevance="mutual_information"` and `redundancy="mutual_information"` they are MIQ
    and MID of Ding and Peng.

    The r features are the first r of any larger selection. Time O(n d) for each pick,
    memory a copy of X; with correlations sparse X stays sparse.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of features to keep; below 1, the fraction of them.
    relevance : {"f_test", "mutual_information"}, default="f_test"
        F statistic of the classes or of the linear regression, or mutual information
        with the target.
    redundancy : {"correlation", "mutual_information"}, default="correlation"
        Absolute value of Pearson's correlation, or mutual information, of two features.
    scheme : {"quotient", "difference"}, default="quotient"
        The difference compares both sizes, so use mutual information, the same unit,
        for both.
    denominator : {"mean", "max"}, default="mean"
        Mean redundancy with the features picked before, or the largest with any of
        them.
    floor : float, default=1e-3
        Least redundancy of two features, applied before the mean, as in mrmr-selection:
        otherwise features that are uncorrelated by chance come first.
    n_bins : int, default=3
        For mutual information: bins of features that are not discrete, and of a numeric
        target.
    strategy : {"quantile", "width"}, default="quantile"
        Bins with equal numbers of rows, or of equal width.
    discrete_features : bool, or array of bool or of int, default=False
        For mutual information: mask, or column numbers, of the features whose values
        are used as they are, or True for all.
    task : {"auto", "classification", "regression"}, default="auto"
        Kind of the target. "auto" means regression for numbers that are not all
        integers, and classification for integers and strings, as in scikit-learn's
        `type_of_target`. It raises an error for integers with very many distinct
        values.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        In order of selection; features without relevance come last.
    weights_ : ndarray of shape (n_selected,)
        Ones.
    scores_ : ndarray of shape (n_features,)
        Relevance of each feature.
    ranking_ : ndarray of shape (n_features,), int64
        Rank of each selected feature, 1 for the first; all others share the next rank.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if labels are missing or have a single class, numbers are all equal,
        a parameter is out of range, or, with mutual information, sparse X has more than
        125 million entries, zeros included.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import MRMRSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 20))
    >>> X[:, 5] = X[:, 3] + 0.1 * rng.standard_normal(200)
    >>> y = (2 * X[:, 3] + X[:, 8] > 0).astype(int)
    >>> MRMRSelector(2).fit(X, y).indices_.tolist()
    [3, 8]

    References
    ----------
    Ding, Peng (2005), Minimum redundancy feature selection from microarray gene
    expression data, Table 1; Zhao, Anand, Wang (2019), Maximum relevance and minimum
    redundancy feature selection methods for a marketing machine learning platform,
    section II.
    """

    algorithm_version = 1
    takes_sparse: ClassVar[bool] = True

    def __init__(
        self,
        n_features_to_select: int | float,
        *,
        relevance: Literal["f_test", "mutual_information"] = "f_test",
        redundancy: Literal["correlation", "mutual_information"] = "correlation",
        scheme: Literal["quotient", "difference"] = "quotient",
        denominator: Literal["mean", "max"] = "mean",
        floor: float = 1e-3,
        n_bins: int = 3,
        strategy: Literal["quantile", "width"] = "quantile",
        discrete_features: Any = False,
        task: Literal["auto", "classification", "regression"] = "auto",
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.relevance = relevance
        self.redundancy = redundancy
        self.scheme = scheme
        self.denominator = denominator
        self.floor = floor
        self.n_bins = n_bins
        self.strategy = strategy
        self.discrete_features = discrete_features
        self.task = task

    def _rank(
        self, rows: RankedRows, count: int | None, rng: np.random.Generator
    ) -> Ranking:
        self._check_options()
        is_discrete = discrete_mask("MRMRSelector", self.discrete_features, rows.X)
        if "mutual_information" in (self.relevance, self.redundancy):
            information = ClassInformation(
                coded_columns(self, rows.X, is_discrete), coded_target(self, rows)
            )
        if self.relevance == "mutual_information":
            relevance = information.relevance
        elif rows.classes is None:
            relevance = f_of_correlations(correlations(rows.X, rows.y), rows.y.size)
        else:
            relevance = f_statistics(class_moments(rows.X, rows.y))
        pairs = (
            information.shared
            if self.redundancy == "mutual_information"
            else _absolute_correlations(rows.X)
        )
        gain_of = difference
        if self.scheme == "quotient":
            gain_of = (
                quotient
                if self.redundancy == "mutual_information"
                else _quotient_of_correlations
            )
        picks = mrmr_picks(
            relevance,
            lambda last: np.maximum(pairs(last), self.floor),
            gain_of=gain_of,
            largest=self.denominator == "max",
        )
        return Ranking(picks, relevance)

    def _check_options(self) -> None:
        choices = {
            "relevance": RELEVANCES,
            "redundancy": REDUNDANCIES,
            "scheme": SCHEMES,
            "denominator": DENOMINATORS,
        }
        for parameter, values in choices.items():
            check_choice("MRMRSelector", parameter, getattr(self, parameter), values)
        check_bins(self)
        floor = self.floor
        if (
            isinstance(floor, bool)
            or not isinstance(floor, int | float | np.number)
            or not 0 <= floor < 1
        ):
            raise ValueError(
                f"MRMRSelector: expected floor to be a number from 0 to less than 1, got {floor!r}."
            )


def _quotient_of_correlations(
    relevance: NDArray[np.float64], redundancy: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return relevance divided by redundancy, 0 for copies of all features picked before, as in mrmr-selection."""
    return np.where(redundancy < 1 - TIED, quotient(relevance, redundancy), 0.0)


def _absolute_correlations(X: Any) -> Callable[[int], NDArray[np.float64]]:
    """Return a function from a column to its absolute correlations with all columns, shape (d,); 0 if constant."""
    n_samples = X.shape[0]
    moments = class_moments(X, np.zeros(n_samples, dtype=np.int64))
    norms = np.sqrt(moments.within)
    inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    if sparse.issparse(X):
        rows = sparse.csr_array(X.T)

        def with_column(column: int) -> NDArray[np.float64]:
            values = rows[[column]].toarray().ravel() - moments.mean[column]
            products = X.T @ values - moments.mean * values.sum()
            return np.abs(products * inverse * inverse[column])
    else:
        unit = (X - moments.mean) * inverse

        def with_column(column: int) -> NDArray[np.float64]:
            return np.abs(unit[:, column] @ unit)

    return with_column
