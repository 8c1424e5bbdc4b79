"""`provsel report`."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from provlab.cli.commands import add_store_arguments

HELP = "write the HTML report: every number beside the printed one, every claim with its verdict"
EXAMPLE = "provsel report --results results"

add_arguments = add_store_arguments


def run(options: argparse.Namespace) -> int:
    """Build the report and print where it is."""
    from provlab.project import some_artefacts
    from provlab.site.build import build_report

    some_artefacts()
    start = time.perf_counter()
    index = build_report(Path(options.results), options.overrides)
    pages = list(index.parent.rglob("*.html"))
    print(f"{len(pages)} pages in {time.perf_counter() - start:.1f} s: open {index}")
    return 0
