"""Run one cell, or with -m a job for each combination of values."""

from __future__ import annotations

import argparse
import itertools
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from provlab.cli.commands import add_settings, one_line

if TYPE_CHECKING:
    from provlab.core.cell import Cell
    from provlab.core.store import TrialStore
    from provlab.run.runner import RunReport

MAX_JOBS = 100_000

LISTED = 20
"""Largest number of jobs that are printed for each reason of failure."""

Job = tuple[str, ...]
"""Overrides of a job."""


def run_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of a run; settings are Hydra's overrides."""
    parser.epilog = (
        "GROUP=NAME chooses a file of conf/GROUP (provsel list), GROUP.SETTING=VALUE changes one of its settings, and "
        "+GROUP.SETTING=VALUE adds one. With -m a setting takes several values, as in a,b or range(1,4). Each "
        "combination is a job, and shared trials run once. Interrupt at any time; the same command resumes. The final "
        "table is written below results/runs, with a figure and the selected features; provsel report shows them."
    )
    parser.add_argument(
        "-m",
        "--multirun",
        action="store_true",
        help="run a job for each combination of values",
    )
    parser.add_argument(
        "--fail-fast", action="store_true", help="end the run at the first failed trial"
    )
    parser.add_argument(
        "-c", "--cfg", choices=["job"], help="print the config, and compute nothing"
    )
    parser.add_argument(
        "-r", "--resolve", action="store_true", help="with --cfg: resolve references"
    )
    add_settings(parser, "dataset=digits")


def call_run(options: argparse.Namespace) -> int:
    """Run a cell or a sweep; the exit status is 1 if a trial failed."""
    from omegaconf import OmegaConf

    from provlab.core.composition import compose_config
    from provlab.core.plan import cells_of

    overrides = options.overrides
    for text in overrides:
        # settings of Hydra itself could create any object or write any file
        if "hydra" in re.split(r"[\s.+~/@:]", text.partition("=")[0]):
            raise ValueError(
                f"override {text!r:.80}: expected GROUP=NAME or GROUP.SETTING=VALUE, got a setting of Hydra itself."
            )
    if options.multirun:
        return _sweep(overrides, fail_fast=options.fail_fast)
    config = compose_config(overrides)
    if options.cfg:
        print(
            OmegaConf.to_yaml(OmegaConf.create(config), resolve=options.resolve), end=""
        )
        return 0
    cells = cells_of(config)
    store = _store(config)
    report = _run(config, cells, store, "cell", fail_fast=options.fail_fast)
    _print(_show(cells, config, store, _command(*overrides), report.reasons(cells)))
    return 1 if report.failures else 0


def _run(
    config: Mapping[str, Any],
    cells: Sequence[Cell],
    store: TrialStore,
    label: str,
    *,
    fail_fast: bool,
) -> RunReport:
    """Run cells with the executor and the store of a config, and print the number of trials."""
    from provlab.core.composition import OWN_FILE, executor_settings
    from provlab.run.runner import run_cells, run_methods

    fail_fast = fail_fast or config["fail_fast"]
    is_own_file = all(cell.dataset["name"] == OWN_FILE for cell in cells)
    run = run_methods if is_own_file and not fail_fast else run_cells
    report = run(
        cells, store, executor_settings(config), label=label, fail_fast=fail_fast
    )
    print(report.summary(), file=sys.stderr, flush=True)
    return report


def _store(config: Mapping[str, Any]) -> TrialStore:
    """Return the store of a config; sharing one object has each file checked only once."""
    from provlab.core.composition import results_folder
    from provlab.core.store import TrialStore

    return TrialStore(results_folder(config) / "store")


def _show(
    cells: Sequence[Cell],
    config: Mapping[str, Any],
    store: TrialStore,
    command: str,
    reasons: Mapping[str, str],
) -> str:
    """Print the answer and the table of the cells, write them with a figure, and return the next step."""
    from provlab.bench.answer import wrapped
    from provlab.bench.own_runs import RUNS_FOLDER
    from provlab.bench.run_names import own_run
    from provlab.bench.run_table import RunTable
    from provlab.core.composition import results_folder
    from provlab.project.project import tool
    from provlab.project.terminal import PlainConsole, print_text, table

    results = results_folder(config)
    run_table = RunTable(own_run(command, cells, reasons=reasons), store)
    lines = run_table.lines
    for line in lines:
        # reasons would need many lines in a narrow column, so they are printed
        # separately
        line.pop("failed", None)
    if run_table.answer:
        print_text(f"{wrapped(run_table.answer)}\n")
    PlainConsole().print(table(lines))
    folder = results / RUNS_FOLDER / run_table.run.name
    figures = run_table.write(folder)
    written = (
        f"table and figure: {figures[0]}"
        if figures
        else f"table: {folder / 'table.md'}"
    )
    pages = [tool("provsel"), "report"]
    if str(results) != "results":
        pages += ["--results", str(results)]
    return f"{written}; pages with the selected features: {shlex.join(pages)}"


# ---- Sweeps


def jobs_of(overrides: Sequence[str]) -> list[Job]:
    """Return all combinations of the values of overrides in Hydra's sweep grammar; the last override varies fastest."""
    choices = dict(_choices(text) for text in overrides)
    jobs = list(itertools.islice(itertools.product(*choices.values()), MAX_JOBS + 1))
    if len(jobs) > MAX_JOBS:
        raise ValueError(
            f"run -m: expected at most {MAX_JOBS} jobs, got more; sweep over fewer values."
        )
    return jobs


