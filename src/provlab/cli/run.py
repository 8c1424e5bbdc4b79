"""Run one cell, or with -m a job for each combination of some values."""

from __future__ import annotations

import argparse
import itertools
import json
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from provlab.cli.commands import add_settings, one_line
from provlab.messages import to_install

if TYPE_CHECKING:
    from provlab.identity.cell import Cell
    from provlab.run.runner import RunReport
    from provlab.store import TrialStore

MAX_JOBS = 100_000

LISTED = 20
"""Jobs that are printed for each reason of failures."""

Job = tuple[str, ...]
"""Overrides."""

Outcome = str | None
"""Why a job failed, "" where it did not, None where it was not finished."""

_OF_LAUNCHERS = re.compile(
    r"hydra/launcher=[\w-]+|(\+*hydra\.launcher\.\w+(\.\w+)*|hydra\.verbose|hydra\.job\.name)=.*", re.DOTALL
)


def run_arguments(parser: argparse.ArgumentParser) -> None:
    """Add how to run; settings are Hydra's overrides."""
    parser.epilog = (
        "GROUP=NAME chooses a file of conf/GROUP (provsel list), GROUP.SETTING=VALUE changes a setting of it, and + "
        "adds one. With -m a setting takes several values, as in a,b or range(1,4): each combination is a job, and "
        "shared trials run once. hydra/launcher=joblib|slurm|... starts each job as a process or a job of SLURM. "
        "Interrupt at any time; the same command resumes. The run ends with a table. It is written below "
        "results/runs, with a figure and the selected features; provsel report shows them."
    )
    parser.add_argument("-m", "--multirun", action="store_true", help="run a job for each combination of values")
    parser.add_argument("--fail-fast", action="store_true", help="end the run at the first failed trial")
    parser.add_argument("-c", "--cfg", choices=["job"], help="print the config, and compute nothing")
    parser.add_argument("-r", "--resolve", action="store_true", help="with --cfg: resolve references")
    add_settings(parser, "dataset=digits")


def call_run(options: argparse.Namespace) -> int:
    """Run a cell or a sweep; the exit status is 1 where something failed."""
    from omegaconf import OmegaConf

    from provlab.plan import cells_of, compose_config
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
        print(OmegaConf.to_yaml(OmegaConf.create(config), resolve=options.resolve), end="")
        return 0
    cells = cells_of(config)
    report = run_config(config, cells, fail_fast=options.fail_fast)
    _say(_show(cells, config, _command(*overrides)))
    return 1 if report.failures else 0


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


def run_config(
    config: Mapping[str, Any],
    cells: Sequence[Cell],
    *,
    fail_fast: bool = False,
    label: str = "cell",
    executor: Mapping[str, Any] | None = None,
) -> RunReport:
    """Run cells where a composed config says, and say how many trials there were."""
    from provlab.plan import executor_settings
    from provlab.run.runner import run_cells

    store, fail_fast = _store(config), fail_fast or config["fail_fast"]
    report = run_cells(cells, store, executor or executor_settings(config), label=label, fail_fast=fail_fast)
    print(report.summary(), file=sys.stderr, flush=True)
    return report


def _store(config: Mapping[str, Any]) -> TrialStore:
    from provlab.plan import results_folder
    from provlab.store import TrialStore

    return TrialStore(results_folder(config) / "store")


def _show(cells: Sequence[Cell], config: Mapping[str, Any], command: str) -> str:
    """Print the table of some cells and write it with its figure; return where these are, and what to do next."""
    from provlab.own_runs import FOLDER, RunTable, own_run
    from provlab.plan import results_folder
    from provlab.project import tool
    from provlab.terminal import PlainConsole, table

    results, found = results_folder(config), RunTable.of(own_run(command, cells), _store(config))
    PlainConsole().print(table(found.lines))
    folder, pages = results / FOLDER / found.run.name, ["report"]
    if str(results) != "results":
        pages += ["--results", str(results)]
    try:
        [shown, *_] = [*found.write(folder), folder / "table.md"]
    except ModuleNotFoundError as error:
        shown = folder / "table.md"
        return f"no figure, as {error.name} is missing: {to_install('report')}; the table is {shown}"
    return f"table and figure: {shown}; pages that name the features: {shlex.join([tool('provsel'), *pages])}"


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


