"""The claim that a method makes no errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from provlab.claims.decisions import POINTS
from provlab.claims.evaluators._base import AbstractRowEvaluator
from provlab.claims.outcome import CONTRADICTED, NOT_RUN, REPLICATED, Finding
from provlab.claims.pairing import AbstractEvidence, Place


@dataclass(frozen=True, kw_only=True)
class ZeroError(AbstractRowEvaluator):
    """The mean test error of `row` is `at_most`, in every column. A statement about these data: no p-value.

    Parameters
    ----------
    row : str
    at_most : float
        Percent; what still prints as the paper's number.
    """

    at_most: float

    def findings(self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]) -> list[Finding]:
        """See the base class; one finding a column."""
        return [self._finding(place, evidence) for place in self.places(columns)]

    def _finding(self, place: Place, evidence: AbstractEvidence) -> Finding:
        errors, column = evidence.fold_errors(place), place[-1]
        if not len(errors):
            return Finding(column, NOT_RUN, note=f"nothing stored for {self.row}")
        mean = float(errors.values.mean())
        verdict = REPLICATED if mean <= self.at_most else CONTRADICTED
        note = f"{int((errors.values > 0).sum())} of {len(errors)} folds have errors"
        unit = "%" if evidence.unit == POINTS else evidence.unit
        test = f"mean at most {self.at_most:g} {unit}"
        return Finding(column, verdict, mean, n=len(errors), test=test, unit=f"{unit} error", note=note,
                       margins=(self.at_most,), sample=errors.named())  # fmt: skip
