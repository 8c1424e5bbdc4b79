"""The bodies of the scripts below experiments/."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from omegaconf import DictConfig, OmegaConf

from provsel.cli._guard import guarded
from provsel.configs import Entry, cells_of, compose_artefact
from provsel.evaluation import Cell
from provsel.reports.frames import error_summary
from provsel.reports.recipe import Recipe
from provsel.runner import RunReport, run_cells
from provsel.store import TrialStore


def artefact_main(recipe: Recipe, argv: Sequence[str] | None = None) -> int:
    """Run what an artefact is missing, write its CSV, and render it: the body of every artefact script.

    Parameters
    ----------
    recipe : Recipe
    argv : sequence of str, optional
        Overrides in Hydra's grammar; `--render` renders what the store has and computes nothing.
    """
    parser = argparse.ArgumentParser(
        description=f"Reproduce {recipe.name}: compute what is missing, write tables and figures below results/.",
        epilog="Example: protocol.repeats=1 executor=serial. Interrupt at any time; the same command goes on.",
    )
    parser.add_argument("--render", action="store_true", help="render what is stored, compute nothing")
    parser.add_argument("overrides", nargs="*", help="settings in Hydra's grammar")
    options = parser.parse_intermixed_args(argv)  # settings may stand on both sides of --render
    return guarded(lambda: _reproduce(recipe, options))


def _reproduce(recipe: Recipe, options: argparse.Namespace) -> int:
    artefact = compose_artefact(recipe.name, options.overrides)
    results = Path(artefact.config.results)
    store = TrialStore(results / "store")
    report = RunReport()
    if not options.render:
        report = _run(artefact.cells, store, artefact.config, label=recipe.name)
    frame = recipe.frame(artefact, store)
    print(recipe.write(artefact, store, frame, results / "tables" / recipe.name, results / "figures" / recipe.name))
    print("Where a number comes from: make report, or provsel explain.", file=sys.stderr)
    return 1 if report.failures else 0


def run_main(config: DictConfig) -> int:
    """Run the cells of a composed config and print their errors: the body of experiments/run.py."""

    def body() -> int:
        cells = cells_of(config)
        store = TrialStore(Path(config.results) / "store")
        report = _run(cells, store, config, label="cell")
        names = ["error", "nmi", "ari", "n_selected", "select_cpu", "shared_cpu"]
        trials = store.query([cell.id for cell in cells], ["cell", "repeat", "fold", "draw", *names]).to_pandas()
        for cell in cells:
            found = trials[trials["cell"] == cell.id]
            name = " ".join(f"{key}={value}" for key, value in cell.dataset.items() if key in ("name", "set"))
            selector = " ".join(f"{key}={value}" for key, value in cell.selector.items() if key != "_target_")
            target = str(cell.selector["_target_"]).rsplit(".", 1)[-1]
            print(f"{name} {target} {selector} | {_numbers(cell, found)}, {len(found)} trials")
        return 1 if report.failures else 0

    return guarded(body)


def _numbers(cell: Cell, trials: pd.DataFrame) -> str:
    """Return what one line says of the trials of a cell."""
    if cell.protocol["split"] == "selection_only":
        cpu = (trials["select_cpu"] + trials["shared_cpu"]).median()
        return f"{trials['n_selected'].mean():.0f} features in {cpu:.3g} CPU seconds"
    [error] = error_summary(Entry("", "", cell), trials)
    text = f"error {error['value']:.2f} % (sd {error['sd']:.2f})"
    if cell.protocol["split"] == "all_rows":
        text += f", NMI {trials['nmi'].mean():.3f}, ARI {trials['ari'].mean():.3f}"
    return text


def _run(cells: list[Cell], store: TrialStore, config: DictConfig, *, label: str) -> RunReport:
    executor = OmegaConf.to_container(config.executor, resolve=True)
    report = run_cells(cells, store, executor, label=label)  # type: ignore[arg-type]
    print(report.summary(), file=sys.stderr)
    return report
