"""The files that keep what came out of the readings of a paper: in `results/readings/PAPER`, and in the reference.

The trials behind them stand there too, in the folder `trials`, a store without keys, configs and features: a trial
takes a few bytes. They can be judged again where the store is not. A cell's id says what a trial is of, so that what
has changed since is not found, and computed anew.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Collection, Iterable
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from provlab.claims import ClaimFile
from provlab.claims.provenance import Provenance
from provlab.claims.schema import claim_files
from provlab.documents import read_json
from provlab.plan import unique_cells
from provlab.readings.robustness import robustness_frame
from provlab.readings.schema import MEASURED, paper_readings
from provlab.readings.study import Outcome, columns_to_read, with_lists
from provlab.readings.universes import Multiverse
from provlab.snapshot import StoreSnapshot
from provlab.store import NUMBERS, TIMING, TrialStore
from provlab.tables import write_frame, write_text

log = logging.getLogger(__name__)

UNIVERSES, ROBUSTNESS, MADE = "universes.csv", "robustness.csv", "made.json"

EFFECTS = ["effect", "low", "high", "p_value", "mean_effect"]

DIGITS = 6
"""Significant digits of the effects, intervals and p-values of packed universes, which then take half of the space."""


def write_outcome(outcome: Outcome, folder: Path) -> None:
    """Write universes.csv, robustness.csv, a print-ARTEFACT.csv each, and made.json.

    What the folder has about other claims of the paper stays. Of an artefact that is asked in part now, the old
    statement of what it was made with stays: it is older.
    """
    family, old, made = outcome.multiverse.family, dict[str, pd.DataFrame](), dict[str, Provenance]()
    try:
        if stored := stored_outcome(outcome.multiverse.readings.paper, folder.parents[1]):
            old = {name: texts(folder / name) for name in (UNIVERSES, ROBUSTNESS)}
            partly = {claim.rule.artefact for name, claim in stored.claims.items() if name not in outcome.claims}
            made = {name: each for name, each in stored.made.items() if name in partly or name not in outcome.made}
    except ValueError as error:
        log.warning("readings of %s about other claims are not kept: %s", outcome.multiverse.readings.paper, error)
    for name, new in ((UNIVERSES, outcome.universes), (ROBUSTNESS, robustness_frame(outcome.robustness))):
        lines = joined(old.get(name, new.head(0)), new, "claim", [claim.id for claim in family])
        write_frame(lines, folder / name)
    for name, frame in outcome.prints.items():
        write_frame(frame, _print_file(folder, name))
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
    options = {place.id: ["", *(option.name for option in place.options)] for place in readings.places}
    again, prints = "run provsel readings again.", {}
    try:
        frame = texts(path)  # places that came later touch nothing that was asked before
        frame = frame.assign(**{name: "" for name in options if name not in frame})[["claim", *options, *MEASURED]]
        frame = _with_numbers(frame, [*EFFECTS, "n"])
        for name in dict.fromkeys(claims[each].rule.artefact for each in frame["claim"] if each in claims):
            if (beside := _print_file(path.parent, name)).is_file():
                found = _with_numbers(texts(beside), ["shared", "difference", "tau"])
                found = found.astype({"rank": int, "exact": int, "printed": int})
                prints[name] = found.assign(by_default=found["by_default"] == "True")
    except (KeyError, ValueError) as error:
        expected = ", ".join([*options, "claim", *MEASURED])
        raise ValueError(f"{path}: expected the columns {expected}, got {error}; {again}") from error
    for column, names in {"claim": [*claims], **options}.items():
        if unknown := [*{*frame[column]} - {*names}]:
            expected = f"claims of {paper}" if column == "claim" else f"options of {column} ({', '.join(names[1:])})"
            raise ValueError(f"{path}: expected {expected}, got {unknown[0]!r:.80}; {again}")
    chosen = [claims[name] for name in dict.fromkeys(frame["claim"])]
    return Outcome(Multiverse(readings, chosen, file.claims), frame, prints, stored_made(path.parent))


def stored_made(folder: Path) -> dict[str, Provenance]:
    """Return what the readings of a paper were made with, by artefact, as `write_outcome` stated it; empty without."""
    path = folder / MADE
    stated = read_json(path) if path.is_file() else {}
    return {name: Provenance.from_json(each, f"{path}: {name}") for name, each in stated.items()}


def copy_readings(source: Path, folder: Path, artefacts: Collection[str], claims: ClaimFile) -> None:
    """Put what a folder of a paper's readings has about some artefacts into another one, with packed universes.

    What the other one has about other artefacts stays, as far as `claims`, all of the paper, have it.
    """
    about = {claim.id: claim.rule.artefact for claim in claims.claims}
    folder.mkdir(parents=True, exist_ok=True)
    for path in (_print_file(source, name) for name in artefacts):
        if path.is_file():
            shutil.copyfile(path, folder / path.name)
    if (trials := packed_trials(source).folder).is_dir():  # files are named by their bytes
        shutil.copytree(trials, packed_trials(folder).folder, dirs_exist_ok=True)
    for path, new_path in (
        (universes_file(folder), universes_file(source)),
        (folder / ROBUSTNESS, source / ROBUSTNESS),
    ):
        new = texts(new_path)
        old = texts(path) if path.is_file() else new.head(0)
        is_new, is_old = (frame["claim"].map(about).isin([*artefacts]) for frame in (new, old))
        lines = joined(old[~is_old], new[is_new], "claim", about)
        for name in lines.columns.intersection(EFFECTS):
            lines[name] = [f"{float(x):.{DIGITS}g}" if x else x for x in lines[name]]
        write_frame(lines, path)


def universes_file(folder: Path) -> Path:
    """Return where every verdict of a paper's readings stands: as `write_outcome` has it, or packed (the reference)."""
    plain = folder / UNIVERSES
    return plain if plain.is_file() else folder / f"{UNIVERSES}.gz"


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


def packed_trials(folder: Path) -> TrialStore:
    """Return the trials that stand in a folder of a paper's readings."""
    return TrialStore(folder / "trials", read_only=True)


def pack_trials(snapshot: StoreSnapshot, multiverse: Multiverse, folder: Path) -> None:
    """Add the trials of a multiverse, with what judging reads, to those that stand in a folder of a paper's readings.

    Trials of artefacts whose lists of features are read are left out. Seconds are kept in single precision.
    """
    read = [name for name in columns_to_read(multiverse) if name not in ("cell", *NUMBERS)]
    there, of_lists = StoreSnapshot.take(packed_trials(folder), read, complete=True), with_lists(multiverse)
    entries = (entry for (name, *_), found in multiverse.entries.items() if name not in of_lists for entry in found)
    cells = unique_cells(entry.cell for entry in entries)
    cells.sort(key=lambda cell: (cell.data, cell.id))  # numbers of one data set are alike, and pack better
    new = [rows for cell in cells if (rows := snapshot.rows(cell)).size > there.rows(cell).size]
    table = snapshot.table.select(["cell", *NUMBERS, *read]).take(pa.array(np.concatenate([np.empty(0, int), *new])))
    for name in {*TIMING} & {*read}:
        table = table.set_column(table.column_names.index(name), name, table[name].cast(pa.float32()))
    TrialStore(folder / "trials").write(table, compression_level=19, row_group_size=1 << 21)


def _print_file(folder: Path, artefact: str) -> Path:
    """Return where the universes of an artefact stand by their distance to the print."""
    return folder / f"print-{artefact.partition('/')[2]}.csv"


def _with_numbers(frame: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    return frame.assign(**{name: frame[name].replace("", "nan").astype(float) for name in names})
