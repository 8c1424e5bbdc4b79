"""Verdicts on claims in each of their universes, of those whose trials are all there.

On some of its data sets or folds a universe would be another question, and shares of verdicts would mix both.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pandas as pd

from provlab.claims import NOT_RUN, Claim, Evidence, Verdict, judge
from provlab.claims.outcome import Finding
from provlab.readings.schema import MEASURED
from provlab.readings.universes import Multiverse, RowEntries, Universe
from provlab.store import StoreSnapshot


def judge_universes(multiverse: Multiverse, entries: RowEntries, store: StoreSnapshot) -> pd.DataFrame:
    """Judge each claim in each universe.

    Returns
    -------
    DataFrame
        One line a claim and universe: `claim`, the option of each place that touches the claim ("" for the others), and
        `MEASURED`, "not run" where a trial is missing. The first line of each claim is the universe of the defaults.
    """
    whole = _Whole(multiverse, entries, store)
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
        asked_here = [multiverse.read(claim, universe) for claim in claims if whole.holds(claim, universe)]
        family = [multiverse.read(claim, universe) for claim in multiverse.family]
        judged = {made.claim.id: made for made in judge(asked_here, evidence, family)}
        lines += [(order[claim.id], universe, judged.get(claim.id, _not_run(claim))) for claim in claims]
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


class _Whole:
    """Which universes of which claims have all their trials, those that corrections are about among them."""

    def __init__(self, multiverse: Multiverse, entries: RowEntries, store: StoreSnapshot) -> None:
        self._multiverse = multiverse
        whole = entries.whole(store)
        of_rows = entries.entries.items()
        self._lacking = {place for place, found in of_rows if not {entry.cell.id for entry in found} <= whole}

    def holds(self, claim: Claim, universe: Universe) -> bool:
        multiverse = self._multiverse
        return not any(
            (*row, multiverse.restricted(universe, *row)) in self._lacking for row in multiverse.rows(claim, universe)
        )


def _not_run(claim: Claim) -> Verdict:
    return Verdict(claim, NOT_RUN, Finding("", NOT_RUN), (), NOT_RUN)


def _measured(made: Verdict) -> dict[str, Any]:
    finding = made.finding
    effects = [part.effect for part, decides in made.parts if decides]
    known = [effect for effect in effects if not np.isnan(effect)]
    mean = float(np.mean(known)) if known and len(known) == len(effects) else np.nan
    values = (made.verdict, finding.effect, finding.low, finding.high, finding.part, finding.p_value, finding.n)
    return dict(zip(MEASURED, (*values, finding.unit, mean, made.state), strict=True))
