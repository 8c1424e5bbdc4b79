"""The frame: stored trials beside what is planned of them, and from these one line for each number of an artefact.

`StoreSnapshot` holds the records of many cells, `planned_trials` puts those that a plan asks for into one long frame,
and `artefact_frame` makes the numbers of a table or figure of it. Claims, tables, figures and pages read these frames.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from functools import reduce
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from provlab.identity.cell import Cell
from provlab.plan import Artefact, Entry, counted_state
from provlab.store import NUMBERS, SCHEMA, TrialReader, TrialStore

COLUMNS = ["row", "column", "dataset", "value", "sd", "n_trials", "printed_value", "printed_sd", "state"]
"""Columns of every artefact's CSV file."""

ORIGIN = ["of_row", "of_column", "scale"]
"""Columns of `artefact_frame` beside those: row and column of the entry that a line was computed from, whose names
differ where a summary has several lines; and the factor from `sd` to a standard error, see `standard_error_scale`."""

PRINTED = ["row", "column", "dataset", "printed_value", "printed_sd"]
"""Columns of a paper's published.csv beside the artefact; the values are text, with the decimals that are printed."""

TIMES = ["select_cpu", "shared_cpu", "pass_cpu"]
"""Columns of the records that `selection_seconds` reads."""

NO_TRIALS = "missing"
"""State of a number whose cell has no stored trial; a number with trials may be empty all the same."""

Summary = Callable[[Entry, pd.DataFrame], list[dict[str, object]]]

LARGE = ("features",)
"""Columns that a snapshot leaves on disk until some cells of them are asked for."""


