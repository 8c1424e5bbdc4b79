"""What each template gets beside the page's own data: counts, words, drawings and plots."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from markupsafe import Markup

from provlab.claims import VERDICTS
from provlab.frames import NO_TRIALS
from provlab.plan import COMPLETE, NOT_RUN, PARTIAL
from provlab.site import charts
from provlab.site.claim_contexts import claim_context
from provlab.site.links import trace_href
from provlab.site.margin_curve import margin_svg, margins_of
from provlab.site.model import DATA_MISSING, ArtefactPage, CertificateCount, PaperPage, Report
from provlab.site.model_claims import ClaimPage
from provlab.site.model_environment import EnvironmentPage
from provlab.site.templating import Context
from provlab.site.trace_contexts import anchors_of, trace_context, versions_context

__all__ = [
    "artefact_context",
    "claim_context",
    "claims_context",
    "environment_context",
    "index_context",
    "paper_page_context",
    "trace_anchors",
    "trace_context",
]

MAX_PRINTED = 1500
"""Lines of the table beside printed values, so that a page with thousands of numbers stays small."""

MAX_DIFFERENT = 500
"""Trials listed that an audit found to differ."""


def index_context(report: Report) -> Context:
    """Return what the overview shows."""
    artefacts = [page for paper in report.papers for page in paper.artefacts]
    claims = [claim for paper in report.papers for claim in paper.claims]
    certificates = [count for paper in report.papers for count in paper.certificates]
    audits = report.environment.audits
    return {
        "papers": [paper_context(paper) for paper in report.papers],
        "n_artefacts": len(artefacts),
        "n_complete": sum(page.state == COMPLETE for page in artefacts),
        "n_claims": sum(claim.kind == "paper" for claim in claims),
        "verdicts": tally(claims),
        **_held(certificates),
        "audit": audits[0] if audits else None,
    }


def paper_context(paper: PaperPage) -> Context:
    """Return what a paper's part of the overview shows."""
    artefacts = [
        {
            "page": page, "state_text": state_text(page), "commands": commands(page), "verdicts": tally(page.claims),
            "numbers_text": numbers_text(page),
            **_held(page.certificates),
        }
        for page in paper.artefacts
    ]  # fmt: skip
    return {"page": paper, "verdicts": tally(paper.claims), "artefacts": artefacts}


def paper_page_context(paper: PaperPage) -> Context:
    """Return what a paper's page shows; its notes were made safe by `render_notes`."""
    margins = margins_of(paper.claims)
    return {
        "paper": paper_context(paper), "notes": Markup(paper.notes), "margin_curve": margin_svg(margins),
        "n_margins": len(margins),
    }  # fmt: skip


def artefact_context(page: ArtefactPage, known: Callable[[str], str]) -> Context:
    """Return what an artefact's page shows; `known` gives the address of a trace, or "" for pages not written."""
    page = replace(page, numbers=tuple(replace(number, trace=known(number.trace)) for number in page.numbers))
    printed = [number for number in page.numbers if number.printed]
    spec = charts.artefact_plot(page)
    return {
        "page": page,
        "state_text": state_text(page),
        "state_line": state_line(page),
        "commands": commands(page),
        "printed": printed[:MAX_PRINTED],
        "n_printed": len(printed),
        "with_errors": any(math.isfinite(number.standard_errors) for number in printed),
        "by_dataset": any(number.dataset for number in page.numbers),
        "plots_heading": "Figures" if len(page.figures) > 1 else "Figure" if page.figures else "Plot of the numbers",
        "plot_spec": spec,
        "plots": spec is not None,
    }


def claims_context(report: Report) -> Context:
    """Return what the list of claims shows."""
    claims = [claim for paper in report.papers for claim in paper.claims]
    claims.sort(key=lambda claim: claim.verdict == NOT_RUN)  # what was decided comes first
    return {"claims": claims, "verdicts": tally(claims)}


def environment_context(page: EnvironmentPage) -> Context:
    """Return what the page about machines, versions and audits shows."""
    different = [(audit.when, where, what) for audit in page.audits for where, what in audit.different]
    return {
        "page": page,
        "different": different[:MAX_DIFFERENT],
        "n_different": len(different),
        **versions_context(page.environments, page.revisions),
    }


def tally(claims: Iterable[ClaimPage]) -> list[tuple[str, int]]:
    """Return how many of the papers' own claims have each verdict; the others stand beside, in the lists."""
    counts = Counter(claim.verdict for claim in claims if claim.kind == "paper")
    return [(verdict, counts[verdict]) for verdict in VERDICTS]


def state_text(page: ArtefactPage) -> str:
    """Return the state, with the percentage of what is stored where that says more."""
    # Rounded down: "100 %" is for what is complete.
    return f"partial, {math.floor(page.percent)} %" if page.state == PARTIAL and page.n_planned else page.state


def state_line(page: ArtefactPage) -> str:
    """Return what a state means for the artefact."""
    found = f"{page.n_found:,} of {page.n_planned:,} trials are stored" if page.n_planned else ""
    return {
        PARTIAL: f"{found or 'Not all trials are stored'}. Numbers below are of these.",
        NOT_RUN: f"None of {page.n_planned:,} trials is stored." if page.n_planned else "No trial is stored.",
        DATA_MISSING: f"Data are missing on this machine{', ' + found if found else ''}.",
    }.get(page.state, "It could not be shown.")


def numbers_text(page: ArtefactPage) -> str:
    """Return how many numbers there are, and of how many where some wait for trials."""
    found = sum(number.state != NO_TRIALS for number in page.numbers)
    if found == len(page.numbers) or page.n_numbers > len(page.numbers):
        return f"{page.n_numbers:,}"
    return f"{found:,} of {page.n_numbers:,}"


def commands(page: ArtefactPage) -> list[str]:
    """Return what to run for what is missing: get the data, then compute."""
    return [] if page.state == COMPLETE else [text for text in (page.fetch, page.command) if text]


def trace_anchors(pages: Iterable[ArtefactPage]) -> dict[str, set[str]]:
    """Return the address of each trace page, with the anchors on it."""
    return {
        trace_href(trace.artefact, trace.row, trace.column): anchors_of(trace)
        for page in pages
        for trace in page.traces
    }


def _held(certificates: Iterable[CertificateCount]) -> Context:
    counts = list(certificates)
    return {"held": sum(count.held for count in counts), "certified": sum(count.total for count in counts)}
