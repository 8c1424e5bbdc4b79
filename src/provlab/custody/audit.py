"""Stored trials, computed again: random folds of a store are run from its records alone, and compared.

A column that the writer of a record did not know (an older schema) is not compared, and is counted: it has no value in
any record of the same git revision. `agreement` says what is promised of the others.
"""

from __future__ import annotations

import re
import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from provlab.bench.methods import panel_methods
from provlab.bench.panel import some, stored_folder
from provlab.bench.stored_panel import cells_of_table, read_table, unpacked
from provlab.core.cell import ID_DIGITS, cell_of
from provlab.core.keys import trial_key
from provlab.core.plan import Task, files_missing, identity_of, make_tasks, trials_of
from provlab.core.records import NUMBERS
from provlab.core.store import SCHEMA, TrialStore, records_table
from provlab.custody import agreement
from provlab.custody.agreement import DIFFERENT
from provlab.custody.audit_runs import AGREEMENT, TRIALS, AuditRun, frame_of
from provlab.data import MissingDataError
from provlab.project.terminal import PlainConsole
from provlab.run.environment import environment, git_revision
from provlab.run.executors import execute
from provlab.run.runner import ticker
from provsel import __version__

CELLS_AT_ONCE = 200
"""Cells whose records are read together: a sample of a large store names most of its cells."""


def run_audit(results: Path, *, executor: Mapping[str, Any] | None = None, **draw: Any) -> tuple[AuditRun, Path]:
    """Compute a random sample of stored trials again, compare, and write what was found.

    All trials of a fold are drawn together, the last fold's in part: they share what is computed of its rows, so that a
    hundredth of the trials costs about a hundredth of the time.

    Parameters
    ----------
    results : path
        Folder with `store`, to which nothing is added; what was found goes to `audits` beside it.
    executor : mapping, optional
        See `execute`; loky with one worker a core by default.
    **draw
        fraction, above 0 and up to 1, by default 0.01 of a store and all of a cell, of which at least one trial is
        drawn; cell, at least 8 hex digits that only one cell's id begins with; limit, an int, to draw no more than
        that; seed of the draw, by default a fresh one.

    Returns
    -------
    run : AuditRun
    path : Path
        Of its file.

    Raises
    ------
    ValueError
        Nothing is stored, or what is asked for does not fit the store.
    KeyboardInterrupt, OSError
        After what was compared so far has been written.
    """
    store = TrialStore(results / "store", check=False)
    trials = store.query(columns=["key", "cell", "data", "repeat", "fold"])
    if not len(trials):
        raise ValueError(
            f"audit: expected stored trials, got nothing stored in {store.folder}; "
            f"compute some first, by provsel reproduce or provsel run, or name their folder with --results."
        )
    drawn, settings = _draw(trials, **draw)
    return _audit(store, drawn, settings, results, executor)


def run_panel_audit(
    folder: Path | str,
    results: Path,
    *,
    methods: Sequence[str] = (),
    executor: Mapping[str, Any] | None = None,
    **draw: Any,
) -> tuple[AuditRun, Path]:
    """Do the same with some methods, or all, of a folder of a benchmark's panel, "" for the one that provsel has.

    A selection that was cut off is left out: how long it may take on another machine says nothing. The run's trials
    have data set and method as the panel calls them.
    """
    table = read_table(Path(folder) if folder else stored_folder())
    if methods:
        table = table[table["method"].isin(some("method", methods, panel_methods()))]
    table = table[~table["failure"].str.startswith("OutOfTimeError")]
    names = table.drop_duplicates("cell").set_index("cell")
    names["selector"] = [f"{line.method}, {line.size} features, {line.model}" for line in names.itertuples()]
    trials = unpacked(table, cells_of_table(table)).append_column("data", pa.array(table["dataset"], pa.string()))
    drawn, settings = _draw(trials, **draw)
    drawn = drawn.drop_columns(["data", "dataset", "selector"])
    return _audit(None, drawn, settings, results, executor, packed="benchmark", names=names)


