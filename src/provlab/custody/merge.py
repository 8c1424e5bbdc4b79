"""Merge stores of several people into one, and report their disagreements.

A trial is identified by its key on every machine, so the union of stores is one store.
If two stores have the same trial, the results are compared as in an audit
(`provlab.custody.agreement`). They must agree bit for bit in the same environment, and
to the promised digits otherwise. Any larger difference is a conflict, which people must
resolve.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from provlab.core.records import IDENTITY
from provlab.core.store import TrialStore
from provlab.custody import agreement
from provlab.custody.agreement import CLOSE, DIFFERENT, IDENTICAL, OUTCOMES

PLACE = ["key", "dataset", "selector", "repeat", "fold", "draw"]

CONFLICT_COLUMNS = ["source", "other", *PLACE, "column", "first", "second"]
"""Columns of a difference: the first source of the trial, the differing source, and both values."""

FIRST = "first source"
"""Additional column of the trials, with a name that no measure can have."""


def source_trials(folder: Path) -> pa.Table:
    """Return the trials of a results folder, of an export, or of the folder of a store, without changing it.

    They are sorted by key. Repeated trials are kept, see `split_repeated`.

    Raises
    ------
    ValueError
        If the folder is none of these, or a record does not identify its trial.
    """
    inside = folder / "store"
    store = inside if any(inside.glob("*.parquet")) else folder
    trials = TrialStore(store, read_only=True).read().sort_by("key")
    if not len(trials):
        raise ValueError(
            f"merge: expected a results folder or an export with trials, got {folder}, which has none; correct the "
            f"path."
        )
    _check_whole(folder, trials)
    return trials


def _check_whole(folder: Path, trials: pa.Table) -> None:
    """Raise if records lack the identity of their trial, because a store cannot check these."""
    is_whole = reduce(pc.and_, [pc.is_valid(trials[name]) for name in IDENTITY])
    incomplete = trials.filter(pc.invert(is_whole))
    if len(incomplete):
        raise ValueError(
            f"{folder}: expected trials with {', '.join(IDENTITY)}, got {len(incomplete)} of {len(trials)} without one "
            f"of these, such as {incomplete['key'][0].as_py()!s:.16}...; without these a change cannot be detected: "
            f"ask for another copy."
        )


def split_repeated(trials: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Return the first record of each key, and all others; `trials` are sorted by key."""
    is_repeated = trials["key"].to_pandas().duplicated()
    return trials.filter(pa.array(~is_repeated)), trials.filter(pa.array(is_repeated))


def compare_known(
    earlier: pa.Table, trials: pa.Table, source: str
) -> tuple[dict[str, int], pd.DataFrame]:
    """Compare the trials of a source with the same earlier trials, which state their `FIRST` source.

    Returns
    -------
    counts : dict
        How many are identical, close and different.
    conflicts : DataFrame
        One line per differing column of a trial, see `CONFLICT_COLUMNS`.
    """
    # a column that one side never wrote belongs to another version and is not a
    # disagreement
    written = _written(earlier) & _written(trials)
    names = [
        name
        for name in agreement.compared_columns(trials.column_names)
        if name in written
    ]
    differences = agreement.differences(earlier, trials, names)
    outcomes = agreement.outcomes(earlier, trials, differences)
    wrong = differences[outcomes[differences["row"]] == DIFFERENT].sort_values(
        "row", kind="stable"
    )
    rows = pa.array(wrong["row"], pa.int64())
    lines = trials.select(PLACE).take(rows).to_pandas()
    lines = lines.assign(
        source=earlier[FIRST].take(rows).to_pandas(),
        other=source,
        column=wrong["column"].to_numpy(),
    )
    pairs = list(map(agreement.short_texts, wrong["stored"], wrong["now"]))
    lines[["first", "second"]] = pd.DataFrame(pairs, columns=["first", "second"])
    counts = {outcome: int((outcomes == outcome).sum()) for outcome in OUTCOMES}
    return counts, lines[CONFLICT_COLUMNS]


def _written(trials: pa.Table) -> set[str]:
    """Return the columns in which at least one trial has a value."""
    return {
        name for name in trials.column_names if trials[name].null_count < len(trials)
    }


def merge(sources: Iterable[str], target: Path, *, keep_first: bool) -> pd.DataFrame:
    """Add the trials of the sources to the store of a results folder, and print a line about each source.

    Parameters
    ----------
    sources : iterable of str
        Folders.
    target : Path
        Results folder, whose trials take precedence.
    keep_first : bool
        Whether to keep the first version of trials that differ. Otherwise nothing is
        written in that case.

    Returns
    -------
    DataFrame
        The differences, see `CONFLICT_COLUMNS`.

    Raises
    ------
    ValueError
        If a source has no trials, a record that does not identify its trial, or a
        column whose type differs from earlier sources; or if a store is invalid, see
        `TrialStore.read`.
    """
    store = TrialStore(target / "store")
    ours = store.query()
    _check_whole(target, ours)
    earlier = with_source(ours, str(target))
    conflicts: list[pd.DataFrame] = []
    fresh = []
    for name in sources:
        trials, repeated = split_repeated(source_trials(Path(name)))
        firsts = with_source(trials, name).take(
            pc.index_in(repeated["key"], value_set=trials["key"].combine_chunks())
        )
        repeat_counts, repeat_conflicts = compare_known(firsts, repeated, name)
        places = pc.index_in(trials["key"], value_set=earlier["key"].combine_chunks())
        counts, new_conflicts = compare_known(
            earlier.take(places.drop_null()), trials.filter(pc.is_valid(places)), name
        )
        conflicts += [repeat_conflicts, new_conflicts]
        fresh.append(trials.filter(pc.is_null(places)))
        try:
            earlier = pa.concat_tables(
                [earlier, with_source(fresh[-1], name)], promote_options="permissive"
            )
        except pa.ArrowTypeError as error:
            raise ValueError(
                f"merge: its columns have other types than in earlier sources: {error}; rename the "
                f"measure's field in one of the projects, or leave out one of the sources."
            ) from error
        print(f"{name}: {len(fresh[-1])} new trials; known: {_counts_text(counts)}")
        if len(repeated):
            print(
                f"{name}: {len(repeated)} rows repeat the key of an earlier row: {_counts_text(repeat_counts)}"
            )
    lines = pd.concat(
        [frame for frame in conflicts if len(frame)] or conflicts[:1], ignore_index=True
    )
    if keep_first or lines.empty:
        store.prepare()
        for table in fresh:
            store.add(table)
    return lines


def _counts_text(counts: dict[str, int]) -> str:
    same = (
        f"{counts[IDENTICAL]} identical, {counts[CLOSE]} equal to the promised digits"
    )
    return f"{same}, {counts[DIFFERENT]} different"


def with_source(trials: pa.Table, source: str) -> pa.Table:
    """Return trials with the column `FIRST`."""
    return trials.append_column(FIRST, pa.array([source] * len(trials), pa.string()))
