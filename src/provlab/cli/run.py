"""Run one cell, or with -m a job for each combination of some values."""

from __future__ import annotations

import argparse
import itertools
import re
import secrets
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from provlab.cli.arguments import Command, add_settings

if TYPE_CHECKING:
    from provlab.identity.cell import Cell
    from provlab.run.runner import RunReport
    from provlab.store import TrialStore

MAX_JOBS = 100_000
LISTED = 20
"""Jobs that are printed of each list."""

Job = tuple[str, ...]
"""Overrides."""

_OF_LAUNCHERS = re.compile(
    r"hydra/launcher=[\w-]+|(\+*hydra\.launcher\.\w+(\.\w+)*|hydra\.verbose|hydra\.job\.name)=.*", re.DOTALL
)


def run_arguments(parser: argparse.ArgumentParser) -> None:
    """Add how to run; settings are Hydra's overrides."""
    parser.epilog = (
        "GROUP=NAME chooses a file of conf/GROUP (provsel list), GROUP.SETTING=VALUE changes a setting of it, and + "
        "adds one. With -m a setting takes several values, as in a,b or range(1,4): each combination is a job, and "
        "trials that jobs share run once. hydra/launcher=joblib|slurm|... starts each job as a process or a job of "
        "SLURM. Interrupt at any time; the same command resumes."
    )
    parser.add_argument("-m", "--multirun", action="store_true", help="run a job for each combination of values")
    parser.add_argument("--fail-fast", action="store_true", help="end the run at the first trial that fails")
    parser.add_argument("-c", "--cfg", choices=["job"], help="print the config, and compute nothing")
    parser.add_argument("-p", "--package", metavar="GROUP", help="with --cfg: only this part, such as selector")
    parser.add_argument("-r", "--resolve", action="store_true", help="with --cfg: with the values of references")
    add_settings(parser, "dataset=digits")


def call_run(options: argparse.Namespace) -> int:
    """Run a cell or a sweep; the exit status is 1 where something failed."""
    from provlab.plan import compose_config
    from provlab.plan.overrides import is_of_hydra

    of_launcher = [text for text in options.overrides if is_of_hydra(text.partition("=")[0])]
    check_launcher(of_launcher)
    overrides = [text for text in options.overrides if text not in of_launcher]
    if options.multirun:
        return _sweep(overrides, of_launcher, fail_fast=options.fail_fast)
    if of_launcher:
        raise ValueError(f"override {of_launcher[0]!r:.80}: expected -m with a launcher of Hydra; add it.")
    config = compose_config(overrides)
    if options.cfg:
        print(config_text(config, options.package, resolve=options.resolve), end="")
        return 0
    return 1 if run_config(config, fail_fast=options.fail_fast).failures else 0


def check_launcher(overrides: Sequence[str]) -> None:
    """Refuse settings by which Hydra would make any object or write any file that it is told to.

    Raises
    ------
    ValueError
        Names the override and those that there are.
    """
    from provlab.plan.overrides import check_size

    for text in overrides:
        check_size(text)
        if not _OF_LAUNCHERS.fullmatch(text) or "_target_" in text or re.search(r"\$\{(?!oc\.env:)", text):
            raise ValueError(
                f"override {text!r:.80}: expected hydra/launcher=NAME, hydra.launcher.NAME=VALUE, hydra.job.name=NAME "
                f"or hydra.verbose=true, without a reference or _target_; leave it out."
            )


def config_text(config: Mapping[str, Any], package: str | None, *, resolve: bool) -> str:
    """Return a config, or one part of it, as YAML."""
    from omegaconf import OmegaConf

    from provlab.plan.overrides import check_names

    if package is not None:
        check_names("--package", [package], config)
    whole = OmegaConf.create(dict(config))
    if resolve:
        OmegaConf.resolve(whole)
    return OmegaConf.to_yaml(whole if package is None else OmegaConf.create({package: whole[package]}))


