"""Verdicts: of one part of a claim, and of the claim as a whole."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from provsel.values import ValuesWithNaN

REPLICATED, CONTRADICTED, NO_DIFFERENCE = "replicated", "contradicted", "no difference"
DEPENDS, INCONCLUSIVE, VACUOUS, NOT_RUN = "depends on r", "inconclusive", "vacuous", "not run"

VERDICTS = (REPLICATED, CONTRADICTED, NO_DIFFERENCE, DEPENDS, INCONCLUSIVE, VACUOUS, NOT_RUN)
"""No difference: shown to be the same within the claim's margin, where it says that one is better. Depends on r:
it holds at some numbers of features and not at others, and names none. Inconclusive: the
sample is too small for either. Vacuous: what the claim says holds whatever happens, such as a bound above the
maximum."""


class UnavailableError(Exception):
    """Evidence that cannot be had now; the message says why. It makes a claim "not run", and never fails a command."""


@dataclass(frozen=True, eq=False)
class Finding(ValuesWithNaN):
    """What the evidence says of a part of a claim, such as one number of features.

    Attributes
    ----------
    part : str
        Column of the artefact, or what else was looked at.
    verdict : str
        One of `VERDICTS`.
    effect, low, high, p_value : float
        NaN where there is none.
    n : int
        Data sets, folds or trials, whichever `test` is over.
    test : str
        The test that decided.
    unit : str
        Of effect, low, high, margins and the values of the sample.
    note : str
    margins : tuple of float
        Thresholds that decided, where they are in `unit`.
    sample : tuple of (name, value)
        What the test was over, such as the difference on each data set.
    needed : float
        Inconclusive: the n that would decide it with a power of 0.9, were location and spread those seen; infinite
        where no n would.
    detectable : float
        Inconclusive: the distance from the threshold, in `unit`, that n can show with a power of 0.9.
    smallest_margin : float
        The smallest margin, in `unit`, with which this part would be shown to be the same, or not worse.
    """

    part: str
    verdict: str
    effect: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p_value: float = math.nan
    n: int = 0
    test: str = ""
    unit: str = ""
    note: str = ""
    margins: tuple[float, ...] = ()
    sample: tuple[tuple[str, float], ...] = ()
    needed: float = math.nan
    detectable: float = math.nan
    smallest_margin: float = math.nan

    @property
    def size_text(self) -> str:
        """Return how many observations would decide it, and what these can show; "" where it is decided."""
        if math.isnan(self.needed):
            return ""
        n = "no n" if math.isinf(self.needed) else f"n={self.needed:.0f}"
        text = f"{n} would decide it with power 0.9"
        return text if math.isnan(self.detectable) else f"{text}; n={self.n} can show {self.detectable:.3g} {self.unit}"

    def line(self) -> str:
        """Return the finding as a phrase."""
        text = f"{self.part}: {self.verdict}"
        if not math.isnan(self.effect):
            text += f", {self.effect:.4g}{interval_text(self.low, self.high)}"
            text += "" if math.isnan(self.p_value) else f", p={self.p_value:.2g}"
            text += f", n={self.n}"
        beside = "; ".join(filter(None, (self.note, self.size_text)))
        return f"{text} ({beside})" if beside else text


def interval_text(low: float, high: float) -> str:
    """Return " [low, high]", or nothing where there is no interval."""
    return "" if math.isnan(low) and math.isnan(high) else f" [{low:.4g}, {high:.4g}]"


def verdict_of(findings: Sequence[Finding]) -> str:
    """Return the verdict of a claim that speaks of all its parts.

    Replicated or vacuous where every part is; contradicted as soon as one part is, since the claim is then wrong there;
    else no difference as soon as one part shows none, for the same reason; not run where no part has evidence; else
    inconclusive.
    """
    verdicts = {finding.verdict for finding in findings}
    if verdicts <= {NOT_RUN}:
        return NOT_RUN
    for one_suffices in (CONTRADICTED, NO_DIFFERENCE):
        if one_suffices in verdicts:
            return one_suffices
    return verdicts.pop() if len(verdicts) == 1 else INCONCLUSIVE


def deciding(findings: Sequence[Finding]) -> Finding:
    """Return the part whose numbers stand for the claim: the clearest contradiction, else the weakest support.

    For a claim about all parts the largest p-value is that of the whole (intersection-union test).
    """
    verdict = verdict_of(findings)
    same = [finding for finding in findings if finding.verdict == verdict]
    candidates = same or [finding for finding in findings if finding.verdict != NOT_RUN]

    def order(finding: Finding) -> tuple[float, float]:
        p_value = 1.0 if math.isnan(finding.p_value) else finding.p_value
        size = 0.0 if math.isnan(finding.effect) else abs(finding.effect)
        return (p_value if verdict in (CONTRADICTED, NO_DIFFERENCE) else -p_value), -size

    return min(candidates, key=order)
