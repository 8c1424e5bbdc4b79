"""The t-test for differences over folds of one data set, whose training sets overlap."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from provlab.claims.statistics._base import AbstractPairedTest, Alternative, Interval


class CorrectedT(AbstractPairedTest):
    """Corrected resampled t-test: the variance of the mean is (1 / n + ratio) s^2 instead of s^2 / n.

    Folds share training rows, so that their differences are correlated; s^2 / n is too small, and the plain t-test
    finds differences that are not there.

    Parameters
    ----------
    differences : ndarray of shape (n,)
        Finite, n >= 2; one a fold.
    ratio : float
        Test rows per training row, n_test / n_train: 1/9 for ten-fold cross-validation. 0 gives the plain t-test,
        for independent differences.

    References
    ----------
    Nadeau, Bengio (2003), Machine Learning 52, section 3; Bouckaert, Frank (2004), PAKDD, for repeated folds.
    """

    name = "corrected resampled t"

    def __init__(self, differences: NDArray[np.float64], *, ratio: float) -> None:
        self.ratio = ratio
        self.n = len(differences)
        self.estimate = float(np.mean(differences))
        variance = 0.0 if np.ptp(differences) == 0 else float(np.var(differences, ddof=1))
        self.standard_error = math.sqrt((1 / self.n + ratio) * variance)

    def p_value(self, shift: float = 0.0, alternative: Alternative = "two-sided") -> float:
        """Return the p-value from Student's t with n - 1 degrees of freedom; the sign test's where nothing varies."""
        from scipy.stats import t as student

        distance = self.estimate - shift
        if self.standard_error == 0:
            return self._sign_test(distance, alternative)
        statistic = distance / self.standard_error
        if alternative == "two-sided":
            return float(2 * student.sf(abs(statistic), self.n - 1))
        return float(student.sf(statistic if alternative == "greater" else -statistic, self.n - 1))

    def interval(self, level: float) -> Interval:
        """Return estimate -+ quantile x standard error."""
        if self.standard_error == 0 and self._sign_test(1.0, "two-sided") > 1 - level:
            return -math.inf, math.inf
        from scipy.stats import t as student

        half = float(student.ppf((1 + level) / 2, self.n - 1)) * self.standard_error
        return self.estimate - half, self.estimate + half

    def _sign_test(self, distance: float, alternative: Alternative) -> float:
        """All n differences are on the same side: three equal folds are no proof, a hundred are."""
        if distance == 0:
            return 1.0
        if alternative == "two-sided":
            return float(2.0 ** (1 - self.n))
        return float(2.0**-self.n) if (distance > 0) == (alternative == "greater") else 1.0
