"""Build the report: read the store once, write the new pages beside the old ones, and swap them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from functools import partial
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from provlab.bench.methods import TASKS
from provlab.bench.own_runs import read_runs
from provlab.bench.panel import stored_folder
from provlab.bench.panel_answers import stored_answers
from provlab.bench.panel_pages import FOLDERS, TITLES, write_panel
from provlab.bench.run_pages import write_runs
from provlab.bench.statement_pages import TITLE as STATEMENTS_TITLE
from provlab.bench.statement_pages import statements_page, write_field
from provlab.bench.statements import VERDICTS, traced
from provlab.bench.stored_panel import read_overlaps, read_panel
from provlab.core.artefact import COMPLETE
from provlab.core.selected import AT_ONCE
from provlab.core.snapshot import StoreSnapshot
from provlab.core.store import TrialStore
from provlab.core.summaries import value_counts, versions
from provlab.custody.artefact_results import (
    Sources,
    claim_readings,
    project_reference,
    readings_of,
    show_artefact,
    sum_certificates,
    tally,
)
from provlab.custody.audit_runs import AuditRun, read_audits
from provlab.custody.doctor import INSTALLATION, OK, STORE, examine
from provlab.project.papers import artefact_names, papers
from provlab.project.project import current_project
from provlab.report.artefact import ArtefactPage
from provlab.report.claim import write_claim
from provlab.report.templating import (
    Site,
    check_names,
    fold_notes,
    render_notes,
    write_assets,
)
from provlab.run.executors import usable_cores
from provlab.verdicts.claims.rules import (
    CONTRADICTED,
    NO_DIFFERENCE,
    NOT_CONTRADICTED,
    NOT_RUN,
    REPLICATED,
)
from provlab.verdicts.claims.schema import PANEL, all_claim_files, claim_paths
from provlab.verdicts.claims.verdicts import Verdict
from provlab.verdicts.panel_scores import Scores
from provsel.files import replacing_folder

MAX_DIFFERENT = 500
"""Largest number of listed trials that audits found to differ."""

MAX_PROCESSES = 4

FIELD_LINK = "What the field says: published statements, judged on these trials"

PER_PROCESS = 8
"""Minimum number of artefacts per process, because starting a process takes longer than writing fewer."""


def build_report(
    results: Path, overrides: Sequence[str] = (), n_jobs: int | None = None
) -> Path:
    """Write `results`/report and return its index.html.

    The new pages replace the old ones once all are written; other files are kept.

    Parameters
    ----------
    results : path
        Results folder, of which only report/ is changed.
    overrides : sequence of str
        The user's settings, to which states and verdicts refer.
    n_jobs : int, optional
        Processes; by default one per core, at most `MAX_PROCESSES`, and at most one for
        `PER_PROCESS` artefacts.

    Raises
    ------
    ValueError
        If the settings fit no artefact, or a name cannot be used for a page.
    OSError
        If the folder cannot be written; the old report is kept.
    """
    target = results / "report"
    with replacing_folder(target, keep=True) as folder:
        _write_site(results, folder, tuple(overrides), n_jobs)
    return target / "index.html"


def _write_site(
    results: Path, folder: Path, overrides: tuple[str, ...], n_jobs: int | None
) -> None:
    """Write all pages into a folder."""
    store = _read_store(results)
    artefacts = artefact_names()
    files = all_claim_files()
    paper_names = tuple(dict.fromkeys(name.split("/")[0] for name in artefacts))
    check_names(
        paper_names, artefacts, [claim.id for file in files for claim in file.claims]
    )
    runs, run_problems = read_runs(results)
    panel = stored_folder()
    # as for other reference results
    has_panel = panel.is_relative_to(current_project().root) and panel.is_dir()
    now = datetime.now(UTC).isoformat(timespec="seconds")
    site = Site(
        results, folder, overrides, now, len(store), paper_names, len(runs), has_panel
    )
    audits = read_audits(results)
    sources = Sources(
        store=store,
        families={file.paper: file.claims for file in files},
        readings=readings_of(files, results),
        audited=_audited(audits),
        reference=project_reference(folder, files),
    )
    if n_jobs is None:
        n_jobs = max(
            1, min(usable_cores(), MAX_PROCESSES, len(artefacts) // PER_PROCESS)
        )
    parts: list[Callable[[], ArtefactPage | None]] = [
        partial(show_artefact, site, sources, name) for name in artefacts
    ]
    if has_panel:
        of_panel = [
            partial(_write_stored_panel, site, panel),
            partial(_write_statements, site, panel.parent, sources),
        ]
        parts = [*of_panel, *parts]  # the longest first
    pages = [page for page in _write_parts(parts, n_jobs) if page is not None]
    _check_settings(overrides, pages)
    run_parts, unshown = write_runs(site, store, runs)
    shared: dict[str, Any] = {
        "runs": run_parts,
        "run_problems": [*run_problems, *unshown],
    }
    if site.papers:
        verdicts = {
            verdict.claim.id: verdict for page in pages for verdict in page.verdicts
        }
        ordered = [
            verdicts[claim.id]
            for file in files
            for claim in file.claims
            if claim.id in verdicts
        ]
        _write_overview(site, sources, pages, ordered, audits, shared)
    else:
        site.write("index.html", "overview_runs.html", "Comparison", "index", **shared)
    _write_environment(site, store, audits)
    write_assets(folder / "assets")


def _read_store(results: Path) -> StoreSnapshot:
    """Return a snapshot of the store, with the lists of selected features if they fit into memory."""
    store = StoreSnapshot(TrialStore(results / "store"))
    n_selected = store.column("n_selected")
    # methods that keep all features have no list
    selects = pc.less(n_selected, store.column("n_features"))
    n_listed = pc.sum(pc.if_else(selects, n_selected, 0), min_count=0).as_py()
    if n_listed <= AT_ONCE:
        store = store.with_large(store.table["cell"].unique().to_pylist())
    return store


def _audited(audits: Sequence[AuditRun]) -> dict[str, Counter[str]]:
    """Return by cell how many trials were identical, close and different in audits."""
    outcomes: dict[str, Counter[str]] = {}
    for run in audits:
        for cell, outcome in zip(
            run.trials["cell"], run.trials["outcome"], strict=True
        ):
            outcomes.setdefault(cell, Counter())[outcome] += 1
    return outcomes


def _check_settings(overrides: Sequence[str], pages: Sequence[ArtefactPage]) -> None:
    """Raise if the user's settings fit no artefact."""
    unfit = [page for page in pages if page.problem.startswith("The settings")]
    if not overrides or len(unfit) < len(pages):
        return
    name = unfit[0].name if unfit else ""
    problem = unfit[0].problem.partition(": ")[2] if unfit else "there are no artefacts"
    raise ValueError(
        f"the settings do not fit {name}: {problem}; expected settings that fit some artefact, "
        f"got {' '.join(overrides)}."
    )


