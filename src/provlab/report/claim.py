"""The page of a claim: its verdict, what was found in each part, and what becomes of it under other readings."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from provlab.claims import ClaimFile, Verdict
from provlab.figures.specification import by_effect, specification_curve
from provlab.readings import stored_outcome
from provlab.readings.prints import printed_effect
from provlab.report.plots import strip
from provlab.report.templating import Site, number

log = logging.getLogger(__name__)

MAX_SAMPLES = 3000
"""Values of the samples of a claim that its table lists."""


def write_claim(site: Site, title: str, href: str, verdict: Verdict, readings: Mapping[str, Any] | None) -> None:
    """Write the page of a claim.

    Parameters
    ----------
    site : Site
    title, href : str
        Of the artefact that it is tested on.
    verdict : Verdict
    readings : mapping, optional
        See `readings_of`.
    """
    claim, parts = verdict.claim, [*verdict.parts, *verdict.beside]
    drawn = {}
    for unit in dict.fromkeys(part.unit for part in parts):  # parts of one unit share an axis, which shows zero
        same = [part for part in parts if part.unit == unit]
        ends = [end for part in same for end in (part.effect, part.low, part.high, *part.margins)]
        ends += [value for part in same for _, value in part.sample]
        finite = [0.0, *(end for end in ends if math.isfinite(end))]
        axis = min(finite), max(finite)
        for part in same:
            label = f"{part.part}: {part.verdict}, effect {number(part.effect)}; axis {number(axis[0])} to "
            drawn[part.part] = strip(
                (value for _, value in part.sample), axis, label + number(axis[1]), mean=part.effect,
                interval=(part.low, part.high), margins=part.margins, verdict=part.verdict,
            )  # fmt: skip
    samples = [(part.part, name, value) for part in parts for name, value in part.sample]
    curve = ""
    if readings:
        curve = specification_curve(
            readings["universes"], {place.id: names for place, names in readings["places"]}, unit=readings["unit"],
            margins=readings["margins"], printed=readings["printed"],
        )  # fmt: skip
    site.write(
        f"claims/{claim.id}.html", "claim.html", claim.text, "claims", claim.id,
        above=[("Claims", "claims/index.html")], verdict=verdict, claim=claim, artefact=(title, href), drawn=drawn,
        readings=readings, curve=curve, parameters=claim.rule.parameters.items(),
        rule=claim.rule.meaning, samples=samples[:MAX_SAMPLES],
        n_samples=len(samples),
    )  # fmt: skip


def readings_of(files: Iterable[ClaimFile], results: Path) -> dict[str, dict[str, Any]]:
    """Return what `provsel readings` found of the claims that it was asked about, for their pages.

    What cannot be read is left out with a warning.

    Returns
    -------
    dict
        By claim: `robustness`; `places`, (place, its options) of those that touch it; `universes`, see `by_effect`;
        `unit`, `margins` and `printed` of the effects; `part` of the data that they are about, or None.
    """
    found: dict[str, dict[str, Any]] = {}
    for file in files:
        try:
            outcome = stored_outcome(file.paper, results)
        except (ValueError, OSError) as error:
            log.warning("report: the readings of %s cannot be shown: %s", file.paper, error)
            continue
        if outcome is None:
            continue
        places = {place.id: place for place in outcome.multiverse.readings.places}
        universes = dict(iter(outcome.universes.groupby("claim", sort=False)))
        for robustness in outcome.robustness:
            claim, options = outcome.claims[robustness.claim], outcome.places_of(robustness.claim)
            if robustness.n_run and options:
                printed, lines = printed_effect(claim), universes[robustness.claim]
                found[claim.id] = {
                    "robustness": robustness,
                    "places": [(places[name], chosen) for name, chosen in options.items()],
                    "universes": by_effect(lines),
                    "unit": str(lines["unit"].iloc[0]),
                    "margins": tuple(getattr(claim.rule, "margins", ())),
                    "printed": np.nan if printed is None else printed,
                    "part": outcome.multiverse.part(claim.rule.artefact),
                }
    return found
