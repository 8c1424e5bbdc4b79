"""Evidence: what a source of results says about an artefact, as samples of errors and the tests over them.

`Evidence` of `stored` reads the trials of a store, `TableEvidence` of `table` the lines of a file.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any, NamedTuple, Self, TypeVar, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from provlab.core.artefact import Artefact, Entry
from provlab.core.plan import MAX_COUNT
from provlab.verdicts.claims.paired_tests import AbstractPairedTest, CorrectedT, DisjointT, DyadicT, Floats, SignedRank

Ints = NDArray[np.int64]
Selections = list[NDArray[np.int32]]
"""The features that trials selected."""

Method = TypeVar("Method", bound=Callable[..., Any])

Place = tuple[str, str, str]
"""Artefact, row, column."""

Sample = dict[str, float]
"""Values by what each is of: a data set, a fold of one, or a draw."""

POINTS = "percentage points"

LIMIT = MAX_COUNT + 1
"""Above every number of a repeat or fold."""

SAME = 0.02
"""Numbers of features count as the same where their logarithms differ by no more: a size less or more than 2 % off."""


class UnavailableError(Exception):
    """Evidence that cannot be had now; the message says why. It makes a claim "not run", and never fails a command."""


class Layout(NamedTuple):
    """What claims on an artefact can be about: rows, columns, and the columns of those data sets that it lists."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    datasets: Mapping[str, tuple[str, ...]]


class Folds(NamedTuple):
    """All folds of a column of artefacts, each once and in order, and the results behind them.

    Attributes
    ----------
    rows : dict
        Number of each (artefact, row).
    names : list of str
        Data sets, sorted.
    places : ndarray of shape (3, n_folds)
        Data set, which counts in `names`, repeat and fold.
    results : ndarray of shape (n,)
        Rows of the source.
    cell : ndarray of shape (n,)
        Where each counts, in an array of shape (n_rows, n_folds) that is read line by line.
    """

    rows: dict[tuple[str, str], int]
    names: list[str]
    places: Ints
    results: Ints
    cell: Ints

    def by_fold(self, values: Floats, known: Any = slice(None)) -> dict[tuple[str, int, int], float]:
        """Return the values of those folds that are known, by data set, repeat and fold."""
        numbers = zip(*self.places[:, known].tolist(), values.tolist(), strict=True)
        return {(self.names[k], repeat, fold): value for k, repeat, fold, value in numbers}

    def by_dataset(self, values: Floats, known: Any) -> Sample:
        """Return the mean of each data set over the folds that are known."""
        found, of = np.unique(self.places[0, known], return_inverse=True)
        means = np.bincount(of, values) / np.bincount(of)
        return dict(zip([self.names[k] for k in found], means.tolist(), strict=True))


def remembered(method: Method) -> Method:
    """Compute once what a method of evidence gives for a data set: families of claims ask again and again."""

    @wraps(method)
    def found(self: AbstractEvidence, *arguments: Any) -> Any:
        key = self.dataset, method.__name__, *(tuple(each) if isinstance(each, list) else each for each in arguments)
        if key not in self.memory:
            self.memory[key] = method(self, *arguments)
        return self.memory[key]

    return cast(Method, found)


