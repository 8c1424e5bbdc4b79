"""Rules about the features that a method keeps: how many, and which."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from provlab.claims.comparison import near
from provlab.claims.evidence import AbstractEvidence, Place, Sample, Selections, UnavailableError
from provlab.claims.paired_tests import AbstractPairedTest, CorrectedT, DyadicT
from provlab.claims.rules import (
    ALPHA,
    CONTRADICTED,
    INCONCLUSIVE,
    REPLICATED,
    AbstractRowRule,
    AbstractRule,
    Bound,
    Criteria,
    Criterion,
    Finding,
    check_dependence,
    check_one_of,
    decide,
    nothing_stored,
)
from provlab.plan import feature_names_of
from provlab.summaries import TIES, most_frequent


@dataclass(frozen=True, kw_only=True)
class AbstractCounting(AbstractRowRule):
    """Mean number of features of `row`, in each column on its own; the claims are about means, hence t-tests.

    Parameters
    ----------
    row : str
    over : {"datasets", "folds"}
        The sample: means of data sets (independent), or folds of the only one (corrected for their overlap).
    alpha : float
    dependence : {"", "dyadic"}
        "dyadic": data sets are pairs of categories, see `AbstractComparison`.
    """

    over: str
    alpha: float = ALPHA
    dependence: str = ""

    def __post_init__(self) -> None:
        check_one_of("over", self.over, ("datasets", "folds"))
        check_dependence(self.dependence, self.over)

    @property
    @abstractmethod
    def criteria(self) -> Criteria:
        """How a column is decided."""

    @property
    def reads(self) -> tuple[str, ...]:
        """See the base class."""
        return ("n_selected",)

    @property
    def margins(self) -> tuple[float, ...]:
        """Numbers of features at which the verdict turns."""
        return tuple(sorted({bound.at for criterion in self.criteria for bound in criterion.bounds}))

    def findings(self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]) -> list[Finding]:
        """See the base class; one finding a column."""
        found = {place[-1]: self._test(place, evidence) for place in self.places(columns)}
        tests = {column: made[1] for column, made in found.items() if not isinstance(made, Finding)}
        return [
            made if isinstance(made, Finding) else self._decide(column, made[0], tests)
            for column, made in found.items()
        ]

    def _decide(self, column: str, numbers: Sample, tests: Mapping[str, AbstractPairedTest]) -> Finding:
        others = [test for name, test in tests.items() if name != column]
        families = [
            [] if criterion.all_columns else [criterion.p_value(partial(_p_value, test)) for test in others]
            for criterion in self.criteria
        ]
        found = decide(column, tests[column], self.criteria, families, alpha=self.alpha, unit="features")
        return replace(found, margins=self.margins, sample=numbers.named())

    def _test(self, place: Place, evidence: AbstractEvidence) -> tuple[Sample, AbstractPairedTest] | Finding:
        numbers, column = evidence.folds(place, "n_selected"), place[-1]
        if not len(numbers):
            return nothing_stored(column, self.row)
        try:
            if self.over == "folds":
                # What is selected depends on the training rows alone; those of inverse folds are disjoint.
                ratio = 0.0 if evidence.inverse_folds(place) else evidence.overlap(numbers.of_one_data_set())
                return numbers, CorrectedT(numbers.of_one_data_set().at_least_two("folds"), ratio=ratio)
            numbers = numbers.means()
            values = numbers.at_least_two("data sets")
            if self.dependence:
                return numbers, DyadicT(values, pairs=numbers.pairs())
            return numbers, CorrectedT(values, ratio=0.0)
        except UnavailableError as reason:
            return Finding(column, INCONCLUSIVE, note=str(reason))


def _p_value(test: AbstractPairedTest, bound: Bound) -> float:
    return test.p_value(bound.at, bound.alternative)


@dataclass(frozen=True, kw_only=True)
class CountAbove(AbstractCounting):
    """The mean number of features is above `above`.

    Parameters
    ----------
    above : float
    """

    above: float

    words = """The mean number of features of {row} is above {above}: replicated where this is significant, two-sided,
        in every column, contradicted where it is significantly below in one."""

    @property
    def criteria(self) -> Criteria:
        """See the base class."""
        return (
            Criterion(REPLICATED, (Bound("above", self.above, 2),), all_columns=True),
            Criterion(CONTRADICTED, (Bound("below", self.above, 2),)),
        )


@dataclass(frozen=True, kw_only=True)
class CountNear(AbstractCounting):
    """The mean number of features is within `within` of `near`.

    Parameters
    ----------
    near, within : float
        Features.
    """

    near: float
    within: float

    words = """The mean number of features of {row} is within {within} of {near}: replicated where two one-sided tests
        show it in every column, contradicted where it is shown to be outside in one."""

    @property
    def criteria(self) -> Criteria:
        """See the base class."""
        return near(self.near - self.within, self.near + self.within)


@dataclass(frozen=True, kw_only=True)
class MostFrequentRelevant(AbstractRule):
    """The `top` features selected most often are among the relevant ones, in every row and column.

    The data sets must name their number of relevant features.

    Parameters
    ----------
    rows : tuple of str
    top : int
    """

    rows: tuple[str, ...]
    top: int

    words = """The {top} features selected most often by {rows} are among the relevant ones, in every column. A
        statement about these data: no p-value."""

    @property
    def reads(self) -> tuple[str, ...]:
        """See the base class."""
        return ("features",)

    @property
    def row_names(self) -> Sequence[str]:
        """See the base class."""
        return self.rows

    def findings(self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]) -> list[Finding]:
        """See the base class; one finding a row, over the columns that are stored."""
        selections = evidence.selections(self.places(columns))
        return [
            self._finding(row, {place: found for place, found in selections.items() if place[1] == row}, evidence)
            for row in self.rows
        ]

    def _finding(self, row: str, selections: Mapping[Place, Selections], evidence: AbstractEvidence) -> Finding:
        relevant: dict[str, tuple[int, int]] = {}
        for place, found in selections.items():
            if found:
                ties = evidence.summary(self.artefact).get("ties", TIES[0])
                features = most_frequent(found, self.top, ties=ties)
                first_noise = self._n_relevant(place, evidence)
                relevant[place[-1]] = sum(feature < first_noise for feature in features), len(features)
        if not relevant:
            return nothing_stored(row, row)
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

    def _n_relevant(self, place: Place, evidence: AbstractEvidence) -> int:
        entries = evidence.entries(place)
        if len(entries) != 1 or "n_relevant" not in entries[0].cell.dataset:
            raise ValueError(
                f"most_frequent_relevant: expected one data set with n_relevant in {', '.join(place)}, got "
                f"{', '.join(entry.dataset for entry in entries)}; use it for generated data."
            )
        return int(entries[0].cell.dataset["n_relevant"])


@dataclass(frozen=True, kw_only=True)
class AlwaysSelected(AbstractRowRule):
    """All of `features` are in every selection of `row` on `dataset`, in each column.

    The effect is the share of the features that were always selected; the note says of each other one in how many runs
    it was.

    Parameters
    ----------
    row : str
    dataset : str
    features : tuple of str
        Names, as the data set has them.
    """

    dataset: str
    features: tuple[str, ...]

    words = """All of {features} are in every selection of {row} on {dataset}, in each column. The effect is the share
        of these features that were always selected. A statement about these data: no p-value."""

    @property
    def reads(self) -> tuple[str, ...]:
        """See the base class."""
        return ("features",)

    def findings(self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]) -> list[Finding]:
        """See the base class; one finding a column."""
        selections = evidence.selections(self.places(columns))
        return [self._finding(place, found, evidence) for place, found in selections.items()]

    def _finding(self, place: Place, selections: Selections, evidence: AbstractEvidence) -> Finding:
        if not selections:
            return nothing_stored(place[-1], f"{self.row} on {self.dataset}")
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
