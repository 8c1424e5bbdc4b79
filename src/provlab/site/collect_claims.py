"""From claims and what is stored to the pages of claims."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from provlab.claims import Evidence, Verdict, decisions, judge
from provlab.claims.evaluators import AbstractEvaluator
from provlab.claims.judged import all_claim_files
from provlab.claims.outcome import Finding
from provlab.claims.schema import Claim
from provlab.plan import Artefact
from provlab.site.collect_readings import claim_readings
from provlab.site.model_claims import ClaimPage, ClaimPart
from provlab.site.sharing import SnapshotPool, snapshot_of_this_process

MAX_SAMPLE = 200
"""Values of a sample that a claim's plot shows."""


def claim_pages(
    share: SnapshotPool, results: Path, overrides: Sequence[str], artefacts: Mapping[str, Artefact | str]
) -> dict[str, list[ClaimPage]]:
    """Return the pages of the claims of each paper, in the order of its claims.yaml.

    Processes share the work by artefact, whose trials are then read once.
    """
    files = all_claim_files()
    parts = []
    for file in files:
        for name in dict.fromkeys(claim.evaluator.artefact for claim in file.claims):
            claims = [claim for claim in file.claims if claim.evaluator.artefact == name]
            read = {place[0] for claim in claims for place in claim.evaluator.places(claim.evaluator.columns)}
            parts.append((file.claims, claims, {name: artefacts[name] for name in read if name in artefacts}))
    # the largest first, so that no process works on it alone at the end
    parts.sort(key=lambda part: -len(part[1]))
    found = share.map(partial(_judge_part, tuple(overrides)), *zip(*parts, strict=True)) if parts else []
    readings = claim_readings(files, results)
    pages = {page.id: dataclasses.replace(page, readings=readings.get(page.id)) for part in found for page in part}
    return {file.paper: [pages[claim.id] for claim in file.claims] for file in files}


def _judge_part(
    overrides: Sequence[str], family: Sequence[Claim], claims: Sequence[Claim], artefacts: Mapping[str, Artefact | str]
) -> list[ClaimPage]:
    evidence = Evidence(snapshot_of_this_process(), overrides, artefacts=artefacts)
    return [claim_page(made) for made in judge(claims, evidence, family)]


def claim_page(made: Verdict) -> ClaimPage:
    """Return the page of one claim."""
    claim = made.claim
    return ClaimPage(
        id=claim.id,
        paper=claim.paper,
        where=claim.where,
        text=claim.text,
        artefact=claim.evaluator.artefact,
        rule=rule_of(claim.evaluator),
        parameters=tuple(_parameters(claim.evaluator)),
        verdict=made.verdict,
        headline=_part(made.finding, True),
        parts=tuple(_part(finding, decides) for finding, decides in made.parts),
        state=made.full_state,
        reason="" if made.parts else made.detail,
        kind=claim.kind,
        needed=made.needed,
        smallest_margin=made.smallest_margin,
        margin=claim.margin,
    )


def rule_of(evaluator: AbstractEvaluator) -> str:
    """Return how a test decides, in the words of its documentation and of the rule that it names, with its values."""
    text = _prose(type(evaluator))
    named = re.search(r"[;:] see `decisions\.(\w+)`", text)
    if named:
        text = text.replace(named.group(0), "") + " " + _prose(getattr(decisions, named.group(1)))
    values = {name: value for name, value in vars(evaluator).items() if value not in ("", ())}

    def said(name: re.Match[str]) -> str:
        value = values.get(name.group(1))
        if value is None:
            return f"“{name.group(1)}”" if hasattr(evaluator, name.group(1)) else name.group(1)
        return (
            "; ".join(map(str, value))
            if isinstance(value, tuple)
            else f"{value:g}"
            if isinstance(value, float)
            else str(value)
        )

    return re.sub(r"`([^`]+)`", said, text)


def _prose(thing: object) -> str:
    """Return the part of a docstring before its sections, in one paragraph."""
    text = re.split(r"\n\w[\w ]*\n-{3,}", inspect.getdoc(thing) or "")[0]
    return " ".join(text.split())


def _parameters(evaluator: AbstractEvaluator) -> list[tuple[str, str]]:
    found = []
    for field in dataclasses.fields(evaluator):
        value = getattr(evaluator, field.name)
        if field.name != "artefact" and value not in ("", ()):
            found.append((field.name, "; ".join(map(str, value)) if isinstance(value, tuple) else str(value)))
    return found


def _part(finding: Finding, decides: bool) -> ClaimPart:
    return ClaimPart(**{**vars(finding), "decides": decides, "sample": _thinned(finding.sample)})


def _thinned(sample: Sequence[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    """Return at most `MAX_SAMPLE` values, evenly taken from the ordered ones so that both ends stay."""
    if len(sample) <= MAX_SAMPLE:
        return tuple(sample)
    ordered = sorted(sample, key=lambda item: item[1])
    places = (round(k * (len(ordered) - 1) / (MAX_SAMPLE - 1)) for k in range(MAX_SAMPLE))
    return tuple(ordered[place] for place in places)
