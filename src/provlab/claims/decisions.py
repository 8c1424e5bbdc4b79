"""From a test to a verdict: each rule is a list of criteria, and what they have in common is decided once, in `decide`.

A difference is error(row) - error(than): negative is in the row's favour. A criterion is met where its p-value is below
alpha after the correction for the family that the comparison belongs to:

- The **family** is all comparisons of the claims of one kind about the same artefacts, data set and sample: every pair
  of methods in every column (number of features) of theirs. One that is planned and could not be made counts with p =
  1.
- A criterion that **one column suffices** for, such as a contradiction of "in every column", is corrected by Holm's
  method over that whole family, methods and columns.
- A criterion that **all columns** must meet needs no correction over them, as the largest of their p-values is that of
  the claim (intersection-union test, Berger 1982); Holm's method then goes over the claims of the family.

So for each verdict the probability that any claim of a family gets it wrongly is at most alpha. Intervals are of one
comparison: an equivalence test at level alpha is the same as the 1 - 2 alpha interval lying inside the margin, so that
this one is reported with it.

References
----------
Holm (1979), Scandinavian Journal of Statistics 6. Berger (1982), Technometrics 24. Schuirmann (1987), Journal of
Pharmacokinetics and Biopharmaceutics 15, for the two one-sided tests of equivalence (TOST).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

from provlab.claims.outcome import CONTRADICTED, INCONCLUSIVE, NO_DIFFERENCE, REPLICATED, Finding
from provlab.claims.statistics import AbstractPairedTest, Side, holm, observations_needed

RULES_VERSION = 3
"""Raised when the same evidence can get another verdict; `provsel reference` writes it beside the verdicts."""

POINTS = "percentage points"


class Bound(NamedTuple):
    """The location is above or below a number; `tails` is 2 where the other side is tested as well."""

    side: Literal["above", "below"]
    at: float
    tails: int = 1

    @property
    def alternative(self) -> Side:
        """What the one-sided test is asked."""
        return "greater" if self.side == "above" else "less"

    def distance(self, location: float) -> float:
        """Return how far inside a location is."""
        return location - self.at if self.side == "above" else self.at - location


@dataclass(frozen=True)
class Criterion:
    """A verdict, and the bounds that all must be shown for it.

    Attributes
    ----------
    verdict : str
    bounds : tuple of Bound
    all_columns : bool
        True where the claim gets the verdict only if all its columns meet the criterion.
    """

    verdict: str
    bounds: tuple[Bound, ...]
    all_columns: bool = False

    def p_value(self, p_of_bound: Callable[[Bound], float]) -> float:
        """Return the p-value without correction: all bounds must be shown, so the largest counts."""
        return max(min(1.0, bound.tails * p_of_bound(bound)) for bound in self.bounds)

    @property
    def tails(self) -> int:
        """Two-sided where any bound is."""
        return max(bound.tails for bound in self.bounds)

    def smallest_margin(self, test: AbstractPairedTest, level: float) -> float:
        """Return the smallest margin, around the middle of the bounds or 0, at which this criterion would be met."""
        low, high = test.interval(1 - 2 * level)
        middle = sum(bound.at for bound in self.bounds) / 2 if len(self.bounds) > 1 else 0.0
        return max(high - middle if bound.side == "below" else middle - low for bound in self.bounds)

    def __str__(self) -> str:
        return " and ".join(f"{bound.side} {bound.at:g}" for bound in self.bounds)


Rule = tuple[Criterion, ...]
"""The first criterion that is met gives the verdict; none leaves it inconclusive."""


def better(margin: float) -> Rule:
    """Judge "the row has the lower error".

    Replicated: significantly lower, two-sided, in every column. Contradicted: significantly higher in one. No
    difference: shown to be the same within the margin in one (TOST), where it is neither.
    """
    return (
        Criterion(REPLICATED, (Bound("below", 0.0, 2),), all_columns=True),
        Criterion(CONTRADICTED, (Bound("above", 0.0, 2),)),
        Criterion(NO_DIFFERENCE, _inside(-margin, margin)),
    )


def better_somewhere(margin: float) -> Rule:
    """Judge "the row has the lower error in some column".

    Replicated: significantly lower in one of them, one-sided. No difference: shown to be the same within the margin in
    every column (TOST). Contradicted: in every column shown to be lower by less than the margin, if at all.
    """
    return (
        Criterion(REPLICATED, (Bound("below", 0.0),)),
        Criterion(NO_DIFFERENCE, _inside(-margin, margin), all_columns=True),
        Criterion(CONTRADICTED, (Bound("above", -margin),), all_columns=True),
    )


def comparable(margin: float) -> Rule:
    """Judge "both have about the same error".

    Replicated: shown to be the same within the margin in every column (TOST). Contradicted: shown to differ by more
    than the margin in one, which is where the interval lies wholly outside.
    """
    return near(-margin, margin)


def not_worse(margin: float) -> Rule:
    """Judge "the row's error is at most a margin above".

    Replicated: shown to be in every column. Contradicted: shown to be above in one.
    """
    return (
        Criterion(REPLICATED, (Bound("below", margin),), all_columns=True),
        Criterion(CONTRADICTED, (Bound("above", margin),)),
    )


def near(low: float, high: float) -> Rule:
    """Judge "the location is between `low` and `high`": two one-sided tests for it, and one on each side against it."""
    return (
        Criterion(REPLICATED, _inside(low, high), all_columns=True),
        Criterion(CONTRADICTED, (Bound("above", high),)),
        Criterion(CONTRADICTED, (Bound("below", low),)),
    )


def above(number: float) -> Rule:
    """Judge "the location is above a number": replicated or contradicted where that is significant, two-sided."""
    return (
        Criterion(REPLICATED, (Bound("above", number, 2),), all_columns=True),
        Criterion(CONTRADICTED, (Bound("below", number, 2),)),
    )


def slightly_worse(most: float) -> Rule:
    """Judge "the row has a higher error, by little".

    Replicated: significantly above 0, two-sided, and significantly below the most in every column. Contradicted:
    significantly below 0, or significantly above the most, two-sided, in one.
    """
    return (
        Criterion(REPLICATED, (Bound("above", 0.0, 2), Bound("below", most)), all_columns=True),
        Criterion(CONTRADICTED, (Bound("below", 0.0, 2),)),
        Criterion(CONTRADICTED, (Bound("above", most, 2),)),
    )


def decide(
    part: str,
    test: AbstractPairedTest,
    rule: Rule,
    others: Sequence[Sequence[float]] = (),
    *,
    alpha: float,
    unit: str = POINTS,
) -> Finding:
    """Return the verdict of a rule, with the interval that belongs to it.

    An inconclusive finding says which number of observations would decide it with a power of 0.9, were their location
    and spread those seen, and which distance from the first bound this number can show with that power. The level is
    that which Holm's method gives the comparison in its family now.

    Parameters
    ----------
    part : str
    test : AbstractPairedTest
    rule : sequence of Criterion
    others : sequence of sequence of float
        For each criterion the uncorrected p-values of the rest of the family; NaN for what could not be tested.
    alpha : float
    unit : str
        Of the test's location.
    """
    families = [*others] or [()] * len(rule)
    raw = [criterion.p_value(lambda bound: test.p_value(bound.at, bound.alternative)) for criterion in rule]
    adjusted = [holm([p_value, *family])[0] for p_value, family in zip(raw, families, strict=True)]
    # Holm's factor: how many of the family, itself among them, are no clearer
    levels = [
        alpha / (1 + sum(not other < p_value for other in family))
        for p_value, family in zip(raw, families, strict=True)
    ]
    met = [k for k, p_value in enumerate(adjusted) if p_value < alpha]
    shown = met[0] if met else min(range(len(rule)), key=adjusted.__getitem__)
    criterion = rule[shown]
    verdict = criterion.verdict if met else INCONCLUSIVE
    same = any(rule[k].verdict == NO_DIFFERENCE for k in met) and verdict != NO_DIFFERENCE
    level = 1 - 2 * alpha / criterion.tails
    low, high = test.interval(level)
    named = f"TOST ({test.name})" if len(criterion.bounds) > 1 and criterion.tails == 1 else test.name
    margin = next((k for k, other in enumerate(rule) if _has_margin(other)), None)
    return Finding(
        part,
        verdict,
        test.estimate,
        low,
        high,
        adjusted[shown],
        test.n,
        f"{named}, {criterion}, Holm over {1 + len(families[shown])}, {100 * level:g} % interval",
        unit,
        "smaller than the margin of equivalence" if same else "",
        needed=math.nan if met else needed(test, rule, levels),
        detectable=math.nan if met else test.detectable(levels[0] / rule[0].tails, rule[0].bounds[0].alternative),
        smallest_margin=math.nan if margin is None else rule[margin].smallest_margin(test, levels[margin]),
    )


def _inside(low: float, high: float) -> tuple[Bound, ...]:
    return Bound("above", low), Bound("below", high)


def _has_margin(criterion: Criterion) -> bool:
    return criterion.verdict in (REPLICATED, NO_DIFFERENCE) and criterion.tails == 1 and criterion.bounds[-1].at != 0


def needed(test: AbstractPairedTest, rule: Rule, levels: Sequence[float]) -> float:
    """Return the smallest n at which one criterion would be met with the power, infinite where none ever would."""

    def power(bound: Bound, level: float, n: int) -> float:
        return test.power(n, bound.distance(test.estimate), level / bound.tails, bound.alternative)

    return min(
        (
            observations_needed([partial(power, bound, level) for bound in criterion.bounds])
            for criterion, level in zip(rule, levels, strict=True)
            if all(bound.distance(test.estimate) > 0 for bound in criterion.bounds)
        ),
        default=math.inf,
    )
