"""What the tests of one sample of differences have in common, so that verdicts do not depend on which one is used."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, Literal

from scipy.special import ndtri

Side = Literal["less", "greater"]
Alternative = Literal["two-sided", "less", "greater"]

Interval = tuple[float, float]

POWER = 0.9
"""The probability with which a sample that is called large enough decides."""

MOST = 1_000_000
"""Observations beyond which nobody would continue."""


class AbstractPairedTest(ABC):
    """A location test of differences that can be shifted, and the interval that inverts it.

    Attributes
    ----------
    n : int
        Number of differences.
    estimate : float
        Their location; the unit of the differences.
    """

    name: ClassVar[str]
    n: int
    estimate: float

    @abstractmethod
    def p_value(self, shift: float = 0.0, alternative: Alternative = "two-sided") -> float:
        """Return the p-value of the hypothesis that the location is `shift`."""

    @abstractmethod
    def interval(self, level: float) -> Interval:
        """Return the two-sided confidence interval of the location; infinite where n cannot give that level."""

    @abstractmethod
    def power(self, n: int, distance: float, level: float, side: Side) -> float:
        """Return the power of the one-sided test at `level`, of n differences with the spread of these.

        Parameters
        ----------
        n : int
        distance : float
            From the shift that is tested to the true location, in the direction of the alternative.
        level : float
        side : {"less", "greater"}
            The alternative.
        """

    def detectable(self, level: float, side: Side) -> float:
        """Return the smallest distance that the one-sided test at `level` shows with a power of `POWER`."""
        far = max(1e-12, abs(self.interval(0.9)[0] - self.estimate))
        if not math.isfinite(far):
            return math.inf
        while self.power(self.n, far, level, side) < POWER:
            far *= 2
            if far > 1e12:
                return math.inf
        near = 0.0
        for _ in range(40):
            middle = (near + far) / 2
            near, far = (near, middle) if self.power(self.n, middle, level, side) >= POWER else (middle, far)
        return far


def observations_needed(powers: Sequence[Callable[[int], float]]) -> float:
    """Return the smallest n at which all of some one-sided tests reject together with a power of `POWER`.

    What they miss adds up at most (Bonferroni), which is exact where not both can miss. Infinite where even `MOST`
    observations do not suffice, such as where folds of the same data say no more.
    """

    def enough(n: int) -> bool:
        return sum(1 - power(n) for power in powers) <= 1 - POWER

    high = 2
    while not enough(high):
        high *= 2
        if high > MOST:
            return math.inf
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return float(high)


def observations_for_p(n: int, p_value: float, level: float) -> float:
    """Return the n at which a one-sided test that has this p-value at n rejects at `level` with a power of `POWER`.

    For statistics that are normal in the limit, and whose mean then grows like the root of n: binomial tests, ranks,
    Kendall's tau. Infinite where the sample points the other way.

    References
    ----------
    Noether (1987), Journal of the American Statistical Association 82.
    """
    seen = float(-ndtri(p_value))
    if not seen > 0:
        return math.inf
    return math.ceil(n * ((float(ndtri(POWER)) - float(ndtri(level))) / seen) ** 2)
