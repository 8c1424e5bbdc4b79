"""Greedy selection by the joint mutual information of features with the classes."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from provsel.checks import check_choice, check_positive
from provsel.kernels.greedy_information import (
    CRITERIA,
    ClassInformation,
    information_picks,
)
from provsel.selectors._columns import (
    check_bins,
    coded_columns,
    coded_target,
    discrete_mask,
)
from provsel.selectors._ranked import RankedRows, RankedSelector, Ranking


class JMISelector(RankedSelector):
    r"""Pick the features that, together with those picked before, carry most information about the classes.

    Use it if features act in pairs, or are redundant: unlike a filter, it accounts for
    both. It counts values, so features that are not discrete are binned.

    The first feature has the largest mutual information with the class, I(X; Y). Each
    further one has the largest gain. With sums and minima over the features K picked
    before:

    - "jmi": sum of I(X, K; Y), and "jmim" its minimum,
    - "cmim": minimum of I(X; Y | K),
    - "disr": sum of I(X, K; Y) / H(X, K, Y),
    - "icap": I(X; Y) less the sum of max(0, I(X; K) - I(X; K | Y)), and "cife" without
      the max,
    - "condred": I(X; Y) plus the sum of I(X; K | Y),
    - "mifs": I(X; Y) less `beta` times the sum of I(X; K),
    - "mim": I(X; Y) alone.

    The r features are the first r of any larger selection. Time O(n d) for each pick,
    memory of X as codes of 4 bytes.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of features to keep; below 1, the fraction of them.
    criterion : {"jmi", "jmim", "cmim", "disr", "icap", "cife", "condred", "mifs", "mim"}, default="jmi"
        Gain of a further feature, see above.
    n_bins : int, default=3
        Number of bins for features, and for a numeric target. The joint counts of two
        features and the class need some rows in each cell; Brown et al. use 10 bins of
        equal width.
    strategy : {"quantile", "width"}, default="quantile"
        Bins with equal numbers of rows, which no strictly increasing transformation of
        a column changes, or bins of equal width.
    discrete_features : bool, or array of bool or of int, default=False
        Mask, or column numbers, of the features whose values are used as they are, or
        True for all.
    beta : float, default=1.0
        Weight of the redundancy in "mifs".
    task : {"auto", "classification", "regression"}, default="auto"
        Kind of the target. "auto" means regression for numbers that are not all
        integers, and classification for integers and strings, as in scikit-learn's
        `type_of_target`. It raises an error for integers with very many distinct
        values. The target of a regression is binned like the features.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        In order of selection; constant features come last.
    weights_ : ndarray of shape (n_selected,)
        Ones.
    scores_ : ndarray of shape (n_features,)
        I(X; Y) of each feature, in nats.
    ranking_ : ndarray of shape (n_features,), int64
        Rank of each selected feature, 1 for the first; all others share the next rank.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if labels are missing or have a single class, numbers are all equal,
        a parameter is out of range, or sparse X has more than 125 million entries,
        zeros included.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import JMISelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 20))
    >>> X[:, 5] = X[:, 3]
    >>> y = (X[:, 3] > 0) + 2 * (X[:, 8] > 0)
    >>> JMISelector(2).fit(X, y).indices_.tolist()
    [3, 8]

    References
    ----------
    Yang, Moody (1999), Data visualization and feature selection; Brown, Pocock, Zhao,
    Lujan (2012), Conditional likelihood maximisation, Table 3; Bennasar, Hicks, Setchi
    (2015), Feature selection using joint mutual information maximisation. By criterion:
    Fleuret (2004), CMIM; Meyer, Bontempi (2006), DISR; Lin, Tang (2006), CIFE; Battiti
    (1994), MIFS; Jakulin (2005), ICAP.
    """

    algorithm_version = 1
    takes_sparse: ClassVar[bool] = True

    def __init__(
        self,
        n_features_to_select: int | float,
        *,
        criterion: Literal[
            "jmi", "jmim", "cmim", "disr", "icap", "cife", "condred", "mifs", "mim"
        ] = "jmi",
        n_bins: int = 3,
        strategy: Literal["quantile", "width"] = "quantile",
        discrete_features: Any = False,
        beta: float = 1.0,
        task: Literal["auto", "classification", "regression"] = "auto",
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.criterion = criterion
        self.n_bins = n_bins
        self.strategy = strategy
        self.discrete_features = discrete_features
        self.beta = beta
        self.task = task

    def _rank(
        self, rows: RankedRows, count: int | None, rng: np.random.Generator
    ) -> Ranking:
        check_choice("JMISelector", "criterion", self.criterion, CRITERIA)
        check_positive("JMISelector", beta=self.beta)
        check_bins(self)
        is_discrete = discrete_mask("JMISelector", self.discrete_features, rows.X)
        information = ClassInformation(
            coded_columns(self, rows.X, is_discrete), coded_target(self, rows)
        )
        picks = information_picks(
            information, CRITERIA[self.criterion], float(self.beta)
        )
        return Ranking(picks, information.relevance)
