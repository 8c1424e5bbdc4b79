"""`provsel doctor`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from provlab.cli._guard import wide_console

if TYPE_CHECKING:
    from provlab.doctor import Check

HELP = "what this installation has and lacks: packages, machine, BLAS, data sets, store"
EXAMPLE = "provsel doctor --json"
SHORT = 60
"""Letters. A finding and its advice that have no more stand in one line."""
STYLES = {"ok": "green", "warning": "yellow", "problem": "bold red", "missing": "cyan"}
"""By state of a check."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the results folder, and the form of the output."""
    parser.add_argument("--results", default="results", help="results folder (default: results)")
    parser.add_argument("--json", action="store_true", help="print the checks as JSON")


def run(options: argparse.Namespace) -> int:
    """Print what was found; the exit status is 1 when there is a problem."""
    from provlab.doctor import PROBLEM, WARNING, examine

    checks = examine(Path(options.results))
    states = [check.state for check in checks]
    if options.json:
        print(json.dumps([asdict(check) for check in checks], indent=2))
    else:
        _print_groups(wide_console(), checks)
        print(f"{_number(states.count(PROBLEM), 'problem')}, {_number(states.count(WARNING), 'warning')}")
    return 1 if PROBLEM in states else 0


def _print_groups(console: Console, checks: Sequence[Check]) -> None:
    """Print a table a group; values hold paths, which are no markup."""
    from provlab.doctor import GROUPS

    for group in GROUPS:
        table = Table(title=Text(group), title_justify="left", title_style="bold", box=None, show_header=False)
        table.add_column(min_width=max(map(len, STYLES)), no_wrap=True)
        table.add_column(min_width=max(len(check.name) for check in checks), no_wrap=True)
        table.add_column(overflow="fold")
        for check in checks:
            if check.group == group:
                table.add_row(Text(check.state, STYLES[check.state]), Text(check.name), Text(_text(check)))
        console.print(table)
        console.print()


def _text(check: Check) -> str:
    if not check.advice:
        return check.value
    between = " " if len(check.value) + len(check.advice) <= SHORT else "\n"
    return f"{check.value}{between}-> {check.advice}"


def _number(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
