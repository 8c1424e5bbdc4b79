"""The claim that two methods have about the same error."""

from __future__ import annotations

from dataclasses import dataclass

from provlab.claims import decisions
from provlab.claims.evaluators._comparison import AbstractMarginComparison


@dataclass(frozen=True, kw_only=True)
class Comparable(AbstractMarginComparison):
    """`row` and `than` differ by less than a margin; see `decisions.comparable`.

    Parameters
    ----------
    margin : float
        Percentage points.
    """

    rule_of = staticmethod(decisions.comparable)
