"""Judge claims on stored trials or on a table, under one or all readings, and write the reference results."""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from provlab.cli.commands import add_json, add_store_arguments
from provlab.project.messages import counted_noun
from provlab.project.terminal import PlainConsole, print_json, table

if TYPE_CHECKING:
    import pandas as pd

    from provlab.verdicts.claims.verdicts import Verdict
    from provlab.verdicts.readings.robustness import Robustness

TABLE_HELP = """With --claims, --results is a CSV, TSV or Parquet file of results. The section "results" of
the claims file, or --column, assigns roles to its columns. Exit status: 0 all claims are replicated; 1 a claim is
contradicted or shows no difference; 2 wrong arguments or files; 3 no claim is contradicted, but one is open (any other
verdict, such as not contradicted). Without --claims the status is 0 for any verdict."""

EXIT_FAILED = 1
EXIT_UNDECIDED = 3

COLOURS = {
    "replicated": "green", "contradicted": "red", "no difference": "blue", "depends on r": "blue",
    "depends on the reading": "blue", "inconclusive under most readings": "yellow", "one reading": "blue",
    "not contradicted": "yellow", "inconclusive": "yellow", "vacuous": "yellow",
    "not testable": "dim", "not run": "dim",
}  # fmt: skip


def verify_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for claims, evidence and output."""
    parser.epilog = TABLE_HELP
    parser.add_argument(
        "--paper", help="only the claims of this paper (default: all papers)"
    )
    parser.add_argument(
        "--claims",
        default="",
        metavar="FILE",
        help="judge these claims on the table --results FILE",
    )
    parser.add_argument(
        "--column", action="append", default=[], metavar="ROLE=NAME",
        help="role of a column of the table: row=classifier, dataset=name, fold=fold, score=accuracy (or error=...), "
        "unit=percent; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--output",
        metavar="FILE",
        help="with --claims: write the verdicts to this CSV file",
    )
    parser.add_argument(
        "--detail",
        action="store_true",
        help="print the result of each part of each claim",
    )
    parser.add_argument(
        "--figures",
        action="store_true",
        help="draw critical-difference diagrams of the rankings, in results/figures",
    )
    add_json(parser)
    add_store_arguments(parser)


def call_verify(options: argparse.Namespace) -> int:
    """Judge claims, and print verdicts and rankings; those of a project are also written to results/."""
    from provlab.bench.statements import is_about_panel
    from provlab.verdicts.claims.dataset_ranks import ranked
    from provlab.verdicts.claims.verdicts import verdict_frame
    from provlab.verdicts.readings.robustness import (
        counted,
        read_robustness,
        stored_robustness,
    )

    on_table = bool(options.claims) or Path(options.results).is_file()
    robustness: dict[str, Robustness] = {}
    if on_table:
        verdicts, rankings = _judge_table(options)
    elif is_about_panel(options.paper):
        verdicts, rankings = _judge_panel(options)
        robustness = read_robustness(Path(options.results) / options.paper)
    else:
        verdicts, rankings = _judge_store(options)
        robustness = stored_robustness(Path(options.results))
    status = exit_status(verdicts) if on_table else 0
    if options.json:
        judged = verdict_frame(verdicts)
        judged["under_readings"] = [
            counted(verdict.claim.id, verdict.verdict, robustness)
            for verdict in verdicts
        ]
        lines_of_rankings = ranked(rankings).to_dict("records") if len(rankings) else []
        print_json({"claims": judged.to_dict("records"), "rankings": lines_of_rankings})
        return status
    console = PlainConsole()
    shown = verdicts if on_table or options.detail else _with_trials(verdicts)
    if shown:
        console.print(table([_verdict_line(verdict, robustness) for verdict in shown]))
    n_hidden = len(verdicts) - len(shown)
    if n_hidden == 1:
        console.print(
            "1 claim was not run, because nothing is stored for it; --detail lists it."
        )
    elif n_hidden:
        console.print(
            f"{n_hidden} claims were not run, because nothing is stored for them; --detail lists them."
        )
    if options.detail:
        for verdict in verdicts:
            console.print(
                f"{verdict.claim.id}: {verdict.claim.text} [{verdict.claim.where}]"
            )
            for line in verdict.lines:
                console.print(f"    {line}")
    if len(rankings):
        groups = rankings.groupby(["artefact", "column"], sort=False)
        console.print(
            table(
                [
                    _ranking_line(f"{name}, {column}", lines)
                    for (name, column), lines in groups
                ]
            )
        )
    text = _summary(verdicts, robustness, on_table=on_table)
    if options.overrides:
        text += f" (with {' '.join(options.overrides)})"
    console.print(text)
    return status


def _with_trials(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the verdicts on claims with stored results."""
    from provlab.verdicts.claims.rules import NOT_RUN

    return [verdict for verdict in verdicts if verdict.verdict != NOT_RUN]


