"""How many features a method keeps, where it chooses the number itself."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from provlab.claims.evaluators._base import ALPHA, AbstractRowEvaluator
from provlab.claims.evidence import OVER, Evidence, Place
from provlab.claims.outcome import INCONCLUSIVE, NOT_RUN, Finding, UnavailableError
from provlab.claims.statistics import CorrectedT


@dataclass(frozen=True, kw_only=True)
class AbstractCounting(AbstractRowEvaluator):
    """Mean number of features of `row`, in each column on its own; the claims are about means, hence t-tests.

    Parameters
    ----------
    row : str
    over : {"datasets", "folds"}
        The sample: means of data sets (independent), or folds of the only one (corrected for their overlap).
    alpha : float
    """

    over: str
    alpha: float = ALPHA

    def __post_init__(self) -> None:
        if self.over not in OVER:
            raise ValueError(f"over: expected one of {', '.join(OVER)}, got {self.over!r}.")

    @property
    def reads(self) -> tuple[str, ...]:
        """See the base class."""
        return ("n_selected",)

    def findings(self, columns: Sequence[str], evidence: Evidence, peers: Sequence[Any]) -> list[Finding]:
        """See the base class; one finding a column."""
        return [self._finding(place, evidence) for place in self.places(columns)]

    @property
    @abstractmethod
    def margins(self) -> tuple[float, ...]:
        """Numbers of features at which the verdict turns."""

    @abstractmethod
    def decide(self, column: str, test: CorrectedT) -> Finding:
        """Return the verdict on a column from the test of the numbers of features."""

    def _finding(self, place: Place, evidence: Evidence) -> Finding:
        folds, column = evidence.folds(place, "n_selected"), place[-1]
        if not len(folds):
            return Finding(column, NOT_RUN, note=f"nothing stored for {self.row}")
        numbers, ratio = folds.sample(folds.means["n_selected"]), float(folds.ratio.mean())
        try:
            if self.over == "folds":
                numbers.check_one_data_set()
            else:
                numbers, ratio = numbers.means(), 0.0
            what = "folds" if self.over == "folds" else "data sets"
            found = self.decide(column, CorrectedT(numbers.at_least_two(what), ratio=ratio))
            return replace(found, margins=self.margins, sample=numbers.named())
        except UnavailableError as reason:
            return Finding(column, INCONCLUSIVE, note=str(reason))