def run_readings_audit(
    folder: Path | str, results: Path, *, executor: Mapping[str, Any] | None = None, **draw: Any
) -> tuple[AuditRun, Path]:
    """Do the same with the packed trials of a folder of a paper's readings, of those that the readings ask for now."""
    from provlab.verdicts.readings.study import asked, packed_trials  # claims and their statistics: slow to import

    path = Path(folder).resolve()
    drawn, settings = _draw(packed_trials(asked(path.name), path), **draw)
    places = zip(*(drawn[name].to_pylist() for name in ("config", *NUMBERS)), strict=True)
    drawn = drawn.append_column("key", pa.array([trial_key(*place) for place in places], pa.string()))
    return _audit(None, drawn, settings, results, executor, packed=path.name)


def _audit(
    store: TrialStore | None,
    drawn: pa.Table,
    settings: Mapping[str, Any],
    results: Path,
    executor: Mapping[str, Any] | None,
    *,
    packed: str = "",
    names: pd.DataFrame | None = None,
) -> tuple[AuditRun, Path]:
    """Compute drawn trials of a store, or packed ones, again, compare, and write what was found.

    Packed trials have some of the columns only: what is null in one is not compared. `names` are other ones of data
    sets and selectors, by the short ids of cells.
    """
    console, when = PlainConsole(stderr=True), datetime.now(UTC).isoformat()
    run = AuditRun(when, __version__, git_revision(), environment(), **settings, packed=packed)
    console.print(f"audit: {run.n_drawn} of {run.n_stored} stored trials, drawn with seed {run.seed}")
    skipped: Counter[str] = Counter()
    noted: dict[str, tuple[str, str, str]] = {}  # differences that leave nothing to compare
    records: list[dict[str, Any]] = []
    stopped: BaseException | None = None
    stored = _stored(store, drawn)
    if lost := len(drawn) - len(stored):
        skipped["the record was removed when the audit began"] = lost
    tasks = _tasks(stored, skipped, noted)
    try:
        with ticker(console, "audit", len(_keys_of(tasks))) as advance:
            for result in execute(tasks, executor or {"name": "loky", "n_jobs": -1}):
                records += result.records
                noted |= {key: ("fails now", "a record", _line(reason)) for key, _, reason in result.failures}
                advance(len(result.records) + len(result.failures))
    except (KeyboardInterrupt, Exception) as error:  # such as a cluster that is lost
        stopped = error
    frames = _compare(store, stored, records, noted)
    if names is not None:
        called = names.loc[frames["trials"]["cell"].str[:ID_DIGITS], ["dataset", "selector"]]
        frames["trials"][["dataset", "selector"]] = called.to_numpy()
    run = replace(run, interrupted=stopped is not None, skipped=dict(sorted(skipped.items())), **frames)
    path = run.write(results)
    if stopped is not None:
        console.print(
            f"interrupted: {len(run.trials)} of {run.n_drawn} drawn trials were compared, see {path}; "
            f"--seed {run.seed} draws the same again.",
            soft_wrap=True,
        )
        raise stopped
    return run, path


def _draw(
    trials: pa.Table,
    *,
    fraction: float | None = None,
    cell: str = "",
    limit: int | None = None,
    seed: int | None = None,
) -> tuple[pa.Table, dict[str, Any]]:
    """Return trials drawn at random, whole folds, and what repeats the draw on the same trials."""
    fraction = fraction if fraction is not None else 1.0 if cell else 0.01
    if not 0 < fraction <= 1:
        raise ValueError(f"audit: expected a fraction above 0 and up to 1, got {fraction!r}; use --fraction 0.01.")
    if limit is not None and limit < 1:
        raise ValueError(f"audit: expected a limit of at least 1 trial, got {limit}; leave --limit out for none.")
    if seed is not None and seed < 0:
        raise ValueError(f"audit: expected a seed of at least 0, got {seed}; leave --seed out for a fresh one.")
    n_stored = len(trials)
    if cell:
        if not re.fullmatch(r"[0-9a-fA-F]{8,64}", cell):
            raise ValueError(
                f"audit: expected the first 8 or more hex digits of a cell, got {cell!r}; "
                f"copy them from the trace of a number."
            )
        trials = trials.filter(pc.starts_with(trials["cell"].cast(pa.string()), pattern=cell.lower()))
        found = sorted(trials["cell"].unique().to_pylist())
        if len(found) != 1:
            got = f"{len(found)}, such as {found[0]} and {found[1]}; add digits" if found else "none that is stored"
            raise ValueError(f"audit: expected one cell that begins with {cell}, got {got}.")
        [cell] = found
    size = max(1, round(fraction * len(trials)))
    size = size if limit is None else min(size, limit)
    seed = secrets.randbits(32) if seed is None else seed
    settings = {"seed": seed, "fraction": float(fraction), "limit": limit, "cell": cell}
    place = trials.select(["data", "repeat", "fold"]).to_pandas(strings_to_categorical=True)
    folds = place.groupby([*place], observed=True, sort=True, dropna=False).ngroup().to_numpy()
    rng = np.random.default_rng(seed)
    turn = rng.permutation(folds.max() + 1)[folds]
    chosen = np.lexsort((rng.random(len(trials)), turn))[:size]
    return trials.take(pa.array(np.sort(chosen))), {**settings, "n_stored": n_stored, "n_drawn": size}