class StoreSnapshot:
    """Trials of a store in memory, without the lists of features: half a kilobyte each where all columns are.

    A query takes the slices of its cells, so that its time does not depend on the size of the store.

    Parameters
    ----------
    store : TrialStore
        Of the lists of features.
    table : Table
        Its other columns, as `take` gives them.
    n_nameless : int

    Attributes
    ----------
    table : Table
        One row a trial, sorted by cell, repeat, fold and draw; strings are dictionary-encoded.
    n_nameless : int
        Records that do not say which trial they are: without a key, a cell, a repeat, fold or draw. They belong to
        nothing and are left out.
    """

    def __init__(self, store: TrialStore, table: pa.Table, n_nameless: int = 0) -> None:
        self.store, self.table, self.n_nameless = store, table, n_nameless
        self._large: tuple[frozenset[str], StoreSnapshot] | None = None
        self._numbers = np.array([table[name].to_numpy() for name in NUMBERS], dtype=np.int64)
        names, codes = _cells(table)
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        ends = np.append(starts[1:], codes.size)
        places = map(slice, starts.tolist(), ends.tolist())
        self._slices = dict(zip(names[codes[starts]].tolist(), places, strict=False))
        # where no number of a cell is above the planned ones, as in most, nobody has to look at each
        highest = [np.maximum.reduceat(found, starts).tolist() if starts.size else [] for found in self._numbers]
        self._highest = dict(zip(self._slices, zip(*highest, strict=True), strict=True))

    @classmethod
    def take(
        cls,
        store: TrialStore,
        columns: Iterable[str] | None = None,
        *,
        cells: Iterable[str] | None = None,
        beside: Iterable[TrialStore] = (),
        complete: bool = False,
    ) -> StoreSnapshot:
        """Read a store as it is now.

        Parameters
        ----------
        store : TrialStore
        columns : iterable of str, optional
            Beside cell, repeat, fold and draw. By default all that are not `LARGE`.
        cells : iterable of str, optional
            Cell ids; None takes all.
        beside : iterable of TrialStore
            Stores whose trials count where the first one does not have them; these have all columns.
        complete : bool, default=False
            Pass over files that lack one of the columns, rather than have nulls there.
        """
        read = [name for name in store.columns() if name not in LARGE] if columns is None else columns
        read, chosen = list(dict.fromkeys(["cell", *NUMBERS, *read])), None if cells is None else sorted({*cells})
        tables = [store.encoded(read, chosen, complete=complete)]
        tables += [each.encoded(read, chosen, complete=True) for each in beside]
        table = pa.concat_tables(_of_one_type(tables)).unify_dictionaries().combine_chunks()
        named = [pc.is_valid(table[name]) for name in ("key", "cell") if name in read]
        named += [pc.fill_null(pc.greater_equal(table[name], 0), False) for name in NUMBERS]
        whole, n_nameless = reduce(pc.and_, named), 0
        if not pc.all(whole, min_count=0).as_py():
            table, n_nameless = table.filter(whole).combine_chunks(), pc.sum(pc.invert(whole)).as_py()
        return cls(store, table.take(pa.array(_order(table))).combine_chunks(), n_nameless)

    def with_large(self, cells: Iterable[str]) -> StoreSnapshot:
        """Return this snapshot with the lists of features of some cells, for what asks for them again and again."""
        found, chosen = copy(self), frozenset({*cells} & self._slices.keys())
        found._large = chosen, StoreSnapshot.take(self.store, LARGE, cells=chosen)
        return found

    @classmethod
    def open(cls, store: TrialStore, path: Path) -> StoreSnapshot:
        """Return what `save` wrote; processes that open one file share its memory."""
        with pa.memory_map(str(path)) as source:
            return cls(store, pa.ipc.open_file(source).read_all())

    def save(self, path: Path) -> None:
        """Write the table as an Arrow file, for other processes."""
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, self.table.schema) as writer:
            writer.write_table(self.table)

    def __len__(self) -> int:
        return len(self.table)

    def count(self, cells: Iterable[Cell]) -> int:
        """Return how many of the planned trials of some distinct cells are stored.

        A key is the hash of a cell and these numbers: counting them is counting keys, which takes seconds to make.
        """
        return sum(self.rows(cell).size for cell in cells)

    def has_any(self, cells: Iterable[Cell]) -> bool:
        """Return whether a planned trial of one of some cells is stored."""
        return any(self.rows(cell).size for cell in cells)

    def rows(self, cell: Cell) -> NDArray[np.int64]:
        """Return the rows of `table` with the planned trials of a cell, in their order."""
        if cell.id not in self._slices:
            return np.empty(0, np.int64)
        place, highest = self._slices[cell.id], self._highest[cell.id]
        if all(number < limit for number, limit in zip(highest, cell.counts, strict=True)):
            return np.arange(place.start, place.stop)
        return place.start + np.flatnonzero((self._numbers[:, place] < np.array(cell.counts)[:, None]).all(axis=0))

    def column(self, name: str) -> pa.ChunkedArray:
        """Return a column of `table`; one that no record has is one of numbers that are not there.

        A measure's columns are such before its first trial.

        Raises
        ------
        KeyError
            When the store has the column, and it was not read.
        """
        if name in self.table.column_names or name in self.store.columns():
            return self.table[name]
        return pa.chunked_array([pa.nulls(len(self), pa.float64())])

    def cpu(self, cell: Cell) -> NDArray[np.float64]:
        """Return the CPU seconds of each stored trial of a cell, NaN where its record does not say them."""
        return self.table["task_cpu"].to_numpy()[self.rows(cell)].astype(float)

    def query(self, cells: Iterable[str] | None = None, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the records of some cells, sorted as `table` is, each once; see `TrialStore.query` and `column`."""
        own = [name for name in self.table.column_names if name not in SCHEMA.names]
        wanted = [*SCHEMA.names, *own] if columns is None else list(columns)
        chosen = sorted(self._slices) if cells is None else sorted({*cells} & self._slices.keys())
        lines = self._lines(chosen)
        rows, large = pa.array(lines["row"]), None
        found = []
        for name in wanted:
            if name in LARGE:
                large = self._large_of(chosen, lines) if large is None else large
                found.append(large[name])
            else:
                column = self.column(name).take(rows)
                found.append(column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column)
        fields = [pa.field(name, column.type) for name, column in zip(wanted, found, strict=True)]
        return pa.table(found, schema=pa.schema(fields, metadata=SCHEMA.metadata))

    def _lines(self, cells: Sequence[str]) -> pd.DataFrame:
        """Return the `row` of each trial of some cells, the place of its cell in the list, repeat, fold and draw."""
        places = [(k, self._slices[name]) for k, name in enumerate(cells) if name in self._slices]
        rows = np.concatenate([np.empty(0, np.int64), *(np.arange(each.start, each.stop) for _, each in places)])
        which = np.repeat([k for k, _ in places], [each.stop - each.start for _, each in places]).astype(np.int64)
        return pd.DataFrame({"row": rows, "which": which, **dict(zip(NUMBERS, self._numbers[:, rows], strict=True))})

    def _large_of(self, cells: Sequence[str], lines: pd.DataFrame) -> pa.Table:
        """Return the lists of features of the trials of some cells; null of one that has gone from the store since."""
        known, held = self._large or (frozenset(), None)
        if held is None or not known.issuperset(cells):
            held = StoreSnapshot.take(self.store, LARGE, cells=cells)
        rows = lines.drop(columns="row").merge(held._lines(cells), on=["which", *NUMBERS], how="left")["row"]
        return held.table.select(LARGE).take(pa.array(rows.astype("Int64"), pa.int64()))


def _cells(table: pa.Table) -> tuple[NDArray[np.str_], NDArray[np.int32]]:
    """Return the distinct cells of some trials, and which of them each trial is of."""
    cells = table["cell"].combine_chunks()
    if isinstance(cells, pa.ChunkedArray):  # without any rows
        return np.empty(0, str), np.empty(0, np.int32)
    return np.array(cells.dictionary.to_pylist(), dtype=str), cells.indices.to_numpy()


def _of_one_type(tables: Sequence[pa.Table]) -> list[pa.Table]:
    """Return the tables that have rows: a column that one store has never written takes the type of the others."""
    found = [table for table in tables if len(table)] or list(tables[:1])
    for name in found[0].column_names:
        types = [table[name].type for table in found if table[name].null_count < len(table)]
        for k, table in enumerate(found):
            if types and table[name].null_count == len(table) and table[name].type != types[0]:
                place = table.column_names.index(name)
                found[k] = table.set_column(place, name, pa.nulls(len(table), types[0]))
    return found


def _order(table: pa.Table) -> NDArray[np.intp]:
    """Return the rows of some trials sorted by cell, repeat, fold and draw: of the same trial the first."""
    names, codes = _cells(table)
    rank = np.empty(names.size, np.int32)  # in the order of the names: cells then sort as integers
    rank[np.argsort(names)] = np.arange(names.size, dtype=np.int32)
    columns = [*(table[name].to_numpy() for name in reversed(NUMBERS)), rank[codes]]
    order = np.lexsort(columns)
    changes = [values[order][1:] != values[order][:-1] for values in columns]
    return order[np.concatenate([np.ones(min(order.size, 1), bool), reduce(np.logical_or, changes)])]


def artefact_frame(
    artefact: Artefact,
    store: TrialReader,
    summarise: Summary,
    *,
    columns: list[str],
    printed: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Return the numbers of an artefact in long form.

    Parameters
    ----------
    artefact : Artefact
    store : TrialStore
    summarise : callable
        (entry, its trials) -> lines with `value`, `sd` and, where they differ from the entry's, `row`, `column`.
    columns : list of str
        Columns of the records that `summarise` reads.
    printed : DataFrame, optional
        `PRINTED`, which stand beside the numbers.

    Returns
    -------
    DataFrame
        `COLUMNS` and `ORIGIN`; state is "complete", "partial (k of n)" or "missing".
    """
    lines = []
    for entry, found in trials_by_entry(artefact, store, columns_with_sizes(columns)):
        n_trials = 0 if found is None else len(found)
        base = {"row": entry.row, "column": entry.column, "dataset": entry.dataset, "n_trials": n_trials}
        base |= {"of_row": entry.row, "of_column": entry.column}
        if found is not None and n_trials:
            base["scale"] = standard_error_scale(found)
        if not n_trials:
            lines.append({**base, "value": None, "sd": np.nan, "state": NO_TRIALS})
        else:
            state = counted_state(n_trials, entry.cell.n_trials)
            lines += [{**base, "state": state, **line} for line in summarise(entry, found)]
    own = [name for name in COLUMNS if not name.startswith("printed")]
    frame = pd.DataFrame(lines, columns=[*own, *ORIGIN])
    return _with_printed(frame, printed)[[*COLUMNS, *ORIGIN]]


def columns_with_sizes(columns: Sequence[str]) -> list[str]:
    """Return all columns of the records that `artefact_frame` reads: those of a summary, and the sizes of a fold."""
    return list(dict.fromkeys([*columns, "n_train", "n_test"]))


def standard_error_scale(trials: pd.DataFrame) -> float:
    """Return the factor from the sd of a cell to the standard error of its mean.

    Over folds whose training sets overlap, sqrt(1/n + n_test/n_train) with n folds (Nadeau and Bengio 2003). 1/sqrt(n)
    over folds of the inverse split, which train on disjoint sets (that their test sets overlap is left out); over
    seeds, which have no test rows; and over draws on one fold.
    """
    n_folds = len({*zip(trials["repeat"].tolist(), trials["fold"].tolist(), strict=True)})
    if n_folds == 1:
        return float(1 / np.sqrt(len(trials)))
    n_train, n_test = (_known_mean(trials[name].to_numpy(float)) for name in ("n_train", "n_test"))
    ratio = n_test / n_train if n_train > 0 else np.nan
    return float(np.sqrt(1 / n_folds + (0.0 if ratio > 1 else ratio)))


def _known_mean(values: NDArray[np.float64]) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else np.nan


def artefact_trials(artefact: Artefact, store: TrialReader, columns: Sequence[str]) -> pd.DataFrame:
    """Return the stored trials of an artefact: `row`, `column`, `dataset`, `repeat`, `fold`, `draw` and `columns`."""
    return entry_trials(artefact, store, columns)[["row", "column", "dataset", "repeat", "fold", "draw", *columns]]


def entry_trials(artefact: Artefact, store: TrialReader, columns: Sequence[str]) -> pd.DataFrame:
    """Return the same with `entry`, the place of each trial's entry in the artefact, and `cell`; entry by entry."""
    trials = planned_trials(store, artefact.cells, columns).rename(columns={"place": "entry"})
    for name in ("row", "column", "dataset"):
        trials[name] = np.array([getattr(entry, name) for entry in artefact.entries], object)[trials["entry"]]
    return trials


def planned_trials(store: TrialReader, cells: Sequence[Cell], columns: Sequence[str]) -> pd.DataFrame:
    """Return the stored trials that some cells plan, and no others: a store may have more repeats and draws of them.

    Every number of a command is computed from these, so that it does not depend on what else is stored.

    Parameters
    ----------
    store : TrialReader
    cells : sequence of Cell
        The same one may stand there twice, with other numbers of repeats and draws.
    columns : sequence of str
        Columns of the records.

    Returns
    -------
    DataFrame
        `place`, that of the cell in `cells`, by which lines are sorted; `cell`, `repeat`, `fold`, `draw`; `columns`.
    """
    keys = ["cell", *NUMBERS]
    trials = store.query({cell.id for cell in cells}, list(dict.fromkeys([*keys, *columns]))).to_pandas()
    # a record that does not say which trial it is stands for none
    trials = trials.dropna(subset=keys).astype(dict.fromkeys(NUMBERS, np.int64))
    limits = [f"planned {name}s" for name in NUMBERS]
    plan = pd.DataFrame([(cell.id, *cell.counts) for cell in cells], columns=["cell", *limits])
    found = plan.assign(place=np.arange(len(plan))).merge(trials, on="cell", how="inner")
    planned = (found[[*NUMBERS]].to_numpy() < found[limits].to_numpy()).all(axis=1)
    return found[planned].drop(columns=limits).reset_index(drop=True)


def trials_by_entry(
    artefact: Artefact, store: TrialReader, columns: Sequence[str]
) -> Iterator[tuple[Entry, pd.DataFrame | None]]:
    """Yield each entry with its stored trials, None when there is none."""
    trials = entry_trials(artefact, store, columns)
    groups = dict(iter(trials.groupby("entry", sort=False)))
    for k, entry in enumerate(artefact.entries):
        yield entry, groups.get(k)


def error_summary(entry: Entry, trials: pd.DataFrame) -> list[dict[str, object]]:
    """Mean and standard deviation of the test error in percent, over folds; draws of a fold are averaged first."""
    errors, repeats, folds = (trials[name].to_numpy(float) for name in ("error", "repeat", "fold"))
    known = ~np.isnan(errors)
    _, which = np.unique(repeats[known] * (folds.max(initial=0) + 1) + folds[known], return_inverse=True)
    means = 100 * np.bincount(which, errors[known]) / np.bincount(which)
    if not means.size:
        return [{"value": np.nan, "sd": np.nan}]
    return [{"value": float(means.mean()), "sd": float(means.std(ddof=1)) if means.size > 1 else np.nan}]


def data_shape(trials: pd.DataFrame) -> tuple[int, int]:
    """Return rows and columns of the data set of some trials of one cell, as the records say."""
    first = trials.iloc[0]
    return int(first["n_train"] + first["n_test"]), int(first["n_features"])


def selection_seconds(trials: pd.DataFrame) -> pd.Series:
    """Return the CPU seconds of each selection: of one pass where the method searched for its sampling rate first."""
    return trials["pass_cpu"].astype(float).fillna(trials["select_cpu"] + trials["shared_cpu"])


def seed_summary(entry: Entry, trials: pd.DataFrame) -> list[dict[str, object]]:
    """Clustering accuracy, NMI and ARI in percent and the number of columns kept, mean and sd over seeds."""
    numbers = {
        entry.column: 100 * (1 - trials["error"]),
        f"{entry.column}, NMI": 100 * trials["nmi"],
        f"{entry.column}, ARI": 100 * trials["ari"],
        f"{entry.column}, features": trials["n_selected"],
    }
    return [{"column": name, "value": found.mean(), "sd": found.std(ddof=1)} for name, found in numbers.items()]


def printed_numbers(published: Path, artefact: str) -> pd.DataFrame:
    """Return `PRINTED` of an artefact, named without its paper, from that paper's published.csv, if it has one."""
    if not published.is_file():
        return pd.DataFrame(columns=PRINTED)
    printed = pd.read_csv(published, dtype=dict.fromkeys(["artefact", *PRINTED[:-1]], str))
    return printed.loc[printed["artefact"] == artefact, PRINTED]


def _with_printed(frame: pd.DataFrame, printed: pd.DataFrame | None) -> pd.DataFrame:
    printed = pd.DataFrame(columns=PRINTED) if printed is None else printed
    on = ["row", "column"]
    if printed["dataset"].notna().any():
        on.append("dataset")
    else:
        printed = printed.drop(columns="dataset")
    return frame.merge(printed, on=on, how="left", validate="many_to_one")
