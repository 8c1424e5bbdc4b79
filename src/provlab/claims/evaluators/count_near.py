"""The claim that a method keeps about some number of features."""

from __future__ import annotations

from dataclasses import dataclass

from provlab.claims.decisions import near
from provlab.claims.evaluators._counting import AbstractCounting
from provlab.claims.outcome import Finding
from provlab.claims.statistics import CorrectedT


@dataclass(frozen=True, kw_only=True)
class CountNear(AbstractCounting):
    """The mean number of features is within `margin` of `near`; see `decisions.near`.

    Parameters
    ----------
    near, margin : float
    """

    near: float
    margin: float

    def decide(self, column: str, test: CorrectedT) -> Finding:
        """See the base class."""
        low, high = self.margins
        return near(column, test, low=low, high=high, alpha=self.alpha, unit="features")

    @property
    def margins(self) -> tuple[float, ...]:
        """See the base class."""
        return (self.near - self.margin, self.near + self.margin)