class AbstractEvidence(ABC):
    """Results of artefacts, read once: the trials of a store, or the lines of a table.

    Parameters
    ----------
    overrides : sequence of str
        The user's settings.
    scale : float
        From the column `error` to `unit`.
    unit : str
        Of errors and their differences.

    Attributes
    ----------
    dataset : str
        The only data set that is looked at; "" for all.
    memory : dict
        What was computed, by data set and question.
    """

    def __init__(self, overrides: Sequence[str] = (), *, scale: float = 100.0, unit: str = POINTS) -> None:
        self.overrides = list(overrides)
        self.scale, self.unit = scale, unit
        self.dataset = ""
        self.memory: dict[tuple[Any, ...], Any] = {}

    @abstractmethod
    def results(self, artefact: str, column: str) -> list[tuple[str, str, Ints]]:
        """Return row, data set and results of each number in a column; of `dataset` alone, where that is given."""

    @abstractmethod
    def values(self, name: str, results: Ints) -> Any:
        """Return a column of some results: an array of numbers, or a series of texts."""

    @abstractmethod
    def counts(self, places: Iterable[Place]) -> tuple[int, int]:
        """Return how many results behind some numbers there are, and how many there should be."""

    def artefact(self, name: str) -> Artefact:
        """Return what an artefact plans; ValueError where only numbers are known, as of a table."""
        raise ValueError(
            f"{name}: expected claims about numbers, got one about the selected features, which a table of results "
            f"does not have; leave it out, or compute it: provsel reproduce, provsel verify."
        )

    @remembered
    def by_column(self, artefact: str) -> dict[str, list[Entry]]:
        """Return the entries of each column of an artefact; errors as `artefact`."""
        found: dict[str, list[Entry]] = defaultdict(list)
        for entry in self.artefact(artefact).entries:
            if self.dataset in ("", entry.dataset):
                found[entry.column].append(entry)
        return found

    def entries(self, place: Place) -> list[Entry]:
        """Return the entries of a number of an artefact, one a data set; errors as `artefact`."""
        return [entry for entry in self.by_column(place[0])[place[2]] if entry.row == place[1]]

    def selections(self, places: Sequence[Place]) -> dict[Place, Selections]:
        """Return the features that were selected behind some numbers; errors as `artefact`."""
        return {place: [] for place in places if self.artefact(place[0])}

    def inverse_folds(self, place: Place) -> bool:
        """Return whether each fold trains on one part and tests on all others, so that training sets are disjoint.

        A table does not say it; overlap is the careful choice.
        """
        return False

    def on(self, dataset: str) -> Self:
        """Return what is known of one data set alone; "" is all of them."""
        part = copy.copy(self)  # shares what was read
        part.dataset = dataset
        return part

    def trials(self, place: Place, columns: Sequence[str]) -> pd.DataFrame:
        """Return what is behind a number of an artefact, line by line: `dataset`, and `columns`."""
        found = [each for each in self.results(place[0], place[2]) if each[0] == place[1]]
        results = np.concatenate([np.empty(0, np.int64), *(rows for *_, rows in found)])
        dataset = np.repeat(np.array([name for _, name, _ in found], object), [rows.size for *_, rows in found])
        return pd.DataFrame({"dataset": dataset, **{name: self.values(name, results) for name in columns}})

    def has(self, place: Place, quantity: str = "error") -> bool:
        """Return whether a quantity of some fold behind a number is known."""
        return bool(self._common([place], quantity)[1].any())

    def by_fold(self, places: Sequence[Place], quantity: str = "error") -> Sample:
        """Return means over the draws of each fold, or the differences of two numbers; errors in `unit`."""
        folds, known, values = self._common(places[:2], quantity, places[2:])
        found = folds.by_fold(_less(values), known)
        return {f"{name}, repeat {repeat}, fold {fold}": x for (name, repeat, fold), x in found.items()}

    @remembered
    def sample(self, places: Sequence[Place], over: str, quantity: str = "error") -> Sample:
        """Return what `test` is over; errors in `unit`."""
        if over == "draws":
            return self._by_draw(*places)
        folds, known, values = self._common(places[:2], quantity, places[2:])
        if over != "folds":
            return folds.by_dataset(_less(values), known)
        if (n_sets := np.unique(folds.places[0, known]).size) > 1:
            raise ValueError(f"over: expected datasets for an artefact with {n_sets} data sets, got folds.")
        return self.by_fold(places, quantity)

    @remembered
    def test(self, places: Sequence[Place], over: str, quantity: str = "error") -> AbstractPairedTest:
        """Return the test of the mean of a quantity, or of error(first) - error(second) on the folds that both have.

        Parameters
        ----------
        places : sequence of (artefact, row, column)
            One or two; the knots of `_at_kept` after these.
        over : {"datasets", "dyadic", "folds", "draws"}
            Means of data sets (of counts t, else the signed rank; dyadic-robust t where these are pairs of categories).
            Or the folds of one data set (t, corrected for what folds share); where all rows are clustered, a fold is a
            seed. Or the draws of the first on the only fold, against the one error of the second, which draws nothing
            (t): then the test is about the randomness of the method alone.
        quantity : str
            Column of the results.

        Raises
        ------
        UnavailableError
            With fewer than two values.
        """
        sample = self.sample(places, over, quantity)
        if len(sample) < 2:
            what = "data sets" if over in ("datasets", "dyadic") else over
            raise UnavailableError(f"needs at least 2 {what} with both sides, found {len(sample)}")
        values = np.array([*sample.values()])
        if over == "dyadic":
            return DyadicT(values, pairs=_category_pairs(sample))
        if over != "folds":
            is_count = quantity == "n_selected"
            return CorrectedT(values, ratio=0.0) if is_count or over != "datasets" else SignedRank(values)
        folds, known, means = self._common(places[:2], quantity, places[2:])
        row = folds.rows[places[0][:2]]
        n_train, n_test = (self._fold_means(*_column(places), name)[row, known] for name in ("n_train", "n_test"))
        if self.inverse_folds(places[0]):
            if quantity not in ("error", "n_selected"):
                raise UnavailableError(
                    f"over folds that train on disjoint rows there is a test of the error only, not of {quantity}"
                )
            if quantity != "error":  # what is selected depends on the training rows alone, and these are disjoint
                return CorrectedT(values, ratio=0.0)
            first, second = (float(each.mean()) for each in means)
            variance = max(0.0, 100 * (first + second) - (first - second) ** 2)
            shared = variance / float((n_train + n_test).mean())
            return DisjointT(values, n_folds=np.unique(folds.places[2, known]).size, shared=shared)
        overlap = float((n_test / n_train).mean())
        if math.isnan(overlap):
            raise UnavailableError(
                "not all trials say n_train and n_test, which a test over folds needs, as these overlap"
            )
        return CorrectedT(values, ratio=overlap)

    def dataset_errors(self, name: str, rows: Sequence[str], column: str) -> pd.DataFrame:
        """Return mean errors in `unit`, data sets x those rows that have any, on the folds that these all have."""
        places = [(name, row, column) for row in rows if self.has((name, row, column))]
        if not places:
            return pd.DataFrame()
        folds, known, values = self._common(places)
        return pd.DataFrame(
            {row: pd.Series(folds.by_dataset(line, known)) for (_, row, _), line in zip(places, values, strict=True)}
        )

    def _by_draw(self, place: Place, other: Place) -> Sample:
        own, against = (self.trials(each, ["error", "fold", "draw"]).dropna() for each in (place, other))
        if (n_sets := own["dataset"].nunique()) > 1:
            raise ValueError(f"over: expected datasets for an artefact with {n_sets} data sets, got draws.")
        if len(against) != 1 or own["fold"].nunique() != 1:
            raise UnavailableError(f"needs draws on one fold, and one trial of {other[1]}, found {len(against)}")
        differences = self.scale * own["error"] - self.scale * against["error"].iloc[0]
        return {f"draw {draw:.0f}": float(value) for draw, value in zip(own["draw"], differences, strict=True)}

    def _common(
        self, places: Sequence[Place], quantity: str = "error", knots: Sequence[Place] = ()
    ) -> tuple[Folds, NDArray[np.bool_], Floats]:
        """Return folds, which of them all numbers have, and the values there, of shape (n_places, n_known).

        With knots the second number is what `_at_kept` says.
        """
        column = _column(places)
        folds = self._folds(*column)
        values = self._fold_means(*column, quantity)[[folds.rows.get(place[:2], -1) for place in places]]
        if knots:
            values[1] = self._at_kept(places, knots, quantity)
        known = np.asarray(~np.isnan(values).any(axis=0))
        return folds, known, (self.scale if quantity == "error" else 1.0) * values[:, known]

    @remembered
    def _at_kept(self, places: Sequence[Place], knots: Sequence[Place], quantity: str) -> Floats:
        """Return on each fold what the second of two numbers is at as many features as the first keeps.

        The knots are of the second one's method, in columns that are named by their number of features. Between them it
        is interpolated by monotone cubics (PCHIP) in the logarithm of the number. Nothing is extrapolated: it is NaN
        beyond them, but for numbers that are the `SAME`. It is interpolated, and not the first one: it can keep any
        number, and the first may have none near the one asked for (`OnlineLeverageSelector`: 83 or 703 features of AR,
        and none between). Chords of a curve that falls ever less lie above it, which would help the first method.

        Returns
        -------
        ndarray of shape (n_folds,)

        References
        ----------
        Fritsch and Butland (1984), SIAM J. Sci. Stat. Comput. 5, for the interpolation.
        """
        knots = sorted(knots, key=lambda knot: float(knot[2]))
        sizes = np.log([float(knot[2]) for knot in knots])
        lines = [self._line(knot, quantity, [knot]) for knot in knots]
        kept = self._line(places[0], "n_selected", places)
        with np.errstate(divide="ignore"):  # none kept is fewer than any column has
            numbers = np.log([*kept.values()])
        values = np.array([[line.get(fold, np.nan) for line in lines] for fold in kept])
        return _interpolated(numbers, sizes, values.reshape(len(kept), len(knots)))

    def _line(self, place: Place, quantity: str, places: Sequence[Place]) -> dict[tuple[str, int, int], float]:
        """Return the means of a quantity on the folds of some numbers, by data set, repeat and fold."""
        folds = self._folds(*_column(places))
        return folds.by_fold(self._fold_means(*_column(places), quantity)[folds.rows.get(place[:2], -1)])

    @remembered
    def _fold_means(self, artefacts: tuple[str, ...], column: str, quantity: str) -> Floats:
        """Return the mean of a quantity over the draws of each fold, NaN where there is none.

        Returns
        -------
        ndarray of shape (n_rows + 1, n_folds)
            The rows of `Folds`, and one without results.
        """
        folds = self._folds(artefacts, column)
        values = self.values(quantity, folds.results)
        known, shape = ~np.isnan(values), (len(folds.rows) + 1, folds.places.shape[1])
        n = np.bincount(folds.cell[known], minlength=shape[0] * shape[1])
        with np.errstate(invalid="ignore"):
            return (np.bincount(folds.cell[known], values[known], n.size) / n).reshape(shape)

    @remembered
    def _folds(self, artefacts: tuple[str, ...], column: str) -> Folds:
        found = [
            ((name, row), dataset, results)
            for name in artefacts
            for row, dataset, results in self.results(name, column)
        ]
        rows = {label: k for k, label in enumerate(dict.fromkeys(label for label, *_ in found))}
        names = sorted({dataset for _, dataset, _ in found})
        places = {name: k for k, name in enumerate(names)}
        results = np.concatenate([np.empty(0, np.int64), *(each for *_, each in found)])
        numbers = np.array([(rows[label], places[name]) for label, name, _ in found], np.int64).reshape(-1, 2)
        row, dataset = np.repeat(numbers, [each.size for *_, each in found], axis=0).T
        repeat, fold = (self.values(name, results).astype(np.int64) for name in ("repeat", "fold"))
        codes, of = np.unique((dataset * LIMIT + repeat) * LIMIT + fold, return_inverse=True)
        parts = np.array([codes // LIMIT**2, codes // LIMIT % LIMIT, codes % LIMIT])
        return Folds(rows, names, parts, results, row * codes.size + of)


def _less(values: Floats) -> Floats:
    """Return the only line of an array, or the first less the second."""
    return values[0] if len(values) == 1 else values[0] - values[1]


def _category_pairs(sample: Sample) -> list[tuple[str, str]]:
    """Return the two categories that each data set is a pair of, from its name, ..._<one>_<other>."""
    parts = [name.split("_") for name in sample]
    if wrong := next((part for part in parts if len(part) < 3), None):
        raise ValueError(
            f"dependence: expected data sets named like Exp_<one>_<other> for dyadic, got {'_'.join(wrong)!r}."
        )
    return [(part[-2], part[-1]) for part in parts]


def _interpolated(numbers: Floats, sizes: Floats, values: Floats) -> Floats:
    """Return the value of each line at its number by PCHIP: NaN beyond known sizes, and where one between is missing.

    Parameters
    ----------
    numbers : ndarray of shape (n_lines,)
    sizes : ndarray of shape (n_sizes,)
        Increasing.
    values : ndarray of shape (n_lines, n_sizes)
    """
    from scipy.interpolate import PchipInterpolator  # a tenth of a second

    found, known = np.full(len(numbers), np.nan), ~np.isnan(values)
    for pattern in np.unique(known, axis=0):
        which, places = (known == pattern).all(axis=1).nonzero()[0], pattern.nonzero()[0]
        if not places.size or places[-1] - places[0] >= places.size:
            continue
        x = np.clip(numbers[which], *sizes[places[[0, -1]]])
        lines = values[np.ix_(which, places)]
        inside = lines[:, 0] if places.size == 1 else PchipInterpolator(sizes[places], lines.T)(x).diagonal()
        at = np.minimum(np.searchsorted(sizes[places], x), places.size - 1)  # of NaN as well
        inside = np.where(sizes[places][at] == x, lines[np.arange(which.size), at], inside)  # to the bit, at a knot
        found[which] = np.where(np.abs(numbers[which] - x) <= SAME, inside, np.nan)
    return found


def _column(places: Sequence[Place]) -> tuple[tuple[str, ...], str]:
    """Return the artefacts of some numbers, and the column of all of them."""
    return tuple(dict.fromkeys(place[0] for place in places)), places[0][2]
