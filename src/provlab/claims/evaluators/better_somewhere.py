"""The claim that one method can have a lower error than another: in some column, not in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from provlab.claims import decisions
from provlab.claims.evaluators._comparison import AbstractMarginComparison
from provlab.claims.outcome import CONTRADICTED, INCONCLUSIVE, NO_DIFFERENCE, NOT_RUN, REPLICATED, Finding
from provlab.claims.pairing import AbstractEvidence


@dataclass(frozen=True, kw_only=True)
class BetterSomewhere(AbstractMarginComparison):
    """`row` has a lower error than `than` in at least one column; see `decisions.better_somewhere`.

    Parameters
    ----------
    margin : float
        Percentage points.
    """

    rule_of = staticmethod(decisions.better_somewhere)

    def findings(self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]) -> list[Finding]:
        """See the base class; one finding, that of the column that says most."""
        parts = [part for part in super().findings(columns, evidence, peers) if part.verdict != NOT_RUN]
        if not parts:
            return [Finding("any column", NOT_RUN, note=f"nothing stored for {self.row} and {self.than}")]
        verdicts, refuted = {part.verdict for part in parts}, {NO_DIFFERENCE, CONTRADICTED}
        won = [part.part for part in parts if part.verdict == REPLICATED]
        verdict = REPLICATED if won else verdicts.pop() if len(verdicts) == 1 else INCONCLUSIVE
        if not won and refuted >= {part.verdict for part in parts} and verdict == INCONCLUSIVE:
            verdict = CONTRADICTED
        deciding = [part for part in parts if part.verdict == verdict]
        order = max if verdict in refuted else min  # of all columns the weakest counts, else the clearest
        best = order(deciding, key=lambda part: (part.p_value, part.effect))
        note = f"better in {len(won)} of {len(parts)} columns" + (f": {', '.join(won)}" if won else "")
        return [replace(best, verdict=verdict, note=note)]