def run_config(
    config: Mapping[str, Any],
    *,
    fail_fast: bool = False,
    label: str = "cell",
    executor: Mapping[str, Any] | None = None,
) -> RunReport:
    """Run the cells of a composed config, and print their errors."""
    from provlab.plan import cells_of, executor_settings, results_folder
    from provlab.run.runner import has_failed, run_cells
    from provlab.store import TrialStore

    config = dict(config)
    cells, store = cells_of(config), TrialStore(results_folder(config) / "store")
    stop = has_failed if fail_fast or config["fail_fast"] else None
    report = run_cells(cells, store, executor or executor_settings(config), label=label, stop=stop)
    _say([report.summary()])
    print(*_cell_lines(cells, store), sep="\n", flush=True)
    return report


def _cell_lines(cells: Sequence[Cell], store: TrialStore) -> list[str]:
    """Return a line for each cell: what it is, and its error or its time."""
    from provlab.frames import planned_trials
    from provlab.messages import visible_line

    trials = planned_trials(store, cells, ["error", "nmi", "ari", "n_selected", "select_cpu", "shared_cpu"])
    lines = []
    for place, cell in enumerate(cells):
        found = trials[trials["place"] == place]
        name = " ".join(f"{key}={value}" for key, value in cell.dataset.items() if key in ("name", "set", "path"))
        selector = " ".join(f"{key}={value}" for key, value in cell.selector.items() if key != "_target_")
        target = str(cell.selector["_target_"]).rsplit(".", 1)[-1]
        numbers = "no trials" if found.empty else f"{_measured(cell, found)}, {len(found)} trials"
        lines.append(visible_line(f"{name} {target} {selector} | {numbers}"))
    return lines


def _measured(cell: Cell, trials: Any) -> str:
    from provlab.frames import error_summary
    from provlab.plan import Entry

    if cell.protocol["split"] == "selection_only":
        cpu = (trials["select_cpu"] + trials["shared_cpu"]).median()
        return f"{trials['n_selected'].mean():.0f} features in {cpu:.3g} CPU seconds"
    [error] = error_summary(Entry("", "", cell), trials)
    text = f"error {error['value']:.2f} % (sd {error['sd']:.2f})"
    if cell.protocol["split"] == "all_rows":
        text += f", NMI {trials['nmi'].mean():.3f}, ARI {trials['ari'].mean():.3f}"
    return text


# ---- sweeps


def jobs_of(overrides: Sequence[str]) -> list[Job]:
    """Return all combinations of the values of overrides, in Hydra's grammar of sweeps; the last varies first."""
    from provlab.plan.overrides import parse_with_hydra
    from provlab.project import conf_files

    choices: dict[str, list[str]] = {}
    for text in overrides:
        parsed = parse_with_hydra(text)
        key, values = parsed.get_key_element(), None
        if parsed.is_sweep_override() and parsed.is_discrete_sweep():
            if hasattr(parsed.value(), "filter"):  # a glob over the members of a group
                values = parsed.value().filter([path.stem for path in conf_files(parsed.key_or_group)])
            else:
                values = list(itertools.islice(parsed.sweep_string_iterator(), MAX_JOBS + 1))
        elif parsed.value_type is not None or "=" in text:
            values = [parsed.get_value_element_as_str()]
        choices[key] = [key] if values is None else [f"{key}={value}" for value in values]
    jobs = list(itertools.islice(itertools.product(*choices.values()), MAX_JOBS + 1))
    if len(jobs) > MAX_JOBS:
        raise ValueError(f"run -m: expected at most {MAX_JOBS} jobs, got more; sweep over fewer values.")
    return jobs