def _write_stored_panel(site: Site, folder: Path) -> None:
    """Write the pages of the benchmark."""
    also = dict.fromkeys(write_field(site, folder.parent), FIELD_LINK)
    panel = read_panel(folder)
    for task in TASKS:
        links = {
            f"{FOLDERS[other]}/index.html": TITLES[other]
            for other in TASKS
            if other != task
        }
        write_panel(
            site, Scores.of(panel, task), also=links | also, answer=stored_answers(folder, task),
            overlap=read_overlaps(folder, task),
        )  # fmt: skip


def _write_statements(site: Site, reference: Path, sources: Sources) -> None:
    """Write a page with the evidence on each published statement that is tested on the benchmark."""
    for paper in claim_paths(PANEL):
        if not (reference / paper / VERDICTS).is_file():
            continue
        verdicts, outcome = traced(paper, reference / paper)
        readings = {} if outcome is None else claim_readings(outcome)
        above = (STATEMENTS_TITLE, statements_page(paper))
        for verdict in verdicts:
            write_claim(
                site, verdict, above, readings.get(verdict.claim.id), sources.reference
            )


_parts: Sequence[Callable[[], ArtefactPage | None]] = ()
"""Functions that forked processes call, so that they share the snapshot of the store, which is too large to send."""


def _write_parts(
    parts: Sequence[Callable[[], ArtefactPage | None]], n_jobs: int
) -> list[ArtefactPage | None]:
    """Call each part, which writes its own pages, and return the results in order."""
    global _parts
    if n_jobs == 1 or "fork" not in get_all_start_methods():
        return [write() for write in parts]
    _parts = parts
    try:
        with ProcessPoolExecutor(n_jobs, get_context("fork")) as pool:
            return list(pool.map(_write_part, range(len(parts))))
    finally:
        _parts = ()


def _write_part(place: int) -> ArtefactPage | None:
    return _parts[place]()


