"""The readings of a paper: what is asked, what came out and what it was made with, and the files that keep it.

The files are in `results/readings/PAPER`, and in the reference. The trials behind them stand there too, in the folder
`trials`, a store without keys, configs and features: a trial takes a few bytes. They can be judged again where the
store is not. A cell's id says what a trial is of, so that what has changed since is not found, and computed anew.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from provlab.core.cell import ID_DIGITS
from provlab.core.frames import FOLD_SIZES
from provlab.core.plan import unique_cells
from provlab.core.recipe import load_recipe
from provlab.core.records import NUMBERS
from provlab.core.snapshot import StoreSnapshot
from provlab.core.store import LARGE, TIMING, TrialStore
from provlab.core.tables import write_frame, write_text
from provlab.project.documents import read_json
from provlab.project.messages import csv_text, did_you_mean, from_cell
from provlab.project.papers import full_name, paper_of
from provlab.verdicts.claims.provenance import COLUMNS, Provenance, Versions, stored_trials
from provlab.verdicts.claims.schema import Claim, ClaimFile, claim_files, columns_read
from provlab.verdicts.readings.prints import distances, printed_rows
from provlab.verdicts.readings.robustness import Robustness, robustness_frame, robustness_of
from provlab.verdicts.readings.schema import MEASURED, paper_readings
from provlab.verdicts.readings.universes import Multiverse, judge_universes
from provsel.files import replacing_folder

log = logging.getLogger(__name__)

UNIVERSES, ROBUSTNESS, MADE, TRIALS = "universes.csv", "robustness.csv", "made.json", "trials"

NAMES = ("cell", *NUMBERS)
"""Columns that say which trial a packed one is."""

EFFECTS = ["effect", "low", "high", "p_value", "mean_effect"]

DIGITS = 6
"""Significant digits of the effects, intervals and p-values of packed universes, which then take half of the space."""

WHOLE = "--whole"
"""Stands among the settings where all data were read, although the readings name a part of them."""


def asked(
    paper: str,
    overrides: Sequence[str] = (),
    *,
    artefacts: Sequence[str] = (),
    claims: Sequence[str] = (),
    whole: bool = False,
) -> Multiverse:
    """Return the universes of the claims of a paper that readings touch.

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
    about = {full_name(name) for name in artefacts} or {name for place in readings.places for name in place.touches}
    named = [claim for claim in file.claims if not claims or any(text in claim.id for text in claims)]
    chosen = [claim for claim in named if claim.rule.artefact in about]
    if not chosen:
        raise ValueError(
            f"readings of {paper}: expected claims about {', '.join(sorted(about))} with "
            f"{' or '.join(claims) or 'any id'}, got none; provsel verify --paper {paper} lists the ids"
            + (did_you_mean(claims[0] if claims else "", [claim.id for claim in file.claims]) or ".")
        )
    names = [] if claims else sorted({claim.rule.artefact for claim in chosen})
    printed = {name: rows for name in names if (rows := printed_rows(name))}
    return Multiverse(readings, chosen, file.claims, overrides, whole=whole, printed=printed)


def read_store(multiverse: Multiverse, store: TrialStore, packed: Iterable[Path] = ()) -> StoreSnapshot:
    """Read what judging and comparing with the print need: of a store, and where it lacks them of folders of readings.

    Of the packed trials of these folders only those are taken whose cells are planned.
    """
    read, ids = columns_to_read(multiverse), {cell.short_id: cell.id for cell in multiverse.cells}
    tables = [_with_cells(_packed(each, [*NAMES, *read]), ids.get) for each in packed]
    return StoreSnapshot(store, read, beside=[table.filter(table["cell"].is_valid()) for table in tables])


def columns_to_read(multiverse: Multiverse) -> list[str]:
    """Return what is read of any trial of the paper, but for lists of features."""
    return sorted({*COLUMNS}.union(*_columns_by_artefact(multiverse).values()) - {*LARGE})


def with_lists(multiverse: Multiverse) -> set[str]:
    """Return the artefacts of which a claim or the print is about lists of features."""
    return {name for name, columns in _columns_by_artefact(multiverse).items() if columns & {*LARGE}}


def _columns_by_artefact(multiverse: Multiverse) -> dict[str, set[str]]:
    """Return what is read of each artefact that readings touch: the trials of others are not of this study."""
    touched = {name for place in multiverse.readings.places for name in place.touches}
    found: dict[str, set[str]] = defaultdict(set)
    for claim in multiverse.family:
        for name in claim.artefacts & touched:
            found[name] |= columns_read([claim])
    for name in sorted(found):
        if printed_rows(name):
            found[name] |= {*load_recipe(name).columns, *FOLD_SIZES}
    return found


