"""The pages of runs of your own: the table, the figure, the features, and how to run it again."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from provlab.features import cells_features
from provlab.own_runs import OwnRun, run_frame, shown_columns, size_text, write_run
from provlab.report.features import FeaturesLine, write_features
from provlab.report.templating import Site
from provlab.snapshot import StoreSnapshot

log = logging.getLogger(__name__)

MAX_LINES = 1000
"""Of a page's table; the CSV file has all."""

TEXTS = ("method", "data set", "measure", "state", "most frequent features")
"""Columns of the table that are no numbers."""


@dataclass(frozen=True, eq=False)
class RunPage:
    """What the overview and the page of a run show.

    Attributes
    ----------
    name : str
        Of its folder.
    run : OwnRun
    frame : DataFrame
        See `run_frame`.
    lines : list of dict
        The table, see `shown_columns`, and of a long one the first lines.
    figures, files : list of str
        Addresses below the report, of the figures and of what can be downloaded.
    """

    name: str
    run: OwnRun
    frame: pd.DataFrame
    lines: list[dict[str, str]]
    figures: list[str]
    files: list[str]

    @property
    def href(self) -> str:
        """Its page."""
        return f"runs/{self.name}.html"


def write_runs(site: Site, store: StoreSnapshot, runs: Mapping[str, OwnRun]) -> tuple[list[RunPage], list[str]]:
    """Write a page for each run, and return what the overview shows of them, and why others cannot be shown."""
    pages, problems = [], []
    for name, run in runs.items():
        try:
            pages.append(_write_run(site, store, name, run))
        except Exception as error:  # one run does not stop the others: a store and a folder may be anybody's
            log.warning("report: run %s cannot be shown: %s", name, error, exc_info=log.isEnabledFor(logging.DEBUG))
            problems.append(f"{name}: {' '.join(str(error).split())}")
    return pages, problems


def _write_run(site: Site, store: StoreSnapshot, name: str, run: OwnRun) -> RunPage:
    folder = site.folder / "runs" / name
    selected = {cell.id: found for cell, found in cells_features(store, run.distinct())}
    frame = run_frame(run.cells, store, selected)
    figures = write_run(run, frame, selected, folder, ("svg",))
    below: list[Any] = [sorted(figures), sorted(folder.iterdir())]
    hrefs = [[path.relative_to(site.folder).as_posix() for path in paths] for paths in below]
    page = RunPage(name, run, frame, shown_columns(frame, run.cells, selected)[:MAX_LINES], *hrefs)
    features = write_features(site, store, features_lines(run), f"run-{name}", selected)
    site.write(page.href, "run.html", run.title, "runs", run.title, page=page, texts=TEXTS, features=features)
    return page


def features_lines(run: OwnRun) -> list[FeaturesLine]:
    """Return the cells of a run as the part "Which features?" shows them, a column a number of features.

    There is one column where each method has one number, and a method that chooses its own stands in each.
    """
    sizes = list(dict.fromkeys(cell.size for cell in run.cells if cell.size))
    places = Counter((cell.method, cell.label) for cell in run.cells)
    if max(places.values()) == 1:
        return [FeaturesLine(cell.method, "", cell.label, cell) for cell in run.cells]
    return [
        FeaturesLine(cell.method, size_text(size), cell.label, cell)
        for cell in run.cells
        for size in ([cell.size] if cell.size else sizes)
    ]
