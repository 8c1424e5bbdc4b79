"""Reference results: the results of full runs, and the changes in the code since.

For each artefact, `summary.json` states the code and data behind its results. These
statements are compared with the current code.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import pandas as pd

from provlab.core.artefact import Artefact, compose_artefact
from provlab.core.summaries import ALL_CERTIFICATES
from provlab.data import MissingDataError
from provlab.project.documents import read_json
from provlab.project.papers import artefact_names
from provlab.verdicts.claims.provenance import Provenance, Versions
from provlab.verdicts.claims.rules import NOT_RUN
from provlab.verdicts.claims.schema import all_claim_files, claims_about
from provlab.verdicts.readings.robustness import (
    counted,
    stored_robustness,
    stored_subsamples,
    tallied,
    under_readings,
)
from provlab.verdicts.readings.study import readings_changes, texts, universes_file

FOLDER = "reference"
SUMMARY = "summary.json"
VERDICT_LINES = "verdicts.csv"
RANKING_LINES = "rankings.csv"
READINGS = "readings"

STATES = {name: f"certificate_{name}" for name in ALL_CERTIFICATES}


@dataclass(frozen=True)
class Reference:
    """A folder of reference results.

    Attributes
    ----------
    folder : Path
    artefacts : dict
        The entry of each artefact in summary.json: a `Provenance`; `certificates`, the
        number of trials in each state, by certificate; `files`, its tables and figures
        below the folder; `sample`, the keys of its records in the sample.
    readings : dict
        The `Provenance` of the readings of claims about each artefact.
    verdicts, rankings : DataFrame
        One row per claim, and one row per method and column; all as text.
    """

    folder: Path
    artefacts: dict[str, dict[str, Any]]
    readings: dict[str, dict[str, Any]]
    verdicts: pd.DataFrame
    rankings: pd.DataFrame

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Return the content of a folder, which is empty if there is no folder.

        Raises
        ------
        ValueError
            If the summary does not state the code and data of its parts.
        """
        path = folder / SUMMARY
        if not path.is_file():
            no_verdicts = pd.DataFrame(columns=["id", "paper", "kind", "verdict"])
            return cls(
                folder,
                {},
                {},
                no_verdicts,
                pd.DataFrame(columns=["artefact", "column"]),
            )
        summary = read_json(path)
        for name, part in [*summary["artefacts"].items(), *summary["readings"].items()]:
            Provenance.from_json(part, f"{path}: {name}")
        verdicts = texts(folder / VERDICT_LINES)
        return cls(
            folder,
            summary["artefacts"],
            summary["readings"],
            verdicts,
            texts(folder / RANKING_LINES),
        )

    def cost(self) -> dict[str, float]:
        """Return the number of trials and the CPU hours of all parts."""
        parts = self.artefacts.values()
        hours = round(sum(part["cpu_hours"] for part in parts), 3)
        return {"trials": sum(part["trials"] for part in parts), "cpu_hours": hours}

    def claims(self) -> pd.DataFrame:
        """Return the verdicts, as they are `counted`, with summaries under `readings` and on `subsamples`."""
        robustness = stored_robustness(self.folder)
        subsamples = stored_subsamples(self.folder)
        ids = self.verdicts["id"]
        pairs = zip(ids, self.verdicts["verdict"], strict=True)
        return self.verdicts.assign(
            counted=[counted(claim, verdict, robustness) for claim, verdict in pairs],
            readings=[under_readings(claim, robustness) for claim in ids],
            subsamples=[subsamples.get(claim, "") for claim in ids],
        )

    def own_claims(self) -> dict[str, pd.DataFrame]:
        """Return the verdicts on each paper's own claims; only these are counted."""
        claims = self.claims()
        return {
            str(paper): lines
            for paper, lines in claims[claims["kind"] == "paper"].groupby(
                "paper", sort=False
            )
        }

    def totals(self) -> dict[str, dict[str, int]]:
        """Return how many of each paper's own claims have each verdict, by the rule of `counted`."""
        return {
            paper: dict(tallied(lines["counted"]))
            for paper, lines in self.own_claims().items()
        }

    def changes(self) -> dict[str, list[str]]:
        """Describe the changes in the code since the results of each artefact were written."""
        return {
            name: _changes(name, Provenance.from_json(part, name))
            for name, part in self.artefacts.items()
        }

    @cached_property
    def changed_readings(self) -> dict[str, list[str]]:
        """Describe the changes in the code since the readings of claims about each artefact were computed."""
        return {
            name: readings_changes(name, Provenance.from_json(part, name))
            for name, part in self.readings.items()
        }

    def changes_of_readings(self) -> dict[str, list[str]]:
        """Describe the changes since the readings were computed, and state how many verdicts are missing."""
        changes = dict(self.changed_readings)
        artefacts = {
            claim.id: claim.rule.artefact
            for file in all_claim_files()
            for claim in file.claims
        }
        for path in sorted((self.folder / READINGS).glob("*")):
            lines = texts(universes_file(path))
            # a claim on data outside the computed part has no verdict, and none is
            # expected
            lines = lines[(lines["verdict"] != NOT_RUN) | (lines["state"] == NOT_RUN)]
            for name, verdicts in lines["verdict"].groupby(
                lines["claim"].map(artefacts)
            ):
                n_judged = int((verdicts != NOT_RUN).sum())
                if name in changes and n_judged < len(verdicts):
                    progress = f"so far {n_judged:,} verdicts of {len(verdicts):,}"
                    changes[str(name)] = [
                        *(changes[str(name)] or ["up to date"]),
                        progress,
                    ]
        return changes

    def absent(self) -> list[str]:
        """Return the project's artefacts without any results."""
        return [name for name in artefact_names() if name not in self.artefacts]

    def without_verdict(self) -> list[str]:
        """Return the ids of claims without a verdict, except those that need an absent artefact."""
        files = all_claim_files()
        excused = {claim.id for claim in claims_about(self.absent(), files)}.union(
            self.verdicts["id"]
        )
        return [
            claim.id
            for file in files
            for claim in file.claims
            if claim.id not in excused
        ]


def changes_since(
    name: str, provenance: Provenance, artefact: Artefact | None = None
) -> list[str]:
    """Describe the changes in the code since the results of an artefact were computed.

    Parameters
    ----------
    name : str
    provenance : Provenance
    artefact : Artefact, optional
        Settings as in `provenance`, if available.

    Raises
    ------
    MissingDataError
        If data that are needed to plan the artefact are missing.
    """
    if name not in artefact_names():
        return ["no longer an artefact of the project"]
    if artefact is None:
        artefact = compose_artefact(name, provenance.settings)
    return provenance.changes(
        Versions.of_artefact(artefact, claims_about([name], all_claim_files()))
    )


def _changes(name: str, provenance: Provenance) -> list[str]:
    try:
        return changes_since(name, provenance)
    except MissingDataError as error:
        return [
            f"not compared with the code: data missing, provsel fetch {error.dataset}"
        ]
