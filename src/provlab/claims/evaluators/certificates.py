"""The claim of a theorem: checked on every trial by its certificate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from provlab.claims.evaluators._base import ALPHA, AbstractRowEvaluator
from provlab.claims.evidence import artefact_theorems
from provlab.claims.outcome import CONTRADICTED, NOT_RUN, REPLICATED, VACUOUS, Finding
from provlab.claims.pairing import AbstractEvidence
from provlab.claims.statistics import holm, more_than_p_value
from provsel.certificates import HELD, THEOREMS, VIOLATED
from provsel.certificates import VACUOUS as VACUOUS_STATE

QUANTITIES = {theorem.name: theorem.state_column() for theorem in THEOREMS}


@dataclass(frozen=True, kw_only=True)
class Certificates(AbstractRowEvaluator):
    """The bound on `quantity` holds in all trials of `row`, or in all but the share that the theorem lets fail.

    One violation contradicts a theorem that holds surely; one that fails with probability `at_most` is contradicted by
    significantly more violations than that (binomial test, on a data set or on all together, corrected by Holm's
    method). A bound that says nothing supports nothing. So: contradicted, else replicated where most of those that
    apply hold, else vacuous, as most are. The effect is the share that held of those that apply: held, violated or
    vacuous.

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

    def findings(self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]) -> list[Finding]:
        """See the base class; one finding, over all columns."""
        column = self.reads[0]
        trials = pd.concat([evidence.trials(place, self.reads) for place in self.places(columns)]).dropna()
        if trials.empty:
            return [Finding(self.quantity, NOT_RUN, note=f"nothing stored for {self.row}")]
        counts = trials.groupby("dataset", sort=True)[column].value_counts().unstack(fill_value=0)
        total = counts.sum()
        note = ", ".join(f"{count} {state}" for state, count in total.items())
        test = "certificate of every trial"
        states = counts.reindex(columns=[HELD, VIOLATED, VACUOUS_STATE], fill_value=0)
        held, violated, vacuous = (int(n) for n in states.sum())
        applicable = held + violated + vacuous
        if not applicable:
            return [Finding(self.quantity, VACUOUS, test=test, note=f"applies to no trial: {note}")]
        p_value = math.nan
        contradicted = violated > 0
        if self.at_most and held + violated:
            worst, p_value = self._most_violated(states)
            contradicted = p_value < self.alpha
            test += f", more than {100 * self.at_most:g} % violated (binomial)"
            if len(states) > 1:
                test += f", Holm over {len(states)} data sets and all together"
                note += f"; clearest on {worst}"
        verdict = CONTRADICTED if contradicted else REPLICATED if 2 * held > applicable else VACUOUS
        share = 100 * held / applicable
        return [
            Finding(self.quantity, verdict, share, p_value=p_value, n=applicable, test=test, unit="% of trials held",
                    note=note)
        ]  # fmt: skip

    def _most_violated(self, states: pd.DataFrame) -> tuple[str, float]:
        """Return where the bound is violated most clearly, and the corrected p-value of more than the share allowed.

        Each data set is tested by itself, as one on which the theorem always fails would drown among many on which it
        never does, and all of them together, as each may be a little above.
        """
        if len(states) > 1:
            states = pd.concat([states, states.sum().to_frame("all together").T])
        bound = states[HELD] + states[VIOLATED]
        p_values = [
            more_than_p_value(int(k), int(n), self.at_most) if n else 1.0
            for k, n in zip(states[VIOLATED], bound, strict=True)
        ]
        adjusted = holm(p_values)
        worst = int(np.argmin(adjusted))
        return str(states.index[worst]), adjusted[worst]
