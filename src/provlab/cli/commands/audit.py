"""`provsel audit`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from provlab.cli._guard import wide_console
from provlab.cli.commands import add_store_arguments
from provlab.messages import visible_line

if TYPE_CHECKING:
    import pandas as pd

    from provlab.audit import AuditRun

HELP = "compute a random sample of the stored trials again, and compare"
EXAMPLE = "provsel audit --fraction 0.01"

LINES = 50
"""Differences that are printed; the file has all."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what is drawn, and how it is computed."""
    parser.add_argument(
        "--fraction", type=float, help="of the trials, above 0 and up to 1 (default: 0.01; with --cell 1)"
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
    from provlab.agreement import IDENTICAL
    from provlab.audit import run_audit

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
    for environment, columns in found.agreement.groupby("environment", sort=False):
        console.print(agreement_table(columns, environment, found.environment))
    lines = [
        f"{where}: {column}: stored {stored}, now {now}"
        for where, each in found.different
        for column, stored, now in each
    ]
    for line in lines[:LINES]:
        console.print(visible_line(line), soft_wrap=True)
    if len(lines) > LINES:
        console.print(f"and {len(lines) - LINES} more differences, see the file")
    console.print(f"written: {path}", soft_wrap=True)
    everything = found.count(IDENTICAL) == found.n_drawn
    return 1 if lines or (options.strict and not everything) else 0


def _executor(overrides: Sequence[str], results: str) -> dict[str, Any]:
    """Return where trials run; what they are stands in their records."""
    from provlab.plan import compose_config, executor_settings

    for text in overrides:
        if text.split("=", 1)[0].split(".")[0] != "executor":
            raise ValueError(
                f"audit: expected settings of the executor, such as executor=dask executor.n_jobs=2, got {text!r:.80}; "
                f"stored trials are computed with their own settings, and chosen by --cell, --fraction and --limit."
            )
    return executor_settings({**compose_config(overrides), "results": results})


def summary_table(found: AuditRun) -> Table:
    """Return what became of the drawn trials."""
    from provlab.agreement import CLOSE, DIFFERENT, DIGITS, IDENTICAL

    table = Table("outcome", "trials", "meaning")
    differing = found.count(DIFFERENT)
    for outcome, number, meaning in [
        ("drawn", found.n_drawn, f"of {found.n_stored} stored, with seed {found.seed}"),
        (IDENTICAL, found.count(IDENTICAL), "the same bits"),
        (CLOSE, found.count(CLOSE), f"computed on other versions or another kind of machine, equal to {DIGITS} digits"),
        (DIFFERENT, differing, "neither; listed below" if differing else "neither"),
        *(("skipped", number, reason) for reason, number in found.skipped.items()),
    ]:
        table.add_row(outcome, str(number), Text(visible_line(meaning)))
    here, partly = found.trials["same_environment"].sum(), found.trials["not_compared"].astype(bool).sum()
    table.caption = f"{here} of {len(found.trials)} were stored by these versions on this kind of machine"
    if partly:
        table.caption += f"; {partly} have no value in columns that are newer than they are"
    return table


def agreement_table(columns: pd.DataFrame, stored: str, here: str) -> Table:
    """Return which columns have the bits of another kind of machine, and to how many digits the others agree."""
    from provlab.agreement import REPORTED, digits

    table = Table("column", "trials", "same bits", "agreement", title_justify="left", caption_justify="left")
    table.title = Text(visible_line(f"of another kind, {columns['n_trials'].iloc[0]}: {_differing(stored, here)}"))
    is_same = columns["n_same"] == columns["n_compared"]
    for line in columns[~is_same].itertuples():
        found = [f"{digits(line.worst)} digits, worst relative difference {line.worst:.1e}"] if line.worst else []
        found += [f"{line.n_beyond} different"] if line.n_beyond else []
        reported = "reported only: generated data may differ in last digits"
        text = reported if line.column in REPORTED else "; ".join(found)
        table.add_row(line.column, str(line.n_compared), str(line.n_same), text)
    table.caption = f"the same bits wherever compared: {', '.join(columns['column'][is_same]) or 'no column'}"
    return table


def _differing(stored: str, here: str) -> str:
    """Return in words where two environments differ."""
    try:
        there, now = (dict(json.loads(text)) for text in (stored, here))
    except (ValueError, TypeError, RecursionError):
        return "the records do not say which"
    names = [name for name in [*now, *(set(there) - set(now))] if there.get(name) != now.get(name)]
    return "; ".join(f"{name} {_words(there.get(name))}, here {_words(now.get(name))}" for name in names)


def _words(value: Any) -> str:
    return " + ".join(map(str, value)) if isinstance(value, list) else "not known" if value is None else str(value)
