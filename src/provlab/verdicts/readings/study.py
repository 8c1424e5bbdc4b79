"""The readings of a paper: the universes to test, their verdicts, and the files that store them.

The files are in `results/readings/PAPER`, and in the reference. See
`provlab.verdicts.readings.packed` for their trials, which can be judged again without
the store.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from io import StringIO
from pathlib import Path

import pandas as pd

from provlab.core.artefact import Entry
from provlab.core.frames import FOLD_SIZES
from provlab.core.plan import unique_cells
from provlab.core.recipe import load_recipe
from provlab.core.snapshot import StoreSnapshot
from provlab.core.store import LARGE, TrialStore
from provlab.core.tables import write_frame, write_text
from provlab.project.documents import read_json
from provlab.project.messages import csv_text, did_you_mean, from_cell
from provlab.project.papers import full_name, paper_of
from provlab.verdicts.claims.provenance import (
    COLUMNS,
    Provenance,
    Versions,
    stored_trials,
)
from provlab.verdicts.claims.schema import Claim, ClaimFile, claim_files, columns_read
from provlab.verdicts.readings.packed import (
    PACKED,
    merge_packed,
    read_packed,
    write_packed,
)
from provlab.verdicts.readings.prints import distances, printed_rows
from provlab.verdicts.readings.robustness import (
    Robustness,
    robustness_frame,
    robustness_of,
)
from provlab.verdicts.readings.schema import MEASURED, Readings, paper_readings
from provlab.verdicts.readings.universes import Multiverse, judge_universes

log = logging.getLogger(__name__)

UNIVERSES = "universes.csv"
ROBUSTNESS = "robustness.csv"
MADE = "made.json"

EFFECTS = ["effect", "low", "high", "p_value", "mean_effect"]

DIGITS = 6
"""Significant digits of effects, intervals and p-values in packed universes, which halve the size of the file."""

WHOLE = "--whole"
"""Added to the settings if all data were used although the readings name a part of them."""


def multiverse_of(
    paper: str,
    overrides: Sequence[str] = (),
    *,
    artefacts: Sequence[str] = (),
    claims: Sequence[str] = (),
    whole: bool = False,
) -> Multiverse:
    """Return the universes of a paper's claims that readings affect.

    Parameters
    ----------
    paper : str
    overrides : sequence of str
        The user's settings.
    artefacts : sequence of str
        Restrict the claims to these artefacts.
    claims : sequence of str
        Restrict the claims to those with one of these strings in their id.
    whole : bool, default=False
        Use all data even if the readings name a part of them.

    Raises
    ------
    ValueError
        If the paper has no readings, or no claim is left.
    """
    readings = paper_readings(paper)
    [file] = claim_files(paper)
    about = {full_name(name) for name in artefacts}
    if not artefacts:
        about.update(name for place in readings.places for name in place.touches)
    chosen = []
    for claim in file.claims:
        is_named = not claims or any(text in claim.id for text in claims)
        if is_named and claim.rule.artefact in about:
            chosen.append(claim)
    if not chosen:
        raise ValueError(
            f"readings of {paper}: expected claims about {', '.join(sorted(about))} with "
            f"{' or '.join(claims) or 'any id'}, got none; provsel verify --paper {paper} lists the ids"
            + (
                did_you_mean(
                    claims[0] if claims else "", [claim.id for claim in file.claims]
                )
                or "."
            )
        )
    printed = {}
    if not claims:
        for name in sorted({claim.rule.artefact for claim in chosen}):
            if rows := printed_rows(name, readings):
                printed[name] = rows
    return Multiverse(
        readings, chosen, file.claims, overrides, whole=whole, printed=printed
    )


def read_store(
    multiverse: Multiverse, store: TrialStore, packed: Iterable[Path] = ()
) -> StoreSnapshot:
    """Read the trials for judging and for the comparison with printed values, from a store or from readings.

    Only planned cells of the packed trials are read.
    """
    columns = columns_to_read(multiverse)
    tables = [read_packed(folder, multiverse.cells, columns) for folder in packed]
    return StoreSnapshot(store, columns, beside=tables)


def columns_to_read(multiverse: Multiverse) -> list[str]:
    """Return the columns that are read from any trial of the paper, except lists of features."""
    return sorted(
        {*COLUMNS}.union(*_columns_by_artefact(multiverse).values()) - {*LARGE}
    )


def with_lists(multiverse: Multiverse) -> set[str]:
    """Return the artefacts for which a claim or a printed value concerns lists of features."""
    return {
        name
        for name, columns in _columns_by_artefact(multiverse).items()
        if columns & {*LARGE}
    }


def _columns_by_artefact(multiverse: Multiverse) -> dict[str, set[str]]:
    """Return the columns that are read for each artefact with readings; other artefacts are not part of this study."""
    touched = {name for place in multiverse.readings.places for name in place.touches}
    columns: dict[str, set[str]] = defaultdict(set)
    for claim in multiverse.family:
        for name in claim.artefacts & touched:
            columns[name] |= columns_read([claim])
    for name in columns:
        if printed_rows(name, multiverse.readings):
            columns[name].update(load_recipe(name).columns, FOLD_SIZES)
    return columns


@dataclass(frozen=True)
class Outcome:
    """The results of the readings of a paper.

    Attributes
    ----------
    multiverse : Multiverse
    universes : DataFrame
        See `judge_universes`.
    prints : dict
        Universes by artefact, the nearest to the printed values first, see `distances`.
    made : dict
        Code and data behind the verdicts on claims about an artefact, by artefact.
    """

    multiverse: Multiverse
    universes: pd.DataFrame
    prints: dict[str, pd.DataFrame]
    made: dict[str, Provenance]

    @classmethod
    def of(cls, multiverse: Multiverse, store: StoreSnapshot) -> Outcome:
        """Judge each claim in each universe, and compare the universes with the printed values."""
        cells_with_lists = {
            entry.cell.id for entry in _entries(multiverse, with_lists(multiverse))
        }
        if cells_with_lists:
            # read once, because each belongs to many universes
            store = store.with_large(cells_with_lists)
        settings = multiverse.overrides
        if multiverse.whole:
            settings = (*settings, WHOLE)
        provenances = {}
        for name in dict.fromkeys(claim.rule.artefact for claim in multiverse.claims):
            trials, _ = stored_trials(
                (entry.cell for entry in multiverse.needed_about(name)), store
            )
            if len(trials):
                provenances[name] = Provenance.of(
                    _versions(multiverse, name), trials, settings
                )
        prints = {
            name: distances(multiverse, name, store) for name in multiverse.printed
        }
        return cls(multiverse, judge_universes(multiverse, store), prints, provenances)

    @cached_property
    def robustness(self) -> list[Robustness]:
        """The robustness of each claim over its universes."""
        return robustness_of(self.multiverse.readings, self.universes)

    @cached_property
    def claims(self) -> dict[str, Claim]:
        """The claims by id."""
        return {claim.id: claim for claim in self.multiverse.claims}

    def places_of(self, claim: str) -> dict[str, list[str]]:
        """Return the places that affect a claim, with their options."""
        options = {}
        for k in self.multiverse.touching(self.claims[claim]):
            place = self.multiverse.readings.places[k]
            options[place.id] = [option.name for option in place.options]
        return options


def readings_changes(artefact: str, provenance: Provenance) -> list[str]:
    """Describe the changes since the readings of all claims about an artefact were computed."""
    overrides = [text for text in provenance.settings if text != WHOLE]
    try:
        now = multiverse_of(
            paper_of(artefact).name,
            overrides,
            artefacts=[artefact],
            whole=WHOLE in provenance.settings,
        )
        return provenance.changes(_versions(now, artefact))
    except ValueError:  # no such artefact, or no claim about it that readings affect
        return ["no longer tested"]


def _versions(multiverse: Multiverse, artefact: str) -> Versions:
    claims = [claim for claim in multiverse.claims if claim.rule.artefact == artefact]
    touching = {k for claim in claims for k in multiverse.touching(claim)}
    how = []
    for k in sorted(touching):
        place = multiverse.readings.places[k]
        how.append(
            [
                place.id,
                [
                    [option.name, option.overrides, option.parameters]
                    for option in place.options
                ],
            ]
        )
    return Versions.of(multiverse.needed_about(artefact), how, claims)


def _entries(multiverse: Multiverse, artefacts: Collection[str]) -> Iterator[Entry]:
    """Yield the entries of the given artefacts under all choices."""
    for (name, *_), entries in multiverse.entries.items():
        if name in artefacts:
            yield from entries


# ---- Files


def write_outcome(outcome: Outcome, folder: Path) -> None:
    """Write universes.csv, robustness.csv, made.json, and print-ARTEFACT.csv for each artefact.

    Results on other claims of the paper are kept. If only part of an artefact is tested
    now, its old statement of code and data is kept, because it is the older one.
    """
    paper = outcome.multiverse.readings.paper
    new = {
        UNIVERSES: outcome.universes,
        ROBUSTNESS: robustness_frame(outcome.robustness),
    }
    old = {name: frame.head(0) for name, frame in new.items()}
    provenances = dict(outcome.made)
    try:
        if stored := stored_outcome(paper, folder.parents[1]):
            old = {name: texts(folder / name) for name in new}
            partly = {
                claim.rule.artefact
                for name, claim in stored.claims.items()
                if name not in outcome.claims
            }
            for name, provenance in stored.made.items():
                if name in partly or name not in provenances:
                    provenances[name] = provenance
    except ValueError as error:
        log.warning(
            "readings of %s about other claims were discarded: %s", paper, error
        )
    order = [claim.id for claim in outcome.multiverse.family]
    for name, frame in new.items():
        write_frame(joined(old[name], frame, "claim", order), folder / name, EFFECTS)
    for artefact, frame in outcome.prints.items():
        write_frame(frame, _print_file(folder, artefact))
    stated = {name: asdict(provenances[name]) for name in sorted(provenances)}
    write_text(folder / MADE, json.dumps(stated, indent=1, ensure_ascii=False) + "\n")


def stored_outcome(paper: str, results: Path) -> Outcome | None:
    """Return the results of `provsel readings` on a paper; None if there are none.

    Raises
    ------
    ValueError
        If the file does not fit the current readings and claims.
    """
    path = universes_file(results / "readings" / paper)
    if not path.is_file():
        return None
    [file] = claim_files(paper)
    return read_outcome(path, file)


def read_outcome(path: Path, file: ClaimFile) -> Outcome:
    """Return the results on the claims of a paper from a file of universes and the files beside it.

    Errors are as in `stored_outcome`.
    """
    readings = paper_readings(file.paper)
    claims = {claim.id: claim for claim in file.claims}
    frame = _read_universes(path, readings, claims)
    chosen = [claims[name] for name in frame["claim"].unique()]
    prints = _stored_prints(
        path.parent, dict.fromkeys(claim.rule.artefact for claim in chosen), readings
    )
    return Outcome(
        Multiverse(readings, chosen, file.claims),
        frame,
        prints,
        stored_made(path.parent),
    )


def _read_universes(
    path: Path, readings: Readings, claims: Iterable[str]
) -> pd.DataFrame:
    """Return the stored universes of the claims with the given ids."""
    allowed = {"claim": [*claims]}
    for place in readings.places:
        allowed[place.id] = ["", *(option.name for option in place.options)]
    try:
        frame = texts(path)
        # a place added later affects nothing that was tested before
        for name in allowed:
            if name not in frame:
                frame[name] = ""
        frame = _with_numbers(frame[[*allowed, *MEASURED]], [*EFFECTS, "n"])
    except (KeyError, ValueError) as error:
        expected = ", ".join([*allowed, *MEASURED])
        raise ValueError(
            f"{path}: expected the columns {expected}, got {error}; run provsel readings again."
        ) from error
    for column, names in allowed.items():
        unknown = [name for name in frame[column].unique() if name not in names]
        if unknown:
            paper = readings.paper
            expected = (
                f"claims of {paper}"
                if column == "claim"
                else f"options of {column} ({', '.join(names[1:])})"
            )
            raise ValueError(
                f"{path}: expected {expected}, got {unknown[0]!r:.80}; run provsel readings again."
            )
    return frame


def _stored_prints(
    folder: Path, artefacts: Iterable[str], readings: Readings
) -> dict[str, pd.DataFrame]:
    """Return the stored universes of artefacts, sorted by their distance from the printed numbers."""
    prints = {}
    for name in artefacts:
        path = _print_file(folder, name)
        if path.is_file() and name not in readings.likelihood:
            frame = _with_numbers(texts(path), ["shared", "difference", "tau"])
            frame = frame.astype({"rank": int, "exact": int, "printed": int})
            prints[name] = frame.assign(by_default=frame["by_default"] == "True")
    return prints


def stored_made(folder: Path) -> dict[str, Provenance]:
    """Return the code and data behind the readings of a paper, by artefact, as stored by `write_outcome`."""
    path = folder / MADE
    if not path.is_file():
        return {}
    return {
        name: Provenance.from_json(part, f"{path}: {name}")
        for name, part in read_json(path).items()
    }


def copy_readings(
    source: Path, folder: Path, artefacts: Collection[str], claims: ClaimFile
) -> None:
    """Copy the results on the given artefacts from one folder of a paper's readings to another, with universes.

    Results on other artefacts in the other folder are kept if their claims are in
    `claims`, which are all of the paper.
    """
    about = {claim.id: claim.rule.artefact for claim in claims.claims}
    folder.mkdir(parents=True, exist_ok=True)
    for name in artefacts:
        path = _print_file(source, name)
        if path.is_file():
            shutil.copyfile(path, folder / path.name)
    is_empty = True
    for path, new_path in (
        (universes_file(folder), universes_file(source)),
        (folder / ROBUSTNESS, source / ROBUSTNESS),
    ):
        new = texts(new_path)
        old = texts(path) if path.is_file() else new.head(0)
        new = new[new["claim"].map(about).isin([*artefacts])]
        old = old[~old["claim"].map(about).isin([*artefacts])]
        is_empty &= old.empty
        lines = joined(old, new, "claim", about)
        for name in lines.columns.intersection(EFFECTS):
            lines[name] = lines[name].map(_rounded)
        write_frame(lines, path, EFFECTS)
    if is_empty:
        (folder / PACKED).unlink(missing_ok=True)
    merge_packed(source, folder)


def _rounded(number: str) -> str:
    """Round the text of a number to `DIGITS`; "" if there is none."""
    return f"{float(number):.{DIGITS}g}" if number else ""


def universes_file(folder: Path) -> Path:
    """Return the file with all verdicts of a paper's readings, written by `write_outcome` or packed (the reference)."""
    plain = folder / UNIVERSES
    if plain.is_file():
        return plain
    return folder / f"{UNIVERSES}.gz"


