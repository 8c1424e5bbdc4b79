"""The pages of an artefact: its numbers beside the printed ones, and a trace of each row and column."""

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
"""Further states of an artefact. "broken": it could not be shown; the page says why."""

MAX_NUMBERS = 2000
"""Lines of the table of a page, those first that the paper prints; the CSV file has all."""

MAX_OPEN = 6
"""Data sets of a trace whose sections are open. With more a reader opens those of interest, or comes by a link; those
without a trial have no section, but for the first one, which shows what is run."""

MAX_TRIALS = 100
"""Trials of a cell that a page lists; `provsel explain --trials` lists all."""

FILES = {
    ".csv": "CSV, every number", ".md": "Markdown", ".tex": "LaTeX", ".svg": "SVG",
    ".json": "JSON, the table with the origin of its numbers",
}  # fmt: skip

PARTS = ("selector", "model", "protocol", "dataset")
"""Of the identity of a cell."""


@dataclass(eq=False)
class ArtefactPage:
    """What the other pages say of an artefact.

    Attributes
    ----------
    name, title : str
        paper/artefact, and what it is.
    state : str
        Complete, partial, not run, `DATA_MISSING` or `BROKEN`.
    problem : str
        Why nothing or not everything is shown, else "".
    commands : list of str
        What to run for what is missing: get the data, then compute.
    n_stored, n_planned : int
        Trials; n_planned is 0 if it is not known because data are missing.
    n_numbers, n_waiting : int
        Numbers, and of these the ones without trials.
    certificates : dict
        By certificate, the trials in each state.
    states : Series, optional
        The same trials by `certificate`, `cell` and `state`: a cell of several artefacts counts once.
    verdicts : list of Verdict
        On the claims that are tested on it.
    tally : list of (verdict, number)
        Of the paper's own claims among these.
    reference : ReferencePart, optional
        What the project's reference run gave.
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
        """The state, with the percentage of what is stored; rounded down, as "100 %" is for what is complete."""
        if self.state != PARTIAL:
            return self.state
        return f"partial, {math.floor(100 * self.n_stored / self.n_planned)} %"


@dataclass(eq=False)
class ArtefactContent:
    """What only the page of the artefact shows.

    Attributes
    ----------
    numbers : DataFrame
        See `compare_with_print`, with `trace`, the address of the trace, and `reference`, the reference's value as text
        if there is one; what the paper prints comes first.
    unit : str
        Of the numbers.
    columns : list of str
        Columns of the artefact; a summary adds others to the numbers.
    places : set of (str, str)
        Rows and columns that have a trace.
    files : list of Path
    tables : list of dict
        Formatted tables: `caption`, `note`, `header`, `rows`.
    features : FeaturesPart
    differs : str
        Why it differs from the print; "" where it does not.
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
    """Write the page of an artefact; `readings` are those of the claims by their ids."""
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
    """Write the page behind a row and column: what its cells share once, and each data set by itself.

    Parameters
    ----------
    site : Site
    page : ArtefactPage
    trace : Trace
    audited : mapping
        By cell, how many of its trials audits found to be identical, close and different.
    features : FeaturesPart
        Of the artefact.
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
    ends = [column[end] for column in of_datasets.values() for end in ("minimum", "maximum")] or [0.0]
    axis = min(ends), max(ends)  # one for all data sets
    strips = {}
    for dataset, column in of_datasets.items():
        words = f"{column['n']} values on {dataset or 'the data'}, mean {number(column['mean'])}"
        strips[dataset] = column, strip(column["points"], axis, words, mean=column["mean"])
    numbers_of: dict[str, list[dict[str, Any]]] = {cell.entry.dataset: [] for cell in trace.cells}
    for line in trace.numbers:
        if line["dataset"] in numbers_of:
            numbers_of[line["dataset"]].append(line)
    folded = len(trace.cells) > MAX_OPEN
    sections = [cell for cell in trace.cells if not folded or cell.n_stored or cell is trace.cells[0]]
    title = ", ".join(part for part in (trace.row, trace.column) if part)
    site.write(
        trace_href(trace.artefact, trace.row, trace.column), "trace.html", f"{title} · {page.short}", page.paper, title,
        above=[(page.short, page.href)], trace=trace, shared=shared,
        differing=[part for part in PARTS if part not in shared], main=main["name"], unit=main["unit"], axis=axis,
        strips=strips, numbers_of=numbers_of, folded=folded, sections=sections, audited=audited,
        environments=trace.environments, revisions=trace.revisions, features=features, MAX_TRIALS=MAX_TRIALS,
    )  # fmt: skip
