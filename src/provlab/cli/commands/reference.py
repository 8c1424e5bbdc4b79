"""`provsel reference`."""

from __future__ import annotations

import argparse
from pathlib import Path

from provlab.cli.commands import add_store_arguments

HELP = "write results/reference, what runs at full size gave, from what is stored"
EXAMPLE = "provsel reference --artefact table1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_store_arguments(parser)
    parser.add_argument(
        "--artefact", action="append", default=[], metavar="NAME",
        help="only what belongs to it; may be repeated (default: all whose trials are all stored)",
    )  # fmt: skip
    parser.add_argument(
        "--readings", action="store_true", help="only what provsel readings found, of --artefact or of all"
    )
    parser.add_argument(
        "--texts", action="store_true", help="only write the README.md of results/reference, and fill the project's "
        "templates (README.md.j2, NOTES.md.j2 and others) from it",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """Write the reference results, print where they are, and fill the texts of their project."""
    from provlab.project import current_project
    from provlab.reference import FOLDER, write_readings, write_readme, write_reference
    from provlab.texts import fill_texts

    own = current_project().root / "results" / FOLDER
    if not options.texts:
        results = Path(options.results)
        if options.readings:
            folder = write_readings(results, options.artefact)
        else:
            folder = write_reference(results, options.overrides, options.artefact)
        print((folder / "README.md").read_text(encoding="utf-8"))
        print(f"written: {folder}")
        if folder.resolve() != own.resolve():
            return 0
    changed = [own / "README.md"] if write_readme(own) else []
    changed += fill_texts(own)
    print("\n".join(f"written: {path}" for path in changed) or "All texts are up to date.")
    return 0
