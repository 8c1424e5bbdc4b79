"""`provsel list`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

HELP = "data sets, selectors, models and artefacts, one line each"
EXAMPLE = "provsel list selectors"
TITLES = {
    "datasets": "Data sets (dataset=NAME)",
    "selectors": "Selectors (selector=NAME)",
    "models": "Models (model=NAME)",
    "artefacts": "Artefacts",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what is listed."""
    parser.add_argument("kind", nargs="?", help=f"only {', '.join(TITLES)} (default: all)")


def run(options: argparse.Namespace) -> int:
    """Print one line an item, never wrapped, so that the lines can be searched and counted."""
    from provlab.listing import KINDS, listing
    from provlab.messages import visible_line

    lines: list[str] = []
    for kind in KINDS if options.kind is None else (options.kind,):
        items = listing(kind)
        width = max((len(item.name) for item in items), default=0)
        if options.kind is None:
            lines += [*([""] if lines else []), TITLES[kind]]
        lines += [visible_line(f"{item.name:{width}}  {item.text}") for item in items]
    _print(lines)
    return 0


def _print(lines: Sequence[str]) -> None:
    """Print lines to a reader that may leave early, such as head."""
    try:
        print("\n".join(lines), flush=True)
    except BrokenPipeError:
        # what is left of it must not be written once more at the exit of Python
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
