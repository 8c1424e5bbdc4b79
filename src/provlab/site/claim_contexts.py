"""What the page of a claim shows: a drawing for each unit of its parts, and the samples as a table."""

from __future__ import annotations

from math import isnan

import pandas as pd

from provlab.figures.specification import specification_curve
from provlab.site.claim_plot import MAX_DOTS, claim_svg
from provlab.site.model import ArtefactPage
from provlab.site.model_claims import ClaimPage
from provlab.site.model_readings import ClaimReadings
from provlab.site.templating import Context

MAX_SAMPLES = 3000
"""Values of the samples of a claim that its table lists."""


def claim_context(claim: ClaimPage, artefact: ArtefactPage | None) -> Context:
    """Return what a claim's page shows, with a drawing for each unit of its parts."""
    drawings: list[Context] = []
    for unit in dict.fromkeys(part.unit for part in claim.parts):
        parts = [part for part in claim.parts if part.unit == unit]
        if svg := claim_svg(parts, unit):
            drawings.append({
                "svg": svg,
                "margins": any(part.margins for part in parts),
                "dots": any(part.sample for part in parts),
                "intervals": any(not isnan(part.low) for part in parts),
                "capped": MAX_DOTS if any(len(part.sample) > MAX_DOTS for part in parts) else 0,
            })  # fmt: skip
    samples = [(part.part, name, value) for part in claim.parts for name, value in part.sample]
    return {
        "claim": claim,
        "artefact": artefact,
        "parameters": claim.parameters,
        "drawings": drawings,
        "curve": _curve(claim.readings) if claim.readings else "",
        "samples": samples[:MAX_SAMPLES],
        "samples_cut": len(samples) > MAX_SAMPLES,
    }


def _curve(found: ClaimReadings) -> str:
    names = [place.id for place in found.places]
    lines = [
        (*line.options, line.verdict, line.effect, line.low, line.high, line.is_default) for line in found.universes
    ]
    frame = pd.DataFrame(lines, columns=[*names, "verdict", "effect", "low", "high", "is_default"])
    places = {place.id: place.options for place in found.places}
    return specification_curve(frame, places, unit=found.unit, margins=found.margins, printed=found.printed)
