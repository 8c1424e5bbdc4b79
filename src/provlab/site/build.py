"""Make the report: read the store once, collect, write the pages beside the old ones, and swap."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from provlab.plan import Artefact
from provlab.project import papers
from provlab.run.executors import usable_cores
from provlab.site.collect import Collector, collect_pages
from provlab.site.collect_claims import claim_pages
from provlab.site.collect_environment import environment_page
from provlab.site.model import ArtefactPage, PaperPage, Report
from provlab.site.model_claims import ClaimPage
from provlab.site.notes import render_notes
from provlab.site.pages import write_report
from provlab.site.sharing import rare_garbage, snapshot_pool
from provlab.store import TrialStore
from provsel import __version__
from provsel.files import replacing_folder

MAX_JOBS = 4
"""Processes: each holds a snapshot of the store, half a kilobyte a trial."""


def build_report(results: Path, overrides: Sequence[str] = (), n_jobs: int | None = None) -> Path:
    """Write `results`/report and return its index.html.

    The new pages take the place of the old ones when all are written; files of others there stay.

    Parameters
    ----------
    results : path
        Results folder; nothing in it but report/ is changed.
    overrides : sequence of str
        The user's settings: states and verdicts are about these.
    n_jobs : int, optional
        Processes; by default one a core, at most `MAX_JOBS`.

    Raises
    ------
    ValueError
        When the settings fit no artefact.
    OSError
        When the folder cannot be written; the old report stays.
    """
    target = results / "report"
    with rare_garbage(), replacing_folder(target, keep=True) as folder:
        write_report(collect_report(results, folder, overrides, n_jobs or min(usable_cores(), MAX_JOBS)), folder)
    return target / "index.html"


def collect_report(results: Path, folder: Path, overrides: Sequence[str] = (), n_jobs: int = 1) -> Report:
    """Return what the pages show; the files of the artefacts are written below `folder`."""
    store = TrialStore(results / "store")
    with snapshot_pool(store, n_jobs, folder) as share:
        snapshot = share.snapshot
        pages, artefacts = collect_pages(share, results, folder, overrides)
        claims = claim_pages(share, results, overrides, artefacts)
    collector = Collector(snapshot, results, folder, tuple(overrides), artefacts)
    papers = dict.fromkeys(page.paper for page in pages)
    return Report(
        papers=tuple(_paper(name, pages, claims.get(name, []), collector) for name in papers),
        environment=environment_page(results, snapshot),
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        version=__version__,
        settings=tuple(overrides),
        n_trials=len(snapshot),
    )


def _paper(name: str, pages: Sequence[ArtefactPage], claims: Sequence[ClaimPage], collector: Collector) -> PaperPage:
    artefacts = tuple(
        replace(page, claims=tuple(claim for claim in claims if claim.artefact == page.name))
        for page in pages
        if page.paper == name
    )
    composed = [collector.artefacts.get(page.name) for page in artefacts]
    cells = [cell for artefact in composed if isinstance(artefact, Artefact) for cell in artefact.cells]
    path = papers()[name].folder / "NOTES.md"
    notes = path.read_text(encoding="utf-8") if path.is_file() else ""
    heading = re.match(r"#\s+(?:Notes on )?(.+)", notes)
    return PaperPage(
        name,
        heading.group(1).strip() if heading else name,
        render_notes(notes.split("\n", 1)[1] if heading and "\n" in notes else notes),
        artefacts,
        tuple(claims),
        collector.certificates(cells),
    )
