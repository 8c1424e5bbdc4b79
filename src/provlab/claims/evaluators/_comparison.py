"""Comparisons of two methods, or of one method under two settings."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, ClassVar

from provlab.claims.decisions import Criterion, Rule, decide
from provlab.claims.evaluators._base import ALPHA, AbstractEvaluator, check_dependence
from provlab.claims.outcome import INCONCLUSIVE, NOT_RUN, Finding, UnavailableError
from provlab.claims.pairing import OVER, AbstractEvidence, Place


@dataclass(frozen=True, kw_only=True)
class AbstractComparison(AbstractEvaluator):
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
        if self.over not in (*OVER, "draws"):
            raise ValueError(f"over: expected one of {', '.join(OVER)}, draws, got {self.over!r}.")
        check_dependence(self.dependence, self.over)

    def pair(self, column: str) -> tuple[Place, Place]:
        """Return both numbers of a column."""
        return (self.artefact, self.row, column), (self.than_artefact or self.artefact, self.than, column)

    def places(self, columns: Sequence[str]) -> list[Place]:
        """See the base class."""
        return [place for column in columns for place in self.pair(column)]

    def findings(self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]) -> list[Finding]:
        """See the base class; one finding a column."""
        return [self._finding(column, evidence, peers) for column in columns]

    @property
    @abstractmethod
    def rule(self) -> Rule:
        """How a column is decided."""

    @property
    def margins(self) -> tuple[float, ...]:
        """Differences in percentage points at which the verdict turns, beside 0."""
        return tuple(sorted({bound.at for criterion in self.rule for bound in criterion.bounds} - {0.0}))

    @property
    def family(self) -> tuple[str, ...]:
        """Comparisons of one kind with the same family are corrected together."""
        return self.artefact, self.than_artefact, self.sampling, self.dataset

    @property
    def sampling(self) -> str:
        """How `Evidence.paired_test` calls the sample."""
        return self.dependence or self.over

    def _finding(self, column: str, evidence: AbstractEvidence, peers: Sequence[AbstractComparison]) -> Finding:
        empty = [f"{place[1]} of {place[0]}" for place in self.pair(column) if not len(evidence.folds(place))]
        if empty:
            return Finding(column, NOT_RUN, note=f"nothing stored for {', '.join(empty)}")
        try:
            test = evidence.paired_test(*self.pair(column), self.sampling)
        except UnavailableError as reason:
            return Finding(column, INCONCLUSIVE, note=str(reason))
        others = self._others(column, evidence, peers)
        found = decide(column, test, self.rule, others, alpha=self.alpha, unit=evidence.unit)
        return replace(found, margins=self.margins, sample=evidence.sample(*self.pair(column), self.sampling))

    def _others(
        self, column: str, evidence: AbstractEvidence, peers: Sequence[AbstractComparison]
    ) -> list[list[float]]:
        """Return for each criterion the p-values of the rest of the family, see `decisions`."""
        members = {(self.row, self.than): self}
        for peer in peers:
            if peer.family == self.family:
                members.setdefault((peer.row, peer.than), peer)
        beside = column not in self.columns
        found = []
        for k, criterion in enumerate(self.rule):
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
        """Return the uncorrected p-values of each criterion of the rule, by column; 1 where there is none."""
        if self not in evidence.p_values_of:
            columns, rule = [*self.columns, *self.also], self.rule
            evidence.p_values_of[self] = [
                {column: self._p_value(criterion, column, evidence) for column in columns} for criterion in rule
            ]
        return evidence.p_values_of[self]

    def _p_value(self, criterion: Criterion, column: str, evidence: AbstractEvidence) -> float:
        pair = self.pair(column)
        try:
            return criterion.p_value(lambda bound: evidence.p_value(*pair, self.sampling, bound.at, bound.alternative))
        except UnavailableError:
            return 1.0


@dataclass(frozen=True, kw_only=True)
class AbstractMarginComparison(AbstractComparison):
    """A comparison whose verdict is a rule of `decisions` with a margin.

    Parameters
    ----------
    margin : float
        Percentage points.
    """

    margin: float
    rule_of: ClassVar[Callable[..., Rule]]

    @property
    def rule(self) -> Rule:
        """See the base class."""
        return type(self).rule_of(self.margin)
