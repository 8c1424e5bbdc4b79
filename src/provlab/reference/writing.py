"""Write artefacts into the folder of reference results; the parts of all others stay as they are."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from provlab.claims import Evidence, verdict_frame
from provlab.claims.display import ranking_frame
from provlab.claims.judged import artefacts_of, claim_files, claims_about, judge_files
from provlab.claims.made_with import MadeWith, Versions, stored_trials
from provlab.configs import Artefact, compose_artefact, counted_state
from provlab.datasets import MissingDataError
from provlab.project import artefact_names, full_name
from provlab.readings import stored_made
from provlab.reference.contents import Contents, joined
from provlab.reference.goals import BENCHMARKS
from provlab.reference.parts import PART_COLUMNS, Part, certificate_counts, copy_files, write_files
from provlab.reference.readings import READINGS, join_readings
from provlab.reference.readme import write_readme
from provlab.reference.sample import sample_records, whole_records
from provlab.store import StoreSnapshot, TrialStore
from provsel.files import replacing_folder

log = logging.getLogger(__name__)

FOLDER = "reference"
MAX_BYTES = 8_000_000
"""A repository is cloned with all its history."""

SAMPLE = "sample"


@dataclass(frozen=True)
class _Complete:
    """An artefact whose trials are all stored."""

    artefact: Artefact
    trials: pd.DataFrame


def write_reference(results: Path, overrides: Sequence[str] = (), artefacts: Sequence[str] = ()) -> Path:
    """Write artefacts from what is stored into `results`/reference, and return the folder.

    What belongs to an artefact is written anew: its tables and figures, the verdicts and rankings that rest on it, its
    records in the sample, the readings of the claims about it, what more repeats made of these, and the statement of
    what all this was made with. The parts of other artefacts stay; those of artefacts that the project has no more go.

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
    complete = _complete(names, store, overrides)
    with replacing_folder(target) as folder:
        old = Contents.read(target)
        contents = _written(folder, target, old, complete, store, overrides)
        if (target / BENCHMARKS).is_file():
            shutil.copy2(target / BENCHMARKS, folder / BENCHMARKS)
        _finish(folder, target, contents, old, results, names)
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
        old = Contents.read(target)
        _finish(folder, target, old, old, results, names)
    return target


def _finish(folder: Path, target: Path, contents: Contents, old: Contents, results: Path, names: Sequence[str]) -> None:
    """Write the readings, the statement of all that is there, and the README."""
    readings = join_readings(folder, target, old.readings, results, names)
    replace(contents, readings=readings).write(folder)
    write_readme(folder)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    if size > MAX_BYTES:
        raise ValueError(f"reference: expected at most {MAX_BYTES} bytes, got {size}; leave out the largest files.")


def _complete(names: Sequence[str], store: StoreSnapshot, overrides: Sequence[str]) -> dict[str, _Complete]:
    """Return the named artefacts, or else all that are complete with those that share claims with them."""
    found: dict[str, _Complete] = {}
    left: dict[str, str] = {}
    for name in names or artefact_names():
        try:
            artefact = compose_artefact(name, overrides)
            trials, n_planned = stored_trials(artefact.cells, store, PART_COLUMNS)
            artefact.check_data(len(trials))
        except MissingDataError as error:
            left[name] = f"data missing: provsel fetch {error.dataset}"
            continue
        if len(trials) == n_planned:
            found[name] = _Complete(artefact, trials)
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
        joined_group = {*artefacts_of(claim)}
        for other in [group for group in groups if group & joined_group]:
            joined_group |= other
            groups.remove(other)
        groups.append(joined_group)
    return groups


def _written(
    folder: Path,
    target: Path,
    old: Contents,
    complete: Mapping[str, _Complete],
    store: StoreSnapshot,
    overrides: Sequence[str],
) -> Contents:
    """Write all but the readings, and return what there is then."""
    files = claim_files()
    judged = judge_files(files, Evidence(store, overrides, {n: c.artefact for n, c in complete.items()}), complete)
    old_records = {record["key"]: record for record in whole_records(TrialStore(target / SAMPLE))}
    parts: dict[str, Part] = {}
    records: dict[str, dict[str, Any]] = {}
    for name in artefact_names():
        if name in complete:
            artefact, trials = complete[name].artefact, complete[name].trials
            sample = {record["key"]: record for record in sample_records(artefact, store)}
            made = MadeWith.of(Versions.of_artefact(artefact, claims_about([name], files)), trials, overrides)
            written = write_files(folder, artefact, store, judged)
            parts[name] = Part(made, certificate_counts(trials), written, tuple(sorted(sample)))
        elif name in old.parts:
            parts[name] = old.parts[name]
            copy_files(target, folder, old.parts[name].files)
            sample = {key: old_records[key] for key in old.parts[name].sample}
        else:
            continue
        records |= sample
    TrialStore(folder / SAMPLE).append([records[key] for key in sorted(records)])
    ids = [claim.id for file in files for claim in file.claims]
    ranked = [ranking.artefact for file in files for ranking in file.rankings]
    verdicts = joined(old.verdicts, verdict_frame(judged.verdicts), "id", ids)
    return Contents(parts, {}, verdicts, joined(old.rankings, ranking_frame(judged.rankings), "artefact", ranked))
