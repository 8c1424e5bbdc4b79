"""The claim that one method can have a lower error than another: in some column, not in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from provlab.claims.evaluators._comparison import AbstractComparison
from provlab.claims.evidence import Evidence
from provlab.claims.outcome import CONTRADICTED, INCONCLUSIVE, NOT_RUN, REPLICATED, Finding
from provlab.claims.statistics import AbstractPairedTest, holm


@dataclass(frozen=True, kw_only=True)
class BetterSomewhere(AbstractComparison):
    """`row` has a lower error than `than` in at least one column.

    Replicated: significantly lower in one of them, corrected by Holm's method over the columns. Contradicted: in every
    column shown to be lower by less than the margin, if at all. Else inconclusive.

    Parameters
    ----------
    margin : float
        Percentage points.
    """

    margin: float

    def findings(self, columns: Sequence[str], evidence: Evidence, peers: Sequence[Any]) -> list[Finding]:
        """See the base class; one finding, that of the column with the smallest p-value."""
        found = [part for part in super().findings(columns, evidence, peers) if part.verdict != NOT_RUN]
        if not found:
            return [Finding("any column", NOT_RUN, note=f"nothing stored for {self.row} and {self.than}")]
        adjusted = holm([part.p_value for part in found])
        parts = [replace(part, p_value=p_value) for part, p_value in zip(found, adjusted, strict=True)]
        best = min(parts, key=lambda part: (part.p_value, part.effect))
        won = [part.part for part in parts if part.p_value < self.alpha]
        verdict = REPLICATED if won else INCONCLUSIVE
        if all(part.verdict == CONTRADICTED for part in parts):
            verdict = CONTRADICTED
        note = f"better in {len(won)} of {len(parts)} columns" + (f": {', '.join(won)}" if won else "")
        return [replace(best, verdict=verdict, note=note)]

    def decide(self, column: str, test: AbstractPairedTest, evidence: Evidence, peers: Sequence[Any]) -> Finding:
        """See the base class; one-sided."""
        low, high = test.interval(1 - 2 * self.alpha)
        verdict = CONTRADICTED if test.p_value(-self.margin, "greater") < self.alpha else INCONCLUSIVE
        name = f"{test.name}, one-sided, Holm over columns, {100 * (1 - 2 * self.alpha):g} % interval"
        p_value = test.p_value(0.0, "less")
        return Finding(column, verdict, test.estimate, low, high, p_value, test.n, name, "percentage points")

    @property
    def margins(self) -> tuple[float, ...]:
        """See the base class."""
        return (-self.margin,)
