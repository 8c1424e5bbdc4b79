"""`provsel verify`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from provlab.cli._guard import wide_console
from provlab.cli.commands import add_store_arguments

if TYPE_CHECKING:
    from provlab.claims import Verdict

HELP = "test the claims of the papers on what is stored"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add which paper, and how much is printed."""
    parser.add_argument("--paper", help="only the claims of this paper (default: of all)")
    parser.add_argument("--detail", action="store_true", help="print what was found in each part of each claim")
    parser.add_argument(
        "--figures", action="store_true", help="draw critical-difference diagrams of the rankings, in results/figures"
    )
    add_store_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Judge the claims, write results/verdicts.csv and results/rankings.csv, and print both."""
    from concurrent.futures import ThreadPoolExecutor

    from provlab.claims import Evidence
    from provlab.claims.display import ranking_table, totals, verdict_table
    from provlab.claims.judged import claim_files, columns_read, judge_files
    from provlab.store import StoreSnapshot, TrialStore

    results = Path(options.results)
    files = claim_files(options.paper)
    claims = [claim for file in files for claim in file.claims]
    store = TrialStore(results / "store")
    with ThreadPoolExecutor(1) as beside:
        reading = beside.submit(StoreSnapshot.take, store, columns_read(claims))
        if store.folder.is_dir():
            import_module("scipy.stats")  # the claims' tests need it, and it takes as long as the reading
    judged = judge_files(files, Evidence(reading.result(), options.overrides))
    judged.write(results)
    if options.figures:
        judged.draw(results)
    verdicts, rankings = judged.verdicts, judged.rankings
    console = wide_console()
    console.print(verdict_table(verdicts, _shares(results)))
    if options.detail:
        _print_details(console, verdicts)
    if rankings:
        console.print(ranking_table(rankings))
    settings = f" (with {' '.join(options.overrides)})" if options.overrides else ""
    console.print(totals(verdicts) + settings, highlight=False, markup=False)
    return 0


def _shares(results: Path) -> dict[str, str]:
    """Return what became of claims under all readings, where these were asked."""
    if not (results / "readings").is_dir():
        return {}
    from provlab.readings.robustness import stored_shares

    return stored_shares(results)


def _print_details(console: Console, verdicts: Sequence[Verdict]) -> None:
    for made in verdicts:
        console.print(f"{made.claim.id}: {made.claim.text} [{made.claim.where}]", markup=False, highlight=False)
        for line in made.lines:
            console.print(f"    {line}", markup=False, highlight=False)
