"""Stores of several people as one, with what they disagree about.

A trial is what its key says, wherever it was computed: the union of stores is one store. Where two have the same trial,
what came out is compared as an audit compares (`provlab.custody.agreement`): the same bits on the same environment, the
stated digits on another. What is different beyond that is a conflict, and is for people to look at.
"""

from __future__ import annotations

from functools import reduce
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from provlab.bench.stored_panel import NAMES, check_table, read_table, unpacked, write_table
from provlab.core.records import IDENTITY, NUMBERS
from provlab.core.store import TrialStore
from provlab.custody import agreement
from provlab.custody.agreement import CLOSE, DIFFERENT, IDENTICAL, OUTCOMES

PLACE = ["key", "dataset", "selector", "repeat", "fold", "draw"]

CONFLICT_COLUMNS = ["source", "other", *PLACE, "column", "first", "second"]
"""Of what is different: where the trial came from first, where it is different, and both values."""

FIRST = "first source"
"""Column beside those of the trials, a name that no measure can have."""


def source_trials(folder: Path) -> pa.Table:
    """Return the trials of a results folder, of an export, or of the folder of a store; nothing is changed there.

    They are sorted by key. A trial that is there twice stays twice, see `split_repeated`.

    Raises
    ------
    ValueError
        When it is none of these, or a trial does not say which one it is.
    """
    found = [path for path in (folder / "store", folder) if any(path.glob("*.parquet"))]
    trials = TrialStore((found or [folder])[0], read_only=True).read().sort_by("key")
    if not len(trials):
        raise ValueError(
            f"merge: expected a results folder or an export with trials, got {folder}, in which no store has any; "
            f"correct the path."
        )
    _check_whole(folder, trials)
    return trials


def _check_whole(folder: Path, trials: pa.Table) -> None:
    """Refuse records that do not say which trial they are, of which a store can check nothing."""
    is_whole = reduce(pc.and_, [pc.is_valid(trials[name]) for name in IDENTITY])
    incomplete = trials.filter(pc.invert(is_whole))
    if len(incomplete):
        raise ValueError(
            f"{folder}: expected trials with {', '.join(IDENTITY)}, got {len(incomplete)} of {len(trials)} without one "
            f"of these, such as {incomplete['key'][0].as_py()!s:.16}...; nothing tells whether they were changed: ask "
            f"for another copy."
        )


def split_repeated(trials: pa.Table) -> tuple[pa.Table, pa.Table]:
    """Return the first record of each key, and all others; `trials` are sorted by key."""
    is_repeated = trials["key"].to_pandas().duplicated()
    return trials.filter(pa.array(~is_repeated)), trials.filter(pa.array(is_repeated))


def compare_known(known: pa.Table, trials: pa.Table, source: str) -> tuple[dict[str, int], pd.DataFrame]:
    """Compare the trials of a source with known ones, row by row the same, which say their `FIRST` source.

    Returns
    -------
    counts : dict
        How many are identical, close and different.
    conflicts : DataFrame
        A line a column of a trial that is different, see `CONFLICT_COLUMNS`.
    """
    # a column that one side never wrote is that of another version, and no disagreement
    written = [{name for name in each.column_names if each[name].null_count < len(each)} for each in (known, trials)]
    names = [name for name in agreement.compared_columns(trials.column_names) if name in set.intersection(*written)]
    found = agreement.differences(known, trials, names)
    outcome = agreement.outcomes(known, trials, found)
    wrong = found[outcome[found["row"]] == DIFFERENT].sort_values("row", kind="stable")
    lines = trials.select(PLACE).take(pa.array(wrong["row"], pa.int64())).to_pandas()
    firsts = known[FIRST].take(pa.array(wrong["row"], pa.int64())).to_pandas()
    lines = lines.assign(source=firsts, other=source, column=wrong["column"].to_numpy())
    pairs = [agreement.short_texts(*pair) for pair in zip(wrong["stored"], wrong["now"], strict=True)]
    lines[["first", "second"]] = pd.DataFrame(pairs, columns=["first", "second"])
    return {each: int((outcome == each).sum()) for each in OUTCOMES}, lines[CONFLICT_COLUMNS]


