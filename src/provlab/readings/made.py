"""What the readings of the claims about an artefact were made with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from provlab.claims.made_with import MadeWith, Versions, stored_trials
from provlab.configs import Entry
from provlab.readings.universes import Multiverse, RowEntries
from provlab.store import StoreSnapshot

WHOLE = "--whole"
"""Stands among the settings where all data were read, although the readings name a part of them."""


def made_of(multiverse: Multiverse, entries: RowEntries, store: StoreSnapshot) -> dict[str, MadeWith]:
    """Return what the readings about each artefact were made with, of those of which a trial is stored."""
    settings = (*multiverse.overrides, *([WHOLE] if multiverse.whole else []))
    found = {}
    for name in dict.fromkeys(claim.evaluator.artefact for claim in multiverse.claims):
        own = _about(multiverse, name)
        trials, _ = stored_trials((entry.cell for entry in _entries(own, entries)), store)
        if len(trials):
            found[name] = MadeWith.of(versions_of(own, entries), trials, settings)
    return found


def versions_of(multiverse: Multiverse, entries: RowEntries) -> Versions:
    """Return the versions of a multiverse of claims about one artefact."""
    touching = {k for claim in multiverse.claims for k in multiverse.touching(claim)}
    places = [multiverse.readings.places[k] for k in sorted(touching)]
    how = [[place.id, [[each.name, each.overrides, each.parameters] for each in place.options]] for place in places]
    return Versions.of(list(_entries(multiverse, entries)), how, multiverse.claims)


def _about(multiverse: Multiverse, name: str) -> Multiverse:
    """Return what is about one artefact."""
    claims = tuple(claim for claim in multiverse.claims if claim.evaluator.artefact == name)
    printed = {name: multiverse.printed[name]} if name in multiverse.printed else {}
    return replace(multiverse, claims=claims, printed=printed)


def _entries(multiverse: Multiverse, entries: RowEntries) -> Iterator[Entry]:
    for artefact, of_rows in multiverse.needed.items():
        for row, universes in of_rows.items():
            for universe in universes:
                yield from entries.entries[artefact, row, universe]
