"""`provsel reference`."""

from __future__ import annotations

import argparse
from pathlib import Path

from provlab.cli.commands import add_store_arguments

HELP = "write results/reference, what a full run gave, from what is stored"
EXAMPLE = "provsel reference --results results"

add_arguments = add_store_arguments


def run(options: argparse.Namespace) -> int:
    """Write the reference results and print where they are."""
    from provlab.reference import write_reference

    folder = write_reference(Path(options.results), options.overrides)
    print((folder / "README.md").read_text(encoding="utf-8"))
    print(f"written: {folder}")
    return 0
