"""The claim that a measured number stays within a bound, with a probability of failure that is named."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from provlab.claims.evaluators._base import ALPHA, AbstractRowEvaluator
from provlab.claims.outcome import CONTRADICTED, INCONCLUSIVE, NOT_RUN, REPLICATED, VACUOUS, Finding
from provlab.claims.pairing import AbstractEvidence, Place
from provlab.claims.statistics import more_than_p_value, observations_for_p
from provsel.certificates import THEOREMS

QUANTITIES = tuple(
    dict.fromkeys(name for theorem in THEOREMS for name, kind in theorem.columns().items() if kind is float)
)


@dataclass(frozen=True, kw_only=True)
class Within(AbstractRowEvaluator):
    """`quantity` is at most `bound` in all but a share `at_most` of the trials, in every column on its own.

    Contradicted: significantly more trials are above the bound (binomial test; without `at_most` one is enough).
    Vacuous: the bound says nothing in half of the trials or more. Replicated: at most this share is above. Else
    inconclusive. The effect is the share of trials within.

    Parameters
    ----------
    row : str
    quantity : str
        A number of the certificates, such as "certificate_delta".
    bound : float
    at_most : float
        Share of the trials that may be above.
    trivial : str
        Another number: where it is within the bound as well, this says nothing. "" for none.
    """

    quantity: str
    bound: float
    at_most: float = 0.0
    trivial: str = ""
    alpha: float = ALPHA

    def __post_init__(self) -> None:
        for name in ("quantity", "trivial"):
            value = getattr(self, name)
            if value not in QUANTITIES and not (name == "trivial" and value == ""):
                raise ValueError(f"{name}: expected one of {', '.join(QUANTITIES)}, got {value!r}.")

    @property
    def reads(self) -> tuple[str, ...]:
        """See the base class."""
        return (self.quantity, *([self.trivial] if self.trivial else []))

    def findings(self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]) -> list[Finding]:
        """See the base class; one finding a column."""
        return [self._finding(place, evidence) for place in self.places(columns)]

    def _finding(self, place: Place, evidence: AbstractEvidence) -> Finding:
        trials, column = evidence.trials(place, self.reads).dropna(subset=[self.quantity]), place[-1]
        if trials.empty:
            return Finding(column, NOT_RUN, note=f"nothing stored for {self.row}")
        n, above = len(trials), int((trials[self.quantity] > self.bound).sum())
        p_value = math.nan
        contradicted = above > 0
        test = f"{self.quantity.removeprefix('certificate_')} at most {self.bound:g}"
        if self.at_most:
            p_value = more_than_p_value(above, n, self.at_most)
            contradicted = p_value < self.alpha
            test += f", more than {100 * self.at_most:g} % above (binomial)"
        empty = int((trials[self.trivial] <= self.bound).sum()) if self.trivial else 0
        if contradicted:
            verdict = CONTRADICTED
        else:
            verdict = VACUOUS if 2 * empty >= n else REPLICATED if above <= self.at_most * n else INCONCLUSIVE
        low, high = trials[self.quantity].min(), trials[self.quantity].max()
        note = f"from {low:.4g} to {high:.4g}" + (f"; in {empty} of {n} it says nothing" if self.trivial else "")
        needed = observations_for_p(n, p_value, self.alpha) if verdict == INCONCLUSIVE else math.nan
        return Finding(column, verdict, 100 * (n - above) / n, p_value=p_value, n=n, test=test, unit="% within",
                       note=note, needed=needed)  # fmt: skip
