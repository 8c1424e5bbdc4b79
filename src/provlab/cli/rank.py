"""Rank a selector among those of the benchmark, or those of the benchmark on a data set."""

from __future__ import annotations

import argparse
import shlex
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.text import Text

from provlab.cli.commands import add_settings
from provlab.terminal import PlainConsole, table

if TYPE_CHECKING:
    import pandas as pd

    from provlab.standing import Standing
    from provlab.store import TrialStore

ENDS = 5
"""Data sets that are named at both ends."""

_SHARED = {"stability": ("stability", ".2f"), "seconds": ("seconds", ".3g")}

BOARD = {
    "rank": ("rank", ".1f"), "95 % interval": ("interval", ".1f"), "win rate": ("win_rate", ".0%"),
    "loss": ("loss", "+.1f"), **_SHARED,
}  # fmt: skip
"""Columns of a leaderboard by what they are called, with their formats."""

ON_DATA = {
    "rank": ("rank", ".1f"), "balanced error (%)": ("balanced_error", ".1f"), "difference": ("difference", "+.1f"),
    "95 % interval": ("interval", "+.1f"), **_SHARED, "in the panel": ("panel", ".1f"),
}  # fmt: skip


def rank_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what is ranked among what; settings are Hydra's overrides."""
    parser.epilog = (
        "Only the trials of the selector are computed: those of the others come with provsel. It is\n"
        "asked for each size of the benchmark. Interrupt at any time; the same command resumes.\n"
        "A class of your own: name its module under trust in provsel.toml, or call provlab.rank.\n\n"
        "With a data set in the place of a selector, the fast methods of the benchmark are ranked on it:\n"
        "  provsel rank dataset=file dataset.path=my.csv dataset.target=y"
    )
    parser.add_argument("--panel", choices=["quick", "full"], default="quick", help="ten data sets, or all")
    parser.add_argument("--against", action="append", default=[], metavar="METHOD", help="only this one, or several")
    parser.add_argument("--name", default="", help="in tables and pages (default: as the settings say)")
    add_settings(parser, "selector=rrqr")


def call_rank(options: argparse.Namespace) -> int:
    """Print and write how a selector stands, or how methods stand on a data set."""
    from provlab.plan import compose_config, executor_settings, results_folder
    from provlab.plan.overrides import setting
    from provlab.standing import method_of, standing
    from provlab.store import TrialStore

    groups: dict[str, list[str]] = {"selector": [], "dataset": [], "run": [], "": []}
    known = {"preparation": "dataset", "executor": "run", "results": "run"}
    for text in options.overrides:
        group = setting(text).split(".")[0]
        groups[known.get(group, group if group in groups else "")].append(text)
    asked, data = groups["selector"], groups["dataset"]
    if groups[""] or bool(asked) == bool(data):
        got = groups[""][0] if groups[""] else "both" if data else "neither"
        raise ValueError(
            f"rank: expected settings of a selector, as selector=rrqr, or of a data set, as dataset=digits, and those "
            f"of executor and results, got {got}; models, folds and sizes are those of the benchmark."
        )
    config = compose_config(groups["run"])
    results, executor = results_folder(config), executor_settings(config)
    store, start, console = TrialStore(results / "store"), time.perf_counter(), PlainConsole()
    if data:
        page = _on_data(options.name, options.against, data, store, executor, results, console)
    else:
        name = options.name or next(text for text in asked if setting(text).startswith("selector")).partition("=")[2]
        found = standing(name, method_of(asked), options.panel, options.against, store, executor)
        for part in described(found):
            console.print(part)
        page = found.write(results)
    console.print(f"{time.perf_counter() - start:.0f} s; the page: {page}", soft_wrap=True)
    return 0


def described(found: Standing) -> Iterator[RenderableType]:
    """Yield the leaderboard, the pairs and both ends of the data sets as parts for a terminal."""
    own, sets = found.name, found.sets
    board = found.leaderboard.join(found.pairs[["difference", "verdict"]].add_prefix("beside "))
    lines = _lines(board, {**BOARD, "sets": ("sets", ".0f"), "failed": ("failed", ".0f")})
    for name, line in zip(board.index, lines, strict=True):
        beside = board.loc[name]
        line[f"{own} beside it"] = _number(beside["beside difference"], "+.1f")
        line["verdict"] = "" if name == own else str(beside["beside verdict"])
    shown = [
        {key: Text(text, "bold" if name == own else "") for key, text in line.items()}
        for name, line in zip(board.index, lines, strict=True)
    ]
    caption = (
        f"Loss to all features, and {own} beside each other method: points of balanced error, negative is better. The "
        f"verdicts hold together at 5 %. {len(sets)} data sets of {sets['domain'].nunique()} domains show a "
        f"difference of {found.pairs['detectable'].median():.1f} points nine times in ten. "
        f"Seconds of the others may be another machine's."
    )
    yield table(shown, f"{own} among {len(board) - 1} methods", caption)
    for title, part in (("strongest", sets[:ENDS]), ("weakest", sets[::-1][:ENDS])):
        names = "; ".join(f"{row.dataset} (rank {row.rank:.1f}, {row.loss:+.1f})" for row in part.itertuples())
        yield Text(f"{title}: {names}")


def _lines(board: pd.DataFrame, shown: Mapping[str, tuple[str, str]]) -> list[dict[str, str]]:
    """Return a line a method: columns of a leaderboard by what they are called, each with its format."""
    lines = []
    for name, row in board.iterrows():
        line = {"method": str(name)}
        for title, (column, form) in shown.items():
            ends = [_number(row[end], form) for end in ("low", "high")]
            line[title] = " to ".join(ends) if column == "interval" else _number(row[column], form)
        lines.append(line)
    return lines


def _on_data(
    name: str, against: list[str], data: list[str], store: TrialStore, executor: Mapping[str, Any], results: Path,
    console: PlainConsole,
) -> Path:  # fmt: skip
    """Rank methods on a data set, print the board, write the page and what `provsel report` shows; return the page."""
    from provlab.benchmark.panel import PanelDataset
    from provlab.own_runs import FOLDER, RunTable, own_run
    from provlab.plan.overrides import parse_override
    from provlab.standing import YOURS, chosen_methods, on_data

    if not name:
        settings = {override.key: override.value for override in map(parse_override, data)}
        name = Path(str(settings.get(("dataset", "path"), settings.get(("dataset",), "data")))).stem
    found = on_data(name, PanelDataset(tuple(data), YOURS, ""), chosen_methods(against), store, executor)
    alike = " with about as many columns" if len(found.alike) < found.n_panel else ""
    console.print(table(_lines(found.board, ON_DATA), f"{len(found.board)} methods on {name}", (
        f"Difference: points of balanced error more than all features, with the 95 % interval of one method alone over "
        f"the folds. In the panel: mean rank on {len(found.alike)} of its data sets{alike}."
    )))  # fmt: skip
    arguments = [*(f"--against={each}" for each in against), *data, f"results={results}"]
    command = shlex.join(["provsel", "rank", *arguments])
    methods = [f"{each.method}, {each.model}" for each in found.cells]
    run = own_run(command, [each.cell for each in found.cells], methods, [name] * len(methods))
    RunTable.of(run, store).write(results / FOLDER / run.name, formats=("svg",))
    return found.write(results, name, command)


def _number(value: float, form: str) -> str:
    return "" if value != value else format(value, form)
