"""Commands on the origin of numbers: the whole report, or the trace of one number."""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.text import Text

from provlab.cli.commands import add_json, add_store_arguments
from provlab.project.messages import did_you_mean, visible_line
from provlab.project.terminal import PlainConsole, print_json, table

if TYPE_CHECKING:
    from provlab.core.artefact import Artefact
    from provlab.core.selected import SelectedFeatures
    from provlab.core.trace import Trace, TracedCell

report_arguments = add_store_arguments

TOP = 10
"""Number of features of a cell that `explain` lists."""


def call_report(options: argparse.Namespace) -> int:
    """Build the report and print its path."""
    from provlab.bench.own_runs import read_runs
    from provlab.custody.site import build_report
    from provlab.project.papers import some_artefacts

    if not any(read_runs(Path(options.results))):
        some_artefacts()
    start = time.perf_counter()
    index = build_report(Path(options.results), options.overrides)
    n_pages = len(list(index.parent.rglob("*.html")))
    print(f"{n_pages} pages in {time.perf_counter() - start:.1f} s: open {index}")
    return 0


def explain_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose a number."""
    parser.add_argument("artefact", help="such as table1, or PAPER/table1")
    parser.add_argument(
        "--row", help="a row of the artefact; without it, the rows are listed"
    )
    parser.add_argument(
        "--column", help="a column of the artefact; without it, the columns are listed"
    )
    parser.add_argument("--dataset", help="one data set (default: all of the artefact)")
    parser.add_argument(
        "--trials", action="store_true", help="list every trial with its seed and key"
    )
    add_json(parser)
    add_store_arguments(parser)


def call_explain(options: argparse.Namespace) -> int:
    """Print the trace of a row and column, or the list of rows and columns."""
    from provlab.core.artefact import compose_artefact
    from provlab.core.plan import unique_cells
    from provlab.core.recipe import load_recipe
    from provlab.core.selected import cells_features
    from provlab.core.store import TrialStore
    from provlab.core.trace import beside_reference, reference_numbers, trace_numbers
    from provlab.project.papers import full_name
    from provlab.project.project import current_project

    name = full_name(options.artefact)
    artefact = compose_artefact(name, options.overrides)
    artefact = choose(
        artefact, row=options.row, column=options.column, dataset=options.dataset
    )
    if options.row is None or options.column is None:
        _print_names(artefact, as_json=options.json)
        return 0
    store = TrialStore(Path(options.results) / "store")
    recipe = load_recipe(name)
    tables = current_project().root / "results" / "reference" / "tables"
    frame = beside_reference(
        recipe.frame(artefact, store), reference_numbers(tables / f"{name}.csv")
    )
    [trace] = trace_numbers(
        artefact,
        frame,
        store,
        recipe.columns,
        max_listed=math.inf if options.trials else 0,
    )
    if options.json:
        print_json(_values_of(trace, options.results))
        return 0
    selected = dict(cells_features(store, unique_cells(artefact.cells)))
    console = PlainConsole()
    for part in describe(trace, options.results, selected):
        console.print(part)
    return 0


def choose(artefact: Artefact, **names: str | None) -> Artefact:
    """Return the artefact restricted to the named row, column and data set.

    Raises
    ------
    ValueError
        If a name is unknown; the message lists the rows, columns or data sets.
    """
    for kind, name in names.items():
        if name is not None:
            entry_name = _entry_name(artefact, kind, name)
            entries = tuple(
                entry
                for entry in artefact.entries
                if getattr(entry, kind) == entry_name
            )
            artefact = replace(artefact, entries=entries)
    return artefact


def _entry_name(artefact: Artefact, kind: str, name: str) -> str:
    """Return the row, column or data set of an entry with a given name; a column may be a summary of the entry's."""
    choices = _names(artefact, kind)
    if name in choices:
        return name
    # the summary "r=30, k=40, relevant" of the entry's column "r=30, k=40"
    fitting = [
        choice for choice in choices if kind == "column" and name.startswith(choice)
    ]
    if not fitting:
        hint = did_you_mean(name, choices) or "."
        raise ValueError(
            f"--{kind}: expected one of {'; '.join(choices)} of {artefact.name}, got {name!r}{hint}"
        )
    return max(fitting, key=len)


def _names(artefact: Artefact, kind: str) -> list[str]:
    return list(dict.fromkeys(getattr(entry, kind) for entry in artefact.entries))


def _print_names(artefact: Artefact, *, as_json: bool) -> None:
    """Print the rows, columns and data sets of an artefact."""
    names = {
        f"{kind}s": _names(artefact, kind) for kind in ("row", "column", "dataset")
    }
    if as_json:
        print_json({"artefact": artefact.name, "title": artefact.title, **names})
        return
    console = PlainConsole()
    console.print(Text(f"{artefact.name}: {artefact.title}", style="bold"))
    for kind, of_kind in names.items():
        console.print(f"{kind}: {'; '.join(of_kind)}", soft_wrap=True)
    console.print("Name one: --row ... --column ... [--dataset ...]")


