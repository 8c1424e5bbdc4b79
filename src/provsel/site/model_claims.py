"""What the pages show of a claim, as plain data: its verdict, and what was found in each of its parts.

`collect_claims` fills it. Strings are foreign, as in `model`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class ClaimPart:
    """What was found in one part of a claim, such as one number of features.

    Attributes
    ----------
    part, verdict, test, unit, note : str
    effect, low, high, p_value : float
        NaN where there is none.
    n : int
    decides : bool
        False for parts that are tested beside, without a say.
    sample : tuple of (name, value)
        What the test was over, such as differences by data set, in `unit`; () where there is no such list.
    margins : tuple of float
        Thresholds of the decision in `unit`, such as (-1.0, 1.0); () where there are none.
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
    decides: bool = True
    sample: tuple[tuple[str, float], ...] = ()
    margins: tuple[float, ...] = ()


@dataclass(frozen=True)
class ClaimPage:
    """A claim with its verdict.

    Attributes
    ----------
    id, paper, where, text : str
        `text` is our paraphrase, `where` the place in the paper.
    artefact : str
        paper/artefact that it is tested on.
    rule : str
        How the verdict is decided, in words.
    parameters : tuple of (name, value)
        Rows, columns, margins of the test.
    verdict : str
        "replicated", "contradicted", "inconclusive" or "not run".
    headline : ClaimPart
        The part that decided.
    parts : tuple of ClaimPart
        All parts; () where the claim was not run.
    state : str
        "complete", "partial (k of n)" or "not run"; with the user's settings.
    reason : str
        Why it was not run, else "".
    """

    id: str
    paper: str
    where: str
    text: str
    artefact: str
    rule: str
    parameters: tuple[tuple[str, str], ...]
    verdict: str
    headline: ClaimPart
    parts: tuple[ClaimPart, ...]
    state: str
    reason: str = ""

    @property
    def href(self) -> str:
        """Page of the claim."""
        return f"claims/{self.id}.html"
