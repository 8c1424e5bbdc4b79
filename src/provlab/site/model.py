"""What the pages show, as plain data: `collect` fills it from a store, `pages` writes it as HTML.

All hrefs are relative to the folder of the report. Strings come from configs, data sets and records: they are
untrusted, and only templates that escape them may show them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from provlab.plan import COMPLETE, NOT_RUN, PARTIAL
from provlab.site.model_claims import ClaimPage
from provlab.site.model_environment import EnvironmentPage
from provlab.site.trace import Trace
from provsel.values import ValuesWithNaN

DATA_MISSING, BROKEN = "data missing", "broken"
"""Further states of an artefact. "broken": it could not be rendered; the page says why."""

STATES = (COMPLETE, PARTIAL, NOT_RUN, DATA_MISSING, BROKEN)


@dataclass(frozen=True, eq=False)
class Number(ValuesWithNaN):
    """One number of an artefact: a line of its CSV file.

    Attributes
    ----------
    row, column, dataset : str
    text : str
        As it is shown: a number with its decimals, or text such as a list of features; "" where nothing is stored.
    value, sd : float
        NaN for text.
    n_trials : int
    printed : str
        What the paper prints; "" where it prints nothing.
    printed_sd : float
    difference : float
        Ours minus printed.
    standard_errors : float
        The difference in its standard errors, see `site.differences`; NaN where there is no such scale.
    state : str
        "complete", "partial (k of n)" or "missing".
    trace : str
        Href of its trace.
    """

    row: str
    column: str
    dataset: str
    text: str
    value: float = math.nan
    sd: float = math.nan
    n_trials: int = 0
    printed: str = ""
    printed_sd: float = math.nan
    difference: float = math.nan
    standard_errors: float = math.nan
    state: str = COMPLETE
    trace: str = ""


@dataclass(frozen=True)
class TableCell:
    """Text of a formatted table, with the href of the trace where it is a number of one cell or a mean of some."""

    text: str
    trace: str = ""


@dataclass(frozen=True)
class FormattedTable:
    """A table as the artefact's script lays it out: header and rows of cells, caption above, note below."""

    caption: str
    note: str
    header: tuple[TableCell, ...]
    rows: tuple[tuple[TableCell, ...], ...]


@dataclass(frozen=True)
class FigureFiles:
    """A figure of the artefact: a title that says what it shows, and hrefs of its files by suffix."""

    title: str
    svg: str
    pdf: str = ""


@dataclass(frozen=True)
class Download:
    """A file of the report: what it is ("CSV, all numbers"), where, and its size in bytes."""

    text: str
    href: str
    size: int


@dataclass(frozen=True)
class CertificateCount:
    """How many trials carry a certificate, by state: "held", "violated", "vacuous", "not separable", "no bound"."""

    name: str
    counts: tuple[tuple[str, int], ...]

    @property
    def held(self) -> int:
        """Trials whose measured value meets a bound that says something."""
        return dict(self.counts).get("held", 0)

    @property
    def total(self) -> int:
        """Trials with a bound that says something: held or violated."""
        return self.held + dict(self.counts).get("violated", 0)


@dataclass(frozen=True)
class ArtefactPage:
    """A table or figure of a paper: ours beside the printed one.

    Attributes
    ----------
    name, title : str
        paper/artefact, and what it is.
    state : str
        One of `STATES`.
    n_found, n_planned : int
        Trials; n_planned is 0 where it is not known because data are missing.
    command : str
        Computes what is missing.
    fetch : str
        Gets the data that are missing, else "".
    problem : str
        Why nothing or not everything is shown, else "".
    tables, figures, downloads : tuple
    numbers : tuple of Number
        At most `collect.MAX_NUMBERS` of `n_numbers`, those with a printed value first.
    n_numbers : int
    certificates : tuple of CertificateCount
    claims : tuple of ClaimPage
        Those that are tested on it.
    x_is_number : bool
        Columns are numbers, such as a number of features: a plot has them as an axis.
    unit : str
        Of the values of `numbers`, for an axis: "test error (%)"; "" where they are of several kinds.
    traces : tuple of Trace
        Rows x columns.
    """

    name: str
    title: str
    state: str
    n_found: int = 0
    n_planned: int = 0
    command: str = ""
    fetch: str = ""
    problem: str = ""
    tables: tuple[FormattedTable, ...] = ()
    figures: tuple[FigureFiles, ...] = ()
    downloads: tuple[Download, ...] = ()
    numbers: tuple[Number, ...] = ()
    n_numbers: int = 0
    certificates: tuple[CertificateCount, ...] = ()
    claims: tuple[ClaimPage, ...] = ()
    x_is_number: bool = False
    unit: str = ""
    traces: tuple[Trace, ...] = ()

    @property
    def paper(self) -> str:
        """Name of the paper."""
        return self.name.split("/")[0]

    @property
    def short(self) -> str:
        """Name without the paper; unique among all artefacts."""
        return self.name.split("/")[1]

    @property
    def percent(self) -> float:
        """Part of the trials that is stored."""
        return 100 * self.n_found / self.n_planned if self.n_planned else 0.0

    @property
    def href(self) -> str:
        """Page of the artefact."""
        return f"artefacts/{self.short}.html"


@dataclass(frozen=True)
class PaperPage:
    """A paper: its artefacts, claims, certificates, and our notes on the method as HTML."""

    name: str
    title: str
    notes: str
    """NOTES.md, rendered and safe: raw HTML in it was escaped."""
    artefacts: tuple[ArtefactPage, ...]
    claims: tuple[ClaimPage, ...]
    certificates: tuple[CertificateCount, ...]

    @property
    def href(self) -> str:
        """Page of the paper."""
        return f"papers/{self.name}.html"


@dataclass(frozen=True)
class Report:
    """All pages.

    Attributes
    ----------
    papers : tuple of PaperPage
    environment : EnvironmentPage
    made : str
        When the report was made, UTC.
    version : str
        Of provsel.
    settings : tuple of str
        The user's overrides: states and verdicts are about these.
    n_trials : int
        In the store.
    """

    papers: tuple[PaperPage, ...]
    environment: EnvironmentPage = field(default_factory=EnvironmentPage)
    made: str = ""
    version: str = ""
    settings: tuple[str, ...] = ()
    n_trials: int = 0
