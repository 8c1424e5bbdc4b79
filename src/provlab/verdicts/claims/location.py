"""Rules about a location in each column, such as the number of features that a method keeps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
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
    """Judge "the location is between `low` and `high`": two one-sided tests for it, and one on each side against it."""
    return (
        Criterion(REPLICATED, inside(low, high), all_columns=True),
        Criterion(CONTRADICTED, (Bound("above", high),)),
        Criterion(CONTRADICTED, (Bound("below", low),)),
    )


@dataclass(frozen=True, kw_only=True)
class AbstractLocation(AbstractRule, ABC):
    """A test of a location in each column on its own, decided by criteria.

    Parameters
    ----------
    over : str
        What the sample consists of: data sets, folds of the only one (corrected resampled t), or, of a comparison,
        draws of a random `row` on one fold, where `than` draws nothing (t).
    alpha : float
    dependence : {"", "dyadic"}
        What data sets share. "dyadic": each is a pair of categories, named ..._<one>_<other>, and those with a category
        in common may be correlated (dyadic-robust t).
    """

    over: str
    alpha: float = ALPHA
    dependence: str = ""

    untested: ClassVar[float | None] = None
    """What a column that could not be tested counts as in a correction: its p-value, or None where it does not."""

    def __post_init__(self) -> None:
        if self.dependence not in ("", "dyadic") or (self.dependence and self.over != "datasets"):
            raise ValueError(
                f"dependence: expected dyadic, over datasets, or nothing, got {self.dependence!r}, over {self.over!r}."
            )

    @property
    @abstractmethod
    def measured(self) -> str:
        """Column of the records."""

    @property
    @abstractmethod
    def criteria(self) -> Criteria:
        """How a column is decided."""

    @property
    def margins(self) -> tuple[float, ...]:
        """Locations at which the verdict turns, beside 0."""
        return tuple(sorted({bound.at for criterion in self.criteria for bound in criterion.bounds} - {0.0}))

    @property
    def sampling(self) -> str:
        """How evidence calls the sample."""
        return self.dependence or self.over

    def findings(self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]) -> list[Finding]:
        """See the base class; one finding a column."""
        return [self._finding(column, evidence, peers) for column in columns]

    def _finding(self, column: str, evidence: AbstractEvidence, peers: Sequence[Any]) -> Finding:
        places, compared = self.places([column]), self.compared(column)
        empty = [place for place in places if not evidence.has(place, self.measured)]
        empty += [place for place in places[:1] for name in self.reads if not evidence.has(place, name)]
        if empty:
            names = dict.fromkeys(row if len(places) == 1 else f"{row} of {name}" for name, row, _ in empty)
            return nothing_stored(column, *names)
        try:
            test = evidence.test(compared, self.sampling, self.measured)
        except UnavailableError as reason:
            return Finding(column, INCONCLUSIVE, note=str(reason))
        unit = {"error": evidence.unit, "n_selected": "features"}.get(self.measured, self.measured)
        found = decide(column, test, self.criteria, self.others(column, evidence, peers), alpha=self.alpha, unit=unit)
        sample = evidence.sample(compared, self.sampling, self.measured)
        n = len(evidence.sample(places, self.sampling, self.measured))
        lost = f"{n - len(sample)} of {n} left out, without an equal number of features" if len(sample) < n else ""
        note = "; ".join(filter(None, (found.note, lost)))
        return replace(found, margins=self.margins, sample=tuple(sample.items()), note=note)

    def compared(self, column: str) -> list[Place]:
        """Return the numbers whose difference is tested in a column, see `AbstractEvidence.test`."""
        return self.places([column])

    def others(self, column: str, evidence: AbstractEvidence, peers: Sequence[Any]) -> list[list[float]]:
        """Return for each criterion the p-values of the rest of the family, see `rules`."""
        beside = column not in self.columns
        found = []
        for k, criterion in enumerate(self.criteria):
            p_values = [
                [
                    p_value
                    for other in (member.also if beside else member.columns)
                    if (member, other) != (self, column) and not (criterion.all_columns and member is self)
                    if (p_value := member.p_values(evidence)[k][other]) is not None
                ]
                for member in self.family(peers)
            ]
            found.append([max(part) for part in p_values if part] if criterion.all_columns else [*chain(*p_values)])
        return found

    def family(self, peers: Sequence[Any]) -> Sequence[AbstractLocation]:
        """Return the rules whose comparisons are corrected together, this one first."""
        return (self,)

    def p_values(self, evidence: AbstractEvidence) -> list[dict[str, float | None]]:
        """Return the uncorrected p-values of each criterion, by column; `untested` where there is none."""
        key = evidence.dataset, self
        if key not in evidence.memory:
            evidence.memory[key] = [
                {column: self._p_value(criterion, column, evidence) for column in (*self.columns, *self.also)}
                for criterion in self.criteria
            ]
        found: list[dict[str, float | None]] = evidence.memory[key]
        return found

    def _p_value(self, criterion: Criterion, column: str, evidence: AbstractEvidence) -> float | None:
        try:
            test = evidence.test(self.compared(column), self.sampling, self.measured)
        except UnavailableError:
            return self.untested
        return criterion.p_value(test)


@dataclass(frozen=True, kw_only=True)
class AbstractCount(AbstractLocation):
    """Mean number of features of `row`; the claims are about means, hence t-tests, also over data sets."""

    row: str
    over: Literal["datasets", "folds"]

    measured = "n_selected"
    reads = ("n_selected",)


@dataclass(frozen=True, kw_only=True)
class CountAbove(AbstractCount):
    """The mean number of features is above `above`."""

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
class CountNear(AbstractCount):
    """The mean number of features is within `within` of `near`."""

    near: float
    within: float

    words = """The mean number of features of {row} is within {within} of {near}: replicated where two one-sided tests
        show it in every column, contradicted where it is shown to be outside in one."""

    @property
    def criteria(self) -> Criteria:
        """See the base class."""
        return near(self.near - self.within, self.near + self.within)
