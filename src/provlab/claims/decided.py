"""What more repeats made of open claims: looks that were fixed beforehand, and what they gave; as a file."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from provlab.claims.made_with import Versions
from provlab.claims.outcome import INCONCLUSIVE
from provlab.claims.schema import Claim
from provlab.configs import Artefact, Entry
from provlab.documents import read_json
from provlab.reports.tables import write_text

log = logging.getLogger(__name__)

DECISIONS = "decisions.json"


@dataclass(frozen=True)
class Look:
    """One look at a claim: repeats of the protocol, and the level of its tests."""

    repeats: int
    level: float


@dataclass(frozen=True)
class TakenLook(Look):
    """What a look found, and the CPU hours of the trials that were computed for it."""

    verdict: str
    detail: str
    cpu_hours: float


@dataclass(frozen=True)
class Decision:
    """The looks of a claim that was open.

    Attributes
    ----------
    repeats : int
        Of the protocol, when the looks were fixed.
    looks : tuple of Look
        As they were fixed.
    taken : tuple of TakenLook
        The first of them, with what they found.
    made : Versions
        What decides the claim's trials and its verdict.
    """

    repeats: int
    looks: tuple[Look, ...]
    taken: tuple[TakenLook, ...]
    made: Versions

    @classmethod
    def from_json(cls, found: Mapping[str, Any], subject: str) -> Self:
        """Return what `as_json` gave; ValueError where a part is missing."""
        try:
            looks = tuple(Look(**each) for each in found["looks"])
            taken = tuple(TakenLook(**each) for each in found["taken"])
            return cls(found["repeats"], looks, taken, Versions(**found["made"]))
        except (KeyError, TypeError) as error:
            raise ValueError(
                f"{subject}: expected looks as provsel decide writes them, got {error!r}; remove the file, and decide "
                f"again."
            ) from error

    def as_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        return asdict(self)

    def changes(self, claim: Claim, artefact: Artefact) -> list[str]:
        """Return what has changed since the looks were fixed, in words; nothing where it is the same."""
        return self.made.until(versions_behind(claim, artefact))

    @property
    def is_over(self) -> bool:
        """Whether a look has decided, or none is left."""
        return bool(self.taken) and (self.taken[-1].verdict != INCONCLUSIVE or len(self.taken) == len(self.looks))

    @property
    def text(self) -> str:
        """The verdict of the last look, and how many repeats it had; "" before the first."""
        return f"{self.taken[-1].verdict} at {self.taken[-1].repeats} repeats" if self.taken else ""


def read_decisions(folder: Path) -> dict[str, Decision]:
    """Return what a folder of results has of decisions, by the claims' ids; nothing where there is no file.

    Raises
    ------
    ValueError
        When the file is damaged.
    """
    path = folder / DECISIONS
    if not path.is_file():
        return {}
    found = read_json(path)
    if not isinstance(found, dict):
        raise ValueError(f"{path}: expected an object of claims, got {type(found).__name__}; remove the file.")
    return {name: Decision.from_json(each, f"{path}: {name}") for name, each in found.items()}


def write_decisions(folder: Path, decisions: Mapping[str, Decision]) -> None:
    """Write decisions.json of a folder of results."""
    text = json.dumps({name: each.as_json() for name, each in decisions.items()}, indent=1, ensure_ascii=False)
    write_text(folder / DECISIONS, text + "\n")


def entries_behind(claim: Claim, artefact: Artefact) -> list[Entry]:
    """Return the entries of an artefact that a claim is about."""
    test = claim.evaluator
    places = {place[1:] for place in test.places(test.columns) if place[0] == artefact.name}
    chosen = (entry for entry in artefact.entries if (entry.row, entry.column) in places)
    return [entry for entry in chosen if test.dataset in ("", entry.dataset)]


def versions_behind(claim: Claim, artefact: Artefact) -> Versions:
    """Return what decides the verdict on a claim about one artefact, by the protocol's own number of repeats."""
    return Versions.of(entries_behind(claim, artefact), artefact.summary, [claim])


def decisions_now(
    folder: Path, claims: Iterable[Claim], artefacts: Mapping[str, Artefact | str]
) -> dict[str, Decision]:
    """Return the decisions of a folder of results about these claims and artefacts as they are; warns of others.

    Parameters
    ----------
    folder : path
    claims : iterable of Claim
    artefacts : mapping
        Composed artefacts by name; a decision about another one, or a reason why one is not there, is passed over.
    """
    about, found = {claim.id: claim for claim in claims}, {}
    for name, decision in read_decisions(folder).items():
        artefact = artefacts.get(about[name].evaluator.artefact) if name in about else None
        if not isinstance(artefact, Artefact):
            continue
        if changes := decision.changes(about[name], artefact):
            log.warning("%s: decided with %s; run provsel decide again", name, "; ".join(changes))
        else:
            found[name] = decision
    return found
