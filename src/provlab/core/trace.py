"""Trace the numbers of an artefact back to their trials: configs, seeds, values, versions, and the command again."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from provlab.core.artefact import Artefact, Entry
from provlab.core.frames import entry_trials, headline_columns
from provlab.core.protocols import protocol_named
from provlab.core.store import SCHEMA, TIMING, TrialReader
from provlab.core.summaries import value_counts, versions
from provlab.core.tables import value_text
from provlab.project.project import tool

MAX_VALUES = 200
"""Values of a measured column that are kept for a drawing; its statistics are of all."""

MAX_LISTED = 600
"""Traces of up to this many trials list each of them."""

PERCENT = ("error", "nmi", "ari")
ALWAYS = ["seed", "split_seed", "n_train", "environment", "git_revision"]
"""What every record of the present schema says."""

PLACE = ["entry", "repeat", "fold", "draw"]
NUMBER = ["row", "column", "dataset"]
"""Place of a number in an artefact."""

QUARTILES = {"minimum": 0.0, "lower": 0.25, "median": 0.5, "upper": 0.75, "maximum": 1.0}

Lines = list[dict[str, Any]]


@dataclass(frozen=True, eq=False)
class TracedCell:
    """One cell of a trace, on one data set: everything that its number depends on.

    Attributes
    ----------
    entry : Entry
    n_found : int
        Stored trials of those that are planned.
    measured : list of dict
        One a measured column: `name`, `unit`, what a value is (`by`: fold, seed or draw), up to `MAX_VALUES` `points`
        in the order of the trials, and over all values `n`, `mean`, `sd` and `QUARTILES`.
    split_seeds : list of (repeat, seed)
        Of the folds; the same for all methods.
    trials : list of dict
        Key, numbers, seed (-1: not said) and measured values of each trial; empty where they were not asked for.
    """

    entry: Entry
    n_found: int
    measured: Lines
    split_seeds: list[tuple[int, int]]
    trials: Lines

    @property
    def command(self) -> str:
        """Computes exactly this cell again, into another results folder."""
        return f"{tool('provsel')} run {shlex.join([*self.entry.overrides, 'results=results/again'])}"

    def audit_command(self, results: object) -> str:
        """Return what computes it again and compares it with what is stored in a results folder."""
        folder = "" if str(results) == "results" else f" --results {shlex.quote(str(results))}"
        return f"{tool('provsel')} audit --cell {self.entry.cell.id[:16]}{folder}"


@dataclass(frozen=True, eq=False)
class Trace:
    """What stands behind one row and column of an artefact, data set by data set.

    Attributes
    ----------
    artefact, row, column : str
    numbers : list of dict
        The lines of the artefact's frame that come from these cells, those of `beside_reference` with `reference`.
    cells : list of TracedCell
    environments : list of (versions, number of trials)
        Versions of Python, packages and BLAS, and the kind of machine; {} for records that do not say.
    revisions : list of (git revision, number of trials)
        "+" after a revision: files differed from it. "" where it is not known.
    silent : list of str
        Columns that some records do not say, as an older version wrote them.
    """

    artefact: str
    row: str
    column: str
    numbers: Lines
    cells: list[TracedCell]
    environments: list[tuple[dict[str, Any], int]]
    revisions: list[tuple[str, int]]
    silent: list[str]


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
        All of it, or of some entries only.
    frame : DataFrame
        Its numbers, see `artefact_frame`.
    store : TrialReader
    columns : sequence of str
        Columns of the records that the numbers are computed from.
    max_listed : float
        List each trial of traces of at most this many.
    """
    places: dict[tuple[str, str], list[int]] = {}
    for k, entry in enumerate(artefact.entries):
        places.setdefault((entry.row, entry.column), []).append(k)
    headlines = headline_columns(artefact.cells)  # scorers among them are no columns of the schema
    measures = list(dict.fromkeys([*measures_of(columns), *headlines]))
    trials = entry_trials(artefact, store, list(dict.fromkeys([*measures, *ALWAYS, "key"])))
    measures = [name for name in measures if trials[name].notna().any()]
    trials[measures] = trials[measures].astype(float) * [100.0 if name in PERCENT else 1.0 for name in measures]
    measured = _summarise(artefact, trials, measures)
    by_trace = trials.groupby(["row", "column"])
    listed = trials[by_trace["entry"].transform("size") <= max_listed].sort_values(PLACE)
    listed = listed.assign(seed=listed["seed"].fillna(-1).astype("int64"))
    records = _by_entry(listed[[*PLACE, "key", "seed", *measures]])
    seeds = _by_entry(trials[["entry", "repeat", "split_seed"]].dropna().drop_duplicates().sort_values(PLACE[:2]))
    n_found = trials["entry"].value_counts().to_dict()
    numbers, trials_of = dict(iter(frame.groupby(["of_row", "of_column"]))), dict(iter(by_trace[ALWAYS]))
    for place, members in places.items():
        found = trials_of.get(place, trials[:0])
        cells = [
            TracedCell(
                artefact.entries[k], n_found.get(k, 0), measured.get(k, []),
                [(line["repeat"], int(line["split_seed"])) for line in seeds.get(k, [])], records.get(k, []),
            )
            for k in members
        ]  # fmt: skip
        own: Lines = numbers[place].to_dict("records") if place in numbers else []
        environments = [(versions(text), n) for text, n in value_counts(found["environment"])]
        silent = [name for name in ALWAYS if found[name].isna().any()]
        yield Trace(artefact.name, *place, own, cells, environments, value_counts(found["git_revision"]), silent)


