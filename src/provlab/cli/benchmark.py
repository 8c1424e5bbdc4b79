"""Rank a selector in the benchmark, rank the methods of the benchmark on a data set, or compute the benchmark."""

from __future__ import annotations

import argparse
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import RenderableType
from rich.text import Text

from provlab.cli.commands import (
    add_json,
    add_settings,
    add_store_arguments,
    only_executor,
)
from provlab.project.messages import optional_figures, to_install
from provlab.project.terminal import PlainConsole, print_json, table

if TYPE_CHECKING:
    import pandas as pd

    from provlab.bench.panel import PanelCell
    from provlab.bench.panel_computing import Plan
    from provlab.bench.rank import Standing
    from provlab.core.store import TrialStore
    from provlab.data import Dataset

ENDS = 5
"""Number of best and of worst data sets that are named."""

_SHARED = {"stability": (".2f", "stability"), "seconds": (".3f", "seconds")}

BOARD = {
    "rank": (".1f", "rank"), "95 % interval": (".1f", "low", "high"), "win rate": (".0%", "win_rate"),
    "loss": ("+.1f", "loss"), **_SHARED, "sets": (".0f", "sets"), "failed": (".0f", "failed"),
}  # fmt: skip
"""Columns of a leaderboard: headings, formats, and the names of a number or of both ends of an interval."""

IN_BENCHMARK = "in the benchmark"

ON_DATA = {
    "rank": (".1f", "rank"), "{measure} (%)": (".1f", "balanced_error"), "difference": ("+.1f", "difference"),
    "95 % interval": ("+.1f", "low", "high"), **_SHARED, IN_BENCHMARK: (".1f", "panel"),
}  # fmt: skip


def rank_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options for the selector and the data set; settings are Hydra's overrides."""
    parser.epilog = (
        "Only the trials of the selector are computed, for each size of the benchmark; provsel\n"
        "includes those of the other methods. Interrupt at any time; the same command resumes.\n"
        "The data sets of the quick panel have to be fetched once: provsel fetch mnist tables.\n"
        "For your own class, name its module under trust in provsel.toml, or call provlab.rank.\n\n"
        "With a data set, the fast methods of the benchmark are ranked on it, together with the selector, if any:\n"
        "  provsel rank dataset=file dataset.path=my.csv dataset.target=y selector=any selector._target_=my.Selector"
    )
    parser.add_argument(
        "--panel", choices=["quick", "full"], default="quick",
        help="at most one data set per domain, or all (default: quick)",
    )  # fmt: skip
    parser.add_argument(
        "--task", choices=["classification", "regression"], default="classification",
        help="kind of the panel's targets (default: classification)",
    )  # fmt: skip
    parser.add_argument(
        "--against", action="append", default=[], metavar="METHOD",
        help="only this method, named as in selector=NAME or in the benchmark; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--name",
        default="",
        help="name in tables and pages (default: from the settings)",
    )
    parser.add_argument(
        "--export", metavar="FILE",
        help="write the selector's trials to a Parquet file, which others can audit and add to the benchmark",
    )  # fmt: skip
    add_json(parser)
    add_settings(parser, "selector=rrqr")


def call_rank(options: argparse.Namespace) -> int:
    """Print and write the ranking of a selector, or of methods on a data set."""
    from provlab.bench.answer import wrapped
    from provlab.bench.submission import checked_path
    from provlab.core.composition import (
        compose_config,
        executor_settings,
        results_folder,
    )
    from provlab.core.store import TrialStore

    groups = _grouped(options.overrides)
    if options.export and groups["dataset"]:
        raise ValueError(
            f"rank: expected --export without a data set, because the benchmark accepts only its own data sets, got "
            f"{groups['dataset'][0]}; omit one of them."
        )
    if options.export:
        checked_path(options.export)  # before computing trials, which takes minutes
    config = compose_config(groups["run"])
    results = results_folder(config)
    start = time.perf_counter()
    rank = _rank_on_data if groups["dataset"] else _rank_selector
    ranking = rank(
        options,
        groups,
        TrialStore(results / "store"),
        executor_settings(config),
        results,
    )
    if options.json:
        frames = {
            name: frame.to_dict("records") for name, frame in ranking.frames.items()
        }
        print_json(
            {
                "answer": ranking.answer,
                **frames,
                "page": None if ranking.page is None else str(ranking.page),
            }
        )
        return ranking.status
    console = PlainConsole()
    if ranking.answer:
        console.print(f"{wrapped(ranking.answer)}\n")
    for part in ranking.parts:
        console.print(part)
    where = "" if ranking.page is None else f"; the page: {ranking.page}"
    console.print(f"{time.perf_counter() - start:.0f} s{where}", soft_wrap=True)
    return ranking.status


