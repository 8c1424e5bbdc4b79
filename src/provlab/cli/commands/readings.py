"""`provsel readings`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from provlab.cli.commands import add_store_arguments

HELP = "what becomes of the claims of a paper under every defensible reading of it"
EXAMPLE = "provsel readings smith2020 --artefact table1 --plan"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add which paper and claims, and how much is done."""
    parser.epilog = "Interrupt at any time; the same command resumes."
    parser.add_argument("paper", help="a paper with a readings.yaml")
    parser.add_argument(
        "--artefact", action="append", default=[], metavar="NAME", help="only claims about it; may be repeated"
    )
    parser.add_argument(
        "--claim", action="append", default=[], metavar="TEXT", help="only claims with this in the id; may be repeated"
    )
    parser.add_argument("--plan", action="store_true", help="say what would be computed and what it costs, and end")
    parser.add_argument("--render", action="store_true", help="judge what is stored, compute nothing")
    parser.add_argument("--figures", action="store_true", help="draw the specification curve of each claim")
    parser.add_argument("--letter", action="store_true", help="write a page to the paper's authors, letter.md")
    parser.add_argument(
        "--packed", action="append", default=[], metavar="FOLDER", type=Path,
        help="take the trials that are packed there, such as results/reference, and compute the rest; may be repeated",
    )  # fmt: skip
    parser.add_argument("--whole", action="store_true", help="all data, where readings.yaml names a part of them")
    add_store_arguments(parser, "executor=serial")


def run(options: argparse.Namespace) -> int:
    """State the universes and their cost, compute what is missing, judge, and write results/readings/PAPER."""
    from provlab.cli._guard import wide_console
    from provlab.plan import executor_settings
    from provlab.readings import Outcome, stored_outcome
    from provlab.readings.letter import plan_text, print_tables, robustness_table, write_letter
    from provlab.readings.packing import pack_trials, with_packed
    from provlab.readings.stored import write_outcome
    from provlab.readings.study import asked, read_store
    from provlab.readings.universes import cost_text, whole_cells
    from provlab.run.runner import run_cells
    from provlab.store import TrialStore

    results, paper = Path(options.results), options.paper
    store, folder = TrialStore(results / "store"), results / "readings" / paper
    universes = asked(paper, options.overrides, artefacts=options.artefact, claims=options.claim, whole=options.whole)
    print(plan_text(universes), file=sys.stderr)
    packed = [folder, *(_packed_in(other, paper) for other in options.packed)]
    stored = read_store(universes, store)
    snapshot = with_packed(stored, universes, packed)
    print(cost_text(universes, snapshot), file=sys.stderr)
    if options.plan:
        return 0
    failures = 0
    if not options.render:
        [config, *_] = (artefact.parts for artefact in universes.composed.values())
        known = whole_cells(universes, snapshot) - whole_cells(universes, stored)
        report = run_cells(universes.cells, store, executor_settings(config), label=f"readings of {paper}", known=known)
        print(report.summary(), file=sys.stderr)
        failures = len(report.failures)
        snapshot = with_packed(read_store(universes, store), universes, packed)
    pack_trials(snapshot, universes, folder)
    outcome = Outcome.of(universes, snapshot)
    write_outcome(outcome, folder)
    if options.figures:
        outcome.draw(folder)
    console = wide_console()
    console.print(robustness_table(outcome))
    for table in print_tables(outcome):
        console.print(table)
    if options.letter and (whole := stored_outcome(paper, results)):
        print(write_letter(whole, folder / "letter.md"))
    console.print(f"Every universe of every claim: {folder / 'universes.csv'}")
    return 1 if failures else 0


def _packed_in(results: Path, paper: str) -> Path:
    """Return the folder of a paper's readings in another one of results, which has packed trials."""
    folder = results / "readings" / paper
    if not any(folder.glob("trials-*.parquet")):
        raise ValueError(
            f"--packed {results}: expected packed trials of {paper}, found no {folder / 'trials-*.parquet'}; name a "
            f"folder of results that provsel readings {paper} wrote to, or results/reference."
        )
    return folder
