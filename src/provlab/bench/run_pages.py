"""Pages of your own runs: the table, the figure, the features, and the command that repeats the run."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from typing import Any

from provlab.bench.own_runs import OwnRun
from provlab.bench.run_names import size_text
from provlab.bench.run_table import RunTable
from provlab.core.selected import cells_that_select
from provlab.core.snapshot import StoreSnapshot
from provlab.report.features import FeaturesLine, write_features
from provlab.report.templating import Site

log = logging.getLogger(__name__)

MAX_LINES = 1000
"""Maximum number of rows in the table of a page; the CSV file has all rows."""

TEXTS = ("method", "data set", "measure", "state", "failed", "most frequent features")
"""Columns of the table that are not numeric."""


def write_runs(
    site: Site, store: StoreSnapshot, runs: Mapping[str, OwnRun]
) -> tuple[list[dict[str, Any]], list[str]]:
    """Write a page for each run; return the overview entries, and the reasons why other runs are not shown."""
    pages = []
    problems = []
    for name, run in runs.items():
        try:
            pages.append(_write_run(site, store, name, run))
        except Exception as error:
            # the store and the folder are not trusted, and one bad run must not stop
            # the others
            log.warning(
                "report: run %s cannot be shown: %s",
                name,
                error,
                exc_info=log.isEnabledFor(logging.DEBUG),
            )
            problems.append(f"{name}: {' '.join(str(error).split())}")
    return pages, problems


def _write_run(
    site: Site, store: StoreSnapshot, name: str, run: OwnRun
) -> dict[str, Any]:
    """Write the page and the files of a run, and return the values for run_parts.html, including file URLs."""
    folder = site.folder / "runs" / name
    table = RunTable(run, store)
    lines = table.lines
    figures = table.write(folder, ("svg",))
    page = {
        "run": run,
        "answer": table.answer,
        "lines": lines[:MAX_LINES],
        "texts": TEXTS,
        "href": f"runs/{name}.html",
        "figures": [f"runs/{name}/{path.name}" for path in sorted(figures)],
        "files": [
            (f"runs/{name}/{path.name}", "") for path in sorted(folder.iterdir())
        ],
    }
    selects = cells_that_select(store, run.cells)
    selecting = [
        (cell, selected)
        for cell, selected in table.selected.items()
        if selects.get(cell)
    ]
    features = write_features(
        site,
        features_lines(run),
        selects,
        selecting,
        f"runs/{name}",
        csv=f"runs/{name}/features.csv",
    )
    site.write(
        f"runs/{name}.html",
        "run.html",
        run.title,
        "runs",
        run.title,
        page=page,
        features=features,
    )
    return page


def features_lines(run: OwnRun) -> list[FeaturesLine]:
    """Return the cells of a run for the section "Which features?", one column per number of features.

    There is one column if each method has only one number. A method that chooses its
    own number is in every column.
    """
    n_lines = Counter((cell.method, cell.label) for cell in run.cells)
    if max(n_lines.values()) == 1:
        return [
            FeaturesLine(cell.method, "", cell.label, cell.id) for cell in run.cells
        ]
    all_sizes = list(dict.fromkeys(cell.size for cell in run.cells if cell.size))
    lines = []
    for cell in run.cells:
        sizes = [cell.size] if cell.size else all_sizes
        lines += [
            FeaturesLine(cell.method, size_text(size), cell.label, cell.id)
            for size in sizes
        ]
    return lines