def _sweep(overrides: Sequence[str], of_launcher: Sequence[str], *, fail_fast: bool) -> int:
    """Run all jobs, print a line for each, and list at the end what failed."""
    from provlab.plan import cells_of, compose_config

    jobs = jobs_of(overrides)
    titles = _titles(jobs)
    planned: list[tuple[dict[str, Any], list[Cell]]] = []
    refused = {}
    for job, title in zip(jobs, titles, strict=True):
        try:
            config = compose_config(job)
            planned.append((config, cells_of(config)))
        except (ValueError, OSError) as error:
            refused[title] = " ".join(str(error).split())
    if refused:
        _say([f"sweep: refused, nothing was run; {len(refused)} of {len(jobs)} jobs:", *_by_reason(refused)])
        return 1
    run_jobs = partial(_launched, of_launcher) if _names_launcher(of_launcher) else _together
    outcomes = run_jobs(jobs, titles, planned, fail_fast)
    failures = {command(*job): reason for job, reason in zip(jobs, outcomes, strict=True) if reason}
    n_skipped = outcomes.count(None)
    skipped = f", {n_skipped} skipped or not finished" * bool(n_skipped)
    _say([f"sweep: {outcomes.count('')} of {len(jobs)} jobs done, {len(failures)} failed{skipped}"])
    if not failures and not n_skipped:
        return 0
    again = command("-m", *["--fail-fast"] * fail_fast, *of_launcher, *overrides)
    _say([*_by_reason(failures), f"The same sweep again skips what is stored:\n  {again}"])
    return 1


def command(*arguments: str) -> str:
    """Return `provsel run` with some arguments, to be pasted into a shell."""
    return shlex.join(["provsel", "run", *arguments])


def _by_reason(failures: Mapping[str, str]) -> list[str]:
    """Return each reason once, and below it the jobs that failed for it."""
    jobs: dict[str, list[str]] = {}
    for job, reason in failures.items():
        jobs.setdefault(reason, []).append(job)
    lines = []
    for reason, found in jobs.items():
        lines += [
            f"failed, {len(found)} job{'s' * (len(found) > 1)}: {reason}",
            *(f"  {job}" for job in found[:LISTED]),
        ]
        lines += [f"  and {len(found) - LISTED} more"] * (len(found) > LISTED)
    return lines


def _say(lines: Sequence[str]) -> None:
    print(*lines, sep="\n", file=sys.stderr, flush=True)


def _titles(jobs: Sequence[Job]) -> list[str]:
    """Return the settings that each job has to itself."""
    varying = [place for place, values in enumerate(zip(*jobs, strict=True)) if len({*values}) > 1]
    return [" ".join(job[place] for place in varying) or " ".join(job) for job in jobs]


Planned = Sequence[tuple[dict[str, Any], list["Cell"]]]
"""The config of each job, and its cells."""

Outcome = str | None
"""Why a job failed, "" where it did not, None where it was not finished."""


def _together(jobs: Sequence[Job], titles: Sequence[str], planned: Planned, fail_fast: bool) -> list[Outcome]:
    """Run the cells of all jobs as one run, in which trials that jobs share run once."""
    from provlab.plan import executor_settings, results_folder, trials_of, unique_cells
    from provlab.run.runner import has_failed, run_cells
    from provlab.store import TrialStore

    config = planned[0][0]
    for name in ("results", "executor", "fail_fast"):
        if any(other[name] != config[name] for other, _ in planned):
            raise ValueError(f"{name}: expected the same in all jobs of a sweep, got several; choose one.")
    store = TrialStore(results_folder(config) / "store")
    stop = has_failed if fail_fast or config["fail_fast"] else None
    cells = [cell for _, found in planned for cell in found]
    report = run_cells(cells, store, executor_settings(config), label=f"{len(jobs)} jobs", stop=stop)
    _say([report.counts()])
    reasons = {key: reason for key, _, reason in report.failures}
    done = store.keys() if reasons or report.stopped else frozenset()
    lines = iter(_cell_lines(cells, store))
    outcomes: list[Outcome] = []
    for number, (title, (_, found)) in enumerate(zip(titles, planned, strict=True), start=1):
        keys = [key for cell in unique_cells(found) for *_, key in trials_of(cell)] if reasons or report.stopped else []
        failed = [reasons[key] for key in keys if key in reasons]
        left = sum(key not in done for key in keys) - len(failed)
        outcomes.append(f"{len(failed)} of {len(keys)} trials failed: {failed[0]}" if failed else None if left else "")
        place = f"[{number}/{len(jobs)}]"
        print(*(f"{place} {line}" for line in itertools.islice(lines, len(found))), sep="\n", flush=True)
        _say([f"{place} {title}: {_said(outcomes[-1])}"])
    return outcomes


