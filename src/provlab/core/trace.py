"""Traces from the numbers of an artefact to their trials: configs, seeds, values, versions and commands."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from provlab.core.artefact import Artefact, Entry
from provlab.core.frames import entry_trials, headline_columns
from provlab.core.snapshot import TrialReader
from provlab.core.store import SCHEMA, TIMING
from provlab.core.summaries import value_counts, versions
from provlab.core.tables import value_text
from provlab.project.project import tool

MAX_VALUES = 200
"""Number of values of a measured column kept for a plot; the statistics cover all values."""

MAX_LISTED = 600
"""Largest number of trials that a trace lists."""

PERCENT = ("error", "nmi", "ari")
ALWAYS = ["seed", "split_seed", "n_train", "environment", "git_revision"]
"""Columns that every record of the current schema has."""

PLACE = ["entry", "repeat", "fold", "draw"]
NUMBER = ["row", "column", "dataset"]
"""Columns that identify a number in an artefact."""

QUARTILES = {
    "minimum": 0.0,
    "lower": 0.25,
    "median": 0.5,
    "upper": 0.75,
    "maximum": 1.0,
}

Lines = list[dict[str, Any]]


@dataclass(frozen=True, eq=False)
class TracedCell:
    """A cell of a trace on one data set, with everything on which its number depends.

    Attributes
    ----------
    entry : Entry
    n_stored : int
        Number of stored planned trials.
    measured : list of dict
        One item per measured column: `name`, `unit`, the meaning of a value (`by`:
        fold, seed or draw), up to `MAX_VALUES` `points` in the order of the trials, and
        `n`, `mean`, `sd` and `QUARTILES` of all values.
    split_seeds : list of (repeat, seed)
        Seeds of the folds, equal for all methods.
    trials : list of dict
        Key, numbers, seed (-1 if unknown) and measured values of each trial; empty
        unless requested.
    """

    entry: Entry
    n_stored: int
    measured: Lines
    split_seeds: list[tuple[int, int]]
    trials: Lines

    @property
    def command(self) -> str:
        """Command that recomputes exactly this cell into another results folder."""
        return f"{tool('provsel')} run {shlex.join([*self.entry.overrides, 'results=results/again'])}"

    def audit_command(self, results: object) -> str:
        """Return the command that recomputes the cell and compares it with the trials in a results folder."""
        command = f"{tool('provsel')} audit --cell {self.entry.cell.id[:16]}"
        return (
            command
            if str(results) == "results"
            else f"{command} --results {shlex.quote(str(results))}"
        )


@dataclass(frozen=True, eq=False)
class Trace:
    """Cells behind one row and column of an artefact, by data set.

    Attributes
    ----------
    artefact, row, column : str
    numbers : list of dict
        Rows of the artefact's frame that come from these cells; if they have
        `reference`, see `beside_reference`.
    cells : list of TracedCell
    environments : list of (versions, number of trials)
        Versions of Python, packages and BLAS, and the kind of machine; {} for records
        that do not state them.
    revisions : list of (git revision, number of trials)
        Revisions; "+" means that files differed from it, and "" that it is unknown.
    silent : list of str
        Columns that some records, written by an older version, lack.
    """

    artefact: str
    row: str
    column: str
    numbers: Lines
    cells: list[TracedCell]
    environments: list[tuple[dict[str, Any], int]] = field(default_factory=list)
    revisions: list[tuple[str, int]] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)


def trace_numbers(
    artefact: Artefact,
    frame: pd.DataFrame,
    store: TrialReader,
    columns: Sequence[str],
    *,
    max_listed: float = MAX_LISTED,
) -> Iterator[Trace]:
    """Yield the trace of each row and column of an artefact, in its order.

    Parameters
    ----------
    artefact : Artefact
        The artefact, possibly with some entries only.
    frame : DataFrame
        Numbers of the artefact, see `artefact_frame`.
    store : TrialReader
    columns : sequence of str
        Columns of the records from which the numbers are computed.
    max_listed : float
        Largest number of trials that a trace lists.
    """
    entries: dict[tuple[str, str], list[int]] = {}
    for k, entry in enumerate(artefact.entries):
        entries.setdefault((entry.row, entry.column), []).append(k)
    headlines = headline_columns(artefact.cells)  # scorers are not in the schema
    measures = list(dict.fromkeys([*measures_of(columns), *headlines]))
    trials = entry_trials(
        artefact, store, list(dict.fromkeys([*measures, *ALWAYS, "key"]))
    )
    measures = [name for name in measures if trials[name].notna().any()]
    trials[measures] = trials[measures].astype(float)
    trials[[name for name in PERCENT if name in measures]] *= 100.0
    measured = _summarise(artefact, trials, measures)
    by_trace = trials.groupby(["row", "column"])
    listed = trials[by_trace["entry"].transform("size") <= max_listed].sort_values(
        PLACE
    )
    listed = listed.assign(seed=listed["seed"].fillna(-1).astype("int64"))
    listed_of = _by_entry(listed[[*PLACE, "key", "seed", *measures]])
    seeds = (
        trials[["entry", "repeat", "split_seed"]]
        .dropna()
        .drop_duplicates()
        .sort_values(["entry", "repeat"])
    )
    seeds_of = _by_entry(seeds.astype({"split_seed": "int64"}))
    n_stored = trials["entry"].value_counts()
    numbers_of: dict[tuple[str, str], Lines] = {}
    for line in frame.to_dict("records"):
        numbers_of.setdefault((line["of_row"], line["of_column"]), []).append(line)
    trials_of = dict(iter(by_trace[ALWAYS]))
    for place, members in entries.items():
        cells = []
        for k in members:
            split_seeds = [
                (line["repeat"], line["split_seed"]) for line in seeds_of.get(k, [])
            ]
            n_stored_of_entry = int(n_stored.get(k, 0))
            cells.append(
                TracedCell(
                    entry=artefact.entries[k],
                    n_stored=n_stored_of_entry,
                    measured=measured.get(k, []),
                    split_seeds=split_seeds,
                    trials=listed_of.get(k, []),
                )
            )
        trace = Trace(artefact.name, *place, numbers_of.get(place, []), cells)
        if place in trials_of:
            of_place = trials_of[place]
            trace.environments.extend(
                (versions(text), n) for text, n in value_counts(of_place["environment"])
            )
            trace.revisions.extend(value_counts(of_place["git_revision"]))
            trace.silent.extend(name for name in ALWAYS if of_place[name].isna().any())
        yield trace


def reference_numbers(path: Path) -> pd.DataFrame:
    """Return the numbers of a reference table as text in `reference`; empty if there is no table."""
    if not path.is_file():
        return pd.DataFrame(columns=[*NUMBER, "reference"], dtype=str)
    table = pd.read_csv(
        path, dtype=dict.fromkeys([*NUMBER, "value"], str), keep_default_na=False
    )
    is_count = table["value"].str.fullmatch(r"-?\d+")  # shown unchanged, like ours
    numbers = pd.to_numeric(table["value"], errors="coerce").mask(is_count)
    texts = (
        numbers.astype(object).where(numbers.notna(), table["value"]).map(value_text)
    )
    return table[NUMBER].assign(reference=texts).drop_duplicates(NUMBER)


def beside_reference(frame: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers of an artefact with `reference`, see `reference_numbers`; "" if there is none."""
    return frame.merge(numbers, "left", NUMBER).fillna({"reference": ""})


