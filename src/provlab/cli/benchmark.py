"""Rank a selector among those of the benchmark, or those of the benchmark on a data set; compute the benchmark."""

from __future__ import annotations

import argparse
import shlex
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.text import Text

from provlab.cli.commands import add_json, add_settings, add_store_arguments, only_executor
from provlab.project.messages import optional_figures, to_install
from provlab.project.terminal import PlainConsole, print_json, table

if TYPE_CHECKING:
    import pandas as pd

    from provlab.bench.rank import Standing
    from provlab.core.store import TrialStore

ENDS = 5
"""Data sets that are named at both ends."""

_SHARED = {"stability": (".2f", "stability"), "seconds": (".3g", "seconds")}

BOARD = {
    "rank": (".1f", "rank"), "95 % interval": (".1f", "low", "high"), "win rate": (".0%", "win_rate"),
    "loss": ("+.1f", "loss"), **_SHARED, "sets": (".0f", "sets"), "failed": (".0f", "failed"),
}  # fmt: skip
"""Columns of a leaderboard by what they are called: their formats, and one number or both ends of an interval."""

ON_DATA = {
    "rank": (".1f", "rank"), "balanced error (%)": (".1f", "balanced_error"), "difference": ("+.1f", "difference"),
    "95 % interval": ("+.1f", "low", "high"), **_SHARED, "in the benchmark": (".1f", "panel"),
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
    panel, against = "ten data sets, or all (default: quick)", "only this method; may be repeated (default: all)"
    parser.add_argument("--panel", choices=["quick", "full"], default="quick", help=panel)
    parser.add_argument("--against", action="append", default=[], metavar="METHOD", help=against)
    parser.add_argument("--name", default="", help="name in tables and pages (default: from the settings)")
    add_json(parser)
    add_settings(parser, "selector=rrqr")


def call_rank(options: argparse.Namespace) -> int:
    """Print and write how a selector stands, or how methods stand on a data set."""
    from provlab.bench.rank import method_of, standing
    from provlab.core.composition import compose_config, executor_settings, results_folder
    from provlab.core.overrides import setting
    from provlab.core.store import TrialStore

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
    status = 0
    page: Path | None = None
    if data:
        shown, frames, page = _on_data(options.name, options.against, data, store, executor, results)
    else:
        found = standing(
            options.name or _name_of(asked), method_of(asked), options.panel, options.against, store, executor
        )
        frames = {
            "leaderboard": found.leaderboard.reset_index(), "pairs": found.pairs.reset_index(), "sets": found.sets,
        }  # fmt: skip
        shown = [*described(found)]
        status = 1 if found.failed else 0
        with optional_figures():
            page = found.write(results)
    if options.json:
        shown_page = None if page is None else str(page)
        print_json({**{name: frame.to_dict("records") for name, frame in frames.items()}, "page": shown_page})
        return status
    for part in shown:
        console.print(part)
    where = "" if page is None else f"; the page: {page}"
    console.print(f"{time.perf_counter() - start:.0f} s{where}", soft_wrap=True)
    return status


def _name_of(asked: list[str]) -> str:
    """Return the name of the selector's config, or of the class where the settings name one themselves."""
    from provlab.core.composition import compose_config
    from provlab.core.overrides import setting

    chosen = {setting(text): text.partition("=")[2] for text in asked}
    if "selector" in chosen and "selector._target_" not in chosen:
        return chosen["selector"]
    return str(compose_config(asked)["selector"]["_target_"]).rpartition(".")[2]


def described(found: Standing) -> Iterator[RenderableType]:
    """Yield the leaderboard, the pairs and both ends of the data sets as parts for a terminal."""
    own, sets = found.name, found.sets
    board = found.leaderboard.join(found.pairs[["difference", "verdict"]]).fillna({"verdict": ""})
    beside = {f"{own} beside it": ("+.1f", "difference"), "verdict": ("", "verdict")}
    lines = [
        {name: Text(text, "bold" if line["method"] == own else "") for name, text in line.items()}
        for line in _lines(board, BOARD | beside)
    ]
    caption = (
        f"Loss to all features, and {own} beside each other method: points of balanced error, negative is better. The "
        f"verdicts hold together at 5 %. {len(sets)} data sets of {sets['domain'].nunique()} domains show a "
        f"difference of {found.pairs['detectable'].median():.1f} points nine times in ten. "
        f"Seconds of the others may be another machine's."
    )
    yield table(lines, f"{own} among {len(board) - 1} methods", "" if found.failed else caption)
    yield from map(Text, found.problems)
    if found.failed:
        return
    for title, part in (("strongest", sets[:ENDS]), ("weakest", sets[::-1][:ENDS])):
        names = "; ".join(f"{row.dataset} (rank {row.rank:.1f}, {row.loss:+.1f})" for row in part.itertuples())
        yield Text(f"{title}: {names}")


def _lines(board: pd.DataFrame, shown: Mapping[str, tuple[str, ...]]) -> list[dict[str, str]]:
    """Return a line a method: columns of a leaderboard as `shown` has them, without the numbers that are not there."""
    return [
        {"method": str(name)}
        | {
            title: "" if row[names[0]] != row[names[0]] else " to ".join(format(row[each], form) for each in names)
            for title, (form, *names) in shown.items()
        }
        for name, row in board.iterrows()
    ]


def _on_data(
    name: str, against: list[str], data: list[str], store: TrialStore, executor: Mapping[str, Any], results: Path
) -> tuple[list[RenderableType], dict[str, pd.DataFrame], Path | None]:
    """Rank methods on a data set, write the page and what `provsel report` shows; return board, frame and page."""
    from provlab.bench.own_runs import FOLDER, RunTable, dataset_names, own_run
    from provlab.bench.panel import PanelDataset, base_cell
    from provlab.bench.rank import YOURS, chosen_methods, on_data

    _check_rows(data)
    dataset = PanelDataset(tuple(data), YOURS, "")
    name = name or dataset_names([base_cell(dataset).dataset])[0]
    chosen, missing = chosen_methods(against)
    found = on_data(name, dataset, chosen, store, executor)
    alike = " with about as many columns" if found.n_alike < found.n_panel else ""
    board = table(_lines(found.board, ON_DATA), f"{len(found.board)} methods on {name}", (
        f"Difference: points of balanced error more than all features, with the 95 % interval of one method alone over "
        f"the folds. In the benchmark: mean rank on {found.n_alike} of its data sets{alike}."
        + f" Without {', '.join(missing)}: {to_install('benchmark')}." * bool(missing)
    ))  # fmt: skip
    arguments = [*(f"--against={each}" for each in against), *data, f"results={results}"]
    command = shlex.join(["provsel", "rank", *arguments])
    methods = [f"{each.method} ({each.model})" for each in found.cells]
    run = own_run(command, [each.cell for each in found.cells], methods, [name] * len(methods))
    RunTable(run, store).write(results / FOLDER / run.name, formats=("svg",))
    shown: list[RenderableType] = [board, *map(Text, found.problems)]
    page: Path | None = None
    with optional_figures():
        page = found.write(results, name, command)
    return shown, {"leaderboard": found.board.reset_index()}, page


def _check_rows(data: list[str]) -> None:
    """Refuse a data set that the benchmark does not measure in its folds, before a thousand trials fail for it."""
    from provlab.bench.panel import panel_protocol
    from provlab.core.composition import compose_config
    from provlab.core.plan import MANY_ROWS, load_from
    from provlab.core.protocols.base import rarest_class

    config = compose_config([*panel_protocol().choose, *data])
    dataset, n_splits = load_from(config["dataset"]), config["protocol"]["n_splits"]
    if dataset.is_regression:
        raise ValueError(
            f"rank: expected a target of classes, as the benchmark measures balanced errors, got one of numbers in "
            f"{dataset.name}; compare selectors with provsel run -m ... selector=rfe_half,lasso, or provlab.compare."
        )
    if dataset.n_rows > MANY_ROWS:
        raise ValueError(
            f"rank: expected at most {MANY_ROWS:,} rows, as the benchmark's linear model is by LIBSVM, which takes "
            f"minutes or hours a fit on more, got {dataset.n_rows:,} in {dataset.name}; take a sample of each class by "
            f"+dataset.sample_rows=5000, or compare selectors with provsel run -m ... selector=rfe_half,rrqr."
        )
    n_groups = n_splits if dataset.groups is None else len({*dataset.groups.tolist()})
    if n_groups < n_splits:
        raise ValueError(
            f"rank: expected at least {n_splits} groups of rows, one for each fold of the benchmark, got {n_groups} in "
            f"{dataset.name}; compare selectors with provsel run -m ... protocol=leave_one_group_out."
        )
    label, smallest = rarest_class(dataset)
    if smallest < n_splits:
        raise ValueError(
            f"rank: expected at least {n_splits} rows of each class, one for each fold of the benchmark, got "
            f"{smallest} of class {label} in {dataset.name}; leave them out by "
            f"+dataset.min_class_size={n_splits}, or join the class with another one."
        )


def panel_arguments(parser: argparse.ArgumentParser) -> None:
    """Add which part of the panel."""
    parser.epilog = (
        "Interrupt at any time; the same command resumes. provsel reference --panel then stores the results."
    )
    for kind in ("dataset", "method"):
        parser.add_argument(
            f"--{kind}", action="append", default=[], metavar="NAME", help="may be repeated (default: all)"
        )
    parser.add_argument("--plan", action="store_true", help="compute nothing, count what is stored")
    add_store_arguments(parser, "executor=serial")


def call_panel(options: argparse.Namespace) -> int:
    """Compute what is missing, and return 1 where a trial could not be computed here."""
    import pandas as pd

    from provlab.bench.methods import panel_methods
    from provlab.bench.panel import names_of, panel_cells, panel_datasets, some
    from provlab.core.frames import planned_trials
    from provlab.core.store import TrialStore
    from provlab.run.runner import run_cells

    why = "all else is the same for everybody: choose by --dataset and --method"
    executor = only_executor("panel", options, "executor=serial", why)
    datasets = some("data set", options.dataset, panel_datasets())
    methods = some("method", options.method, panel_methods())
    cells, store = panel_cells(methods, datasets), TrialStore(Path(options.results) / "store")
    status = 0
    if not options.plan:
        report = run_cells([each.cell for each in cells], store, executor, label="panel")
        print(report.summary())
        status = 1 if report.failures else 0
    names, planned = names_of(cells)["dataset"], [each.cell.n_trials for each in cells]
    found = planned_trials(store, [each.cell for each in cells], ["task_cpu", "failure"]).join(names, on="place")
    found["failed"] = found["failure"].fillna("") != ""
    counts = found.groupby("dataset").agg(
        stored=("place", "size"), failed=("failed", "sum"), **{"CPU s": ("task_cpu", "sum")}
    )
    shown = pd.DataFrame({"trials": planned}).groupby(names).sum().reindex([*datasets]).join(counts).fillna(0)
    lines = shown.round().astype(int).rename_axis("data set").reset_index().to_dict("records")
    hours = counts["CPU s"].sum() / 3600
    PlainConsole().print(table(lines, caption=f"{hours:.2f} CPU hours; what failed is a result, and is ranked last"))
    return status


COMMANDS = {
    "panel": (panel_arguments, call_panel),
    "rank": (rank_arguments, call_rank),
}
"""Of each command what adds its arguments to a parser, and what runs it and returns its exit status."""
