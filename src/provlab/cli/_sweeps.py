"""`provsel run`: one run, or a sweep of which every job leaves its outcome in a folder.

Jobs can run in other processes or on other machines, wherever a launcher of Hydra starts them. So they tell the process
that started the sweep by small files, and none of them raises: Hydra would show one stack trace instead of a list.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import secrets
import sys
import textwrap
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import hydra
from hydra import initialize_config_dir
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.types import RunMode
from omegaconf import DictConfig

from provlab.cli._artefacts import failed, run_config, run_main
from provlab.cli._errors import ERRORS
from provlab.cli._guard import INTERRUPTED, called, guarded, one_line, said
from provlab.cli._ledger import Job, Ledger, Outcome, key_of
from provlab.cli._sweep_report import advice, failure_lines, heads, refusal
from provlab.configs import compose_config
from provlab.configs.plain import check_overrides, check_settings_of_hydra, is_of_hydra
from provlab.configs.searching import prepare_hydra
from provlab.project import package_conf
from provlab.runner import RunReport
from provlab.terminal import PlainConsole

TRACEBACK = "HYDRA_FULL_ERROR"
"""Hydra's variable for errors with their stack trace."""

OPTIONS = (
    *("-h", "--help", "--hydra-help", "--version", "-c", "--cfg", "-i", "--info", "-p", "--package"),
    *("-r", "--resolve", "--run", "-sc", "--shell-completion"),
)
"""Options of Hydra that choose no other configs and read no pickle; Hydra takes abbreviations of the others."""

SHORT = 150
"""Letters of a reason while the sweep continues."""


def run_job(config: DictConfig) -> None:
    """Run what Hydra has composed: the only run, or a job of a sweep.

    Raises
    ------
    SystemExit
        When the only run failed; in a sweep only with --fail-fast, and where one job runs after the other.
    """
    job_config = HydraConfig.get()
    if job_config.mode is not RunMode.MULTIRUN:
        status = run_main(config)
        if status:
            sys.exit(status)
        return
    ledger, number = Ledger(Path(job_config.sweep.dir)), int(job_config.job.num)
    if config.fail_fast and ledger.has_failure():
        return
    job = tuple(text for text in job_config.overrides.task if key_of(text) != "fail_fast")
    print(ledger.place(number), ledger.title(job), file=sys.stderr, flush=True)
    outcome = _outcome(config, ledger, number, job)
    if outcome is None:
        return
    ledger.record(outcome)
    if outcome.reason and config.fail_fast and job_config.launcher._target_.endswith(".BasicLauncher"):
        sys.exit(1)  # or Hydra would compose all jobs that are left, only for each to find that it is not wanted


def _outcome(config: DictConfig, ledger: Ledger, number: int, job: Job) -> Outcome | None:
    """Run a job and return what became of it; None when the failure of another one ended it."""

    def stop(report: RunReport) -> bool:
        return failed(report) or ledger.has_failure()

    label = ledger.place(number)
    options: dict[str, Any] = {"label": label, "stop": stop if config.fail_fast else None}
    if "joblib" in HydraConfig.get().launcher._target_:
        # progress bars would write over each other
        options["console"] = PlainConsole(stderr=True, force_terminal=False)
        if not any(key_of(text).split(".")[0] == "executor" for text in job):
            options["executor"] = {"name": "serial"}  # n jobs side by side with n workers each were n x n processes
    try:
        report = run_config(config, **options)
    except (Exception, SystemExit) as error:  # whatever it is, the other jobs continue
        reason = one_line(error)
        print(f"{label} failed: {textwrap.shorten(reason, SHORT)}", file=sys.stderr, flush=True)
        return Outcome(number, job, reason, "" if isinstance(error, ERRORS) else traceback.format_exc())
    return None if report.stopped and not report.failures else Outcome(number, job, report.reason())


@hydra.main(version_base="1.3", config_path=str(package_conf()), config_name="config")
def _run_hydra(config: DictConfig) -> None:
    run_job(config)


