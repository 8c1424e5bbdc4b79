"""Verdicts on claims, as objects and as a data frame for a file."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from provlab.core.artefact import counted_state
from provlab.core.tables import write_frame
from provlab.verdicts.claims.dataset_ranks import rank, ranked
from provlab.verdicts.claims.evidence import AbstractEvidence, Place, UnavailableError
from provlab.verdicts.claims.rules import (
    CONTRADICTED,
    INCONCLUSIVE,
    NO_DIFFERENCE,
    NOT_CONTRADICTED,
    NOT_RUN,
    REPLICATED,
    Finding,
)
from provlab.verdicts.claims.schema import PANEL, Claim, ClaimFile

COLUMNS = [
    "id", "paper", "verdict", "effect", "low", "high", "p_value", "n", "test", "where", "claim", "unit", "detail",
    "state", "needed", "detectable", "smallest_margin", "kind",
]  # fmt: skip
"""Columns of results/verdicts.csv."""


@dataclass(frozen=True)
class Verdict:
    """The verdict on a claim, with its evidence.

    Attributes
    ----------
    claim : Claim
    parts : tuple of Finding
        The parts that the claim covers; () if it was not run.
    beside : tuple of Finding
        Parts that were tested and reported, but do not affect the verdict.
    state : str
        "complete", "partial (k of n)" or "not run", by the stored trials behind the
        claim.
    settings : str
        The user's settings to which `state` refers. Results that are complete under
        them may not follow the paper's protocol.
    reason : str
        The reason why the claim was not run; "" otherwise.
    """

    claim: Claim
    parts: tuple[Finding, ...] = ()
    beside: tuple[Finding, ...] = ()
    state: str = NOT_RUN
    settings: str = ""
    reason: str = ""

    @cached_property
    def verdict(self) -> str:
        """One of `VERDICTS`; see `verdict_of`."""
        return verdict_of(self.parts)

    @cached_property
    def finding(self) -> Finding:
        """The part whose numbers represent the claim; see `headline`."""
        return headline(self.parts)

    @property
    def full_state(self) -> str:
        """The state, with the settings to which it refers."""
        return (
            f"{self.state}, with {self.settings}"
            if self.settings and self.state != NOT_RUN
            else self.state
        )

    @property
    def needed(self) -> float:
        """The n at which all open parts have a power of 0.9 at the observed effect; NaN if no part is open."""
        if self.verdict not in (INCONCLUSIVE, NOT_CONTRADICTED):
            return math.nan
        return _largest(
            part.needed for part in self.parts if part.verdict == self.verdict
        )

    @property
    def smallest_margin(self) -> float:
        """The smallest margin with which all parts would be shown to be equal, or not worse; NaN if undefined."""
        return _largest(part.smallest_margin for part in self.parts)

    @property
    def lines(self) -> tuple[str, ...]:
        """All parts and additional tests as text, or the reason why there are none."""
        lines = [part.line() for part in self.parts]
        lines += [f"beside, {part.line()}" for part in self.beside]
        if not lines and self.reason:
            lines = [self.reason]
        return tuple(lines)

    @property
    def detail(self) -> str:
        """All lines joined into one."""
        return "; ".join(self.lines)


def _largest(values: Iterable[float]) -> float:
    """Return the largest value, ignoring NaN; NaN if all are NaN."""
    return max((value for value in values if not math.isnan(value)), default=math.nan)


def verdict_of(findings: Sequence[Finding]) -> str:
    """Combine the verdicts on all parts of a claim.

    A claim is replicated or vacuous if every part is. It is contradicted if any part
    is, because it is then wrong there; for the same reason, it has no difference if any
    part shows none. It is not contradicted if some parts are only that, and all others
    are replicated. It is not run if no part has evidence, and otherwise inconclusive.
    """
    verdicts = {finding.verdict for finding in findings}
    if verdicts <= {NOT_RUN}:
        return NOT_RUN
    for one_suffices in (CONTRADICTED, NO_DIFFERENCE):
        if one_suffices in verdicts:
            return one_suffices
    if verdicts == {REPLICATED, NOT_CONTRADICTED}:
        return NOT_CONTRADICTED
    return verdicts.pop() if len(verdicts) == 1 else INCONCLUSIVE


def headline(findings: Sequence[Finding]) -> Finding:
    """Return the part whose numbers represent the claim: the clearest contradiction, or otherwise the weakest support.

    For a claim about all parts, the largest p-value is that of the claim
    (intersection-union test).
    """
    verdict = verdict_of(findings)
    candidates = [finding for finding in findings if finding.verdict == verdict]
    if not candidates:
        candidates = [finding for finding in findings if finding.verdict != NOT_RUN]
    one_suffices = verdict in (CONTRADICTED, NO_DIFFERENCE)

    def order(finding: Finding) -> tuple[float, float]:
        p_value = 1.0 if math.isnan(finding.p_value) else finding.p_value
        size = 0.0 if math.isnan(finding.effect) else abs(finding.effect)
        return (p_value if one_suffices else -p_value), -size

    return min(candidates, key=order, default=Finding("", NOT_RUN))


def judge(
    claims: Sequence[Claim],
    evidence: AbstractEvidence,
    family: Sequence[Claim] | None = None,
) -> list[Verdict]:
    """Return the verdict on each claim.

    Parameters
    ----------
    claims : sequence of Claim
    evidence : AbstractEvidence
    family : sequence of Claim, optional
        All claims of the paper, which corrections for many comparisons need; by default
        `claims`.
    """
    if family is None:
        family = claims
    _read_selections(claims, evidence)
    return [_judge(claim, evidence, family) for claim in claims]


def judge_files(
    files: Sequence[ClaimFile],
    evidence: AbstractEvidence,
    about: Collection[str] | None = None,
) -> tuple[list[Verdict], pd.DataFrame]:
    """Judge the claims of papers and rank their methods, on stored trials or on a table of results; see `rank`.

    Parameters
    ----------
    files : sequence of ClaimFile
    evidence : AbstractEvidence
    about : collection of str, optional
        Artefacts to which claims and rankings are restricted. Corrections for many
        comparisons still refer to all claims.
    """
    # papers share no artefacts
    family = [claim for file in files for claim in file.claims]
    requests = [
        ranking
        for file in files
        for ranking in file.rankings
        if about is None or ranking.artefact in about
    ]
    verdicts = []
    for file in files:
        claims = [
            claim
            for claim in file.claims
            if about is None or claim.artefacts & {*about}
        ]
        if file.evidence == PANEL:  # statements from many papers are separate questions
            verdicts += [judge([claim], evidence)[0] for claim in claims]
        else:
            verdicts += judge(claims, evidence, family)
    return verdicts, rank(requests, evidence)


def _read_selections(claims: Iterable[Claim], evidence: AbstractEvidence) -> None:
    """Read the selected features for all claims at once, because each read scans the whole store."""
    places: list[Place] = []
    for claim in claims:
        rule = claim.rule
        if "features" in rule.reads and not rule.dataset:
            with suppress(UnavailableError):  # the claim's own verdict reports it
                evidence.counts(rule.places())
                places += rule.places()
    if places:
        evidence.selections(places)


def _judge(
    claim: Claim, evidence: AbstractEvidence, family: Sequence[Claim]
) -> Verdict:
    rule = claim.rule
    evidence = evidence.on(rule.dataset, rule.only, rule.without)
    peers = [peer.rule for peer in family if type(peer.rule) is type(rule)]
    try:
        findings = rule.findings(rule.columns, evidence, peers)
        beside = rule.findings(rule.also, evidence, peers) if rule.also else []
        state = counted_state(*evidence.counts(rule.places(rule.columns)))
    except UnavailableError as reason:
        return Verdict(claim, reason=str(reason))
    return Verdict(
        claim, tuple(findings), tuple(beside), state, " ".join(evidence.overrides)
    )


def verdict_frame(verdicts: Iterable[Verdict]) -> pd.DataFrame:
    """Return one row per claim, with `COLUMNS`."""
    lines = []
    for verdict in verdicts:
        claim = verdict.claim
        finding = verdict.finding
        lines.append((
            claim.id, claim.paper, verdict.verdict, finding.effect, finding.low, finding.high, finding.p_value,
            finding.n, finding.test, claim.where, claim.text, finding.unit, verdict.detail, verdict.full_state,
            verdict.needed, finding.detectable, verdict.smallest_margin, claim.kind,
        ))  # fmt: skip
    return pd.DataFrame(lines, columns=COLUMNS)


def stored_verdicts(folder: Path) -> list[str]:
    """Return the verdicts in verdicts.csv, one per claim, or an empty list without that file."""
    file = folder / "verdicts.csv"
    return list(pd.read_csv(file)["verdict"]) if file.exists() else []


def write_verdicts(
    folder: Path, verdicts: Iterable[Verdict], rankings: pd.DataFrame
) -> None:
    """Write verdicts.csv and rankings.csv."""
    write_frame(verdict_frame(verdicts), folder / "verdicts.csv")
    write_frame(ranked(rankings), folder / "rankings.csv")
