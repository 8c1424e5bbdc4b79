"""Pages of an artefact: its numbers beside the printed values, and a trace of each row and column."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from provlab.core.artefact import NOT_RUN, PARTIAL
from provlab.core.trace import Trace
from provlab.report.claim import ClaimReadings
from provlab.report.features import FeaturesPart
from provlab.report.plots import numbers_plot, strip
from provlab.report.reference import ProjectReference, ReferencePart
from provlab.report.templating import Site, number, trace_href

DATA_MISSING, BROKEN = "data missing", "broken"
"""Further states of an artefact. A "broken" artefact could not be shown; its page states the reason."""

MAX_NUMBERS = 2000
"""Row limit of the table on a page. Numbers that the paper prints come first; the CSV file has all rows."""

MAX_OPEN = 6
"""Largest number of data sets with open sections on a trace page. With more, sections are folded, and data sets without
a trial have none. The first data set always has one, because it shows the configuration."""

MAX_TRIALS = 100
"""Largest number of trials of a cell that a page lists; `provsel explain --trials` lists all."""

FILES = {
    ".csv": "CSV, every number", ".md": "Markdown", ".tex": "LaTeX", ".svg": "SVG",
    ".json": "JSON, the table with the origin of its numbers",
}  # fmt: skip

PARTS = ("selector", "model", "protocol", "dataset")
"""Parts of the identity of a cell."""


@dataclass(eq=False)
class ArtefactPage:
    """Summary of an artefact for the other pages.

    Attributes
    ----------
    name, title : str
        Name as paper/artefact, and title.
    state : str
        Complete, partial, not run, `DATA_MISSING` or `BROKEN`.
    problem : str
        Reason why nothing or not everything is shown, otherwise "".
    commands : list of str
        Commands for the missing trials: download the data, then compute.
    n_stored, n_planned : int
        Numbers of trials; n_planned is 0 if it is unknown because data are missing.
    n_numbers, n_waiting : int
        How many numbers the artefact has, and how many of them have no trials.
    certificates : dict
        Number of trials in each state, by certificate.
    states : Series, optional
        The same counts by `certificate`, `cell` and `state`, so that a cell of several
        artefacts counts once.
    verdicts : list of Verdict
        Verdicts on the claims that are tested on this artefact.
    tally : list of (verdict, number)
        Number of the paper's own claims with each verdict.
    reference : ReferencePart, optional
        Results of the project's reference run.
    """

    name: str
    title: str
    state: str = NOT_RUN
    problem: str = ""
    commands: list[str] = field(default_factory=list)
    n_stored: int = 0
    n_planned: int = 0
    n_numbers: int = 0
    n_waiting: int = 0
    certificates: dict[str, dict[str, int]] = field(default_factory=dict)
    states: pd.Series | None = None
    verdicts: Sequence[Any] = ()
    tally: list[tuple[str, int]] = field(default_factory=list)
    reference: ReferencePart | None = None

    @property
    def paper(self) -> str:
        """Name of the paper."""
        return self.name.partition("/")[0]

    @property
    def short(self) -> str:
        """Name without the paper; unique among all artefacts."""
        return self.name.partition("/")[2]

    @property
    def href(self) -> str:
        """Page of the artefact."""
        return f"artefacts/{self.short}.html"

    @property
    def state_text(self) -> str:
        """The state, with the percentage of stored trials, rounded down because only a complete artefact has 100 %."""
        if self.state != PARTIAL:
            return self.state
        return f"partial, {math.floor(100 * self.n_stored / self.n_planned)} %"


@dataclass(eq=False)
class ArtefactContent:
    """Content that only the page of the artefact shows.

    Attributes
    ----------
    numbers : DataFrame
        See `compare_with_print`. Added columns are `trace`, the address of the trace,
        and `reference`, the reference value as text if there is one. Numbers that the
        paper prints come first.
    unit : str
        Unit of the numbers.
    columns : list of str
        Columns of the artefact; the numbers of a summary have additional columns.
    places : set of (str, str)
        Pairs of row and column that have a trace.
    files : list of Path
    tables : list of dict
        Formatted tables with `caption`, `note`, `header` and `rows`.
    features : FeaturesPart
    differs : str
        Why the artefact differs from the printed values, or "" if it does not.
    compared : str
        Whether the reference is up to date with the code.
    """

    numbers: pd.DataFrame
    unit: str = ""
    columns: list[str] = field(default_factory=list)
    places: set[tuple[str, str]] = field(default_factory=set)
    files: list[Path] = field(default_factory=list)
    tables: list[Any] = field(default_factory=list)
    features: FeaturesPart = field(default_factory=FeaturesPart)
    differs: str = ""
    compared: str = ""


def write_artefact(
    site: Site,
    page: ArtefactPage,
    content: ArtefactContent,
    readings: Mapping[str, ClaimReadings],
    reference: ProjectReference,
) -> None:
    """Write the page of an artefact; `readings` holds the readings of claims by id."""
    numbers = content.numbers
    printed = numbers[numbers["printed"] != ""]
    shown = numbers[:MAX_NUMBERS]
    plot = numbers_plot(shown, content.columns, content.unit)
    site.write(
        page.href, "artefact.html", page.title, page.paper, page.short, plots=plot is not None,
        page=page, content=content, readings=readings, reference=reference, labels=FILES, plot=plot,
        files=content.files, features=content.features, numbers=shown.to_dict("records"), n_printed=len(printed),
        with_errors=np.isfinite(printed["standard_errors"]).any(), by_dataset=numbers["dataset"].nunique() > 1,
        trace_href=trace_href,
    )  # fmt: skip


def write_trace(
    site: Site,
    page: ArtefactPage,
    trace: Trace,
    audited: Mapping[str, Mapping[str, int]],
    features: FeaturesPart,
) -> None:
    """Write the trace page of a row and column, with the common settings of its cells and a section per data set.

    Parameters
    ----------
    site : Site
    page : ArtefactPage
    trace : Trace
    audited : mapping
        How many trials of each cell audits found identical, close and different.
    features : FeaturesPart
        Selected features of the artefact.
    """
    identities = [cell.entry.cell.identity for cell in trace.cells]
    shared = {}
    for part in PARTS:
        if all(identity[part] == identities[0][part] for identity in identities):
            shared[part] = identities[0][part]
    measured = [column for cell in trace.cells for column in cell.measured]
    main = measured[0] if measured else {"name": "", "unit": ""}
    of_datasets = {}
    for cell in trace.cells:
        for column in cell.measured:
            if column["name"] == main["name"]:
                of_datasets[cell.entry.dataset] = column
    ends = [
        column[end] for column in of_datasets.values() for end in ("minimum", "maximum")
    ] or [0.0]
    axis = min(ends), max(ends)  # shared by all data sets
    strips = {}
    for dataset, column in of_datasets.items():
        words = f"{column['n']} values on {dataset or 'the data'}, mean {number(column['mean'])}"
        strips[dataset] = (
            column,
            strip(column["points"], axis, words, mean=column["mean"]),
        )
    numbers_of: dict[str, list[dict[str, Any]]] = {
        cell.entry.dataset: [] for cell in trace.cells
    }
    for line in trace.numbers:
        if line["dataset"] in numbers_of:
            numbers_of[line["dataset"]].append(line)
    folded = len(trace.cells) > MAX_OPEN
    sections = [
        cell
        for cell in trace.cells
        if not folded or cell.n_stored or cell is trace.cells[0]
    ]
    title = ", ".join(part for part in (trace.row, trace.column) if part)
    site.write(
        trace_href(trace.artefact, trace.row, trace.column), "trace.html", f"{title} · {page.short}", page.paper, title,
        above=[(page.short, page.href)], trace=trace, shared=shared,
        differing=[part for part in PARTS if part not in shared], main=main["name"], unit=main["unit"], axis=axis,
        strips=strips, numbers_of=numbers_of, folded=folded, sections=sections, audited=audited,
        environments=trace.environments, revisions=trace.revisions, features=features, MAX_TRIALS=MAX_TRIALS,
    )  # fmt: skip
