"""The claim that a method keeps more features than some number."""

from __future__ import annotations

from dataclasses import dataclass

from provlab.claims.evaluators._counting import AbstractCounting
from provlab.claims.outcome import CONTRADICTED, INCONCLUSIVE, REPLICATED, Finding
from provlab.claims.statistics import CorrectedT


@dataclass(frozen=True, kw_only=True)
class CountAbove(AbstractCounting):
    """The mean number of features is above `above`: replicated or contradicted where that is significant.

    Parameters
    ----------
    above : float
    """

    above: float

    def decide(self, column: str, test: CorrectedT) -> Finding:
        """See the base class."""
        low, high = test.interval(1 - self.alpha)
        p_value = test.p_value(self.above)
        verdict = INCONCLUSIVE
        if p_value < self.alpha:
            verdict = REPLICATED if test.estimate > self.above else CONTRADICTED
        name = f"t-test over {self.over}, mean against {self.above:g}"
        return Finding(column, verdict, test.estimate, low, high, p_value, test.n, name, "features")

    @property
    def margins(self) -> tuple[float, ...]:
        """See the base class."""
        return (self.above,)
