"""Write the report: a `Report` becomes static files that need neither a server nor the network."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from provlab.figures.looks import KINDS
from provlab.messages import visible
from provlab.project import tool
from provlab.site import contexts
from provlab.site.links import check_pages, local_href, trace_href
from provlab.site.model import ArtefactPage, PaperPage, Report
from provlab.site.model_claims import ClaimPage
from provlab.site.static import style_ids, write_assets
from provlab.site.templating import environment
from provlab.site.trace import Trace

__all__ = ["trace_href", "write_report"]

Crumbs = list[tuple[str, str]]

OVERVIEW = ("Overview", "index.html")


def write_report(report: Report, folder: Path) -> list[Path]:
    """Write all pages.

    Parameters
    ----------
    report : Report
    folder : Path
        Made when needed. Files of the same names are overwritten, others left alone; what downloads and figures point
        to is put there by the caller.

    Returns
    -------
    list of Path
        Every file that was written.

    Raises
    ------
    ValueError
        If the name of a paper, artefact or claim is no file name, or two pages would be the same file: nothing is
        written then. If a link of a download or figure leaves the folder.
    """
    check_pages(report)
    writer = _Writer(report, folder)
    writer.index()
    for paper in report.papers:
        writer.paper(paper)
        for artefact in paper.artefacts:
            writer.artefact(paper, artefact)
            for trace in artefact.traces:
                writer.trace(paper, artefact, trace)
        for claim in paper.claims:
            writer.claim(paper, claim)
    writer.claims()
    writer.environment()
    return [*writer.written, *write_assets(folder / "assets")]


class _Writer:
    """Templates, what all pages share, and the pages that were written."""

    def __init__(self, report: Report, folder: Path) -> None:
        self.report = report
        self.folder = folder
        self.written: list[Path] = []
        self.artefacts = {page.name: page for paper in report.papers for page in paper.artefacts}
        self.anchors = contexts.trace_anchors(self.artefacts.values())
        papers = [(paper.name, local_href(paper.href)) for paper in report.papers]
        self.shared = {
            "site": {
                "papers": papers, "made": report.made, "version": report.version, "settings": report.settings,
                "n_trials": report.n_trials,
            },
            "kinds": KINDS, "nan": math.isnan, "NAN": math.nan, "known": self.known, "style_ids": style_ids(),
            "provsel": tool("provsel"),
        }  # fmt: skip

    def known(self, href: str) -> str:
        """Return a trace's address if its page is written, without the anchor if that is not there, else ""."""
        path, _, anchor = href.partition("#")
        if path not in self.anchors:
            return ""
        return href if anchor in self.anchors[path] else path

    def index(self) -> None:
        """Write the overview."""
        self._write("index.html", "index.html", "Overview", [], "index", **contexts.index_context(self.report))

    def paper(self, paper: PaperPage) -> None:
        """Write the page of a paper."""
        self._write(
            paper.href, "paper.html", paper.title, [OVERVIEW, (paper.name, "")], paper.href,
            **contexts.paper_page_context(paper),
        )  # fmt: skip

    def artefact(self, paper: PaperPage, page: ArtefactPage) -> None:
        """Write the page of an artefact."""
        crumbs = [OVERVIEW, (paper.name, local_href(paper.href)), (page.short, "")]
        self._write(
            page.href, "artefact.html", page.title, crumbs, paper.href, **contexts.artefact_context(page, self.known)
        )

    def trace(self, paper: PaperPage, page: ArtefactPage, trace: Trace) -> None:
        """Write the page behind a row and column."""
        title = ", ".join(part for part in (trace.row, trace.column) if part)
        crumbs = [OVERVIEW, (paper.name, local_href(paper.href)), (page.short, local_href(page.href)), (title, "")]
        href = trace_href(trace.artefact, trace.row, trace.column)
        self._write(href, "trace.html", f"{title} · {page.short}", crumbs, paper.href, **contexts.trace_context(trace))

    def claim(self, paper: PaperPage, claim: ClaimPage) -> None:
        """Write the page of a claim."""
        crumbs = [OVERVIEW, (paper.name, local_href(paper.href)), ("Claims", "claims/index.html"), (claim.id, "")]
        found = contexts.claim_context(claim, self.artefacts.get(claim.artefact))
        self._write(claim.href, "claim.html", claim.text, crumbs, "claims", **found)

    def claims(self) -> None:
        """Write the list of all claims."""
        crumbs = [OVERVIEW, ("Claims", "")]
        self._write(
            "claims/index.html", "claims.html", "Claims", crumbs, "claims", **contexts.claims_context(self.report)
        )

    def environment(self) -> None:
        """Write the page about machines, versions and audits."""
        found = contexts.environment_context(self.report.environment)
        crumbs = [OVERVIEW, ("Environment", "")]
        self._write("environment.html", "environment.html", "Environment", crumbs, "environment", **found)

    def _write(
        self, href: str, template: str, title: str, crumbs: Crumbs, section: str, *, plots: bool = False, **content: Any
    ) -> None:
        path = self.folder / href
        context: Mapping[str, Any] = {
            **self.shared, "title": title, "crumbs": crumbs, "section": section, "root": "../" * href.count("/"),
            "plots": plots, **content,
        }  # fmt: skip
        text = environment().get_template(template).render(context)
        text = visible(text)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        self.written.append(path)