@dataclass(frozen=True)
class Outcome:
    """What came out of the readings of a paper.

    Attributes
    ----------
    multiverse : Multiverse
    universes : DataFrame
        See `judge_universes`.
    prints : dict
        Artefact and its universes, the nearest to the print first, see `distances`.
    made : dict
        Artefact and what the verdicts on the claims about it were made with.
    """

    multiverse: Multiverse
    universes: pd.DataFrame
    prints: dict[str, pd.DataFrame]
    made: dict[str, Provenance]

    @classmethod
    def of(cls, multiverse: Multiverse, store: StoreSnapshot) -> Outcome:
        """Judge each claim in each universe, and compare the universes with the print."""
        of_lists = with_lists(multiverse)
        cells = {e.cell.id for (name, *_), entries in multiverse.entries.items() if name in of_lists for e in entries}
        store = store.with_large(cells) if cells else store  # read once: each is of many universes
        prints = {name: distances(multiverse, name, store) for name in multiverse.printed}
        settings = (*multiverse.overrides, *([WHOLE] if multiverse.whole else []))
        made = {}
        for name in dict.fromkeys(claim.rule.artefact for claim in multiverse.claims):
            trials, _ = stored_trials((entry.cell for entry in multiverse.needed_about(name)), store)
            if len(trials):
                made[name] = Provenance.of(_versions(multiverse, name), trials, settings)
        return cls(multiverse, judge_universes(multiverse, store), prints, made)

    @cached_property
    def robustness(self) -> list[Robustness]:
        """What becomes of each claim over its universes."""
        return robustness_of(self.multiverse.readings, self.universes)

    @cached_property
    def claims(self) -> dict[str, Claim]:
        """The claims by id."""
        return {claim.id: claim for claim in self.multiverse.claims}

    def places_of(self, claim: str) -> dict[str, list[str]]:
        """Return the places that touch a claim, and the options of each."""
        places = [self.multiverse.readings.places[k] for k in self.multiverse.touching(self.claims[claim])]
        return {place.id: [option.name for option in place.options] for place in places}


def readings_changes(artefact: str, made: Provenance) -> list[str]:
    """Return what has changed since the readings of all claims about an artefact were computed, in words."""
    overrides = [text for text in made.settings if text != WHOLE]
    try:
        now = asked(paper_of(artefact).name, overrides, artefacts=[artefact], whole=WHOLE in made.settings)
        return made.changes(_versions(now, artefact))
    except ValueError:  # no such artefact, or no claims about it that readings touch
        return ["no longer tested"]


def _versions(multiverse: Multiverse, artefact: str) -> Versions:
    claims = [claim for claim in multiverse.claims if claim.rule.artefact == artefact]
    touching = {k for claim in claims for k in multiverse.touching(claim)}
    places = [multiverse.readings.places[k] for k in sorted(touching)]
    how = [[place.id, [[each.name, each.overrides, each.parameters] for each in place.options]] for place in places]
    return Versions.of(multiverse.needed_about(artefact), how, claims)


# ---- files


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
        write_frame(lines, folder / name, EFFECTS)
    for name, frame in outcome.prints.items():
        write_frame(frame, _print_file(folder, name))
    stated = {name: asdict(each) for name, each in sorted((outcome.made | made).items())}
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
    others = set[str]()
    for path, new_path in (
        (universes_file(folder), universes_file(source)),
        (folder / ROBUSTNESS, source / ROBUSTNESS),
    ):
        new = texts(new_path)
        old = texts(path) if path.is_file() else new.head(0)
        is_new, is_old = (frame["claim"].map(about).isin([*artefacts]) for frame in (new, old))
        others |= {*old.loc[~is_old, "claim"]}
        lines = joined(old[~is_old], new[is_new], "claim", about)
        for name in lines.columns.intersection(EFFECTS):
            lines[name] = [f"{float(x):.{DIGITS}g}" if x else x for x in lines[name]]
        write_frame(lines, path, EFFECTS)
    if len(trials := _packed(source)):
        there = _packed(folder, trials.column_names)
        _write_packed(trials, there if others else there[:0], folder)


def universes_file(folder: Path) -> Path:
    """Return where every verdict of a paper's readings stands: as `write_outcome` has it, or packed (the reference)."""
    plain = folder / UNIVERSES
    return plain if plain.is_file() else folder / f"{UNIVERSES}.gz"


def joined(old: pd.DataFrame, new: pd.DataFrame, column: str, order: Iterable[str]) -> pd.DataFrame:
    """Return the new lines as texts, and the old ones with another text in a column, in an order of all that may be."""
    made = texts(StringIO(csv_text(new)))
    place = {name: k for k, name in enumerate(dict.fromkeys(order))}
    everything = pd.concat([old[~old[column].isin(set(made[column]))], made]).fillna("")
    everything = everything.loc[everything[column].isin(list(place)), [*made.columns]]
    return everything.sort_values(column, key=lambda names: names.map(place), kind="stable")


