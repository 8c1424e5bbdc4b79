"""The claim of a theorem: checked on every trial by its certificate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scipy.stats import binomtest

from provlab.claims.evaluators._base import ALPHA, AbstractRowEvaluator
from provlab.claims.evidence import Evidence, artefact_theorems
from provlab.claims.outcome import CONTRADICTED, INCONCLUSIVE, NOT_RUN, REPLICATED, Finding
from provsel.certificates import HELD, THEOREMS, VACUOUS, VIOLATED

QUANTITIES = {theorem.name: theorem.state_column() for theorem in THEOREMS}


@dataclass(frozen=True, kw_only=True)
class Certificates(AbstractRowEvaluator):
    """The bound on `quantity` holds in all trials of `row`, or in all but the share that the theorem lets fail.

    One violation contradicts a theorem that holds surely; one that fails with probability `at_most` is contradicted by
    significantly more violations than that (binomial test). A bound that says nothing supports nothing. So:
    contradicted, else replicated where most of those that apply hold, else inconclusive: most are vacuous. The effect
    is the share that held of those that apply: held, violated or vacuous.

    Parameters
    ----------
    row : str
    quantity : {"spectral", "margin", "soft", "radius", "scores", "cost", "partition", "recovery"}
        Or the name of a theorem of the project's own, of the artefact's `protocol.measures`.
    at_most : float
        Probability of failure that the theorem allows.
    """

    quantity: str
    at_most: float = 0.0
    alpha: float = ALPHA

    def __post_init__(self) -> None:
        if self.quantity not in QUANTITIES and self.quantity not in (own := artefact_theorems(self.artefact)):
            known = ", ".join((*QUANTITIES, *own))
            raise ValueError(
                f"quantity: expected one of {known}, got {self.quantity!r}; a theorem of your own is to be among the "
                f"artefact's protocol.measures."
            )

    @property
    def reads(self) -> tuple[str, ...]:
        """See the base class."""
        return ((QUANTITIES.get(self.quantity) or artefact_theorems(self.artefact)[self.quantity]),)

    def findings(self, columns: Sequence[str], evidence: Evidence, peers: Sequence[Any]) -> list[Finding]:
        """See the base class; one finding, over all columns."""
        part = self.quantity
        counts: dict[str, int] = {}
        for place in self.places(columns):
            for state, count in evidence.trials(place, self.reads)[self.reads[0]].value_counts().items():
                counts[str(state)] = counts.get(str(state), 0) + int(count)
        if not counts:
            return [Finding(part, NOT_RUN, note=f"nothing stored for {self.row}")]
        note = ", ".join(f"{count} {state}" for state, count in sorted(counts.items()))
        test = "certificate of every trial"
        held, violated, vacuous = (counts.get(state, 0) for state in (HELD, VIOLATED, VACUOUS))
        applicable = held + violated + vacuous
        if not applicable:
            return [Finding(part, INCONCLUSIVE, test=test, note=f"applies to no trial: {note}")]
        p_value = math.nan
        contradicted = violated > 0
        if self.at_most and held + violated:
            p_value = float(binomtest(violated, held + violated, self.at_most, alternative="greater").pvalue)
            contradicted = p_value < self.alpha
            test += f", more than {100 * self.at_most:g} % violated (binomial)"
        verdict = CONTRADICTED if contradicted else REPLICATED if 2 * held > applicable else INCONCLUSIVE
        share = 100 * held / applicable
        return [Finding(part, verdict, share, math.nan, math.nan, p_value, applicable, test, "% of trials held", note)]
