"""Write the report: gather all that it shows, write the pages beside the old ones, and swap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from functools import partial
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
from markupsafe import Markup

from provlab.bench.own_runs import read_runs
from provlab.bench.panel import stored_folder
from provlab.bench.run_pages import write_runs
from provlab.bench.stored_panel import read_panel
from provlab.core.artefact import COMPLETE
from provlab.core.snapshot import StoreSnapshot
from provlab.core.store import TrialStore
from provlab.core.summaries import value_counts, versions
from provlab.custody.audit_runs import AuditRun, read_audits
from provlab.custody.doctor import INSTALLATION, OK, STORE, examine
from provlab.project import artefact_names, current_project, papers
from provlab.report.artefact import ArtefactPage, ClaimReadings, readings_of, sum_certificates, write_artefact
from provlab.report.benchmark import write_benchmark
from provlab.report.reference import ProjectReference, project_reference
from provlab.report.selected import AT_ONCE
from provlab.report.templating import Site, check_names, render_notes, write_assets
from provlab.run.executors import usable_cores
from provlab.verdicts.claims.rules import NOT_RUN
from provlab.verdicts.claims.schema import all_claim_files
from provlab.verdicts.claims.verdicts import Verdict
from provlab.verdicts.panel_ranking import Scores
from provlab.verdicts.readings.robustness import counted as counted_verdict
from provlab.verdicts.readings.robustness import tallied
from provsel.files import replacing_folder

MAX_DIFFERENT = 500
"""Trials listed that audits found to differ."""

LARGE = 50_000
"""Trials of a store from which on processes share the artefacts; below, they would take longer to start."""


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
        Processes; by default one a core, at most 4, for a store of more than `LARGE` trials.

    Raises
    ------
    ValueError
        When the settings fit no artefact, or a name cannot be that of a page.
    OSError
        When the folder cannot be written; the old report stays.
    """
    target = results / "report"
    with replacing_folder(target, keep=True) as folder:
        store = _read_store(results)
        files = all_claim_files()
        names = artefact_names()
        paper_names = tuple(dict.fromkeys(name.split("/")[0] for name in names))
        check_names(paper_names, names, [claim.id for file in files for claim in file.claims])
        runs, run_problems = read_runs(results)
        panel = _panel_folder()
        when = datetime.now(UTC).isoformat(timespec="seconds")
        site = Site(results, folder, tuple(overrides), when, len(store), paper_names, len(runs), panel is not None)
        readings = readings_of(files, results)
        reference = project_reference(folder, files)
        audits = read_audits(results)
        outcomes = _audited_cells(audits)
        families = {file.paper: file.claims for file in files}

        def write(name: str) -> ArtefactPage:
            family = families.get(name.split("/")[0], ())
            return write_artefact(site, store, name, family, readings, outcomes, reference)

        pages = _write_each(write, names, n_jobs or _jobs_for(store))
        if overrides:
            _check_fit(pages, overrides)
        verdicts = {verdict.claim.id: verdict for page in pages for verdict in page.verdicts}
        ordered = [verdicts[claim.id] for file in files for claim in file.claims if claim.id in verdicts]
        shown, unshown = write_runs(site, store, runs)
        of_runs: dict[str, Any] = {"runs": shown, "run_problems": [*run_problems, *unshown]}
        if site.papers:
            _write_overview(site, pages, ordered, readings, audits, of_runs, reference)
        else:
            site.write("index.html", "overview_runs.html", "Comparison", "index", **of_runs)
        _write_environment(site, store, audits)
        if panel is not None:
            write_benchmark(site, Scores.of(read_panel(panel)))
        write_assets(folder / "assets")
    return target / "index.html"


def _read_store(results: Path) -> StoreSnapshot:
    """Return the trials of a results folder, with their lists of features where these fit into memory."""
    store = StoreSnapshot(TrialStore(results / "store"))
    n_kept, n_features = store.column("n_selected"), store.column("n_features")
    n_listed = pc.sum(pc.if_else(pc.less(n_kept, n_features), n_kept, 0), min_count=0).as_py()
    if n_listed > AT_ONCE:
        return store
    return store.with_large(store.table["cell"].unique().to_pylist())  # what keeps all features has no list


def _panel_folder() -> Path | None:
    """Return the folder of the benchmark's panel where it is one of the project, as other reference results."""
    panel = stored_folder()
    if panel.is_dir() and panel.is_relative_to(current_project().root):
        return panel
    return None


def _jobs_for(store: StoreSnapshot) -> int:
    """Return the number of processes that share the artefacts."""
    if len(store) <= LARGE:
        return 1
    return min(usable_cores(), 4)


def _audited_cells(audits: Iterable[AuditRun]) -> dict[str, Counter[str]]:
    """Return how many trials of each cell had each outcome in audits."""
    outcomes: dict[str, Counter[str]] = {}
    for run in audits:
        for cell, outcome in zip(run.trials["cell"], run.trials["outcome"], strict=True):
            outcomes.setdefault(cell, Counter())[outcome] += 1
    return outcomes


