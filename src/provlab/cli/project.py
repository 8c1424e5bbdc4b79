"""What there has to be before anything runs: a project, files of data, and an installation that works."""

from __future__ import annotations

import argparse
import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from provlab.cli.commands import one_line

if TYPE_CHECKING:
    from provlab.datasets import Obtained

ALL = "all"

LISTED = 5
"""Missing files of a data set that are named."""


def fetch_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the names of the data sets, and what is kept and shown."""
    from provlab.datasets import source_names

    parser.add_argument("names", nargs="+", metavar="NAME", help=f"{ALL}, or some of {', '.join(source_names())}")
    parser.add_argument("--keep-raw", action="store_true", help="keep downloads that only served to make other files")
    parser.add_argument("--quiet", action="store_true", help="show no progress")


def call_fetch(options: argparse.Namespace) -> int:
    """Fetch the data sets; the exit status is 1 when one cannot be loaded."""
    from provlab.datasets import fetch, source_names, usable

    names = source_names() if ALL in options.names else list(dict.fromkeys(options.names))
    logging.getLogger("provlab.datasets").setLevel(logging.WARNING)  # failed attempts: the lines below have the reasons
    outcomes = fetch(names, keep_raw=options.keep_raw, progress=not options.quiet)
    width = max(map(len, outcomes))
    for name, obtained in outcomes.items():
        print(f"{name:{width}}  {_state(obtained)}")
        absent = [f"{item.file.path}: {one_line(item.error)}" for item in obtained if item.error is not None]
        more = [f"and {len(absent) - LISTED} files more"] if len(absent) > LISTED else []
        for line in absent[:LISTED] + more:
            print(f"{'':{width}}    {line}")
    return 0 if all(not obtained or usable(obtained) for obtained in outcomes.values()) else 1


def _state(obtained: Sequence[Obtained]) -> str:
    from provlab.datasets import usable

    if not obtained:
        return "needs no files"
    paths = [item.path for item in obtained if item.path is not None]
    files = f"{len(obtained)} file{'' if len(obtained) == 1 else 's'}"
    size = f"{sum(path.stat().st_size for path in paths) / 1e6:,.1f} MB"
    if len(paths) == len(obtained):
        return f"there ({files}, {size})"
    if usable(obtained):
        return f"there ({len(paths)} of {files}, {size}); not there, and not needed with these:"
    return f"NOT there ({len(paths)} of {files}):"


STYLES = {"ok": "green", "warning": "yellow", "problem": "bold red", "missing": "cyan"}
"""By state of a check."""


def doctor_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the results folder, and the form of the output."""
    parser.add_argument("--results", default="results", help="results folder (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print the checks as JSON")


def call_doctor(options: argparse.Namespace) -> int:
    """Print what was found; the exit status is 1 when there is a problem."""
    from rich.text import Text

    from provlab.doctor import PROBLEM, WARNING, examine
    from provlab.terminal import PlainConsole, table

    checks = examine(Path(options.results))
    states = [check.state for check in checks]
    if options.json:
        print(json.dumps([check._asdict() for check in checks], indent=2))
        return 1 if PROBLEM in states else 0
    console = PlainConsole()
    for group in dict.fromkeys(check.group for check in checks):
        lines = [
            {
                "state": Text(check.state, STYLES[check.state]),
                "name": check.name,
                "found": f"{check.value} -> {check.advice}" if check.advice else check.value,
            }
            for check in checks
            if check.group == group
        ]
        console.print(table(lines, title=group))
    counts = [(states.count(state), state) for state in (PROBLEM, WARNING)]
    print(", ".join(f"{n} {state}{'' if n == 1 else 's'}" for n, state in counts))
    return 1 if PROBLEM in states else 0


def new_arguments(parser: argparse.ArgumentParser) -> None:
    """Add where."""
    parser.add_argument("folder", help="folder of the project, which must not be there yet, such as my-study")


def call_new(options: argparse.Namespace) -> int:
    """Make the folder, and print what is in it and what to do next."""
    from provlab.project.project import new_project

    for name in new_project(Path(options.folder)):
        print(f"  {name}")
    print(f"cd {options.folder} && provsel reproduce comparison && provsel verify")
    return 0
