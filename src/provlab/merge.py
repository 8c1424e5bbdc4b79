"""Stores of several people as one, with what they disagree about.

A trial is what its key says, wherever it was computed: the union of stores is one store. Where two have the same trial,
what came out is compared as an audit compares (`provlab.agreement`): the same bits on the same environment, the
stated digits on another. What is different beyond that is a conflict, and is for people to look at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from provlab.agreement import CLOSE, DIFFERENT, IDENTICAL, OUTCOMES, compared, differences, outcomes, shown
from provlab.identity.keys import digest_of, trial_key
from provlab.store import SCHEMA, TrialStore, agree
from provlab.trials_csv import COLUMNS, TRIALS, read_trials

NAMING = ("key", "cell", "config", "repeat", "fold", "draw")

CONFLICT_COLUMNS = [
    "source",
    "other",
    "key",
    "dataset",
    "selector",
    "repeat",
    "fold",
    "draw",
    "column",
    "first",
    "second",
]
"""Of `Merge.conflicts`: where the trial came from first, where it is different, and both values."""


def source_trials(folder: Path, known: dict[str, tuple[pa.DataType, Path]]) -> pa.Table:
    """Return the trials of a results folder, of a folder of a store, or of one that `provsel export` wrote.

    Nothing is changed there; the types of the trials' own columns are noted in `known`.

    Raises
    ------
    ValueError
        When it is none of these, or a trial is not the one that its key says.
    """
    found = [path for path in (folder / "store", folder) if next(path.glob("*.parquet"), None) is not None]
    if (folder / TRIALS).is_file():
        trials = read_trials(folder)
        own = {field.name: (field.type, folder / COLUMNS) for field in trials.schema if field.name not in SCHEMA.names}
    else:
        store = TrialStore(found[0] if found else folder, read_only=True)
        own, trials = store.own_columns(), store.query()
    if not len(trials):
        raise ValueError(
            f"merge: expected a results folder with trials, or an export with {TRIALS}, got {folder}, which has "
            f"neither; correct the path."
        )
    _check_keys(folder, trials)
    return _agreed(trials, own, known)


def _agreed(
    trials: pa.Table, own: dict[str, tuple[pa.DataType, Path]], known: dict[str, tuple[pa.DataType, Path]]
) -> pa.Table:
    """Return trials without own columns that have no value, and so no type; the types of the others are noted."""
    empty = [name for name in own if not _written(trials[name])]
    for name, (kind, path) in own.items():
        if name not in empty:
            agree(known, name, kind, path)
    return trials.drop_columns(empty)


def _check_keys(folder: Path, trials: pa.Table) -> None:
    """Check that keys follow from configs and numbers: whoever edited one of them made another trial."""
    configs = {text: digest_of(text) for text in trials["config"].unique().to_pylist() if text is not None}
    columns = [trials[name].to_pylist() for name in NAMING]
    wrong = 0
    first = ""
    for key, cell, config, *numbers in zip(*columns, strict=True):
        if configs.get(config) != cell or None in numbers or trial_key(config, *numbers) != key:
            wrong, first = wrong + 1, first or str(key)
    if wrong:
        raise ValueError(
            f"{folder}: expected trials whose keys follow from their configs and numbers, got {wrong} of "
            f"{len(trials)} that do not, such as {first:.16}...; they were changed after they were computed: ask for "
            f"another copy."
        )


@dataclass
class Merge:
    """The union of some stores, the first of which has the last word.

    Attributes
    ----------
    trials : Table or None
        All trials so far, each once.
    counts : dict
        By source: how many of its trials are new, and how many of the others are identical, close or different.
    conflicts : DataFrame
        A line a column of a trial that is different, see `CONFLICT_COLUMNS`.
    """

    trials: pa.Table | None = None
    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    conflicts: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=CONFLICT_COLUMNS))
    _origin: NDArray[np.object_] = field(default_factory=lambda: np.empty(0, object))

    def add(self, source: str, trials: pa.Table) -> pa.Table:
        """Add the trials of a source, and return those that no earlier one has."""
        origin = np.full(len(trials), source, dtype=object)
        if self.trials is None:
            self.trials, self._origin = trials, origin
            self.counts[source] = {"new": len(trials), **dict.fromkeys(OUTCOMES, 0)}
            return trials
        known = pc.index_in(trials["key"], value_set=self.trials["key"].combine_chunks())
        places = known.to_pandas().to_numpy()
        is_new = np.isnan(places.astype(float))
        fresh = trials.filter(pa.array(is_new))
        shared = np.flatnonzero(~is_new)
        self._compare(source, trials.take(pa.array(shared)), places[shared].astype(np.int64))
        self.counts[source]["new"] = len(fresh)
        self.trials = pa.concat_tables([self.trials, fresh], promote_options="default")
        self._origin = np.concatenate([self._origin, origin[is_new]])
        return fresh

    def _compare(self, source: str, theirs: pa.Table, places: NDArray[np.int64]) -> None:
        """Count outcomes of trials that are in both, and keep what is different."""
        assert self.trials is not None
        ours = self.trials.take(pa.array(places))
        names = [name for name in compared(theirs.column_names) if name in theirs.column_names]
        # a column that one side never wrote is that of another version, and no disagreement
        names = [
            name for name in names if name in ours.column_names and _written(ours[name]) and _written(theirs[name])
        ]
        found = differences(ours, theirs, names)
        outcome = outcomes(ours, theirs, found)
        counts = {"new": 0, **{each: int((outcome == each).sum()) for each in OUTCOMES}}
        lines = []
        for line in found[outcome[found["row"]] == DIFFERENT].sort_values("row", kind="stable").itertuples():
            other = theirs.slice(line.row, 1).to_pylist()[0]
            place = [other.get(name) for name in ("key", "dataset", "selector", "repeat", "fold", "draw")]
            lines.append((self._origin[places[line.row]], source, *place, line.column, *shown(line.stored, line.now)))
        self.counts[source] = counts
        if lines:
            more = pd.DataFrame(lines, columns=CONFLICT_COLUMNS)
            self.conflicts = more if self.conflicts.empty else pd.concat([self.conflicts, more], ignore_index=True)


def merge(sources: dict[str, Path], target: Path, *, keep_first: bool, told: Callable[[str], None]) -> Merge:
    """Add the trials of some sources to the store of a results folder.

    Parameters
    ----------
    sources : dict
        Folders by the names that people see.
    target : Path
        Results folder.
    keep_first : bool
        Where a trial is different, keep the one that came first, the target's before all. Otherwise nothing is
        written then.
    told : callable
        Gets a line about each source.

    Returns
    -------
    Merge
    """
    store, made, fresh = TrialStore(target / "store"), Merge(), []
    ours, known = store.query(), dict[str, tuple[pa.DataType, Path]]()
    if len(ours):
        _check_keys(target, ours)
        made.add(str(target), _agreed(ours, store.own_columns(), known))
    for name, folder in sources.items():
        fresh.append(made.add(name, source_trials(folder, known)))
        found = made.counts[name]
        told(
            f"{name}: {found['new']} new trials; known: {found[IDENTICAL]} identical, {found[CLOSE]} the same to the "
            f"promised digits, {found[DIFFERENT]} different"
        )
    if made.conflicts.empty or keep_first:
        store.prepare()
        for table in fresh:
            store.add(table)
    return made


def _written(column: pa.ChunkedArray) -> bool:
    return bool(column.null_count < len(column))
