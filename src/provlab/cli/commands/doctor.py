"""`provsel doctor`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

HELP = "what this installation has and lacks: packages, machine, BLAS, data sets, store"
EXAMPLE = "provsel doctor --json"
STYLES = {"ok": "green", "warning": "yellow", "problem": "bold red", "missing": "cyan"}
"""By state of a check."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the results folder, and the form of the output."""
    parser.add_argument("--results", default="results", help="results folder (default: results)")
    parser.add_argument("--json", action="store_true", help="print the checks as JSON")


def run(options: argparse.Namespace) -> int:
    """Print what was found; the exit status is 1 when there is a problem."""
    from rich.table import Table
    from rich.text import Text

    from provlab.cli._guard import wide_console
    from provlab.doctor import PROBLEM, WARNING, examine

    checks = examine(Path(options.results))
    states = [check.state for check in checks]
    if options.json:
        print(json.dumps([check._asdict() for check in checks], indent=2))
        return 1 if PROBLEM in states else 0
    console, width = wide_console(), max(len(check.name) for check in checks)
    for group in dict.fromkeys(check.group for check in checks):
        table = Table(title=Text(group), title_justify="left", title_style="bold", box=None, show_header=False)
        table.add_column(min_width=max(map(len, STYLES)), no_wrap=True)
        table.add_column(min_width=width, no_wrap=True)
        table.add_column(overflow="fold")
        for _, name, state, value, advice in (check for check in checks if check.group == group):
            # values hold paths, which are no markup
            table.add_row(Text(state, STYLES[state]), Text(name), Text(f"{value} -> {advice}" if advice else value))
        console.print(table, "")
    counts = [(states.count(state), state) for state in (PROBLEM, WARNING)]
    print(", ".join(f"{n} {state}{'' if n == 1 else 's'}" for n, state in counts))
    return 1 if PROBLEM in states else 0
