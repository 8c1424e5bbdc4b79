"""Where numbers come from: pages of everything, or the trace of one number."""

from __future__ import annotations

import argparse
import json
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from provlab.cli.arguments import Command, add_store_arguments
from provlab.cli.guard import wide_console
from provlab.messages import did_you_mean

if TYPE_CHECKING:
    from provlab.plan import Artefact
    from provlab.report.trace import Trace, TracedCell

report_arguments = add_store_arguments


def call_report(options: argparse.Namespace) -> int:
    """Build the report and print where it is."""
    from provlab.project import some_artefacts
    from provlab.report.build import build_report

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
    add_store_arguments(parser)


def call_explain(options: argparse.Namespace) -> int:
    """Print the trace of a row and column, or what rows and columns there are."""
    from provlab.plan import compose_artefact
    from provlab.project import full_name
    from provlab.recipe import load_recipe
    from provlab.report.trace import trace_numbers
    from provlab.store import TrialStore

    name = full_name(options.artefact)
    artefact = compose_artefact(name, options.overrides)
    console = wide_console()
    chosen = choose(artefact, options.row, options.column, options.dataset)
    if options.row is None or options.column is None:
        _print_places(console, chosen)
        return 0
    store, recipe = TrialStore(Path(options.results) / "store"), load_recipe(name)
    frame = recipe.frame(chosen, store)
    [trace] = trace_numbers(chosen, frame, store, recipe.columns, max_listed=math.inf if options.trials else 0)
    for part in describe(trace, options.results):
        console.print(part)
    return 0


def choose(artefact: Artefact, row: str | None, column: str | None, dataset: str | None) -> Artefact:
    """Return the artefact with the entries of one row, column or data set only, or of what is named of them.

    Raises
    ------
    ValueError
        Names the rows, columns or data sets that there are.
    """
    entries = artefact.entries
    for kind, wanted in (("row", row), ("column", column), ("dataset", dataset)):
        if wanted is None:
            continue
        known = list(dict.fromkeys(getattr(entry, kind) for entry in entries))
        # a column of the table may be a summary of an entry's: "r=30, k=40, relevant"
        fitting = [name for name in known if wanted == name or (kind == "column" and wanted.startswith(name))]
        if not fitting:
            raise ValueError(
                f"--{kind}: expected one of {'; '.join(known)} of {artefact.name}, got {wanted!r}"
                + (did_you_mean(wanted, known) or ".")
            )
        longest = max(fitting, key=len)
        entries = tuple(entry for entry in entries if getattr(entry, kind) == longest)
    return replace(artefact, entries=entries)


def describe(trace: Trace, results: str) -> list[RenderableType]:
    """Return a trace in a results folder as parts for a terminal; untrusted text in it is not read as markup."""
    from provlab.tables import value_text

    parts: list[RenderableType] = [Text(f"{trace.artefact}: {trace.row}, {trace.column}", style="bold")]
    numbers = Table("number", "data set", "ours", "sd", "printed")
    for line in trace.numbers:
        values = [value_text(line[name]) for name in ("value", "sd", "printed_value")]
        numbers.add_row(*(Text(text) for text in (line["column"], line["dataset"], *values)))
    parts.append(numbers)
    for cell in trace.cells:
        parts += _cell(cell, results)
    if trace.silent:
        text = f"some records do not say {', '.join(trace.silent)}: an older version wrote them"
        parts.append(Text(text, style="yellow"))
    parts.append(Text("computed with", style="bold"))
    parts += [Text(f"  {n} trials: {_plain(versions)}") for versions, n in trace.environments]
    parts += [
        Text(f"  {n} trials: git revision {revision or 'not known'}"
             + (" (files differed from it)" if revision.endswith("+") else ""))
        for revision, n in trace.revisions
    ]  # fmt: skip
    return parts


def _cell(cell: TracedCell, results: str) -> list[RenderableType]:
    planned = cell.entry.cell
    parts: list[RenderableType] = [
        Text(f"\n{cell.entry.dataset}: {cell.n_found} of {planned.n_trials} trials", style="bold"),
        Text(f"  cell         {planned.id}"),
        *(Text(f"  {name:12} {_plain(value)}") for name, value in planned.identity.items()),
        Text("  split seeds  " + ", ".join(f"repeat {repeat}: {seed}" for repeat, seed in cell.split_seeds)),
    ]
    if cell.measured:
        table = Table("measured", "over", "n", "mean", "sd", "min", "quartile", "median", "quartile", "max")
        for each in cell.measured:
            names = ("mean", "sd", "minimum", "lower", "median", "upper", "maximum")
            unit = f" ({each['unit']})" if each["unit"] else ""
            table.add_row(
                f"{each['name']}{unit}", f"{each['by']}s", str(each["n"]), *(f"{each[name]:.4g}" for name in names)
            )
        parts.append(table)
    if cell.trials:
        measures = [each["name"] for each in cell.measured]
        table = Table("repeat", "fold", "draw", "seed", *measures, "key")
        for trial in cell.trials:
            values = (f"{trial[name]:.6g}" if trial[name] == trial[name] else "" for name in measures)
            table.add_row(
                *(str(trial[name]) for name in ("repeat", "fold", "draw", "seed")), *values, Text(trial["key"])
            )
        parts.append(table)
    parts.append(Text(f"  compute it again:  {cell.command}"))
    return parts + ([Text(f"  and compare:       {cell.audit_command(results)}")] if cell.n_found else [])


def _print_places(console: Console, artefact: Artefact) -> None:
    console.print(Text(f"{artefact.name}: {artefact.title}", style="bold"))
    for kind in ("row", "column", "dataset"):
        names = dict.fromkeys(getattr(entry, kind) for entry in artefact.entries)
        console.print(Text(f"{kind}s: {'; '.join(names)}"), soft_wrap=True)
    console.print(Text("Name one: --row ... --column ... [--dataset ...]"))


def _plain(value: Any) -> str:
    from provlab.identity.keys import canonical_json

    if isinstance(value, dict):
        return json.dumps(json.loads(canonical_json(value)), separators=(", ", "="), ensure_ascii=False).replace(
            '"', ""
        )
    return str(value)


COMMANDS = {
    "report": Command(
        "write the HTML report: every number beside the printed one, every claim with its verdict",
        "provsel report --results results",
        report_arguments,
        call_report,
    ),
    "explain": Command(
        "where a number comes from: config, seeds, trials, versions, and the command to compute it again",
        "provsel explain table1 --row BSS --column 'r=30, k=40'",
        explain_arguments,
        call_explain,
    ),
}