def texts(file: Path | StringIO) -> pd.DataFrame:
    """Return a CSV file of `write_frame`, all cells as texts, such that it writes the same file again."""
    return pd.read_csv(file, dtype=str, keep_default_na=False).map(from_cell)


def pack_trials(snapshot: StoreSnapshot, multiverse: Multiverse, folder: Path) -> None:
    """Write the trials of a multiverse, with what judging reads, into a folder of a paper's readings.

    Trials of artefacts whose lists of features are read are left out. Seconds are kept in single precision, and of a
    cell's id the first digits. Trials of other cells that stand there stay.
    """
    read, of_lists = [name for name in columns_to_read(multiverse) if name not in NAMES], with_lists(multiverse)
    entries = (entry for (name, *_), found in multiverse.entries.items() if name not in of_lists for entry in found)
    cells = unique_cells(entry.cell for entry in entries)
    cells.sort(key=lambda cell: (cell.data, cell.id))  # numbers of one data set are alike, and pack better
    rows = np.concatenate([np.empty(0, int), *(snapshot.rows(cell) for cell in cells)])
    table = snapshot.table.select([*NAMES, *read]).take(pa.array(rows))
    for name in {*TIMING} & {*read}:
        table = table.set_column(table.column_names.index(name), name, table[name].cast(pa.float32()))
    _write_packed(_short(table), _packed(folder, [*NAMES, *read]), folder)


def packed_trials(multiverse: Multiverse, folder: Path) -> pa.Table:
    """Return the packed trials of the cells of a multiverse, with ids, configs and data of the cells.

    Raises
    ------
    ValueError
        When there are none.
    """
    cells, table = {cell.short_id: cell for cell in multiverse.cells}, _packed(folder)
    configs = _with_cells(table, {name: cell.json for name, cell in cells.items()}.get)["cell"]
    data = _with_cells(table, {name: cell.data for name, cell in cells.items()}.get)["cell"]
    table = _with_cells(table, {name: cell.id for name, cell in cells.items()}.get)
    table = table.append_column("config", configs).append_column("data", data)
    table = table.filter(table["cell"].is_valid())
    if not len(table):
        paper = multiverse.readings.paper
        raise ValueError(
            f"{folder}: expected packed trials that the readings of {paper} ask for, got none; name the folder of a "
            f"paper's readings, such as results/reference/readings/{paper}."
        )
    return table


def _packed(folder: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """Return the packed trials of a folder, none where it lacks one of some columns; by default what there is."""
    store = TrialStore(folder / TRIALS, read_only=True)
    stated = dict.fromkeys(
        name for path in sorted(store.folder.glob("*.parquet")) for name in pq.read_schema(path).names
    )
    # a column without any value says that it was read
    found = _short(store.read(columns or [*stated] or NAMES, encoded=True))
    return found if columns is None or {*columns} <= stated.keys() else found[:0]


def _short(table: pa.Table) -> pa.Table:
    return _with_cells(table, lambda name: name[:ID_DIGITS])


def _write_packed(new: pa.Table, there: pa.Table, folder: Path) -> None:
    """Write packed trials, and of those that stood there the ones of other cells, as the only file of a folder."""
    if not len(new):
        return
    names, known = (table["cell"].cast(pa.string()) for table in (there, new))
    others = there.filter(pc.invert(pc.is_in(names, pc.unique(known))))
    table = pa.concat_tables([new, others], promote_options="permissive").unify_dictionaries()
    for place, field in enumerate(table.schema):  # one that no trial fills: a store would leave it out, as if not read
        if pa.types.is_null(field.type):
            table = table.set_column(place, field.name, table[field.name].cast(pa.string()))
    with replacing_folder(folder / TRIALS) as temporary:
        TrialStore(temporary).write(table, compression_level=19, row_group_size=1 << 21)


def _with_cells(table: pa.Table, new: Callable[[str], str | None]) -> pa.Table:
    """Return trials with another text, or none, for each distinct cell."""
    if not len(table):
        return table
    cells = table["cell"].unify_dictionaries().combine_chunks()
    names = pa.array(map(new, cells.dictionary.to_pylist()), pa.string())
    found = names.take(cells.indices).dictionary_encode()  # a null is no entry of a dictionary, as joining these needs
    return table.set_column(table.column_names.index("cell"), "cell", found)


def _print_file(folder: Path, artefact: str) -> Path:
    """Return where the universes of an artefact stand by their distance to the print."""
    return folder / f"print-{artefact.partition('/')[2]}.csv"


def _with_numbers(frame: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    return frame.assign(**{name: frame[name].replace("", "nan").astype(float) for name in names})
