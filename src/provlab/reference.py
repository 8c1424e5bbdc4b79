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
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import pandas as pd

from provlab.claims import INCONCLUSIVE, NOT_RUN, VERDICTS, Evidence, verdict_frame
from provlab.claims.provenance import COLUMNS, Provenance, Versions, stored_trials
from provlab.claims.schema import all_claim_files, claim_files, claims_about
from provlab.claims.verdicts import RankingResult, draw_rankings, judge_files, ranking_frame
from provlab.datasets import MissingDataError, source_names
from provlab.documents import read_json
from provlab.figures.style import only_formats
from provlab.frames import planned_trials
from provlab.plan import Artefact, compose_artefact, counted_state, unique_cells
from provlab.project import artefact_names, full_name
from provlab.readings import readings_changes, stored_made, stored_outcome
from provlab.readings.letter import write_letter
from provlab.readings.stored import copy_readings, joined, texts, universes_file
from provlab.recipe import load_recipe
from provlab.snapshot import StoreSnapshot
from provlab.store import SCHEMA, TrialReader, TrialStore
from provlab.summaries import ALL_CERTIFICATES
from provlab.tables import write_frame, write_text
from provlab.texts import render
from provsel.files import replacing_folder

log = logging.getLogger(__name__)

FOLDER, README, SUMMARY, BENCHMARKS = "reference", "README.md", "summary.json", "benchmarks.json"
SAMPLE, READINGS, LETTER = "sample", "readings", "letter.md"

MAX_BYTES = 16_000_000
"""A repository is cloned with all its history."""

KEPT = {".csv", ".md", ".svg"}
"""Of what an artefact writes: what can be read, compared, and shown in a browser."""

STATES = {name: f"certificate_{name}" for name in ALL_CERTIFICATES}

MAX_TRIALS, MAX_SECONDS = 12, 3.0
"""Of an artefact in the sample, and their CPU time: a check of every change has to be quick."""


@dataclass(frozen=True)
class Part:
    """What the reference has of one artefact, beside the verdicts and rankings that rest on it.

    Attributes
    ----------
    made : Provenance
    certificates : mapping
        How many trials are in each state, by certificate; what was not measured is left out.
    files : tuple of str
        Tables and figures, below the folder of the reference.
    sample : tuple of str
        Keys of those of its trials whose records stand in the sample.
    """

    made: Provenance
    certificates: Mapping[str, Mapping[str, int]]
    files: tuple[str, ...]
    sample: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return a JSON object, that of `made` with more."""
        more = asdict(self)
        return more.pop("made") | more


@dataclass(frozen=True)
class Reference:
    """A folder of reference results.

    Attributes
    ----------
    parts : dict
        What there is of each artefact.
    readings : dict
        What the readings of the claims about each artefact were made with.
    verdicts, rankings : DataFrame
        One line a claim, and one line a method and column; all as text.
    judged : dict
        Of the readings of the claims about each artefact, how many universes have a verdict, and how many there are;
        without claims on data that the part of the data has not.
    benchmarks : dict
        `results/benchmarks/latest.json` as `make bench` stored it on a quiet machine; `write` leaves it alone.
    """

    parts: dict[str, Part] = field(default_factory=dict)
    readings: dict[str, Provenance] = field(default_factory=dict)
    verdicts: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=["id", "verdict"]))
    rankings: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=["artefact", "column"]))
    judged: dict[str, tuple[int, int]] = field(default_factory=dict)
    benchmarks: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Return what a folder has; nothing where there is none.

        Raises
        ------
        ValueError
            When the summary is no object of parts.
        """
        path = folder / SUMMARY
        if not path.is_file():
            return cls()
        summary = read_json(path)
        parts = {}
        for name, found in summary["artefacts"].items():
            made = Provenance.from_json(found, f"{path}: {name}")
            parts[name] = Part(made, found["certificates"], tuple(found["files"]), tuple(found["sample"]))
        readings = {name: Provenance.from_json(found, f"{path}: {name}") for name, found in summary["readings"].items()}
        benchmarks = read_json(folder / BENCHMARKS) if (folder / BENCHMARKS).is_file() else {}
        verdicts, rankings = texts(folder / "verdicts.csv"), texts(folder / "rankings.csv")
        return cls(parts, readings, verdicts, rankings, _judged(folder), benchmarks)

    def write(self, folder: Path) -> None:
        """Write verdicts.csv, rankings.csv and summary.json."""
        write_frame(self.verdicts, folder / "verdicts.csv")
        write_frame(self.rankings, folder / "rankings.csv")
        summary = {
            **self.cost(),
            "verdicts": self.totals(),
            "artefacts": {name: part.as_json() for name, part in self.parts.items()},
            "readings": {name: each.as_json() for name, each in self.readings.items()},
        }
        write_text(folder / SUMMARY, json.dumps(summary, indent=1, ensure_ascii=False) + "\n")

    def cost(self) -> dict[str, float]:
        """Return the number of trials and the CPU hours of all parts."""
        made = [part.made for part in self.parts.values()]
        hours = round(sum(each.cpu_hours for each in made), 3)
        return {"trials": sum(each.trials for each in made), "cpu_hours": hours}

    def totals(self) -> dict[str, dict[str, int]]:
        """Return how many of each paper's own claims have each verdict."""
        own = self.verdicts[self.verdicts["kind"] == "paper"] if len(self.verdicts) else self.verdicts
        return {
            str(paper): {verdict: int((lines["verdict"] == verdict).sum()) for verdict in VERDICTS}
            for paper, lines in (own.groupby("paper", sort=False) if len(own) else ())
        }

    def changes(self) -> dict[str, list[str]]:
        """Return for each artefact what has changed in the code since its part was written, in words."""
        return {name: _changes(name, part.made) for name, part in self.parts.items()}

    def changes_of_readings(self) -> dict[str, list[str]]:
        """Return the same for the readings of the claims about each artefact, and how many verdicts are missing."""
        said = {name: readings_changes(name, made) for name, made in self.readings.items()}
        for name, (run, planned) in self.judged.items():
            if name in said and run < planned:
                said[name] = [*(said[name] or ["as the code is"]), f"so far {run:,} verdicts of {planned:,}"]
        return said

    def absent(self) -> list[str]:
        """Return the project's artefacts of which there is nothing."""
        return [name for name in artefact_names() if name not in self.parts]

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
        return render(
            Path(__file__).with_suffix(".md.j2"),
            reference=self, artefacts={name: part.made for name, part in self.parts.items()}, totals=totals,
            verdicts=VERDICTS, benchmarks=self.benchmarks,
            open_claims=self.verdicts[self.verdicts["verdict"] == INCONCLUSIVE].to_dict("records"),
            goals=[case for case in self.benchmarks.get("cases", []) if case["met"] is not None],
        )  # fmt: skip