def exit_status(verdicts: Sequence[Verdict]) -> int:
    """Return the exit status of a check of a table, see `TABLE_HELP`."""
    from provlab.verdicts.claims.rules import CONTRADICTED, NO_DIFFERENCE, REPLICATED

    names = {verdict.verdict for verdict in verdicts}
    if names & {CONTRADICTED, NO_DIFFERENCE}:
        return EXIT_FAILED
    if names - {REPLICATED}:
        return EXIT_UNDECIDED
    return 0


def _judge_store(options: argparse.Namespace) -> tuple[list[Verdict], pd.DataFrame]:
    from provlab.core.snapshot import StoreSnapshot
    from provlab.core.store import TrialStore
    from provlab.verdicts.claims.rules import NOT_RUN
    from provlab.verdicts.claims.schema import claim_files, columns_read
    from provlab.verdicts.claims.stored import Evidence, composed
    from provlab.verdicts.claims.verdicts import (
        judge_files,
        stored_verdicts,
        write_verdicts,
    )

    if options.column or options.output:
        raise ValueError("verify: --column and --output need --claims FILE; add it.")
    results = Path(options.results)
    files = claim_files(options.paper)
    claims = [claim for file in files for claim in file.claims]
    store = TrialStore(results / "store")
    # reading waits for the disk and decodes without holding Python's lock
    with ThreadPoolExecutor(1) as reader:
        snapshot = reader.submit(StoreSnapshot, store, columns_read(claims))
        artefacts = composed(
            sorted({name for claim in claims for name in claim.artefacts}),
            options.overrides,
        )
    evidence = Evidence(snapshot.result(), options.overrides, artefacts)
    verdicts, rankings = judge_files(files, evidence)
    evidence.raise_if_nothing_fits()
    if not _with_trials(verdicts) and any(
        verdict != NOT_RUN for verdict in stored_verdicts(results)
    ):
        # an exported reference has verdicts, and no trials
        PlainConsole().print(
            f"No trials are stored in {results}, so {results / 'verdicts.csv'} is left as it is."
        )
    else:
        write_verdicts(results, verdicts, rankings)
    if options.figures:
        # Matplotlib: only figures need it
        from provlab.report.figures.ranks import draw_rankings

        draw_rankings(rankings, results / "figures")
    return verdicts, rankings


def _judge_panel(options: argparse.Namespace) -> tuple[list[Verdict], pd.DataFrame]:
    import pandas as pd

    from provlab.bench.statements import judge_statements

    beside = [*options.overrides, *options.column]
    if beside or options.figures or options.output:
        raise ValueError(
            f"verify: expected no settings, --column, --output or --figures with --paper {options.paper}, whose claims "
            f"are judged on the stored benchmark, got {' '.join(beside) or '--output or --figures'}; leave it out."
        )
    return judge_statements(
        options.paper, Path(options.results) / options.paper
    ), pd.DataFrame()


def _judge_table(options: argparse.Namespace) -> tuple[list[Verdict], pd.DataFrame]:
    from provlab.core.tables import write_frame
    from provlab.verdicts.claims.table import judge_table
    from provlab.verdicts.claims.verdicts import verdict_frame

    results = Path(options.results)
    _check_table_options(options)
    roles: dict[str, int | str] = {}
    for text in options.column:
        role, _, name = text.partition("=")
        if not (role and name):
            raise ValueError(
                f"--column: expected ROLE=NAME such as row=classifier, got {text!r:.80}."
            )
        is_number = role in ("n_train", "n_test") and name.isdecimal()
        roles[role] = int(name) if is_number else name
    verdicts, rankings = judge_table(results, Path(options.claims), roles)
    if options.output:
        write_frame(verdict_frame(verdicts), Path(options.output))
    return verdicts, rankings


