"""The claim that a method keeps more features than some number."""

from __future__ import annotations

from dataclasses import dataclass

from provlab.claims import decisions
from provlab.claims.evaluators._counting import AbstractCounting


@dataclass(frozen=True, kw_only=True)
class CountAbove(AbstractCounting):
    """The mean number of features is above `above`; see `decisions.above`.

    Parameters
    ----------
    above : float
    """

    above: float

    @property
    def rule(self) -> decisions.Rule:
        """See the base class."""
        return decisions.above(self.above)
