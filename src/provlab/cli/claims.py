"""Judge claims, on what is stored or on a table, under one reading or all, and keep what full runs gave."""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from provlab.cli.commands import DEFAULT_RESULTS, add_json, add_store_arguments
from provlab.project.terminal import PlainConsole, print_json, table

if TYPE_CHECKING:
    import pandas as pd

    from provlab.verdicts.claims.verdicts import Verdict
    from provlab.verdicts.readings.robustness import Robustness

TABLE_HELP = """With --claims, --results is a CSV, TSV or Parquet file of results. The section results of
the file of claims assigns roles to its columns, or --column does. Exit status: 0 all claims replicated; 1 one is
contradicted, or shows no difference; 2 wrong arguments or files; 3 none is contradicted, but one is open (any other
verdict, such as not contradicted). Without --claims the status is 0 for any verdict."""

FAILED, OPEN = 1, 3

COLOURS = {
    "replicated": "green", "contradicted": "red", "no difference": "blue", "depends on r": "blue",
    "depends on the reading": "blue", "inconclusive under most readings": "yellow", "one reading": "blue",
    "not contradicted": "yellow", "inconclusive": "yellow", "vacuous": "yellow",
    "not testable": "dim", "not run": "dim",
}  # fmt: skip


def verify_arguments(parser: argparse.ArgumentParser) -> None:
    """Add which claims, on what, and how much is printed."""
    parser.epilog = TABLE_HELP
    parser.add_argument("--paper", help="only the claims of this paper (default: of all)")
    parser.add_argument("--claims", metavar="FILE", help="judge these claims on the table --results FILE")
    parser.add_argument(
        "--column", action="append", default=[], metavar="ROLE=NAME",
        help="role of a column of the table: row=classifier, dataset=name, fold=fold, score=accuracy (or error=...), "
        "unit=percent; may be repeated",
    )  # fmt: skip
    parser.add_argument("--output", metavar="FILE", help="with --claims: write the verdicts there, as CSV")
    parser.add_argument("--detail", action="store_true", help="print the result of each part of each claim")
    parser.add_argument(
        "--figures", action="store_true", help="draw critical-difference diagrams of the rankings, in results/figures"
    )
    add_json(parser)
    add_store_arguments(parser)


def call_verify(options: argparse.Namespace) -> int:
    """Judge claims, and print verdicts and rankings; those of a project are written to results/ as well."""
    from provlab.verdicts.claims.dataset_ranks import ranked
    from provlab.verdicts.claims.verdicts import verdict_frame
    from provlab.verdicts.readings.robustness import counted, stored_robustness

    on_table = options.claims is not None or Path(options.results).is_file()
    verdicts, rankings = _judge_table(options) if on_table else _judge_store(options)
    asked = {} if on_table else stored_robustness(Path(options.results))
    if options.json:
        judged = verdict_frame(verdicts)
        judged["under_readings"] = [counted(made.claim.id, made.verdict, asked) for made in verdicts]
        frames = {"claims": judged, "rankings": ranked(rankings)}
        print_json({name: frame.to_dict("records") for name, frame in frames.items()})
        return exit_status(verdicts) if on_table else 0
    console = PlainConsole()
    shown = verdicts if on_table or options.detail else _with_trials(verdicts)
    if shown:
        console.print(table([_line(made, asked) for made in shown]))
    if len(shown) < len(verdicts):
        n = len(verdicts) - len(shown)
        subject, them = ("1 claim", "it") if n == 1 else (f"{n} claims", "them")
        console.print(f"{subject} not run, as nothing is stored for {them}; --detail lists {them}.")
    if options.detail:
        for made in verdicts:
            console.print(f"{made.claim.id}: {made.claim.text} [{made.claim.where}]")
            for line in made.lines:
                console.print(f"    {line}")
    if len(rankings):
        groups = rankings.groupby(["artefact", "column"], sort=False)
        console.print(table([_ranking_line(f"{name}, {column}", found) for (name, column), found in groups]))
    settings = f" (with {' '.join(options.overrides)})" if options.overrides else ""
    console.print(_totals(verdicts, None if on_table else asked) + settings)
    return exit_status(verdicts) if on_table else 0