def _check_fit(pages: Sequence[ArtefactPage], overrides: Sequence[str]) -> None:
    """Refuse settings that fit no artefact."""
    problems = [page.problem.partition(": ")[2] for page in pages if page.problem.startswith("The settings")]
    if len(problems) < len(pages):
        return
    problem = problems[0] if problems else "there are no artefacts"
    names = ", ".join(page.name for page in pages[:1])
    raise ValueError(
        f"the settings do not fit {names}: {problem}; expected settings that fit some artefact, got "
        f"{' '.join(overrides)}."
    )


_write_page: Callable[[str], ArtefactPage] | None = None
"""What forked processes call: they share its snapshot of the store, which is too large to be sent."""


def _write_each(write: Callable[[str], ArtefactPage], names: Sequence[str], n_jobs: int) -> list[ArtefactPage]:
    """Return the page of each artefact; most of the time goes into their figures, so some processes share it."""
    global _write_page
    if n_jobs == 1 or "fork" not in get_all_start_methods():
        return [write(name) for name in names]
    _write_page = write
    try:
        with ProcessPoolExecutor(n_jobs, get_context("fork")) as pool:
            return list(pool.map(_write_in_process, names))
    finally:
        _write_page = None


def _write_in_process(name: str) -> ArtefactPage:
    assert _write_page is not None
    return _write_page(name)


def _write_overview(
    site: Site,
    pages: Sequence[ArtefactPage],
    verdicts: Sequence[Verdict],
    readings: Mapping[str, ClaimReadings],
    audits: Sequence[AuditRun],
    of_runs: Mapping[str, Any],
    reference: ProjectReference,
) -> None:
    """Write the overview, the list of claims, the page of each paper, and the list of own runs."""
    titles: dict[str, str] = {}
    shared: dict[str, Any] = {
        "tally": partial(tally, readings),
        "sum_certificates": sum_certificates,
        "readings": readings,
        "reference": reference,
    }
    pages = sorted(pages, key=lambda page: not page.n_found)  # what is stored comes first
    for name in dict.fromkeys(page.paper for page in pages):
        titles[name], notes = papers()[name].read_notes()
        site.write(
            f"papers/{name}.html", "paper.html", titles[name], name, titles[name], name=name,
            pages=[page for page in pages if page.paper == name],
            verdicts=[verdict for verdict in verdicts if verdict.claim.paper == name],
            notes=Markup(render_notes(notes)), **shared,
        )  # fmt: skip
    site.write(
        "index.html", "index.html", "Overview", "index", pages=pages, titles=titles, verdicts=verdicts,
        n_complete=sum(page.state == COMPLETE for page in pages), audit=audits[0] if audits else None, **shared,
        **of_runs,
    )  # fmt: skip
    if of_runs["runs"]:
        site.write("runs/index.html", "overview_runs.html", "Comparison", "runs", "Runs", **of_runs)
    decided_first = sorted(verdicts, key=lambda verdict: verdict.verdict == NOT_RUN)
    site.write("claims/index.html", "claims.html", "Claims", "claims", "Claims", verdicts=decided_first, **shared)


def tally(readings: Mapping[str, ClaimReadings], verdicts: Iterable[Verdict]) -> list[tuple[str, int]]:
    """Return how many of the papers' own claims have each verdict, firm or depending on the reading.

    The others stand beside, in the lists.
    """
    robustness = {claim: page.robustness for claim, page in readings.items()}
    own = [verdict for verdict in verdicts if verdict.claim.kind == "paper"]
    return tallied(counted_verdict(verdict.claim.id, verdict.verdict, robustness) for verdict in own)


def _write_environment(site: Site, store: StoreSnapshot, audits: Sequence[AuditRun]) -> None:
    """Write the page about machines, versions, the store and audits."""
    machine: list[tuple[str, str]] = []
    stored: list[tuple[str, str]] = []
    problems: list[str] = []
    for check in examine(site.results):
        if check.group == INSTALLATION:
            machine.append((check.name, check.value))
        elif check.group == STORE and check.name not in ("folder", "writable"):
            if check.state == OK:
                stored.append((check.name, check.value))
            else:
                problems.append(f"{check.name}: {check.value}")
    if store.n_nameless:
        problems.append(
            f"{store.n_nameless:,} records without a key or a cell, or a repeat, fold or draw, belong to no number and "
            f"are left out"
        )
    environments = value_counts(store.column("environment").to_pandas())
    different = [(run.when, *trial) for run in audits for trial in run.different]
    site.write(
        "environment.html", "environment.html", "Environment", "environment", "Environment",
        problems=problems, store=stored, machine=machine, audits=audits, versions=versions,
        different=different[:MAX_DIFFERENT], n_different=len(different),
        environments=[(versions(text), n) for text, n in environments],
        revisions=value_counts(store.column("git_revision").to_pandas()),
    )  # fmt: skip