def _check_table_options(options: argparse.Namespace) -> None:
    """Raise if --claims and the table are not given together, or if options of a project are added."""
    paths = {"--claims": options.claims, "--results": options.results}
    missing = [
        f"no file {path!r} of {name}"
        for name, path in paths.items()
        if not Path(path).is_file()
    ]
    if missing:
        raise ValueError(
            f"verify: expected --claims FILE and --results FILE together, a CSV, TSV or Parquet file, got "
            f"{', '.join(missing)}; name both, or omit --claims for the store of a project."
        )
    beside = list(options.overrides)
    if options.figures:
        beside.insert(0, "--figures")
    if options.paper:
        beside.insert(0, "--paper")
    if beside:
        raise ValueError(
            f"verify: --claims cannot be combined with options of a project, got {', '.join(beside)}; leave it out."
        )


def _verdict_line(
    verdict: Verdict, robustness: Mapping[str, Robustness]
) -> dict[str, object]:
    """Return the printed row for a claim; n needed gives a power of 0.9 at the observed effect."""
    from provlab.verdicts.claims.rules import NOT_RUN
    from provlab.verdicts.readings.robustness import counted, under_readings

    claim, finding = verdict.claim.id, verdict.finding
    name = counted(claim, verdict.verdict, robustness)
    line = {
        "verdict": Text(name, style=COLOURS[name]),
        "claim": claim,
        "effect [interval]": "", "unit": finding.unit, "p": "", "n": "", "n needed": "", "trials": verdict.state,
    }  # fmt: skip
    if not math.isnan(finding.effect):
        line["effect [interval]"] = f"{finding.effect:.4g}{finding.interval}"
        line["n"] = finding.n
    if not math.isnan(finding.p_value):
        line["p"] = f"{finding.p_value:.2g}"
    if math.isinf(verdict.needed):
        line["n needed"] = "no n"
    elif not math.isnan(verdict.needed):
        line["n needed"] = f"{verdict.needed:.0f}"
    if verdict.state == NOT_RUN and verdict.lines:
        line["trials"] = verdict.lines[0]
    if robustness:
        text = under_readings(claim, robustness)
        if name != verdict.verdict:
            text = f"{verdict.verdict} by default; {text}"
        line["under all readings"] = text
    return line


def _ranking_line(name: str, lines: pd.DataFrame) -> dict[str, object]:
    """Return Friedman's p-value, the critical difference, and the methods by average rank."""
    first = lines.iloc[0]
    line = {"ranking": name, "Friedman p": "", "critical difference": "", "n": ""}
    if not first["method"]:
        return {**line, "methods by average rank": first["note"]}
    text = ", ".join(
        f"{method} {rank:.2f}"
        for method, rank in zip(lines["method"], lines["rank"], strict=True)
    )
    if first["note"]:
        text += f" ({first['note']})"
    return {
        "ranking": name,
        "Friedman p": f"{first['friedman_p']:.2g}",
        "critical difference": f"{first['critical_difference']:.2f}",
        "n": first["n"],
        "methods by average rank": text,
    }


def _summary(
    verdicts: Sequence[Verdict], robustness: Mapping[str, Robustness], *, on_table: bool
) -> str:
    """Summarise the verdicts on the papers' own claims, and state the number of other claims."""
    from provlab.verdicts.claims.rules import DECIDED
    from provlab.verdicts.readings.robustness import counted, tallied

    own = [verdict for verdict in verdicts if verdict.claim.kind == "paper"]
    counts = tallied(
        counted(verdict.claim.id, verdict.verdict, robustness) for verdict in own
    )
    text = f"{counted_noun(len(own), 'claim')}: " + ", ".join(
        f"{n} {name}" for name, n in counts if n
    )
    n_untested = sum(
        verdict.verdict in DECIDED and verdict.claim.id not in robustness
        for verdict in own
    )
    if n_untested and not on_table:
        text += f"; of these {n_untested} decided and not tested under readings"
    others = Counter(
        verdict.claim.kind for verdict in verdicts if verdict.claim.kind != "paper"
    )
    if others:
        text += "; others: " + ", ".join(
            f"{n} {kind}" for kind, n in sorted(others.items())
        )
    return text


