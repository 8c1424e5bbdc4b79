"""`provsel fetch`."""

from __future__ import annotations

import argparse

from provsel.datasets import fetch, source_names

HELP = "download and verify the files of a data set"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the name of the data set."""
    parser.add_argument("name", help=f"one of {', '.join(source_names())}")


def run(options: argparse.Namespace) -> int:
    """Fetch the data set and print where its files are."""
    for path in fetch(options.name, progress=True):
        print(path)
    return 0
