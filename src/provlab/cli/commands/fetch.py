"""`provsel fetch`."""

from __future__ import annotations

import argparse
import logging

HELP = "download, make and verify the files of data sets"
EXAMPLE = "provsel fetch orl madelon"
ALL = "all"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the names of the data sets, and what is kept and shown."""
    from provlab.datasets import source_names

    parser.add_argument("names", nargs="+", metavar="NAME", help=f"{ALL}, or some of {', '.join(source_names())}")
    parser.add_argument("--keep-raw", action="store_true", help="keep downloads that only served to make other files")
    parser.add_argument("--quiet", action="store_true", help="show no progress")


def run(options: argparse.Namespace) -> int:
    """Fetch the data sets, and say what is there and what is not; the exit status is 1 when one cannot be loaded."""
    from provlab.cli._fetched import complete, summary
    from provlab.datasets import fetch_all, source_names

    names = source_names() if ALL in options.names else list(dict.fromkeys(options.names))
    logging.getLogger("provlab.datasets").setLevel(logging.WARNING)  # failed attempts: the summary has the reasons
    outcomes = fetch_all(names, keep_raw=options.keep_raw, progress=not options.quiet)
    print("\n".join(summary(outcomes)))
    return 0 if complete(outcomes) else 1
