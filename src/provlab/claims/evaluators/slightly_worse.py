"""The claim that one method has a slightly higher error than another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from provlab.claims import decisions
from provlab.claims.evaluators._comparison import AbstractComparison
from provlab.claims.evidence import Evidence
from provlab.claims.outcome import Finding
from provlab.claims.statistics import AbstractPairedTest


@dataclass(frozen=True, kw_only=True)
class SlightlyWorse(AbstractComparison):
    """`row` has a higher error than `than`, by less than `most`; see `decisions.slightly_worse`.

    Parameters
    ----------
    most : float
        Percentage points beyond which nobody would say "slightly".
    """

    most: float

    def decide(self, column: str, test: AbstractPairedTest, evidence: Evidence, peers: Sequence[Any]) -> Finding:
        """See the base class."""
        return decisions.slightly_worse(column, test, most=self.most, alpha=self.alpha)

    @property
    def margins(self) -> tuple[float, ...]:
        """See the base class."""
        return (self.most,)