class Ranking(NamedTuple):
    """Output of `provsel rank`: the answer, parts for the terminal, frames for JSON, the page, and the exit status."""

    answer: list[str]
    parts: list[RenderableType]
    frames: dict[str, pd.DataFrame]
    page: Path | None
    status: int


GROUP_OF = {
    "selector": "selector", "dataset": "dataset", "preparation": "dataset", "protocol": "protocol", "executor": "run",
    "results": "run",
}  # fmt: skip
"""Settings that `provsel rank` accepts, and their subjects."""


def _grouped(overrides: list[str]) -> dict[str, list[str]]:
    """Return the settings of the selector, of the data set, of its folds and of the run.

    Raises
    ------
    ValueError
        If there are other settings, or neither the selector nor the data set has
        settings.
    """
    from provlab.core.overrides import setting

    groups: dict[str, list[str]] = {
        "selector": [],
        "dataset": [],
        "protocol": [],
        "run": [],
    }
    wrong = ""
    for text in overrides:
        group = GROUP_OF.get(setting(text).split(".")[0])
        if group is None:
            wrong = wrong or text
        else:
            groups[group].append(text)
    if not wrong and not groups["selector"] and not groups["dataset"]:
        wrong = "neither"
    if groups["protocol"] and not groups["dataset"]:
        wrong = wrong or groups["protocol"][0]
    if "=" not in wrong and Path(wrong).is_file():
        raise ValueError(
            f"rank: expected settings, got the file {wrong}; to rank methods on it: provsel rank dataset=file "
            f"dataset.path={wrong} dataset.target=COLUMN."
        )
    if wrong:
        raise ValueError(
            f"rank: expected settings of a selector (selector=rrqr), a data set (dataset=digits), or both, and of "
            f"executor and results, got {wrong}; the benchmark determines models, sizes and folds; only on a data set, "
            f"folds may be protocol=time_order or protocol=splitter protocol.cv._target_=...."
        )
    return groups


def _rank_selector(
    options: argparse.Namespace, groups: Mapping[str, list[str]], store: TrialStore, executor: Mapping[str, Any],
    results: Path,
) -> Ranking:  # fmt: skip
    """Rank a selector among the methods of the benchmark, and write the pages."""
    from provlab.bench.rank import method_of, standing

    overrides = groups["selector"]
    name = options.name or _name_of(overrides)
    method = method_of(overrides)
    result = standing(
        name, method, options.panel, options.against, store, executor, task=options.task
    )
    page: Path | None = None
    with optional_figures():
        page = result.write(results)
    if options.export:
        result.export(options.export)
    frames = {
        "leaderboard": _with_named_error(result.leaderboard, options.task),
        "pairs": result.pairs.reset_index(),
        "sets": result.sets,
    }
    return Ranking(
        result.answer, [*described(result)], frames, page, 1 if result.failed else 0
    )


def _name_of(overrides: list[str]) -> str:
    """Return the name of the selector's config, or of its class if the settings name it directly."""
    from provlab.bench.rank import name_of_class
    from provlab.core.composition import compose_config
    from provlab.core.overrides import setting

    values = {setting(text): text.partition("=")[2] for text in overrides}
    if "selector" in values and "selector._target_" not in values:
        return values["selector"]
    return name_of_class(compose_config(overrides)["selector"]["_target_"])


def described(result: Standing) -> Iterator[RenderableType]:
    """Yield the leaderboard with pairs, and the best and worst data sets, as parts for the terminal."""
    from provlab.verdicts.panel_scores import ERROR_OF

    if result.failed:
        yield from map(Text, result.problems)
        return
    name = result.name
    board = result.leaderboard.join(result.pairs[["difference", "verdict"]]).fillna(
        {"verdict": ""}
    )
    columns = {
        **BOARD,
        f"{name} vs. it": ("+.1f", "difference"),
        "verdict": ("", "verdict"),
    }
    caption = (
        f"Loss compared with all features, and difference of {name} from each other method, in points of "
        f"{ERROR_OF[result.scores.task]}; negative is better. The verdicts hold jointly at a level of 5 %. "
        f"{len(result.sets)} data sets of {result.sets['domain'].nunique()} domains. Seconds of other methods may "
        f"be from another machine."
    )
    yield table(
        _lines(board, columns, name),
        f"{name} beside {len(board) - 1} other methods",
        caption,
    )
    for problem in result.problems:
        yield Text(problem)
    ends = {"strongest": result.sets[:ENDS], "weakest": result.sets[::-1][:ENDS]}
    if len(result.sets) <= 2 * ENDS:
        ends = {"by data set, the strongest first": result.sets}
    for title, sets in ends.items():
        names = [
            f"{row.dataset} (rank {row.rank:.1f}, {row.loss:+.1f})"
            for row in sets.itertuples()
        ]
        yield Text(f"{title}: {'; '.join(names)}")


