"""`provsel new`."""

from __future__ import annotations

import argparse
from pathlib import Path

HELP = "make a project of your own: data, a selector, an experiment, a claim and a test"
EXAMPLE = "provsel new my-study"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add where."""
    parser.add_argument("folder", help="folder of the project, which must not be there yet, such as my-study")


def run(options: argparse.Namespace) -> int:
    """Make the folder, and print what is in it and what to do next."""
    from provlab.project.new import new_project

    for name in new_project(Path(options.folder)):
        print(f"  {name}")
    print(f"cd {options.folder} && provsel reproduce comparison && provsel verify")
    return 0
