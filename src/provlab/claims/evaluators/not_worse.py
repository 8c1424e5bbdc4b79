"""The claim that a method keeps up with another."""

from __future__ import annotations

from dataclasses import dataclass

from provlab.claims import decisions
from provlab.claims.evaluators._comparison import AbstractMarginComparison


@dataclass(frozen=True, kw_only=True)
class NotWorse(AbstractMarginComparison):
    """The error of `row` is less than a margin above that of `than`; see `decisions.not_worse`.

    Parameters
    ----------
    margin : float
        Percentage points.
    """

    rule_of = staticmethod(decisions.not_worse)
