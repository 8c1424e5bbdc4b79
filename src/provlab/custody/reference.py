"""Reference results: committed results of full runs, which are compared with the current code.

`provsel reference` writes them from stored trials, one artefact at a time, because a
run of all artefacts takes long. They comprise tables (CSV, Markdown) and figures (SVG)
by the artefacts' recipes, verdicts and rankings as in `provsel verify`, the findings of
`provsel readings`, and a sample of the records, which tests recompute. `summary.json`
states the code and data of each artefact, and the README compares these statements with
the current code.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from provlab.core.artefact import Artefact, compose_artefact, counted_state
from provlab.core.frames import planned_trials
from provlab.core.plan import unique_cells
from provlab.core.recipe import load_recipe
from provlab.core.snapshot import StoreSnapshot, TrialReader
from provlab.core.store import SCHEMA, TrialStore
from provlab.core.tables import write_changed, write_frame, write_text
from provlab.custody.audit_runs import audits_frame, read_audits
from provlab.custody.letter import OWN, letter
from provlab.custody.texts import fill, render
from provlab.data import MissingDataError, source_names
from provlab.project.documents import read_json
from provlab.project.papers import artefact_names, full_name, papers
from provlab.report.figures.ranks import draw_rankings
from provlab.report.figures.style import only_formats
from provlab.verdicts.claims.dataset_ranks import ranked
from provlab.verdicts.claims.provenance import (
    COLUMNS,
    Provenance,
    Versions,
    stored_trials,
)
from provlab.verdicts.claims.rules import (
    INCONCLUSIVE,
    NOT_CONTRADICTED,
    NOT_RUN,
    ONE_READING,
    VERDICTS,
)
from provlab.verdicts.claims.schema import (
    ClaimFile,
    all_claim_files,
    claim_files,
    claims_about,
)
from provlab.verdicts.claims.stored import Evidence
from provlab.verdicts.claims.verdicts import judge_files, verdict_frame
from provlab.verdicts.readings.schema import paper_readings
from provlab.verdicts.readings.study import (
    copy_readings,
    joined,
    stored_made,
    stored_outcome,
)
from provlab.verdicts.reference import (
    FOLDER,
    RANKING_LINES,
    READINGS,
    STATES,
    SUMMARY,
    VERDICT_LINES,
    Reference,
)
from provsel.files import replacing_folder

log = logging.getLogger(__name__)

README = "README.md"
BENCHMARKS = "benchmarks.json"
SAMPLE = "sample"
LETTER = "letter.md"
AUDITS = "audits.csv"

UNDECIDED = (INCONCLUSIVE, NOT_CONTRADICTED)
"""Verdicts that more observations could decide."""

SUFFIXES = {".csv", ".md", ".svg"}
"""Formats of an artefact's files, which are readable, comparable and viewable in a browser."""

MAX_TRIALS = 12
"""Number of records per artefact in the sample."""

MAX_SECONDS = 3.0
"""CPU time limit of these records, because every change is checked with them."""


def write_parts(reference: Reference) -> None:
    """Write verdicts.csv, rankings.csv, summary.json and README.md for the artefacts in the reference."""
    write_frame(reference.verdicts, reference.folder / VERDICT_LINES)
    write_frame(reference.rankings, reference.folder / RANKING_LINES)
    artefacts = {
        name: reference.artefacts[name]
        for name in artefact_names()
        if name in reference.artefacts
    }
    readings = dict(sorted(reference.readings.items()))
    summary = {
        **reference.cost(),
        "verdicts": reference.totals(),
        "artefacts": artefacts,
        "readings": readings,
    }
    write_text(
        reference.folder / SUMMARY,
        json.dumps(summary, indent=1, ensure_ascii=False) + "\n",
    )
    write_pages(reference.folder)


