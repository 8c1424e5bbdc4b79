"""Trace the numbers of an artefact back to their trials: configs, seeds, values, versions, and the command again."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from provlab.frames import entry_trials
from provlab.plan import Artefact, Entry
from provlab.project import tool
from provlab.protocols import protocol_named
from provlab.store import SCHEMA, TIMING, TrialReader
from provlab.summaries import versions

MAX_VALUES = 200
"""Values of a measured column that are kept for a plot; its statistics are of all."""

MAX_LISTED = 600
"""Traces of up to this many trials list each of them."""

PERCENT = ("error", "nmi", "ari")
ALWAYS = ["seed", "split_seed", "n_train", "environment", "git_revision"]
"""What every record of the present schema says."""

KEYS = ["repeat", "fold", "draw"]

STATISTICS = ("n", "mean", "sd", "minimum", "lower", "median", "upper", "maximum")
"""Of a measured column, over all values; lower and upper are the quartiles."""


@dataclass(frozen=True, eq=False)
class TracedCell:
    """One cell of a trace, on one data set: everything that its number depends on.

    Attributes
    ----------
    entry : Entry
    n_found : int
        Stored trials of those that are planned.
    measured : list of dict
        One a measured column: its `name`, `unit`, what a value is (`by`: fold, seed or draw), up to `MAX_VALUES`
        `points` in the order of the trials, and `STATISTICS`.
    split_seeds : list of (repeat, seed)
        Of the folds; the same for all methods.
    trials : list of dict
        Key, numbers, seeds and measured values of each trial; empty where they were not asked for.
    silent : list of str
        Columns that some records do not say, as an older version wrote them.
    audited : tuple of three int
        Times that a trial of it was computed again by `provsel audit` with the same bits, the same digits, or neither.
    folder : str
        What the commands say of the results folder.
    """

    entry: Entry
    n_found: int
    measured: list[dict[str, Any]]
    split_seeds: list[tuple[int, int]]
    trials: list[dict[str, Any]]
    silent: list[str]
    audited: tuple[int, int, int] = (0, 0, 0)
    folder: str = ""

    @property
    def command(self) -> str:
        """Computes exactly this cell again, into another results folder."""
        return again_command(self.entry)

    @property
    def audit_command(self) -> str:
        """Computes it again and compares it with what is stored; "" where nothing is."""
        return f"{tool('provsel')} audit --cell {self.entry.cell.id[:16]}{self.folder}" if self.n_found else ""


@dataclass(frozen=True, eq=False)
class Trace:
    """What stands behind one row and column of an artefact, data set by data set.

    Attributes
    ----------
    artefact, row, column : str
    numbers : list of dict
        The lines of the artefact's frame that come from these cells.
    cells : list of TracedCell
    environments : list of (versions, number of trials)
        Versions of Python, packages and BLAS, and the kind of machine; {} for records that do not say.
    revisions : list of (git revision, number of trials)
        "+" after a revision: files differed from it. "" where it is not known.
    """

    artefact: str
    row: str
    column: str
    numbers: list[dict[str, Any]]
    cells: list[TracedCell]
    environments: list[tuple[dict[str, Any], int]] = field(default_factory=list)
    revisions: list[tuple[str, int]] = field(default_factory=list)


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


def again_command(entry: Entry) -> str:
    """Return the command that computes exactly this cell again, into another results folder."""
    settings = " ".join(shlex.quote(text) for text in (*entry.overrides, "results=results/again"))
    return f"{tool('provsel')} run {settings}"


def trace_numbers(
    artefact: Artefact,
    frame: pd.DataFrame,
    store: TrialReader,
    columns: Sequence[str],
    *,
    results: Path | str = "results",
    list_trials: bool | None = None,
    audits: Mapping[str, tuple[int, int, int]] | None = None,
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
    results : path
        Results folder, for the commands.
    list_trials : bool, optional
        List every trial; by default those of traces of at most `MAX_LISTED`.
    audits : mapping, optional
        What audits found, by cell: see `TracedCell.audited`.
    """
    places: dict[tuple[str, str], list[int]] = {}
    for k, entry in enumerate(artefact.entries):
        places.setdefault((entry.row, entry.column), []).append(k)
    trace_of = {k: number for number, members in enumerate(places.values()) for k in members}
    measures = measures_of(columns)
    trials = entry_trials(artefact, store, list(dict.fromkeys([*measures, *ALWAYS, "key"])))
    measures = [name for name in measures if trials[name].notna().any()]
    trials[measures] = trials[measures].astype(float) * [100.0 if name in PERCENT else 1.0 for name in measures]
    trace = trials["entry"].map(trace_of)
    counted = {name: _counted(trials[name], trace) for name in ("environment", "git_revision")}
    sizes = trace.value_counts().to_dict()
    listed = {number: sizes.get(number, 0) <= MAX_LISTED if list_trials is None else list_trials for number in sizes}
    records = _records(trials[trace.map(listed).astype(bool)], measures)
    measured, n_found = _measured(artefact, trials, measures), trials.groupby("entry").size().to_dict()
    seeds, silent = _split_seeds(trials), _silent(trials)
    numbers: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for line in frame.to_dict("records"):
        numbers.setdefault((line["of_row"], line["of_column"]), []).append({str(name): x for name, x in line.items()})
    folder = "" if str(results) == "results" else f" --results {shlex.quote(str(results))}"
    for number, ((row, column), members) in enumerate(places.items()):
        cells = [
            TracedCell(
                artefact.entries[k], n_found.get(k, 0), measured.get(k, []), seeds.get(k, []), records.get(k, []),
                silent.get(k, []), (audits or {}).get(artefact.entries[k].cell.id, (0, 0, 0)), folder,
            )
            for k in members
        ]  # fmt: skip
        environments = [(versions(text), n) for text, n in counted["environment"].get(number, [])]
        revisions = counted["git_revision"].get(number, [])
        yield Trace(artefact.name, row, column, numbers.get((row, column), []), cells, environments, revisions)


