"""The reference results: what full runs gave, small enough to be committed, and compared with the code ever after.

`provsel reference` writes them from what is stored, one artefact at a time, as a run of all takes long: tables (CSV,
Markdown) and figures (SVG) by the artefacts' recipes, verdicts and rankings as `provsel verify`, what `provsel
readings` found, and a sample of the records, which tests compute again. `summary.json` states for each artefact what
its part was made with; the README compares these statements with the code as it is now.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import pandas as pd

from provlab.audit_runs import audits_frame, read_audits
from provlab.claims.provenance import COLUMNS, Provenance, Versions, stored_trials
from provlab.claims.ranking import draw_rankings, ranked
from provlab.claims.rules import INCONCLUSIVE, NOT_CONTRADICTED, NOT_RUN, ONE_READING, VERDICTS
from provlab.claims.schema import ClaimFile, all_claim_files, claim_files, claims_about
from provlab.claims.stored import Evidence
from provlab.claims.verdicts import judge_files, verdict_frame
from provlab.datasets import MissingDataError, source_names
from provlab.documents import read_json
from provlab.figures.style import only_formats
from provlab.frames import planned_trials
from provlab.plan import Artefact, compose_artefact, counted_state, unique_cells
from provlab.project import artefact_names, full_name
from provlab.readings.letter import write_letter
from provlab.readings.robustness import (
    counted,
    stored_robustness,
    stored_subsamples,
    tallied,
    under_readings,
)
from provlab.readings.schema import paper_readings
from provlab.readings.study import (
    copy_readings,
    joined,
    readings_changes,
    stored_made,
    stored_outcome,
    texts,
    universes_file,
)
from provlab.recipe import load_recipe
from provlab.snapshot import StoreSnapshot
from provlab.store import SCHEMA, TrialReader, TrialStore
from provlab.summaries import ALL_CERTIFICATES
from provlab.tables import write_frame, write_text
from provlab.texts import render
from provsel.files import replacing_folder

log = logging.getLogger(__name__)

FOLDER, README, SUMMARY, BENCHMARKS = "reference", "README.md", "summary.json", "benchmarks.json"
VERDICT_LINES, RANKING_LINES = "verdicts.csv", "rankings.csv"
SAMPLE, READINGS, LETTER, AUDITS = "sample", "readings", "letter.md", "audits.csv"

OPEN = (INCONCLUSIVE, NOT_CONTRADICTED)
"""Verdicts that more observations would decide."""

MAX_BYTES = 16_000_000
"""A repository is cloned with all its history."""

KEPT = {".csv", ".md", ".svg"}
"""Of what an artefact writes: what can be read, compared, and shown in a browser."""

STATES = {name: f"certificate_{name}" for name in ALL_CERTIFICATES}

MAX_TRIALS, MAX_SECONDS = 12, 3.0
"""Of an artefact in the sample, and their CPU time: a check of every change has to be quick."""


@dataclass(frozen=True)
class Reference:
    """A folder of reference results.

    Attributes
    ----------
    folder : Path
    artefacts : dict
        What summary.json says of each: a `Provenance`; `certificates`, how many trials are in each state, by
        certificate; `files`, its tables and figures below the folder; `sample`, keys of its records in the sample.
    readings : dict
        The `Provenance` of the readings of the claims about each artefact.
    verdicts, rankings : DataFrame
        One line a claim, and one line a method and column; all as text.
    """

    folder: Path
    artefacts: dict[str, dict[str, Any]]
    readings: dict[str, dict[str, Any]]
    verdicts: pd.DataFrame
    rankings: pd.DataFrame

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Return what a folder has; nothing where there is none.

        Raises
        ------
        ValueError
            When the summary does not say what its parts were made with.
        """
        path = folder / SUMMARY
        if not path.is_file():
            empty = [["id", "paper", "kind", "verdict"], ["artefact", "column"]]
            return cls(folder, {}, {}, *(pd.DataFrame(columns=names) for names in empty))
        summary = read_json(path)
        for name, part in [*summary["artefacts"].items(), *summary["readings"].items()]:
            Provenance.from_json(part, f"{path}: {name}")
        lines = texts(folder / VERDICT_LINES), texts(folder / RANKING_LINES)
        return cls(folder, summary["artefacts"], summary["readings"], *lines)

    def write(self) -> None:
        """Write verdicts.csv, rankings.csv, summary.json and README.md."""
        write_frame(self.verdicts, self.folder / VERDICT_LINES)
        write_frame(self.rankings, self.folder / RANKING_LINES)
        artefacts = {name: self.artefacts[name] for name in artefact_names() if name in self.artefacts}
        readings = dict(sorted(self.readings.items()))
        summary = {**self.cost(), "verdicts": self.totals(), "artefacts": artefacts, "readings": readings}
        write_text(self.folder / SUMMARY, json.dumps(summary, indent=1, ensure_ascii=False) + "\n")
        write_readme(self.folder)

    def cost(self) -> dict[str, float]:
        """Return the number of trials and the CPU hours of all parts."""
        hours = round(sum(part["cpu_hours"] for part in self.artefacts.values()), 3)
        return {"trials": sum(part["trials"] for part in self.artefacts.values()), "cpu_hours": hours}

    def totals(self) -> dict[str, dict[str, int]]:
        """Return how many of each paper's own claims have each verdict, firm or depending on the reading."""
        claims = self.claims()
        papers = claims[claims["kind"] == "paper"].groupby("paper", sort=False)["counted"]
        return {str(paper): dict(tallied(verdicts)) for paper, verdicts in papers}

    def claims(self) -> pd.DataFrame:
        """Return the verdicts, what each is `counted` as, and in words those under `readings` and of `subsamples`."""
        asked, ids = stored_robustness(self.folder), self.verdicts["id"]
        of_subsamples = stored_subsamples(self.folder)
        counts = [counted(*claim, asked) for claim in zip(ids, self.verdicts["verdict"], strict=True)]
        readings = [under_readings(claim, asked) for claim in ids]
        subsamples = [of_subsamples.get(claim, "") for claim in ids]
        return self.verdicts.assign(counted=counts, readings=readings, subsamples=subsamples)

    def changes(self) -> dict[str, list[str]]:
        """Return for each artefact what has changed in the code since its part was written, in words."""
        return {name: _changes(name, Provenance.from_json(part, name)) for name, part in self.artefacts.items()}

    def changes_of_readings(self) -> dict[str, list[str]]:
        """Return the same for the readings of the claims about each artefact, and how many verdicts are missing."""
        said = {name: readings_changes(name, Provenance.from_json(part, name)) for name, part in self.readings.items()}
        about = {claim.id: claim.rule.artefact for file in all_claim_files() for claim in file.claims}
        for path in sorted((self.folder / READINGS).glob("*")):
            lines = texts(universes_file(path))
            # a claim on data that the part of the data has not has no verdict, and nothing to wait for
            lines = lines[(lines["verdict"] != NOT_RUN) | (lines["state"] == NOT_RUN)]
            for name, verdicts in lines["verdict"].groupby(lines["claim"].map(about)):
                if name in said and (n_judged := int((verdicts != NOT_RUN).sum())) < len(verdicts):
                    more = f"so far {n_judged:,} verdicts of {len(verdicts):,}"
                    said[str(name)] = [*(said[str(name)] or ["up to date"]), more]
        return said

    def absent(self) -> list[str]:
        """Return the project's artefacts of which there is nothing."""
        return [name for name in artefact_names() if name not in self.artefacts]

    def without_verdict(self) -> list[str]:
        """Return the ids of the claims without a verdict that rest on no absent artefact."""
        files = all_claim_files()
        known = {*self.verdicts["id"], *(claim.id for claim in claims_about(self.absent(), files))}
        return [claim.id for file in files for claim in file.claims if claim.id not in known]

    def readme(self) -> str:
        """Return the README, which compares what the parts state with the code as it is now."""
        known, totals = {*self.verdicts["id"]}, self.totals()
        for file in all_claim_files():  # those without a line have not been run
            of_paper = totals.setdefault(file.paper, dict.fromkeys(VERDICTS, 0))
            of_paper[NOT_RUN] += sum(claim.kind == "paper" and claim.id not in known for claim in file.claims)
        path = self.folder / BENCHMARKS  # `results/benchmarks/latest.json` as `make bench` stored it
        benchmarks, claims = read_json(path) if path.is_file() else {}, self.claims()
        own = claims[claims["kind"] == "paper"]
        one_reading = own["counted"] == ONE_READING
        depending = own[(own["counted"] != own["verdict"]) & ~one_reading]
        return render(
            Path(__file__).with_suffix(".md.j2"),
            reference=self, totals=totals, verdicts=VERDICTS, benchmarks=benchmarks,
            depending=depending.to_dict("records"), one_reading=own[one_reading].to_dict("records"),
            why_one_reading=lambda line: paper_readings(line["paper"]).why_one_reading(line["id"]),
            open_claims=self.verdicts[self.verdicts["verdict"].isin(OPEN)].to_dict("records"),
            goals=[case for case in benchmarks.get("cases", []) if case["met"] is not None],
        )  # fmt: skip


