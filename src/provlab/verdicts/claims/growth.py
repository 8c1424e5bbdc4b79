"""Rules about the change of a quantity along the columns, and about the cost of a selection."""

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
from provlab.verdicts.claims.evidence import AbstractEvidence
from provlab.verdicts.claims.paired_tests import Floats, holm, observations_for_p
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

FASTER, SLOWER, UNDECIDED, FASTER_SOMEWHERE = "faster", "slower", "open", "depends"
"""Outcomes for a pair of methods on a data set. `FASTER_SOMEWHERE`: faster in some columns, slower in others."""


@dataclass(frozen=True, kw_only=True)
class Falls(AbstractRule):
    """`quantity` of `row` decreases along the columns in the listed order; over folds and draws.

    Each data set is tested separately, along the columns that it has. A statement about
    several data sets is one claim.

    Parameters
    ----------
    row : str
    quantity : str
        A numeric column of the records.
    """

    row: str
    quantity: Literal[
        "error",
        "objective",
        "scaled_objective",
        "n_selected",
        "certificate_delta",
        "certificate_objective",
    ]
    alpha: float = ALPHA

    words = """{quantity} of {row} decreases along the columns in the listed order; over folds and draws, on each data
        set separately. Contradicted: it is significantly higher in one column than in the previous one (one-sided
        Mann-Whitney, Holm over the steps on all data sets). Replicated: on each data set it decreases significantly
        over all columns together (one-sided Kendall). Otherwise inconclusive. The effect is Kendall's tau, which is -1
        if every trial is below all trials of earlier columns."""

    def __post_init__(self) -> None:
        if len(self.columns) < 2:
            raise ValueError(
                f"columns: expected at least two, in order, got {list(self.columns)}."
            )

    @property
    def reads(self) -> tuple[str, ...]:
        """Columns of the records that the rule reads in addition to `FOLD_COLUMNS`."""
        return (self.quantity,)

    def findings(
        self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]
    ) -> list[Finding]:
        """Return one finding for each data set, over all its columns."""
        # takes half a second, and most claims do not need it
        from scipy.stats import mannwhitneyu

        if len(columns) < 2:
            return []
        samples = self._samples(columns, evidence)
        if not samples:
            return [nothing_stored(f"{columns[0]} to {columns[-1]}", self.row)]
        datasets = []
        p_values = []
        for dataset, by_column in samples.items():
            if all(values.size for values in by_column.values()):
                for before, after in pairwise(by_column.values()):
                    datasets.append(dataset)
                    p_values.append(
                        float(mannwhitneyu(after, before, alternative="greater").pvalue)
                    )
        clearest_step = (
            pd.Series(holm(p_values), datasets, dtype=float).groupby(level=0).min()
        )
        findings = []
        for dataset, by_column in samples.items():
            part = f"{next(iter(by_column))} to {[*by_column][-1]}"
            if len(samples) > 1:
                part = f"{dataset}, {part}"
            findings.append(
                self._finding(part, by_column, float(clearest_step.get(dataset, 1.0)))
            )
        return findings

    def _samples(
        self, columns: Sequence[str], evidence: AbstractEvidence
    ) -> dict[str, dict[str, Floats]]:
        """Return the values of the trials of each data set and column."""
        samples: dict[str, dict[str, Floats]] = {}
        for place in self.places(columns):
            trials = evidence.trials(place, [self.quantity])
            for dataset in evidence.datasets(place):
                values = trials.loc[trials["dataset"] == dataset, self.quantity]
                samples.setdefault(dataset, {})[place[2]] = values.dropna().to_numpy(
                    float
                )
        return samples

    def _finding(
        self, part: str, by_column: Mapping[str, Floats], step_up: float
    ) -> Finding:
        """Return the evidence on one data set; `step_up` is the corrected p-value of the clearest increase."""
        from scipy.stats import kendalltau

        empty = [column for column, values in by_column.items() if not values.size]
        if empty:
            return nothing_stored(part, self.row, *empty)
        samples = [*by_column.values()]
        sizes = [values.size for values in samples]
        order = np.repeat(np.arange(len(samples)), sizes)
        kendall = kendalltau(order, np.concatenate(samples), alternative="less")
        trend = float(kendall.pvalue)  # NaN if all values tie
        p_value = trend
        test = "trend (Kendall)"
        needed = math.nan
        if step_up < self.alpha:
            verdict = CONTRADICTED
            p_value = step_up
            test = "a step up (Mann-Whitney, Holm)"
        elif trend < self.alpha:
            verdict = REPLICATED
        else:
            verdict = INCONCLUSIVE
            needed = observations_for_p(sum(sizes), trend, self.alpha)
        medians = ", ".join(f"{np.median(values):.4g}" for values in samples)
        return Finding(part, verdict, float(kendall.statistic), p_value=p_value, n=sum(sizes), test=test, unit="tau",
                       note=f"medians {medians}", needed=needed)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class GrowsLike(AbstractRule):
    """`quantity` of `row` grows at most like a size to the power of `exponent`; over trials.

    Parameters
    ----------
    row : str
    quantity : {"seconds", "peak_memory", "n_selected"}
        CPU seconds of a selection, bytes of a model fit, or number of features.
    sizes : tuple of float
        The size of each column; or, with `datasets`, of each data set in the only
        column.
    exponent, tolerance : float
        A bound in O() is asymptotic. At feasible sizes, the observed exponent may
        exceed `exponent` by the tolerance.
    datasets : tuple of str
    alpha : float
        Level of each one-sided test.
    """

    row: str
    quantity: Literal["seconds", "peak_memory", "n_selected"]
    sizes: tuple[float, ...]
    exponent: float
    tolerance: float
    datasets: tuple[str, ...] = ()
    alpha: float = ALPHA

    words = """{quantity} of {row} grows at most like a size to the power of {exponent}; over trials. The exponent is
        the least-squares slope of a line through the logarithms of both, with an interval by Student's t. A bound in
        O() is asymptotic; at feasible sizes, the exponent may exceed it by {tolerance}. Replicated: the exponent is
        shown to be at most that; contradicted: it is shown to be larger; otherwise inconclusive."""

    def __post_init__(self) -> None:
        if self.datasets and len(self.columns) != 1:
            raise ValueError(
                f"columns: expected a single column if datasets are given, got {', '.join(self.columns)}."
            )
        names = self.datasets or self.columns
        if (
            len(self.sizes) != len(names)
            or len(set(self.sizes)) < 3
            or min(self.sizes) <= 0
        ):
            raise ValueError(
                f"sizes: expected a positive number for each of {'; '.join(names)}, at least three of them "
                f"different, got {list(self.sizes)}."
            )

    @property
    def reads(self) -> tuple[str, ...]:
        """Columns of the records that the rule reads in addition to `FOLD_COLUMNS`."""
        return tuple(TIMES) if self.quantity == "seconds" else (self.quantity,)

    def findings(
        self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]
    ) -> list[Finding]:
        """Return one finding, over all sizes."""
        if tuple(columns) != self.columns:
            return []
        sizes, costs = self._costs(evidence)
        distinct = sorted({*self.sizes})
        part = f"{self.quantity} at {distinct[0]:g} to {distinct[-1]:g}"
        n_missing = len({*distinct} - {*sizes})
        if n_missing:
            return [
                Finding(
                    part,
                    NOT_RUN,
                    note=f"nothing stored for {n_missing} of {len(distinct)} sizes",
                )
            ]
        slope, half = self._slope(sizes, costs)
        low = slope - half
        high = slope + half
        largest = self.exponent + self.tolerance
        if high < largest:
            verdict = REPLICATED
        elif low > largest:
            verdict = CONTRADICTED
        else:
            verdict = INCONCLUSIVE
        medians = ", ".join(
            f"{np.median(costs[sizes == size]):.4g}" for size in distinct
        )
        level = 100 * (1 - 2 * self.alpha)
        test = f"least squares of logarithms, at most {largest:g}, {level:g} % interval"
        return [
            Finding(part, verdict, slope, low, high, n=sizes.size, unit="exponent", note=f"medians {medians}",
                    margins=(largest,), test=test)
        ]  # fmt: skip

    def _costs(self, evidence: AbstractEvidence) -> tuple[Floats, Floats]:
        """Return the size and the cost of each trial, if both are known."""
        trials = self.trials(self.columns, evidence)
        names = trials["dataset" if self.datasets else "column"]
        size_of = dict(zip(self.datasets or self.columns, self.sizes, strict=True))
        sizes = names.map(size_of).to_numpy(float)
        cost = (
            selection_seconds(trials)
            if self.quantity == "seconds"
            else trials[self.quantity]
        )
        costs = cost.to_numpy(float)
        is_known = np.isfinite(sizes) & (costs > 0)
        return sizes[is_known], costs[is_known]

    def _slope(self, sizes: Floats, costs: Floats) -> tuple[float, float]:
        """Return the slope of a line through the logarithms, and half of its interval."""
        # takes half a second, and most claims do not need it
        from scipy.stats import linregress

        line = linregress(np.log(sizes), np.log(costs))
        half = float(stdtrit(sizes.size - 2, 1 - self.alpha) * line.stderr)
        return float(line.slope), half