def _stored(store: TrialStore | None, drawn: pa.Table) -> pa.Table:
    """Return the records of drawn trials, sorted by key; of packed ones with nulls in the columns that they lack."""
    if store is None:
        once = drawn.filter(pa.array(~drawn["key"].to_pandas().duplicated()))
        texts = [each.cast(pa.string()) if pa.types.is_dictionary(each.type) else each for each in once.columns]
        whole = [SCHEMA.empty_table(), pa.table(texts, once.column_names)]
        return pa.concat_tables(whole, promote_options="permissive").sort_by("key")
    keys, cells = drawn["key"].combine_chunks(), drawn["cell"].unique().to_pylist()
    parts = [store.query(cells[first : first + CELLS_AT_ONCE]) for first in range(0, len(cells), CELLS_AT_ONCE)]
    found = [part.filter(pc.is_in(part["key"], keys)) for part in parts]
    return pa.concat_tables(found, promote_options="permissive").sort_by("key")  # a part may lack a project's measure


def _tasks(stored: pa.Table, skipped: Counter[str], noted: dict[str, tuple[str, str, str]]) -> list[Task]:
    """Return tasks with exactly the trials that can be computed, grouped as in a run; count and note the others."""
    members: dict[str, list[dict[str, Any]]] = {}
    for record in stored.select(["key", "config", "source", "repeat", "fold", "draw"]).to_pylist():
        config, *place = (record[name] for name in ("config", "repeat", "fold", "draw"))
        if not config or None in place:
            skipped["the record has no config, repeat, fold or draw (older schema)"] += 1
        elif (key := trial_key(config, *place)) != record["key"]:
            found = f"{key}, from the record's config, repeat, fold and draw"
            noted[record["key"]] = ("key", record["key"], found)
        else:
            members.setdefault(config, []).append(record)
    cells, wanted = [], set[str]()
    for config, records in members.items():
        counts = {f"{name}s": 1 + max(each[name] for each in records) for name in ("repeat", "draw")}
        try:
            cell = cell_of(config, source=records[0]["source"] or "", **counts)
            if identity_of(cell.dataset) != cell.data:
                raise ValueError(f"the data set {cell.dataset['name']} has another identity now")
            if files_missing(cell.dataset):
                skipped[f"the data are missing: provsel fetch {cell.dataset['name']}"] += len(records)
                continue
        except MissingDataError as error:
            skipped[f"the data are missing: provsel fetch {error.dataset}"] += len(records)
        except (ValueError, TypeError, KeyError, AttributeError, OSError) as error:
            skipped[_line(f"not accepted now: {type(error).__name__}: {error}")] += len(records)
        else:
            cells.append(cell)
            wanted |= {record["key"] for record in records}
    tasks = make_tasks(cells, done={key for cell in cells for *_, key in trials_of(cell)} - wanted)
    if lost := len(wanted) - len(_keys_of(tasks)):
        skipped["the config does not have such a trial: its fold or draw is beyond its numbers"] += lost
    return tasks


