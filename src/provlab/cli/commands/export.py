"""`provsel export`."""

from __future__ import annotations

import argparse
from pathlib import Path

from provlab.cli.commands import add_store_arguments

HELP = "write trials, tables, verdicts and data sets as CSV files, described as an RO-Crate"
EXAMPLE = "provsel export --format ro-crate --output for-others"

FORMATS = ("csv", "ro-crate")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the format, where it goes, and what it says of itself."""
    parser.epilog = (
        "provsel merge FOLDER makes a store of it again. Data files are named with address and hash, not copied."
    )
    parser.add_argument(
        "--format",
        action="append",
        choices=FORMATS,
        help="the CSV files, with metadata; may be repeated (default: csv)",
    )
    parser.add_argument(
        "--output", metavar="FOLDER", help="folder, new or of an earlier export (default: RESULTS/export)"
    )
    parser.add_argument("--title", default="Trials of feature selection", help="title of the export")
    parser.add_argument(
        "--licence", default="No licence is stated", help="licence of the export, an address or words; none by default"
    )
    add_store_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Write the folder, and print its files."""
    from provlab.export import export

    results = Path(options.results)
    target = Path(options.output) if options.output else results / "export"
    formats = options.format or ["csv"]
    stated = {"title": options.title, "licence": options.licence}
    for path, about in export(results, target, formats, options.overrides, **stated).items():
        print(f"{target / path}: {about}")
    return 0