def _counted(texts: pd.Series, groups: pd.Series) -> dict[int, list[tuple[str, int]]]:
    """Return for each group its texts and how many have them, the most frequent first; "" where there is none."""
    counts = texts.fillna("").astype(str).groupby(groups).value_counts()
    found: dict[int, list[tuple[str, int]]] = {}
    for (group, text), n in counts.items():  # type: ignore[misc, unused-ignore]
        found.setdefault(group, []).append((text, int(n)))
    return found


def _measured(artefact: Artefact, trials: pd.DataFrame, measures: list[str]) -> dict[int, list[dict[str, Any]]]:
    """Return what was measured in each entry, see `TracedCell`: computed for all entries at once."""
    if trials.empty:
        return {}
    n_folds = trials[["entry", "repeat", "fold"]].drop_duplicates().groupby("entry").size()
    # draws of a fold are averaged first, as in the artefacts; on one fold they are what varies
    draw = trials["draw"].where(trials["entry"].map(n_folds).eq(1), 0)
    values = trials[measures].groupby([trials["entry"], trials["repeat"], trials["fold"], draw]).mean()
    by_entry = values.groupby(level="entry")
    tables = [by_entry.count(), by_entry.mean(), by_entry.std(ddof=1)]
    tables += [by_entry.quantile(q) for q in (0.0, 0.25, 0.5, 0.75, 1.0)]
    ends = by_entry.size().cumsum()
    found: dict[int, list[dict[str, Any]]] = {}
    for name in measures:
        column, start = values[name].to_numpy(), 0
        lines = zip(*(table[name].tolist() for table in tables), strict=True)
        for (k, end), line in zip(ends.items(), lines, strict=True):
            points, start = column[start:end], end
            if not line[0]:
                continue
            one_fold = n_folds[k] == 1 and points.size > 1
            seeds = protocol_named(str(artefact.entries[k].cell.protocol["split"])).repeats_are_seeds
            by = "seed" if seeds else "draw" if one_fold else "fold"
            of = {"name": name, "unit": unit_of(name), "by": by, "points": points[~np.isnan(points)][:MAX_VALUES]}
            found.setdefault(k, []).append({**of, **dict(zip(STATISTICS, line, strict=True))})
    return found


def _records(trials: pd.DataFrame, measures: list[str]) -> dict[int, list[dict[str, Any]]]:
    """Return trials as lines by entry, in order of repeat, fold and draw; -1 stands for a seed that is not said."""
    found: dict[int, list[dict[str, Any]]] = {}
    in_order = trials.sort_values(["entry", *KEYS])[["entry", "key", *KEYS, "seed", *measures]]
    for line in in_order.assign(seed=in_order["seed"].fillna(-1).astype("int64")).to_dict("records"):
        found.setdefault(line.pop("entry"), []).append({str(name): value for name, value in line.items()})
    return found


def _split_seeds(trials: pd.DataFrame) -> dict[int, list[tuple[int, int]]]:
    seeds = trials[["entry", "repeat", "split_seed"]].dropna().drop_duplicates().sort_values(["entry", "repeat"])
    found: dict[int, list[tuple[int, int]]] = {}
    for k, repeat, seed in seeds.itertuples(index=False, name=None):
        found.setdefault(int(k), []).append((int(repeat), int(seed)))
    return found


def _silent(trials: pd.DataFrame) -> dict[int, list[str]]:
    silent = trials[ALWAYS].isna().groupby(trials["entry"]).any()
    return {
        int(k): [name for name, missing in zip(ALWAYS, line, strict=True) if missing]
        for k, *line in silent[silent.any(axis=1)].itertuples()
    }
