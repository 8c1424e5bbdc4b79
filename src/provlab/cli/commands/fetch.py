"""`provsel fetch`: download, make and verify files, and say what is there, what is not, and why."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from provlab.datasets import Obtained

HELP = "download, make and verify the files of data sets"
EXAMPLE = "provsel fetch orl madelon"
ALL = "all"
LISTED = 5
"""Missing files of a data set that are named."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the names of the data sets, and what is kept and shown."""
    from provlab.datasets import source_names

    parser.add_argument("names", nargs="+", metavar="NAME", help=f"{ALL}, or some of {', '.join(source_names())}")
    parser.add_argument("--keep-raw", action="store_true", help="keep downloads that only served to make other files")
    parser.add_argument("--quiet", action="store_true", help="show no progress")


def run(options: argparse.Namespace) -> int:
    """Fetch the data sets; the exit status is 1 when one cannot be loaded."""
    from provlab.cli._guard import one_line
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