def write_readme(folder: Path) -> bool:
    """Write README.md of a folder of reference results, up to date with the code, and return whether it changed."""
    path, text = folder / README, Reference.read(folder).readme()
    changed = not path.is_file() or path.read_text(encoding="utf-8") != text
    if changed:
        write_text(path, text)
    return changed


def write_reference(results: Path, overrides: Sequence[str] = (), artefacts: Sequence[str] = ()) -> Path:
    """Write artefacts from what is stored into `results`/reference, and return the folder.

    What belongs to an artefact is written anew: its tables and figures, the verdicts and rankings that rest on it, its
    records in the sample, the readings of the claims about it, and the statement of what all this was made with. The
    parts of other artefacts stay; those of artefacts that the project has no more go.

    Parameters
    ----------
    results : path
    overrides : sequence of str
        The user's settings; for a reference there should be none.
    artefacts : sequence of str
        By default all whose trials are all stored.

    Raises
    ------
    ValueError
        When nothing is stored, a named artefact is not complete, one that shares claims with it is neither named nor
        complete, or the files are larger than `MAX_BYTES`.
    OSError
        When the folder cannot be written; the old one stays.
    """
    store, target = StoreSnapshot(TrialStore(results / "store")), results / FOLDER
    if not len(store):
        raise ValueError(
            f"reference: expected stored trials in {store.store.folder}, found none; run provsel reproduce all first."
        )
    names, files = [full_name(name) for name in artefacts], claim_files()
    complete = _complete(names, store, overrides, files)
    evidence = Evidence(store, overrides, {name: artefact for name, (artefact, _) in complete.items()})
    verdicts, rankings = judge_files(files, evidence, complete)
    with replacing_folder(target) as folder:
        reference = _copy(target, folder)
        parts = reference.artefacts
        for name in {*complete} | ({*parts} - {*artefact_names()}):
            for file in parts.pop(name, {"files": []})["files"]:
                (folder / file).unlink()
        sample = {record["key"]: record for record in whole_records(TrialStore(folder / SAMPLE))}
        for name, (artefact, trials) in complete.items():
            records = {record["key"]: record for record in sample_records(artefact, store)}
            made = Provenance.of(Versions.of_artefact(artefact, claims_about([name], files)), trials, overrides)
            written = _write_files(folder, artefact, store, rankings)
            counts = certificate_counts(trials)
            parts[name] = asdict(made) | {"certificates": counts, "files": written, "sample": sorted(records)}
            sample |= records
        shutil.rmtree(folder / SAMPLE, ignore_errors=True)
        keys = sorted({key for part in parts.values() for key in part["sample"]})
        TrialStore(folder / SAMPLE).append([sample[key] for key in keys])
        ids = [claim.id for file in files for claim in file.claims]
        order = [ranking.artefact for file in files for ranking in file.rankings]
        lines = joined(reference.verdicts, verdict_frame(verdicts), "id", ids)
        lines_of_rankings = joined(reference.rankings, ranked(rankings), "artefact", order)
        _finish(replace(reference, verdicts=lines, rankings=lines_of_rankings), results, names)
    return target


