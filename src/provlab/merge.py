"""Stores of several people as one, with what they disagree about.

A trial is what its key says, wherever it was computed: the union of stores is one store. Where two have the same trial,
what came out is compared as an audit compares (`provlab.agreement`): the same bits on the same environment, the
stated digits on another. What is different beyond that is a conflict, and is for people to look at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from provlab.agreement import CLOSE, DIFFERENT, IDENTICAL, OUTCOMES, compared, differences, outcomes, shown
from provlab.identity.keys import digest_of, trial_key
from provlab.store import TrialStore

PLACE = ["key", "dataset", "selector", "repeat", "fold", "draw"]

CONFLICT_COLUMNS = ["source", "other", *PLACE, "column", "first", "second"]
"""Of `Merge.conflicts`: where the trial came from first, where it is different, and both values."""

FIRST = "first source"
"""Column beside those of the trials, a name that no measure can have."""


def source_trials(folder: Path) -> pa.Table:
    """Return the trials of a results folder, of an export, or of the folder of a store; nothing is changed there.

    Raises
    ------
    ValueError
        When it is none of these, or a trial is not the one that its key says.
    """
    found = [path for path in (folder / "store", folder) if next(path.glob("*.parquet"), None) is not None]
    trials = TrialStore((found or [folder])[0], read_only=True).query()
    if not len(trials):
        raise ValueError(
            f"merge: expected a results folder or an export with trials, got {folder}, in which no store has any; "
            f"correct the path."
        )
    _check_keys(folder, trials)
    return trials


def _check_keys(folder: Path, trials: pa.Table) -> None:
    """Check that keys follow from configs and numbers: whoever edited one of them made another trial."""
    configs = {text: digest_of(text) for text in trials["config"].unique().to_pylist() if text is not None}
    columns = [trials[name].to_pylist() for name in ("key", "cell", "config", "repeat", "fold", "draw")]
    wrong = [
        key
        for key, cell, config, *numbers in zip(*columns, strict=True)
        if configs.get(config) != cell or None in numbers or trial_key(config, *numbers) != key
    ]
    if wrong:
        raise ValueError(
            f"{folder}: expected trials whose keys follow from their configs and numbers, got {len(wrong)} of "
            f"{len(trials)} that do not, such as {wrong[0]!s:.16}...; they were changed after they were computed: ask "
            f"for another copy."
        )


@dataclass
class Merge:
    """The union of some stores, the first of which has the last word.

    Attributes
    ----------
    counts : dict
        By source: how many of its trials are new, and how many of the others are identical, close or different.
    conflicts : DataFrame
        A line a column of a trial that is different, see `CONFLICT_COLUMNS`.
    """

    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    conflicts: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=CONFLICT_COLUMNS))
    _trials: pa.Table = field(default_factory=lambda: pa.table({"key": pa.array([], pa.string())}))

    def add(self, source: str, trials: pa.Table) -> pa.Table:
        """Add the trials of a source, and return those that no earlier one has.

        Raises
        ------
        ValueError
            When a column has another type than in the sources before.
        """
        places = pc.index_in(trials["key"], value_set=self._trials["key"].combine_chunks())
        fresh, shared = trials.filter(pc.is_null(places)), trials.filter(pc.is_valid(places))
        self.counts[source] = {"new": len(fresh), **dict.fromkeys(OUTCOMES, 0)}
        if len(shared):
            self._compare(source, self._trials.take(places.drop_null()), shared)
        known = fresh.append_column(FIRST, pa.array([source] * len(fresh), pa.string()))
        try:
            self._trials = pa.concat_tables([self._trials, known], promote_options="permissive")
        except pa.ArrowTypeError as error:
            raise ValueError(
                f"merge: expected columns of {source} with the types that they have in the sources before it, got "
                f"another: {error}; rename the measure's field in one of the projects, or leave out one of the sources."
            ) from error
        return fresh

    def _compare(self, source: str, ours: pa.Table, theirs: pa.Table) -> None:
        """Count outcomes of trials that are in both, and keep what is different."""
        # a column that one side never wrote is that of another version, and no disagreement
        written = [{name for name in each.column_names if each[name].null_count < len(each)} for each in (ours, theirs)]
        found = differences(
            ours, theirs, [name for name in compared(theirs.column_names) if name in set.intersection(*written)]
        )
        outcome = outcomes(ours, theirs, found)
        self.counts[source] |= {each: int((outcome == each).sum()) for each in OUTCOMES}
        wrong = found[outcome[found["row"]] == DIFFERENT].sort_values("row", kind="stable")
        if len(wrong):
            lines = theirs.select(PLACE).take(pa.array(wrong["row"])).to_pandas()
            lines["source"], lines["other"] = ours[FIRST].take(pa.array(wrong["row"])).to_pandas(), source
            lines["column"] = wrong["column"].to_numpy()
            lines[["first", "second"]] = [shown(*pair) for pair in zip(wrong["stored"], wrong["now"], strict=True)]
            self.conflicts = pd.concat([self.conflicts, lines[CONFLICT_COLUMNS]], ignore_index=True)


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
    ours = store.query()
    if len(ours):
        _check_keys(target, ours)
        made.add(str(target), ours)
    for name, folder in sources.items():
        fresh.append(made.add(name, source_trials(folder)))
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
