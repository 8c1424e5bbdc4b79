"""Trace the numbers of an artefact back to their trials; what a trace holds: `site.trace`."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from provlab.frames import entry_trials
from provlab.plan import Artefact, Entry
from provlab.project import tool
from provlab.protocols import protocol_named
from provlab.site.trace import Distribution, Trace, TracedCell, TracedTrial
from provlab.store import SCHEMA, TIMING, TrialReader
from provlab.summaries import value_counts, versions
from provlab.tables import value_text

MAX_VALUES = 200
"""Values of a distribution that are kept for a plot; its numbers are of all."""

MAX_LISTED = 600
"""Traces of up to this many trials list each of them."""

PERCENT = ("error", "nmi", "ari")
ALWAYS = ["seed", "split_seed", "n_train", "environment", "git_revision"]
"""What every record of the present schema says."""

KEYS = ["repeat", "fold", "draw"]


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


def trace_numbers(
    artefact: Artefact,
    frame: pd.DataFrame,
    store: TrialReader,
    columns: Sequence[str],
    *,
    results: Path | str = "results",
    settings: Sequence[str] = (),
    list_trials: bool | None = None,
    audits: Mapping[str, tuple[int, int, int]] | None = None,
) -> list[Trace]:
    """Return the trace of each row and column of an artefact, in its order.

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
    settings : sequence of str
        The user's overrides.
    list_trials : bool, optional
        List every trial; by default those of traces of at most `MAX_LISTED`.
    audits : mapping, optional
        What audits found, by cell: see `TracedCell.audited`.
    """
    read = list(dict.fromkeys([*measures_of(columns), *ALWAYS, "key"]))
    trials = entry_trials(artefact, store, read)
    groups: dict[tuple[str, str], list[int]] = {}
    for k, entry in enumerate(artefact.entries):
        groups.setdefault((entry.row, entry.column), []).append(k)
    measured = _Measured(trials, [name for name in measures_of(columns) if trials[name].notna().any()])
    lines = dict(iter(frame.groupby(["of_row", "of_column"], sort=False)))
    traces = []
    for (row, column), members in groups.items():
        own = trials[trials["entry"].isin(members)]
        listed = len(own) <= MAX_LISTED if list_trials is None else list_trials
        shown = _listed(own, measured.measures) if listed else {}
        cells = tuple(_cell(artefact.entries[k], k, measured, results, tuple(shown.get(k, ()))) for k in members)
        traces.append(
            Trace(
                artefact.name,
                row,
                column,
                _lines(lines.get((row, column))),
                cells,
                tuple((versions(text), n) for text, n in value_counts(own["environment"])),
                tuple(value_counts(own["git_revision"])),
                tuple(settings),
            )
        )
    if audits:
        return [replace(trace, cells=tuple(_with_audit(cell, audits) for cell in trace.cells)) for trace in traces]
    return traces


def _with_audit(cell: TracedCell, audits: Mapping[str, tuple[int, int, int]]) -> TracedCell:
    return replace(cell, audited=audits.get(cell.cell, (0, 0, 0)))


class _Measured:
    """The values of all measures by entry, and their summaries: computed for all entries at once."""

    def __init__(self, trials: pd.DataFrame, measures: list[str]) -> None:
        self.measures = measures
        n_folds = trials[["entry", "repeat", "fold"]].drop_duplicates().groupby("entry").size()
        on_one_fold = trials["entry"].map(n_folds).eq(1)
        # draws of a fold are averaged first, as in the artefacts; on one fold they are what varies
        unit = trials[KEYS].assign(draw=trials["draw"].where(on_one_fold, 0))
        scaled = trials[measures].astype(float)
        scaled = scaled * np.array([100.0 if name in PERCENT else 1.0 for name in measures])
        self.values = scaled.groupby([trials["entry"], *(unit[name] for name in KEYS)]).mean()
        by_entry = self.values.groupby(level="entry")
        summaries = [by_entry.count(), by_entry.mean(), by_entry.std(ddof=1)]
        summaries += [by_entry.quantile(q) for q in (0.0, 0.25, 0.5, 0.75, 1.0)]
        entries = summaries[0].index
        # measure -> entry -> n, mean, sd and the five quantiles
        self.summaries = {
            name: dict(zip(entries, zip(*(table[name].tolist() for table in summaries), strict=True), strict=True))
            for name in measures
        }
        self._columns = {name: self.values[name].to_numpy() for name in measures}
        ends = np.cumsum(by_entry.size().to_numpy()).tolist()
        self.parts = dict(zip(entries.tolist(), map(slice, [0, *ends], ends), strict=True))
        self.n_folds = n_folds.to_dict()
        self.n_trials = trials.groupby("entry").size().to_dict()
        seeds = trials[["entry", "repeat", "split_seed"]].dropna().drop_duplicates().sort_values(["entry", "repeat"])
        self.split_seeds: dict[int, list[tuple[int, int]]] = {}
        for k, repeat, seed in zip(*(seeds[name].tolist() for name in seeds), strict=True):
            self.split_seeds.setdefault(k, []).append((int(repeat), int(seed)))
        silent = trials[ALWAYS].isna().groupby(trials["entry"]).any()
        self.silent = {
            int(k): [name for name, missing in zip(ALWAYS, line, strict=True) if missing]
            for k, *line in silent[silent.any(axis=1)].itertuples()
        }

    def of(self, k: int, split: str) -> Iterator[Distribution]:
        """Yield the distribution of each measure that entry k has."""
        if k not in self.parts:
            return
        part = self.parts[k]
        one_fold = self.n_folds[k] == 1 and part.stop - part.start > 1
        by = "seed" if protocol_named(split).repeats_are_seeds else "draw" if one_fold else "fold"
        for name in self.measures:
            n, *numbers = self.summaries[name][k]
            if n:
                values = self._columns[name][part]
                values = values[~np.isnan(values)][:MAX_VALUES]
                yield Distribution(name, unit_of(name), by, tuple(values.tolist()), n, *numbers)


def _cell(
    entry: Entry, k: int, measured: _Measured, results: Path | str, trials: tuple[TracedTrial, ...]
) -> TracedCell:
    silent = measured.silent.get(k, [])
    problems = (f"some records do not say {', '.join(silent)}: an older version wrote them",) if silent else ()
    folder = "" if str(results) == "results" else f" --results {shlex.quote(str(results))}"
    return TracedCell(
        dataset=entry.dataset,
        cell=entry.cell.id,
        identity=entry.cell.identity,
        data=entry.cell.data,
        n_found=measured.n_trials.get(k, 0),
        n_planned=entry.cell.n_trials,
        split_seeds=tuple(measured.split_seeds.get(k, [])),
        distributions=tuple(measured.of(k, str(entry.cell.protocol["split"]))),
        trials=trials,
        command=again_command(entry),
        audit_command=f"{tool('provsel')} audit --cell {entry.cell.id[:16]}{folder}",
        problems=problems,
    )


def again_command(entry: Entry) -> str:
    """Return the command that computes exactly this cell again, into another results folder."""
    settings = " ".join(shlex.quote(text) for text in (*entry.overrides, "results=results/again"))
    return f"{tool('provsel')} run {settings}"


def _listed(trials: pd.DataFrame, measures: list[str]) -> dict[int, list[TracedTrial]]:
    """Return all trials by entry, in order of repeat, fold and draw."""
    names = list(dict.fromkeys(["entry", "key", *KEYS, *ALWAYS, *measures]))
    in_order = trials.sort_values(["entry", *KEYS])
    columns = (in_order[name].tolist() for name in names)
    found: dict[int, list[TracedTrial]] = {}
    for values in zip(*columns, strict=True):
        said = {name: value for name, value in zip(names, values, strict=True) if not pd.isna(value)}
        numbers = {name: float(said[name]) for name in measures if name in said}
        found.setdefault(said["entry"], []).append(
            TracedTrial(
                key=str(said["key"]),
                repeat=int(said["repeat"]),
                fold=int(said["fold"]),
                draw=int(said["draw"]),
                seed=int(said.get("seed", -1)),
                split_seed=int(said.get("split_seed", -1)),
                values={name: 100 * value if name in PERCENT else value for name, value in numbers.items()},
                environment=str(said.get("environment", "")),
                git_revision=str(said.get("git_revision", "")),
            )
        )
    return found


def _lines(found: pd.DataFrame | None) -> tuple[tuple[str, str, str, str, str], ...]:
    if found is None:
        return ()
    return tuple(
        (
            str(line.column),
            str(line.dataset),
            value_text(line.value),
            value_text(line.sd),
            value_text(line.printed_value),
        )
        for line in found.itertuples()
    )


def version_text(value: Any) -> str:
    """Return one of the `versions` as a text; a list of BLAS libraries or vector instructions becomes one."""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
