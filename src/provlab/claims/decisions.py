"""From a test of differences to a verdict. A difference is error(row) - error(than): negative is in the row's favour.

Every rule stands here once, whether the differences are over data sets or over folds. `alpha` is the level of each
test; an equivalence test at level alpha is the same as its 1 - 2 alpha interval lying inside the margin, so that
interval is the one reported with it.
"""

from __future__ import annotations

from provlab.claims.outcome import CONTRADICTED, INCONCLUSIVE, REPLICATED, Finding
from provlab.claims.statistics import AbstractPairedTest, equivalence_p_value

POINTS = "percentage points"


def better(part: str, test: AbstractPairedTest, p_adjusted: float, *, margin: float, alpha: float, how: str) -> Finding:
    """Judge "the row has the lower error".

    Replicated: significantly lower. Contradicted: significantly higher, or shown to be the same within the margin.

    Parameters
    ----------
    part : str
    test : AbstractPairedTest
        Of differences in percentage points.
    p_adjusted : float
        Two-sided p-value, corrected for the family of comparisons.
    margin : float
        Percentage points.
    alpha : float
    how : str
        The correction, for people.
    """
    same = equivalence_p_value(test, -margin, margin)
    name = f"{test.name}, {how}"
    if p_adjusted < alpha:
        note = "smaller than the margin of equivalence" if same < alpha else ""
        verdict = REPLICATED if test.estimate < 0 else CONTRADICTED
        return _finding(part, verdict, test, p_adjusted, name, 1 - alpha, POINTS, note)
    if same < alpha:
        note = "the same within the margin"
        return _finding(part, CONTRADICTED, test, same, _tost(test, -margin, margin), 1 - 2 * alpha, POINTS, note)
    return _finding(part, INCONCLUSIVE, test, p_adjusted, name, 1 - alpha, POINTS)


def comparable(part: str, test: AbstractPairedTest, *, margin: float, alpha: float) -> Finding:
    """Judge "both have about the same error".

    Replicated: shown to be the same within the margin. Contradicted: shown to differ by more than the margin, which is
    where the interval lies wholly outside.
    """
    return near(part, test, low=-margin, high=margin, alpha=alpha, unit=POINTS)


def not_worse(part: str, test: AbstractPairedTest, *, margin: float, alpha: float) -> Finding:
    """Judge "the row's error is at most `margin` above": replicated or contradicted where that is significant."""
    below, above = test.p_value(margin, "less"), test.p_value(margin, "greater")
    verdict = REPLICATED if below < alpha else CONTRADICTED if above < alpha else INCONCLUSIVE
    name = f"{test.name}, not worse by {margin:g}"
    return _finding(part, verdict, test, min(below, above), name, 1 - 2 * alpha, POINTS)


def near(part: str, test: AbstractPairedTest, *, low: float, high: float, alpha: float, unit: str) -> Finding:
    """Judge "the location is between `low` and `high`": two one-sided tests for it, and one on each side against it."""
    inside = equivalence_p_value(test, low, high)
    outside = min(test.p_value(high, "greater"), test.p_value(low, "less"))
    if inside >= alpha and outside < alpha:
        name = f"{test.name}, outside {low:g} to {high:g}"
        return _finding(part, CONTRADICTED, test, outside, name, 1 - 2 * alpha, unit)
    verdict = REPLICATED if inside < alpha else INCONCLUSIVE
    return _finding(part, verdict, test, inside, _tost(test, low, high), 1 - 2 * alpha, unit)


def slightly_worse(part: str, test: AbstractPairedTest, *, most: float, alpha: float) -> Finding:
    """Judge "the row has a higher error, by little".

    Replicated: significantly above 0 and significantly below `most`. Contradicted: significantly below 0, or
    significantly above `most`, two-sided.
    """
    between = max(2 * test.p_value(0.0, "greater"), test.p_value(most, "less"))
    outside = 2 * min(test.p_value(0.0, "less"), test.p_value(most, "greater"))
    if between >= alpha and outside < alpha:
        name = f"{test.name}, below 0 or above {most:g}"
        return _finding(part, CONTRADICTED, test, outside, name, 1 - alpha, POINTS)
    verdict = REPLICATED if between < alpha else INCONCLUSIVE
    name = f"{test.name}, above 0 and below {most:g}"
    return _finding(part, verdict, test, min(1.0, between), name, 1 - alpha, POINTS)


def _tost(test: AbstractPairedTest, low: float, high: float) -> str:
    return f"TOST ({test.name}), {low:g} to {high:g}"


def _finding(
    part: str,
    verdict: str,
    test: AbstractPairedTest,
    p_value: float,
    name: str,
    level: float,
    unit: str,
    note: str = "",
) -> Finding:
    low, high = test.interval(level)
    name = f"{name}, {100 * level:g} % interval"
    return Finding(part, verdict, test.estimate, low, high, p_value, test.n, name, unit, note)
