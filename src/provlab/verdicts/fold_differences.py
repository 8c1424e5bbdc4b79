"""Comparison of methods on the same folds, with the best one and with a reference."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from provlab.verdicts.claims.paired_tests import CorrectedT, Side, holm, mean_difference

Floats = NDArray[np.float64]

LEVEL = 0.05
"""Joint level of all tests in a table."""


@dataclass(frozen=True)
class FoldDifferences:
    """A measure of several methods on the same folds, and paired tests of its differences.

    Attributes
    ----------
    values : DataFrame of shape (n_folds, n_methods)
        Methods that failed on a fold are left out.
    ratio : float
        Test rows per training row, see `CorrectedT`.
    sign : float
        1 for errors, -1 for scores: multiplied by it, lower is better.
    """

    values: pd.DataFrame
    ratio: float
    sign: float = 1.0

    @property
    def best(self) -> str:
        """The method with the best mean."""
        return str((self.sign * self.values.mean()).idxmin())

    def means(self) -> pd.DataFrame:
        """Return the mean of each method over folds as value, with the limits low and high of its 95 % interval."""
        lines = {}
        for name, of_method in self.values.items():
            test = CorrectedT(of_method.to_numpy(), ratio=self.ratio)
            low, high = test.interval(0.95)
            lines[name] = {"value": test.estimate, "low": low, "high": high}
        return pd.DataFrame.from_dict(lines, orient="index")

    def to_best(self) -> pd.DataFrame:
        """Return the difference between each other method and the best one.

        The best method is chosen on the same folds, so the smallest p-value is that of
        all pairs of k methods, which are k / 2 times as many as the comparisons with
        the best. Therefore p is multiplied by k / 2, and then adjusted by Holm's
        method. If all methods are equal, a method is then called worse on at most 5 %
        of tables. With Holm's method alone, it would be 10 % with 8 methods, and 19 %
        with 20.

        Returns
        -------
        DataFrame
            Index: the other methods. difference; low and high, the limits of its own 95
            % interval; p.
        """
        n_methods = self.values.shape[1]
        others = self.values.drop(columns=self.best)
        return self._differences(
            others, self.values[self.best].to_numpy(), n_methods / 2
        )

    def to(self, reference: Floats) -> pd.DataFrame:
        """Return the difference between each method and reference values on the same folds, with p adjusted by Holm."""
        return self._differences(self.values, reference, 1.0)

    def _differences(
        self, values: pd.DataFrame, reference: Floats, factor: float
    ) -> pd.DataFrame:
        lines = {}
        for name, of_method in values.items():
            lines[name] = mean_difference(
                of_method.to_numpy() - reference, ratio=self.ratio
            )
        columns = ["difference", "low", "high", "p"]
        frame = pd.DataFrame.from_dict(
            lines, orient="index", columns=columns, dtype=float
        )
        frame["p"] = holm((factor * frame["p"]).clip(upper=1.0).tolist())
        return frame

    def test(self, values: Floats, reference: Floats) -> CorrectedT:
        """Return the test of the mean difference between two methods over folds."""
        return CorrectedT(values - reference, ratio=self.ratio)

    @property
    def worse(self) -> Side:
        """The direction of worse differences, as the alternative of a test."""
        return "greater" if self.sign > 0 else "less"

    def detectable(self) -> float:
        """Return the difference from the best method that is detected with probability 0.9, corrected for all pairs.

        It is the median over methods, or NaN if there are too few folds to detect any
        difference.
        """
        n_methods = self.values.shape[1]
        n_pairs = n_methods * (n_methods - 1) / 2
        distances = []
        for name, of_method in self.values.items():
            if name != self.best:
                test = self.test(
                    of_method.to_numpy(), self.values[self.best].to_numpy()
                )
                distances.append(test.detectable(LEVEL / 2 / n_pairs, self.worse))
        finite = [
            distance
            for distance in distances
            if math.isfinite(distance) and distance > 1e-9
        ]
        return float(np.median(finite)) if finite else math.nan
