"""The page of a claim: its verdict, what was found in each part, and what becomes of it under other readings."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from markupsafe import Markup

from provlab.claims import ClaimFile, Verdict
from provlab.claims.rules import Finding
from provlab.figures.specification import by_effect, specification_curve
from provlab.readings.prints import printed_effect
from provlab.readings.robustness import Robustness
from provlab.readings.stored import stored_outcome
from provlab.readings.study import Outcome
from provlab.report.plots import strip
from provlab.report.templating import Site, number

log = logging.getLogger(__name__)

MAX_SAMPLES = 3000
"""Values of the samples of a claim that its table lists."""


class ClaimReadings(NamedTuple):
    """What `provsel readings` found of a claim: its robustness, and the outcome that has its universes."""

    robustness: Robustness
    outcome: Outcome


def write_claim(site: Site, title: str, href: str, verdict: Verdict, readings: ClaimReadings | None) -> None:
    """Write the page of a claim; title and href are those of the artefact that it is tested on."""
    claim, parts, shown = verdict.claim, [*verdict.parts, *verdict.beside], {}
    samples = [(part.part, name, value) for part in parts for name, value in part.sample]
    if readings:
        outcome, options, printed = readings.outcome, readings.outcome.places_of(claim.id), printed_effect(claim)
        universes = by_effect(outcome.universes[outcome.universes["claim"] == claim.id])
        shown = {
            "places": [place for place in outcome.multiverse.readings.places if place.id in options],
            "universes": universes, "printed": printed, "data": outcome.multiverse.part(claim.rule.artefact),
            "curve": specification_curve(
                universes, options, unit=str(universes["unit"].iloc[0]), margins=getattr(claim.rule, "margins", ()),
                printed=printed,
            ),
        }  # fmt: skip
    site.write(
        f"claims/{claim.id}.html", "claim.html", claim.text, "claims", claim.id,
        above=[("Claims", "claims/index.html")], verdict=verdict, claim=claim, artefact=(title, href),
        drawn=_strips(parts), readings=readings, samples=samples[:MAX_SAMPLES], n_samples=len(samples), **shown,
    )  # fmt: skip


def _strips(parts: Sequence[Finding]) -> dict[str, Markup]:
    """Return a drawing of each part; those of one unit share an axis, which shows zero."""
    drawn = {}
    for unit in dict.fromkeys(part.unit for part in parts):
        same = [part for part in parts if part.unit == unit]
        ends = [end for part in same for end in (part.effect, part.low, part.high, *part.margins)]
        ends += [value for part in same for _, value in part.sample]
        finite = [0.0, *(end for end in ends if math.isfinite(end))]
        low, high = min(finite), max(finite)
        for part in same:
            words = f"{part.part}: {part.verdict}, effect {number(part.effect)}; axis {number(low)} to {number(high)}"
            drawn[part.part] = strip(
                (value for _, value in part.sample), (low, high), words, mean=part.effect,
                interval=(part.low, part.high), margins=part.margins, verdict=part.verdict,
            )  # fmt: skip
    return drawn


def readings_of(files: Iterable[ClaimFile], results: Path) -> dict[str, ClaimReadings]:
    """Return by claim what `provsel readings` found; what cannot be read is left out with a warning."""
    found: dict[str, ClaimReadings] = {}
    for file in files:
        try:
            outcome = stored_outcome(file.paper, results)
        except (ValueError, OSError) as error:
            log.warning("report: the readings of %s cannot be shown: %s", file.paper, error)
            continue
        if outcome is None:
            continue
        for robustness in outcome.robustness:
            if robustness.n_run and outcome.places_of(robustness.claim):
                found[robustness.claim] = ClaimReadings(robustness, outcome)
    return found
