"""Audit of a store: random folds are recomputed from the records alone, and compared with them.

A column of a later schema than the record's is not compared, but counted; no record of
the same git revision has a value in it. `agreement` states the promise for the other
columns.
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
from provlab.bench.stored_panel import (
    CELL_DIGITS,
    DIGITS,
    cells_of,
    read_trials,
    rounded_number,
    unpacked,
)
from provlab.bench.submission import read_submission
from provlab.core.cell import Cell, cell_of
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
"""Number of cells whose records are read together, because a sample of a large store covers most of its cells."""


def run_audit(
    results: Path, *, executor: Mapping[str, Any], **draw: Any
) -> tuple[AuditRun, Path]:
    """Recompute a random sample of stored trials, compare them, and write the findings.

    All trials of a fold are drawn together, except in the last fold, because they share
    computations on its rows. A hundredth of the trials therefore costs about a
    hundredth of the time.

    Parameters
    ----------
    results : path
        Folder with `store`, to which nothing is added; the findings are written to
        `audits` beside it.
    executor : mapping
        See `execute`.
    **draw
        fraction, above 0 and up to 1, by default 0.01 of a store and all of a cell, but
        at least one trial; cell, the first 8 or more hex digits of one cell's id;
        limit, an int, the largest number of trials; seed of the draw, by default a new
        one.

    Returns
    -------
    run : AuditRun
    path : Path
        Path of the written file.

    Raises
    ------
    ValueError
        If nothing is stored, or the request does not fit the store.
    KeyboardInterrupt, OSError
        After writing the comparisons made so far.
    """
    store = TrialStore(results / "store", check=False)
    trials = store.query(columns=["key", "cell", "data", "repeat", "fold"])
    if not len(trials):
        raise ValueError(
            f"audit: no trials are stored in {store.folder}; "
            f"compute some by provsel reproduce or provsel run, or name their folder with --results."
        )
    drawn, settings = _draw(trials, **draw)
    return _audit(store, drawn, settings, results, executor)


def run_panel_audit(
    folder: Path | str,
    results: Path,
    *,
    methods: Sequence[str],
    executor: Mapping[str, Any],
    **draw: Any,
) -> tuple[AuditRun, Path]:
    """Audit some or all methods of a folder of a benchmark's panel; "" is provsel's own panel.

    `folder` may also be a file of a new method, see `provlab.bench.submission`.
    Selections that reached the time limit are left out, because their time on another
    machine says nothing. The run's trials name data set and method as the panel does.
    """
    if Path(folder).is_file():
        submission = read_submission(folder)
        table = submission.trials
        known = {submission.name: submission.method}
    else:
        table = read_trials(Path(folder) if folder else stored_folder())
        known = dict(panel_methods())
    cells = cells_of(table, known)
    if methods:
        table = table[table["method"].isin(some("method", methods, panel_methods()))]
    table = table[~table["failure"].str.startswith("OutOfTimeError")]
    names = table.drop_duplicates("cell").set_index("cell")
    names["selector"] = [
        f"{line.method}, {line.size} features, {line.judge}"
        for line in names.itertuples()
    ]
    trials = unpacked(table, cells).append_column(
        "data", pa.array(table["dataset"], pa.string())
    )
    drawn, settings = _draw(trials, **draw)
    drawn = drawn.drop_columns(["data", "dataset", "selector"])
    return _audit(
        None,
        drawn,
        settings,
        results,
        executor,
        packed="benchmark",
        names=names,
        digits=DIGITS,
    )


def run_readings_audit(
    folder: Path | str, results: Path, *, executor: Mapping[str, Any], **draw: Any
) -> tuple[AuditRun, Path]:
    """Audit the packed trials of a folder of a paper's readings, limited to those that the readings now need."""
    from provlab.verdicts.readings.packed import read_packed, repeated  # slow to import
    from provlab.verdicts.readings.study import multiverse_of

    path = Path(folder).resolve()
    cells = {cell.id: cell for cell in multiverse_of(path.name).cells}
    trials = read_packed(path, cells.values())
    if not len(trials):
        raise ValueError(
            f"{path}: expected packed trials that the readings of {path.name} need, got none; name the folder of a "
            f"paper's readings, such as results/reference/readings/{path.name}."
        )
    in_cells = trials["cell"].combine_chunks()
    planned = [cells[name] for name in in_cells.dictionary.to_pylist()]
    trials = trials.append_column(
        "config", repeated([cell.json for cell in planned], in_cells.indices)
    )
    trials = trials.append_column(
        "data", repeated([cell.data for cell in planned], in_cells.indices)
    )
    drawn, settings = _draw(trials, **draw)
    places = zip(
        *(drawn[name].to_pylist() for name in ("config", *NUMBERS)), strict=True
    )
    drawn = drawn.append_column(
        "key", pa.array([trial_key(*place) for place in places], pa.string())
    )
    return _audit(None, drawn, settings, results, executor, packed=path.name)


