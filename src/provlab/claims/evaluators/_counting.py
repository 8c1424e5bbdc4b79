"""How many features a method keeps, where it chooses the number itself."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from provlab.claims.decisions import Bound, Rule, decide
from provlab.claims.evaluators._base import ALPHA, AbstractRowEvaluator, check_dependence
from provlab.claims.folds import Sample
from provlab.claims.outcome import INCONCLUSIVE, NOT_RUN, Finding, UnavailableError
from provlab.claims.pairing import OVER, AbstractEvidence, Place
from provlab.claims.statistics import AbstractPairedTest, CorrectedT, DyadicT


@dataclass(frozen=True, kw_only=True)
class AbstractCounting(AbstractRowEvaluator):
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
        if self.over not in OVER:
            raise ValueError(f"over: expected one of {', '.join(OVER)}, got {self.over!r}.")
        check_dependence(self.dependence, self.over)

    @property
    def reads(self) -> tuple[str, ...]:
        """See the base class."""
        return ("n_selected",)

    def findings(self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]) -> list[Finding]:
        """See the base class; one finding a column."""
        found: dict[str, tuple[Sample, AbstractPairedTest] | Finding] = {
            place[-1]: self._test(place, evidence) for place in self.places(columns)
        }
        tests = {column: made[1] for column, made in found.items() if not isinstance(made, Finding)}
        return [
            made if isinstance(made, Finding) else self._decide(column, made[0], tests)
            for column, made in found.items()
        ]

    @property
    @abstractmethod
    def rule(self) -> Rule:
        """How a column is decided."""

    @property
    def margins(self) -> tuple[float, ...]:
        """Numbers of features at which the verdict turns."""
        return tuple(sorted({bound.at for criterion in self.rule for bound in criterion.bounds}))

    def _decide(self, column: str, numbers: Sample, tests: Mapping[str, AbstractPairedTest]) -> Finding:
        others = [test for name, test in tests.items() if name != column]
        families = [
            [] if criterion.all_columns else [criterion.p_value(partial(_p_value, test)) for test in others]
            for criterion in self.rule
        ]
        found = decide(column, tests[column], self.rule, families, alpha=self.alpha, unit="features")
        return replace(found, margins=self.margins, sample=numbers.named())

    def _test(self, place: Place, evidence: AbstractEvidence) -> tuple[Sample, AbstractPairedTest] | Finding:
        folds, column = evidence.folds(place, "n_selected"), place[-1]
        if not len(folds):
            return Finding(column, NOT_RUN, note=f"nothing stored for {self.row}")
        numbers = folds.sample(folds.means["n_selected"])
        try:
            if self.over == "folds":
                numbers.check_one_data_set()
                # What is selected depends on the training rows alone; those of inverse folds are disjoint.
                ratio = 0.0 if evidence.inverse_folds(place) else evidence.overlap(folds)
                return numbers, CorrectedT(numbers.at_least_two("folds"), ratio=ratio)
            numbers = numbers.means()
            values = numbers.at_least_two("data sets")
            if self.dependence:
                return numbers, DyadicT(values, pairs=numbers.pairs())
            return numbers, CorrectedT(values, ratio=0.0)
        except UnavailableError as reason:
            return Finding(column, INCONCLUSIVE, note=str(reason))


def _p_value(test: AbstractPairedTest, bound: Bound) -> float:
    return test.p_value(bound.at, bound.alternative)
