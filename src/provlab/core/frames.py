"""Frames of stored trials joined with the plan, and of the numbers of an artefact.

`planned_trials` returns the stored trials of a plan as one long DataFrame, from which
`artefact_frame` computes the numbers of a table or figure. Claims, tables, figures and
pages read these frames.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy.special import stdtrit

from provlab.core.artefact import Artefact, Entry, counted_state
from provlab.core.cell import Cell
from provlab.core.protocols import predicts_numbers
from provlab.core.snapshot import Planned, StoreSnapshot, TrialReader
from provlab.core.store import LARGE, SCHEMA
from provlab.project.components import component_class
from provlab.project.messages import did_you_mean
from provsel.certificates import Measure

TRIAL = ("place", "cell", "repeat", "fold", "draw")
"""Columns that identify the trial of a row of `planned_trials`: the position of its cell in the plan, the cell id, and
the numbers of the trial.
"""

FOLD = TRIAL[:-1]
"""Columns that identify a fold, see `fold_means`."""

COLUMNS = [
    "row",
    "column",
    "dataset",
    "value",
    "sd",
    "n_trials",
    "printed_value",
    "printed_sd",
    "state",
]
"""Columns of every artefact's CSV file."""

ORIGIN = ["of_row", "of_column", "scale"]
"""Further columns of `artefact_frame`: row and column of the source entry, which differ from `row` and `column` if a
summary has several lines, and the factor from `sd` to a standard error, see `standard_error_scale`.
"""

SUMMARY = ("row", "column", "value", "sd")
"""Fields of a line returned by `summarise`; row and column default to those of the entry."""

PRINTED = ["row", "column", "dataset", "printed_value", "printed_sd"]
"""Columns of a paper's published.csv in addition to the artefact; values are strings with the published decimals."""

TIMES = ["select_cpu", "shared_cpu", "pass_cpu"]
"""Columns of the records that `selection_seconds` reads."""

FOLD_SIZES = ["n_train", "n_test"]
"""Columns of the records that `standard_error_scale` reads."""

NO_TRIALS = "missing"
"""State of a number whose cell has no stored trial. A number with trials may still be empty."""

Summary = Callable[[Entry, pd.DataFrame], list[dict[str, object]]]


class Headline(NamedTuple):
    """Measure that is reported for a cell.

    Attributes
    ----------
    column : str
        Column of the records.
    name, label, unit : str
        Display names in a line, on an axis, and after a value; plain numbers have the
        unit "".
    factor : float
        Factor that converts the recorded value to `unit`.
    """

    column: str
    name: str
    label: str
    unit: str = ""
    factor: float = 1.0

    def text(self, value: float) -> str:
        """Return a value, converted to `unit`, as text."""
        return f"{value:.2f}" if self.unit else f"{value:.4f}"

    def in_units(self, text: str) -> str:
        """Return a text followed by the unit."""
        return f"{text} ({self.unit})" if self.unit else text


ERROR = Headline("error", "error", "test error (%)", "%", 100.0)
R2 = Headline("r2", "R²", "R² on the test rows")


def headline_of(cell: Cell) -> Headline:
    """Return the measure of a cell: the first of `protocol.scoring`, otherwise R^2 for a regression or the error."""
    for name in cell.method.scoring:
        return Headline(name, name, name)
    return R2 if cell.measured.uses_model and predicts_numbers(cell.model) else ERROR