def _with_trials(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the verdicts on claims that something is stored for."""
    from provlab.verdicts.claims.rules import NOT_RUN

    return [made for made in verdicts if made.verdict != NOT_RUN]


def exit_status(verdicts: Sequence[Verdict]) -> int:
    """Return what a check of a table ends with: see `TABLE_HELP`."""
    from provlab.verdicts.claims.rules import CONTRADICTED, NO_DIFFERENCE, REPLICATED

    found = {made.verdict for made in verdicts}
    if found & {CONTRADICTED, NO_DIFFERENCE}:
        return FAILED
    return OPEN if found - {REPLICATED} else 0


def _judge_store(options: argparse.Namespace) -> tuple[list[Verdict], pd.DataFrame]:
    from provlab.core.snapshot import StoreSnapshot
    from provlab.core.store import TrialStore
    from provlab.report.figures.ranks import draw_rankings
    from provlab.verdicts.claims.schema import claim_files, columns_read
    from provlab.verdicts.claims.stored import Evidence, composed
    from provlab.verdicts.claims.verdicts import judge_files, write_verdicts

    if options.column or options.output:
        raise ValueError("verify: expected --claims FILE with --column and --output, got none; add it.")
    results = Path(options.results)
    files = claim_files(options.paper)
    claims = [claim for file in files for claim in file.claims]
    store = TrialStore(results / "store")
    with ThreadPoolExecutor(1) as reader:  # which waits for the disk, and decodes without Python's lock
        taken = reader.submit(StoreSnapshot, store, columns_read(claims))
        artefacts = composed(sorted({name for claim in claims for name in claim.artefacts}), options.overrides)
    evidence = Evidence(taken.result(), options.overrides, artefacts)
    verdicts, rankings = judge_files(files, evidence)
    evidence.raise_if_nothing_fits()
    write_verdicts(results, verdicts, rankings)
    if options.figures:
        draw_rankings(rankings, results / "figures")
    return verdicts, rankings


def _judge_table(options: argparse.Namespace) -> tuple[list[Verdict], pd.DataFrame]:
    from provlab.core.tables import write_frame
    from provlab.verdicts.claims.table import judge_table
    from provlab.verdicts.claims.verdicts import verdict_frame

    results = Path(options.results)
    if options.claims is None or not results.is_file():
        asked = {"--claims": options.claims, "--results": results}
        missing = [f"no file {path} of {name}" for name, path in asked.items() if path and not Path(path).is_file()]
        got = f"no --claims, and the file --results {results}" if options.claims is None else ", ".join(missing)
        raise ValueError(
            f"verify: expected --claims FILE and --results FILE together, a CSV, TSV or Parquet file, got {got}; "
            f"{'leave out --claims for the store of a project' if results == Path(DEFAULT_RESULTS) else 'name both'}."
        )
    beside = ["--paper"] * bool(options.paper) + ["--figures"] * options.figures + options.overrides
    if beside:
        raise ValueError(
            f"verify: expected no option of a project with --claims, got {', '.join(beside)}; leave it out."
        )
    roles: dict[str, int | str] = {}
    for text in options.column:
        role, equals, name = text.partition("=")
        if not (role and equals and name):
            raise ValueError(f"--column: expected ROLE=NAME such as row=classifier, got {text!r:.80}.")
        roles[role] = int(name) if role in ("n_train", "n_test") and name.isdecimal() else name
    verdicts, rankings = judge_table(results, Path(options.claims), roles)
    if options.output:
        write_frame(verdict_frame(verdicts), Path(options.output))
    return verdicts, rankings


def _line(made: Verdict, asked: Mapping[str, Robustness]) -> dict[str, object]:
    """Return what is printed of a claim; n needed is that of a power of 0.9 at the observed effect."""
    from provlab.verdicts.claims.rules import NOT_RUN
    from provlab.verdicts.readings.robustness import counted, under_readings

    verdict = counted(made.claim.id, made.verdict, asked)
    own = f"{made.verdict} by default; " if verdict != made.verdict else ""
    finding = made.finding
    shown = not math.isnan(finding.effect)
    needed = "" if math.isnan(made.needed) else "no n" if math.isinf(made.needed) else f"{made.needed:.0f}"
    return {
        "verdict": Text(verdict, style=COLOURS[verdict]),
        "claim": made.claim.id,
        "effect [interval]": f"{finding.effect:.4g}{finding.interval}" if shown else "",
        "unit": finding.unit,
        "p": "" if math.isnan(finding.p_value) else f"{finding.p_value:.2g}",
        "n": finding.n if shown else "",
        "n needed": needed,
        "trials": made.lines[0] if made.state == NOT_RUN and made.lines else made.state,
        **({"under all readings": own + under_readings(made.claim.id, asked)} if asked else {}),
    }


def _ranking_line(name: str, found: pd.DataFrame) -> dict[str, object]:
    """Return Friedman's p-value, the critical difference, and the methods by average rank."""
    first, note = found.iloc[0], found["note"].iloc[0]
    ranks = ", ".join(f"{method} {rank:.2f}" for method, rank in zip(found["method"], found["rank"], strict=True))
    is_tested = bool(first["method"])
    return {
        "ranking": name,
        "Friedman p": f"{first['friedman_p']:.2g}" if is_tested else "",
        "critical difference": f"{first['critical_difference']:.2f}" if is_tested else "",
        "n": first["n"] if is_tested else "",
        "methods by average rank": (f"{ranks} ({note})" if note else ranks) if is_tested else note,
    }


def _totals(verdicts: Sequence[Verdict], asked: Mapping[str, Robustness] | None) -> str:
    """Return how many of the papers' own claims have each verdict, and how many other ones stand beside.

    `asked` is what became of claims under readings; None where there are none, as of a table of results.
    """
    from provlab.verdicts.claims.rules import DECIDED, VERDICTS
    from provlab.verdicts.readings.robustness import counted

    papers = [made for made in verdicts if made.claim.kind == "paper"]
    own = Counter(counted(made.claim.id, made.verdict, asked or {}) for made in papers)
    beside = Counter(made.claim.kind for made in verdicts if made.claim.kind != "paper")
    text = f"{own.total()} claim{'' if own.total() == 1 else 's'}: "
    text += ", ".join(f"{own[verdict]} {verdict}" for verdict in VERDICTS if own[verdict])
    alone = sum(made.verdict in DECIDED and made.claim.id not in asked for made in papers) if asked is not None else 0
    text += f"; of these {alone} decided and not tested under readings" if alone else ""
    return text + ("; beside: " if beside else "") + ", ".join(f"{n} {kind}" for kind, n in sorted(beside.items()))


def readings_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the paper, the claims and the mode."""
    parser.epilog = "Interrupt at any time; the same command resumes."
    parser.add_argument("paper", help="a paper with a readings.yaml")
    parser.add_argument(
        "--artefact", action="append", default=[], metavar="NAME", help="only claims about it; may be repeated"
    )
    parser.add_argument(
        "--claim", action="append", default=[], metavar="TEXT", help="only claims with this in the id; may be repeated"
    )
    parser.add_argument("--plan", action="store_true", help="print the planned trials and their cost, compute nothing")
    parser.add_argument("--render", action="store_true", help="judge stored trials, compute nothing")
    parser.add_argument("--figures", action="store_true", help="draw the specification curve of each claim")
    parser.add_argument("--letter", action="store_true", help="write a page to the paper's authors, letter.md")
    parser.add_argument(
        "--packed", action="append", default=[], metavar="FOLDER", type=Path,
        help="use the packed trials of this folder, such as results/reference, and compute the rest; may be repeated",
    )  # fmt: skip
    parser.add_argument("--whole", action="store_true", help="all data, also where readings.yaml selects some")
    add_store_arguments(parser, "executor=serial")


def call_readings(options: argparse.Namespace) -> int:
    """State the universes and their cost, compute what is missing, judge, and write results/readings/PAPER."""
    from provlab.core.composition import executor_settings
    from provlab.core.store import TrialStore
    from provlab.core.tables import write_text
    from provlab.custody.letter import letter, plan_text, print_lines, robustness_table
    from provlab.run.runner import run_cells
    from provlab.verdicts.readings.study import (
        Outcome,
        asked,
        pack_trials,
        read_store,
        stored_outcome,
        write_outcome,
    )
    from provlab.verdicts.readings.universes import cost_text, whole_cells

    results, paper = Path(options.results), options.paper
    store, folder = TrialStore(results / "store"), results / "readings" / paper
    universes = asked(paper, options.overrides, artefacts=options.artefact, claims=options.claim, whole=options.whole)
    print(plan_text(universes), file=sys.stderr)
    packed = [folder, *(_packed_in(other, paper) for other in options.packed)]
    snapshot = read_store(universes, store, packed)
    print(cost_text(universes, snapshot), file=sys.stderr)
    if options.plan:
        return 0
    failures = 0
    if not options.render:
        [config, *_] = (artefact.parts for artefact in universes.composed.values())
        known = whole_cells(universes, snapshot)
        report = run_cells(universes.cells, store, executor_settings(config), label=f"readings of {paper}", known=known)
        print(report.summary(), file=sys.stderr)
        failures = len(report.failures)
        snapshot = read_store(universes, store, packed)
    pack_trials(snapshot, universes, folder)
    outcome = Outcome.of(universes, snapshot)
    write_outcome(outcome, folder)
    if options.figures:
        from provlab.custody.artefact_results import claim_readings  # Matplotlib: only figures need it
        from provlab.report.claim import draw_specifications

        draw_specifications(claim_readings(outcome), folder)
    console = PlainConsole()
    console.print(robustness_table(outcome))
    for line in print_lines(outcome):
        console.print(line, markup=False)
    if options.letter and (whole := stored_outcome(paper, results)):
        text = letter(whole)
        write_text(folder / "letter.md", text)
        print(text)
    console.print(f"Every universe of every claim: {folder / 'universes.csv'}")
    return 1 if failures else 0


def _packed_in(results: Path, paper: str) -> Path:
    """Return the folder of a paper's readings in another one of results, which has packed trials."""
    folder = results / "readings" / paper
    if not any((folder / "trials").glob("*.parquet")):
        raise ValueError(
            f"--packed {results}: expected packed trials of {paper}, found no {folder / 'trials' / '*.parquet'}; "
            f"name a folder of results that provsel readings {paper} wrote to, or results/reference."
        )
    return folder


def reference_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_store_arguments(parser)
    parser.add_argument(
        "--artefact", action="append", default=[], metavar="NAME",
        help="only this artefact; may be repeated (default: all with complete trials)",
    )  # fmt: skip
    parser.add_argument(
        "--readings", action="store_true", help="only the results of provsel readings, of --artefact or of all"
    )
    parser.add_argument(
        "--panel", action="store_true", help="only the benchmark's panel, of each method and data set that is complete"
    )
    parser.add_argument(
        "--audits", action="store_true", help="only the table of what the runs of provsel audit found, audits.csv"
    )
    parser.add_argument(
        "--texts", action="store_true", help="only write README.md and the letters of results/reference, and fill the "
        "project's templates (README.md.j2, NOTES.md.j2 and others) from it",
    )  # fmt: skip


def call_reference(options: argparse.Namespace) -> int:
    """Write the reference results, print where they are, and fill the texts of their project."""
    from provlab.custody.reference import write_audits, write_pages, write_readings, write_reference
    from provlab.custody.texts import fill_texts
    from provlab.project.project import current_project
    from provlab.verdicts.reference import FOLDER

    if options.panel:
        return _write_panel(Path(options.results) / FOLDER, Path(options.results) / "store")
    own = current_project().root / "results" / FOLDER
    if not options.texts:
        results = Path(options.results)
        if options.readings:
            folder = write_readings(results, options.artefact)
        elif options.audits:
            folder = write_audits(results)
        else:
            folder = write_reference(results, options.overrides, options.artefact)
        if not options.audits:
            print((folder / "README.md").read_text(encoding="utf-8"))
        print(f"written: {folder}")
        if folder.resolve() != own.resolve():
            return 0
    changed = write_pages(own) + fill_texts(own)
    print("\n".join(f"written: {path}" for path in changed) or "All texts are up to date.")
    return 0


def _write_panel(reference: Path, store: Path) -> int:
    from provlab.bench.panel import FOLDER
    from provlab.bench.stored_panel import pack_panel, write_dataset_table
    from provlab.core.store import TrialStore
    from provlab.data import MissingDataError

    pairs = pack_panel(TrialStore(store), reference / FOLDER)
    try:
        write_dataset_table(reference / FOLDER)
    except MissingDataError as error:
        print(f"The table of data sets stays as it is: {error}")
    print(
        f"{pairs['written']} pairs of a method and a data set written, {pairs['partial']} left out as trials are "
        f"missing, {pairs['stored']} stored in {reference / FOLDER}"
    )
    return 0


COMMANDS = {
    "readings": (readings_arguments, call_readings),
    "reference": (reference_arguments, call_reference),
    "verify": (verify_arguments, call_verify),
}
"""Of each command what adds its arguments to a parser, and what runs it and returns its exit status."""
