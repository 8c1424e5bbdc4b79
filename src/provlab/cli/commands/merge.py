"""`provsel merge`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.table import Table
from rich.text import Text

from provlab.cli._guard import wide_console
from provlab.cli.commands import DEFAULT_RESULTS

HELP = "add the trials of other stores or exports to this one, and show where they disagree"
EXAMPLE = "provsel merge from-anna/results --results results"

SHOWN = 20
"""Conflicts that are printed; --output writes all."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what is merged, and what is done about conflicts."""
    parser.epilog = (
        "Trials that both have are compared as provsel audit does: to the bit on the same environment, to 6 digits on "
        "another. Exit status: 0 merged; 1 nothing was written, as trials are different; 2 wrong arguments or folders."
    )
    parser.add_argument("sources", nargs="+", metavar="FOLDER", help="results folders, or folders of provsel export")
    parser.add_argument(
        "--results", default=DEFAULT_RESULTS, help="results folder that they are added to (default: %(default)s)"
    )
    parser.add_argument(
        "--keep-first", action="store_true", help="where trials are different keep the first one, ours before all"
    )
    parser.add_argument("--output", metavar="FILE", help="write what is different there, as CSV")


def run(options: argparse.Namespace) -> int:
    """Merge, and print the counts of each source and the conflicts."""
    from provlab.exchange.merging import merge
    from provlab.tables import write_frame

    sources = {name: Path(name) for name in options.sources}
    if len(sources) < len(options.sources):
        raise ValueError(f"merge: expected each folder once, got {' '.join(options.sources)}; leave one out.")
    made = merge(sources, Path(options.results), keep_first=options.keep_first, told=print)
    if options.output:
        write_frame(made.conflicts, Path(options.output))
    if made.conflicts.empty:
        return 0
    table = Table("first in", "different in", "trial", "column", "first", "other")
    for line in made.conflicts.head(SHOWN).itertuples(index=False):
        trial = f"{line.dataset}, {line.selector}, repeat {line.repeat}, fold {line.fold}, draw {line.draw}"
        table.add_row(*map(Text, map(str, (line.source, line.other, trial, line.column, line.first, line.second))))
    console = wide_console()
    console.print(table)
    n = made.conflicts["key"].nunique()
    if len(made.conflicts) > SHOWN:
        console.print(f"and {len(made.conflicts) - SHOWN} more lines: --output FILE")
    if options.keep_first:
        print(f"Kept the first of {n} trials that are different.", file=sys.stderr)
        return 0
    print(
        f"provsel: merge: expected the same results of the same trials, got {n} that are different; nothing was "
        f"written. Find out why (provsel audit computes them again), or keep the first with --keep-first.",
        file=sys.stderr,
    )
    return 1
