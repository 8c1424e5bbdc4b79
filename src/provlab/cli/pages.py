"""Where numbers come from: pages of everything, or the trace of one number."""

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
"""Features of a cell that `explain` names."""


def call_report(options: argparse.Namespace) -> int:
    """Build the report and print where it is."""
    from provlab.bench.own_runs import read_runs
    from provlab.custody.site import build_report
    from provlab.project.papers import some_artefacts

    if not any(read_runs(Path(options.results))):
        some_artefacts()
    start = time.perf_counter()
    index = build_report(Path(options.results), options.overrides)
    pages = list(index.parent.rglob("*.html"))
    print(f"{len(pages)} pages in {time.perf_counter() - start:.1f} s: open {index}")
    return 0


def explain_arguments(parser: argparse.ArgumentParser) -> None:
    """Add which number."""
    parser.add_argument("artefact", help="such as table1, or PAPER/table1")
    parser.add_argument("--row", help="a row of the artefact; without it, the rows are listed")
    parser.add_argument("--column", help="a column of the artefact; without it, the columns are listed")
    parser.add_argument("--dataset", help="one data set (default: all of the artefact)")
    parser.add_argument("--trials", action="store_true", help="list every trial with its seed and key")
    add_json(parser)
    add_store_arguments(parser)


def call_explain(options: argparse.Namespace) -> int:
    """Print the trace of a row and column, or what rows and columns there are."""
    from provlab.core.artefact import compose_artefact
    from provlab.core.plan import unique_cells
    from provlab.core.recipe import load_recipe
    from provlab.core.selected import cells_features
    from provlab.core.store import TrialStore
    from provlab.core.trace import beside_reference, reference_numbers, trace_numbers
    from provlab.project.papers import full_name
    from provlab.project.project import current_project

    name, console = full_name(options.artefact), PlainConsole()
    wanted = {"row": options.row, "column": options.column, "dataset": options.dataset}
    chosen = choose(compose_artefact(name, options.overrides), **wanted)
    if options.row is None or options.column is None:
        if options.json:
            print_json({"artefact": chosen.name, "title": chosen.title, **{k + "s": _names(chosen, k) for k in wanted}})
            return 0
        console.print(Text(f"{chosen.name}: {chosen.title}", style="bold"))
        for kind in wanted:
            console.print(f"{kind}s: {'; '.join(_names(chosen, kind))}", soft_wrap=True)
        console.print("Name one: --row ... --column ... [--dataset ...]")
        return 0
    store, recipe = TrialStore(Path(options.results) / "store"), load_recipe(name)
    tables = current_project().root / "results" / "reference" / "tables"
    frame = beside_reference(recipe.frame(chosen, store), reference_numbers(tables / f"{name}.csv"))
    [trace] = trace_numbers(chosen, frame, store, recipe.columns, max_listed=math.inf if options.trials else 0)
    if options.json:
        print_json(_values_of(trace, options.results))
        return 0
    selected = dict(cells_features(store, unique_cells(chosen.cells)))
    for part in describe(trace, options.results, selected):
        console.print(part)
    return 0


def choose(artefact: Artefact, row: str | None, column: str | None, dataset: str | None) -> Artefact:
    """Return the artefact with the entries of one row, column or data set only, or of what is named of them.

    Raises
    ------
    ValueError
        Names the rows, columns or data sets that there are.
    """
    for kind, wanted in (("row", row), ("column", column), ("dataset", dataset)):
        if wanted is None:
            continue
        known = _names(artefact, kind)
        # a column of the table may be a summary of an entry's: "r=30, k=40, relevant"
        fitting = [name for name in known if wanted == name or (kind == "column" and wanted.startswith(name))]
        if not fitting:
            hint = did_you_mean(wanted, known) or "."
            raise ValueError(f"--{kind}: expected one of {'; '.join(known)} of {artefact.name}, got {wanted!r}{hint}")
        longest = max(fitting, key=len)
        artefact = replace(artefact, entries=tuple(each for each in artefact.entries if getattr(each, kind) == longest))
    return artefact


def _names(artefact: Artefact, kind: str) -> list[str]:
    return list(dict.fromkeys(getattr(entry, kind) for entry in artefact.entries))