def readings_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the paper, the options that choose claims, and the mode."""
    parser.epilog = "Interrupt at any time; the same command resumes."
    parser.add_argument("paper", help="a paper with a readings.yaml")
    parser.add_argument(
        "--artefact",
        action="append",
        default=[],
        metavar="NAME",
        help="only claims about this artefact; may be repeated",
    )
    parser.add_argument(
        "--claim",
        action="append",
        default=[],
        metavar="TEXT",
        help="only claims whose id contains this; may be repeated",
    )
    parser.add_argument(
        "--plan",
        action="store_true",
        help="print the planned trials and their cost, compute nothing",
    )
    parser.add_argument(
        "--render", action="store_true", help="judge stored trials, compute nothing"
    )
    parser.add_argument(
        "--figures",
        action="store_true",
        help="draw the specification curve of each claim",
    )
    parser.add_argument(
        "--letter",
        action="store_true",
        help="write letter.md, a one-page letter to the paper's authors",
    )
    parser.add_argument(
        "--packed", action="append", default=[], metavar="FOLDER", type=Path,
        help="use the packed trials of this folder, such as results/reference, and compute the rest; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--whole",
        action="store_true",
        help="use all data, even if readings.yaml selects a part",
    )
    add_store_arguments(parser, "executor=serial")


def call_readings(options: argparse.Namespace) -> int:
    """Print the universes and their cost, compute missing trials, judge, and write results/readings/PAPER."""
    from provlab.bench.statements import is_about_panel
    from provlab.core.composition import executor_settings
    from provlab.core.store import TrialStore
    from provlab.core.tables import write_text
    from provlab.custody.letter import letter, plan_text, print_lines, robustness_table
    from provlab.run.runner import run_cells
    from provlab.verdicts.readings.study import (
        Outcome,
        multiverse_of,
        pack_trials,
        read_store,
        stored_outcome,
        write_outcome,
    )
    from provlab.verdicts.readings.universes import complete_cells, cost_text

    paper = options.paper
    results = Path(options.results)
    if is_about_panel(paper):
        return _readings_on_panel(options)
    folder = results / "readings" / paper
    store = TrialStore(results / "store")
    universes = multiverse_of(
        paper,
        options.overrides,
        artefacts=options.artefact,
        claims=options.claim,
        whole=options.whole,
    )
    print(plan_text(universes), file=sys.stderr)
    packed = [folder, *(_packed_in(path, paper) for path in options.packed)]
    snapshot = read_store(universes, store, packed)
    print(cost_text(universes, snapshot), file=sys.stderr)
    if options.plan:
        return 0
    failures: list[tuple[str, str, str]] = []
    if not options.render:
        [config, *_] = (artefact.parts for artefact in universes.composed.values())
        complete = complete_cells(universes, snapshot)
        settings = executor_settings(config)
        report = run_cells(
            universes.cells,
            store,
            settings,
            label=f"readings of {paper}",
            complete=complete,
        )
        print(report.summary(), file=sys.stderr)
        failures = report.failures
        snapshot = read_store(universes, store, packed)
    pack_trials(snapshot, universes, folder)
    outcome = Outcome.of(universes, snapshot)
    write_outcome(outcome, folder)
    if options.figures:
        # Matplotlib: only figures need it
        from provlab.custody.artefact_results import claim_readings
        from provlab.report.claim import draw_specifications

        draw_specifications(claim_readings(outcome), folder)
    console = PlainConsole()
    console.print(robustness_table(outcome))
    for line in print_lines(outcome):
        console.print(line, markup=False)
    if options.letter and (stored := stored_outcome(paper, results)):
        text = letter(stored)
        write_text(folder / "letter.md", text)
        print(text)
    console.print(f"All universes of all claims: {folder / 'universes.csv'}")
    return 1 if failures else 0


def _readings_on_panel(options: argparse.Namespace) -> int:
    """Judge statements on the stored benchmark in all universes, and write results/PAPER; nothing is computed."""
    from provlab.bench.statements import judge_readings, readings_of_statements
    from provlab.custody.letter import plan_text, robustness_table

    beside = [*options.overrides, *options.artefact, *map(str, options.packed)]
    if beside or options.letter:
        raise ValueError(
            f"readings: expected only --claim, --plan and --figures for {options.paper}, whose claims are judged on "
            f"the stored benchmark, got {' '.join(beside) or '--letter'}; leave it out."
        )
    multiverse, evidence = readings_of_statements(options.paper, options.claim)
    print(plan_text(multiverse), file=sys.stderr)
    if options.plan:
        return 0
    folder = Path(options.results) / options.paper
    outcome = judge_readings(multiverse, evidence, folder)
    if options.figures:
        # Matplotlib: only figures need it
        from provlab.bench.statement_pages import draw_field

        draw_field(options.paper, folder)
    console = PlainConsole()
    console.print(robustness_table(outcome))
    console.print(f"All universes of all claims: {folder / 'universes.csv.gz'}")
    return 0


def _packed_in(results: Path, paper: str) -> Path:
    """Return the folder with the packed trials of a paper's readings in another results folder."""
    from provlab.verdicts.readings.packed import PACKED

    folder = results / "readings" / paper
    if not (folder / PACKED).is_file():
        raise ValueError(
            f"--packed {results}: expected packed trials of {paper}, found no {folder / PACKED}; "
            f"name a folder of results that provsel readings {paper} wrote to, or results/reference."
        )
    return folder


