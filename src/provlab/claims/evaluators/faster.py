"""The claim that a method selects faster than others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from provlab.claims.evaluators._base import AbstractRowEvaluator
from provlab.claims.outcome import CONTRADICTED, NOT_RUN, REPLICATED, Finding
from provlab.claims.pairing import AbstractEvidence, Place
from provlab.reports.frames import TIMES, selection_seconds


@dataclass(frozen=True, kw_only=True)
class Faster(AbstractRowEvaluator):
    """`row` takes less CPU time than each of `than`, in more than a share of the pairs of data set and method.

    Of each method and data set the median over the runs counts. A statement about this machine: no p-value. The effect
    is the share of pairs in which `row` is faster; the note names the others, with the ratio of times.

    Parameters
    ----------
    row : str
    than : tuple of str
    share : float
        0.5 for "most"; just below 1 for "all".
    """

    than: tuple[str, ...]
    share: float

    @property
    def reads(self) -> tuple[str, ...]:
        """See the base class."""
        return tuple(TIMES)

    def places(self, columns: Sequence[str]) -> list[Place]:
        """See the base class."""
        return [(self.artefact, row, column) for row in (self.row, *self.than) for column in columns]

    def findings(self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]) -> list[Finding]:
        """See the base class; one finding."""
        seconds = {row: self._seconds(row, columns, evidence) for row in (self.row, *self.than)}
        ratios = {
            f"{row} on {dataset}": seconds[self.row][dataset] / other
            for row in self.than
            for dataset, other in seconds[row].items()
            if dataset in seconds[self.row]
        }
        if not ratios:
            return [Finding("CPU time", NOT_RUN, note=f"nothing stored for {self.row} and {', '.join(self.than)}")]
        slower = {name: ratio for name, ratio in ratios.items() if ratio >= 1}
        won = 1 - len(slower) / len(ratios)
        return [
            Finding(
                "CPU time",
                REPLICATED if won > self.share else CONTRADICTED,
                100 * won,
                n=len(ratios),
                test=f"median CPU seconds, in more than {100 * self.share:g} % of the pairs",
                unit="% of pairs",
                note=", ".join(f"{ratio:.2f} times {name}" for name, ratio in slower.items()),
            )
        ]

    def _seconds(self, row: str, columns: Sequence[str], evidence: AbstractEvidence) -> dict[str, float]:
        parts = [evidence.trials((self.artefact, row, column), self.reads) for column in columns]
        trials = pd.concat(parts)
        return {} if trials.empty else dict(selection_seconds(trials).groupby(trials["dataset"]).median())
