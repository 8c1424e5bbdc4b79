"""The claim that some features of one data set are selected in every run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provlab.claims.evaluators._base import AbstractRowEvaluator
from provlab.claims.outcome import CONTRADICTED, NOT_RUN, REPLICATED, Finding
from provlab.claims.pairing import AbstractEvidence, Place
from provlab.plan import feature_names_of


@dataclass(frozen=True, kw_only=True)
class AlwaysSelected(AbstractRowEvaluator):
    """All of `features` are in every selection of `row` on `dataset`, in each column.

    A statement about these data: no p-value. The effect is the share of the features that were always selected; the
    note says of each other one in how many runs it was.

    Parameters
    ----------
    row : str
    dataset : str
    features : tuple of str
        Names, as the data set has them.
    """

    dataset: str
    features: tuple[str, ...]

    @property
    def reads(self) -> tuple[str, ...]:
        """See the base class."""
        return ("features",)

    def findings(self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]) -> list[Finding]:
        """See the base class; one finding a column."""
        selections = evidence.selections(self.places(columns))
        return [self._finding(place, found, evidence) for place, found in selections.items()]

    def _finding(self, place: Place, selections: list[NDArray[np.int32]], evidence: AbstractEvidence) -> Finding:
        if not selections:
            return Finding(place[-1], NOT_RUN, note=f"nothing stored for {self.row} on {self.dataset}")
        numbers = self._numbers(place, evidence)
        counts = {name: sum(number in chosen for chosen in selections) for name, number in numbers.items()}
        short = {name: count for name, count in counts.items() if count < len(selections)}
        return Finding(
            place[-1],
            CONTRADICTED if short else REPLICATED,
            100 * (1 - len(short) / len(counts)),
            n=len(selections),
            test="in every selection",
            unit="% of the features",
            note=", ".join(f"{name} in {count} of {len(selections)}" for name, count in short.items()),
        )

    def _numbers(self, place: Place, evidence: AbstractEvidence) -> dict[str, int]:
        """Return the column of each feature; one that the data set does not have cannot be selected: -1."""
        [entry] = [entry for entry in evidence.entries(place) if entry.dataset == self.dataset]
        names = feature_names_of(entry.cell.dataset)
        found = {name: np.flatnonzero(names == name) for name in self.features}
        return {name: int(where[0]) if where.size else -1 for name, where in found.items()}