def reference_numbers(path: Path) -> pd.DataFrame:
    """Return the numbers of a table of the reference as text, `reference`, by their place; none without the table."""
    if not path.is_file():
        return pd.DataFrame(columns=[*NUMBER, "reference"], dtype=str)
    table = pd.read_csv(path, dtype=dict.fromkeys([*NUMBER, "value"], str), keep_default_na=False)
    is_count = table["value"].str.fullmatch(r"-?\d+")  # shown as it is, as ours
    shown = pd.to_numeric(table["value"], errors="coerce").mask(is_count)
    texts = shown.astype(object).where(shown.notna(), table["value"]).map(value_text)
    return table[NUMBER].assign(reference=texts).drop_duplicates(NUMBER)


def beside_reference(frame: pd.DataFrame, numbers: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers of an artefact with `reference`, see `reference_numbers`; "" where it has none."""
    return frame.merge(numbers, "left", NUMBER).fillna({"reference": ""})


def measures_of(columns: Iterable[str]) -> list[str]:
    """Return the columns of records, of those that a summary reads and the usual ones, that are numbers."""
    named = dict.fromkeys([*columns, "error", "n_selected"])
    kinds = {name: SCHEMA.field(name).type for name in named if name in SCHEMA.names}
    return [name for name, kind in kinds.items() if pa.types.is_floating(kind) or pa.types.is_integer(kind)]


def unit_of(measure: str) -> str:
    """Return the unit in which a column of the records is shown."""
    if measure in PERCENT:
        return "%"
    if measure in TIMING:
        return "s"
    return "bytes" if measure in ("file_bytes", "peak_memory") else ""


def _summarise(artefact: Artefact, trials: pd.DataFrame, measures: list[str]) -> dict[int, Lines]:
    """Return what was measured in each entry, see `TracedCell`: for all entries at once, as a group takes its time."""
    if trials.empty:
        return {}
    n_folds = trials[["entry", "repeat", "fold"]].drop_duplicates().groupby("entry").size()
    # draws of a fold are averaged first, as in the artefacts; on one fold they are what varies
    draw = trials["draw"].where(trials["entry"].map(n_folds).eq(1), 0)
    values = trials[measures].groupby([trials["entry"], trials["repeat"], trials["fold"], draw]).mean()
    grouped = values.groupby(level="entry")
    statistics = {"n": grouped.count(), "mean": grouped.mean(), "sd": grouped.std(ddof=1)}
    statistics |= {name: grouped.quantile(q) for name, q in QUARTILES.items()}
    lines_of = {name: zip(*(table[name].tolist() for table in statistics.values()), strict=True) for name in measures}
    ends = grouped.size().cumsum()
    found: dict[int, Lines] = {}
    for (k, end), start in zip(ends.items(), [0, *ends], strict=False):
        by = "draw" if n_folds[k] == 1 and end - start > 1 else "fold"
        if protocol_named(str(artefact.entries[k].cell.protocol["split"])).repeats_are_seeds:
            by = "seed"
        for name in measures:
            line: dict[str, Any] = dict(zip(statistics, next(lines_of[name]), strict=True))
            points = values[name].to_numpy()[start:end]
            line |= {"name": name, "unit": unit_of(name), "by": by, "points": points[~np.isnan(points)][:MAX_VALUES]}
            if line["n"]:
                found.setdefault(k, []).append(line)
    return found


def _by_entry(lines: pd.DataFrame) -> dict[int, Lines]:
    return {k: found.to_dict("records") for k, found in lines.groupby("entry")}
