"""The files that keep what came out of the readings of a paper: in `results/readings/PAPER`, and in the reference."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Iterable, Mapping
from io import StringIO
from pathlib import Path

import pandas as pd

from provlab.claims import ClaimFile
from provlab.claims.provenance import Provenance
from provlab.claims.schema import claim_files
from provlab.documents import read_json
from provlab.readings.packing import packed_trials
from provlab.readings.robustness import robustness_frame
from provlab.readings.schema import DISTANCE, paper_readings
from provlab.readings.study import Outcome
from provlab.readings.universes import Multiverse
from provlab.tables import write_frame, write_text

log = logging.getLogger(__name__)

TEXTS, NUMBERS = ("verdict", "part", "unit", "state"), ("effect", "low", "high", "p_value", "n", "mean_effect")

UNIVERSES, ROBUSTNESS, MADE = "universes.csv", "robustness.csv", "made.json"

AGAIN = "run provsel readings again."

DIGITS = 6
"""Significant digits of the effects, intervals and p-values of packed universes, which then take half of the space."""


def write_outcome(outcome: Outcome, folder: Path) -> None:
    """Write universes.csv, robustness.csv, a print-ARTEFACT.csv each, and made.json.

    What the folder has about other claims of the paper stays. Of an artefact that is asked in part now, the old
    statement of what it was made with stays: it is older.
    """
    asked, old, made = outcome.multiverse, dict[str, pd.DataFrame](), dict[str, Provenance]()
    try:
        stored = stored_outcome(asked.readings.paper, folder.parents[1])
        if stored:
            old = {name: texts(folder / name) for name in (UNIVERSES, ROBUSTNESS)}
            kept = {c.rule.artefact for name, c in stored.claims.items() if name not in outcome.claims}
            made = {name: each for name, each in stored.made.items() if name in kept or name not in outcome.made}
    except ValueError as error:
        log.warning("readings of %s about other claims are not kept: %s", asked.readings.paper, error)
    order = [claim.id for claim in asked.family]
    for name, new in ((UNIVERSES, outcome.universes), (ROBUSTNESS, robustness_frame(outcome.robustness))):
        write_frame(joined(old.get(name, new.head(0)), new, "claim", order), folder / name)
    for name, frame in outcome.prints.items():
        write_frame(frame, print_file(folder, name))
    stated = {name: each.as_json() for name, each in sorted((outcome.made | made).items())}
    write_text(folder / MADE, json.dumps(stated, indent=1, ensure_ascii=False) + "\n")


def stored_outcome(paper: str, results: Path) -> Outcome | None:
    """Return what `provsel readings` wrote about a paper; None where it wrote nothing.

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
    claims = {claim.id: claim for claim in file.claims}
    places = [place.id for place in readings.places]  # those that came later touch nothing that was asked before
    frame = _frame(path, ("claim", *TEXTS), NUMBERS, later=places)[[*places, "claim", *TEXTS, *NUMBERS]]
    known = {"claim": [*claims], **{each.id: ["", *(o.name for o in each.options)] for each in readings.places}}
    for column, names in known.items():
        if unknown := [*{*frame[column]} - {*names}]:
            expected = f"claims of {paper}" if column == "claim" else f"options of {column} ({', '.join(names[1:])})"
            raise ValueError(f"{path}: expected {expected}, got {unknown[0]!r:.80}; {AGAIN}")
    chosen = [claims[name] for name in dict.fromkeys(frame["claim"])]
    prints = {}
    for name in dict.fromkeys(claim.rule.artefact for claim in chosen):
        if (file_of := print_file(path.parent, name)).is_file():
            found = _frame(file_of, ["by_default"], [each for each in DISTANCE if each != "by_default"])
            found = found.assign(by_default=found["by_default"] == "True")
            prints[name] = found.astype({"rank": int, "exact": int, "printed": int})
    return Outcome(Multiverse(readings, chosen, file.claims), frame, prints, stored_made(path.parent))


