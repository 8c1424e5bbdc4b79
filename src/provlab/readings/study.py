"""All readings of a paper: what is planned, what came out, and its files."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import pandas as pd

from provlab.claims import Claim
from provlab.claims.judged import artefacts_of, claim_files, columns_read
from provlab.claims.made_with import COLUMNS, MadeWith, Versions
from provlab.nearest import did_you_mean
from provlab.project import full_name, paper_of, papers
from provlab.readings.cost import Cost, estimate
from provlab.readings.judging import judge_universes
from provlab.readings.made import WHOLE, made_of, versions_of
from provlab.readings.packing import pack_trials, with_packed
from provlab.readings.prints import distances, printed_effect, printed_rows
from provlab.readings.robustness import Robustness, robustness_frame, robustness_of
from provlab.readings.schema import DISTANCE, Readings, load_readings
from provlab.readings.universes import Multiverse, RowEntries
from provlab.reports.frames import columns_with_sizes
from provlab.reports.recipe import load_recipe
from provlab.reports.tables import write_frame, write_text
from provlab.store import StoreSnapshot, TrialStore
from provlab.store.snapshot import LARGE

NUMBERS = ("effect", "low", "high", "p_value", "n", "mean_effect")

AGAIN = "run provsel readings again."


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
        return with_packed(store, self.multiverse, self.entries, folders)

    def whole(self, store: StoreSnapshot) -> set[str]:
        """Return the ids of the cells whose trials are all there."""
        return {cell.id for cell in self.entries.cells if store.rows(cell).size == cell.n_trials}

    def pack(self, store: StoreSnapshot, folder: Path) -> None:
        """Pack the trials that are there into a folder of readings, see `pack_trials`."""
        pack_trials(store, self.multiverse, self.entries, folder)

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


@dataclass(frozen=True)
class Outcome:
    """What came out of a study.

    Attributes
    ----------
    multiverse : Multiverse
    universes : DataFrame
        See `judge_universes`.
    robustness : list of Robustness
    prints : dict
        Artefact and its universes, the nearest to the print first, see `distances`.
    made : dict
        Artefact and what the verdicts on the claims about it were made with.
    """

    multiverse: Multiverse
    universes: pd.DataFrame
    robustness: list[Robustness]
    prints: dict[str, pd.DataFrame]
    made: dict[str, MadeWith] = field(default_factory=dict)

    @property
    def claims(self) -> dict[str, Claim]:
        """The claims by id."""
        return {claim.id: claim for claim in self.multiverse.claims}

    def places_of(self, claim: str) -> dict[str, list[str]]:
        """Return the places that touch a claim, and the options of each."""
        places = self.multiverse.readings.places
        touching = self.multiverse.touching(self.claims[claim])
        return {places[k].id: [option.name for option in places[k].options] for k in touching}

    def without(self, artefacts: Collection[str]) -> Outcome:
        """Return this outcome but for the claims about some artefacts, and what their print was compared with."""
        left = [claim for claim in self.multiverse.claims if claim.evaluator.artefact not in artefacts]
        names = {claim.id for claim in left}
        printed = {name: rows for name, rows in self.multiverse.printed.items() if name not in artefacts}
        return Outcome(
            replace(self.multiverse, claims=tuple(left), printed=printed),
            self.universes[self.universes["claim"].isin(names)],
            [each for each in self.robustness if each.claim in names],
            {name: frame for name, frame in self.prints.items() if name not in artefacts},
            {name: each for name, each in self.made.items() if name not in artefacts},
        )

    def beside(self, other: Outcome) -> Outcome:
        """Return this outcome, with what another one has about other claims of the paper.

        Of an artefact that is asked in part now, the other's statement of what it was made with stays: it is older.
        """
        kept = {name: claim for name, claim in other.claims.items() if name not in self.claims}
        older = {claim.evaluator.artefact for claim in kept.values()} & {*other.made}
        place = {claim.id: k for k, claim in enumerate(self.multiverse.family) if claim.id in {*self.claims, *kept}}
        others = other.universes[other.universes["claim"].isin(kept)]
        lines = pd.concat([self.universes, others[self.universes.columns]], ignore_index=True).astype({"n": "Int64"})
        robustness = [*self.robustness, *(each for each in other.robustness if each.claim in kept)]
        return Outcome(
            replace(self.multiverse, claims=tuple(c for c in self.multiverse.family if c.id in place)),
            lines.sort_values("claim", key=lambda names: names.map(place), kind="stable", ignore_index=True),
            sorted(robustness, key=lambda each: place[each.claim]),
            other.prints | self.prints,
            self.made | {name: other.made[name] for name in older},
        )

    def draw(self, folder: Path) -> list[Path]:
        """Draw the specification curve of each claim that has effects, as curves/CLAIM."""
        from provlab.reports.specification_curve import draw_specification_curve  # Matplotlib: only figures need it

        paths = []
        for name, found in self.universes.groupby("claim", sort=False):
            claim, places = self.claims[str(name)], self.places_of(str(name))
            effects = found["effect"].dropna()
            if not places or effects.empty:
                continue
            paths += draw_specification_curve(
                found.reset_index(drop=True), places, folder / "curves" / claim.id, f"{claim.text} ({claim.where})",
                ylabel=str(found["unit"].iloc[0]), margins=getattr(claim.evaluator, "margins", ()),
                printed=printed_effect(claim),
            )  # fmt: skip
        return paths

    def write(self, folder: Path) -> None:
        """Write universes.csv, robustness.csv, a print-ARTEFACT.csv each, and made.json."""
        write_frame(self.universes, folder / "universes.csv")
        write_frame(robustness_frame(self.robustness), folder / "robustness.csv")
        for name, frame in self.prints.items():
            write_frame(frame, print_file(folder, name))
        made = {name: each.as_json() for name, each in sorted(self.made.items())}
        write_text(folder / "made.json", json.dumps(made, indent=1, ensure_ascii=False) + "\n")


def universes_file(folder: Path) -> Path:
    """Return where every verdict of a paper's readings stands: as `Outcome.write` has it, or packed (the reference)."""
    plain = folder / "universes.csv"
    return plain if plain.is_file() else folder / "universes.csv.gz"


