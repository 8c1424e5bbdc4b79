"""What came out of the readings of a paper, and its files."""

from __future__ import annotations

import json
import math
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from provlab.claims import Claim
from provlab.claims.made_with import MadeWith
from provlab.readings.prints import printed_effect
from provlab.readings.robustness import Robustness, robustness_frame
from provlab.readings.universes import Multiverse
from provlab.tables import write_frame, write_text


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
        """Draw the specification curve of each claim that has effects, as curves/CLAIM.svg."""
        from provlab.figures.specification import by_effect, specification_curve  # Matplotlib: only figures need it

        paths = []
        for name, found in self.universes.groupby("claim", sort=False):
            claim, places = self.claims[str(name)], self.places_of(str(name))
            printed = printed_effect(claim)
            curve = specification_curve(
                by_effect(found), places, unit=str(found["unit"].iloc[0]), alone=True,
                margins=getattr(claim.evaluator, "margins", ()), printed=math.nan if printed is None else printed,
            )  # fmt: skip
            if places and curve:
                paths.append(folder / "curves" / f"{claim.id}.svg")
                write_text(paths[-1], curve)
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