def headline_columns(cells: Iterable[Cell]) -> list[str]:
    """Return the columns of the headline measures of the cells."""
    return list(dict.fromkeys(headline_of(cell).column for cell in cells))


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
        Function of an entry and its trials that returns lines with fields of `SUMMARY`.
    columns : list of str
        Columns of the records that `summarise` reads, in addition to
        `headline_columns`.
    printed : DataFrame, optional
        Published numbers with the columns `PRINTED`.

    Returns
    -------
    DataFrame
        The columns `COLUMNS` and `ORIGIN`; state is "complete", "partial (k of n)" or
        "missing".

    Raises
    ------
    ValueError
        If records lack a column, or a summary has an unknown field.
    """
    _check_declared(artefact, columns)
    read = dict.fromkeys([*columns, *headline_columns(artefact.cells), *FOLD_SIZES])
    trials = entry_trials(artefact, store, list(read))
    # packed trials lack these columns
    if any(trials[name].isna().all() for name in columns if name in LARGE):
        trials = trials[:0]
    trials_of_entry = dict(iter(trials.groupby("entry", sort=False)))
    scales = standard_error_scale(trials, ["entry"]).to_dict()
    lines: list[dict[str, object]] = []
    for place, entry in enumerate(artefact.entries):
        labels = {"row": entry.row, "column": entry.column, "dataset": entry.dataset}
        labels |= {"of_row": entry.row, "of_column": entry.column}
        if place not in trials_of_entry:
            lines.append(
                {
                    **labels,
                    "n_trials": 0,
                    "value": None,
                    "sd": np.nan,
                    "state": NO_TRIALS,
                }
            )
            continue
        n_trials = len(trials_of_entry[place])
        state = counted_state(n_trials, entry.cell.n_trials)
        for summary in summarise(entry, trials_of_entry[place]):
            _check_summary(artefact, summary)
            lines.append(
                {
                    **labels,
                    "n_trials": n_trials,
                    "state": state,
                    "scale": scales[place],
                    **summary,
                }
            )
    own = [name for name in COLUMNS if not name.startswith("printed")]
    return _beside_print(pd.DataFrame(lines, columns=[*own, *ORIGIN]), printed)


def _check_declared(artefact: Artefact, columns: Iterable[str]) -> None:
    """Raise if neither provsel nor a measure or scorer of the artefact fills a column."""
    declared = {*SCHEMA.names}
    for cell in artefact.cells:
        declared |= {*cell.method.scoring}
        for config in cell.method.measures:
            measure: type[Measure] = component_class("measure", config)
            declared |= measure.columns().keys()
    for name in columns:
        if name not in declared:
            end = did_you_mean(name, declared) or "; correct the artefact's script."
            raise ValueError(
                f"{artefact.name}: expected columns of records, got {name!r:.80}{end}"
            )


def _check_summary(artefact: Artefact, summary: Mapping[str, object]) -> None:
    """Raise if a line of a summary has fields other than `SUMMARY`, which would be lost."""
    for name in summary:
        if name not in SUMMARY:
            raise ValueError(
                f"{artefact.name}: expected a summary with {', '.join(SUMMARY)}, got the field {name!r:.80}; correct "
                f"the artefact's script."
            )


def _beside_print(frame: pd.DataFrame, printed: pd.DataFrame | None) -> pd.DataFrame:
    """Return the numbers of an artefact with the published ones; those without a data set apply to all."""
    if printed is None:
        printed = pd.DataFrame(columns=PRINTED)
    if printed["dataset"].isna().all():
        printed = printed.drop(columns="dataset")
    on = [name for name in PRINTED[:3] if name in printed]
    return frame.merge(printed, on=on, how="left", validate="many_to_one")[
        [*COLUMNS, *ORIGIN]
    ]


def standard_error_scale(trials: pd.DataFrame, keys: Sequence[str]) -> pd.Series:
    """Return, for each group of trials with the same `keys`, the factor from sd to standard error of the mean.

    For n folds whose training sets overlap, it is sqrt(1/n + n_test/n_train) (Nadeau
    and Bengio 2003). It is 1/sqrt(n) for folds of the inverse split, which train on
    disjoint sets (the overlap of test sets is ignored), for seeds, which have no test
    rows, and for draws on one fold.
    """
    keys = list(keys)
    n_trials = trials.groupby(keys, sort=False).size()
    n_folds = (
        trials.drop_duplicates([*keys, "repeat", "fold"])
        .groupby(keys, sort=False)
        .size()
    )
    sizes = (
        trials.astype(dict.fromkeys(FOLD_SIZES, float))
        .groupby(keys, sort=False)[FOLD_SIZES]
        .mean()
    )
    ratio = (sizes["n_test"] / sizes["n_train"]).where(sizes["n_train"] > 0)
    over_folds = np.sqrt(1 / n_folds + ratio.mask(ratio > 1, 0.0))
    return over_folds.where(n_folds > 1, 1 / np.sqrt(n_trials))


def mean_interval(values: pd.Series, scale: float) -> tuple[float, float, float, int]:
    """Return a mean, the ends of its 95 % Student interval (NaN for fewer than two values) and the number of values.

    Parameters
    ----------
    values : Series of numbers
    scale : float
        Factor from their sd to the standard error of the mean, see
        `standard_error_scale`.
    """
    n, mean = len(values), float(values.mean())
    half = (
        float(stdtrit(n - 1, 0.975) * scale * values.std(ddof=1)) if n > 1 else np.nan
    )
    return mean, mean - half, mean + half, n


def entry_trials(
    artefact: Artefact, store: TrialReader, columns: Sequence[str]
) -> pd.DataFrame:
    """Return an artefact's `planned_trials` with `row`, `column`, `dataset` and `entry`, the entry's position."""
    trials = planned_trials(store, artefact.cells, columns)
    trials = trials.assign(entry=trials["place"])
    for name in ("row", "column", "dataset"):
        labels = np.array([getattr(entry, name) for entry in artefact.entries], object)
        trials[name] = labels[trials["entry"]]
    return trials


def planned_trials(
    store: TrialReader, cells: Sequence[Planned], columns: Sequence[str]
) -> pd.DataFrame:
    """Return exactly the stored trials that the cells plan; a store may have more repeats and draws.

    All numbers of a command are computed from these trials, so they do not depend on
    what else is stored. This function is the only join of plan and store.

    Parameters
    ----------
    store : TrialStore or StoreSnapshot
    cells : sequence of Cell, or of objects with `id` and `counts`
        A cell may occur several times with different numbers of repeats and draws.
    columns : sequence of str
        Columns of the records.

    Returns
    -------
    DataFrame
        The columns `TRIAL`, by which rows are sorted, and `columns`. Strings are
        objects, and missing columns are NaN.
    """
    columns = [name for name in dict.fromkeys(columns) if name not in TRIAL]
    if not isinstance(store, StoreSnapshot):
        store = StoreSnapshot(store, columns, cells={cell.id for cell in cells})
    rows_of_cells = [store.rows(cell) for cell in cells]
    rows = np.concatenate([np.empty(0, np.int64), *rows_of_cells])
    place = np.repeat(
        np.arange(len(cells)), [rows_of_cell.size for rows_of_cell in rows_of_cells]
    )
    ids = np.array([cell.id for cell in cells], object)
    planned = pd.DataFrame(
        {"place": place, "cell": ids[place], **store.numbers(rows)}, columns=list(TRIAL)
    )
    records = store.take(rows, columns)
    unmeasured = [field.name for field in records.schema if field.type == pa.null()]
    return planned.join(records.to_pandas().astype(dict.fromkeys(unmeasured, float)))


def fold_means(
    frame: pd.DataFrame, columns: Sequence[str], *, factor: float = 1.0
) -> pd.DataFrame:
    """Return the mean of the given columns over the draws of each fold.

    Parameters
    ----------
    frame : DataFrame
        `repeat` and `fold` of each trial, and `place`, `cell` or both, because a cell
        may appear at two places.
    columns : sequence of str
        Numeric columns; NaN is left out.
    factor : float, default=1.0
        Factor to the unit of the means, such as 100 for percent.

    Returns
    -------
    DataFrame
        One row per fold, with the columns of `FOLD` that the input has, and `columns`,
        NaN if no draw has a value. Folds are sorted by place, or by the first row of
        their cell, then by repeat and fold.
    """
    cell = (
        frame["place"].to_numpy()
        if "place" in frame
        else pd.factorize(frame["cell"])[0]
    )
    repeat = frame["repeat"].to_numpy()
    fold = frame["fold"].to_numpy()
    codes = (cell * (repeat.max(initial=0) + 1) + repeat) * (
        fold.max(initial=0) + 1
    ) + fold
    _, first, fold_of_trial = np.unique(codes, return_index=True, return_inverse=True)
    means = (
        frame[[name for name in FOLD if name in frame]]
        .iloc[first]
        .reset_index(drop=True)
    )
    for name in columns:
        values = frame[name].to_numpy(float)
        is_known = ~np.isnan(values)
        totals = np.bincount(
            fold_of_trial[is_known], values[is_known], minlength=first.size
        )
        numbers = np.bincount(fold_of_trial[is_known], minlength=first.size)
        with np.errstate(invalid="ignore"):
            means[name] = factor * totals / numbers
    return means


def error_summary(entry: Entry, trials: pd.DataFrame) -> list[dict[str, object]]:
    """Mean and standard deviation of the test error in percent, over folds; draws of a fold are averaged first.

    For a cell with another measure, they are those of that measure, see `headline_of`.
    """
    headline = headline_of(entry.cell)
    return fold_summary(entry, trials, measure=headline.column, factor=headline.factor)


def fold_summary(
    entry: Entry, trials: pd.DataFrame, *, measure: str, factor: float = 1.0
) -> list[dict[str, object]]:
    """Mean and standard deviation of a column of the records over folds; draws of a fold are averaged first."""
    means = fold_means(trials, [measure], factor=factor)[measure].dropna().to_numpy()
    if not means.size:
        return [{"value": np.nan, "sd": np.nan}]
    return [
        {
            "value": float(means.mean()),
            "sd": float(means.std(ddof=1)) if means.size > 1 else np.nan,
        }
    ]


def mean_lines(numbers: Mapping[str, pd.Series]) -> list[dict[str, object]]:
    """Return a summary line, with mean and standard deviation, for each named column of numbers."""
    return [
        {"column": name, "value": values.mean(), "sd": values.std(ddof=1)}
        for name, values in numbers.items()
    ]


def data_shape(trials: pd.DataFrame) -> tuple[int, int]:
    """Return the numbers of rows and columns of the data set from the trials of a cell."""
    first = trials.iloc[0]
    return int(first["n_train"] + first["n_test"]), int(first["n_features"])


def selection_seconds(trials: pd.DataFrame) -> pd.Series:
    """Return the CPU seconds of each selection, or of one pass if the method first searches a sampling rate."""
    return (
        trials["pass_cpu"]
        .astype(float)
        .fillna(trials["select_cpu"] + trials["shared_cpu"])
    )


def seed_summary(entry: Entry, trials: pd.DataFrame) -> list[dict[str, object]]:
    """Clustering accuracy, NMI and ARI in percent and the number of columns kept, mean and sd over seeds."""
    numbers = {
        entry.column: 100 * (1 - trials["error"]),
        f"{entry.column}, NMI": 100 * trials["nmi"],
        f"{entry.column}, ARI": 100 * trials["ari"],
        f"{entry.column}, features": trials["n_selected"],
    }
    return mean_lines(numbers)


def printed_numbers(published: Path, artefact: str) -> pd.DataFrame:
    """Return the published numbers of an artefact, named without its paper, from published.csv if it exists."""
    if not published.is_file():
        return pd.DataFrame(columns=PRINTED)
    printed = pd.read_csv(
        published, dtype=dict.fromkeys(["artefact", *PRINTED[:-1]], str)
    )
    return printed.loc[printed["artefact"] == artefact, PRINTED]
