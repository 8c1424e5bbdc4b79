"""The benchmark of feature selection: its trials are computed piece by piece."""

from __future__ import annotations

import argparse
from pathlib import Path

from provlab.cli.commands import add_store_arguments, only_executor
from provlab.terminal import PlainConsole, table


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

    from provlab.benchmark.methods import panel_methods
    from provlab.benchmark.panel import names_of, panel_cells, panel_datasets, some
    from provlab.frames import planned_trials
    from provlab.run.runner import run_cells
    from provlab.store import TrialStore

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