def merge(sources: dict[str, Path], target: Path, *, keep_first: bool) -> pd.DataFrame:
    """Add the trials of some sources to the store of a results folder, and print a line about each source.

    Parameters
    ----------
    sources : dict
        Folders by the names that people see.
    target : Path
        Results folder, whose trials have the last word.
    keep_first : bool
        Where a trial is different, keep the one that came first. Otherwise nothing is written then.

    Returns
    -------
    DataFrame
        What is different, see `CONFLICT_COLUMNS`.

    Raises
    ------
    ValueError
        When a source has no trials, one that says not which it is, or a column with another type than in the sources
        before; of what a store refuses, see `TrialStore.read`.
    """
    store = TrialStore(target / "store")
    ours = store.query()
    _check_whole(target, ours)
    known, conflicts, fresh = with_source(ours, str(target)), [pd.DataFrame(columns=CONFLICT_COLUMNS)], []
    for name, folder in sources.items():
        trials, repeated = split_repeated(source_trials(folder))
        firsts = with_source(trials, name).take(pc.index_in(repeated["key"], value_set=trials["key"].combine_chunks()))
        repeats, wrong = compare_known(firsts, repeated, name)
        conflicts += [wrong] * (len(wrong) > 0)
        places = pc.index_in(trials["key"], value_set=known["key"].combine_chunks())
        fresh.append(trials.filter(pc.is_null(places)))
        found, wrong = compare_known(known.take(places.drop_null()), trials.filter(pc.is_valid(places)), name)
        conflicts += [wrong] * (len(wrong) > 0)
        try:
            known = pa.concat_tables([known, with_source(fresh[-1], name)], promote_options="permissive")
        except pa.ArrowTypeError as error:
            raise ValueError(
                f"merge: expected columns of {name} with the types that they have in the sources before it, got "
                f"another: {error}; rename the measure's field in one of the projects, or leave out one of the sources."
            ) from error
        print(f"{name}: {len(fresh[-1])} new trials; known: {_counts(found)}")
        if len(repeated):
            print(f"{name}: {len(repeated)} rows have the key of a row before them: {_counts(repeats)}")
    if keep_first or len(conflicts) == 1:
        store.prepare()
        for table in fresh:
            store.add(table)
    return pd.concat(conflicts, ignore_index=True)


def merge_panel(source: Path, target: Path, *, keep_first: bool) -> pd.DataFrame:
    """Add what a folder of a benchmark's panel has to another one, as `merge` does; errors as `check_table`."""
    new, old = read_table(source), read_table(target)
    cells = check_table(new, str(source))
    both = new.merge(old[["cell", *NUMBERS]], on=["cell", *NUMBERS])
    known = old.merge(both[["cell", *NUMBERS]], on=["cell", *NUMBERS]).sort_values(["cell", *NUMBERS])
    pair = [unpacked(each, cells) for each in (known, both.sort_values(["cell", *NUMBERS]))]
    found, conflicts = compare_known(with_source(pair[0], str(target)), pair[1], str(source))
    fresh = new[~new["cell"].isin({*old["cell"]})]
    if keep_first or conflicts.empty:
        ours = pd.MultiIndex.from_frame(old[[*NAMES]])
        replaced = ours.isin(pd.MultiIndex.from_frame(fresh[[*NAMES]]))  # by trials of another version
        write_table(pd.concat([old[~replaced], fresh]), target)
    methods = ", ".join(fresh["method"].unique()) or "no method"
    print(f"{source}: {len(fresh)} new trials of {methods}; known: {_counts(found)}")
    return conflicts


def _counts(found: dict[str, int]) -> str:
    same = f"{found[IDENTICAL]} identical, {found[CLOSE]} the same to the promised digits"
    return f"{same}, {found[DIFFERENT]} different"


def with_source(trials: pa.Table, source: str) -> pa.Table:
    """Return trials with the column `FIRST`."""
    return trials.append_column(FIRST, pa.array([source] * len(trials), pa.string()))