def stored_made(folder: Path) -> dict[str, Provenance]:
    """Return what the readings of a paper were made with, by artefact, as `write_outcome` stated it; empty without."""
    path = folder / MADE
    stated = read_json(path) if path.is_file() else {}
    return {name: Provenance.from_json(each, f"{path}: {name}") for name, each in stated.items()}


def copy_readings(source: Mapping[str, Path], folder: Path, claims: ClaimFile) -> None:
    """Copy what folders of a paper's readings have about some artefacts into one, and pack the universes.

    Parameters
    ----------
    source : mapping
        Artefact and the folder that has it, the newest first: its columns are those of the tables.
    folder : Path
    claims : ClaimFile
        All of the paper, in whose order the lines are.
    """
    folder.mkdir(parents=True, exist_ok=True)
    about = {claim.id: claim.rule.artefact for claim in claims.claims}
    for name, path in source.items():
        if print_file(path, name).is_file():
            shutil.copyfile(print_file(path, name), print_file(folder, name))
    for path in {*source.values()}:
        if packed_trials(path).folder.is_dir():  # files are named by their bytes
            shutil.copytree(packed_trials(path).folder, packed_trials(folder).folder, dirs_exist_ok=True)
    lines: dict[str, pd.DataFrame] = {}
    for path in reversed(dict.fromkeys(source.values())):
        for name, file in ((UNIVERSES, universes_file(path)), (ROBUSTNESS, path / ROBUSTNESS)):
            if file.is_file():
                found = texts(file)
                found = found[[source.get(about.get(claim, "")) == path for claim in found["claim"]]]
                lines[name] = joined(lines.get(name, found.head(0)), found, "claim", about)
    universes = lines.get(UNIVERSES, pd.DataFrame(columns=["claim"]))
    numbers = universes.columns.intersection(["effect", "low", "high", "p_value", "mean_effect"])
    rounded = {name: [f"{float(x):.{DIGITS}g}" if x else x for x in universes[name]] for name in numbers}
    write_frame(universes.assign(**rounded), folder / f"{UNIVERSES}.gz")
    write_frame(lines.get(ROBUSTNESS, pd.DataFrame(columns=["claim"])), folder / ROBUSTNESS)


def universes_file(folder: Path) -> Path:
    """Return where every verdict of a paper's readings stands: as `write_outcome` has it, or packed (the reference)."""
    plain = folder / UNIVERSES
    return plain if plain.is_file() else folder / f"{UNIVERSES}.gz"


def print_file(folder: Path, artefact: str) -> Path:
    """Return where the universes of an artefact stand by their distance to the print."""
    return folder / f"print-{artefact.partition('/')[2]}.csv"


def joined(old: pd.DataFrame, new: pd.DataFrame, column: str, order: Iterable[str]) -> pd.DataFrame:
    """Return the new lines as texts, and the old ones with another text in a column, in an order of all that may be."""
    made = texts(StringIO(new.to_csv(index=False, lineterminator="\n")))
    place = {name: k for k, name in enumerate(dict.fromkeys(order))}
    everything = pd.concat([old[~old[column].isin(set(made[column]))], made]).fillna("")
    everything = everything.loc[everything[column].isin(list(place)), [*made.columns]]
    return everything.sort_values(column, key=lambda names: names.map(place), kind="stable")


def texts(file: Path | StringIO) -> pd.DataFrame:
    """Return a CSV file as it is written, all cells as texts."""
    return pd.read_csv(file, dtype=str, keep_default_na=False)


def _frame(path: Path, names: Iterable[str], numbers: Iterable[str], later: Iterable[str] = ()) -> pd.DataFrame:
    """Return a table with some columns of texts, `later` ones empty where it lacks them, and of numbers."""
    expected = [*later, *names, *numbers]
    try:
        frame = texts(path)
        frame = frame.assign(**{name: "" for name in later if name not in frame})
        if missing := [name for name in expected if name not in frame]:
            raise ValueError(f"no {', '.join(missing)}")
        return frame.assign(**{name: frame[name].replace("", "nan").astype(float) for name in numbers})
    except ValueError as error:
        raise ValueError(f"{path}: expected the columns {', '.join(expected)}, got {error}; {AGAIN}") from error
