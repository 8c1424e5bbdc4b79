"""From what `provsel readings` wrote to what the pages of claims show."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from provlab.claims import NOT_RUN, ClaimFile
from provlab.readings import Outcome, stored_outcome
from provlab.readings.prints import printed_effect
from provlab.site.model_readings import ClaimReadings, ReadPlace, UniverseLine

log = logging.getLogger(__name__)

SHARE_DECIMALS = 4
"""Of a share of the variance: what rounding leaves of none is none."""

MAX_UNIVERSES = 1000
"""Universes of a claim that its page shows; all are in the CSV file."""


def claim_readings(files: list[ClaimFile], results: Path) -> dict[str, ClaimReadings]:
    """Return the readings of those claims that have been asked; what cannot be read is left out with a warning."""
    found: dict[str, ClaimReadings] = {}
    for file in files:
        try:
            outcome = stored_outcome(file.paper, results)
        except (ValueError, OSError) as error:
            log.warning("report: the readings of %s cannot be shown: %s", file.paper, error)
            continue
        if outcome is not None:
            found |= _of_paper(outcome)
    return found


def _of_paper(outcome: Outcome) -> Iterator[tuple[str, ClaimReadings]]:
    places = {place.id: place for place in outcome.multiverse.readings.places}
    for made in outcome.robustness:
        claim, lines = outcome.claims[made.claim], outcome.universes[outcome.universes["claim"] == made.claim]
        options = outcome.places_of(made.claim)
        if not made.n_run or not options:
            continue
        part = outcome.multiverse.part(claim.evaluator.artefact)
        yield made.claim, ClaimReadings(
            places=tuple(
                ReadPlace(
                    name, places[name].asks, places[name].where, tuple(chosen),
                    made.turns.get(name, 0.0), round(made.variance.get(name, math.nan), SHARE_DECIMALS),
                )
                for name, chosen in options.items()
            ),
            universes=tuple(_lines(lines, list(options))),
            n_universes=made.n_universes,
            n_run=made.n_run,
            default=made.default,
            same=made.same,
            shares=tuple(made.shares.items()),
            flips=tuple((flip.text(), flip.verdict) for flip in made.flips),
            unit=str(lines["unit"].iloc[0]),
            margins=tuple(getattr(claim.evaluator, "margins", ())),
            printed=math.nan if (printed := printed_effect(claim)) is None else printed,
            part=part.why if part else "",
            settings=part.settings if part else "",
        )  # fmt: skip


def _lines(universes: pd.DataFrame, places: list[str]) -> Iterator[UniverseLine]:
    """Yield the universes that were run, by effect."""
    first = universes.index[0]
    run = universes[universes["verdict"] != NOT_RUN].sort_values("effect", kind="stable")
    if len(run) > MAX_UNIVERSES:
        kept = np.linspace(0, len(run) - 1, MAX_UNIVERSES).round().astype(int)
        run = run[np.isin(np.arange(len(run)), kept) | (run.index == first)]
    for index, line in zip(run.index, run.to_dict("records"), strict=True):
        effect, low, high = (float(line[name]) for name in ("effect", "low", "high"))
        options = tuple(str(line[place]) for place in places)
        yield UniverseLine(options, str(line["verdict"]), str(line["part"]), effect, low, high, index == first)
