"""What the reference has of one artefact, and the statement of what it was made with."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import pandas as pd

from provlab.claims.judged import Judged
from provlab.claims.made_with import COLUMNS, MadeWith
from provlab.configs import Artefact
from provlab.figures.style import only_formats
from provlab.recipe import load_recipe
from provlab.store import TrialReader
from provlab.summaries import ALL_CERTIFICATES

STATES = tuple(f"certificate_{name}" for name in ALL_CERTIFICATES)
PART_COLUMNS = (*COLUMNS, *STATES)
"""Of the records, which a part is made of."""

KEPT = {".csv", ".md", ".svg"}
"""Of what an artefact writes: what can be read, compared, and shown in a browser."""


@dataclass(frozen=True)
class Part:
    """What the reference has of one artefact, beside the verdicts and rankings that rest on it.

    Attributes
    ----------
    made : MadeWith
    certificates : mapping
        How many trials are in each state, by certificate.
    files : tuple of str
        Tables and figures, below the folder of the reference.
    sample : tuple of str
        Keys of those of its trials whose records stand in the sample.
    """

    made: MadeWith
    certificates: Mapping[str, Mapping[str, int]]
    files: tuple[str, ...]
    sample: tuple[str, ...]

    @classmethod
    def from_json(cls, found: Mapping[str, Any], subject: str) -> Self:
        """Return what `as_json` gave."""
        made = MadeWith.from_json(found, subject)
        return cls(made, found["certificates"], tuple(found["files"]), tuple(found["sample"]))

    def as_json(self) -> dict[str, Any]:
        """Return a JSON object, that of `made` with more."""
        more = asdict(self)
        return more.pop("made") | more


def write_files(folder: Path, artefact: Artefact, store: TrialReader, judged: Judged) -> tuple[str, ...]:
    """Write tables and figures of an artefact and of its rankings, and return their paths below the folder."""
    recipe = load_recipe(artefact.name)
    of_artefact = Judged([], [each for each in judged.rankings if each.artefact == artefact.name])
    with TemporaryDirectory(prefix=".part-", dir=folder) as temporary:
        here = Path(temporary)
        with only_formats("svg"):
            frame = recipe.frame(artefact, store)
            recipe.write(artefact, store, frame, here / "tables" / artefact.name, here / "figures" / artefact.name)
        of_artefact.draw(here)
        made = [path for path in sorted(here.rglob("*")) if path.suffix in KEPT and path.is_file()]
        names = tuple(path.relative_to(here).as_posix() for path in made)
        copy_files(here, folder, names)
    return names


def copy_files(source: Path, target: Path, names: Collection[str]) -> None:
    """Copy files of one folder to the same places below another."""
    for name in names:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes((source / name).read_bytes())


def certificate_counts(trials: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Return how many trials are in each state, by certificate; what was not measured is left out."""
    counts = {}
    for name, column in zip(ALL_CERTIFICATES, STATES, strict=True):
        states = trials[column].value_counts()
        found = {str(state): int(n) for state, n in states.items() if state not in ("not measured", "no bound")}
        if found:
            counts[name] = dict(sorted(found.items()))
    return counts
