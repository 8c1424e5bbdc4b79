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
            f"--{kind}",
            action="append",
            default=[],
            metavar="NAME",
            help="of the panel; may be repeated (default: all)",
        )
    parser.add_argument("--plan", action="store_true", help="compute nothing, count what is stored")
    add_store_arguments(parser, "executor=serial")


def call_panel(options: argparse.Namespace) -> int:
    """Compute what is missing, and return 1 where a trial could not be computed here."""
    import numpy as np
    import pyarrow as pa

    from provlab.benchmark.methods import panel_methods
    from provlab.benchmark.panel import check_here, panel_cells, panel_datasets, some
    from provlab.run.runner import run_cells
    from provlab.snapshot import StoreSnapshot
    from provlab.store import TrialStore

    why = "all else is the same for everybody: choose by --dataset and --method"
    executor = only_executor("panel", options, "executor=serial", why)
    datasets = some("data set", options.dataset, panel_datasets())
    methods = some("method", options.method, panel_methods())
    check_here(datasets)
    cells, store = panel_cells(methods, datasets), TrialStore(Path(options.results) / "store")
    status = 0
    if not options.plan:
        report = run_cells([each.cell for each in cells], store, executor, label="panel")
        print(report.summary())
        status = 1 if report.failures else 0
    snapshot, lines, hours = StoreSnapshot.take(store, ["task_cpu", "failure"]), [], 0.0
    for name in datasets:
        own = [each.cell for each in cells if each.dataset == name]
        rows = np.concatenate([np.empty(0, np.int64), *(snapshot.rows(cell) for cell in own)])
        part = snapshot.table.take(pa.array(rows)).to_pandas()
        spent, n_failed = float(part["task_cpu"].astype(float).sum()), int((part["failure"].fillna("") != "").sum())
        planned = sum(cell.n_trials for cell in own)
        lines.append(
            {"data set": name, "trials": planned, "stored": len(part), "failed": n_failed, "CPU s": round(spent)}
        )
        hours += spent / 3600
    PlainConsole().print(table(lines, caption=f"{hours:.2f} CPU hours; what failed is a result, and is ranked last"))
    return status
