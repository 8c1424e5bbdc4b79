"""Rules about a location in each column, for example the mean number of features that a method keeps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from provlab.verdicts.claims.evidence import AbstractEvidence, Place, UnavailableError
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
    inside,
    nothing_stored,
)


def near(low: float, high: float) -> Criteria:
    """Judge "the location is between `low` and `high`" by two one-sided tests for it, and two against it."""
    return (
        Criterion(REPLICATED, inside(low, high), all_columns=True),
        Criterion(CONTRADICTED, (Bound("above", high),)),
        Criterion(CONTRADICTED, (Bound("below", low),)),
    )


def at_most(most: float) -> Criteria:
    """Judge "the location is at most a number" by one-sided tests for it and against it."""
    return (
        Criterion(REPLICATED, (Bound("below", most),), all_columns=True),
        Criterion(CONTRADICTED, (Bound("above", most),)),
    )


@dataclass(frozen=True, kw_only=True)
class AbstractLocation(AbstractRule, ABC):
    """A test of a location in each column separately, decided by criteria.

    Parameters
    ----------
    over : str
        Units of the sample: data sets; folds of a single data set (corrected resampled
        t); or, for a comparison with a deterministic `than`, draws of a random `row` on
        one fold (t).
    alpha : float
    dependence : {"", "dyadic"}
        Dependence between data sets. "dyadic": each data set is a pair of categories,
        named ..._<one>_<other>, and data sets with a common category may be correlated
        (dyadic-robust t).
    """

    over: str
    alpha: float = ALPHA
    dependence: str = ""

    untested: ClassVar[float | None] = None
    """P-value of a column that could not be tested, for corrections; None if it does not count."""

    def __post_init__(self) -> None:
        if self.dependence not in ("", "dyadic") or (
            self.dependence and self.over != "datasets"
        ):
            raise ValueError(
                f"dependence: expected dyadic together with over: datasets, or no dependence, got "
                f"{self.dependence!r}, over {self.over!r}."
            )

    @property
    @abstractmethod
    def measured(self) -> str:
        """The tested column of the records."""

    @property
    @abstractmethod
    def criteria(self) -> Criteria:
        """The criteria for a column."""

    @property
    def margins(self) -> tuple[float, ...]:
        """Locations other than 0 at which the verdict changes."""
        return tuple(
            sorted(
                {bound.at for criterion in self.criteria for bound in criterion.bounds}
                - {0.0}
            )
        )

    @property
    def sampling(self) -> str:
        """Name of the sample, as the evidence uses it."""
        return self.dependence or self.over

    def findings(
        self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]
    ) -> list[Finding]:
        """Return one finding for each column."""
        return [self._finding(column, evidence, peers) for column in columns]

    def _finding(
        self, column: str, evidence: AbstractEvidence, peers: Sequence[Any]
    ) -> Finding:
        absent = self.absent_rows(column, evidence)
        if absent:
            return nothing_stored(column, *absent)
        compared = self.compared(column)
        try:
            test = evidence.test(compared, self.sampling, self.measured)
        except UnavailableError as reason:
            return Finding(column, INCONCLUSIVE, note=str(reason))
        unit = {"error": evidence.unit, "n_selected": "features"}.get(
            self.measured, self.measured
        )
        family = self.family_p_values(column, evidence, peers)
        finding = decide(
            column,
            test,
            self.criteria,
            family,
            alpha=self.alpha,
            unit=unit,
            plans=evidence.plans,
        )
        sample = evidence.sample(compared, self.sampling, self.measured)
        n = len(evidence.sample(self.places([column]), self.sampling, self.measured))
        notes = [finding.note] if finding.note else []
        if len(sample) < n:
            notes.append(
                f"{n - len(sample)} of {n} left out, without an equal number of features"
            )
        return replace(
            finding,
            margins=self.margins,
            sample=tuple(sample.items()),
            note="; ".join(notes),
        )

    def absent_rows(self, column: str, evidence: AbstractEvidence) -> list[str]:
        """Return the rows without stored results in a column, with their artefacts if these differ."""
        places = self.places([column])
        empty = [place for place in places if not evidence.has(place, self.measured)]
        empty += [places[0] for name in self.reads if not evidence.has(places[0], name)]
        if len(places) == 1:
            return list(dict.fromkeys(row for _, row, _ in empty))
        return list(dict.fromkeys(f"{row} of {artefact}" for artefact, row, _ in empty))

    def compared(self, column: str) -> list[Place]:
        """Return the numbers whose difference is tested in a column, see `AbstractEvidence.test`."""
        return self.places([column])

    def family_p_values(
        self, column: str, evidence: AbstractEvidence, peers: Sequence[Any]
    ) -> list[list[float]]:
        """Return the p-values of the rest of the family for each criterion, see `rules`."""
        is_beside = column not in self.columns
        p_values: list[list[float]] = []
        for k, criterion in enumerate(self.criteria):
            p_values.append([])
            for member in self.family(peers):
                if criterion.all_columns and member is self:
                    continue
                columns = member.also if is_beside else member.columns
                part = [
                    p_value
                    for name in columns
                    if (member, name) != (self, column)
                    and (p_value := member.p_values(evidence)[k][name]) is not None
                ]
                p_values[k] += [max(part)] if criterion.all_columns and part else part
        return p_values

    def family(self, peers: Sequence[Any]) -> Sequence[AbstractLocation]:
        """Return the rules whose comparisons are corrected together, beginning with this one."""
        return (self,)

    def p_values(self, evidence: AbstractEvidence) -> list[dict[str, float | None]]:
        """Return the uncorrected p-values of each criterion, by column; `untested` if there is none."""
        key = (evidence.lines_asked, self)
        if key not in evidence.memory:
            evidence.memory[key] = [
                self._by_column(criterion, evidence) for criterion in self.criteria
            ]
        p_values: list[dict[str, float | None]] = evidence.memory[key]
        return p_values

    def _by_column(
        self, criterion: Criterion, evidence: AbstractEvidence
    ) -> dict[str, float | None]:
        p_values: dict[str, float | None] = {}
        for column in (*self.columns, *self.also):
            try:
                test = evidence.test(
                    self.compared(column), self.sampling, self.measured
                )
                p_values[column] = criterion.p_value(test)
            except UnavailableError:
                p_values[column] = self.untested
        return p_values


@dataclass(frozen=True, kw_only=True)
class AbstractCount(AbstractLocation):
    """Mean number of features of `row`; claims are about means, so t-tests are used even over data sets."""

    row: str
    over: Literal["datasets", "folds"]

    measured = "n_selected"
    reads = ("n_selected",)


@dataclass(frozen=True, kw_only=True)
class CountAbove(AbstractCount):
    """The mean number of features is above `above`."""

    above: float

    words = """The mean number of features of {row} is above {above}: replicated if this is significant in every column
        (two-sided), contradicted if it is significantly below in at least one."""

    @property
    def criteria(self) -> Criteria:
        """The criteria for a column."""
        return (
            Criterion(REPLICATED, (Bound("above", self.above, 2),), all_columns=True),
            Criterion(CONTRADICTED, (Bound("below", self.above, 2),)),
        )


@dataclass(frozen=True, kw_only=True)
class CountNear(AbstractCount):
    """The mean number of features is within `within` of `near`."""

    near: float
    within: float

    words = """The mean number of features of {row} is within {within} of {near}: replicated if two one-sided tests show
        this in every column, contradicted if it is shown to be outside in at least one."""

    @property
    def criteria(self) -> Criteria:
        """The criteria for a column."""
        return near(self.near - self.within, self.near + self.within)
