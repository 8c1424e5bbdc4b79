"""Evidence: what a source of results says about an artefact, as samples of errors and the tests over them.

`Evidence` of `stored` reads the trials of a store, `TableEvidence` of `table` the lines of a file.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from provlab.claims.paired_tests import (
    AbstractPairedTest,
    Alternative,
    CorrectedT,
    DisjointT,
    DyadicT,
    Floats,
    SignedRank,
)
from provlab.plan import MAX_COUNT, Entry

Ints = NDArray[np.int64]
Selections = list[NDArray[np.int32]]
"""The features that trials selected."""

T = TypeVar("T")

Place = tuple[str, str, str]
"""Artefact, row, column."""

POINTS = "percentage points"


class UnavailableError(Exception):
    """Evidence that cannot be had now; the message says why. It makes a claim "not run", and never fails a command."""


class Rows(NamedTuple):
    """Rows of a source behind a number of an artefact, and the data set of each, which counts in `names`."""

    rows: Ints
    names: tuple[str, ...]
    dataset: Ints


@dataclass(frozen=True)
class Sample:
    """Values with what each is of: a data set, a fold of one, or a draw.

    Attributes
    ----------
    values : ndarray of shape (n,)
    names : tuple of str
        Data sets, sorted.
    dataset : ndarray of shape (n,)
        Which of `names`.
    numbers : dict
        Name of a level, such as "fold", and its numbers, of shape (n,).
    sizes : dict
        n_train and n_test of folds, of shape (n,).
    """

    values: Floats
    names: tuple[str, ...]
    dataset: Ints
    numbers: Mapping[str, Ints]
    sizes: Mapping[str, Floats]

    @classmethod
    def of_folds(cls, found: Rows, places: Ints, values: Floats, sizes: Mapping[str, Floats]) -> Self:
        """Average draws fold by fold, in their order, without those that have no value.

        Parameters
        ----------
        found : Rows
        places : ndarray of shape (2, n)
            Repeat and fold of each row.
        values : ndarray of shape (n,)
        sizes : mapping
        """
        known = ~np.isnan(values)
        dataset, repeat, fold = np.array([found.dataset, *places], dtype=np.int64)[:, known]
        _, first, of = np.unique(_code(dataset, repeat, fold), return_index=True, return_inverse=True)
        n = np.bincount(of)
        means = {name: np.bincount(of, each[known], n.size) / n for name, each in sizes.items()}
        numbers = {"repeat": repeat[first], "fold": fold[first]}
        return cls(np.bincount(of, values[known], n.size) / n, found.names, dataset[first], numbers, means)

    def __len__(self) -> int:
        return self.values.size

    def named(self) -> tuple[tuple[str, float], ...]:
        """Return each value with a name for people."""
        numbers = [[f"{level} {number}" for number in found.tolist()] for level, found in self.numbers.items()]
        datasets = [] if "draw" in self.numbers else [[self.names[k] for k in self.dataset.tolist()]]
        names = map(", ".join, zip(*datasets, *numbers, strict=True))
        return tuple(zip(names, self.values.tolist(), strict=True))

    def means(self) -> Sample:
        """Return the mean of each data set."""
        found, of = np.unique(self.dataset, return_inverse=True)
        means = np.bincount(of, self.values) / np.bincount(of)
        return Sample(means, tuple(self.names[k] for k in found), np.arange(found.size), {}, {})

    def pairs(self) -> list[tuple[str, str]]:
        """Return the two categories that each data set is a pair of, from its name, ..._<one>_<other>."""
        parts = [self.names[k].split("_") for k in self.dataset.tolist()]
        if wrong := next((part for part in parts if len(part) < 3), None):
            raise ValueError(
                f"dependence: expected data sets named like Exp_<one>_<other> for dyadic, got {'_'.join(wrong)!r}."
            )
        return [(part[-2], part[-1]) for part in parts]

    def of_one_data_set(self) -> Sample:
        """Return the sample, or refuse folds of several data sets, which have no common scale."""
        n_sets = np.unique(self.dataset).size
        if n_sets > 1:
            raise ValueError(f"over: expected datasets for an artefact with {n_sets} data sets, got folds.")
        return self

    def at_least_two(self, what: str) -> Floats:
        """Return the values, or say that a test needs more of them."""
        if self.values.size < 2:
            raise UnavailableError(f"needs at least 2 {what} with both sides, found {self.values.size}")
        return self.values

    def only(self, rows: Ints) -> Self:
        """Return some values."""
        numbers = {level: found[rows] for level, found in self.numbers.items()}
        sizes = {name: found[rows] for name, found in self.sizes.items()}
        return replace(self, values=self.values[rows], dataset=self.dataset[rows], numbers=numbers, sizes=sizes)

    def codes(self, names: Sequence[str]) -> Ints:
        """Return one number a fold, the same for the same fold of a data set in `names`, which are sorted."""
        places = np.searchsorted(names, self.names) if self.names else np.zeros(0, np.int64)
        return _code(places[self.dataset], *self.numbers.values())


def common_folds(samples: Sequence[Sample]) -> list[Sample]:
    """Return of each sample the folds that all of them have."""
    names = sorted({name for sample in samples for name in sample.names})
    codes = [sample.codes(names) for sample in samples]
    if all(np.array_equal(code, codes[0]) for code in codes):  # as where everything is stored
        return [*samples]
    shared = reduce(np.intersect1d, codes)
    return [sample.only(np.searchsorted(code, shared)) for sample, code in zip(samples, codes, strict=True)]


def _code(dataset: Ints, repeat: Ints, fold: Ints) -> Ints:
    return (dataset * (MAX_COUNT + 1) + repeat) * (MAX_COUNT + 1) + fold


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
    """

    def __init__(self, overrides: Sequence[str] = (), *, scale: float = 100.0, unit: str = POINTS) -> None:
        self.overrides = list(overrides)
        self.scale, self.unit = scale, unit
        self.dataset = ""
        self._memory: dict[tuple[Any, ...], Any] = {}

    @abstractmethod
    def column(self, name: str) -> Floats:
        """Return a column of numbers, of shape (n_rows,), of the whole source."""

    @abstractmethod
    def texts(self, name: str, rows: Ints) -> pd.Series | None:
        """Return some rows of a column of texts; None where it is one of numbers."""

    @abstractmethod
    def find(self, place: Place) -> Rows:
        """Return the rows behind a number of an artefact, of all data sets or of `dataset`."""

    @abstractmethod
    def counts(self, places: Iterable[Place]) -> tuple[int, int]:
        """Return how many results behind some numbers there are, and how many there should be."""

    @abstractmethod
    def inverse_folds(self, place: Place) -> bool:
        """Return whether each fold trains on one part and tests on all others, so that training sets are disjoint."""

    @abstractmethod
    def entries(self, place: Place) -> list[Entry]:
        """Return the entries, one a data set, of a number of an artefact."""

    @abstractmethod
    def summary(self, artefact: str) -> Mapping[str, Any]:
        """Return what an artefact says about counting, `artefact.summary`."""

    @abstractmethod
    def selections(self, places: Sequence[Place]) -> dict[Place, Selections]:
        """Return the features that were selected behind some numbers."""

    def on(self, dataset: str) -> Self:
        """Return what is known of one data set alone; "" is all of them."""
        part = copy.copy(self)  # shares what was read
        part.dataset = dataset
        return part

    def once(self, make: Callable[[], T], *key: Any) -> T:
        """Return what `make` gives, computed once for a key and data set: families of claims ask again and again."""
        found = (self.dataset, *key)
        if found not in self._memory:
            self._memory[found] = make()
        return self._memory[found]

    def rows_of(self, place: Place) -> Rows:
        """Return `find`, remembered."""
        return self.once(lambda: self.find(place), "rows", place)

    def trials(self, place: Place, columns: Sequence[str]) -> pd.DataFrame:
        """Return what is behind a number of an artefact, line by line: `dataset`, and `columns`."""
        found = self.rows_of(place)
        texts = {name: self.texts(name, found.rows) for name in columns}
        values = {name: self.column(name)[found.rows] if text is None else text for name, text in texts.items()}
        return pd.DataFrame({"dataset": np.array(found.names, dtype=object)[found.dataset], **values})

    def folds(self, place: Place, column: str = "error") -> Sample:
        """Return the means of a column over the draws of each fold, as records have them."""
        return self.once(lambda: self._folds(place, column), "folds", place, column)

    def _folds(self, place: Place, column: str) -> Sample:
        found = self.rows_of(place)
        places = np.array([self.column(name)[found.rows] for name in ("repeat", "fold")])
        sizes = {name: self.column(name)[found.rows] for name in ("n_train", "n_test")}
        return Sample.of_folds(found, places, self.column(column)[found.rows], sizes)

    def fold_errors(self, place: Place) -> Sample:
        """Return the errors of the folds, in `unit`."""
        folds = self.folds(place)
        return replace(folds, values=self.scale * folds.values)

    def paired_test(self, place: Place, other: Place, over: str) -> AbstractPairedTest:
        """Return the test of error(place) - error(other), in `unit`, on the folds that both have.

        Parameters
        ----------
        place, other : (artefact, row, column)
        over : {"datasets", "dyadic", "folds", "draws"}
            Differences of the data sets' mean errors (signed rank; dyadic-robust t where these are pairs of
            categories), or of the folds of one data set (t, corrected for what folds share); where all rows are
            clustered, a fold is a seed. Or of the draws of `place` on the only fold, against the one error of `other`,
            which draws nothing (t): then the test is about the randomness of the method alone.

        Raises
        ------
        UnavailableError
            With fewer than two differences.
        """
        return self.once(lambda: self._test(place, other, over), "test", place, other, over)

    def differences(self, place: Place, other: Place, over: str) -> Sample:
        """Return what `paired_test` is over, in `unit`."""
        of = self._draw_differences if over == "draws" else self._fold_differences
        return self.once(lambda: of(place, other, over), "differences", place, other, over)

    def p_value(self, place: Place, other: Place, over: str, shift: float, side: Alternative) -> float:
        """Return a p-value of `paired_test`."""
        return self.once(
            lambda: self.paired_test(place, other, over).p_value(shift, side), "p", place, other, over, shift, side
        )

    def dataset_errors(self, name: str, rows: Sequence[str], column: str) -> pd.DataFrame:
        """Return mean errors in `unit`, data sets x those rows that have any, on the folds that these all have."""
        found = {row: folds for row in rows if len(folds := self.fold_errors((name, row, column)))}
        means = [sample.means() for sample in common_folds([*found.values()])]
        return pd.DataFrame(
            {row: pd.Series(each.values, index=each.names) for row, each in zip(found, means, strict=True)}
        )

    def overlap(self, folds: Sample) -> float:
        """Return the mean of rows for testing over rows for training, which stands for what folds share.

        Raises
        ------
        UnavailableError
            Where the source does not say how many rows there are.
        """
        ratio = float((folds.sizes["n_test"] / folds.sizes["n_train"]).mean())
        if math.isnan(ratio):
            raise UnavailableError(
                "not all trials say n_train and n_test, which a test over folds needs, as these overlap"
            )
        return ratio

    def _test(self, place: Place, other: Place, over: str) -> AbstractPairedTest:
        differences = self.differences(place, other, over)
        values = differences.at_least_two("data sets" if over in ("datasets", "dyadic") else over)
        if over == "datasets":
            return SignedRank(values)
        if over == "dyadic":
            return DyadicT(values, pairs=differences.pairs())
        if over == "draws":
            return CorrectedT(values, ratio=0.0)
        own, against = common_folds([self.folds(place), self.folds(other)])
        if not self.inverse_folds(place):
            return CorrectedT(values, ratio=self.overlap(own))
        errors = [self.scale * float(part.values.mean()) for part in (own, against)]
        variance = 100 * sum(errors) - (errors[0] - errors[1]) ** 2
        n_rows = float((own.sizes["n_train"] + own.sizes["n_test"]).mean())
        return DisjointT(values, n_folds=np.unique(own.numbers["fold"]).size, shared=max(0.0, variance) / n_rows)

    def _fold_differences(self, place: Place, other: Place, over: str) -> Sample:
        own, against = common_folds([self.fold_errors(place), self.fold_errors(other)])
        differences = replace(own, values=own.values - against.values)
        return differences.of_one_data_set() if over == "folds" else differences.means()

    def _draw_differences(self, place: Place, other: Place, over: str) -> Sample:
        own, against = (self._with_error(self.rows_of(side)) for side in (place, other))
        errors, folds, draws = (self.column(name)[own.rows] for name in ("error", "fold", "draw"))
        baseline = self.column("error")[against.rows]
        sample = Sample(self.scale * errors, own.names, own.dataset, {"draw": draws.astype(np.int64)}, {})
        sample.of_one_data_set()
        if baseline.size != 1 or np.unique(folds).size != 1:
            raise UnavailableError(f"needs draws on one fold, and one trial of {other[1]}, found {baseline.size}")
        return replace(sample, values=sample.values - self.scale * baseline[0])

    def _with_error(self, found: Rows) -> Rows:
        known = ~np.isnan(self.column("error")[found.rows])
        return Rows(found.rows[known], found.names, found.dataset[known])