def readme(reference: Reference) -> str:
    """Return the README, which compares the statements of the parts with the current code."""
    judged = {*reference.verdicts["id"]}
    totals = reference.totals()
    for file in all_claim_files():  # claims without a row have not been run
        of_paper = totals.setdefault(file.paper, dict.fromkeys(VERDICTS, 0))
        of_paper[NOT_RUN] += sum(
            claim.kind == "paper" and claim.id not in judged for claim in file.claims
        )
    # written by experiments/benchmarks/ratios.py --goals
    path = reference.folder / BENCHMARKS
    benchmarks = read_json(path) if path.is_file() else {}
    claims = reference.claims()
    own = claims[claims["kind"] == "paper"]
    one_reading = own["counted"] == ONE_READING
    depending = (own["counted"] != own["verdict"]) & ~one_reading
    undecided = reference.verdicts["verdict"].isin(UNDECIDED)
    return render(
        Path(__file__).with_suffix(".md.j2"),
        reference=reference, totals=totals, verdicts=VERDICTS, benchmarks=benchmarks,
        depending=own[depending].to_dict("records"), one_reading=own[one_reading].to_dict("records"),
        why_one_reading=lambda line: paper_readings(line["paper"]).why_one_reading(line["id"]),
        open_claims=reference.verdicts[undecided].to_dict("records"),
        goals=[case for case in benchmarks.get("cases", []) if case["met"] is not None],
    )  # fmt: skip


def letters(reference: Reference) -> dict[Path, str]:
    """Return the letters to the authors of all papers with readings in the reference, by path."""
    own_claims = reference.own_claims()
    outdated = [name for name, changes in reference.changed_readings.items() if changes]
    texts = {}
    for name, paper in papers().items():
        path = reference.folder / READINGS / name / LETTER
        template = paper.folder / OWN
        try:
            outcome = stored_outcome(name, reference.folder)
            if outcome is None or name not in own_claims:
                continue
            paragraph = fill(template, reference.folder) if template.is_file() else ""
        except ValueError as error:
            # the readings have changed since, which the README reports as well
            log.warning("reference: no letter was written about %s: %s", name, error)
            path.unlink(missing_ok=True)
            continue
        counts = dict(
            zip(own_claims[name]["id"], own_claims[name]["counted"], strict=True)
        )
        texts[path] = letter(outcome, counts, outdated=outdated, own=paragraph)
    return texts


def write_pages(folder: Path) -> list[Path]:
    """Write README.md and the letters of a folder of reference results with the current code; return changed files."""
    reference = Reference.read(folder)
    return write_changed({folder / README: readme(reference), **letters(reference)})


def write_reference(
    results: Path, overrides: Sequence[str] = (), artefacts: Sequence[str] = ()
) -> Path:
    """Write stored artefacts into `results`/reference, and return the folder.

    Everything that belongs to an artefact is rewritten: its tables and figures, the
    verdicts and rankings based on it, its records in the sample, the readings of its
    claims, and the statement of its code and data. The parts of other artefacts are
    kept unless these no longer exist in the project.

    Parameters
    ----------
    results : path
    overrides : sequence of str
        The user's settings, which should be empty for a reference.
    artefacts : sequence of str
        By default all artefacts whose trials are all stored.

    Raises
    ------
    ValueError
        If nothing is stored, or a named artefact, or one that shares claims with it, is
        incomplete.
    OSError
        If the folder cannot be written; the old one stays.
    """
    target = results / FOLDER
    store = StoreSnapshot(TrialStore(results / "store"))
    if not len(store):
        raise ValueError(
            f"reference: expected stored trials in {store.store.folder}, found none; run provsel reproduce all first."
        )
    names = [full_name(name) for name in artefacts]
    files = claim_files()
    complete = _complete(names, store, overrides, files)
    evidence = Evidence(
        store, overrides, {name: artefact for name, (artefact, _) in complete.items()}
    )
    verdicts, rankings = judge_files(files, evidence, complete)
    with replacing_folder(target) as folder:
        reference = _copy(target, folder)
        _remove_files(
            reference, {*complete} | ({*reference.artefacts} - {*artefact_names()})
        )
        sample = {
            record["key"]: record
            for record in whole_records(TrialStore(folder / SAMPLE))
        }
        for name, (artefact, trials) in complete.items():
            records = {
                record["key"]: record for record in sample_records(artefact, store)
            }
            sample.update(records)
            provenance = Provenance.of(
                Versions.of_artefact(artefact, claims_about([name], files)),
                trials,
                overrides,
            )
            reference.artefacts[name] = {
                **asdict(provenance),
                "certificates": certificate_counts(trials),
                "files": _write_files(folder, artefact, store, rankings),
                "sample": sorted(records),
            }
        _write_sample(reference, sample)
        ids = [claim.id for file in files for claim in file.claims]
        order = [ranking.artefact for file in files for ranking in file.rankings]
        lines = joined(reference.verdicts, verdict_frame(verdicts), "id", ids)
        lines_of_rankings = joined(
            reference.rankings, ranked(rankings), "artefact", order
        )
        _finish(
            replace(reference, verdicts=lines, rankings=lines_of_rankings),
            results,
            names,
        )
    return target