def _compare(
    store: TrialStore | None, stored: pa.Table, records: list[dict[str, Any]], noted: Mapping[str, tuple[str, str, str]]
) -> dict[str, pd.DataFrame]:
    """Return the frames of an `AuditRun` from what was computed again."""
    now = records_table(records).sort_by("key")
    before = stored.filter(pc.is_in(stored["key"], now["key"].combine_chunks()))
    lines = agreement.differences(before, now, agreement.compared_columns(now.column_names))
    is_unknown = _is_unknown(store, before, lines)
    unknown, lines = lines[is_unknown], lines[~is_unknown]
    keys = now["key"].to_pylist()
    texts = {key: [each] for key, each in noted.items()}
    for line in lines.itertuples():
        texts.setdefault(keys[line.row], []).append((line.column, *agreement.short_texts(line.stored, line.now)))
    lacking = {keys[row]: [*found] for row, found in unknown.groupby("row")["column"]}
    trials = stored.filter(pc.is_in(stored["key"], pa.array([*keys, *noted], pa.string())))
    frame = trials.select([name for name in TRIALS if name in trials.column_names]).to_pandas()
    frame = frame.fillna({name: -1 if kind is int else "" for name, kind in TRIALS.items() if name in frame})
    for name in ("dataset", "selector"):  # which packed trials do not have
        said = dict(zip(keys, now[name].to_pylist(), strict=True))
        frame[name] = [each or said.get(key, "") for key, each in zip(frame["key"], frame[name], strict=True)]
    frame["outcome"] = DIFFERENT
    frame["same_environment"] = [kind == environment() for kind in trials["environment"].to_pylist()]
    is_now = frame["key"].isin(keys)  # the others have no record now
    frame.loc[is_now, "outcome"] = agreement.outcomes(before, now, lines)
    frame.loc[is_now, "same_environment"] = agreement.is_same_environment(before, now)
    frame["differences"] = [texts.get(key, []) for key in frame["key"]]
    frame["not_compared"] = [lacking.get(key, []) for key in frame["key"]]
    return {"trials": frame.astype(TRIALS)[[*TRIALS]], "agreement": _agreement(before, now, lines, unknown)}


def _is_unknown(store: TrialStore | None, stored: pa.Table, lines: pd.DataFrame) -> NDArray[np.bool_]:
    """Tell of which differences the writer of the record did not know the column: its git revision wrote no value."""
    found = np.array([value is None for value in lines["stored"]], bool)
    if store is None:  # packed trials: whatever is null was not packed
        return found
    names = lines["column"][found].unique().tolist()
    written = store.query(columns=[*names, "git_revision"])
    for name in names:
        writers = written.filter(pc.is_valid(written[name]))["git_revision"].unique()
        knew = pc.is_in(stored["git_revision"], value_set=writers).to_numpy()
        found &= ~(knew[lines["row"]] & (lines["column"] == name).to_numpy())
    return found


def _agreement(stored: pa.Table, now: pa.Table, lines: pd.DataFrame, unknown: pd.DataFrame) -> pd.DataFrame:
    """Return how far trials of other environments agree, that with most trials first; columns that have values."""
    kinds = np.array(pc.fill_null(stored["environment"], "").to_pylist(), dtype=object)
    is_other = ~agreement.is_same_environment(stored, now)
    others = Counter(kinds[is_other])
    found = []
    for kind in sorted(others, key=lambda kind: (-others[kind], kind)):
        for name in agreement.COMPARED:
            rows = np.flatnonzero(is_other & (kinds == kind) & (_is_measured(stored[name]) | _is_measured(now[name])))
            rows = np.setdiff1d(rows, unknown["row"][unknown["column"] == name])
            if rows.size:
                part = lines[(lines["column"] == name) & lines["row"].isin(rows)]
                worst = part["relative"][np.isfinite(part["relative"])].max() if len(part) else 0.0
                counts = (rows.size, rows.size - len(part), part["beyond"].sum())
                found.append((kind, others[kind], name, *counts, 0.0 if np.isnan(worst) else worst))
    return frame_of(found, AGREEMENT)


def _is_measured(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    nothing = pc.equal(column, "") if pa.types.is_string(column.type) else pc.is_null(column, nan_is_null=True)
    return ~pc.fill_null(nothing, True).to_numpy()


def _line(text: str) -> str:
    """Return a reason on one line of at most 200 characters: it quotes untrusted text."""
    line = " ".join(text.split())
    return line if len(line) <= 200 else f"{line[:197]}..."


def _keys_of(tasks: Sequence[Task]) -> set[str]:
    return {trial.key for task in tasks for trial in task.trials}