def write_readme(folder: Path) -> bool:
    """Write README.md of a folder of reference results, as the code is now, and return whether that changed it."""
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
    store, target = StoreSnapshot.take(TrialStore(results / "store")), results / FOLDER
    if not len(store):
        raise ValueError(
            f"reference: expected stored trials in {store.store.folder}, found none; run provsel reproduce all first."
        )
    names = [full_name(name) for name in artefacts]
    complete, files = _complete(names, store, overrides), claim_files()
    evidence = Evidence(store, overrides, {name: artefact for name, (artefact, _) in complete.items()})
    verdicts, rankings = judge_files(files, evidence, complete)
    with replacing_folder(target) as folder:
        old, parts = Reference.read(target), dict[str, Part]()
        records: dict[str, dict[str, Any]] = {}
        old_records = {record["key"]: record for record in whole_records(TrialStore(target / SAMPLE))}
        for name in artefact_names():
            if name in complete:
                artefact, trials = complete[name]
                sample = {record["key"]: record for record in sample_records(artefact, store)}
                versions = Versions.of_artefact(artefact, claims_about([name], files))
                made = Provenance.of(versions, trials, overrides)
                written = _write_files(folder, artefact, store, rankings)
                parts[name] = Part(made, certificate_counts(trials), written, tuple(sorted(sample)))
            elif name in old.parts:
                parts[name] = old.parts[name]
                _copy_files(target, folder, old.parts[name].files)
                sample = {key: old_records[key] for key in old.parts[name].sample}
            else:
                continue
            records |= sample
        TrialStore(folder / SAMPLE).append([records[key] for key in sorted(records)])
        ids = [claim.id for file in files for claim in file.claims]
        ranked = [ranking.artefact for file in files for ranking in file.rankings]
        verdict_lines = joined(old.verdicts, verdict_frame(verdicts), "id", ids)
        ranking_lines = joined(old.rankings, ranking_frame(rankings), "artefact", ranked)
        if (target / BENCHMARKS).is_file():
            shutil.copy2(target / BENCHMARKS, folder / BENCHMARKS)
        _finish(folder, target, Reference(parts, old.readings, verdict_lines, ranking_lines), results, names)
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
        if target.is_dir():
            shutil.copytree(target, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(READINGS))
        _finish(folder, target, Reference.read(target), results, names)
    return target


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
    counts = {}
    for name, column in STATES.items():
        states = trials[column].value_counts().drop(["not measured", "no bound"], errors="ignore")
        if len(states):
            counts[name] = {str(state): int(n) for state, n in sorted(states.items())}
    return counts


