"""The claim that the features selected most often are relevant ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provlab.claims.evaluators._base import AbstractEvaluator
from provlab.claims.outcome import CONTRADICTED, NOT_RUN, REPLICATED, Finding
from provlab.claims.pairing import AbstractEvidence, Place
from provlab.summaries import TIES, most_frequent


@dataclass(frozen=True, kw_only=True)
class MostFrequentRelevant(AbstractEvaluator):
    """The `top` features selected most often are among the relevant ones, in every row and column.

    A statement about these data: no p-value. The data sets must name their number of relevant features.

    Parameters
    ----------
    rows : tuple of str
    top : int
    """

    rows: tuple[str, ...]
    top: int

    @property
    def reads(self) -> tuple[str, ...]:
        """See the base class."""
        return ("features",)

    def places(self, columns: Sequence[str]) -> list[Place]:
        """See the base class."""
        return [(self.artefact, row, column) for row in self.rows for column in columns]

    def findings(self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]) -> list[Finding]:
        """See the base class; one finding a row, over the columns that are stored."""
        selections = evidence.selections(self.places(columns))
        return [
            self._finding(row, {place: found for place, found in selections.items() if place[1] == row}, evidence)
            for row in self.rows
        ]

    def _finding(
        self, row: str, selections: dict[Place, list[NDArray[np.int32]]], evidence: AbstractEvidence
    ) -> Finding:
        relevant: dict[str, tuple[int, int]] = {}
        ties = evidence.summary(self.artefact).get("ties", TIES[0])
        for place, found in selections.items():
            column = place[-1]
            if found:
                features = most_frequent(found, self.top, ties=ties)
                first_noise = self._n_relevant(row, column, evidence)
                relevant[column] = sum(feature < first_noise for feature in features), len(features)
        if not relevant:
            return Finding(row, NOT_RUN, note=f"nothing stored for {row}")
        short = [f"{k} of {n} in {column}" for column, (k, n) in relevant.items() if k < n]
        return Finding(
            row,
            CONTRADICTED if short else REPLICATED,
            100 * (1 - len(short) / len(relevant)),
            n=len(relevant),
            test=f"all of the top {self.top} relevant",
            unit="% of the columns",
            note=", ".join(short),
        )

    def _n_relevant(self, row: str, column: str, evidence: AbstractEvidence) -> int:
        entries = evidence.entries((self.artefact, row, column))
        if len(entries) != 1 or "n_relevant" not in entries[0].cell.dataset:
            raise ValueError(
                f"most_frequent_relevant: expected one data set with n_relevant in {self.artefact}, {row}, {column}, "
                f"got {', '.join(entry.dataset for entry in entries)}; use it for generated data."
            )
        return int(entries[0].cell.dataset["n_relevant"])
