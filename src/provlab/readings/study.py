"""The readings of a paper: what is asked, what came out, and what it was made with."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pandas as pd

from provlab.claims import Claim
from provlab.claims.provenance import COLUMNS, Provenance, Versions, stored_trials
from provlab.claims.schema import claim_files, columns_read
from provlab.frames import columns_with_sizes
from provlab.messages import did_you_mean
from provlab.plan import Entry, unique_cells
from provlab.project import full_name, paper_of
from provlab.readings.packing import pack_trials, packed_trials
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


def read_store(multiverse: Multiverse, store: TrialStore, packed: Iterable[Path] = ()) -> StoreSnapshot:
    """Read what judging and comparing with the print need: of a store, and of the trials in folders of readings."""
    return StoreSnapshot.take(store, _columns(multiverse), beside=map(packed_trials, packed))


def keep_trials(snapshot: StoreSnapshot, multiverse: Multiverse, folder: Path) -> None:
    """Keep trials in a folder of readings: of artefacts of which all claims are asked, and no list of features."""
    asked_about = {claim.id for claim in multiverse.claims}
    left = {claim.rule.artefact for claim in multiverse.family if claim.id not in asked_about}
    left |= _with_lists(multiverse)
    entries = (entry for place, found in multiverse.entries.items() if place[0] not in left for entry in found)
    pack_trials(snapshot, unique_cells(entry.cell for entry in entries), _columns(multiverse), folder)


def _columns(multiverse: Multiverse) -> list[str]:
    """Return what is read of any trial of the paper, but for lists of features."""
    artefacts = {claim.rule.artefact for claim in multiverse.family}
    printed = {name for artefact in artefacts if printed_rows(artefact) for name in load_recipe(artefact).columns}
    columns = {*COLUMNS, *columns_read(multiverse.family), *columns_with_sizes([*printed])}
    return sorted(columns - {*LARGE})


def _with_lists(multiverse: Multiverse) -> set[str]:
    """Return the artefacts of which a claim or the print is about lists of features."""
    artefacts = {claim.rule.artefact for claim in multiverse.family}
    reading = {name for name in artefacts if printed_rows(name) and {*LARGE} & {*load_recipe(name).columns}}
    for claim in multiverse.family:
        reading |= claim.artefacts if {*LARGE} & {*claim.rule.reads} else set()
    return reading


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
    prints: dict[str, pd.DataFrame] = field(default_factory=dict)
    made: dict[str, Provenance] = field(default_factory=dict)

    @classmethod
    def of(cls, multiverse: Multiverse, store: StoreSnapshot) -> Outcome:
        """Judge each claim in each universe, and compare the universes with the print."""
        store = _with_features(multiverse, store)
        prints = {name: distances(multiverse, name, store) for name in multiverse.printed}
        settings = (*multiverse.overrides, *([WHOLE] if multiverse.whole else []))
        made = {}
        for name in dict.fromkeys(claim.rule.artefact for claim in multiverse.claims):
            trials, _ = stored_trials((entry.cell for entry in _entries_about(multiverse, name)), store)
            if len(trials):
                made[name] = Provenance.of(versions_of(multiverse, name), trials, settings)
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

    def without(self, artefacts: Collection[str]) -> Outcome:
        """Return this outcome but for the claims about some artefacts, and what their print was compared with."""
        left = [claim for claim in self.multiverse.claims if claim.rule.artefact not in artefacts]
        prints = {name: frame for name, frame in self.prints.items() if name not in artefacts}
        made = {name: each for name, each in self.made.items() if name not in artefacts}
        universes = self.universes[self.universes["claim"].isin([claim.id for claim in left])]
        asked = self.multiverse
        multiverse = Multiverse(asked.readings, left, asked.family, asked.overrides, whole=asked.whole)
        return Outcome(multiverse, universes, prints, made)

    def draw(self, folder: Path) -> list[Path]:
        """Draw the specification curve of each claim that has effects, as curves/CLAIM.svg."""
        from provlab.figures.specification import by_effect, specification_curve  # Matplotlib: only figures need it

        paths = []
        for name, found in self.universes.groupby("claim", sort=False):
            claim, places = self.claims[str(name)], self.places_of(str(name))
            curve = specification_curve(
                by_effect(found), places, unit=str(found["unit"].iloc[0]), alone=True,
                margins=getattr(claim.rule, "margins", ()), printed=printed_effect(claim),
            )  # fmt: skip
            if places and curve:
                paths.append(folder / "curves" / f"{claim.id}.svg")
                write_text(paths[-1], curve)
        return paths


def versions_of(multiverse: Multiverse, artefact: str) -> Versions:
    """Return the versions of the claims of a multiverse that are about an artefact."""
    claims = [claim for claim in multiverse.claims if claim.rule.artefact == artefact]
    touching = {k for claim in claims for k in multiverse.touching(claim)}
    places = [multiverse.readings.places[k] for k in sorted(touching)]
    how = [[place.id, [[each.name, each.overrides, each.parameters] for each in place.options]] for place in places]
    return Versions.of(_entries_about(multiverse, artefact), how, claims)


def readings_versions(artefact: str, settings: Sequence[str] = ()) -> Versions:
    """Return the versions that the readings of all claims about an artefact have now, as `Provenance` states them.

    Raises
    ------
    ValueError
        When there is no such artefact, or no claim about it that readings touch.
    """
    overrides = [text for text in settings if text != WHOLE]
    return versions_of(
        asked(paper_of(artefact).name, overrides, artefacts=[artefact], whole=WHOLE in settings), artefact
    )


def readings_changes(artefact: str, made: Provenance) -> list[str]:
    """Return what has changed since the readings of the claims about an artefact were computed, in words."""
    try:
        return made.changes(readings_versions(artefact, made.settings))
    except ValueError:  # no such artefact, or no claims about it that readings touch
        return ["not asked any more"]


def _entries_about(multiverse: Multiverse, artefact: str) -> list[Entry]:
    """Return the entries that the claims about an artefact, and comparing it with the print, need."""
    claims = [claim for claim in multiverse.claims if claim.rule.artefact == artefact]
    printed = {name: rows for name, rows in multiverse.printed.items() if name == artefact}
    return [
        entry
        for name, of_rows in multiverse.needed(claims, printed).items()
        for row, universes in of_rows.items()
        for universe in universes
        for entry in multiverse.entries[name, row, universe]
    ]


def _with_features(multiverse: Multiverse, store: StoreSnapshot) -> StoreSnapshot:
    """Read the lists of features once: each is of many universes."""
    reading = _with_lists(multiverse)
    found = multiverse.entries.items()
    cells = {entry.cell.id for (name, _, _), entries in found if name in reading for entry in entries}
    return store.with_large(cells) if cells else store