def _write_sample(reference: Reference, records: Mapping[str, dict[str, Any]]) -> None:
    """Replace the sample by the records, given by key, that the artefacts name."""
    folder = reference.folder / SAMPLE
    shutil.rmtree(folder, ignore_errors=True)
    keys = sorted(
        {key for part in reference.artefacts.values() for key in part["sample"]}
    )
    TrialStore(folder).append([records[key] for key in keys])


def _remove_files(reference: Reference, artefacts: Collection[str]) -> None:
    """Remove the parts of artefacts, and their tables and figures."""
    for name in artefacts:
        part = reference.artefacts.pop(name, {"files": []})
        for file in part["files"]:
            (reference.folder / file).unlink()


def write_readings(results: Path, artefacts: Sequence[str] = ()) -> Path:
    """Write the findings of `provsel readings` into `results`/reference; all else there stays. Return the folder.

    Parameters
    ----------
    results : path
    artefacts : sequence of str
        Artefacts whose readings are written; by default all with readings.

    Raises
    ------
    ValueError
        If a named artefact has no readings.
    OSError
        If the folder cannot be written; the old one stays.
    """
    target = results / FOLDER
    names = [full_name(name) for name in artefacts]
    stored = {
        name
        for path in (results / READINGS).glob("*/made.json")
        for name in stored_made(path.parent)
    }
    missing = sorted({*names} - stored)
    if missing or not stored:
        raise ValueError(
            f"reference: expected readings of {', '.join(missing) or 'a paper'} in {results / READINGS}, "
            f"got {', '.join(sorted(stored)) or 'none'}; run provsel readings first."
        )
    with replacing_folder(target) as folder:
        _finish(_copy(target, folder), results, names)
    return target


def write_audits(results: Path) -> Path:
    """Write the findings of `provsel audit` into `results`/reference, as audits.csv, and return the folder.

    Raises
    ------
    ValueError
        If there was no run.
    """
    audits = audits_frame(read_audits(results))
    if audits.empty:
        raise ValueError(
            f"reference: expected runs of provsel audit in {results / 'audits'}, got none; run it first."
        )
    write_frame(audits, results / FOLDER / AUDITS)
    return results / FOLDER


def _copy(target: Path, folder: Path) -> Reference:
    """Copy the reference into a new folder, and return its content."""
    if target.is_dir():
        shutil.copytree(target, folder, dirs_exist_ok=True)
    return Reference.read(folder)


def _finish(reference: Reference, results: Path, names: Sequence[str]) -> None:
    """Add the readings about the given artefacts, or all; write the summary and the README."""
    folder = reference.folder
    files = {file.paper: file for file in all_claim_files()}
    for path in sorted((results / READINGS).glob("*/made.json")):
        new = {
            name: part
            for name, part in stored_made(path.parent).items()
            if not names or name in names
        }
        if new and path.parent.name in files:
            reference.readings.update(
                {name: asdict(provenance) for name, provenance in new.items()}
            )
            copy_readings(
                path.parent,
                folder / READINGS / path.parent.name,
                new,
                files[path.parent.name],
            )
    write_parts(reference)


