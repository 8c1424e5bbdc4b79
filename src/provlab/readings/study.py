"""The readings of a paper: what is asked, what came out, and what it was made with."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from provlab.claims import Claim
from provlab.claims.provenance import COLUMNS, Provenance, Versions, stored_trials
from provlab.claims.schema import claim_files, columns_read
from provlab.frames import columns_with_sizes
from provlab.messages import did_you_mean
from provlab.project import full_name, paper_of
from provlab.readings.prints import distances, printed_effect, printed_rows
from provlab.readings.robustness import Robustness, robustness_of
from provlab.readings.schema import paper_readings
from provlab.readings.universes import Multiverse, judge_universes
from provlab.recipe import load_recipe
from provlab.snapshot import StoreSnapshot
from provlab.store import LARGE, TrialStore
from provlab.tables import write_text

WHOLE = "--whole"
"""Stands among the settings where all data were read, although the readings name a part of them."""


def asked(
    paper: str,
    overrides: Sequence[str] = (),
    *,
    artefacts: Sequence[str] = (),
    claims: Sequence[str] = (),
    whole: bool = False,
) -> Multiverse:
    """Return the universes of the claims of a paper that readings touch.

    Parameters
    ----------
    paper : str
    overrides : sequence of str
        The user's settings.
    artefacts : sequence of str
        Claims about these only.
    claims : sequence of str
        Claims with one of these in their id only.
    whole : bool, default=False
        All data, where the readings name a part of them.

    Raises
    ------
    ValueError
        When the paper has no readings, or no claim is left.
    """
    readings = paper_readings(paper)
    [file] = claim_files(paper)
    about = {full_name(name) for name in artefacts} or {name for place in readings.places for name in place.touches}
    chosen = [claim for claim in file.named(claims) if claim.rule.artefact in about]
    if not chosen:
        raise ValueError(
            f"readings of {paper}: expected claims about {', '.join(sorted(about))} with "
            f"{' or '.join(claims) or 'any id'}, got none; provsel verify --paper {paper} lists the ids"
            + (did_you_mean(claims[0] if claims else "", [claim.id for claim in file.claims]) or ".")
        )
    names = [] if claims else sorted({claim.rule.artefact for claim in chosen})
    printed = {name: rows for name in names if (rows := printed_rows(name))}
    return Multiverse(readings, chosen, file.claims, overrides, whole=whole, printed=printed)


def read_store(multiverse: Multiverse, store: TrialStore, packed: Iterable[TrialStore] = ()) -> StoreSnapshot:
    """Read what judging and comparing with the print need: of a store, and where it lacks them of packed trials."""
    return StoreSnapshot.take(store, columns_to_read(multiverse), beside=packed)


def columns_to_read(multiverse: Multiverse) -> list[str]:
    """Return what is read of any trial of the paper, but for lists of features."""
    return sorted({*COLUMNS}.union(*_columns_by_artefact(multiverse).values()) - {*LARGE})


def with_lists(multiverse: Multiverse) -> set[str]:
    """Return the artefacts of which a claim or the print is about lists of features."""
    return {name for name, columns in _columns_by_artefact(multiverse).items() if columns & {*LARGE}}


def _columns_by_artefact(multiverse: Multiverse) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for claim in multiverse.family:
        for name in claim.artefacts:
            found[name] |= columns_read([claim])
    for name in {claim.rule.artefact for claim in multiverse.family}:
        if printed_rows(name):
            found[name] |= {*columns_with_sizes(load_recipe(name).columns)}
    return found


@dataclass(frozen=True)
class Outcome:
    """What came out of the readings of a paper.

    Attributes
    ----------
    multiverse : Multiverse
    universes : DataFrame
        See `judge_universes`.
    prints : dict
        Artefact and its universes, the nearest to the print first, see `distances`.
    made : dict
        Artefact and what the verdicts on the claims about it were made with.
    """

    multiverse: Multiverse
    universes: pd.DataFrame
    prints: dict[str, pd.DataFrame]
    made: dict[str, Provenance]

    @classmethod
    def of(cls, multiverse: Multiverse, store: StoreSnapshot) -> Outcome:
        """Judge each claim in each universe, and compare the universes with the print."""
        of_lists = with_lists(multiverse)
        cells = {e.cell.id for (name, *_), entries in multiverse.entries.items() if name in of_lists for e in entries}
        store = store.with_large(cells) if cells else store  # read once: each is of many universes
        prints = {name: distances(multiverse, name, store) for name in multiverse.printed}
        settings = (*multiverse.overrides, *([WHOLE] if multiverse.whole else []))
        made = {}
        for name in dict.fromkeys(claim.rule.artefact for claim in multiverse.claims):
            trials, _ = stored_trials((entry.cell for entry in multiverse.needed_about(name)), store)
            if len(trials):
                made[name] = Provenance.of(_versions(multiverse, name), trials, settings)
        return cls(multiverse, judge_universes(multiverse, store), prints, made)

    @cached_property
    def robustness(self) -> list[Robustness]:
        """What becomes of each claim over its universes."""
        return robustness_of(self.multiverse.readings, self.universes)

    @cached_property
    def claims(self) -> dict[str, Claim]:
        """The claims by id."""
        return {claim.id: claim for claim in self.multiverse.claims}

    def places_of(self, claim: str) -> dict[str, list[str]]:
        """Return the places that touch a claim, and the options of each."""
        places = [self.multiverse.readings.places[k] for k in self.multiverse.touching(self.claims[claim])]
        return {place.id: [option.name for option in place.options] for place in places}

    def draw(self, folder: Path) -> None:
        """Draw the specification curve of each claim that has effects, as curves/CLAIM.svg."""
        from provlab.figures.specification import by_effect, specification_curve  # Matplotlib: only figures need it

        for name, found in self.universes.groupby("claim", sort=False):
            claim, places = self.claims[str(name)], self.places_of(str(name))
            curve = specification_curve(
                by_effect(found), places, unit=str(found["unit"].iloc[0]), alone=True,
                margins=getattr(claim.rule, "margins", ()), printed=printed_effect(claim),
            )  # fmt: skip
            if places and curve:
                write_text(folder / "curves" / f"{claim.id}.svg", curve)


def readings_changes(artefact: str, made: Provenance) -> list[str]:
    """Return what has changed since the readings of all claims about an artefact were computed, in words."""
    overrides = [text for text in made.settings if text != WHOLE]
    try:
        now = asked(paper_of(artefact).name, overrides, artefacts=[artefact], whole=WHOLE in made.settings)
        return made.changes(_versions(now, artefact))
    except ValueError:  # no such artefact, or no claims about it that readings touch
        return ["not asked any more"]


def _versions(multiverse: Multiverse, artefact: str) -> Versions:
    claims = [claim for claim in multiverse.claims if claim.rule.artefact == artefact]
    touching = {k for claim in claims for k in multiverse.touching(claim)}
    places = [multiverse.readings.places[k] for k in sorted(touching)]
    how = [[place.id, [[each.name, each.overrides, each.parameters] for each in place.options]] for place in places]
    return Versions.of(multiverse.needed_about(artefact), how, claims)
