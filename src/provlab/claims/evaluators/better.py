"""The claim that one method has a lower error than another."""

from __future__ import annotations

from dataclasses import dataclass

from provlab.claims import decisions
from provlab.claims.evaluators._comparison import AbstractMarginComparison


@dataclass(frozen=True, kw_only=True)
class Better(AbstractMarginComparison):
    """`row` has a lower error than `than`; see `decisions.better`.

    Parameters
    ----------
    margin : float
        Percentage points within which both count as the same.
    """

    rule_of = staticmethod(decisions.better)
