"""Verdicts on claims in each of their universes."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pandas as pd

from provlab.claims import Claim, Evidence, Verdict, judge
from provlab.readings.schema import MEASURED
from provlab.readings.universes import Multiverse, RowEntries, Universe
from provlab.store import StoreSnapshot


def judge_universes(multiverse: Multiverse, entries: RowEntries, store: StoreSnapshot) -> pd.DataFrame:
    """Judge each claim in each universe.

    Returns
    -------
    DataFrame
        One line a claim and universe: `claim`, the option of each place that touches the claim ("" for the others), and
        `MEASURED`. The first line of each claim is the universe of the defaults.
    """
    asked: dict[Universe, list[Claim]] = defaultdict(list)
    for claim in multiverse.claims:
        for universe in multiverse.universes(claim):
            asked[universe].append(claim)
    touching = {claim.id: multiverse.touching(claim) for claim in multiverse.claims}
    order = {claim.id: k for k, claim in enumerate(multiverse.claims)}
    lines = []
    for universe, claims in asked.items():
        artefacts = {name: entries.artefact(name, universe) for name in entries.composed}
        evidence = Evidence(store, multiverse.overrides, artefacts)
        asked_here = [multiverse.read(claim, universe) for claim in claims]
        family = [multiverse.read(claim, universe) for claim in multiverse.family]
        judged = judge(asked_here, evidence, family)
        lines += [(order[made.claim.id], universe, made) for made in judged]
    lines.sort(key=lambda line: line[:2])
    places = multiverse.readings.places
    return pd.DataFrame(
        [
            {
                "claim": made.claim.id,
                **{
                    place.id: place.options[chosen].name if k in touching[made.claim.id] else ""
                    for k, (place, chosen) in enumerate(zip(places, universe, strict=True))
                },
                **_measured(made),
            }
            for _, universe, made in lines
        ],
        columns=["claim", *(place.id for place in places), *MEASURED],
    )


def _measured(made: Verdict) -> dict[str, Any]:
    finding = made.finding
    effects = [part.effect for part, decides in made.parts if decides]
    known = [effect for effect in effects if not np.isnan(effect)]
    mean = float(np.mean(known)) if known and len(known) == len(effects) else np.nan
    values = (made.verdict, finding.effect, finding.low, finding.high, finding.part, finding.p_value, finding.n)
    return dict(zip(MEASURED, (*values, finding.unit, mean, made.state), strict=True))
