"""What a folder of reference results has, how it is put together from parts, and what of it is older than the code."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any, Self

import pandas as pd

from provlab.claims import NOT_RUN, VERDICTS, ClaimFile
from provlab.claims.judged import all_claim_files, claims_about
from provlab.claims.made_with import MadeWith, Versions
from provlab.configs import remembered_artefact
from provlab.datasets import MissingDataError
from provlab.documents import read_json
from provlab.project import artefact_names
from provlab.readings import readings_changes, universes_file
from provlab.reference.goals import stored_benchmarks
from provlab.reference.parts import Part
from provlab.tables import write_frame, write_text

SUMMARY, VERDICT_FILE, RANKING_FILE = "summary.json", "verdicts.csv", "rankings.csv"

GONE = "no artefact of the project any more"


@dataclass(frozen=True)
class Contents:
    """A folder of reference results.

    Attributes
    ----------
    parts : dict
        What there is of each artefact.
    readings : dict
        What the readings of the claims about each artefact were made with.
    verdicts, rankings : DataFrame
        One line a claim, and one line a method and column; all as text.
    judged : dict
        Of the readings of the claims about each artefact, how many universes have a verdict, and how many there are;
        without claims on data that the part of the data has not.
    benchmarks : dict
        The run of all benchmarks that stands beside; `write` leaves it alone.
    """

    parts: dict[str, Part]
    readings: dict[str, MadeWith]
    verdicts: pd.DataFrame
    rankings: pd.DataFrame
    judged: dict[str, tuple[int, int]] = field(default_factory=dict)
    benchmarks: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Return what a folder has; nothing where there is none.

        Raises
        ------
        ValueError
            When the summary is no object of parts.
        """
        path = folder / SUMMARY
        if not path.is_file():
            return cls({}, {}, pd.DataFrame(columns=["id", "verdict"]), pd.DataFrame(columns=["artefact", "column"]))
        summary = read_json(path)
        parts = {name: Part.from_json(found, f"{path}: {name}") for name, found in summary["artefacts"].items()}
        readings = {name: MadeWith.from_json(found, f"{path}: {name}") for name, found in summary["readings"].items()}
        verdicts, rankings = _texts(folder / VERDICT_FILE), _texts(folder / RANKING_FILE)
        return cls(parts, readings, verdicts, rankings, _judged(folder), stored_benchmarks(folder))

    def write(self, folder: Path) -> None:
        """Write verdicts.csv, rankings.csv and summary.json."""
        write_frame(self.verdicts, folder / VERDICT_FILE)
        write_frame(self.rankings, folder / RANKING_FILE)
        write_text(folder / SUMMARY, json.dumps(self.as_json(), indent=1, ensure_ascii=False) + "\n")

    def as_json(self) -> dict[str, Any]:
        """Return the summary: totals, then what each part states of itself."""
        made = [part.made for part in self.parts.values()]
        return {
            "trials": sum(each.trials for each in made),
            "cpu_hours": round(sum(each.cpu_hours for each in made), 3),
            "verdicts": self.totals(),
            "artefacts": {name: part.as_json() for name, part in self.parts.items()},
            "readings": {name: each.as_json() for name, each in self.readings.items()},
        }

    def totals(self) -> dict[str, dict[str, int]]:
        """Return how many of each paper's own claims have each verdict."""
        own = self.verdicts[self.verdicts["kind"] == "paper"] if len(self.verdicts) else self.verdicts
        return {
            str(paper): {verdict: int((lines["verdict"] == verdict).sum()) for verdict in VERDICTS}
            for paper, lines in (own.groupby("paper", sort=False) if len(own) else ())
        }

    def changes(self) -> dict[str, list[str]]:
        """Return for each artefact what has changed in the code since its part was written, in words."""
        files = all_claim_files()
        return {name: _changes(name, part.made, files) for name, part in self.parts.items()}

    def changes_of_readings(self) -> dict[str, list[str]]:
        """Return the same for the readings of the claims about each artefact."""
        return {name: readings_changes(name, made) for name, made in self.readings.items()}

    def absent(self) -> list[str]:
        """Return the project's artefacts of which there is nothing."""
        return [name for name in artefact_names() if name not in self.parts]

    def without_verdict(self) -> list[str]:
        """Return the ids of the claims without a verdict that rest on no absent artefact."""
        absent, files = self.absent(), all_claim_files()
        known = {*self.verdicts["id"], *(claim.id for claim in claims_about(absent, files))}
        return [claim.id for file in files for claim in file.claims if claim.id not in known]


def _judged(folder: Path) -> dict[str, tuple[int, int]]:
    about = {claim.id: claim.evaluator.artefact for file in all_claim_files() for claim in file.claims}
    found: dict[str, tuple[int, int]] = {}
    for path in map(universes_file, sorted(folder.glob("readings/*"))):
        lines = _texts(path)[["claim", "verdict", "state"]]
        lines = lines[(lines["verdict"] != NOT_RUN) | (lines["state"] == NOT_RUN)]
        has_verdict = lines["verdict"] != NOT_RUN
        for artefact, given in has_verdict.groupby(lines["claim"].map(about)):
            found[str(artefact)] = int(given.sum()), len(given)
    return found


def _changes(name: str, made: MadeWith, files: list[ClaimFile]) -> list[str]:
    if name not in artefact_names():
        return [GONE]
    try:
        artefact = remembered_artefact(name, made.settings)
    except MissingDataError as error:
        return [f"not compared with the code: data missing, provsel fetch {error.dataset}"]
    return made.changes(Versions.of_artefact(artefact, claims_about([name], files)))


def joined(old: pd.DataFrame, new: pd.DataFrame, column: str, order: Iterable[str]) -> pd.DataFrame:
    """Return the new lines, and the old ones with another text in a column; in an order that says which texts may be.

    Parameters
    ----------
    old : DataFrame of texts
    new : DataFrame
        Becomes texts, as a CSV file has them; its columns are those of the result.
    column : str
    order : iterable of str
    """
    text = new.to_csv(index=False, lineterminator="\n")
    made = _texts(StringIO(text))
    place = {name: k for k, name in enumerate(dict.fromkeys(order))}
    everything = pd.concat([old[~old[column].isin(set(made[column]))], made]).fillna("")
    everything = everything.loc[everything[column].isin(list(place)), [*made.columns]]
    return everything.sort_values(column, key=lambda names: names.map(place), kind="stable")


def _texts(file: Path | StringIO) -> pd.DataFrame:
    return pd.read_csv(file, dtype=str, keep_default_na=False)
