"""Judge claims, rank methods, and lay both out as frames."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from provlab.claims.outcome import INCONCLUSIVE, NOT_RUN, Finding, UnavailableError, deciding, verdict_of
from provlab.claims.pairing import AbstractEvidence
from provlab.claims.schema import Claim, RankingRequest
from provlab.claims.statistics import Ranking, rank_methods
from provlab.plan import counted_state

COLUMNS = [
    "id", "paper", "verdict", "effect", "low", "high", "p_value", "n", "test",
    "where", "claim", "unit", "detail", "state", "needed", "detectable", "smallest_margin",
    "kind",
]  # fmt: skip
"""Columns of results/verdicts.csv."""


@dataclass(frozen=True)
class Verdict:
    """What came out of a claim.

    Attributes
    ----------
    claim : Claim
    verdict : str
    finding : Finding
        The part that decided; its numbers are shown.
    lines : tuple of str
        All parts, and what was tested beside.
    state : str
        "complete", "partial (k of n)" or "not run": trials behind the claim.
    settings : str
        The user's settings that `state` is about: complete under them need not be the paper's protocol.
    parts : tuple of (Finding, bool)
        The same as `lines`; False for what was tested beside, without a say.
    """

    claim: Claim
    verdict: str
    finding: Finding
    lines: tuple[str, ...]
    state: str
    settings: str = ""
    parts: tuple[tuple[Finding, bool], ...] = ()

    @property
    def full_state(self) -> str:
        """State, with the settings that it is about."""
        return f"{self.state}, with {self.settings}" if self.settings and self.state != NOT_RUN else self.state

    @property
    def needed(self) -> float:
        """The n at which each part that is inconclusive would be decided with a power of 0.9; NaN if none is."""
        if self.verdict != INCONCLUSIVE:
            return math.nan
        open_parts = [part.needed for part, decides in self.parts if decides and part.verdict == INCONCLUSIVE]
        return max((needed for needed in open_parts if not math.isnan(needed)), default=math.nan)

    @property
    def smallest_margin(self) -> float:
        """The smallest margin with which all parts would be shown to be the same, or not worse; NaN if none has one."""
        margins = [part.smallest_margin for part, decides in self.parts if decides]
        return max((margin for margin in margins if not math.isnan(margin)), default=math.nan)

    @property
    def detail(self) -> str:
        """All lines in one."""
        return "; ".join(self.lines)


@dataclass(frozen=True)
class RankingResult:
    """The ranking of methods in a column of an artefact; None with the reason where there is none."""

    artefact: str
    column: str
    ranking: Ranking | None
    note: str


def judge(claims: Sequence[Claim], evidence: AbstractEvidence, family: Sequence[Claim] | None = None) -> list[Verdict]:
    """Return the verdict on each claim.

    Parameters
    ----------
    claims : sequence of Claim
    evidence : Evidence
    family : sequence of Claim, optional
        All claims of the paper, which corrections for many comparisons refer to; by default `claims`.
    """
    everything = claims if family is None else family
    read_selections(claims, evidence)
    return [_judge(claim, evidence, everything) for claim in claims]


def read_selections(claims: Iterable[Claim], evidence: AbstractEvidence) -> None:
    """Read the features that some claims are about at once, as each reading goes through the whole store."""
    tests = [claim.evaluator for claim in claims if "features" in claim.evaluator.reads and not claim.evaluator.dataset]
    evidence.read_selections(place for test in tests for place in test.places((*test.columns, *test.also)))


def rank(requests: Iterable[RankingRequest], evidence: AbstractEvidence) -> list[RankingResult]:
    """Return Friedman's and Nemenyi's tests for each column of each request."""
    results = []
    for request in requests:
        for column in request.columns:
            try:
                errors = evidence.dataset_errors(request.artefact, request.rows, column)
            except UnavailableError as reason:
                results.append(RankingResult(request.artefact, column, None, str(reason)))
                continue
            ranking = rank_methods(errors)
            absent = [row for row in request.rows if row not in errors]
            note = f"nothing stored for {', '.join(absent)}" if absent else ""
            if ranking is None:
                note = note or f"needs at least 2 data sets and 3 methods, found {len(errors)} and {errors.shape[1]}"
            results.append(RankingResult(request.artefact, column, ranking, note))
    return results


def verdict_frame(verdicts: Iterable[Verdict]) -> pd.DataFrame:
    """Return one line a claim, with `COLUMNS`."""
    lines = []
    for made in verdicts:
        claim, finding = made.claim, made.finding
        numbers = (finding.effect, finding.low, finding.high, finding.p_value, finding.n, finding.test)
        rest = (claim.where, claim.text, finding.unit, made.detail, made.full_state)
        sizes = (made.needed, finding.detectable, made.smallest_margin, claim.kind)
        lines.append((claim.id, claim.paper, made.verdict, *numbers, *rest, *sizes))
    return pd.DataFrame(lines, columns=COLUMNS)


def _judge(claim: Claim, evidence: AbstractEvidence, family: Sequence[Claim]) -> Verdict:
    evaluator, evidence = claim.evaluator, evidence.on(claim.evaluator.dataset)
    peers = [other.evaluator for other in family if type(other.evaluator) is type(evaluator)]
    try:
        findings = evaluator.findings(evaluator.columns, evidence, peers)
        beside = evaluator.findings(evaluator.also, evidence, peers) if evaluator.also else []
        found, planned = evidence.counts(evaluator.places(evaluator.columns))
    except UnavailableError as reason:
        finding = Finding("", NOT_RUN)
        return Verdict(claim, NOT_RUN, finding, (str(reason),), NOT_RUN)
    lines = (*(finding.line() for finding in findings), *(f"beside, {finding.line()}" for finding in beside))
    state, settings = counted_state(found, planned), " ".join(evidence.overrides)
    parts = (*((finding, True) for finding in findings), *((finding, False) for finding in beside))
    return Verdict(claim, verdict_of(findings), deciding(findings), lines, state, settings, parts)
