"""The claim that a number falls from column to column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from provlab.claims.evaluators._base import ALPHA, AbstractRowEvaluator
from provlab.claims.outcome import CONTRADICTED, INCONCLUSIVE, NOT_RUN, REPLICATED, Finding
from provlab.claims.pairing import AbstractEvidence
from provlab.claims.statistics import falling_trend, holm, observations_for_p, rank_sum_p_value

QUANTITIES = ("error", "objective", "scaled_objective", "n_selected", "certificate_delta", "certificate_objective")


@dataclass(frozen=True, kw_only=True)
class Falls(AbstractRowEvaluator):
    """`quantity` of `row` falls along the columns, in the order in which they are listed; over folds and draws.

    Contradicted: it is significantly higher in one column than in the one before (one-sided Mann-Whitney, Holm over the
    steps). Replicated: it falls significantly over all columns together (one-sided Kendall). Else inconclusive. The
    effect is Kendall's tau, -1 where every trial is below all of the columns before.

    Parameters
    ----------
    row : str
    quantity : str
        Number of a record.
    """

    quantity: str
    alpha: float = ALPHA

    def __post_init__(self) -> None:
        if self.quantity not in QUANTITIES:
            raise ValueError(f"quantity: expected one of {', '.join(QUANTITIES)}, got {self.quantity!r}.")
        if len(self.columns) < 2:
            raise ValueError(f"columns: expected at least two, in their order, got {list(self.columns)}.")

    @property
    def reads(self) -> tuple[str, ...]:
        """See the base class."""
        return (self.quantity,)

    def findings(self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]) -> list[Finding]:
        """See the base class; one finding, over all columns."""
        if len(columns) < 2:
            return []
        part = f"{columns[0]} to {columns[-1]}"
        samples = [self._numbers(place, evidence) for place in self.places(columns)]
        empty = [column for column, numbers in zip(columns, samples, strict=True) if not numbers.size]
        if empty:
            return [Finding(part, NOT_RUN, note=f"nothing stored for {self.row}, {', '.join(empty)}")]
        n = sum(numbers.size for numbers in samples)
        tau, trend = falling_trend(samples)
        highest = min(holm([rank_sum_p_value(before, after) for before, after in pairwise(samples)]))
        falls = trend < self.alpha  # not where all values tie: NaN
        verdict = CONTRADICTED if highest < self.alpha else REPLICATED if falls else INCONCLUSIVE
        p_value = highest if verdict == CONTRADICTED else trend
        note = ", ".join(f"{np.median(numbers):.4g}" for numbers in samples)
        needed = observations_for_p(n, trend, self.alpha) if verdict == INCONCLUSIVE else math.nan
        how = "a step up (Mann-Whitney, Holm)" if verdict == CONTRADICTED else "trend (Kendall)"
        return [
            Finding(part, verdict, tau, p_value=p_value, n=n, test=how, unit="tau",
                    note=f"medians {note}", needed=needed)
        ]  # fmt: skip

    def _numbers(self, place: tuple[str, str, str], evidence: AbstractEvidence) -> np.ndarray:
        return evidence.trials(place, self.reads)[self.quantity].dropna().to_numpy(float)