def write_readings(results: Path, artefacts: Sequence[str] = ()) -> Path:
    """Write what `provsel readings` found into `results`/reference; all else there stays. Return the folder.

    Parameters
    ----------
    results : path
    artefacts : sequence of str
        Those whose readings are written; by default all that were asked.

    Raises
    ------
    ValueError
        When the readings of a named artefact are not there, or the files are larger than `MAX_BYTES`.
    OSError
        When the folder cannot be written; the old one stays.
    """
    target, names = results / FOLDER, [full_name(name) for name in artefacts]
    found = {name for path in (results / READINGS).glob("*/made.json") for name in stored_made(path.parent)}
    missing = sorted({*names} - found)
    if missing or not found:
        raise ValueError(
            f"reference: expected readings of {', '.join(missing) if names else 'a paper'} in {results / READINGS}, "
            f"got {', '.join(sorted(found)) or 'none'}; run provsel readings first."
        )
    with replacing_folder(target) as folder:
        _finish(_copy(target, folder), results, names)
    return target


def write_audits(results: Path) -> Path:
    """Write what the runs of `provsel audit` found into `results`/reference, as audits.csv, and return the folder.

    Raises
    ------
    ValueError
        When there was no run.
    """
    found = audits_frame(read_audits(results))
    if found.empty:
        raise ValueError(f"reference: expected runs of provsel audit in {results / 'audits'}, got none; run it first.")
    write_frame(found, results / FOLDER / AUDITS)
    return results / FOLDER


