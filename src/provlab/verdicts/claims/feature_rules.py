"""Rules about the features that a method keeps, which are statements about the given data without a test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from provlab.core.plan import feature_names_of, places_of_first
from provlab.core.summaries import TIES, most_frequent
from provlab.data import MissingDataError
from provlab.verdicts.claims.evidence import AbstractEvidence, Place, Selections
from provlab.verdicts.claims.rules import (
    CONTRADICTED,
    NOT_RUN,
    NOT_TESTABLE,
    REPLICATED,
    VACUOUS,
    AbstractRule,
    Finding,
    nothing_stored,
)


@dataclass(frozen=True, kw_only=True)
class MostFrequentRelevant(AbstractRule):
    """The `top` most frequently selected features are relevant, in every row and column.

    The data sets must state their number of relevant features, which come first before
    columns are shuffled.

    Parameters
    ----------
    rows : tuple of str
    top : int
    """

    rows: tuple[str, ...]
    top: int

    words = """The {top} features selected most often by {rows} are relevant, in every column. Vacuous: they are
        relevant, but fewer than {top}, because a method that keeps so few cannot show the claim. This is a statement
        about these data, without a p-value."""

    reads = ("features",)

    def findings(
        self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]
    ) -> list[Finding]:
        """Return one finding for each row, over the stored columns."""
        selections = evidence.selections(self.places(columns))
        findings = []
        for row in self.rows:
            of_row = {
                place: chosen
                for place, chosen in selections.items()
                if place[1] == row and chosen
            }
            findings.append(self._finding(row, of_row, evidence))
        return findings

    def _finding(
        self,
        row: str,
        selections: Mapping[Place, Selections],
        evidence: AbstractEvidence,
    ) -> Finding:
        if not selections:
            return nothing_stored(row, row)
        with_others = []
        with_fewer = []
        for place, chosen in selections.items():
            ties = evidence.artefact(self.artefact).summary.get("ties", TIES[0])
            features = most_frequent(chosen, self.top, ties=ties)
            n_relevant = len(self._relevant(place, evidence).intersection(features))
            if n_relevant < len(features):
                with_others.append(f"{n_relevant} of {len(features)} in {place[-1]}")
            if len(features) < self.top:
                with_fewer.append(f"only {len(features)} in {place[-1]}")
        if with_others:
            verdict = CONTRADICTED
        elif with_fewer:
            verdict = VACUOUS
        else:
            verdict = REPLICATED
        return Finding(
            row,
            verdict,
            100 * (1 - len(with_others) / len(selections)),
            n=len(selections),
            test=f"all of the top {self.top} relevant",
            unit="% of the columns",
            note=", ".join(with_others or with_fewer),
        )

    def _relevant(self, place: Place, evidence: AbstractEvidence) -> frozenset[int]:
        """Return the relevant columns, numbered as in the trials."""
        entries = evidence.entries(place)
        if len(entries) != 1 or "n_relevant" not in entries[0].cell.dataset:
            raise ValueError(
                f"most_frequent_relevant: expected one data set with n_relevant in {', '.join(place)}, got "
                f"{', '.join(entry.dataset for entry in entries)}; use it for generated data."
            )
        dataset = entries[0].cell.dataset
        return places_of_first(dataset, int(dataset["n_relevant"]))


@dataclass(frozen=True, kw_only=True)
class AlwaysSelected(AbstractRule):
    """All of `features` are in every selection of `row` on `dataset`, in each column.

    The effect is the share of the features that were always selected. The note says in
    how many runs each of the others was selected, and which are not in the data. A
    printed word may be missing, for instance, because its stem is too short to be kept.

    Parameters
    ----------
    row : str
    dataset : str
    features : tuple of str
        Names as in the data set.
    """

    row: str
    dataset: str
    features: tuple[str, ...]

    words = """All of {features} are in every selection of {row} on {dataset}, in each column. The effect is the share
        of these features that were always selected. Contradicted: a feature of the data is not in every selection. Not
        testable: the data lack some of these features. This is a statement about these data, without a p-value."""

    reads = ("features",)

    def findings(
        self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]
    ) -> list[Finding]:
        """Return one finding for each column."""
        selections = evidence.selections(self.places(columns))
        return [
            self._finding(place, chosen, evidence)
            for place, chosen in selections.items()
        ]

    def _finding(
        self, place: Place, selections: Selections, evidence: AbstractEvidence
    ) -> Finding:
        column = place[-1]
        if not selections:
            return nothing_stored(column, f"{self.row} on {self.dataset}")
        try:
            numbers = self._numbers(place, evidence)
        except MissingDataError as error:
            # for instance if the results come from another machine
            return Finding(
                column,
                NOT_RUN,
                note=f"names of features: data missing, provsel fetch {error.dataset}",
            )
        notes = []
        n_always = 0
        for name, number in numbers.items():
            count = sum(number in features for features in selections)
            if count == len(selections):
                n_always += 1
            else:
                notes.append(f"{name} in {count} of {len(selections)}")
        absent = [
            f"{name} is not a feature of these data"
            for name in self.features
            if name not in numbers
        ]
        if n_always < len(numbers):
            verdict = CONTRADICTED
        elif absent:
            verdict = NOT_TESTABLE
        else:
            verdict = REPLICATED
        return Finding(
            column,
            verdict,
            100 * n_always / len(self.features),
            n=len(selections),
            test="in every selection",
            unit="% of the features",
            note=", ".join([*notes, *absent]),
        )

    def _numbers(self, place: Place, evidence: AbstractEvidence) -> dict[str, int]:
        """Return the number of each feature's column in the data set."""
        [entry] = [
            entry for entry in evidence.entries(place) if entry.dataset == self.dataset
        ]
        numbers = {
            name: number
            for number, name in enumerate(feature_names_of(entry.cell.dataset))
        }
        return {name: numbers[name] for name in self.features if name in numbers}