def _said(outcome: Outcome) -> str:
    return "skipped or not finished" if outcome is None else "failed" if outcome else "done"


def _names_launcher(of_launcher: Sequence[str]) -> bool:
    chosen = [text.partition("=")[2] for text in of_launcher if text.startswith("hydra/launcher=")]
    return bool(chosen) and chosen[-1] != "basic"


def _launched(
    of_launcher: Sequence[str], jobs: Sequence[Job], titles: Sequence[str], planned: Planned, fail_fast: bool
) -> list[Outcome]:
    """Run each job where a launcher of Hydra starts it: Hydra sees its own settings, and a job's number."""
    import json

    from hydra import compose, initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra
    from hydra.core.plugins import Plugins
    from hydra.types import HydraContext

    from provlab.plan import results_folder
    from provlab.project import package_conf

    folder = results_folder(planned[0][0]) / "sweeps" / secrets.token_hex(4)
    settings = [*of_launcher, f"hydra.sweep.dir={json.dumps(str(folder), ensure_ascii=False)}", "hydra.mode=MULTIRUN"]
    task: Callable[..., Any] = partial(_job, list(jobs), list(titles), fail_fast)
    try:
        with initialize_config_dir(config_dir=str(package_conf()), version_base="1.3", job_name="provsel"):
            config = compose("config", overrides=settings, return_hydra_config=True)
            from hydra._internal.callbacks import Callbacks

            context = HydraContext(config_loader=GlobalHydra.instance().config_loader(), callbacks=Callbacks())
            launcher = Plugins.instance().instantiate_launcher(hydra_context=context, task_function=task, config=config)
            returned = launcher.launch([[f"+job={number}"] for number in range(len(jobs))], initial_job_idx=0)
    except Exception as error:  # of a launcher, which may raise anything; jobs raise nothing
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ValueError(f"hydra/launcher: expected one that starts the jobs, got {reason}") from error
    outcomes: list[Outcome] = [each.return_value for each in returned]
    if not any(outcomes):
        shutil.rmtree(folder, ignore_errors=True)
    for each in (folder, folder.parent):  # what a launcher has written of failed jobs stays, as it may tell more
        with suppress(OSError):
            each.rmdir()
    return outcomes


def _job(jobs: Sequence[Job], titles: Sequence[str], fail_fast: bool, config: Any) -> Outcome:
    """Run one job in the process of a launcher; whatever it raises, the other jobs continue."""
    from provlab.plan import compose_config
    from provlab.plan.overrides import setting
    from provlab.terminal import visible_output

    number = int(config.job)
    job, place = jobs[number], f"[{number + 1}/{len(jobs)}]"
    chosen = any(setting(text).split(".")[0] == "executor" for text in job)
    with visible_output():
        try:
            # n jobs side by side with n workers each would be n x n processes
            executor = None if chosen else {"name": "serial"}
            report = run_config(compose_config(job), fail_fast=fail_fast, label=place, executor=executor)
            outcome = report.reason()
        except Exception as error:
            outcome = " ".join(f"{type(error).__name__}: {error}".split())
        _say([f"{place} {titles[number]}: {_said(outcome)}"])
    return outcome


COMMANDS = {
    "run": Command(
        "run one cell, or with -m a sweep over cells",
        "provsel run -m dataset=digits selector=bss,leverage",
        run_arguments,
        call_run,
    ),
}