def measures_of(columns: Iterable[str]) -> list[str]:
    """Return the numeric columns of records that a summary or a trace reads."""
    measures = []
    for name in dict.fromkeys([*columns, "error", "n_selected"]):
        kind = SCHEMA.field(name).type if name in SCHEMA.names else pa.null()
        if pa.types.is_floating(kind) or pa.types.is_integer(kind):
            measures.append(name)
    return measures


def unit_of(measure: str) -> str:
    """Return the unit in which a column of the records is shown."""
    if measure in PERCENT:
        return "%"
    if measure in TIMING:
        return "s"
    return "bytes" if measure in ("file_bytes", "peak_memory") else ""


def _summarise(
    artefact: Artefact, trials: pd.DataFrame, measures: list[str]
) -> dict[int, Lines]:
    """Return the measures of all entries, see `TracedCell`, at once because grouping is slow."""
    if trials.empty:
        return {}
    n_folds = (
        trials[["entry", "repeat", "fold"]].drop_duplicates().groupby("entry").size()
    )
    # draws of a fold are averaged first, as in artefacts; with a single fold, only
    # draws vary
    draw = trials["draw"].where(trials["entry"].map(n_folds).eq(1), 0)
    values = (
        trials[measures]
        .groupby([trials["entry"], trials["repeat"], trials["fold"], draw])
        .mean()
    )
    grouped = values.groupby(level="entry")
    statistics = {
        "n": grouped.count(),
        "mean": grouped.mean(),
        "sd": grouped.std(ddof=1),
    }
    statistics |= {name: grouped.quantile(q) for name, q in QUARTILES.items()}
    numbers: dict[str, Lines] = {}
    for name in measures:
        of_measure = {key: table[name] for key, table in statistics.items()}
        numbers[name] = pd.DataFrame(of_measure).to_dict("records")
    points = {name: values[name].to_numpy() for name in measures}
    lines_of: dict[int, Lines] = {}
    start = 0
    for place, (k, size) in enumerate(grouped.size().items()):
        end = start + size
        unit_of_values = "draw" if n_folds[k] == 1 and size > 1 else "fold"
        if artefact.entries[k].cell.measured.repeats_are_seeds:
            unit_of_values = "seed"
        for name in measures:
            line = numbers[name][place]
            if line["n"]:
                of_entry = points[name][start:end]
                line |= {"name": name, "unit": unit_of(name), "by": unit_of_values}
                line["points"] = of_entry[~np.isnan(of_entry)][:MAX_VALUES]
                lines_of.setdefault(k, []).append(line)
        start = end
    return lines_of


def _by_entry(lines: pd.DataFrame) -> dict[int, Lines]:
    return {k: of_entry.to_dict("records") for k, of_entry in lines.groupby("entry")}
