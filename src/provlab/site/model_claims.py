"""What the pages show of a claim, as plain data: its verdict, and what was found in each of its parts.

`collect_claims` fills it. Strings are untrusted, as in `model`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from provlab.claims.outcome import Finding
from provlab.site.model_readings import ClaimReadings
from provsel.values import ValuesWithNaN


@dataclass(frozen=True, eq=False)
class ClaimPart(Finding):
    """What was found in one part of a claim; its sample may be thinned.

    Attributes
    ----------
    decides : bool
        False for parts that are tested beside, without a say.
    """

    decides: bool = True


@dataclass(frozen=True, eq=False)
class ClaimPage(ValuesWithNaN):
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
        One of `provlab.claims.VERDICTS`.
    headline : ClaimPart
        The part that decided.
    parts : tuple of ClaimPart
        All parts; () where the claim was not run.
    state : str
        "complete", "partial (k of n)" or "not run"; with the user's settings.
    reason : str
        Why it was not run, else "".
    readings : ClaimReadings or None
        None where no reading was asked.
    needed : float
        Inconclusive: the n that would decide all parts, infinite where none would; else NaN.
    kind : str
        "paper" where it counts in the headline, else why it stands beside: alternative, control, certain, repeated.
    smallest_margin : float
        Where all parts would be shown to be the same, or not worse; NaN where the claim has no margin.
    margin : str
        What the claim's margin follows from; "" where it has none.
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
    readings: ClaimReadings | None = None
    kind: str = "paper"
    needed: float = math.nan
    smallest_margin: float = math.nan
    margin: str = ""

    @property
    def href(self) -> str:
        """Page of the claim."""
        return f"claims/{self.id}.html"