def fitting_jobs(jobs: Sequence[Job]) -> list[Job]:
    """Return distinct jobs, each without the settings that its selector or model lacks and that of another job has.

    So all features stand once beside methods at several sizes, as in artefacts.
    """
    from provlab.plan import compose_config
    from provlab.plan.artefact import applies
    from provlab.plan.overrides import GROUPS, setting

    @cache
    def composed(groups: Job) -> dict[str, Any]:
        return compose_config(groups)

    def taken(job: Job) -> set[str]:
        groups = tuple(text for text in job if text.partition("=")[0] in GROUPS)
        try:
            return {text for text in job if applies(text, composed(groups))}
        except ValueError:  # such as a name that does not exist, which is said where the job is composed
            return {*job}

    of_jobs = [taken(job) for job in jobs]
    known = {setting(text) for texts in of_jobs for text in texts}
    kept = [
        tuple(text for text in job if text in texts or setting(text) not in known)
        for job, texts in zip(jobs, of_jobs, strict=True)
    ]
    return list(dict.fromkeys(kept))


def _sweep(overrides: Sequence[str], of_launcher: Sequence[str], *, fail_fast: bool) -> int:
    """Run all jobs, print the table of their cells, and list at the end what failed."""
    from provlab.plan import cells_of, compose_config

    jobs = fitting_jobs(jobs_of(overrides))
    configs: list[dict[str, Any]] = []
    cells: list[list[Cell]] = []
    refused: dict[Job, Outcome] = {}
    for job in jobs:
        try:
            configs.append(compose_config(job))
            cells.append(cells_of(configs[-1]))
        except (ValueError, OSError) as error:
            refused[job] = one_line(error)
    if refused:
        _say(f"sweep: refused, nothing was run; {len(refused)} of {len(jobs)} jobs:", *_by_reason(refused))
        return 1
    named = [text.partition("=")[2] for text in of_launcher if text.startswith("hydra/launcher=")]
    if named and named[-1] != "basic":
        outcomes = _launched(jobs, of_launcher, configs[0], fail_fast=fail_fast)
    else:
        outcomes = _together(configs, cells, fail_fast=fail_fast)
    again = _command("-m", *["--fail-fast"] * fail_fast, *of_launcher, *overrides)
    shown = _show([*itertools.chain(*cells)], configs[0], again)
    failures = {job: reason for job, reason in zip(jobs, outcomes, strict=True) if reason}
    n_skipped = outcomes.count(None)
    skipped = f", {n_skipped} skipped or not finished" if n_skipped else ""
    _say(f"sweep: {outcomes.count('')} of {len(jobs)} jobs done, {len(failures)} failed{skipped}")
    if failures or n_skipped:
        _say(*_by_reason(failures), f"The same sweep again skips what is stored:\n  {again}")
    _say(shown)
    return 1 if failures or n_skipped else 0


def _together(
    configs: Sequence[Mapping[str, Any]], cells: Sequence[Sequence[Cell]], *, fail_fast: bool
) -> list[Outcome]:
    """Run the cells of all jobs as one run, in which shared trials run once."""
    from provlab.plan import trials_of, unique_cells

    for name in ("results", "executor", "fail_fast"):
        if any(other[name] != configs[0][name] for other in configs):
            raise ValueError(f"{name}: expected the same in all jobs of a sweep, got several; choose one.")
    label = f"{len(configs)} jobs"
    report = run_config(configs[0], [*itertools.chain(*cells)], fail_fast=fail_fast, label=label)
    if not report.failures and not report.stopped:
        return [""] * len(configs)
    reasons, stored = {key: reason for key, _, reason in report.failures}, _store(configs[0]).keys()
    outcomes: list[Outcome] = []
    for own in cells:
        keys = [key for cell in unique_cells(own) for *_, key in trials_of(cell)]
        missing = [key for key in keys if key not in stored]
        failed = [reasons[key] for key in missing if key in reasons]
        text = f"{len(failed)} of {len(keys)} trials failed: {failed[0]}" if failed else ""
        outcomes.append(None if missing and not failed else text)
    return outcomes


