"""The claim that one method has a lower error than another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from provlab.claims import decisions
from provlab.claims.evaluators._comparison import AbstractComparison
from provlab.claims.evidence import Evidence
from provlab.claims.outcome import Finding, UnavailableError
from provlab.claims.statistics import AbstractPairedTest, holm


@dataclass(frozen=True, kw_only=True)
class Better(AbstractComparison):
    """`row` has a lower error than `than`; see `decisions.better`.

    The two-sided p-value is corrected by Holm's method over all claims of this kind about the same artefacts,
    column by column.

    Parameters
    ----------
    margin : float
        Percentage points within which both count as the same.
    """

    margin: float

    @property
    def family(self) -> tuple[str, str, str, str]:
        """Comparisons with the same family are corrected together."""
        return self.artefact, self.than_artefact, self.over, self.dataset

    @property
    def margins(self) -> tuple[float, ...]:
        """See the base class."""
        return (-self.margin, self.margin)

    def decide(self, column: str, test: AbstractPairedTest, evidence: Evidence, peers: Sequence[Any]) -> Finding:
        """See the base class."""
        family: dict[tuple[str, str], Better] = {(self.row, self.than): self}
        for peer in peers:
            if peer.family == self.family and column in (*peer.columns, *peer.also):
                family.setdefault((peer.row, peer.than), peer)
        adjusted = holm([_p_value(member, column, evidence) for member in family.values()])[0]
        how = f"Holm over {len(family)}"
        return decisions.better(column, test, adjusted, margin=self.margin, alpha=self.alpha, how=how)


def _p_value(member: Better, column: str, evidence: Evidence) -> float:
    try:
        return evidence.p_value(*member.pair(column), member.over)
    except UnavailableError:
        return math.nan