def print_file(folder: Path, artefact: str) -> Path:
    """Return where the universes of an artefact stand by their distance to the print."""
    return folder / f"print-{artefact.partition('/')[2]}.csv"


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


def stored_outcome(paper: str, results: Path) -> Outcome | None:
    """Return what `provsel readings` wrote about a paper, but for `made`; None where it wrote nothing.

    Raises
    ------
    ValueError
        When the file does not fit the readings and claims as they are now.
    """
    path = universes_file(results / "readings" / paper)
    if not path.is_file():
        return None
    readings = paper_readings(paper)
    [file] = claim_files(paper)
    text = {place.id: str for place in readings.places} | dict.fromkeys(
        ("claim", "verdict", "part", "unit", "state"), str
    )
    try:
        frame = pd.read_csv(path, dtype=text, keep_default_na=False, na_values={name: [""] for name in NUMBERS})
        later = [place.id for place in readings.places if place.id not in frame]  # which nobody has asked yet
        frame = frame.assign(**dict.fromkeys(later, ""))[[*text, *NUMBERS]].astype(dict.fromkeys(NUMBERS, float))
    except (KeyError, ValueError) as error:
        raise ValueError(
            f"{path}: expected the columns {', '.join([*text, *NUMBERS])}, got {error}; {AGAIN}"
        ) from error
    claims = {claim.id: claim for claim in file.claims}
    if unknown := [*{*frame["claim"]} - {*claims}]:
        raise ValueError(f"{path}: expected claims of {paper}, got {unknown[0]!r:.80}; {AGAIN}")
    for place in readings.places:
        known = [option.name for option in place.options]
        if unknown := [*{*frame[place.id]} - {"", *known}]:
            raise ValueError(
                f"{path}: expected options of {place.id} ({', '.join(known)}), got {unknown[0]!r:.80}; {AGAIN}"
            )
    chosen = tuple(claims[name] for name in dict.fromkeys(frame["claim"]))
    multiverse = Multiverse(readings, chosen, file.claims)
    files = {name: print_file(path.parent, name) for name in dict.fromkeys(c.evaluator.artefact for c in chosen)}
    prints = {name: _prints(file, [*text]) for name, file in files.items() if file.is_file()}
    return Outcome(multiverse, frame, robustness_of(readings, frame), prints)


def stored_made(folder: Path) -> dict[str, MadeWith]:
    """Return what the readings of a paper were made with, by artefact, as `Outcome.write` stated it; empty without."""
    path = folder / "made.json"
    if not path.is_file():
        return {}
    stated = json.loads(path.read_text(encoding="utf-8"))
    return {name: MadeWith.from_json(each, f"{path}: {name}") for name, each in stated.items()}


def _prints(path: Path, places: Sequence[str]) -> pd.DataFrame:
    try:
        frame = pd.read_csv(
            path, dtype=dict.fromkeys(places, str), keep_default_na=False, na_values={name: [""] for name in DISTANCE}
        )
        return frame.astype({"rank": int, "by_default": bool, "exact": int, "printed": int})
    except (KeyError, ValueError) as error:
        raise ValueError(f"{path}: expected the universes of an artefact by rank, got {error}; {AGAIN}") from error


def paper_readings(paper: str) -> Readings:
    """Return the readings of a paper.

    Raises
    ------
    ValueError
        When there is no such paper, or it has none.
    """
    with_readings = {name: found.folder / "readings.yaml" for name, found in papers().items()}
    with_readings = {name: path for name, path in with_readings.items() if path.is_file()}
    if paper not in with_readings:
        raise ValueError(
            f"readings: expected a paper with a readings.yaml, of {', '.join(with_readings) or 'none'}, got "
            f"{paper!r:.80}; write one beside its claims.yaml, see provlab.readings.schema"
            + (did_you_mean(paper, with_readings) or ".")
        )
    return load_readings(with_readings[paper])
