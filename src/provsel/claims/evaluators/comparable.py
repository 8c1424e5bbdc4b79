"""The claim that two methods have about the same error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from provsel.claims import decisions
from provsel.claims.evaluators._comparison import AbstractComparison
from provsel.claims.evidence import Evidence
from provsel.claims.outcome import Finding
from provsel.claims.statistics import AbstractPairedTest


@dataclass(frozen=True, kw_only=True)
class Comparable(AbstractComparison):
    """`row` and `than` differ by less than a margin; see `decisions.comparable`.

    Parameters
    ----------
    margin : float
        Percentage points.
    """

    margin: float

    def decide(self, column: str, test: AbstractPairedTest, evidence: Evidence, peers: Sequence[Any]) -> Finding:
        """See the base class."""
        return decisions.comparable(column, test, margin=self.margin, alpha=self.alpha)
