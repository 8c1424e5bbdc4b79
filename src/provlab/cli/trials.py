"""Audit, export and merge stored trials."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from provlab.cli.commands import DEFAULT_RESULTS, add_store_arguments, only_executor
from provlab.project.documents import parse_json
from provlab.project.messages import visible_line
from provlab.project.terminal import PlainConsole, table

if TYPE_CHECKING:
    import pandas as pd

    from provlab.custody.audit_runs import AuditRun

MAX_LINES = 50
"""Largest number of printed differences or conflicts; a file contains all."""


def audit_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for the sample and its recomputation."""
    parser.add_argument(
        "--fraction",
        type=float,
        help="share of the trials, above 0 and up to 1 (default: 0.01; with --cell 1)",
    )
    parser.add_argument(
        "--cell",
        default="",
        help="only trials of this cell: 8 or more of its first hex digits",
    )
    parser.add_argument("--limit", type=int, help="compute at most this many trials")
    parser.add_argument(
        "--seed",
        type=int,
        help="seed of the draw (default: a new one, which is printed)",
    )
    parser.add_argument(
        "--strict", action="store_true",
        help="exit status 1 also for trials that agree only to some digits, or cannot be recomputed",
    )  # fmt: skip
    stored = parser.add_mutually_exclusive_group()
    stored.add_argument(
        "--panel", nargs="?", const="", metavar="FOLDER_OR_FILE",
        help="audit the benchmark's stored panel (default: that of provsel), or a file that rank "
        "--export wrote",
    )  # fmt: skip
    parser.add_argument(
        "--method",
        action="append",
        default=[],
        metavar="NAME",
        help="only this method of the panel; may be repeated",
    )
    stored.add_argument(
        "--readings", metavar="FOLDER",
        help="audit the packed trials of a paper's readings, a folder of results/reference/readings",
    )  # fmt: skip
    add_store_arguments(parser, "executor=serial")


def call_audit(options: argparse.Namespace) -> int:
    """Audit, print the findings, and return 1 if something differs."""
    from provlab.custody.agreement import IDENTICAL
    from provlab.custody.audit import run_audit, run_panel_audit, run_readings_audit

    why = "stored trials have their own settings; choose them by --cell, --fraction and --limit"
    settings = {
        name: getattr(options, name) for name in ("fraction", "cell", "limit", "seed")
    }
    settings["executor"] = only_executor(
        "audit", options, "executor=dask executor.n_jobs=2", why
    )
    results = Path(options.results)
    if options.method and options.panel is None:
        raise ValueError(
            f"audit: --method works only with --panel, got {options.method[0]!r} alone; add --panel."
        )
    if options.panel is not None:
        run, path = run_panel_audit(
            options.panel, results, methods=options.method, **settings
        )
    elif options.readings:
        run, path = run_readings_audit(options.readings, results, **settings)
    else:
        run, path = run_audit(results, **settings)
    console = PlainConsole()
    n_same = run.trials["same_environment"].sum()
    caption = f"{n_same} of {len(run.trials)} were stored by these versions on this kind of machine"
    n_partly = run.trials["not_compared"].astype(bool).sum()
    if n_partly:
        caption += f"; {n_partly} have no value in columns that were added later"
    console.print(table(list(_outcomes(run)), caption=caption))
    for environment, columns in run.agreement.groupby("environment", sort=False):
        title = f"another environment, {columns['n_trials'].iloc[0]}: {_changes(environment, run.environment)}"
        is_same = columns["n_same"] == columns["n_compared"]
        caption = f"all compared values have the same bits: {', '.join(columns['column'][is_same]) or 'no column'}"
        console.print(
            table(list(_agreement(columns[~is_same])), visible_line(title), caption)
        )
    lines = []
    for place, differences in run.different:
        for column, stored, now in differences:
            lines.append(f"{place}: {column}: stored {stored}, now {now}")
    for line in lines[:MAX_LINES]:
        console.print(visible_line(line), soft_wrap=True)
    if len(lines) > MAX_LINES:
        console.print(f"and {len(lines) - MAX_LINES} more differences, see the file")
    console.print(f"written: {path}", soft_wrap=True)
    is_complete = run.count(IDENTICAL) == run.n_drawn
    return 1 if lines or (options.strict and not is_complete) else 0


def _outcomes(run: AuditRun) -> Iterator[dict[str, object]]:
    """Yield the number of drawn trials with each outcome."""
    from provlab.custody.agreement import CLOSE, DIFFERENT, DIGITS, IDENTICAL

    meanings = {
        IDENTICAL: "the same bits",
        CLOSE: f"computed with other versions or on another kind of machine, equal to {DIGITS} digits",
        DIFFERENT: "neither; listed below" if run.count(DIFFERENT) else "neither",
    }
    yield {
        "outcome": "drawn",
        "trials": run.n_drawn,
        "meaning": f"of {run.n_stored} stored, with seed {run.seed}",
    }
    for outcome, meaning in meanings.items():
        yield {"outcome": outcome, "trials": run.count(outcome), "meaning": meaning}
    for reason, number in run.skipped.items():
        yield {"outcome": "skipped", "trials": number, "meaning": visible_line(reason)}


