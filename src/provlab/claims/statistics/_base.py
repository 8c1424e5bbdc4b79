"""What the tests of one sample of differences have in common, so that verdicts do not depend on which one is used."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Literal

Alternative = Literal["two-sided", "less", "greater"]

Interval = tuple[float, float]


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


def equivalence_p_value(test: AbstractPairedTest, low: float, high: float) -> float:
    """Return the p-value of two one-sided tests (TOST) that the location is outside (low, high).

    Both must reject, so the larger p-value counts; neither needs a correction.

    References
    ----------
    Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15.
    """
    return max(test.p_value(low, "greater"), test.p_value(high, "less"))