def _lines(
    board: pd.DataFrame, columns: Mapping[str, tuple[str, ...]], own: str
) -> list[dict[str, Text]]:
    """Return a row per method with the columns of a leaderboard, without missing numbers; the own method is bold."""
    lines = []
    for method, row in board.iterrows():
        style = "bold" if method == own else ""
        line = {"method": Text(str(method), style)}
        for title, (form, *names) in columns.items():
            values = row[names].tolist()
            is_missing = values[0] != values[0]
            text = " to ".join(format(value, form) for value in values)
            line[title] = Text("" if is_missing else text, style)
        lines.append(line)
    return lines


def _with_named_error(board: pd.DataFrame, task: str) -> pd.DataFrame:
    """Return a leaderboard for JSON, in which the error has the name of the task's measure."""
    from provlab.verdicts.panel_scores import ERROR_OF, HEADLINE

    return board.reset_index().rename(
        columns={HEADLINE: ERROR_OF[task].replace(" ", "_")}
    )


def _rank_on_data(
    options: argparse.Namespace, groups: Mapping[str, list[str]], store: TrialStore, executor: Mapping[str, Any],
    results: Path,
) -> Ranking:  # fmt: skip
    """Rank methods on a data set, and write the page and the part for `provsel report`."""
    from provlab.bench.own_runs import RUNS_FOLDER
    from provlab.bench.panel import PanelDataset, base_cell
    from provlab.bench.rank import check_name, method_of
    from provlab.bench.rank_on_data import YOURS, chosen_methods, on_data
    from provlab.bench.run_names import dataset_names, own_run
    from provlab.bench.run_table import RunTable

    overrides = [*groups["dataset"], *_benchmark_folds(groups["protocol"])]
    is_regression = _check_size(overrides).is_regression
    dataset = PanelDataset(
        tuple(overrides),
        YOURS,
        "",
        task="regression" if is_regression else "classification",
    )
    [name] = dataset_names([base_cell(dataset).dataset])
    methods, missing = chosen_methods(options.against, dataset.task)
    yours = ""
    if groups["selector"]:
        yours = options.name or _name_of(groups["selector"])
        check_name(yours)
        methods[yours] = method_of(groups["selector"]).for_task(dataset.task)
    else:
        name = options.name or name
    result = on_data(name, dataset, methods, store, executor, yours)
    measure = result.words.measure
    caption = (
        f"Difference: points of {measure} more than with all features, with the 95 % interval of one method over the "
        f"folds."
    )
    columns = {title.format(measure=measure): form for title, form in ON_DATA.items()}
    if is_regression:
        caption += " Unexplained variance is 100 (1 - R^2), which is 100 for predicting the mean."
    alike = " with about as many columns" if result.n_alike < result.n_panel else ""
    caption += (
        f" In the benchmark: mean rank on {result.n_alike} of its data sets{alike}."
    )
    if missing:
        caption += f" Without {', '.join(missing)}: {to_install('benchmark')}."
    board = table(
        _lines(result.board, columns, yours),
        f"{len(result.board)} methods on {name}",
        caption,
    )
    arguments = [f"--against={method}" for method in options.against]
    arguments += [
        *groups["dataset"],
        *groups["protocol"],
        *groups["selector"],
        f"results={results}",
    ]
    command = shlex.join(["provsel", "rank", *arguments])
    titles = [f"{entry.method} ({entry.model})" for entry in result.cells]
    run = own_run(
        command, [entry.cell for entry in result.cells], titles, [name] * len(titles)
    )
    RunTable(run, store).write(results / RUNS_FOLDER / run.name, formats=("svg",))
    page: Path | None = None
    with optional_figures():
        page = result.write(results, name, command)
    parts: list[RenderableType] = [board, *map(Text, result.problems)]
    status = 1 if yours in result.scores.reasons else 0
    return Ranking(
        result.answer,
        parts,
        {"leaderboard": _with_named_error(result.board, dataset.task)},
        page,
        status,
    )


OWN_FOLDS = {
    "protocol=splitter": "protocol=benchmark_splitter",
    "protocol=time_order": "protocol=benchmark_time_order",
}
"""Folds that a data set may have instead of the benchmark's, with the names of their protocols."""


def _benchmark_folds(overrides: list[str]) -> list[str]:
    """Translate settings of folds to those of a protocol of the benchmark."""
    from provlab.core.overrides import setting

    settings = []
    for text in overrides:
        name = setting(text)
        if (
            text not in OWN_FOLDS
            and name != "protocol.n_splits"
            and not name.startswith("protocol.cv")
        ):
            raise ValueError(
                f"rank: expected {' or '.join(OWN_FOLDS)}, and settings of protocol.cv and protocol.n_splits, got "
                f"{text!r:.80}; the benchmark determines measures and repeats."
            )
        settings.append(OWN_FOLDS.get(text, text))
    return settings


