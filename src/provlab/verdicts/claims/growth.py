"""Rules about how a quantity changes along the columns, and what a selection costs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, starmap
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from provlab.core.frames import TIMES, selection_seconds
from provlab.verdicts.claims.evidence import AbstractEvidence, Floats
from provlab.verdicts.claims.paired_tests import holm, observations_for_p
from provlab.verdicts.claims.rules import (
    ALPHA,
    CONTRADICTED,
    DEPENDS,
    INCONCLUSIVE,
    NOT_RUN,
    REPLICATED,
    AbstractRule,
    Finding,
    nothing_stored,
)

FASTER, SLOWER, OPEN, EITHER = "faster", "slower", "open", "depends"


@dataclass(frozen=True, kw_only=True)
class Falls(AbstractRule):
    """`quantity` of `row` falls along the columns, in the order in which they are listed; over folds and draws.

    On each data set on its own, along those of the columns that it has: a statement about several is one claim.

    Parameters
    ----------
    row : str
    quantity : str
        Number of a record.
    """

    row: str
    quantity: Literal[
        "error", "objective", "scaled_objective", "n_selected", "certificate_delta", "certificate_objective"
    ]
    alpha: float = ALPHA

    words = """{quantity} of {row} falls along the columns, in the order in which they are listed; over folds and draws,
        on each data set on its own. Contradicted: it is significantly higher in one column than in the one before
        (one-sided Mann-Whitney, Holm over the steps on all data sets). Replicated: on each data set it falls
        significantly over all columns together (one-sided Kendall). Else inconclusive. The effect is Kendall's tau, -1
        where every trial is below all of the columns before."""

    def __post_init__(self) -> None:
        if len(self.columns) < 2:
            raise ValueError(f"columns: expected at least two, in their order, got {list(self.columns)}.")

    @property
    def reads(self) -> tuple[str, ...]:
        """See the base class."""
        return (self.quantity,)

    def findings(self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]) -> list[Finding]:
        """See the base class; one finding a data set, over all its columns."""
        from scipy.stats import mannwhitneyu  # half a second, and most claims do without

        if len(columns) < 2:
            return []
        numbers: dict[str, dict[str, Floats]] = {}
        for place in self.places(columns):
            trials = evidence.trials(place, [self.quantity])
            for dataset in evidence.datasets(place):
                values = trials.loc[trials["dataset"] == dataset, self.quantity]
                numbers.setdefault(dataset, {})[place[2]] = values.dropna().to_numpy(float)
        steps = [
            (name, float(mannwhitneyu(after, before, alternative="greater").pvalue))
            for name, found in numbers.items()
            if all(map(len, found.values()))
            for before, after in pairwise(found.values())
        ]
        corrected = pd.Series(holm([p_value for _, p_value in steps]), [name for name, _ in steps], dtype=float)
        highest = corrected.groupby(level=0).min()
        findings = [
            self._finding("" if len(numbers) == 1 else f"{name}, ", found, float(highest.get(name, 1.0)))
            for name, found in numbers.items()
        ]
        return findings or [nothing_stored(f"{columns[0]} to {columns[-1]}", self.row)]

    def _finding(self, prefix: str, numbers: Mapping[str, Floats], highest: float) -> Finding:
        """Return what the columns of one data set say; `highest` is the corrected p-value of its clearest step up."""
        from scipy.stats import kendalltau

        samples, part = [*numbers.values()], f"{prefix}{next(iter(numbers))} to {[*numbers][-1]}"
        if empty := [column for column, values in numbers.items() if not values.size]:
            return nothing_stored(part, self.row, *empty)
        n = sum(map(len, samples))
        order = np.repeat(np.arange(len(samples)), [*map(len, samples)])
        kendall = kendalltau(order, np.concatenate(samples), alternative="less")
        tau, trend = float(kendall.statistic), float(kendall.pvalue)
        falls = trend < self.alpha  # not where all values tie: NaN
        verdict = CONTRADICTED if highest < self.alpha else REPLICATED if falls else INCONCLUSIVE
        p_value = highest if verdict == CONTRADICTED else trend
        note = ", ".join(f"{np.median(each):.4g}" for each in samples)
        needed = observations_for_p(n, trend, self.alpha) if verdict == INCONCLUSIVE else math.nan
        how = "a step up (Mann-Whitney, Holm)" if verdict == CONTRADICTED else "trend (Kendall)"
        return Finding(part, verdict, tau, p_value=p_value, n=n, test=how, unit="tau", note=f"medians {note}",
                       needed=needed)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class GrowsLike(AbstractRule):
    """`quantity` of `row` grows at most like a size to the power of `exponent`; over trials.

    Parameters
    ----------
    row : str
    quantity : {"seconds", "peak_memory", "n_selected"}
        CPU seconds of a selection, bytes of a training, features.
    sizes : tuple of float
        Of each column; with `datasets`, of each of these in the only column.
    exponent, tolerance : float
        A bound in O() is about the limit and has no tolerance; with the sizes that can be had, the exponent may be
        above by the tolerance.
    datasets : tuple of str
    alpha : float
        Of each side.
    """

    row: str
    quantity: Literal["seconds", "peak_memory", "n_selected"]
    sizes: tuple[float, ...]
    exponent: float
    tolerance: float
    datasets: tuple[str, ...] = ()
    alpha: float = ALPHA

    words = """{quantity} of {row} grows at most like a size to the power of {exponent}; over trials. The exponent is
        the slope of a line through the logarithms of both (least squares), with an interval by Student's t. A bound in
        O() is about the limit and has no tolerance; with the sizes that can be had, the exponent may be above by
        {tolerance}. Replicated: it is shown to be at most that; contradicted: shown to be above; else inconclusive."""

    def __post_init__(self) -> None:
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
        return tuple(TIMES) if self.quantity == "seconds" else (self.quantity,)

    def findings(self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]) -> list[Finding]:
        """See the base class; one finding, over all sizes."""
        from scipy.stats import linregress  # half a second, and most claims do without

        if tuple(columns) != self.columns:
            return []
        found = [evidence.trials(place, self.reads).assign(column=place[-1]) for place in self.places(columns)]
        trials = pd.concat(found)
        names = trials["dataset" if self.datasets else "column"]
        sizes = names.map(dict(zip(self.datasets or self.columns, self.sizes, strict=True))).to_numpy(float)
        costs = (selection_seconds(trials) if self.quantity == "seconds" else trials[self.quantity]).to_numpy(float)
        known = np.isfinite(sizes) & (costs > 0)
        sizes, costs = sizes[known], costs[known]
        part = f"{self.quantity} at {min(self.sizes):g} to {max(self.sizes):g}"
        missing = len({*self.sizes} - {*sizes})
        if missing:
            return [Finding(part, NOT_RUN, note=f"nothing stored for {missing} of {len({*self.sizes})} sizes")]
        line, most = linregress(np.log(sizes), np.log(costs)), self.exponent + self.tolerance
        half = float(stdtrit(sizes.size - 2, 1 - self.alpha) * line.stderr)
        slope, low, high = float(line.slope), float(line.slope) - half, float(line.slope) + half
        verdict = REPLICATED if high < most else CONTRADICTED if low > most else INCONCLUSIVE
        medians = ", ".join(f"{np.median(costs[sizes == size]):.4g}" for size in sorted({*self.sizes}))
        return [
            Finding(part, verdict, slope, low, high, n=sizes.size, unit="exponent", note=f"medians {medians}",
                    margins=(most,), test=f"least squares of logarithms, at most {most:g}, "
                    f"{100 * (1 - 2 * self.alpha):g} % interval")
        ]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Faster(AbstractRule):
    """`row` takes less CPU time than each of `than`, in more than a share of the pairs of data set and method.

    Parameters
    ----------
    row : str
    than : tuple of str
    share : float
        0.5 for "most"; just below 1 for "all".
    alpha : float
    """

    row: str
    than: tuple[str, ...]
    share: float
    alpha: float = ALPHA

    words = """{row} takes less CPU time than each of {than}, in more than {share} of the pairs of data set and method.
        In each column of a pair the ratio of the geometric means of the times has an interval (Welch's t of the
        logarithms, over runs): {row} is faster where it lies below 1, and slower where above. A pair is won where it is
        faster in all its columns, lost where it is slower in all, and depends on r where it is each in some.
        Replicated: more than the share of the pairs are won. Contradicted: even all that are not lost would not be.
        Depends on r: not more than the share without the pairs that depend, and more with them, however the open ones
        were decided. Else inconclusive. A statement about this machine and these implementations; the intervals are of
        one pair and column each. The effect is the share of pairs that are won, its interval reaches to those that are
        not lost."""

    reads = tuple(TIMES)

    def findings(self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]) -> list[Finding]:
        """See the base class; one finding."""
        found = [evidence.trials(each, self.reads).assign(row=each[1], column=each[2]) for each in self.places(columns)]
        trials, keys = pd.concat(found), ["row", "column", "dataset"]
        logarithms = np.log(selection_seconds(trials)).groupby([trials[name] for name in keys], sort=False)
        moments = pd.DataFrame({"n": logarithms.count(), "mean": logarithms.mean(), "var": logarithms.var()})
        one, others = (moments[moments.index.isin(rows, "row")].reset_index() for rows in ([self.row], self.than))
        ratios = others.merge(one, on=["column", "dataset"], suffixes=("", "_one"))
        if ratios.empty:
            return [nothing_stored("CPU time", f"{self.row} and {', '.join(self.than)}")]
        parts = ratios["var_one"] / ratios["n_one"], ratios["var"] / ratios["n"]
        variance = sum(parts)
        freedom = variance**2 / (parts[0] ** 2 / (ratios["n_one"] - 1) + parts[1] ** 2 / (ratios["n"] - 1))
        # of a single value nothing is known, and no more of its half: NaN
        half = (stdtrit(freedom, 1 - self.alpha / 2) * np.sqrt(variance)).mask(variance == 0, 0.0)
        middle = ratios["mean_one"] - ratios["mean"]
        ratios = ratios.assign(middle=middle, low=middle - half, high=middle + half)
        pairs = {}
        for (row, dataset), lines in ratios.groupby(["row", "dataset"]):
            faster, slower = lines["high"] < 0, lines["low"] > 0
            outcome = FASTER if faster.all() else SLOWER if slower.all() else OPEN
            outcome = EITHER if faster.any() and slower.any() else outcome
            texts = starmap(_ratio_text, lines[["column", "middle", "low", "high"]].itertuples(index=False))
            pairs[f"{row} on {dataset}"] = outcome, "; ".join(texts)
        counts, n = Counter(outcome for outcome, _ in pairs.values()), len(pairs)
        won, possible, enough = counts[FASTER], n - counts[SLOWER], self.share * n
        verdict = REPLICATED if won > enough else CONTRADICTED if possible <= enough else INCONCLUSIVE
        if verdict == INCONCLUSIVE and won + counts[OPEN] <= enough < won + counts[EITHER]:
            verdict = DEPENDS
        notes = [f"{pairs[name][0]}: {name} ({pairs[name][1]})" for name in sorted(pairs) if pairs[name][0] != FASTER]
        test = (
            f"CPU seconds (Welch's t of logarithms, {100 * (1 - self.alpha):g} % intervals), in more than "
            f"{100 * self.share:g} % of the pairs"
        )
        share = 100 * won / n
        return [
            Finding("CPU time", verdict, share, share, 100 * possible / n, n=n, test=test,
                    unit="% of pairs", note=", ".join(notes))
        ]  # fmt: skip


def _ratio_text(column: str, *logarithms: float) -> str:
    middle, low, high = (math.exp(min(value, 700)) for value in logarithms)
    return f"{column}: {middle:.2f} times" + ("" if math.isnan(low) else f" [{low:.2f}, {high:.2f}]")
