"""`provsel verify`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from provlab.cli._guard import wide_console
from provlab.cli.commands import DEFAULT_RESULTS, add_store_arguments

if TYPE_CHECKING:
    from provlab.claims import Verdict
    from provlab.claims.judged import Judged

HELP = "test the claims of the papers on what is stored, or any claims on a table of results"
EXAMPLE = "provsel verify --paper smith2020 --detail"

TABLE_HELP = """With --claims, --results is a CSV, TSV or Parquet file of results, from wherever. The section results of
the file of claims says what its columns are, or --column does. Exit status: 0 all claims replicated; 1 one is
contradicted, or shows no difference; 3 none is, but one is open (any other verdict); 2 wrong arguments or
files. Without --claims the status is 0 whatever the verdicts are."""

FAILED, OPEN = 1, 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add which claims, on what, and how much is printed."""
    parser.epilog = TABLE_HELP
    parser.add_argument("--paper", help="only the claims of this paper (default: of all)")
    parser.add_argument("--claims", metavar="FILE", help="claims to be checked on the table --results FILE")
    parser.add_argument(
        "--column", action="append", default=[], metavar="ROLE=NAME",
        help="what a column of the table is: row=classifier, dataset=name, fold=fold, score=accuracy (or error=...), "
        "unit=percent; may be repeated",
    )  # fmt: skip
    parser.add_argument("--output", metavar="FILE", help="with --claims: write the verdicts there, as CSV")
    parser.add_argument("--detail", action="store_true", help="print what was found in each part of each claim")
    parser.add_argument(
        "--figures", action="store_true", help="draw critical-difference diagrams of the rankings, in results/figures"
    )
    add_store_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Judge claims, and print verdicts and rankings; those of a project are written to results/ as well."""
    table = options.claims is not None or Path(options.results).is_file()
    judged, beside = (_judge_table(options), {}) if table else _judge_store(options)
    console = wide_console()
    _print(console, judged, beside, options)
    return exit_status(judged.verdicts) if table else 0


def exit_status(verdicts: Sequence[Verdict]) -> int:
    """Return what a check of a table ends with: see `TABLE_HELP`."""
    from provlab.claims import CONTRADICTED, NO_DIFFERENCE, REPLICATED

    found = {made.verdict for made in verdicts}
    if found & {CONTRADICTED, NO_DIFFERENCE}:
        return FAILED
    return OPEN if found - {REPLICATED} else 0


def _judge_store(options: argparse.Namespace) -> tuple[Judged, dict[str, dict[str, str]]]:
    """Return what became of the claims, and what other readings made of them."""
    from provlab.claims import Evidence
    from provlab.claims.evidence import composed
    from provlab.claims.judged import artefacts_of, claim_files, columns_read, judge_files
    from provlab.store import StoreSnapshot, TrialStore

    if options.column or options.output:
        raise ValueError("verify: expected --claims FILE with --column and --output, got none; add it.")
    results = Path(options.results)
    files = claim_files(options.paper)
    claims = [claim for file in files for claim in file.claims]
    store = TrialStore(results / "store")
    with ThreadPoolExecutor(1) as reader:  # which waits for the disk, and decodes without Python's lock
        taken = reader.submit(StoreSnapshot.take, store, columns_read(claims))
        artefacts = composed(sorted({name for claim in claims for name in artefacts_of(claim)}), options.overrides)
    evidence = Evidence(taken.result(), options.overrides, artefacts)
    judged = judge_files(files, evidence)
    evidence.raise_if_nothing_fits()
    judged.write(results)
    if options.figures:
        judged.draw(results)
    return judged, {"under all readings": _shares(results)}


def _judge_table(options: argparse.Namespace) -> Judged:
    from provlab.claims import verdict_frame
    from provlab.claims.judged import judge_table
    from provlab.tables import write_frame

    results = Path(options.results)
    if options.claims is None or not results.is_file():
        got = f"no --claims, and the file --results {results}" if options.claims is None else f"--results {results}"
        raise ValueError(
            f"verify: expected --claims FILE and --results FILE together, a CSV, TSV or Parquet file, got {got}; "
            f"{'leave out --claims for the store of a project' if results == Path(DEFAULT_RESULTS) else 'name both'}."
        )
    beside = ["--paper"] * bool(options.paper) + ["--figures"] * options.figures + options.overrides
    if beside:
        raise ValueError(
            f"verify: expected nothing about a project beside --claims, got {', '.join(beside)}; leave it out."
        )
    roles = {}
    for text in options.column:
        role, equals, name = text.partition("=")
        if not (role and equals and name):
            raise ValueError(f"--column: expected ROLE=NAME such as row=classifier, got {text!r:.80}.")
        roles[role] = _number_or_name(name) if role in ("n_train", "n_test") else name
    judged = judge_table(results, Path(options.claims), roles)
    if options.output:
        write_frame(verdict_frame(judged.verdicts), Path(options.output))
    return judged


def _number_or_name(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def _print(
    console: Console, judged: Judged, beside: Mapping[str, Mapping[str, str]], options: argparse.Namespace
) -> None:
    from provlab.claims.display import ranking_table, totals, verdict_table

    console.print(verdict_table(judged.verdicts, beside))
    if options.detail:
        _print_details(console, judged.verdicts)
    if judged.rankings:
        console.print(ranking_table(judged.rankings))
    settings = f" (with {' '.join(options.overrides)})" if options.overrides else ""
    console.print(totals(judged.verdicts) + settings)


def _shares(results: Path) -> dict[str, str]:
    """Return what became of claims under all readings, where these were asked."""
    if not (results / "readings").is_dir():
        return {}
    from provlab.readings.robustness import stored_shares

    return stored_shares(results)


def _print_details(console: Console, verdicts: Sequence[Verdict]) -> None:
    for made in verdicts:
        console.print(f"{made.claim.id}: {made.claim.text} [{made.claim.where}]")
        for line in made.lines:
            console.print(f"    {line}")
