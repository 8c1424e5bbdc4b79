"""The claim that a method keeps about some number of features."""

from __future__ import annotations

from dataclasses import dataclass

from provlab.claims import decisions
from provlab.claims.evaluators._counting import AbstractCounting


@dataclass(frozen=True, kw_only=True)
class CountNear(AbstractCounting):
    """The mean number of features is within `within` of `near`; see `decisions.near`.

    Parameters
    ----------
    near, within : float
        Features.
    """

    near: float
    within: float

    @property
    def rule(self) -> decisions.Rule:
        """See the base class."""
        return decisions.near(self.near - self.within, self.near + self.within)
