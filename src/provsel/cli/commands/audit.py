"""`provsel audit`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from rich.console import Console
from rich.table import Table
from rich.text import Text

from provsel.audit import CLOSE, DIFFERENT, IDENTICAL, AuditRun, run_audit
from provsel.audit.sample import FRACTION
from provsel.cli._guard import wide_console
from provsel.cli.commands import add_store_arguments
from provsel.configs import compose_config

HELP = "compute a random sample of the stored trials again, and compare"

LINES = 50
"""Differences that are printed; the ledger has all."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what is drawn, and how it is computed."""
    parser.add_argument(
        "--fraction", type=float, help=f"of the trials, above 0 and up to 1 (default: {FRACTION}; with --cell 1)"
    )
    parser.add_argument("--cell", default="", help="only trials of this cell: 8 or more of its first hex digits")
    parser.add_argument("--limit", type=int, help="compute no more trials than that")
    parser.add_argument("--seed", type=int, help="of the draw (default: a fresh one, which is printed)")
    parser.add_argument(
        "--strict", action="store_true",
        help="exit status 1 also for trials that are only close, or that could not be computed again",
    )  # fmt: skip
    add_store_arguments(parser, "executor=serial")


def run(options: argparse.Namespace) -> int:
    """Audit, print what was found, and return 1 where something differs."""
    found, path = run_audit(
        Path(options.results),
        fraction=options.fraction,
        cell=options.cell,
        limit=options.limit,
        seed=options.seed,
        executor=_executor(options.overrides, options.results),
    )
    console = wide_console()
    console.print(summary_table(found))
    _print_differences(console, found)
    console.print(Text(f"ledger: {path}"), soft_wrap=True)
    everything = found.count(IDENTICAL) == found.n_drawn
    return 1 if found.different or (options.strict and not everything) else 0


def _executor(overrides: Sequence[str], results: str) -> dict[str, Any]:
    """Return where trials run; what they are stands in their records."""
    for text in overrides:
        if text.split("=", 1)[0].split(".")[0] != "executor":
            raise ValueError(
                f"audit: expected settings of the executor, such as executor=dask executor.n_jobs=2, got {text!r:.80}; "
                f"stored trials are computed with their own settings, and chosen by --cell, --fraction and --limit."
            )
    config = compose_config(overrides)
    config.results = results
    return OmegaConf.to_container(config.executor, resolve=True)  # type: ignore[return-value]


def summary_table(found: AuditRun) -> Table:
    """Return what became of the drawn trials."""
    table = Table("outcome", "trials", "meaning")
    here = sum(trial.same_environment for trial in found.trials)
    partly = sum(bool(trial.not_compared) for trial in found.trials)
    lines = [
        ("drawn", found.n_drawn, f"of {found.n_stored} stored, with seed {found.seed}"),
        (IDENTICAL, found.count(IDENTICAL), "the same bits"),
        (CLOSE, found.count(CLOSE), "computed on other versions or another kind of machine, equal to 6 digits"),
        (DIFFERENT, found.count(DIFFERENT), "neither; listed below" if found.different else "neither"),
        *(("skipped", number, reason) for reason, number in found.skipped),
    ]
    for outcome, number, meaning in lines:
        table.add_row(outcome, str(number), Text(_plain(meaning)))
    table.caption = f"{here} of {len(found.trials)} were stored by these versions on this kind of machine"
    if partly:
        table.caption += f"; {partly} have no value in columns that are newer than they are"
    return table


def _print_differences(console: Console, found: AuditRun) -> None:
    lines = [
        f"{trial.where}: {each.column}: stored {each.stored}, now {each.now}"
        for trial in found.different
        for each in trial.differences
    ]
    for line in lines[:LINES]:
        console.print(Text(_plain(line)), soft_wrap=True)
    if len(lines) > LINES:
        console.print(f"and {len(lines) - LINES} more differences, see the ledger", highlight=False)


def _plain(text: str) -> str:
    """Return foreign text on one line, without what a terminal would obey."""
    return "".join(character if character.isprintable() else "?" for character in text)