def _check_size(data: list[str]) -> Dataset:
    """Return the data set of the settings; raise if the methods of the benchmark would need hours on it."""
    from provlab.bench.panel import judging
    from provlab.core.composition import compose_config
    from provlab.core.plan import MANY_ROWS, load_from

    dataset = load_from(compose_config([*judging().choose, *data])["dataset"])
    if dataset.n_rows > MANY_ROWS:
        raise ValueError(
            f"rank: expected at most {MANY_ROWS:,} rows, because more rows can take hours, got "
            f"{dataset.n_rows:,} in {dataset.name}; sample each class by "
            f"+dataset.sample_rows=5000, or compare selectors with provsel run -m ... selector=rfe_half,rrqr."
        )
    return dataset


def panel_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that choose a part of the panel."""
    parser.epilog = (
        "Interrupt at any time; the same command resumes. A data set is stored once all its trials are finished;\n"
        "provsel reference --panel then writes the results that depend on them."
    )
    parser.add_argument(
        "--dataset",
        action="append",
        default=[],
        metavar="NAME",
        help="may be repeated (default: all)",
    )
    parser.add_argument(
        "--plan", action="store_true", help="compute nothing, list what is stored"
    )
    parser.add_argument(
        "--study", metavar="NAME", help="a study beside the panel, such as permuted"
    )
    parser.add_argument(
        "--add",
        metavar="FILE",
        help="add a method's trials, which provsel rank --export wrote",
    )
    parser.add_argument(
        "--part",
        default="1/1",
        help="part of the data sets: 2/3 is the second third (default: 1/1)",
    )
    parser.add_argument(
        "--hours",
        type=float,
        default=24.0,
        help="start no data set after this time (default: 24)",
    )
    add_store_arguments(parser, "executor=serial")


def call_panel(options: argparse.Namespace) -> int:
    """Compute data sets, print a line for each, and return 1 if any failed."""
    from provlab.bench.methods import panel_methods
    from provlab.bench.panel import panel_datasets, some, stored_folder
    from provlab.bench.panel_computing import cells_of_panel, compute, in_turn
    from provlab.bench.stored_panel import write_dataset
    from provlab.bench.studies import folder_of, studies, study_cells, write_study
    from provlab.bench.submission import read_submission

    why = "all other settings are fixed: choose by --dataset"
    executor = only_executor("panel", options, "executor=serial", why)
    if options.add:
        submission = read_submission(options.add)
        names = submission.add_to(stored_folder())
        print(
            f"added {len(submission.trials):,} trials of {submission.name} on {len(names)} data sets; its author "
            f"ranked {submission.n_variants} variants. Add to methods.yaml:\n{submission.entry}"
        )
        return 0
    datasets = panel_datasets()
    if options.study:
        [study] = some("study", [options.study], studies()).values()
        datasets = {name: datasets[name] for name in study.sets}
        folder = folder_of(options.study)
        plan: Plan = partial(study_cells, study, panel_methods())
        write = write_study
    else:
        folder = stored_folder()
        plan = cells_of_panel
        write = write_dataset
    chosen = some("data set", options.dataset, datasets)
    part, _, n_parts = options.part.partition("/")
    mine = in_turn(chosen)[int(part) - 1 :: int(n_parts)]
    if options.plan:
        lines = [_planned(name, plan(name), folder) for name in mine]
        PlainConsole().print(table(lines))
        return 0
    status = 0
    for line in compute(
        mine, Path(options.results), folder, executor, options.hours, plan, write
    ):
        print(line, flush=True)
        status = max(status, int("state" in line))
    return status


def _planned(name: str, cells: Sequence[PanelCell], folder: Path) -> dict[str, str]:
    """Return a line of the plan: a data set, its trials, and whether they are stored or what they lack."""
    from provlab.bench.panel import panel_datasets
    from provlab.bench.stored_panel import not_stored

    missing = not_stored(name, cells, folder)
    state = ""
    if not missing:
        state = "stored"
    elif len(missing) < len(cells):
        methods = dict.fromkeys(entry.method for entry in missing)
        state = f"lacks {', '.join(methods)}"
    return {
        "data set": name,
        "domain": panel_datasets()[name].domain,
        "trials": f"{sum(entry.cell.n_trials for entry in cells):,}",
        "": state,
    }


COMMANDS = {
    "panel": (panel_arguments, call_panel),
    "rank": (rank_arguments, call_rank),
}
"""Functions of each command: one adds its arguments, the other runs it and returns its exit status."""