def _audit(
    store: TrialStore | None,
    drawn: pa.Table,
    settings: Mapping[str, Any],
    results: Path,
    executor: Mapping[str, Any],
    *,
    packed: str = "",
    names: pd.DataFrame | None = None,
    digits: Mapping[str, int] | None = None,
) -> tuple[AuditRun, Path]:
    """Recompute drawn trials of a store, or packed trials, compare them, and write the outcome.

    Packed trials have only some of the columns, and nulls are not compared. `names`
    replaces names of data sets and selectors, by the first digits of cells. `digits` is
    the number of digits that were kept.
    """
    console = PlainConsole(stderr=True)
    when = datetime.now(UTC).isoformat()
    run = AuditRun(
        when, __version__, git_revision(), environment(), **settings, packed=packed
    )
    console.print(
        f"audit: {run.n_drawn} of {run.n_stored} stored trials, drawn with seed {run.seed}"
    )
    skipped: Counter[str] = Counter()
    noted: dict[str, tuple[str, str, str]] = {}  # differences without values to compare
    records: list[dict[str, Any]] = []
    stopped: BaseException | None = None
    stored = _stored(store, drawn)
    if len(stored) < len(drawn):
        skipped["the record was removed when the audit began"] = len(drawn) - len(
            stored
        )
    tasks = _tasks(stored, skipped, noted)
    try:
        with ticker(console, "audit", len(_keys_of(tasks))) as advance:
            for result in execute(tasks, executor):
                records += result.records
                for key, _, reason in result.failures:
                    noted[key] = ("fails now", "a record", _line(reason))
                advance(len(result.records) + len(result.failures))
    except (KeyboardInterrupt, Exception) as error:  # such as a lost cluster
        stopped = error
    for record in records:
        for name, n_digits in (digits or {}).items():
            if record.get(name) is not None:
                record[name] = rounded_number(record[name], n_digits)
    frames = _compare(store, stored, records, noted)
    if names is not None:
        panel_names = names.loc[
            frames["trials"]["cell"].str[:CELL_DIGITS], ["dataset", "selector"]
        ]
        frames["trials"][["dataset", "selector"]] = panel_names.to_numpy()
    run = replace(
        run,
        interrupted=stopped is not None,
        skipped=dict(sorted(skipped.items())),
        **frames,
    )
    path = run.write(results)
    if stopped is not None:
        console.print(
            f"interrupted: {len(run.trials)} of {run.n_drawn} drawn trials were compared, see {path}; "
            f"--seed {run.seed} draws the same trials again.",
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
    """Return randomly drawn trials, in whole folds, and the settings that repeat the draw."""
    if fraction is None:
        fraction = 1.0 if cell else 0.01
    if not 0 < fraction <= 1:
        raise ValueError(
            f"audit: expected a fraction above 0 and up to 1, got {fraction!r}; use --fraction 0.01."
        )
    if limit is not None and limit < 1:
        raise ValueError(
            f"audit: expected a limit of at least 1 trial, got {limit}; omit --limit for no limit."
        )
    if seed is not None and seed < 0:
        raise ValueError(
            f"audit: expected a seed of at least 0, got {seed}; omit --seed for a new one."
        )
    n_stored = len(trials)
    if cell:
        trials, cell = _of_cell(trials, cell)
    size = max(1, round(fraction * len(trials)))
    if limit is not None:
        size = min(size, limit)
    if seed is None:
        seed = secrets.randbits(32)
    place = trials.select(["data", "repeat", "fold"]).to_pandas(
        strings_to_categorical=True
    )
    folds = (
        place.groupby([*place], observed=True, sort=True, dropna=False)
        .ngroup()
        .to_numpy()
    )
    rng = np.random.default_rng(seed)
    turn = rng.permutation(folds.max() + 1)[folds]
    chosen = np.lexsort((rng.random(len(trials)), turn))[:size]
    draw = {"seed": seed, "fraction": float(fraction), "limit": limit, "cell": cell}
    return trials.take(pa.array(np.sort(chosen))), {
        **draw,
        "n_stored": n_stored,
        "n_drawn": size,
    }


def _of_cell(trials: pa.Table, prefix: str) -> tuple[pa.Table, str]:
    """Return the id that begins with the given digits, and the trials of its cell."""
    if not re.fullmatch(r"[0-9a-fA-F]{8,64}", prefix):
        raise ValueError(
            f"audit: expected the first 8 or more hex digits of a cell, got {prefix!r}; "
            f"copy them from the trace of a number."
        )
    trials = trials.filter(
        pc.starts_with(trials["cell"].cast(pa.string()), pattern=prefix.lower())
    )
    cells = sorted(trials["cell"].unique().to_pylist())
    if not cells:
        raise ValueError(f"audit: no stored cell begins with {prefix}.")
    if len(cells) > 1:
        raise ValueError(
            f"audit: expected one cell that begins with {prefix}, got {len(cells)}, such as {cells[0]} and {cells[1]}; "
            f"give more digits."
        )
    return trials, cells[0]


def _stored(store: TrialStore | None, drawn: pa.Table) -> pa.Table:
    """Return the records of drawn trials, sorted by key; packed trials get nulls in the columns that they lack."""
    if store is None:
        once = drawn.filter(pa.array(~drawn["key"].to_pandas().duplicated()))
        plain = pa.schema([(field.name, _plain(field.type)) for field in once.schema])
        return pa.concat_tables(
            [SCHEMA.empty_table(), once.cast(plain)], promote_options="permissive"
        ).sort_by("key")
    keys = drawn["key"].combine_chunks()
    cells = drawn["cell"].unique().to_pylist()
    parts = []
    for first in range(0, len(cells), CELLS_AT_ONCE):
        part = store.query(cells[first : first + CELLS_AT_ONCE])
        parts.append(part.filter(pc.is_in(part["key"], keys)))
    # a part may lack own measures
    return pa.concat_tables(parts, promote_options="permissive").sort_by("key")


def _plain(kind: pa.DataType) -> pa.DataType:
    """Return the type used in records, with plain strings instead of dictionaries or the large strings of pandas."""
    value_type = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.string() if pa.types.is_large_string(value_type) else value_type


def _tasks(
    stored: pa.Table, skipped: Counter[str], noted: dict[str, tuple[str, str, str]]
) -> list[Task]:
    """Return tasks with exactly the trials that can be computed, grouped as in a run; record the others."""
    by_config: dict[str, list[dict[str, Any]]] = {}
    for record in stored.select(["key", "config", "source", *NUMBERS]).to_pylist():
        config = record["config"]
        numbers = [record[name] for name in NUMBERS]
        if not config or None in numbers:
            skipped[
                "the record has no config, repeat, fold or draw (older schema)"
            ] += 1
        elif (key := trial_key(config, *numbers)) != record["key"]:
            noted[record["key"]] = (
                "key",
                record["key"],
                f"{key}, from the record's config, repeat, fold and draw",
            )
        else:
            by_config.setdefault(config, []).append(record)
    cells = []
    wanted: set[str] = set()
    for config, records in by_config.items():
        try:
            cell = _cell_now(config, records)
        except MissingDataError as error:
            skipped[f"the data are missing: provsel fetch {error.dataset}"] += len(
                records
            )
        except (ValueError, TypeError, KeyError, AttributeError, OSError) as error:
            skipped[_line(f"not accepted now: {type(error).__name__}: {error}")] += len(
                records
            )
        else:
            cells.append(cell)
            wanted.update(record["key"] for record in records)
    unwanted = {key for cell in cells for *_, key in trials_of(cell)} - wanted
    tasks = make_tasks(cells, done=unwanted)
    n_lost = len(wanted) - len(_keys_of(tasks))
    if n_lost:
        skipped["the config has no such trial: its fold or draw is out of range"] += (
            n_lost
        )
    return tasks


def _cell_now(config: str, records: list[dict[str, Any]]) -> Cell:
    """Return the cell of a config with the repeats and draws of its records; raise if its key has changed."""
    n_repeats = 1 + max(record["repeat"] for record in records)
    n_draws = 1 + max(record["draw"] for record in records)
    cell = cell_of(
        config, source=records[0]["source"] or "", repeats=n_repeats, draws=n_draws
    )
    if identity_of(cell.dataset) != cell.data:
        raise ValueError(
            f"the data set {cell.dataset['name']} has another identity now"
        )
    if files_missing(cell.dataset):
        raise MissingDataError("files are missing", cell.dataset["name"])
    return cell


def _compare(
    store: TrialStore | None,
    stored: pa.Table,
    records: list[dict[str, Any]],
    noted: Mapping[str, tuple[str, str, str]],
) -> dict[str, pd.DataFrame]:
    """Return the frames of an `AuditRun` from the recomputed records."""
    now = records_table(records).sort_by("key")
    before = stored.filter(pc.is_in(stored["key"], now["key"].combine_chunks()))
    lines = agreement.differences(
        before, now, agreement.compared_columns(now.column_names)
    )
    is_unknown = _is_unknown(store, before, lines)
    unknown, lines = lines[is_unknown], lines[~is_unknown]
    keys = now["key"].to_pylist()
    texts: dict[str, list[tuple[str, str, str]]] = {
        key: [difference] for key, difference in noted.items()
    }
    for line in lines.itertuples():
        texts.setdefault(keys[line.row], []).append(
            (line.column, *agreement.short_texts(line.stored, line.now))
        )
    lacking = {
        keys[row]: [*columns] for row, columns in unknown.groupby("row")["column"]
    }
    trials = stored.filter(
        pc.is_in(stored["key"], pa.array([*keys, *noted], pa.string()))
    )
    frame = trials.select(
        [name for name in TRIALS if name in trials.column_names]
    ).to_pandas()
    for name in ("dataset", "selector"):  # packed trials lack them
        frame[name] = frame[name].fillna(
            frame["key"].map(dict(zip(keys, now[name].to_pylist(), strict=True)))
        )
    for name, kind in TRIALS.items():
        if name in frame:
            frame[name] = frame[name].fillna(-1 if kind is int else "")
    is_now = frame["key"].isin(keys)  # the others were not recomputed
    frame["outcome"] = DIFFERENT
    frame.loc[is_now, "outcome"] = agreement.outcomes(before, now, lines)
    frame["same_environment"] = [
        kind == environment() for kind in trials["environment"].to_pylist()
    ]
    frame.loc[is_now, "same_environment"] = agreement.is_same_environment(before, now)
    frame["differences"] = [texts.get(key, []) for key in frame["key"]]
    frame["not_compared"] = [lacking.get(key, []) for key in frame["key"]]
    return {
        "trials": frame.astype(TRIALS)[[*TRIALS]],
        "agreement": _agreement(before, now, lines, unknown),
    }


def _is_unknown(
    store: TrialStore | None, stored: pa.Table, lines: pd.DataFrame
) -> NDArray[np.bool_]:
    """Return whether the differing column was unknown to the revision that wrote the record."""
    is_unknown = np.array([value is None for value in lines["stored"]], bool)
    if store is None:  # in packed trials, null means not packed
        return is_unknown
    names = lines["column"][is_unknown].unique().tolist()
    written = store.query(columns=[*names, "git_revision"])
    for name in names:
        writers = written.filter(pc.is_valid(written[name]))["git_revision"].unique()
        knew = pc.is_in(stored["git_revision"], value_set=writers).to_numpy()
        is_unknown &= ~(knew[lines["row"]] & (lines["column"] == name).to_numpy())
    return is_unknown


def _agreement(
    stored: pa.Table, now: pa.Table, lines: pd.DataFrame, unknown: pd.DataFrame
) -> pd.DataFrame:
    """Return the agreement of trials by environment, those with most trials first."""
    kinds = np.array(pc.fill_null(stored["environment"], "").to_pylist(), dtype=object)
    is_foreign = ~agreement.is_same_environment(stored, now)
    counts = Counter(kinds[is_foreign])
    agreements = []
    for kind in sorted(counts, key=lambda kind: (-counts[kind], kind)):
        for name in agreement.COMPARED:
            is_measured = _is_measured(stored[name]) | _is_measured(now[name])
            rows = np.flatnonzero(is_foreign & (kinds == kind) & is_measured)
            rows = np.setdiff1d(rows, unknown["row"][unknown["column"] == name])
            if not rows.size:
                continue
            different = lines[(lines["column"] == name) & lines["row"].isin(rows)]
            finite = different["relative"][np.isfinite(different["relative"])]
            worst = max(finite, default=0.0)
            n_same = rows.size - len(different)
            agreements.append(
                (
                    kind,
                    counts[kind],
                    name,
                    rows.size,
                    n_same,
                    different["beyond"].sum(),
                    worst,
                )
            )
    return frame_of(agreements, AGREEMENT)


def _is_measured(column: pa.ChunkedArray) -> NDArray[np.bool_]:
    nothing = (
        pc.equal(column, "")
        if pa.types.is_string(column.type)
        else pc.is_null(column, nan_is_null=True)
    )
    return ~pc.fill_null(nothing, True).to_numpy()


def _line(text: str) -> str:
    """Shorten a reason to one line of at most 200 characters, because it quotes untrusted text."""
    line = " ".join(text.split())
    return line if len(line) <= 200 else f"{line[:197]}..."


def _keys_of(tasks: Sequence[Task]) -> set[str]:
    return {trial.key for task in tasks for trial in task.trials}