def _agreement(columns: pd.DataFrame) -> Iterator[dict[str, object]]:
    """Yield the number of digits to which columns agree that differ from another kind of machine."""
    from provlab.custody.agreement import REPORTED, digits

    for line in columns.itertuples():
        texts = []
        if line.column in REPORTED:
            texts.append(
                "only reported: generated data and solvers may differ in the last digits"
            )
        else:
            if line.worst:
                texts.append(
                    f"{digits(line.worst)} digits, worst relative difference {line.worst:.1e}"
                )
            if line.n_beyond:
                texts.append(f"{line.n_beyond} different")
        counts = {
            "column": line.column,
            "trials": line.n_compared,
            "same bits": line.n_same,
        }
        yield {**counts, "agreement": "; ".join(texts)}


def _changes(stored: str, now: str) -> str:
    """Describe the differences of two environments."""
    try:
        before, after = dict(parse_json(stored)), dict(parse_json(now))
    except (ValueError, TypeError):
        return "not recorded"
    names = [
        name
        for name in [*after, *(before.keys() - after.keys())]
        if before.get(name) != after.get(name)
    ]
    return "; ".join(
        f"{name} {_words(before.get(name))}, here {_words(after.get(name))}"
        for name in names
    )


def _words(value: Any) -> str:
    if isinstance(value, list):
        return " + ".join(map(str, value))
    return "unknown" if value is None else str(value)


def export_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for source and target."""
    parser.epilog = (
        "provsel merge FOLDER reads the export. Data files are cited, not copied."
    )
    parser.add_argument(
        "--results",
        default=DEFAULT_RESULTS,
        help="results folder (default: %(default)s)",
    )
    parser.add_argument(
        "--output",
        metavar="FOLDER",
        help="new folder, or folder of an earlier export (default: RESULTS/export)",
    )
    parser.add_argument(
        "--panel", metavar="FILE", help="write only the stored benchmark, as the table (.csv, .parquet) on which "
        "claims about it are judged",
    )  # fmt: skip


def call_export(options: argparse.Namespace) -> int:
    """Write the folder and print its files."""
    from provlab.bench.statements import write_panel_table
    from provlab.custody.export import export

    if options.panel:
        write_panel_table(Path(options.panel))
        print(
            f"{options.panel}: one line per method, data set, number of features and judge"
        )
        return 0
    results = Path(options.results)
    target = Path(options.output) if options.output else results / "export"
    for path, about in export(results, target).items():
        print(f"{target / path}: {about}")
    return 0


def merge_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for sources and conflicts."""
    parser.epilog = (
        "Common trials are compared as in provsel audit: bit by bit in the same environment, to\n"
        "6 digits in another. Exit status: 0 merged; 1 trials differ, nothing was written;\n"
        "2 wrong arguments or folders."
    )
    parser.add_argument(
        "sources",
        nargs="+",
        metavar="FOLDER",
        help="results folders, or folders of provsel export",
    )
    parser.add_argument(
        "--results",
        default=DEFAULT_RESULTS,
        help="results folder to which they are added (default: %(default)s)",
    )
    parser.add_argument(
        "--keep-first",
        action="store_true",
        help="keep the first of differing trials, with your own store first",
    )
    parser.add_argument(
        "--output", metavar="FILE", help="write the conflicts to this CSV file"
    )


def call_merge(options: argparse.Namespace) -> int:
    """Merge, and print the counts of each source and the conflicts."""
    from provlab.core.tables import write_frame
    from provlab.custody.merge import merge

    if len({*options.sources}) < len(options.sources):
        raise ValueError(
            f"merge: expected each folder once, got {' '.join(options.sources)}; remove the repeated one."
        )
    conflicts = merge(
        options.sources, Path(options.results), keep_first=options.keep_first
    )
    if options.output:
        write_frame(conflicts, Path(options.output))
    if conflicts.empty:
        return 0
    n = conflicts["key"].nunique()
    console = PlainConsole()
    console.print(
        table(conflicts.head(MAX_LINES).drop(columns="key").to_dict("records"))
    )
    if len(conflicts) > MAX_LINES:
        console.print(f"and {len(conflicts) - MAX_LINES} more lines: --output FILE")
    if options.keep_first:
        print(
            f"Kept the first copy of {n} trials whose copies differ.", file=sys.stderr
        )
        return 0
    print(
        f"provsel: merge: expected the same results for the same trials, got {n} that are different; nothing was "
        f"written. Find out why (provsel audit recomputes them), or keep the first with --keep-first.",
        file=sys.stderr,
    )
    return 1


COMMANDS = {
    "audit": (audit_arguments, call_audit),
    "export": (export_arguments, call_export),
    "merge": (merge_arguments, call_merge),
}
"""Functions of each command: one adds its arguments, the other runs it and returns its exit status."""