def sweep_main(argv: Sequence[str]) -> int:
    """Run Hydra with some arguments, and take those that it does not know; list the failures of a sweep at the end.

    Returns
    -------
    int
        Exit status: 1 when something failed, 2 for bad input, 130 after Ctrl-C.

    Raises
    ------
    SystemExit
        When a single run failed.
    """
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--fail-fast", action="store_true")
    parser.add_argument("-m", "--multirun", action="store_true")
    options, arguments = parser.parse_known_args(list(argv))
    again = called(*argv)
    arguments += ["fail_fast=true"] if options.fail_fast else []
    for_help = {"-h", "--help", "--hydra-help"} & {*arguments}
    overrides = [text for text in arguments if not text.startswith("-") and ("=" in text or text.startswith("~"))]

    def body() -> int:
        _check_options(arguments)
        check_settings_of_hydra(filter(_is_of_hydra, overrides))
        check_overrides(itertools.filterfalse(_is_of_hydra, overrides))
        prepare_hydra(overrides)
        if (options.multirun or "hydra.mode=MULTIRUN" in arguments) and not for_help:
            return _sweep(arguments, overrides, again)
        sys.argv[1:] = arguments
        _run_hydra()
        return 0

    return guarded(body)


def _sweep(arguments: Sequence[str], overrides: Sequence[str], again: str) -> int:
    if any(key_of(text) == "hydra.sweep.dir" for text in overrides):
        raise ValueError(
            "hydra.sweep.dir: expected not to be set, got a folder: each sweep has its own below results/sweeps; "
            "use results=FOLDER for another place."
        )
    jobs = _jobs(overrides)
    results = Path(compose_config([text for text in overrides if key_of(text) == "results"]).results)
    ledger = Ledger(results / "sweeps" / secrets.token_hex(4))
    ledger.begin(jobs)
    folder = json.dumps(str(ledger.folder), ensure_ascii=False)
    sys.argv[1:] = ["-m", *arguments, f"hydra.sweep.dir={folder}"]
    status = _call()
    outcomes = ledger.outcomes()
    failures = [outcome for outcome in outcomes if outcome.reason]
    status = status or int(len(outcomes) < len(jobs) or bool(failures))
    lines, kept = refusal(ledger, jobs) if status == 1 and not outcomes else [], ""
    if not lines:
        lines = heads(ledger, jobs, outcomes, interrupted=status == INTERRUPTED)
        end = advice(failures, [text for text in overrides if _is_of_hydra(text)], again) if status else []
        if failures:
            surprises = [f"\n{ledger.title(each.overrides)}\n{each.details}" for each in failures if each.details]
            kept = "\n".join([*lines, *failure_lines(failures, len(failures)), *end, *surprises, ""])
            what = "This list, with tracebacks," if surprises else "This list"
            end.append(f"{what} stays in {ledger.folder / 'failures.txt'}")
        lines += [*failure_lines(failures), *end]
    ledger.end(went_well=status == 0, kept=kept)
    print("\n".join(lines), file=sys.stderr)
    return status


def _call() -> int:
    """Call Hydra and return an exit status; what it raises is shown as one message, unless the user wants it all."""
    wanted = os.environ.get(TRACEBACK)
    os.environ[TRACEBACK] = "1"  # else Hydra prints errors itself, those of launchers with their stack trace
    try:
        _run_hydra()
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as stop:  # of a job with --fail-fast
        return 1 if stop.code else 0
    except Exception as error:
        text = said(error) if isinstance(error, ERRORS) else one_line(error)
        print(traceback.format_exc() if wanted == "1" else f"provsel: {text}", file=sys.stderr)
        return 1
    finally:
        if wanted is None:
            del os.environ[TRACEBACK]
        else:
            os.environ[TRACEBACK] = wanted
    return 0


def _jobs(overrides: Sequence[str]) -> list[Job]:
    """Return the jobs that Hydra will make of overrides: all combinations of their values, the last varies first."""
    prepare_hydra(overrides)
    with initialize_config_dir(config_dir=str(package_conf()), version_base="1.3"):
        parser = OverridesParser.create(config_loader=GlobalHydra.instance().config_loader())  # it knows globs
        choices = {}
        for override in parser.parse_overrides(list(overrides)):
            key = override.get_key_element()
            if _is_of_hydra(key) or key == "fail_fast":
                continue
            swept = override.is_sweep_override() and override.is_discrete_sweep()
            values = override.sweep_string_iterator() if swept else [override.get_value_element_as_str()]
            choices[key] = [f"{key}={value}" for value in values]
    return list(itertools.product(*choices.values()))


def _check_options(arguments: Sequence[str]) -> None:
    for text in arguments:
        if text.startswith("-") and text.partition("=")[0] not in OPTIONS:
            raise ValueError(
                f"run: expected settings such as dataset=digits, -m, --fail-fast, or one of {', '.join(OPTIONS)}, got "
                f"{text!r:.80}; configs of your own belong into conf/ of a project."
            )


def _is_of_hydra(override: str) -> bool:
    return is_of_hydra(override.partition("=")[0])
