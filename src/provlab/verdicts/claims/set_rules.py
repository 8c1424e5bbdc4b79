"""Rules about statistics of many methods on each data set: ranks, correlations, and shares of data sets.

Each statistic is averaged over data sets, or over groups of them, and tested by
Student's t, because claims are about means. Shares are tested by the binomial
distribution. docs/measured/statement_rules.csv shows how often these rules err.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from provlab.verdicts.claims.comparison import LESS_IS_BETTER, check_quantity
from provlab.verdicts.claims.evidence import AbstractEvidence, Place, Sample
from provlab.verdicts.claims.location import at_most, near
from provlab.verdicts.claims.paired_tests import (
    AbstractPairedTest,
    CorrectedT,
    Floats,
    ShareTest,
)
from provlab.verdicts.claims.rules import (
    ALPHA,
    CONTRADICTED,
    INCONCLUSIVE,
    REPLICATED,
    AbstractRule,
    Bound,
    Criteria,
    Criterion,
    Finding,
    decide,
    nothing_stored,
)

MIN_SETS = 5
"""The mean of ranks or shares is not tested with fewer observations."""


@dataclass(frozen=True, kw_only=True)
class AbstractSetStatistic(AbstractRule, ABC):
    """A test of the mean of a statistic over data sets, in one column.

    Parameters
    ----------
    over : {"datasets", "sources", "domains"}
    quantity : str
        The measure by which methods are compared, by default the error.
    alpha : float
    """

    over: Literal["datasets", "sources", "domains"]
    quantity: str = ""
    alpha: float = ALPHA

    unit = ""

    def __post_init__(self) -> None:
        check_quantity(self.quantity)
        if len(self.columns) != 1:
            raise ValueError(
                f"columns: expected a single column, got {'; '.join(self.columns)}."
            )

    @property
    @abstractmethod
    def criteria(self) -> Criteria:
        """The criteria for a mean."""

    @abstractmethod
    def statistics(
        self, values: pd.DataFrame, evidence: AbstractEvidence
    ) -> pd.DataFrame:
        """Compute the tested statistics (data sets x parts of the claim) from a measure (data sets x places)."""

    def test_of(self, values: Floats) -> AbstractPairedTest:
        """Return the test of the mean of the given values."""
        return CorrectedT(values, ratio=0.0)

    @property
    def measured(self) -> str:
        """The tested column of the records."""
        return self.quantity or "error"

    @property
    def measure_words(self) -> dict[str, str]:
        """The measure."""
        return {"measure": self.measured}

    @property
    def reads(self) -> tuple[str, ...]:
        """Columns of the records that the rule reads in addition to `FOLD_COLUMNS`."""
        return (self.quantity,) if self.quantity else ()

    @property
    def less_is_better(self) -> bool:
        """Whether lower values of the measure are better."""
        return self.measured in LESS_IS_BETTER

    def findings(
        self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]
    ) -> list[Finding]:
        """Return one finding for each part; corrected over all parts if one part suffices (Holm)."""
        places = self.places(columns)
        absent = [
            row
            for artefact, row, column in places
            if not evidence.has((artefact, row, column), self.measured)
        ]
        if absent:
            return [nothing_stored(columns[0], *dict.fromkeys(absent))]
        statistics = self.statistics(
            evidence.dataset_means(places, self.measured), evidence
        )
        samples: dict[str, Sample] = {}
        for name, values in statistics.items():
            samples[str(name)] = evidence.grouped(values.dropna().to_dict(), self.over)
        n = min(len(sample) for sample in samples.values())
        if n < MIN_SETS:
            return [
                Finding(
                    columns[0],
                    INCONCLUSIVE,
                    note=f"needs at least {MIN_SETS} {self.over}, found {n}",
                )
            ]
        tests = {
            name: self.test_of(np.array([*sample.values()]))
            for name, sample in samples.items()
        }
        findings = []
        for name, test in tests.items():
            family: list[list[float]] = []
            for criterion in self.criteria:
                parts = [
                    part
                    for part in tests.values()
                    if part is not test and not criterion.all_columns
                ]
                family.append([criterion.p_value(part) for part in parts])
            finding = decide(
                name,
                test,
                self.criteria,
                family,
                alpha=self.alpha,
                unit=self.unit,
                plans=evidence.plans,
            )
            margins = tuple(
                sorted(
                    {
                        bound.at
                        for criterion in self.criteria
                        for bound in criterion.bounds
                    }
                )
            )
            findings.append(
                replace(finding, margins=margins, sample=tuple(samples[name].items()))
            )
        return findings


@dataclass(frozen=True, kw_only=True)
class RankWithin(AbstractSetStatistic):
    """Each of `rows` is among the best of the given methods: its mean relative rank does not exceed a share.

    Parameters
    ----------
    rows : tuple of str
    among : tuple of str
        The methods that are ranked, including `rows`.
    at_most : float
        Largest mean relative rank; 0 stands for the first rank, 1 for the last.
    """

    rows: tuple[str, ...]
    among: tuple[str, ...]
    at_most: float

    unit = "of the ranks"
    words = """The mean rank by {measure} of each of {rows} among {among} is in the first {at_most} of the ranks, where
        0 is the first rank and 1 the last. Replicated: shown for each; contradicted: shown not to hold for at least
        one."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not {*self.rows} <= {*self.among} or len(self.among) < 3:
            raise ValueError(
                f"among: expected three or more methods, which include {'; '.join(self.rows)}, got {self.among}."
            )

    @property
    def row_names(self) -> tuple[str, ...]:
        """The methods whose results the rule reads."""
        return self.among

    @property
    def criteria(self) -> Criteria:
        """The criteria for a mean."""
        return at_most(self.at_most)

    def statistics(
        self, values: pd.DataFrame, evidence: AbstractEvidence
    ) -> pd.DataFrame:
        """Return the relative ranks of the rows."""
        ranks = values.rank(axis=1, ascending=self.less_is_better)
        relative = (ranks - 1) / (len(self.among) - 1)
        return relative[[*self.rows]]


