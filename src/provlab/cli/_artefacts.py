"""The bodies of the scripts below experiments/."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from omegaconf import DictConfig, OmegaConf
from rich.console import Console

from provlab.cli._guard import called, guarded
from provlab.configs import Entry, cells_of, compose_artefact
from provlab.reports.frames import error_summary
from provlab.reports.recipe import Recipe
from provlab.runner import RunReport, run_cells
from provlab.store import TrialStore
from provlab.trials import Cell


def artefact_main(recipe: Recipe, argv: Sequence[str] | None = None) -> int:
    """Run what an artefact is missing, write its CSV, and render it: the body of every artefact script.

    Parameters
    ----------
    recipe : Recipe
    argv : sequence of str, optional
        Overrides in Hydra's grammar; `--render` renders what the store has and computes nothing; `--fail-fast` ends
        the run at the first trial that fails.
    """
    parser = argparse.ArgumentParser(
        description=f"Reproduce {recipe.name}: compute what is missing, write tables and figures below results/.",
        epilog="Example: protocol.repeats=1 executor=serial. Interrupt at any time; the same command goes on.",
    )
    parser.add_argument("--render", action="store_true", help="render what is stored, compute nothing")
    parser.add_argument("--fail-fast", action="store_true", help="end the run at the first trial that fails")
    parser.add_argument("overrides", nargs="*", help="settings in Hydra's grammar")
    options = parser.parse_intermixed_args(argv)  # settings may stand on both sides of --render
    again = called(*sys.argv[1:]) if argv is None else called(*argv, script=f"experiments/{recipe.name}.py")
    return guarded(lambda: _reproduce(recipe, options, again))


def _reproduce(recipe: Recipe, options: argparse.Namespace, again: str) -> int:
    artefact = compose_artefact(recipe.name, options.overrides)
    results = Path(artefact.config.results)
    store = TrialStore(results / "store")
    report = RunReport()
    if not options.render:
        stop = failed if options.fail_fast or artefact.config.fail_fast else None
        report = _run(artefact.cells, store, artefact.config, label=recipe.name, stop=stop)
        print(report.counts(), file=sys.stderr)
    if not report.stopped:  # who wants to see a failure at once does not want a table to bury it
        frame = recipe.frame(artefact, store)
        print(recipe.write(artefact, store, frame, results / "tables" / recipe.name, results / "figures" / recipe.name))
        print("Where a number comes from: make report, or provsel explain.", file=sys.stderr)
    if report.failures:
        # after the table, where it is seen
        print("\n".join(_failure_lines(report, again)), file=sys.stderr)
    return 1 if report.failures else 0


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
    """Run the cells of a composed config and print their errors: experiments/run.py without -m."""

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
    trials = store.query([cell.id for cell in cells], ["cell", "repeat", "fold", "draw", *names]).to_pandas()
    for cell in cells:
        found = trials[trials["cell"] == cell.id]
        name = " ".join(f"{key}={value}" for key, value in cell.dataset.items() if key in ("name", "set"))
        selector = " ".join(f"{key}={value}" for key, value in cell.selector.items() if key != "_target_")
        target = str(cell.selector["_target_"]).rsplit(".", 1)[-1]
        print(f"{name} {target} {selector} | {_numbers(cell, found)}", flush=True)
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
    if executor is None:
        executor = OmegaConf.to_container(config.executor, resolve=True)  # type: ignore[assignment]
    return run_cells(cells, store, executor, **options)  # type: ignore[arg-type]
