"""The command line: the one place that wires configs, runs, the store and reports."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from rich.console import Console
from rich.table import Table

from provsel import __version__
from provsel.claims import Evidence, Verdict, judge, load_claims, rank, verdict_frame
from provsel.claims.display import draw_rankings, ranking_frame, ranking_table, totals, verdict_table
from provsel.configs import Artefact, Entry, artefact_names, cells_of, compose_artefact, experiments_dir
from provsel.datasets import MissingDataError, fetch, source_names
from provsel.evaluation import Cell
from provsel.evaluation.plan import trials_of, unique_cells
from provsel.reports.frames import Summary, artefact_frame, artefact_trials, error_summary
from provsel.reports.tables import write_frame
from provsel.runner import RunReport, run_cells
from provsel.store import TrialStore

INTERRUPTED = 130
PLAIN_WIDTH = 180
ERRORS = (ValueError, OSError, HydraException, OmegaConfBaseException)
"""What bad input raises: shown as one message, without a traceback."""


@dataclass(frozen=True)
class Rendering:
    """What a renderer gets: the numbers, and where its files go (`stem` plus a suffix)."""

    artefact: Artefact
    frame: pd.DataFrame
    tables: Path
    figures: Path
    store: TrialStore

    @property
    def note(self) -> str:
        """How much of the artefact is there: said in every caption until it is complete."""
        unfinished = self.frame[self.frame["state"] != "complete"]
        if unfinished.empty:
            return ""
        return f"PARTIAL: {len(unfinished)} of {len(self.frame)} numbers wait for trials."

    def trials(self, columns: Sequence[str]) -> pd.DataFrame:
        """Return the stored trials of the artefact with its row and column beside each, for what is drawn by trial."""
        return artefact_trials(self.artefact, self.store, columns)


Renderer = Callable[[Rendering], str]


def artefact_main(
    name: str,
    render: Renderer,
    *,
    summarise: Summary = error_summary,
    columns: Sequence[str] = ("error",),
    argv: Sequence[str] | None = None,
) -> int:
    """Run what an artefact is missing, write its CSV, and render it: the body of every artefact script.

    Parameters
    ----------
    name : str
        paper/artefact.
    render : callable
        Writes files from a `Rendering`, and returns what is printed.
    summarise : callable
        See `artefact_frame`.
    columns : sequence of str
        Columns of the records that `summarise` reads.
    argv : sequence of str, optional
        Overrides in Hydra's grammar; `--render` renders what the store has and computes nothing.
    """
    parser = argparse.ArgumentParser(
        description=f"Reproduce {name}: compute what is missing, write tables and figures below results/.",
        epilog="Example: protocol.repeats=1 executor=serial. Interrupt at any time; the same command goes on.",
    )
    parser.add_argument("--render", action="store_true", help="render what is stored, compute nothing")
    parser.add_argument("overrides", nargs="*", help="settings in Hydra's grammar")
    options = parser.parse_intermixed_args(argv)  # settings may stand on both sides of --render
    return _guarded(lambda: _reproduce(name, render, summarise, list(columns), options))


def _reproduce(name: str, render: Renderer, summarise: Summary, columns: list[str], options: argparse.Namespace) -> int:
    artefact = compose_artefact(name, options.overrides)
    results = Path(artefact.config.results)
    store = TrialStore(results / "store")
    report = RunReport()
    if not options.render:
        report = _run(artefact.cells, store, artefact.config, label=name)
    published = experiments_dir() / name.split("/")[0] / "published.csv"
    frame = artefact_frame(artefact, store, summarise, columns=columns, published=published)
    tables, figures = results / "tables" / name, results / "figures" / name
    write_frame(frame, tables.with_suffix(".csv"))
    print(render(Rendering(artefact, frame, tables, figures, store)))
    return 1 if report.failures else 0


def run_main(config: DictConfig) -> int:
    """Run the cells of a composed config and print their errors: the body of experiments/run.py."""

    def body() -> int:
        cells = cells_of(config)
        store = TrialStore(Path(config.results) / "store")
        report = _run(cells, store, config, label="cell")
        names = ["error", "nmi", "ari", "n_selected", "select_cpu", "shared_cpu"]
        trials = store.query([cell.id for cell in cells], ["cell", "repeat", "fold", "draw", *names]).to_pandas()
        for cell in cells:
            found = trials[trials["cell"] == cell.id]
            name = " ".join(f"{key}={value}" for key, value in cell.dataset.items() if key in ("name", "set"))
            selector = " ".join(f"{key}={value}" for key, value in cell.selector.items() if key != "_target_")
            target = str(cell.selector["_target_"]).rsplit(".", 1)[-1]
            print(f"{name} {target} {selector} | {_numbers(cell, found)}, {len(found)} trials")
        return 1 if report.failures else 0

    return _guarded(body)


def _numbers(cell: Cell, trials: pd.DataFrame) -> str:
    """Return what one line says of the trials of a cell."""
    if cell.protocol["split"] == "selection_only":
        cpu = (trials["select_cpu"] + trials["shared_cpu"]).median()
        return f"{trials['n_selected'].mean():.0f} features in {cpu:.3g} CPU seconds"
    [error] = error_summary(Entry("", "", cell), trials)
    text = f"error {error['value']:.2f} % (sd {error['sd']:.2f})"
    if cell.protocol["split"] == "all_rows":
        text += f", NMI {trials['nmi'].mean():.3f}, ARI {trials['ari'].mean():.3f}"
    return text


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point of the command `provsel`."""
    parser = argparse.ArgumentParser(prog="provsel", description="Provable feature selection and its replications.")
    parser.add_argument("--version", action="version", version=f"provsel {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    status = commands.add_parser("status", help="how much of each artefact is stored")
    status.add_argument("--results", default="results", help="results folder (default: results)")
    status.add_argument("overrides", nargs="*", help="settings in Hydra's grammar, such as protocol.repeats=1")
    verifying = commands.add_parser("verify", help="test the claims of the papers on what is stored")
    verifying.add_argument("--results", default="results", help="results folder (default: results)")
    verifying.add_argument("--paper", help="only the claims of this paper (default: of all)")
    verifying.add_argument("--detail", action="store_true", help="print what was found in each part of each claim")
    verifying.add_argument("overrides", nargs="*", help="settings in Hydra's grammar, such as protocol.repeats=3")
    getting = commands.add_parser("fetch", help="download and verify the files of a data set")
    getting.add_argument("name", help=f"one of {', '.join(source_names())}")
    options = parser.parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    logging.getLogger("fontTools").setLevel(logging.WARNING)  # tells of every glyph in a PDF
    if options.command == "status":
        return _guarded(lambda: _status(options.results, options.overrides))
    if options.command == "verify":
        return _guarded(lambda: _verify(options))
    return _guarded(lambda: _fetch(options.name))


def _status(results: str, overrides: list[str]) -> int:
    store = TrialStore(Path(results) / "store")
    stored = store.keys()
    table = Table("artefact", "trials", "state", "command")
    for name in artefact_names():
        command = f"make reproduce-{name.split('/')[1]}"
        try:
            artefact = compose_artefact(name, overrides)
        except MissingDataError as error:
            table.add_row(name, "", "data missing", f"provsel fetch {error.dataset}")
            continue
        planned = planned_keys(artefact)
        done = len(planned & stored)
        state = "complete" if done == len(planned) else "partial" if done else "not run"
        table.add_row(name, f"{done} of {len(planned)}", state, "" if state == "complete" else command)
    Console().print(table)
    return 0


def _verify(options: argparse.Namespace) -> int:
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
    console = Console()
    if not console.is_terminal:
        console = Console(width=PLAIN_WIDTH)  # a file or a pipe has no width of its own: do not cut for it
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


def planned_keys(artefact: Artefact) -> set[str]:
    """Return the keys of all trials of an artefact."""
    return {key for cell in unique_cells(artefact.cells) for *_, key in trials_of(cell)}


def _fetch(name: str) -> int:
    for path in fetch(name, progress=True):
        print(path)
    return 0


def _run(cells: list[Cell], store: TrialStore, config: DictConfig, *, label: str) -> RunReport:
    executor = OmegaConf.to_container(config.executor, resolve=True)
    report = run_cells(cells, store, executor, label=label)  # type: ignore[arg-type]
    print(report.summary(), file=sys.stderr)
    return report


def _guarded(body: Callable[[], int]) -> int:
    """Run a command: bad input is one message, an interrupt has its own exit status."""
    try:
        return body()
    except KeyboardInterrupt:
        return INTERRUPTED
    except ERRORS as error:
        print(f"provsel: {error}", file=sys.stderr)
        return 2