def _complete(
    names: Sequence[str], store: StoreSnapshot, overrides: Sequence[str]
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
    for group in _together():
        if missing := sorted(group - {*found}):
            for name in group & {*found}:
                left[name] = f"claims rest on it and {', '.join(missing)}"
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


def _together() -> list[set[str]]:
    """Return the artefacts in groups whose claims rest on them alone: verdicts on both must be on the same trials."""
    groups: list[set[str]] = []
    for claim in (claim for file in claim_files() for claim in file.claims):
        group = {*claim.artefacts}
        for other in [other for other in groups if other & group]:
            group |= other
            groups.remove(other)
        groups.append(group)
    return groups


def _write_files(
    folder: Path, artefact: Artefact, store: TrialReader, rankings: Sequence[RankingResult]
) -> tuple[str, ...]:
    """Write tables and figures of an artefact and of its rankings, and return their paths below the folder."""
    recipe, name = load_recipe(artefact.name), artefact.name
    with TemporaryDirectory(prefix=".part-", dir=folder) as temporary:
        here = Path(temporary)
        with only_formats("svg"):
            frame = recipe.frame(artefact, store)
            recipe.write(artefact, store, frame, here / "tables" / name, here / "figures" / name)
        draw_rankings([each for each in rankings if each.artefact == name], here / "figures")
        made = [path for path in sorted(here.rglob("*")) if path.suffix in KEPT and path.is_file()]
        names = tuple(path.relative_to(here).as_posix() for path in made)
        _copy_files(here, folder, names)
    return names


def _copy_files(source: Path, target: Path, names: Collection[str]) -> None:
    for name in names:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, target / name)


def _finish(folder: Path, target: Path, reference: Reference, results: Path, names: Sequence[str]) -> None:
    """Write the readings, the statement of all that is there, and the README."""
    readings = _join_readings(folder, target, reference.readings, results, names)
    replace(reference, readings=readings).write(folder)
    write_readme(folder)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    if size > MAX_BYTES:
        raise ValueError(f"reference: expected at most {MAX_BYTES} bytes, got {size}; leave out the largest files.")


def _join_readings(
    folder: Path, target: Path, old: Mapping[str, Provenance], results: Path, names: Sequence[str]
) -> dict[str, Provenance]:
    """Write what `provsel readings` found about some artefacts, or all, beside what `target` has about the others.

    Returns
    -------
    dict
        As `old`, what the readings about each artefact were made with; of what is there then.
    """
    new: dict[str, Provenance] = {}
    for path in sorted((results / READINGS).glob("*/made.json")):
        new |= {name: each for name, each in stored_made(path.parent).items() if not names or name in names}
    files = {file.paper: file for file in all_claim_files()}
    made = {name: each for name, each in sorted({**old, **new}.items()) if name.partition("/")[0] in files}
    for paper in dict.fromkeys(name.partition("/")[0] for name in made):
        here, before = folder / READINGS / paper, target / READINGS / paper
        own = sorted((name for name in made if name.startswith(f"{paper}/")), key=lambda name: name not in new)
        copy_readings({n: results / READINGS / paper if n in new else before for n in own}, here, files[paper])
        if (before / LETTER).is_file() and not new.keys() & {*own}:
            shutil.copyfile(before / LETTER, here / LETTER)  # a new one would state the data that are read now
            continue
        try:
            outcome = stored_outcome(paper, folder)
        except ValueError as error:  # lines of other readings than now, which the README says as well
            log.warning("reference: no letter on %s: %s", paper, error)
            continue
        if outcome is not None:
            left_out = [name for name in own if name not in new and readings_changes(name, made[name])]
            write_letter(outcome.without(left_out), here / LETTER, left_out)
    return made


def _judged(folder: Path) -> dict[str, tuple[int, int]]:
    about = {claim.id: claim.rule.artefact for file in all_claim_files() for claim in file.claims}
    found: dict[str, tuple[int, int]] = {}
    for path in map(universes_file, sorted(folder.glob("readings/*"))):
        lines = texts(path)[["claim", "verdict", "state"]]
        lines = lines[(lines["verdict"] != NOT_RUN) | (lines["state"] == NOT_RUN)]
        has_verdict = lines["verdict"] != NOT_RUN
        for artefact, given in has_verdict.groupby(lines["claim"].map(about)):
            found[str(artefact)] = int(given.sum()), len(given)
    return found


def _changes(name: str, made: Provenance) -> list[str]:
    if name not in artefact_names():
        return ["no artefact of the project any more"]
    try:
        artefact = compose_artefact(name, made.settings)
    except MissingDataError as error:
        return [f"not compared with the code: data missing, provsel fetch {error.dataset}"]
    return made.changes(Versions.of_artefact(artefact, claims_about([name], all_claim_files())))