def describe(trace: Trace, results: str, selected: Mapping[str, SelectedFeatures]) -> Iterator[RenderableType]:
    """Yield a trace in a results folder as parts for a terminal, with what cells selected, by their ids."""
    from provlab.core.tables import value_text

    yield Text(f"{trace.artefact}: {trace.row}, {trace.column}", style="bold")
    names = {"number": "column", "data set": "dataset", "ours": "value", "sd": "sd", "printed": "printed_value"}
    if any(line["reference"] for line in trace.numbers):
        names["reference"] = "reference"
    yield table([{shown: value_text(line[name]) for shown, name in names.items()} for line in trace.numbers])
    for cell in trace.cells:
        yield from _cell(cell, results, selected.get(cell.entry.cell.id))
    if trace.silent:
        text = f"some records do not say {', '.join(trace.silent)}: an older version wrote them"
        yield Text(text, style="yellow")
    yield Text("computed with", style="bold")
    for versions, n in trace.environments:
        yield f"  {n} trials: {_plain(versions)}"
    for revision, n in trace.revisions:
        differed = " (files differed from it)" if revision.endswith("+") else ""
        yield f"  {n} trials: git revision {revision or 'not known'}{differed}"


def _values_of(trace: Trace, results: str) -> dict[str, Any]:
    """Return a trace as plain values: numbers, cells with their configs, commands, environments and revisions."""
    cells = [
        {
            "dataset": cell.entry.dataset, "cell": cell.entry.cell.id, "config": cell.entry.cell.identity,
            "stored": cell.n_found, "planned": cell.entry.cell.n_trials, "split_seeds": cell.split_seeds,
            "measured": cell.measured, "trials": cell.trials, "command": cell.command,
            "audit": cell.audit_command(results),
        }
        for cell in trace.cells
    ]  # fmt: skip
    return {**vars(trace), "cells": cells}


def _cell(cell: TracedCell, results: str, selected: SelectedFeatures | None) -> Iterator[RenderableType]:
    planned = cell.entry.cell
    yield Text(f"\n{cell.entry.dataset}: {cell.n_found} of {planned.n_trials} trials", style="bold")
    seeds = ", ".join(f"repeat {repeat}: {seed}" for repeat, seed in cell.split_seeds)
    for name, value in {"cell": planned.id, **planned.identity, "split seeds": seeds}.items():
        yield f"  {name:12} {_plain(value)}"
    numbers = ("mean", "sd", "minimum", "lower", "median", "upper", "maximum")
    measured = [
        {"measured": each["name"] + (f" ({each['unit']})" if each["unit"] else ""), "over": f"{each['by']}s"}
        | {"n": each["n"]} | {name: f"{each[name]:.4g}" for name in numbers}
        for each in cell.measured
    ]  # fmt: skip
    if measured:
        yield table(measured)
    if selected is not None:
        yield from _features(selected)
    if cell.trials:
        columns = ["repeat", "fold", "draw", "seed", *(each["name"] for each in cell.measured), "key"]
        yield table([{name: _number(trial[name]) for name in columns} for trial in cell.trials])
    yield f"  compute it again:  {cell.command}"
    if cell.n_found:
        yield f"  and compare:       {cell.audit_command(results)}"


def _features(found: SelectedFeatures) -> Iterator[RenderableType]:
    """Yield the features that a cell selects most often, and how stable they are."""
    from provlab.core.selected import KEEPS_ALL

    size = " to ".join(f"{n:,}" for n in dict.fromkeys(found.sizes))
    stability = "; stability {:.3f}, 95 % interval {:.3f} to {:.3f}".format(found.index, *found.interval)
    stability = "" if math.isnan(found.index) else stability
    yield f"  {found.n_selections:,} selections of {size} of {found.n_features:,} features{stability}"
    if found.note:
        yield f"  {visible_line(found.note)}"
    if KEEPS_ALL in found.note or found.frame.empty:
        return
    forms = {"frequency": "{:.1%}", "place": "{:g}", "weight": "{:+.3g}", "weight_sd": "{:.2g}"}
    shown = found.frame[:TOP].dropna(axis="columns", how="all")
    texts = {
        name: shown[name].map(form.format, na_action="ignore").fillna("")
        for name, form in forms.items() if name in shown
    }  # fmt: skip
    lines = shown[["feature"]].assign(**texts)
    yield table(lines.rename(columns={"frequency": "selections", "weight_sd": "weight sd"}).to_dict("records"))


def _number(value: Any) -> str:
    """Return a value of a record as text; a number that is not there is empty."""
    if isinstance(value, float):
        return f"{value:.6g}" if value == value else ""
    return str(value)


def _plain(value: Any) -> str:
    if not isinstance(value, dict):
        return str(value)
    return json.dumps(value, sort_keys=True, separators=(", ", "="), ensure_ascii=False).replace('"', "")


COMMANDS = {
    "explain": (explain_arguments, call_explain),
    "report": (report_arguments, call_report),
}
"""Of each command what adds its arguments to a parser, and what runs it and returns its exit status."""