def _copy(target: Path, folder: Path) -> Reference:
    """Copy the reference into a new folder, and return what it has."""
    if target.is_dir():
        shutil.copytree(target, folder, dirs_exist_ok=True)
    return Reference.read(folder)


def _finish(reference: Reference, results: Path, names: Sequence[str]) -> None:
    """Add the readings about some artefacts, or all; write the statement of all that is there, and the README."""
    folder, files = reference.folder, {file.paper: file for file in all_claim_files()}
    for path in sorted((results / READINGS).glob("*/made.json")):
        new = {name: each for name, each in stored_made(path.parent).items() if not names or name in names}
        if new and path.parent.name in files:
            reference.readings.update({name: asdict(made) for name, made in new.items()})
            _add_readings(reference, path.parent, new, files[path.parent.name])
    reference.write()
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    if size > MAX_BYTES:
        raise ValueError(f"reference: expected at most {MAX_BYTES} bytes, got {size}; leave out the largest files.")


def _add_readings(reference: Reference, source: Path, new: Collection[str], claims: ClaimFile) -> None:
    """Copy the readings of a paper about some artefacts, and write the letter on these and on what is not older."""
    paper, here = claims.paper, reference.folder / READINGS / claims.paper
    copy_readings(source, here, new, claims)
    left_out = [
        name
        for name, part in sorted(reference.readings.items())
        if name.startswith(f"{paper}/") and name not in new and readings_changes(name, Provenance.from_json(part, name))
    ]
    (here / LETTER).unlink(missing_ok=True)
    try:
        outcome = stored_outcome(paper, reference.folder)
    except ValueError as error:  # lines of other readings than now, which the README says as well
        log.warning("reference: no letter on %s: %s", paper, error)
        return
    if outcome is not None:
        write_letter(outcome, here / LETTER, left_out)


def sample_records(artefact: Artefact, store: TrialReader) -> list[dict[str, Any]]:
    """Return the record with the lowest key of some of an artefact's cells: on synthetic data, the cheapest first.

    What was measured in a process of its own is left out, as its memory is no result that could be compared.
    """
    made = [cell for cell in unique_cells(artefact.cells) if cell.dataset["name"] not in source_names()]
    cells = [cell for cell in made if cell.protocol["split"] != "streamed"]
    costs = planned_trials(store, cells, ["key", "task_cpu"]).dropna(subset=["task_cpu"])
    lowest = costs.sort_values("key").groupby("cell", sort=False).head(1).sort_values(["task_cpu", "key"])
    chosen = lowest[lowest["task_cpu"].cumsum() <= MAX_SECONDS].head(MAX_TRIALS)
    keys = set(chosen["key"])
    return [record for record in whole_records(store, chosen["cell"]) if record["key"] in keys]


