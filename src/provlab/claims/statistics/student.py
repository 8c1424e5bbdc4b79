"""Tests by Student's t, which differ in the variance that they give the mean of the differences."""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray
from scipy.special import nctdtr, ndtr, ndtri, stdtr, stdtrit

from provlab.claims.statistics._base import AbstractPairedTest, Alternative, Interval, Side

NORMAL_FROM = 500
"""Degrees of freedom from which power is that of the normal limit: SciPy's noncentral t takes seconds there."""


class AbstractStudentT(AbstractPairedTest):
    """A t-test of the mean of some differences, shape (n,), finite, n >= 2.

    Where nothing varies there is no t, and the sign test decides: three equal folds are no proof, a hundred are.
    """

    def __init__(self, differences: NDArray[np.float64]) -> None:
        self.n = len(differences)
        self.estimate = float(np.mean(differences))
        self.variance = 0.0 if np.ptp(differences) == 0 else float(np.var(differences, ddof=1))

    @abstractmethod
    def spread(self, n: int) -> tuple[float, float]:
        """Return standard error and degrees of freedom of the mean of n differences like these."""

    @property
    def standard_error(self) -> float:
        """Of the mean."""
        return self.spread(self.n)[0]

    def p_value(self, shift: float = 0.0, alternative: Alternative = "two-sided") -> float:
        """Return the p-value from Student's t; the sign test's where nothing varies."""
        distance, (error, df) = self.estimate - shift, self.spread(self.n)
        if self.variance == 0:
            return self._sign_test(distance, alternative)
        statistic = distance / error
        if alternative == "two-sided":
            return float(2 * stdtr(df, -abs(statistic)))
        return float(stdtr(df, -statistic if alternative == "greater" else statistic))

    def interval(self, level: float) -> Interval:
        """Return estimate -+ quantile x standard error."""
        error, df = self.spread(self.n)
        if self.variance == 0 and self._sign_test(1.0, "two-sided") > 1 - level:
            return -math.inf, math.inf
        half = float(stdtrit(df, (1 + level) / 2)) * error
        return self.estimate - half, self.estimate + half

    def power(self, n: int, distance: float, level: float, side: Side) -> float:
        """See the base class: by the noncentral t, the same on both sides."""
        error, df = self.spread(n)
        if self.variance == 0:
            return float(distance > 0 and 2.0**-n < level)
        if df > NORMAL_FROM:
            return float(ndtr(distance / error + ndtri(level)))
        # a tenth of the time of scipy.stats.nct, and thousands are asked for
        found = 1.0 - float(nctdtr(df, distance / error, -stdtrit(df, level)))
        return found if math.isfinite(found) else float(distance > 0)  # SciPy's series ends far out

    def _sign_test(self, distance: float, alternative: Alternative) -> float:
        """All n differences are on the same side."""
        if distance == 0:
            return 1.0
        if alternative == "two-sided":
            return float(2.0 ** (1 - self.n))
        return float(2.0**-self.n) if (distance > 0) == (alternative == "greater") else 1.0


class CorrectedT(AbstractStudentT):
    """Corrected resampled t-test: the variance of the mean is (1 / n + ratio) s^2 instead of s^2 / n.

    Folds share training rows, so that their differences are correlated; s^2 / n is too small, and the plain t-test
    finds differences that are not there.

    Parameters
    ----------
    differences : ndarray of shape (n,)
        One a fold.
    ratio : float
        Test rows per training row, n_test / n_train: 1/9 for ten-fold cross-validation. 0 gives the plain t-test,
        for independent differences.

    References
    ----------
    Nadeau, Bengio (2003), Machine Learning 52, section 3; Bouckaert, Frank (2004), PAKDD, for repeated folds.
    """

    name = "corrected resampled t"

    def __init__(self, differences: NDArray[np.float64], *, ratio: float) -> None:
        super().__init__(differences)
        self.ratio = ratio

    def spread(self, n: int) -> tuple[float, float]:
        """See the base class."""
        return math.sqrt((1 / n + self.ratio) * self.variance), n - 1


class DisjointT(AbstractStudentT):
    """The t-test for folds that train on one part each and test on all others: the inverse of cross-validation.

    Training sets of a repeat are disjoint, so that the term n_test / n_train of the corrected test, which stands for
    their overlap, is not theirs; it was derived for test sets that are small and disjoint, and 9 would make any
    difference inconclusive. What these folds share are test rows: the variance of the mean is s^2 / n, which is that of
    independent folds, plus their covariance, which is at most the variance v of one row's difference over the number of
    rows. For the difference of two losses of 0 or 100 points, with means e and f in points, v <= 100 (e + f) - (e -
    f)^2, as at most all errors of both are on different rows. A conservative bound: much of it is in s^2 already.

    Parameters
    ----------
    differences : ndarray of shape (n,)
        One a fold, of all repeats.
    n_folds : int
        Folds of a repeat. Training sets of different repeats overlap, so that more repeats count as no more folds.
    shared : float
        Bound of the covariance: v over the number of rows.

    References
    ----------
    Nadeau, Bengio (2003), Machine Learning 52, section 2: the variance of a mean over training and test
    sets is s^2 / n and the covariance. Dietterich (1998), Neural Computation 10: v by the rows on which two
    classifiers differ.
    """

    name = "t over disjoint training sets"

    def __init__(self, differences: NDArray[np.float64], *, n_folds: int, shared: float) -> None:
        super().__init__(differences)
        self.repeats = max(1.0, self.n / n_folds)
        self.shared = shared

    def spread(self, n: int) -> tuple[float, float]:
        """See the base class."""
        n_folds = max(2.0, n / self.repeats)
        return math.sqrt(self.variance / n_folds + self.shared), n_folds - 1
