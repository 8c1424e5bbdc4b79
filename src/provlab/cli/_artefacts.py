"""Reproduce artefacts, and run the cells of one config."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from omegaconf import DictConfig
from rich.console import Console

from provlab.cli._guard import guarded
from provlab.configs import Artefact, Entry, artefact_part, cells_of, compose_artefact, executor_settings
from provlab.frames import error_summary, planned_trials
from provlab.identity.cell import Cell
from provlab.messages import visible_line
from provlab.project import reproduce_command
from provlab.recipe import Recipe
from provlab.runner import RunReport, run_cells
from provlab.store import TrialStore

ALONE = "serial"
"""The executor that files of artefacts ask for which measure times."""


def reproduce(recipe: Recipe, overrides: Sequence[str] = (), *, render: bool = False, fail_fast: bool = False) -> int:
    """Run what an artefact is missing, write its CSV, and render it.

    Parameters
    ----------
    recipe : Recipe
    overrides : sequence of str
        Settings in Hydra's grammar.
    render : bool, default=False
        Render what the store has and compute nothing.
    fail_fast : bool, default=False
        End the run at the first trial that fails.

    Returns
    -------
    int
        Exit status: 1 where a trial failed.
    """
    artefact = compose_artefact(recipe.name, overrides)
    results = Path(artefact.config.results)
    store = TrialStore(results / "store")
    report = RunReport()
    if not render:
        stop = failed if fail_fast or artefact.config.fail_fast else None
        if note := executor_note(artefact):
            print(note, file=sys.stderr)
        report = _run(artefact.cells, store, artefact.config, label=recipe.name, stop=stop)
        print(report.counts(), file=sys.stderr)
    if not report.stopped:  # who wants to see a failure at once does not want a table to bury it
        frame = recipe.frame(artefact, store)
        print(recipe.write(artefact, store, frame, results / "tables" / recipe.name, results / "figures" / recipe.name))
        print("Where a number comes from: provsel report, or provsel explain.", file=sys.stderr)
    if report.failures:
        # after the table, where it is seen
        again = reproduce_command(recipe.name, [*overrides, *(["--fail-fast"] if fail_fast else [])])
        print("\n".join(_failure_lines(report, again)), file=sys.stderr)
    return 1 if report.failures else 0


def executor_note(artefact: Artefact) -> str:
    """Return what is wrong with the executor of an artefact whose file asks for one process, else nothing."""
    used = executor_settings(artefact.config)["name"]
    if used == ALONE or artefact_part(artefact.name, "executor")["name"] != ALONE:
        return ""
    return (
        f"{artefact.name}: expected executor={ALONE}, as its file has it for the times that it measures, got {used}; "
        f"trials side by side take longer: leave executor=... out, unless times do not matter to you."
    )


def _failure_lines(report: RunReport, again: str) -> list[str]:
    """Return what failed, and what to do."""
    first = f"{len(report.failures)} of {report.n_planned} trials failed:"
    if report.stopped:
        first = f"Stopped at the first failure, {report.n_skipped} trials skipped, nothing rendered:"
    return [
        first,
        *(f"  {line}" for line in report.kinds()),
        "What was computed is stored. To try again what is missing, and nothing else:",
        f"  {again}",
    ]


def failed(report: RunReport) -> bool:
    """Tell whether a run has seen a failure: with --fail-fast, when it ends."""
    return bool(report.failures)


def run_main(config: DictConfig) -> int:
    """Run the cells of a composed config and print their errors: `provsel run` without -m."""

    def body() -> int:
        report = run_config(config, stop=failed if config.fail_fast else None)
        return 1 if report.failures else 0

    return guarded(body)


def run_config(
    config: DictConfig,
    *,
    label: str = "",
    stop: Callable[[RunReport], bool] | None = None,
    executor: Mapping[str, Any] | None = None,
    console: Console | None = None,
) -> RunReport:
    """Run the cells of a composed config and print their errors.

    Parameters
    ----------
    config : DictConfig
    label : str, optional
        Stands before what is said of the run.
    stop, console : optional
        See `run_cells`.
    executor : mapping, optional
        Instead of the config's.
    """
    cells = cells_of(config)
    store = TrialStore(Path(config.results) / "store")
    report = _run(cells, store, config, label=label or "cell", stop=stop, executor=executor, console=console)
    print(f"{label} {report.summary()}".lstrip(), file=sys.stderr, flush=True)
    names = ["error", "nmi", "ari", "n_selected", "select_cpu", "shared_cpu"]
    trials = planned_trials(store, cells, names)
    for place, cell in enumerate(cells):
        found = trials[trials["place"] == place]
        name = " ".join(f"{key}={value}" for key, value in cell.dataset.items() if key in ("name", "set", "path"))
        selector = " ".join(f"{key}={value}" for key, value in cell.selector.items() if key != "_target_")
        target = str(cell.selector["_target_"]).rsplit(".", 1)[-1]
        print(visible_line(f"{name} {target} {selector} | {_numbers(cell, found)}"), flush=True)
    return report


def _numbers(cell: Cell, trials: pd.DataFrame) -> str:
    """Return what one line says of the trials of a cell."""
    if trials.empty:
        return "no trials"
    return f"{_measured(cell, trials)}, {len(trials)} trials"


def _measured(cell: Cell, trials: pd.DataFrame) -> str:
    if cell.protocol["split"] == "selection_only":
        cpu = (trials["select_cpu"] + trials["shared_cpu"]).median()
        return f"{trials['n_selected'].mean():.0f} features in {cpu:.3g} CPU seconds"
    [error] = error_summary(Entry("", "", cell), trials)
    text = f"error {error['value']:.2f} % (sd {error['sd']:.2f})"
    if cell.protocol["split"] == "all_rows":
        text += f", NMI {trials['nmi'].mean():.3f}, ARI {trials['ari'].mean():.3f}"
    return text


def _run(
    cells: list[Cell],
    store: TrialStore,
    config: DictConfig,
    *,
    executor: Mapping[str, Any] | None = None,
    **options: Any,
) -> RunReport:
    return run_cells(cells, store, executor_settings(config) if executor is None else executor, **options)
