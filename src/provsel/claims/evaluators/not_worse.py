"""The claim that a method keeps up with another."""

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
class NotWorse(AbstractComparison):
    """The error of `row` is less than a margin above that of `than`; see `decisions.not_worse`.

    Parameters
    ----------
    margin : float
        Percentage points.
    """

    margin: float

    def decide(self, column: str, test: AbstractPairedTest, evidence: Evidence, peers: Sequence[Any]) -> Finding:
        """See the base class."""
        return decisions.not_worse(column, test, margin=self.margin, alpha=self.alpha)