def reference_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose what to write."""
    add_store_arguments(parser)
    parser.add_argument(
        "--artefact", action="append", default=[], metavar="NAME",
        help="only this artefact; may be repeated (default: all whose trials are complete)",
    )  # fmt: skip
    parser.add_argument(
        "--readings",
        action="store_true",
        help="only the results of provsel readings, for --artefact or all",
    )
    parser.add_argument(
        "--panel",
        action="store_true",
        help="only the results of the benchmark's trials: ranks, pairs, answers",
    )
    parser.add_argument(
        "--release", metavar="DATE", type=_day,
        help="with --panel: store the leaderboard as the release of this date, such as 2026-12-01",
    )  # fmt: skip
    parser.add_argument(
        "--cards",
        action="store_true",
        help="only cards of the benchmark's data sets, for those without one",
    )
    parser.add_argument(
        "--audits",
        action="store_true",
        help="only audits.csv, the findings of the runs of provsel audit",
    )
    parser.add_argument(
        "--texts", action="store_true", help="only write README.md and the letters of results/reference, and fill the "
        "project's templates (README.md.j2, NOTES.md.j2 and others) from it",
    )  # fmt: skip


def call_reference(options: argparse.Namespace) -> int:
    """Write the reference results, print their folder, and render the project's templates."""
    from provlab.custody.reference import (
        write_audits,
        write_pages,
        write_readings,
        write_reference,
    )
    from provlab.custody.texts import fill_texts
    from provlab.project.project import current_project
    from provlab.verdicts.reference import FOLDER

    if options.release and not options.panel:
        raise ValueError(
            f"reference: expected --panel with --release, got {options.release} alone; add --panel."
        )
    if options.panel:
        return _write_panel(Path(options.results) / FOLDER, options.release)
    if options.cards:
        return _write_cards(Path(options.results) / FOLDER)
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
    print(
        "\n".join(f"written: {path}" for path in changed) or "All texts are up to date."
    )
    return 0


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected a date such as 2026-12-01, got {text!r:.80}"
        ) from None


def _write_panel(reference: Path, release: date | None) -> int:
    from provlab.bench.boards import release_board
    from provlab.bench.panel import FOLDER
    from provlab.bench.panel_answers import write_results

    for path in write_results(reference / FOLDER):
        print(f"written: {path}")
    if release is not None:
        print(f"released: {release_board(reference / FOLDER, release)}")
    return 0


def _write_cards(reference: Path) -> int:
    from provlab.bench.cards import write_cards
    from provlab.bench.panel import FOLDER, panel_datasets

    for name in write_cards(panel_datasets(), reference / FOLDER):
        print(name)
    return 0


COMMANDS = {
    "readings": (readings_arguments, call_readings),
    "reference": (reference_arguments, call_reference),
    "verify": (verify_arguments, call_verify),
}
"""Functions of each command: one adds its arguments, the other runs it and returns its exit status."""