def whole_records(store: TrialReader, cells: Iterable[str] | None = None) -> list[dict[str, Any]]:
    """Return records with what own measures gave; one whose cell does not have a measure does not have its columns."""
    return [
        {name: value for name, value in record.items() if value is not None or name in SCHEMA.names}
        for record in store.query(cells).to_pylist()
    ]


def certificate_counts(trials: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Return how many trials are in each state, by certificate; what was not measured is left out."""
    states = {name: trials[column].value_counts().sort_index() for name, column in STATES.items()}
    left_out = {"not measured", "no bound"}
    counts = {name: {str(k): int(n) for k, n in found.items() if k not in left_out} for name, found in states.items()}
    return {name: found for name, found in counts.items() if found}


def _complete(
    names: Sequence[str], store: StoreSnapshot, overrides: Sequence[str], files: Sequence[ClaimFile]
) -> dict[str, tuple[Artefact, pd.DataFrame]]:
    """Return the named artefacts with their trials, or else all that are complete with those that share claims."""
    found: dict[str, tuple[Artefact, pd.DataFrame]] = {}
    left: dict[str, str] = {}
    for name in names or artefact_names():
        try:
            artefact = compose_artefact(name, overrides)
            trials, n_planned = stored_trials(artefact.cells, store, (*COLUMNS, *STATES.values()))
            artefact.check_data(len(trials))
        except MissingDataError as error:
            left[name] = f"data missing: provsel fetch {error.dataset}"
            continue
        if len(trials) == n_planned:
            found[name] = artefact, trials
        else:  # a part of a table is no reference
            left[name] = counted_state(len(trials), n_planned)
    resting = [claim.artefacts for file in files for claim in file.claims]
    while short := [each for each in resting if each & found.keys() and each - found.keys()]:
        for artefacts in short:  # verdicts on all of them must be on the same trials
            missing = ", ".join(sorted(artefacts - found.keys()))
            for name in artefacts & found.keys():
                left[name] = f"claims rest on it and {missing}"
                del found[name]
    said = "; ".join(f"{name}: {why}" for name, why in left.items())
    if not found or (names and left):
        raise ValueError(
            f"reference: expected artefacts with all their trials stored, and with them those that share claims with "
            f"them, got {said}; run provsel reproduce, or name both."
        )
    if left:
        log.warning("reference: as they were, if they were there: %s", said)
    return found


def _write_files(folder: Path, artefact: Artefact, store: TrialReader, rankings: pd.DataFrame) -> list[str]:
    """Write tables and figures of an artefact and of its rankings, and return their paths below the folder."""
    recipe, name = load_recipe(artefact.name), artefact.name
    with TemporaryDirectory(prefix=".part-", dir=folder) as temporary:
        here = Path(temporary)
        with only_formats("svg"):
            frame = recipe.frame(artefact, store)
            recipe.write(artefact, store, frame, here / "tables" / name, here / "figures" / name)
        draw_rankings(rankings[rankings["artefact"] == name], here / "figures")
        written = [path.relative_to(here) for path in sorted(here.rglob("*")) if path.suffix in KEPT and path.is_file()]
        for path in written:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(here / path, folder / path)
    return [path.as_posix() for path in written]


def changes_since(name: str, made: Provenance, artefact: Artefact | None = None) -> list[str]:
    """Return what has changed in the code since an artefact was made, in words.

    Parameters
    ----------
    name : str
    made : Provenance
    artefact : Artefact, optional
        As the settings of `made` have it, where that is at hand.

    Raises
    ------
    MissingDataError
        Data without which it cannot be planned are not here.
    """
    if name not in artefact_names():
        return ["no artefact of the project any more"]
    artefact = compose_artefact(name, made.settings) if artefact is None else artefact
    return made.changes(Versions.of_artefact(artefact, claims_about([name], all_claim_files())))


def _changes(name: str, made: Provenance) -> list[str]:
    try:
        return changes_since(name, made)
    except MissingDataError as error:
        return [f"not compared with the code: data missing, provsel fetch {error.dataset}"]