def sample_records(artefact: Artefact, store: TrialReader) -> list[dict[str, Any]]:
    """Return the record with the lowest key among an artefact's cells: on synthetic data, the cheapest first.

    Trials measured in a separate process are left out, since their memory is not a
    comparable result.
    """
    registered = {*source_names()}
    synthetic = [
        cell
        for cell in unique_cells(artefact.cells)
        if cell.dataset["name"] not in registered
    ]
    cells = [cell for cell in synthetic if cell.protocol["split"] != "streamed"]
    costs = planned_trials(store, cells, ["key", "task_cpu"]).dropna(
        subset=["task_cpu"]
    )
    lowest = (
        costs.sort_values("key")
        .groupby("cell", sort=False)
        .head(1)
        .sort_values(["task_cpu", "key"])
    )
    chosen = lowest[lowest["task_cpu"].cumsum() <= MAX_SECONDS].head(MAX_TRIALS)
    keys = set(chosen["key"])
    return [
        record
        for record in whole_records(store, chosen["cell"])
        if record["key"] in keys
    ]


def whole_records(
    store: TrialReader, cells: Iterable[str] | None = None
) -> list[dict[str, Any]]:
    """Return records with the values of own measures; a record has only the columns of its cell's measures."""
    records = store.query(cells).to_pylist()
    for record in records:
        for name in record.keys() - {*SCHEMA.names}:
            if record[name] is None:
                del record[name]
    return records


def certificate_counts(trials: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Return how many trials are in each state, by certificate; unmeasured ones are left out."""
    counts = {}
    for name, column in STATES.items():
        states = (
            trials[column]
            .value_counts()
            .sort_index()
            .drop(["not measured", "no bound"], errors="ignore")
        )
        if len(states):
            counts[name] = {str(state): int(n) for state, n in states.items()}
    return counts


def _complete(
    names: Sequence[str],
    store: StoreSnapshot,
    overrides: Sequence[str],
    files: Sequence[ClaimFile],
) -> dict[str, tuple[Artefact, pd.DataFrame]]:
    """Return the named artefacts with their trials; by default all complete ones and those that share claims."""
    complete: dict[str, tuple[Artefact, pd.DataFrame]] = {}
    reasons: dict[str, str] = {}
    for name in names or artefact_names():
        try:
            artefact = compose_artefact(name, overrides)
            trials, n_planned = stored_trials(
                artefact.cells, store, (*COLUMNS, *STATES.values())
            )
            artefact.check_data(len(trials))
        except MissingDataError as error:
            reasons[name] = f"data missing: provsel fetch {error.dataset}"
            continue
        if len(trials) == n_planned:
            complete[name] = artefact, trials
        else:  # part of a table is not a reference
            reasons[name] = counted_state(len(trials), n_planned)
    shared = [claim.artefacts for file in files for claim in file.claims]
    while partly := [
        artefacts
        for artefacts in shared
        if artefacts & complete.keys() and artefacts - complete.keys()
    ]:
        for artefacts in partly:  # verdicts on all of them must use the same trials
            missing = ", ".join(sorted(artefacts - complete.keys()))
            for name in artefacts & complete.keys():
                reasons[name] = f"claims rest on it and {missing}"
                del complete[name]
    text = "; ".join(f"{name}: {why}" for name, why in reasons.items())
    if not complete or (names and reasons):
        raise ValueError(
            f"reference: expected artefacts whose trials are all stored, together with those that share claims with "
            f"them, got {text}; run provsel reproduce, or name them all."
        )
    if reasons:
        log.warning("reference: these artefacts were left unchanged: %s", text)
    return complete


def _write_files(
    folder: Path, artefact: Artefact, store: TrialReader, rankings: pd.DataFrame
) -> list[str]:
    """Write tables and figures of an artefact and of its rankings, and return their paths below the folder."""
    name = artefact.name
    recipe = load_recipe(name)
    files = []
    with TemporaryDirectory(prefix=".part-", dir=folder) as temporary:
        part = Path(temporary)
        with only_formats("svg"):
            frame = recipe.frame(artefact, store)
            recipe.write(
                artefact, store, frame, part / "tables" / name, part / "figures" / name
            )
        draw_rankings(rankings[rankings["artefact"] == name], part / "figures")
        for path in sorted(part.rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                target = folder / path.relative_to(part)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
                files.append(path.relative_to(part).as_posix())
    return files
