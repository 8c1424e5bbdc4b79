"""`provsel reference`."""

from __future__ import annotations

import argparse
from pathlib import Path

from provlab.cli.commands import add_store_arguments

HELP = "write results/reference, what a full run gave, from what is stored"
EXAMPLE = "provsel reference --results results"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_store_arguments(parser)
    parser.add_argument(
        "--texts", action="store_true", help="only write what results/reference has into README.md and NOTES.md"
    )


def run(options: argparse.Namespace) -> int:
    """Write the reference results, print where they are, and refresh the texts of their project."""
    from provlab.project import current_project
    from provlab.reference import FOLDER, refresh_texts, write_reference

    own = current_project().root / "results" / FOLDER
    if not options.texts:
        folder = write_reference(Path(options.results), options.overrides)
        print((folder / "README.md").read_text(encoding="utf-8"))
        print(f"written: {folder}")
        if folder.resolve() != own.resolve():
            return 0
    changed = refresh_texts(own)
    print("\n".join(f"written: {path}" for path in changed) or "README.md and NOTES.md are up to date.")
    return 0
