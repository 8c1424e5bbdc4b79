"""All readings of a paper: what is planned, and what it needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from provlab.claims.judged import artefacts_of, claim_files, columns_read
from provlab.claims.made_with import COLUMNS, MadeWith, Versions
from provlab.frames import columns_with_sizes
from provlab.messages import did_you_mean
from provlab.project import full_name, paper_of
from provlab.readings.cost import Cost, estimate
from provlab.readings.judging import judge_universes
from provlab.readings.made import WHOLE, made_of, versions_of
from provlab.readings.outcome import Outcome
from provlab.readings.packing import pack_trials, trial_blocks, with_packed
from provlab.readings.prints import distances, printed_rows
from provlab.readings.robustness import robustness_of
from provlab.readings.schema import paper_readings
from provlab.readings.universes import Multiverse, RowEntries
from provlab.recipe import load_recipe
from provlab.store import StoreSnapshot, TrialStore
from provlab.store.packed import Block
from provlab.store.snapshot import LARGE


@dataclass(frozen=True)
class Study:
    """The readings of a paper, the claims that are asked about, and the cells that they need."""

    multiverse: Multiverse

    @classmethod
    def of(
        cls,
        paper: str,
        overrides: Sequence[str] = (),
        *,
        artefacts: Sequence[str] = (),
        claims: Sequence[str] = (),
        whole: bool = False,
    ) -> Study:
        """Read a paper's readings and claims.

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
        wanted = {full_name(name) for name in artefacts}
        touched = {name for place in readings.places for name in place.touches}
        chosen = [claim for claim in file.named(claims) if claim.evaluator.artefact in (wanted or touched)]
        if not chosen:
            raise ValueError(
                f"readings of {paper}: expected claims about {', '.join(sorted(wanted or touched))} with "
                f"{' or '.join(claims) or 'any id'}, got none; provsel verify --paper {paper} lists the ids"
                + (did_you_mean(claims[0] if claims else "", [claim.id for claim in file.claims]) or ".")
            )
        about = {claim.evaluator.artefact for claim in chosen}
        printed = {} if claims else {name: rows for name in sorted(about) if (rows := printed_rows(name))}
        return cls(Multiverse(readings, tuple(chosen), file.claims, tuple(overrides), whole, printed))

    @cached_property
    def entries(self) -> RowEntries:
        """The cells of all universes."""
        return self.multiverse.entries()

    def snapshot(self, store: TrialStore) -> StoreSnapshot:
        """Read what judging, comparing with the print, and packing need of the store."""
        artefacts = {claim.evaluator.artefact for claim in self.multiverse.family}
        printed = {name for artefact in artefacts if printed_rows(artefact) for name in load_recipe(artefact).columns}
        columns = {*COLUMNS, *columns_read(self.multiverse.family), *columns_with_sizes([*printed])}
        return StoreSnapshot.take(store, columns)

    def with_packed(self, store: StoreSnapshot, folders: Iterable[Path]) -> StoreSnapshot:
        """Return a snapshot with the trials that are packed in some folders of readings, see `with_packed`."""
        return with_packed(store, self._blocks, folders)

    def pack(self, store: StoreSnapshot, folder: Path) -> None:
        """Pack the trials that are there into a folder of readings, see `pack_trials`."""
        pack_trials(store, self.multiverse, self._blocks, folder)

    @cached_property
    def _blocks(self) -> dict[str, list[Block]]:
        return trial_blocks(self.multiverse, self.entries)

    def cost(self, store: StoreSnapshot) -> Cost:
        """Count trials, and estimate the cost of the missing ones."""
        return estimate(self.entries, store)

    def outcome(self, store: StoreSnapshot) -> Outcome:
        """Judge each claim in each universe, and compare the universes with the print."""
        multiverse, store = self.multiverse, self._with_features(store)
        universes = judge_universes(multiverse, self.entries, store)
        prints = {name: distances(multiverse, self.entries, name, store) for name in multiverse.printed}
        made = made_of(multiverse, self.entries, store)
        return Outcome(multiverse, universes, robustness_of(multiverse.readings, universes), prints, made)

    def _with_features(self, store: StoreSnapshot) -> StoreSnapshot:
        """Read the lists of features once, of artefacts of which a claim or the print is about them.

        Each list is of many universes.
        """
        reading = {name for name in self.multiverse.printed if {*LARGE} & {*load_recipe(name).columns}}
        for claim in self.multiverse.family:
            if {*LARGE} & {*claim.evaluator.reads}:
                reading |= artefacts_of(claim)
        composed = self.entries.composed
        cells = {cell.id for name in sorted(reading & composed.keys()) for cell in composed[name].cells}
        return store.with_large(cells) if cells else store


def readings_versions(artefact: str, settings: Sequence[str] = ()) -> Versions:
    """Return the versions that the readings of all claims about an artefact have now, as `MadeWith` states them.

    Raises
    ------
    ValueError
        When there is no such artefact, or no claim about it that readings touch.
    """
    overrides = [text for text in settings if text != WHOLE]
    study = Study.of(paper_of(artefact).name, overrides, artefacts=[artefact], whole=WHOLE in settings)
    return versions_of(study.multiverse, study.entries)


def readings_changes(artefact: str, made: MadeWith) -> list[str]:
    """Return what has changed since the readings of the claims about an artefact were computed, in words."""
    try:
        return made.changes(readings_versions(artefact, made.settings))
    except ValueError:  # no such artefact, or no claims about it that readings touch
        return ["not asked any more"]
