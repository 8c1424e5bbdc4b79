"""What a source of results says about an artefact: samples of errors, and the tests over them."""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from provlab.claims.decisions import POINTS
from provlab.claims.folds import Folds, Sample, common_folds
from provlab.claims.outcome import UnavailableError
from provlab.claims.statistics import AbstractPairedTest, Alternative, CorrectedT, DisjointT, DyadicT, SignedRank
from provlab.plan import Entry

Place = tuple[str, str, str]
"""Artefact, row, column."""

OVER = ("datasets", "folds")


class Rows(NamedTuple):
    """Rows of a source behind a number of an artefact, and the data set of each, which counts in `names`."""

    rows: NDArray[np.int64]
    names: tuple[str, ...]
    dataset: NDArray[np.int64]


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
        self._forget()

    @abstractmethod
    def column(self, name: str) -> NDArray[np.float64]:
        """Return a column of numbers, of shape (n_rows,), of the whole source."""

    @abstractmethod
    def texts(self, name: str, rows: NDArray[np.int64]) -> pd.Series | None:
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
    def selections(self, places: Sequence[Place]) -> dict[Place, list[NDArray[np.int32]]]:
        """Return the features that were selected behind some numbers, where the source says that."""

    def on(self, dataset: str) -> Self:
        """Return what is known of one data set alone; "" is all of them."""
        if not dataset:
            return self
        part = copy.copy(self)  # shares what was read
        part.dataset = dataset
        part._forget()
        return part

    def rows_of(self, place: Place) -> Rows:
        """Return `find`, remembered."""
        if place not in self._rows:
            self._rows[place] = self.find(place)
        return self._rows[place]

    def trials(self, place: Place, columns: Sequence[str]) -> pd.DataFrame:
        """Return what is behind a number of an artefact, line by line: `dataset`, and `columns`."""
        found = self.rows_of(place)
        texts = {name: self.texts(name, found.rows) for name in columns}
        values = {name: self.column(name)[found.rows] if text is None else text for name, text in texts.items()}
        return pd.DataFrame({"dataset": np.array(found.names, dtype=object)[found.dataset], **values})

    def read_selections(self, places: Iterable[Place]) -> None:
        """Read the features behind some numbers at once, rather than where each is asked for."""
        known = []
        for place in places:
            with suppress(UnavailableError):
                self.rows_of(place)
                known.append(place)
        self.begin_selections(known)

    def begin_selections(self, places: Sequence[Place]) -> None:
        """Begin to read what `selections` will be asked for."""
        self.selections(places)

    def folds(self, place: Place, column: str = "error") -> Folds:
        """Return the means of a column over the draws of each fold, and those of its sizes."""
        if (place, column) not in self._folds:
            found = self.rows_of(place)
            columns = {name: self.column(name)[found.rows] for name in (column, "n_train", "n_test")}
            numbers = [self.column(name)[found.rows] for name in ("repeat", "fold")]
            places = np.array([found.dataset, *numbers], dtype=np.int64)
            self._folds[place, column] = Folds.of(found.names, places, columns)
        return self._folds[place, column]

    def fold_errors(self, place: Place) -> Sample:
        """Return the errors of the folds, in `unit`."""
        folds = self.folds(place)
        return folds.sample(self.scale * folds.means["error"])

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
        key = (place, other, over)
        if key not in self._tests:
            self._tests[key] = self._test(*key)
        return self._tests[key]

    def sample(self, place: Place, other: Place, over: str) -> tuple[tuple[str, float], ...]:
        """Return what `paired_test` is over, each difference in `unit` with its name."""
        return self._differences(place, other, over).named()

    def p_value(self, place: Place, other: Place, over: str, shift: float, side: Alternative) -> float:
        """Return a p-value of `paired_test`; families of comparisons ask for it again and again."""
        key = (place, other, over, shift, side)
        if key not in self._p_values:
            self._p_values[key] = self.paired_test(place, other, over).p_value(shift, side)
        return self._p_values[key]

    def dataset_errors(self, name: str, rows: Sequence[str], column: str) -> pd.DataFrame:
        """Return mean errors in `unit`, data sets x those rows that have any, on the folds that these all have."""
        folds = {row: self.folds((name, row, column)) for row in rows}
        found = [row for row in rows if len(folds[row])]
        errors = {}
        for row, part in zip(found, common_folds([folds[row] for row in found]), strict=True):
            means = part.sample(self.scale * part.means["error"]).means()
            errors[row] = pd.Series(means.values, index=means.names)
        return pd.DataFrame(errors)

    def overlap(self, folds: Folds) -> float:
        """Return the mean of rows for testing over rows for training, which stands for what folds share.

        Raises
        ------
        UnavailableError
            Where the source does not say how many rows there are.
        """
        ratio = float(folds.ratio.mean())
        if math.isnan(ratio):
            raise UnavailableError(
                "not all trials say n_train and n_test, which a test over folds needs, as these overlap"
            )
        return ratio

    def _test(self, place: Place, other: Place, over: str) -> AbstractPairedTest:
        differences = self._differences(place, other, over)
        what = "data sets" if over in ("datasets", "dyadic") else over
        values = differences.at_least_two(what)
        if over == "datasets":
            return SignedRank(values)
        if over == "dyadic":
            return DyadicT(values, pairs=differences.pairs())
        if over == "draws":
            return CorrectedT(values, ratio=0.0)
        own, against = common_folds([self.folds(place), self.folds(other)])
        if not self.inverse_folds(place):
            return CorrectedT(values, ratio=self.overlap(own))
        errors = [self.scale * float(part.means["error"].mean()) for part in (own, against)]
        variance = 100 * sum(errors) - (errors[0] - errors[1]) ** 2
        n_rows = float((own.means["n_train"] + own.means["n_test"]).mean())
        return DisjointT(values, n_folds=np.unique(own.fold).size, shared=max(0.0, variance) / n_rows)

    def _differences(self, place: Place, other: Place, over: str) -> Sample:
        """Return error(place) - error(other) in `unit`, by data set, fold or draw."""
        key = (place, other, over)
        if key not in self._samples:
            self._samples[key] = self._of_draws(place, other) if over == "draws" else self._of_folds(*key)
        return self._samples[key]

    def _of_folds(self, place: Place, other: Place, over: str) -> Sample:
        own, against = common_folds([self.folds(place), self.folds(other)])
        differences = own.sample(self.scale * own.means["error"] - self.scale * against.means["error"])
        if over != "folds":
            return differences.means()
        differences.check_one_data_set()
        return differences

    def _of_draws(self, place: Place, other: Place) -> Sample:
        own, against = (self._known(side) for side in (place, other))
        errors, folds, draws = (self.column(name)[own.rows] for name in ("error", "fold", "draw"))
        baseline = self.column("error")[against.rows]
        sample = Sample(self.scale * errors, own.names, own.dataset, {"draw": draws.astype(np.int64)})
        sample.check_one_data_set()
        if baseline.size != 1 or np.unique(folds).size != 1:
            raise UnavailableError(f"needs draws on one fold, and one trial of {other[1]}, found {baseline.size}")
        return replace(sample, values=sample.values - self.scale * baseline[0])

    def _known(self, place: Place) -> Rows:
        """Return the rows that have an error."""
        found = self.rows_of(place)
        known = ~np.isnan(self.column("error")[found.rows])
        return Rows(found.rows[known], found.names, found.dataset[known])

    def _forget(self) -> None:
        self._rows: dict[Place, Rows] = {}
        self._folds: dict[tuple[Place, str], Folds] = {}
        self._samples: dict[tuple[Place, Place, str], Sample] = {}
        self._tests: dict[tuple[Place, Place, str], AbstractPairedTest] = {}
        self.p_values_of: dict[Hashable, list[dict[str, float]]] = {}  # of claims, which families ask for repeatedly
        self._p_values: dict[tuple[Place, Place, str, float, Alternative], float] = {}
