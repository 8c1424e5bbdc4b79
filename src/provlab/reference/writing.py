"""Write the folder of reference results."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from provlab.claims import VERDICTS, Evidence
from provlab.claims.decisions import RULES_VERSION
from provlab.claims.judged import Judged, claim_files, judge_files
from provlab.configs import COMPLETE, Artefact, compose_artefact
from provlab.datasets import MissingDataError
from provlab.project import artefact_names
from provlab.reference.costs import algorithm_versions, certificate_counts, computed_with, cost_of, planned_trials
from provlab.reference.sample import sample_records
from provlab.reports.figures import only_formats
from provlab.reports.recipe import load_recipe
from provlab.reports.tables import markdown_table, write_text
from provlab.store import StoreSnapshot, TrialReader, TrialStore
from provsel import __version__
from provsel.files import replacing_folder

FOLDER = "reference"
MAX_BYTES = 5_000_000
"""A repository is cloned with all its history."""

KEPT = {".csv", ".md", ".svg"}
"""Of what an artefact writes: what can be read, compared, and shown in a browser."""

BENCHMARKS = "benchmarks.json"
"""Stands in the folder too, and is written by the benchmarks."""


def write_reference(results: Path, overrides: Sequence[str] = ()) -> Path:
    """Write `results`/reference from what is stored, in place of what was there, and return the folder.

    Parameters
    ----------
    results : path
    overrides : sequence of str
        The user's settings; for a reference there should be none.

    Raises
    ------
    ValueError
        When nothing is stored, or the files are larger than `MAX_BYTES`.
    OSError
        When the folder cannot be written; the old one stays.
    """
    store, target = StoreSnapshot.take(TrialStore(results / "store")), results / FOLDER
    if not len(store):
        raise ValueError(
            f"reference: expected stored trials in {store.store.folder}, found none; run provsel reproduce all first."
        )
    with replacing_folder(target) as folder:
        _fill(folder, store, overrides)
        _copy_readings(results, folder)
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        if size > MAX_BYTES:
            raise ValueError(f"reference: expected at most {MAX_BYTES} bytes, got {size}; leave out the largest files.")
        if (target / BENCHMARKS).is_file():
            shutil.copy2(target / BENCHMARKS, folder / BENCHMARKS)
    return target


def _fill(folder: Path, store: StoreSnapshot, overrides: Sequence[str]) -> None:
    artefacts: dict[str, Artefact | str] = {}
    trials: list[pd.DataFrame] = []
    lines: dict[str, dict[str, Any]] = {}
    records: dict[str, dict[str, Any]] = {}
    for name in artefact_names():
        try:
            artefact = artefacts[name] = compose_artefact(name, overrides)
            found, n_planned = planned_trials(artefact, store)
            artefact.check_data(len(found))
        except MissingDataError as error:
            artefacts[name] = f"data missing: provsel fetch {error.dataset}"
            lines[name] = {"state": "data missing"}
            continue
        trials.append(found)
        cost = cost_of(found, n_planned)
        lines[name] = cost.as_json() | {"certificates": certificate_counts(found)}
        if cost.state == COMPLETE:  # a part of a table is no reference
            _render(artefact, store, folder)
            records |= {record["key"]: record for record in sample_records(artefact, store)}
    evidence = Evidence(store, overrides, artefacts=artefacts)
    judged = judge_files(claim_files(), evidence)
    evidence.raise_if_nothing_fits()
    judged.write(folder)
    judged.draw(folder)
    TrialStore(folder / "sample").append(list(records.values()))
    everything = pd.concat(trials).drop_duplicates("key")
    composed = [artefact for artefact in artefacts.values() if isinstance(artefact, Artefact)]
    summary = {
        "provsel": __version__,
        "written": datetime.now(UTC).date().isoformat(),
        "settings": list(overrides),
        "trials": len(everything),
        "cpu_hours": round(float(everything["task_cpu"].sum()) / 3600, 3),
        **computed_with(everything),
        "algorithm_versions": algorithm_versions(composed),
        "artefacts": lines,
        "rules": RULES_VERSION,
        "verdicts": _totals(judged),
    }
    write_text(folder / "summary.json", json.dumps(summary, indent=1, ensure_ascii=False) + "\n")
    write_text(folder / "README.md", _readme(summary))
    _keep(folder)


def _copy_readings(results: Path, folder: Path) -> None:
    """Copy what `provsel readings` wrote: every universe, robustness, distances to the print, the letter."""
    for path in sorted(results.glob("readings/*/*")):
        if path.suffix in KEPT:
            target = folder / path.relative_to(results)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)


def _render(artefact: Artefact, store: TrialReader, folder: Path) -> None:
    recipe = load_recipe(artefact.name)
    with only_formats("svg"):
        frame = recipe.frame(artefact, store)
        recipe.write(artefact, store, frame, folder / "tables" / artefact.name, folder / "figures" / artefact.name)


def _keep(folder: Path) -> None:
    for path in [*folder.glob("tables/**/*"), *folder.glob("figures/**/*")]:
        if path.is_file() and path.suffix not in KEPT:
            path.unlink()


def _totals(judged: Judged) -> dict[str, dict[str, int]]:
    papers: dict[str, dict[str, int]] = {}
    for made in judged.verdicts:
        if made.claim.kind != "paper":
            continue
        counts = papers.setdefault(made.claim.paper, dict.fromkeys(VERDICTS, 0))
        counts[made.verdict] += 1
    return papers


def _readme(summary: dict[str, Any]) -> str:
    artefacts = [
        [name, line["state"], f"{line.get('n_stored', 0)} of {line.get('n_planned', '?')}", _hours(line)]
        for name, line in summary["artefacts"].items()
    ]
    verdicts = [[paper, *(counts[verdict] for verdict in VERDICTS)] for paper, counts in summary["verdicts"].items()]
    note = (
        f"{summary['trials']} trials, {summary['cpu_hours']:.1f} CPU hours in all, as trials that artefacts share are "
        f"computed once."
    )
    rules = f"by version {summary['rules']} of the rules"
    complete = sum(line["state"] == COMPLETE for line in summary["artefacts"].values())
    missing = len(artefacts) - complete
    unfinished = (
        f"{missing} of {len(artefacts)} artefacts are not complete and are not shown; verdicts that rest on them are "
        f"not final."
    )
    return "\n".join(
        [
            "# Reference results",
            "",
            "What a full run gave, written by `provsel reference` from its store: tables (CSV, Markdown),",
            "figures (SVG), `verdicts.csv`, `rankings.csv`, `summary.json` (environment, revisions, costs, states of",
            "certificates), `readings/`, what `provsel readings` found, and `sample/`, some records of trials on",
            "synthetic data, which the tests compute again.",
            "",
            *([unfinished, ""] if missing else []),
            markdown_table(["artefact", "state", "trials", "CPU hours"], artefacts, "Artefacts", note),
            markdown_table(["paper", *VERDICTS], verdicts, f"Verdicts on the papers' own claims, {rules}"),
        ]
    )


def _hours(line: dict[str, Any]) -> str:
    return f"{line['cpu_hours']:.2f}" if "cpu_hours" in line else ""
