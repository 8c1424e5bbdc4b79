"""The claim of a theorem: checked on every trial by its certificate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from provsel.claims.evaluators._base import AbstractRowEvaluator
from provsel.claims.evidence import Evidence
from provsel.claims.outcome import CONTRADICTED, INCONCLUSIVE, NOT_RUN, REPLICATED, Finding
from provsel.evaluation.certificates import HELD, VACUOUS, VIOLATED
from provsel.reports.certificates import CERTIFICATES

QUANTITIES = tuple(CERTIFICATES)


@dataclass(frozen=True, kw_only=True)
class Certificates(AbstractRowEvaluator):
    """The bound on `quantity` holds in all trials of `row`.

    One violation contradicts a theorem; a bound that says nothing supports nothing. So: contradicted where any trial
    violates it, replicated where most of those that apply hold and none violates it, else inconclusive: most are
    vacuous. The effect is the share that held of those that apply: held, violated or vacuous.

    Parameters
    ----------
    row : str
    quantity : {"spectral", "margin", "soft", "radius"}
    """

    quantity: str

    def __post_init__(self) -> None:
        if self.quantity not in QUANTITIES:
            raise ValueError(f"quantity: expected one of {', '.join(QUANTITIES)}, got {self.quantity!r}.")

    def findings(self, columns: Sequence[str], evidence: Evidence, peers: Sequence[Any]) -> list[Finding]:
        """See the base class; one finding, over all columns."""
        part = self.quantity
        counts: dict[str, int] = {}
        for place in self.places(columns):
            states = evidence.trials(place, [f"certificate_{name}" for name in QUANTITIES])
            for state, count in states[f"certificate_{part}"].value_counts().items():
                counts[str(state)] = counts.get(str(state), 0) + int(count)
        if not counts:
            return [Finding(part, NOT_RUN, note=f"nothing stored for {self.row}")]
        note = ", ".join(f"{count} {state}" for state, count in sorted(counts.items()))
        test = "certificate of every trial"
        held, violated, vacuous = (counts.get(state, 0) for state in (HELD, VIOLATED, VACUOUS))
        applicable = held + violated + vacuous
        if not applicable:
            return [Finding(part, INCONCLUSIVE, test=test, note=f"applies to no trial: {note}")]
        verdict = CONTRADICTED if violated else REPLICATED if 2 * held > applicable else INCONCLUSIVE
        share = 100 * held / applicable
        return [Finding(part, verdict, share, n=applicable, test=test, unit="% of trials held", note=note)]
