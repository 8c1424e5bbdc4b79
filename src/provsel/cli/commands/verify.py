"""`provsel verify`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from provsel.claims import Evidence, Verdict, judge, load_claims, rank, verdict_frame
from provsel.claims.display import draw_rankings, ranking_frame, ranking_table, totals, verdict_table
from provsel.cli._guard import wide_console
from provsel.cli.commands import add_store_arguments
from provsel.configs import experiments_dir
from provsel.reports.tables import write_frame
from provsel.store import TrialStore

HELP = "test the claims of the papers on what is stored"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add which paper, and how much is printed."""
    parser.add_argument("--paper", help="only the claims of this paper (default: of all)")
    parser.add_argument("--detail", action="store_true", help="print what was found in each part of each claim")
    add_store_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Judge the claims, write results/verdicts.csv and results/rankings.csv, and print both."""
    known = {path.parent.name: path for path in sorted(experiments_dir().glob("*/claims.yaml"))}
    if not known or options.paper not in (None, *known):
        raise ValueError(
            f"verify: expected claims below {experiments_dir()} of {options.paper or 'any paper'}, "
            f"got those of {', '.join(known) or 'none'}; run it in a checkout, and name one of its papers."
        )
    files = [load_claims(path) for paper, path in known.items() if options.paper in (None, paper)]
    results = Path(options.results)
    evidence = Evidence(TrialStore(results / "store"), options.overrides)
    verdicts = [verdict for file in files for verdict in judge(file.claims, evidence)]
    rankings = [ranking for file in files for ranking in rank(file.rankings, evidence)]
    evidence.raise_if_nothing_fits()
    write_frame(verdict_frame(verdicts), results / "verdicts.csv")
    write_frame(ranking_frame(rankings), results / "rankings.csv")
    draw_rankings(rankings, results / "figures")
    console = wide_console()
    console.print(verdict_table(verdicts))
    if options.detail:
        _print_details(console, verdicts)
    if rankings:
        console.print(ranking_table(rankings))
    settings = f" (with {' '.join(options.overrides)})" if options.overrides else ""
    console.print(totals(verdicts) + settings, highlight=False, markup=False)
    return 0


def _print_details(console: Console, verdicts: Sequence[Verdict]) -> None:
    for made in verdicts:
        console.print(f"{made.claim.id}: {made.claim.text} [{made.claim.where}]", markup=False, highlight=False)
        for line in made.lines:
            console.print(f"    {line}", markup=False, highlight=False)