@dataclass(frozen=True, kw_only=True)
class Correlated(AbstractSetStatistic):
    """The rank correlation between two measures across methods is between two numbers, on average over data sets.

    Parameters
    ----------
    among : tuple of str
    beside : str
        The second measure.
    low, high : float
    """

    among: tuple[str, ...]
    beside: str
    low: float
    high: float

    unit = "of correlation"
    words = """On average over data sets, Spearman's rank correlation between {measure} and {beside} across {among} is
        between {low} and {high}. Replicated: shown to lie inside; contradicted: shown to lie outside."""

    @property
    def reads(self) -> tuple[str, ...]:
        """Columns of the records that the rule reads in addition to `FOLD_COLUMNS`."""
        return (*super().reads, self.beside)

    @property
    def row_names(self) -> tuple[str, ...]:
        """The methods whose results the rule reads."""
        return self.among

    @property
    def criteria(self) -> Criteria:
        """The criteria for a mean."""
        return near(self.low, self.high)

    def statistics(
        self, values: pd.DataFrame, evidence: AbstractEvidence
    ) -> pd.DataFrame:
        """Return the correlations; NaN if either measure is constant over methods."""
        beside = evidence.dataset_means(self.places(self.columns), self.beside)
        correlations = values.rank(axis=1).corrwith(beside.rank(axis=1), axis=1)
        return pd.DataFrame({"correlation": correlations})


@dataclass(frozen=True, kw_only=True)
class ShareOfSets(AbstractSetStatistic):
    """On a share of the data sets, each of `rows` beats the best of `than`, or is behind it by less than a margin.

    Parameters
    ----------
    rows, than : tuple of str
    margin : float
        Largest distance behind the best. With 0, the default, a row has to be ahead.
    best : bool
        Whether to test only the best of `rows` instead of each.
    at_least, at_most : float
        Shares of the data sets.
    than_column : str
        The column of `than`; by default the column of `rows`.
    """

    rows: tuple[str, ...]
    than: tuple[str, ...]
    margin: float = 0.0
    best: bool = False
    at_least: float = 0.0
    at_most: float = 1.0
    than_column: str = ""

    unit = "of the data sets"
    words = """The share of the data sets on which {who} is less than {margin} {unit_of_measure} behind the best of
        {than} by {measure} is at least {at_least} and at most {at_most}. Replicated: shown to hold; contradicted: shown
        not to hold. The best of several measured values slightly overstates the best method."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if (
            not 0 <= self.at_least < self.at_most <= 1
            or self.at_most - self.at_least == 1
        ):
            raise ValueError(
                f"at_least, at_most: expected two shares, the first below the second, and not 0 and 1, got "
                f"{self.at_least}, "
                f"{self.at_most}."
            )

    @property
    def measure_words(self) -> dict[str, str]:
        """The measure, and the rows that are compared with the best."""
        names = "; ".join(self.rows)
        who = f"the best of {names}" if self.best else f"each of {names}"
        unit = f"in {self.quantity}" if self.quantity else "percentage points"
        return {"measure": self.measured, "who": who, "unit_of_measure": unit}

    def places(self, columns: Sequence[str] | None = None) -> list[Place]:
        """Return the numbers of the rows in the column, and those of the other methods in their column."""
        [column] = self.columns if columns is None else columns
        places = [(self.artefact, row, column) for row in self.rows]
        places += [
            (self.artefact, row, self.than_column or column) for row in self.than
        ]
        return list(dict.fromkeys(places))

    @property
    def criteria(self) -> Criteria:
        """The criteria for a share."""
        if self.at_least == 0:
            return at_most(self.at_most)
        if self.at_most == 1:
            return (
                Criterion(
                    REPLICATED, (Bound("above", self.at_least),), all_columns=True
                ),
                Criterion(CONTRADICTED, (Bound("below", self.at_least),)),
            )
        return near(self.at_least, self.at_most)

    def test_of(self, values: Floats) -> AbstractPairedTest:
        """Return the test of a share."""
        return ShareTest(values)

    def statistics(
        self, values: pd.DataFrame, evidence: AbstractEvidence
    ) -> pd.DataFrame:
        """Return 1 if a row is within the margin of the best, otherwise 0."""
        costs = values if self.less_is_better else -values
        behind = costs[[*self.rows]]
        if self.best:
            behind = behind.min(axis=1).to_frame("best of the rows")
        behind = behind.sub(costs[[*self.than]].min(axis=1), axis=0)
        return (behind < self.margin).astype(float)


@dataclass(frozen=True, kw_only=True)
class Between(AbstractSetStatistic):
    """The mean of a measure is between two numbers for each of `rows`.

    Parameters
    ----------
    rows : tuple of str
    low, high : float
        The two numbers; in percent for errors.
    """

    rows: tuple[str, ...]
    low: float
    high: float

    words = """The mean {measure} of each of {rows} is between {low} and {high}. Replicated: shown to be inside for
        each; contradicted: shown to be outside for at least one."""

    @property
    def criteria(self) -> Criteria:
        """The criteria for a mean."""
        return near(self.low, self.high)

    def statistics(
        self, values: pd.DataFrame, evidence: AbstractEvidence
    ) -> pd.DataFrame:
        """Return the measure itself."""
        return values