def _write_overview(
    site: Site,
    sources: Sources,
    pages: Sequence[ArtefactPage],
    verdicts: Sequence[Verdict],
    audits: Sequence[AuditRun],
    of_runs: Mapping[str, Any],
) -> None:
    """Write the overview, the list of claims, the page of each paper, and the list of own runs."""
    shared: dict[str, Any] = {
        "readings": sources.readings,
        "reference": sources.reference,
    }
    # stored artefacts come first
    pages = sorted(pages, key=lambda page: not page.n_stored)
    titles: dict[str, str] = {}
    tallies: dict[str, list[tuple[str, int]]] = {}
    for name in dict.fromkeys(page.paper for page in pages):
        of_paper = [page for page in pages if page.paper == name]
        claims = [verdict for verdict in verdicts if verdict.claim.paper == name]
        titles[name], notes = papers()[name].read_notes()
        tallies[name] = tally(claims, sources.readings)
        site.write(
            f"papers/{name}.html", "paper.html", titles[name], name, titles[name], name=name, pages=of_paper,
            verdicts=claims, tally=tallies[name], certificates=sum_certificates(of_paper),
            sentences=_conclusion(tallies[name], sources.reference.counts.get(name, []), "the paper"),
            notes=fold_notes(render_notes(notes)), **shared,
        )  # fmt: skip
    shared["tally"] = tally(verdicts, sources.readings)
    of_references: Counter[str] = Counter()
    for name in titles:
        of_references.update(dict(sources.reference.counts.get(name, [])))
    whose = "the paper" if len(titles) == 1 else f"{len(titles)} papers"
    answer = _conclusion(shared["tally"], [*of_references.items()], whose)
    if site.has_benchmark:
        answer += stored_answers(stored_folder(), "classification")[:1]
    site.write(
        "index.html", "index.html", "Overview", "index", pages=pages, titles=titles, verdicts=verdicts,
        sentences=answer, tallies=tallies, certificates=sum_certificates(pages),
        n_complete=sum(page.state == COMPLETE for page in pages), audit=audits[0] if audits else None, **shared,
        **of_runs,
    )  # fmt: skip
    if of_runs["runs"]:
        site.write(
            "runs/index.html",
            "overview_runs.html",
            "Comparison",
            "runs",
            "Runs",
            **of_runs,
        )
    decided_first = sorted(verdicts, key=lambda verdict: verdict.verdict == NOT_RUN)
    site.write(
        "claims/index.html",
        "claims.html",
        "Claims",
        "claims",
        "Claims",
        verdicts=decided_first,
        **shared,
    )


def _conclusion(
    own: Sequence[tuple[str, int]], of_reference: Sequence[tuple[str, int]], whose: str
) -> list[str]:
    """Return a sentence about the verdicts on claims, in the trials here or otherwise in the reference run."""
    counts = dict(own)
    run = "In these trials"
    n_run = sum(counts.values()) - counts.get(NOT_RUN, 0)
    if not n_run and of_reference:
        counts = dict(of_reference)
        run = "In the reference run"
        n_run = sum(counts.values()) - counts.get(NOT_RUN, 0)
    if not n_run:
        return []
    n_replicated = counts.get(REPLICATED, 0) + counts.get(NOT_CONTRADICTED, 0)
    n_contradicted = counts.get(CONTRADICTED, 0) + counts.get(NO_DIFFERENCE, 0)
    return [
        f"{run}, {n_replicated} of {n_run} claims of {whose} are replicated or not contradicted, and "
        f"{n_contradicted} are contradicted. The other {n_run - n_replicated - n_contradicted} are open, because "
        f"they depend on the reading of a paper, or the data do not decide them."
    ]


def _write_environment(
    site: Site, store: StoreSnapshot, audits: Sequence[AuditRun]
) -> None:
    """Write the page about machines, versions, the store and audits."""
    checks = examine(site.results)
    of_store = [
        check
        for check in checks
        if check.group == STORE and check.name not in ("folder", "writable")
    ]
    problems = [
        f"{check.name}: {check.value}" for check in of_store if check.state != OK
    ]
    if store.n_nameless:
        problems.append(
            f"{store.n_nameless:,} records are ignored because they lack a key, a cell, a repeat, a fold or a draw"
        )
    environments = value_counts(store.column("environment").to_pandas())
    different = [
        (run.when, trial, columns) for run in audits for trial, columns in run.different
    ]
    site.write(
        "environment.html", "environment.html", "Environment", "environment", "Environment", problems=problems,
        store=[(check.name, check.value) for check in of_store if check.state == OK], audits=audits, versions=versions,
        machine=[(check.name, check.value) for check in checks if check.group == INSTALLATION],
        different=different[:MAX_DIFFERENT], n_different=len(different),
        environments=[(versions(text), n) for text, n in environments],
        revisions=value_counts(store.column("git_revision").to_pandas()),
    )  # fmt: skip
