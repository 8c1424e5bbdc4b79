"""The claim that one method has a slightly higher error than another."""

from __future__ import annotations

from dataclasses import dataclass

from provlab.claims import decisions
from provlab.claims.evaluators._comparison import AbstractComparison


@dataclass(frozen=True, kw_only=True)
class SlightlyWorse(AbstractComparison):
    """`row` has a higher error than `than`, by less than `most`; see `decisions.slightly_worse`.

    Parameters
    ----------
    most : float
        Percentage points beyond which nobody would say "slightly".
    """

    most: float

    @property
    def rule(self) -> decisions.Rule:
        """See the base class."""
        return decisions.slightly_worse(self.most)
