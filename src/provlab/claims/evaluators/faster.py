"""The claim that a method selects faster than others."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from provlab.claims.evaluators._base import ALPHA, AbstractRowEvaluator
from provlab.claims.outcome import CONTRADICTED, DEPENDS, INCONCLUSIVE, NOT_RUN, REPLICATED, Finding
from provlab.claims.pairing import AbstractEvidence, Place
from provlab.frames import TIMES, selection_seconds

FASTER, SLOWER, OPEN, EITHER = "faster", "slower", "open", "depends"


@dataclass(frozen=True, kw_only=True)
class Faster(AbstractRowEvaluator):
    """`row` takes less CPU time than each of `than`, in more than a share of the pairs of data set and method.

    In each column of a pair the ratio of the geometric means of the times has an interval (Welch's t of the logarithms,
    over runs): `row` is faster where it lies below 1, and slower where above. A pair is won where it is faster in all
    its columns, lost where it is slower in all, and depends on r where it is each in some. Replicated: more than the
    share of the pairs are won. Contradicted: even all that are not lost would not be. Depends on r: not more than the
    share without the pairs that depend, and more with them, however the open ones were decided. Else inconclusive. A
    statement about this machine and these implementations; the intervals are of one pair and column each. The effect
    is the share of pairs that are won, its interval reaches to those that are not lost.

    Parameters
    ----------
    row : str
    than : tuple of str
    share : float
        0.5 for "most"; just below 1 for "all".
    alpha : float
    """

    than: tuple[str, ...]
    share: float
    alpha: float = ALPHA

    @property
    def reads(self) -> tuple[str, ...]:
        """See the base class."""
        return tuple(TIMES)

    def places(self, columns: Sequence[str]) -> list[Place]:
        """See the base class."""
        return [(self.artefact, row, column) for row in (self.row, *self.than) for column in columns]

    def findings(self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]) -> list[Finding]:
        """See the base class; one finding."""
        seconds = {place[1:]: self._logarithms(place, evidence) for place in self.places(columns)}
        pairs: dict[str, dict[str, tuple[float, float, float]]] = {}
        for column in columns:
            own = seconds[self.row, column]
            for row in self.than:
                for dataset in own.keys() & seconds[row, column].keys():
                    ratio = log_ratio(own[dataset], seconds[row, column][dataset], self.alpha)
                    pairs.setdefault(f"{row} on {dataset}", {})[column] = ratio
        if not pairs:
            return [Finding("CPU time", NOT_RUN, note=f"nothing stored for {self.row} and {', '.join(self.than)}")]
        outcomes = {name: _outcome(ratios.values()) for name, ratios in sorted(pairs.items())}
        counts, n = Counter(outcomes.values()), len(pairs)
        won, possible = counts[FASTER], n - counts[SLOWER]
        notes = [
            f"{outcome}: {name} ({'; '.join(_ratio_text(column, ratio) for column, ratio in pairs[name].items())})"
            for name, outcome in outcomes.items()
            if outcome != FASTER
        ]
        return [
            Finding(
                "CPU time",
                self._verdict(counts, n),
                100 * won / n,
                100 * won / n,
                100 * possible / n,
                n=n,
                test=f"CPU seconds (Welch's t of logarithms, {100 * (1 - self.alpha):g} % intervals), in more than "
                f"{100 * self.share:g} % of the pairs",
                unit="% of pairs",
                note=", ".join(notes),
            )
        ]

    def _verdict(self, counts: Counter[str], n: int) -> str:
        enough = self.share * n
        if counts[FASTER] > enough:
            return REPLICATED
        if n - counts[SLOWER] <= enough:
            return CONTRADICTED
        without = counts[FASTER] + counts[OPEN] <= enough
        return DEPENDS if without and counts[FASTER] + counts[EITHER] > enough else INCONCLUSIVE

    def _logarithms(self, place: Place, evidence: AbstractEvidence) -> dict[str, NDArray[np.float64]]:
        trials = evidence.trials(place, self.reads)
        if trials.empty:
            return {}
        logarithms = np.log(selection_seconds(trials))
        return {str(name): found.to_numpy(float) for name, found in logarithms.groupby(trials["dataset"])}


def log_ratio(own: NDArray[np.float64], other: NDArray[np.float64], alpha: float) -> tuple[float, float, float]:
    """Return the difference of two means, with its 1 - alpha interval (Welch's t); unbounded from a single value."""
    difference = float(own.mean() - other.mean())
    if min(own.size, other.size) < 2:
        return difference, -math.inf, math.inf
    from scipy.special import stdtrit

    parts = own.var(ddof=1) / own.size, other.var(ddof=1) / other.size
    variance = sum(parts)
    if not variance:
        return difference, difference, difference
    freedom = variance**2 / (parts[0] ** 2 / (own.size - 1) + parts[1] ** 2 / (other.size - 1))
    half = float(stdtrit(freedom, 1 - alpha / 2) * math.sqrt(variance))
    return difference, difference - half, difference + half


def _outcome(ratios: Iterable[tuple[float, float, float]]) -> str:
    """Return what a pair is over its columns, from differences of logarithms with their intervals."""
    ratios = list(ratios)
    faster, slower = (sum(high < 0 for _, _, high in ratios), sum(low > 0 for _, low, _ in ratios))
    if faster and slower:
        return EITHER
    return FASTER if faster == len(ratios) else SLOWER if slower == len(ratios) else OPEN


def _ratio_text(column: str, ratio: tuple[float, float, float]) -> str:
    middle, low, high = (math.exp(min(value, 700)) for value in ratio)
    return f"{column}: {middle:.2f} times" + ("" if math.isinf(ratio[1]) else f" [{low:.2f}, {high:.2f}]")
