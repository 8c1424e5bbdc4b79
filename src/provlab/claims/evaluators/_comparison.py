"""Comparisons of two methods, or of one method under two settings."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from provlab.claims.evaluators._base import ALPHA, AbstractEvaluator
from provlab.claims.evidence import OVER, Evidence, Place
from provlab.claims.outcome import INCONCLUSIVE, NOT_RUN, Finding, UnavailableError
from provlab.claims.statistics import AbstractPairedTest


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
    """

    row: str
    than: str
    over: str
    than_artefact: str = ""
    alpha: float = ALPHA

    def __post_init__(self) -> None:
        if self.over not in (*OVER, "draws"):
            raise ValueError(f"over: expected one of {', '.join(OVER)}, draws, got {self.over!r}.")

    def pair(self, column: str) -> tuple[Place, Place]:
        """Return both numbers of a column."""
        return (self.artefact, self.row, column), (self.than_artefact or self.artefact, self.than, column)

    def places(self, columns: Sequence[str]) -> list[Place]:
        """See the base class."""
        return [place for column in columns for place in self.pair(column)]

    def findings(self, columns: Sequence[str], evidence: Evidence, peers: Sequence[Any]) -> list[Finding]:
        """See the base class; one finding a column."""
        return [self._finding(column, evidence, peers) for column in columns]

    @abstractmethod
    def decide(self, column: str, test: AbstractPairedTest, evidence: Evidence, peers: Sequence[Any]) -> Finding:
        """Return the verdict on a column from the test of its differences."""

    def _finding(self, column: str, evidence: Evidence, peers: Sequence[Any]) -> Finding:
        empty = [f"{place[1]} of {place[0]}" for place in self.pair(column) if not len(evidence.folds(place))]
        if empty:
            return Finding(column, NOT_RUN, note=f"nothing stored for {', '.join(empty)}")
        try:
            test = evidence.paired_test(*self.pair(column), self.over)
        except UnavailableError as reason:
            return Finding(column, INCONCLUSIVE, note=str(reason))
        found = self.decide(column, test, evidence, peers)
        return replace(found, margins=self.margins, sample=evidence.sample(*self.pair(column), self.over))

    @property
    @abstractmethod
    def margins(self) -> tuple[float, ...]:
        """Differences in percentage points at which the verdict turns, beside 0."""


@dataclass(frozen=True, kw_only=True)
class AbstractMarginComparison(AbstractComparison):
    """A comparison whose verdict is one rule of `decisions` with a margin.

    Parameters
    ----------
    margin : float
        Percentage points.
    """

    margin: float
    rule: ClassVar[Callable[..., Finding]]

    def decide(self, column: str, test: AbstractPairedTest, evidence: Evidence, peers: Sequence[Any]) -> Finding:
        """See the base class."""
        return type(self).rule(column, test, margin=self.margin, alpha=self.alpha)