def _choices(text: str) -> tuple[str, list[str]]:
    """Return the setting that an override changes, and one override per value."""
    from provlab.core.overrides import parse_with_hydra
    from provlab.project.project import conf_files

    parsed = parse_with_hydra(text)
    key = parsed.get_key_element()
    if parsed.is_sweep_override() and parsed.is_discrete_sweep():
        if hasattr(parsed.value(), "filter"):  # a glob of members of a group
            values = parsed.value().filter(
                [path.stem for path in conf_files(parsed.key_or_group)]
            )
        else:
            values = list(
                itertools.islice(parsed.sweep_string_iterator(), MAX_JOBS + 1)
            )
    elif parsed.value_type is not None or "=" in text:
        values = [parsed.get_value_element_as_str()]
    else:
        return key, [key]
    return key, [f"{key}={value}" for value in values]


def fitting_jobs(jobs: Sequence[Job]) -> list[Job]:
    """Return distinct jobs, each without settings that only the selectors or models of other jobs have.

    All features are thus listed once beside methods with several sizes, as in
    artefacts.
    """
    from provlab.core.artefact import applies
    from provlab.core.composition import compose_config
    from provlab.core.overrides import GROUPS, setting

    @cache
    def composed(groups: Job) -> dict[str, Any]:
        return compose_config(groups)

    def fitting(job: Job) -> set[str]:
        """Return the overrides of a job that fit its config."""
        groups = tuple(text for text in job if text.partition("=")[0] in GROUPS)
        try:
            return {text for text in job if applies(text, composed(groups))}
        except ValueError:
            # such as an unknown name, which the composition of the job reports
            return {*job}

    of_jobs = [fitting(job) for job in jobs]
    settings = {setting(text) for overrides in of_jobs for text in overrides}
    distinct: dict[Job, None] = {}
    for job, overrides in zip(jobs, of_jobs, strict=True):
        distinct[
            tuple(
                text
                for text in job
                if text in overrides or setting(text) not in settings
            )
        ] = None
    return list(distinct)


def _sweep(overrides: Sequence[str], *, fail_fast: bool) -> int:
    """Run all jobs, print the table of their cells, and list the failures at the end."""
    from provlab.core.composition import compose_config
    from provlab.core.plan import cells_of

    jobs = fitting_jobs(jobs_of(overrides))
    configs: list[dict[str, Any]] = []
    cells: list[list[Cell]] = []
    refused: dict[Job, str] = {}
    for job in jobs:
        try:
            config = compose_config(job)
            cells.append(cells_of(config))
            configs.append(config)
        except (ValueError, OSError) as error:
            refused[job] = one_line(error)
    if refused:
        _print(
            f"sweep refused, and nothing was run: {len(refused)} of {len(jobs)} jobs:",
            *_by_reason(refused),
        )
        return 1
    for name in ("results", "executor", "fail_fast"):
        if any(config[name] != configs[0][name] for config in configs):
            raise ValueError(
                f"{name}: all jobs of a sweep need the same value, got several; choose one."
            )
    store = _store(configs[0])
    all_cells = list(itertools.chain(*cells))
    # shared trials run once
    report = _run(
        configs[0], all_cells, store, f"{len(jobs)} jobs", fail_fast=fail_fast
    )
    again = _command("-m", *["--fail-fast"] * fail_fast, *overrides)
    reasons = report.reasons(all_cells)
    next_step = _show(all_cells, configs[0], store, again, reasons)
    failures: dict[Job, str] = {}
    for job, of_job in zip(jobs, cells, strict=True):
        failed = [reasons[cell.id] for cell in of_job if cell.id in reasons]
        if failed:
            failures[job] = failed[0]
    if report.stopped:
        lines = [
            f"sweep: {len(failures)} of {len(jobs)} jobs failed, {report.n_skipped} trials skipped"
        ]
    else:
        lines = [
            f"sweep: {len(jobs) - len(failures)} of {len(jobs)} jobs done, {len(failures)} failed"
        ]
    if failures:
        lines += [
            *_by_reason(failures),
            f"Repeating the sweep skips stored trials:\n  {again}",
        ]
    _print(*lines, next_step)
    return 1 if failures else 0


def _command(*arguments: str) -> str:
    """Return a command `provsel run` with the given arguments, quoted for a shell."""
    return shlex.join(["provsel", "run", *arguments])


def _by_reason(failures: Mapping[Job, str]) -> list[str]:
    """Return each reason once, followed by the commands of the jobs that failed for this reason."""
    jobs_of_reason: dict[str, list[Job]] = {}
    for job, reason in failures.items():
        jobs_of_reason.setdefault(reason, []).append(job)
    lines = []
    for reason, jobs in jobs_of_reason.items():
        lines.append(f"failed, {len(jobs)} job{'s' if len(jobs) > 1 else ''}: {reason}")
        lines += [f"  {_command(*job)}" for job in jobs[:LISTED]]
        if len(jobs) > LISTED:
            lines.append(f"  and {len(jobs) - LISTED} more")
    return lines


def _print(*lines: str) -> None:
    print(*lines, sep="\n", file=sys.stderr, flush=True)


COMMANDS = {
    "run": (run_arguments, call_run),
}
"""Functions of each command: one adds its arguments, the other runs it and returns its exit status."""