def joined(
    old: pd.DataFrame, new: pd.DataFrame, column: str, order: Iterable[str]
) -> pd.DataFrame:
    """Return the new rows and the old rows with other values in a column, in a fixed order of the names."""
    new = texts(StringIO(csv_text(new)))
    places = {name: k for k, name in enumerate(dict.fromkeys(order))}
    lines = pd.concat([old[~old[column].isin(set(new[column]))], new]).fillna("")
    lines = lines.loc[lines[column].isin(list(places)), [*new.columns]]
    return lines.sort_values(column, key=lambda names: names.map(places), kind="stable")


def texts(file: Path | StringIO) -> pd.DataFrame:
    """Read a CSV file of `write_frame` with all cells as strings, so that it can be rewritten unchanged."""
    return pd.read_csv(file, dtype=str, keep_default_na=False).map(from_cell)


def pack_trials(snapshot: StoreSnapshot, multiverse: Multiverse, folder: Path) -> None:
    """Write the trials of a multiverse, with the columns needed for judging, into a folder of a paper's readings.

    Trials of artefacts whose lists of features are read are left out. Trials of other
    cells in the folder are kept.
    """
    artefacts = {name for name, *_ in multiverse.entries} - with_lists(multiverse)
    cells = unique_cells(entry.cell for entry in _entries(multiverse, artefacts))
    write_packed(snapshot, cells, columns_to_read(multiverse), folder)


def _print_file(folder: Path, artefact: str) -> Path:
    """Return the file with the ranks of an artefact's universes by their distance from the printed numbers."""
    return folder / f"print-{artefact.partition('/')[2]}.csv"


def _with_numbers(frame: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    return frame.assign(
        **{name: frame[name].replace("", "nan").astype(float) for name in names}
    )