def describe(
    trace: Trace, results: str, selected: Mapping[str, SelectedFeatures]
) -> Iterator[RenderableType]:
    """Yield a trace in a results folder as parts for the terminal, with the selected features of its cells."""
    from provlab.core.tables import value_text

    yield Text(f"{trace.artefact}: {trace.row}, {trace.column}", style="bold")
    columns = {
        "number": "column",
        "data set": "dataset",
        "ours": "value",
        "sd": "sd",
        "printed": "printed_value",
    }
    if any(line["reference"] for line in trace.numbers):
        columns["reference"] = "reference"
    lines = []
    for number in trace.numbers:
        lines.append(
            {title: value_text(number[name]) for title, name in columns.items()}
        )
    yield table(lines)
    for cell in trace.cells:
        yield from _cell(cell, results, selected.get(cell.entry.cell.id))
    if trace.silent:
        text = f"some records lack {', '.join(trace.silent)}, because an older version wrote them"
        yield Text(text, style="yellow")
    yield Text("computed with", style="bold")
    for versions, n in trace.environments:
        yield f"  {n} trials: {_plain(versions)}"
    for revision, n in trace.revisions:
        differed = " (files differed from it)" if revision.endswith("+") else ""
        yield f"  {n} trials: git revision {revision or 'unknown'}{differed}"


def _values_of(trace: Trace, results: str) -> dict[str, Any]:
    """Convert a trace to plain values: numbers, cells with their configs, commands, environments and revisions."""
    cells = []
    for cell in trace.cells:
        planned = cell.entry.cell
        cells.append({
            "dataset": cell.entry.dataset, "cell": planned.id, "config": planned.identity,
            "stored": cell.n_stored, "planned": planned.n_trials, "split_seeds": cell.split_seeds,
            "measured": cell.measured, "trials": cell.trials, "command": cell.command,
            "audit": cell.audit_command(results),
        })  # fmt: skip
    return {**vars(trace), "cells": cells}


def _cell(
    cell: TracedCell, results: str, selected: SelectedFeatures | None
) -> Iterator[RenderableType]:
    planned = cell.entry.cell
    yield Text(
        f"\n{cell.entry.dataset}: {cell.n_stored} of {planned.n_trials} trials",
        style="bold",
    )
    seeds = ", ".join(f"repeat {repeat}: {seed}" for repeat, seed in cell.split_seeds)
    for name, value in {
        "cell": planned.id,
        **planned.identity,
        "split seeds": seeds,
    }.items():
        yield f"  {name:12} {_plain(value)}"
    lines = []
    for column in cell.measured:
        unit = f" ({column['unit']})" if column["unit"] else ""
        line = {
            "measured": f"{column['name']}{unit}",
            "over": f"{column['by']}s",
            "n": column["n"],
        }
        for name in ("mean", "sd", "minimum", "lower", "median", "upper", "maximum"):
            line[name] = f"{column[name]:.4g}"
        lines.append(line)
    if lines:
        yield table(lines)
    if selected is not None:
        yield from _features(selected)
    if cell.trials:
        columns = [
            "repeat",
            "fold",
            "draw",
            "seed",
            *(column["name"] for column in cell.measured),
            "key",
        ]
        trials = []
        for trial in cell.trials:
            trials.append({name: _number(trial[name]) for name in columns})
        yield table(trials)
    yield f"  recompute it:  {cell.command}"
    if cell.n_stored:
        yield f"  and compare:   {cell.audit_command(results)}"


def _features(selected: SelectedFeatures) -> Iterator[RenderableType]:
    """Yield the features that a cell selects most often, and the stability of the selection."""
    from provlab.core.selected import KEEPS_ALL

    size = " to ".join(f"{n:,}" for n in dict.fromkeys(selected.sizes))
    text = f"  {selected.n_selections:,} selections of {size} of {selected.n_features:,} features"
    if not math.isnan(selected.index):
        low, high = selected.interval
        text += (
            f"; stability {selected.index:.3f}, 95 % interval {low:.3f} to {high:.3f}"
        )
    yield text
    if selected.note:
        yield f"  {visible_line(selected.note)}"
    if KEEPS_ALL in selected.note or selected.frame.empty:
        return
    shown = selected.frame[:TOP].dropna(axis="columns", how="all")
    lines = shown[["feature"]].copy()
    for name, title, form in FEATURE_COLUMNS:
        if name in shown:
            lines[title] = shown[name].map(form.format, na_action="ignore").fillna("")
    yield table(lines.to_dict("records"))


FEATURE_COLUMNS = (
    ("frequency", "selections", "{:.1%}"), ("place", "place", "{:g}"), ("weight", "weight", "{:+.3g}"),
    ("weight_sd", "weight sd", "{:.2g}"),
)  # fmt: skip
"""Columns of the selected features, with their headings and formats in the terminal."""


def _number(value: Any) -> str:
    """Return a value of a record as text; a missing number is empty."""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6g}"
    return str(value)


def _plain(value: Any) -> str:
    """Return a value as text, with mappings printed without quotes."""
    if not isinstance(value, dict):
        return str(value)
    return json.dumps(
        value, sort_keys=True, separators=(", ", "="), ensure_ascii=False
    ).replace('"', "")


COMMANDS = {
    "explain": (explain_arguments, call_explain),
    "report": (report_arguments, call_report),
}
"""Functions of each command: one adds its arguments, the other runs it and returns its exit status."""
