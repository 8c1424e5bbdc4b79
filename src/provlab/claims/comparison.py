"""Rules that compare the error of two methods, or of one method under two settings."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from provlab.claims.evidence import AbstractEvidence, Place, UnavailableError
from provlab.claims.rules import (
    ALPHA,
    CONTRADICTED,
    INCONCLUSIVE,
    NO_DIFFERENCE,
    NOT_RUN,
    REPLICATED,
    AbstractRule,
    Bound,
    Criteria,
    Criterion,
    Finding,
    check_dependence,
    check_one_of,
    decide,
    inside,
    nothing_stored,
)


def better(margin: float) -> Criteria:
    """Return the criteria of `Better`."""
    return (
        Criterion(REPLICATED, (Bound("below", 0.0, 2),), all_columns=True),
        Criterion(CONTRADICTED, (Bound("above", 0.0, 2),)),
        Criterion(NO_DIFFERENCE, inside(-margin, margin)),
    )


def better_somewhere(margin: float) -> Criteria:
    """Return the criteria of `BetterSomewhere`."""
    return (
        Criterion(REPLICATED, (Bound("below", 0.0),)),
        Criterion(NO_DIFFERENCE, inside(-margin, margin), all_columns=True),
        Criterion(CONTRADICTED, (Bound("above", -margin),), all_columns=True),
    )


def near(low: float, high: float) -> Criteria:
    """Judge "the location is between `low` and `high`": two one-sided tests for it, and one on each side against it."""
    return (
        Criterion(REPLICATED, inside(low, high), all_columns=True),
        Criterion(CONTRADICTED, (Bound("above", high),)),
        Criterion(CONTRADICTED, (Bound("below", low),)),
    )


def comparable(margin: float) -> Criteria:
    """Return the criteria of `Comparable`."""
    return near(-margin, margin)


def not_worse(margin: float) -> Criteria:
    """Return the criteria of `NotWorse`."""
    return (
        Criterion(REPLICATED, (Bound("below", margin),), all_columns=True),
        Criterion(CONTRADICTED, (Bound("above", margin),)),
    )


def slightly_worse(most: float) -> Criteria:
    """Return the criteria of `SlightlyWorse`."""
    return (
        Criterion(REPLICATED, (Bound("above", 0.0, 2), Bound("below", most)), all_columns=True),
        Criterion(CONTRADICTED, (Bound("below", 0.0, 2),)),
        Criterion(CONTRADICTED, (Bound("above", most, 2),)),
    )


@dataclass(frozen=True, kw_only=True)
class AbstractComparison(AbstractRule):
    """Error of a row against the error of another, in each column on its own.

    Parameters
    ----------
    row, than : str
    than_artefact : str
        Where `than` stands, when not in the same artefact; its columns have the same names.
    over : {"datasets", "folds", "draws"}
        What the sample consists of: data sets (signed rank), folds of the only one (corrected resampled t), or draws
        of a random `row` on one fold, where `than` draws nothing (t).
    alpha : float
    dependence : {"", "dyadic"}
        What data sets share. "dyadic": each is a pair of categories, named ..._<one>_<other>, and those with a category
        in common may be correlated (dyadic-robust t in place of the signed rank).
    """

    row: str
    than: str
    over: str
    than_artefact: str = ""
    alpha: float = ALPHA
    dependence: str = ""

    def __post_init__(self) -> None:
        check_one_of("over", self.over, ("datasets", "folds", "draws"))
        check_dependence(self.dependence, self.over)

    @property
    @abstractmethod
    def criteria(self) -> Criteria:
        """How a column is decided."""

    @property
    def row_names(self) -> Sequence[str]:
        """See the base class; `than` may stand in another artefact."""
        return self.row, self.than

    def pair(self, column: str) -> tuple[Place, Place]:
        """Return both numbers of a column."""
        return (self.artefact, self.row, column), (self.than_artefact or self.artefact, self.than, column)

    def places(self, columns: Sequence[str] | None = None) -> list[Place]:
        """See the base class."""
        chosen = (*self.columns, *self.also) if columns is None else columns
        return [place for column in chosen for place in self.pair(column)]

    @property
    def margins(self) -> tuple[float, ...]:
        """Differences at which the verdict turns, beside 0."""
        return tuple(sorted({bound.at for criterion in self.criteria for bound in criterion.bounds} - {0.0}))

    @property
    def family(self) -> tuple[str, ...]:
        """Comparisons of one kind with the same family are corrected together."""
        return self.artefact, self.than_artefact, self.sampling, self.dataset

    @property
    def sampling(self) -> str:
        """How evidence calls the sample."""
        return self.dependence or self.over

    def findings(self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]) -> list[Finding]:
        """See the base class; one finding a column."""
        return [self._finding(column, evidence, peers) for column in columns]

    def _finding(self, column: str, evidence: AbstractEvidence, peers: Sequence[AbstractComparison]) -> Finding:
        empty = [f"{place[1]} of {place[0]}" for place in self.pair(column) if not len(evidence.folds(place))]
        if empty:
            return nothing_stored(column, *empty)
        try:
            test = evidence.paired_test(*self.pair(column), self.sampling)
        except UnavailableError as reason:
            return Finding(column, INCONCLUSIVE, note=str(reason))
        others = self._others(column, evidence, peers)
        found = decide(column, test, self.criteria, others, alpha=self.alpha, unit=evidence.unit)
        sample = evidence.differences(*self.pair(column), self.sampling).named()
        return replace(found, margins=self.margins, sample=sample)

    def _others(
        self, column: str, evidence: AbstractEvidence, peers: Sequence[AbstractComparison]
    ) -> list[list[float]]:
        """Return for each criterion the p-values of the rest of the family, see `rules`."""
        members = {(self.row, self.than): self}
        for peer in peers:
            if peer.family == self.family:
                members.setdefault((peer.row, peer.than), peer)
        beside = column not in self.columns
        found = []
        for k, criterion in enumerate(self.criteria):
            p_values = [
                [
                    member.p_values(evidence)[k][other]
                    for other in (member.also if beside else member.columns)
                    if (member, other) != (self, column) and not (criterion.all_columns and member is self)
                ]
                for member in members.values()
            ]
            found.append([max(part) for part in p_values if part] if criterion.all_columns else [*chain(*p_values)])
        return found

    def p_values(self, evidence: AbstractEvidence) -> list[dict[str, float]]:
        """Return the uncorrected p-values of each criterion, by column; 1 where there is none."""
        columns = [*self.columns, *self.also]
        return evidence.once(
            lambda: [
                {column: self._p_value(criterion, column, evidence) for column in columns}
                for criterion in self.criteria
            ],
            self,
        )

    def _p_value(self, criterion: Criterion, column: str, evidence: AbstractEvidence) -> float:
        pair = self.pair(column)
        try:
            return criterion.p_value(lambda bound: evidence.p_value(*pair, self.sampling, bound.at, bound.alternative))
        except UnavailableError:
            return 1.0


@dataclass(frozen=True, kw_only=True)
class Better(AbstractComparison):
    """`row` has a lower error than `than`.

    Parameters
    ----------
    margin : float
        Percentage points within which both count as the same.
    """

    margin: float

    words = """{row} has a lower error than {than}. Replicated: significantly lower, two-sided, in every column.
        Contradicted: significantly higher in one. No difference: in one shown to be the same within the margin of
        {margin} (TOST), where it is neither."""

    @property
    def criteria(self) -> Criteria:
        """See the base class."""
        return better(self.margin)


@dataclass(frozen=True, kw_only=True)
class BetterSomewhere(AbstractComparison):
    """`row` has a lower error than `than` in at least one column.

    Parameters
    ----------
    margin : float
        Percentage points.
    """

    margin: float

    words = """{row} has a lower error than {than} in at least one column. Replicated: significantly lower in one,
        one-sided. No difference: shown to be the same within the margin of {margin} in every column (TOST).
        Contradicted: in every column shown to be lower by less than the margin, if at all."""

    @property
    def criteria(self) -> Criteria:
        """See the base class."""
        return better_somewhere(self.margin)

    def findings(self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]) -> list[Finding]:
        """See the base class; one finding, that of the column that says most."""
        parts = [part for part in super().findings(columns, evidence, peers) if part.verdict != NOT_RUN]
        if not parts:
            return [nothing_stored("any column", f"{self.row} and {self.than}")]
        verdicts, refuted = {part.verdict for part in parts}, {NO_DIFFERENCE, CONTRADICTED}
        won = [part.part for part in parts if part.verdict == REPLICATED]
        if won:
            verdict = REPLICATED
        elif len(verdicts) == 1:
            [verdict] = verdicts
        else:
            verdict = CONTRADICTED if verdicts <= refuted else INCONCLUSIVE
        order = max if verdict in refuted else min  # of all columns the weakest counts, else the clearest
        best = order((part for part in parts if part.verdict == verdict), key=lambda part: (part.p_value, part.effect))
        note = f"better in {len(won)} of {len(parts)} columns" + (f": {', '.join(won)}" if won else "")
        return [replace(best, verdict=verdict, note=note)]


@dataclass(frozen=True, kw_only=True)
class Comparable(AbstractComparison):
    """`row` and `than` differ by less than a margin.

    Parameters
    ----------
    margin : float
        Percentage points.
    """

    margin: float

    words = """{row} and {than} differ by less than {margin}. Replicated: shown to be the same within this margin in
        every column (TOST). Contradicted: shown to differ by more in one, which is where the interval lies wholly
        outside."""

    @property
    def criteria(self) -> Criteria:
        """See the base class."""
        return comparable(self.margin)


@dataclass(frozen=True, kw_only=True)
class NotWorse(AbstractComparison):
    """The error of `row` is less than a margin above that of `than`.

    Parameters
    ----------
    margin : float
        Percentage points.
    """

    margin: float

    words = """The error of {row} is less than {margin} above that of {than}. Replicated: shown to be so in every
        column. Contradicted: shown to be more above in one."""

    @property
    def criteria(self) -> Criteria:
        """See the base class."""
        return not_worse(self.margin)


@dataclass(frozen=True, kw_only=True)
class SlightlyWorse(AbstractComparison):
    """`row` has a higher error than `than`, by less than `most`.

    Parameters
    ----------
    most : float
        Percentage points beyond which nobody would say "slightly".
    """

    most: float

    words = """{row} has a higher error than {than}, by less than {most}. Replicated: significantly above 0, two-sided,
        and significantly below {most} in every column. Contradicted: significantly below 0, or significantly above
        {most}, two-sided, in one."""

    @property
    def criteria(self) -> Criteria:
        """See the base class."""
        return slightly_worse(self.most)