@dataclass(frozen=True, kw_only=True)
class Faster(AbstractRule):
    """`row` takes less CPU time than each of `than`, in more than a given share of the pairs of data set and method.

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
        Each column of a pair has an interval for the ratio of the geometric means of the times (Welch's t of the
        logarithms, over runs): {row} is faster if the interval lies below 1, and slower if it lies above. A pair is won
        if {row} is faster in all its columns, lost if it is slower in all, and depends on r if it is faster in some and
        slower in others. Replicated: the share of won pairs exceeds {share}. Contradicted: it would not, even if all
        pairs that are not lost were won. Depends on r: the pairs that depend on r decide, whatever the outcome of the
        open ones. Otherwise inconclusive. The claim concerns this machine and these implementations; each interval
        refers to one pair and column. The effect is the share of won pairs, and its interval extends to the share of
        pairs that are not lost."""

    reads = tuple(TIMES)

    def findings(
        self, columns: Sequence[str], evidence: AbstractEvidence, peers: Sequence[Any]
    ) -> list[Finding]:
        """Return one finding."""
        ratios = self._ratios(columns, evidence)
        if ratios.empty:
            return [
                nothing_stored("CPU time", f"{self.row} and {', '.join(self.than)}")
            ]
        outcomes = {}
        remarks = []
        for (row, dataset), lines in ratios.groupby(["row", "dataset"]):
            name = f"{row} on {dataset}"
            outcomes[name] = _outcome(lines["low"], lines["high"])
            if outcomes[name] != FASTER:
                texts = starmap(
                    _ratio_text,
                    lines[["column", "middle", "low", "high"]].itertuples(index=False),
                )
                remarks.append((name, f"{outcomes[name]}: {name} ({'; '.join(texts)})"))
        counts = Counter(outcomes.values())
        n = len(outcomes)
        won = counts[FASTER]
        possible = n - counts[SLOWER]
        enough = self.share * n
        if won > enough:
            verdict = REPLICATED
        elif possible <= enough:
            verdict = CONTRADICTED
        elif won + counts[UNDECIDED] <= enough < won + counts[FASTER_SOMEWHERE]:
            verdict = DEPENDS
        else:
            verdict = INCONCLUSIVE
        test = (
            f"CPU seconds (Welch's t of logarithms, {100 * (1 - self.alpha):g} % intervals), in more than "
            f"{100 * self.share:g} % of the pairs"
        )
        share = 100 * won / n
        note = ", ".join(text for _, text in sorted(remarks))
        return [
            Finding(
                "CPU time",
                verdict,
                share,
                share,
                100 * possible / n,
                n=n,
                test=test,
                unit="% of pairs",
                note=note,
            )
        ]

    def _ratios(
        self, columns: Sequence[str], evidence: AbstractEvidence
    ) -> pd.DataFrame:
        """Return the logarithm of the ratio of CPU times to each other row in each column, with its interval.

        Returns
        -------
        DataFrame
            row, column and dataset; middle, low and high.
        """
        trials = self.trials(columns, evidence)
        logarithms = np.log(selection_seconds(trials)).groupby(
            [trials[name] for name in ("row", "column", "dataset")], sort=False
        )
        moments = pd.DataFrame(
            {
                "n": logarithms.count(),
                "mean": logarithms.mean(),
                "var": logarithms.var(),
            }
        )
        rows = moments.index.get_level_values("row")
        own = moments[rows == self.row].reset_index()
        others = moments[rows.isin(self.than)].reset_index()
        ratios = others.merge(own, on=["column", "dataset"], suffixes=("", "_own"))
        own_part = ratios["var_own"] / ratios["n_own"]
        other_part = ratios["var"] / ratios["n"]
        variance = own_part + other_part
        freedom = variance**2 / (
            own_part**2 / (ratios["n_own"] - 1) + other_part**2 / (ratios["n"] - 1)
        )
        # NaN, because a single value gives no interval
        half = (stdtrit(freedom, 1 - self.alpha / 2) * np.sqrt(variance)).mask(
            variance == 0, 0.0
        )
        middle = ratios["mean_own"] - ratios["mean"]
        return ratios.assign(middle=middle, low=middle - half, high=middle + half)


def _outcome(low: pd.Series, high: pd.Series) -> str:
    """Return the outcome for a pair from the intervals of its columns."""
    is_faster = high < 0
    is_slower = low > 0
    if is_faster.any() and is_slower.any():
        return FASTER_SOMEWHERE
    if is_faster.all():
        return FASTER
    return SLOWER if is_slower.all() else UNDECIDED


def _ratio_text(column: str, *logarithms: float) -> str:
    middle, low, high = (math.exp(min(value, 700)) for value in logarithms)
    interval = "" if math.isnan(low) else f" [{low:.2f}, {high:.2f}]"
    return f"{column}: {middle:.2f} times{interval}"