def _launched(
    jobs: Sequence[Job], of_launcher: Sequence[str], config: Mapping[str, Any], *, fail_fast: bool
) -> list[Outcome]:
    """Run each job where a launcher of Hydra starts it: Hydra sees its own settings, and a job's number."""
    from hydra import compose, initialize_config_dir
    from hydra._internal.callbacks import Callbacks
    from hydra.core.global_hydra import GlobalHydra
    from hydra.core.plugins import Plugins
    from hydra.types import HydraContext

    from provlab.plan import results_folder
    from provlab.project import package_conf

    folder = results_folder(config) / "sweeps"  # of what a launcher writes about its jobs
    place = json.dumps(str(folder), ensure_ascii=False)
    quiet = ["hydra.output_subdir=null", "hydra/job_logging=none", "hydra/hydra_logging=none"]
    settings = [*quiet, *of_launcher, f"hydra.sweep.dir={place}", "hydra.sweep.subdir=.", "hydra.mode=MULTIRUN"]
    try:
        with initialize_config_dir(config_dir=str(package_conf()), version_base="1.3", job_name="provsel"):
            whole = compose("config", overrides=settings, return_hydra_config=True)
            context = HydraContext(config_loader=GlobalHydra.instance().config_loader(), callbacks=Callbacks())
            launcher = Plugins.instance().instantiate_launcher(
                hydra_context=context, task_function=partial(_job, jobs, fail_fast), config=whole
            )
            returned = launcher.launch([[f"+job={number}"] for number in range(len(jobs))], initial_job_idx=0)
    except Exception as error:  # of a launcher, which may raise anything; jobs raise nothing
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ValueError(f"hydra/launcher: expected one that starts the jobs, got {reason}") from error
    with suppress(OSError):
        folder.rmdir()
    return [each.return_value for each in returned]


def _job(jobs: Sequence[Job], fail_fast: bool, config: Any) -> Outcome:
    """Run one job in the process of a launcher; whatever it raises, the other jobs continue."""
    from provlab.plan import cells_of, compose_config
    from provlab.plan.overrides import setting
    from provlab.terminal import visible_output

    job, place = jobs[config.job], f"[{config.job + 1}/{len(jobs)}]"
    # n jobs side by side with n workers each would be n x n processes
    executor = None if any(setting(text).split(".")[0] == "executor" for text in job) else {"name": "serial"}
    with visible_output():
        try:
            own = compose_config(job)
            report = run_config(own, cells_of(own), fail_fast=fail_fast, label=place, executor=executor)
            return report.reason()
        except Exception as error:
            return one_line(error)


def _command(*arguments: str) -> str:
    """Return `provsel run` with some arguments, to be pasted into a shell."""
    return shlex.join(["provsel", "run", *arguments])


def _by_reason(failures: Mapping[Job, Outcome]) -> list[str]:
    """Return each reason once, and below it the commands of the jobs that failed for it."""
    jobs: dict[Outcome, list[str]] = {}
    for job, reason in failures.items():
        jobs.setdefault(reason, []).append(_command(*job))
    lines = []
    for reason, found in jobs.items():
        lines += [f"failed, {len(found)} job{'s' * (len(found) > 1)}: {reason}"]
        lines += [f"  {each}" for each in found[:LISTED]]
        lines += [f"  and {len(found) - LISTED} more"] * (len(found) > LISTED)
    return lines


def _say(*lines: str) -> None:
    print(*lines, sep="\n", file=sys.stderr, flush=True)
