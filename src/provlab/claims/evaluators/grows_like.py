"""The claim that a cost grows like a power of a size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from provlab.claims.evaluators._base import ALPHA, AbstractRowEvaluator
from provlab.claims.outcome import CONTRADICTED, INCONCLUSIVE, NOT_RUN, REPLICATED, Finding
from provlab.claims.pairing import AbstractEvidence
from provlab.frames import TIMES, selection_seconds

SECONDS = "seconds"
QUANTITIES = (SECONDS, "peak_memory", "n_selected")


@dataclass(frozen=True, kw_only=True)
class GrowsLike(AbstractRowEvaluator):
    """`quantity` of `row` grows at most like a size to the power of `exponent`; over trials.

    The exponent is the slope of a line through the logarithms of both (least squares), with an interval by Student's t.
    A bound in O() is about the limit and has no tolerance; with the sizes that can be had, the exponent may be above by
    `tolerance`. Replicated: it is shown to be at most that; contradicted: shown to be above; else inconclusive.

    Parameters
    ----------
    row : str
    quantity : {"seconds", "peak_memory", "n_selected"}
        CPU seconds of a selection, bytes of a training, features.
    sizes : tuple of float
        Of each column; with `datasets`, of each of these in the only column.
    exponent, tolerance : float
    datasets : tuple of str
    alpha : float
        Of each side.
    """

    quantity: str
    sizes: tuple[float, ...]
    exponent: float
    tolerance: float
    datasets: tuple[str, ...] = ()
    alpha: float = ALPHA

    def __post_init__(self) -> None:
        if self.quantity not in QUANTITIES:
            raise ValueError(f"quantity: expected one of {', '.join(QUANTITIES)}, got {self.quantity!r}.")
        if self.datasets and len(self.columns) != 1:
            raise ValueError(f"columns: expected one, beside datasets, got {', '.join(self.columns)}.")
        names = self.datasets or self.columns
        if len(self.sizes) != len(names) or len(set(self.sizes)) < 3 or min(self.sizes) <= 0:
            raise ValueError(
                f"sizes: expected a positive number for each of {'; '.join(names)}, three different ones at least, "
                f"got {list(self.sizes)}."
            )

    @property
    def reads(self) -> tuple[str, ...]:
        """See the base class."""
        return tuple(TIMES) if self.quantity == SECONDS else (self.quantity,)

    def findings(self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]) -> list[Finding]:
        """See the base class; one finding, over all sizes."""
        if tuple(columns) != self.columns:
            return []
        found = [evidence.trials(place, self.reads).assign(column=place[-1]) for place in self.places(columns)]
        trials = pd.concat(found)
        names = trials["dataset" if self.datasets else "column"]
        sizes = names.map(dict(zip(self.datasets or self.columns, self.sizes, strict=True))).to_numpy(float)
        costs = (selection_seconds(trials) if self.quantity == SECONDS else trials[self.quantity]).to_numpy(float)
        known = np.isfinite(sizes) & (costs > 0)
        sizes, costs = sizes[known], costs[known]
        part = f"{self.quantity} at {min(self.sizes):g} to {max(self.sizes):g}"
        missing = len({*self.sizes} - {*sizes})
        if missing:
            return [Finding(part, NOT_RUN, note=f"nothing stored for {missing} of {len({*self.sizes})} sizes")]
        slope, low, high = slope_of(np.log(sizes), np.log(costs), self.alpha)
        most = self.exponent + self.tolerance
        verdict = REPLICATED if high < most else CONTRADICTED if low > most else INCONCLUSIVE
        medians = ", ".join(f"{np.median(costs[sizes == size]):.4g}" for size in sorted({*self.sizes}))
        return [
            Finding(part, verdict, slope, low, high, n=sizes.size, unit="exponent", note=f"medians {medians}",
                    margins=(most,), test=f"least squares of logarithms, at most {most:g}, "
                    f"{100 * (1 - 2 * self.alpha):g} % interval")
        ]  # fmt: skip


def slope_of(x: np.ndarray, y: np.ndarray, alpha: float) -> tuple[float, float, float]:
    """Return the slope of the least-squares line and its 1 - 2 alpha interval; unbounded from two points."""
    from scipy.special import stdtrit

    centred = x - x.mean()
    slope = float(centred @ y / (centred @ centred))
    freedom = x.size - 2
    if freedom < 1:
        return slope, -math.inf, math.inf
    residuals = y - y.mean() - slope * centred
    half = float(stdtrit(freedom, 1 - alpha) * math.sqrt(residuals @ residuals / freedom / (centred @ centred)))
    return slope, slope - half, slope + half
