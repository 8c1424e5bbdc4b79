"""What the store knows about an artefact: the trials behind each of its numbers, and how many are planned."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from provlab.claims.folds import Folds, Sample, common_folds
from provlab.claims.outcome import UnavailableError
from provlab.claims.statistics import AbstractPairedTest, Alternative, CorrectedT, DisjointT, DyadicT, SignedRank
from provlab.configs import Artefact, Entry, artefact_part, config_errors, remembered_artefact
from provlab.datasets import MissingDataError
from provlab.project import paper_of
from provlab.project.components import component_class
from provlab.protocols import InverseKFold
from provlab.reports.features import DRAWS, selections_of
from provlab.store import StoreSnapshot
from provsel.certificates import Theorem

Place = tuple[str, str, str]
"""Artefact, row, column."""

OVER = ("datasets", "folds")

FOLD_COLUMNS = ("error", "n_train", "n_test")
"""Columns of the records that `Evidence` itself reads; tests name theirs."""


@cache
def artefact_layout(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return rows and columns of an artefact; needs no data."""
    paper_of(name)  # which it must be of
    stated = artefact_part(name)
    return tuple(map(str, stated["rows"])), tuple(map(str, stated["columns"]))


@cache
def artefact_theorems(name: str) -> dict[str, str]:
    """Return the project's own theorems that an artefact measures, by name, with the columns of their states."""
    try:
        paper_of(name)
    except ValueError:  # which the layout says, of the same claim
        return {}
    measures = [component_class("measure", config) for config in artefact_part(name, "protocol").get("measures") or ()]
    return {each.name: each.state_column() for each in measures if issubclass(each, Theorem)}


@cache
def artefact_datasets(name: str) -> dict[str, tuple[str, ...]]:
    """Return the data sets that an artefact lists itself, and the columns of each; needs no data."""
    stated = artefact_part(name)
    return {
        str(label): tuple(map(str, chosen.get("columns", stated["columns"])))
        for label, chosen in stated.get("datasets", {}).items()
    }


class Evidence:
    """Stored trials of artefacts, read once.

    Parameters
    ----------
    store : StoreSnapshot
        With `FOLD_COLUMNS`, and the columns that the tests in question read.
    overrides : sequence of str
        The user's settings. Trials that are stored are counted as far as these settings plan them.
    artefacts : mapping, optional
        Artefacts that are taken as they are here, or why one is not there, rather than composed with these settings.
    """

    def __init__(
        self, store: StoreSnapshot, overrides: Sequence[str] = (), artefacts: Mapping[str, Artefact | str] | None = None
    ) -> None:
        self.store = store
        self.overrides = list(overrides)
        self.dataset = ""
        self.unfitting: dict[str, Exception] = {}
        self._given = dict(artefacts or {})
        self._artefacts: dict[str, Artefact | str] = {}
        self._entries: dict[str, dict[tuple[str, str], list[Entry]]] = {}
        self._columns: dict[str, NDArray[np.float64]] = {}
        self._rows: dict[Place, _Rows] = {}
        self._folds: dict[tuple[Place, str], Folds] = {}
        self._selections: dict[Place, list[NDArray[np.int32]]] = {}
        self._samples: dict[tuple[Place, Place, str], Sample] = {}
        self._tests: dict[tuple[Place, Place, str], AbstractPairedTest] = {}
        self._p_values: dict[tuple[Place, Place, str, float, Alternative], float] = {}

    def artefact(self, name: str) -> Artefact:
        """Return an artefact under the user's settings.

        Raises
        ------
        UnavailableError
            When its data are missing, or the settings do not fit it; the second is kept in `unfitting`.
        """
        if name not in self._artefacts:
            self._artefacts[name] = self._compose(name)
        found = self._artefacts[name]
        if isinstance(found, str):
            raise UnavailableError(found)
        return found

    def on(self, dataset: str) -> Evidence:
        """Return what is known of one data set alone; "" is all of them."""
        if not dataset:
            return self
        part = copy.copy(self)  # shares what was read
        part.dataset, part._rows, part._folds, part._selections = dataset, {}, {}, {}
        part._samples, part._tests, part._p_values = {}, {}, {}
        return part

    def entries(self, place: Place) -> list[Entry]:
        """Return the entries, one a data set, of a number of an artefact."""
        name, *cell = place
        if name not in self._entries:
            grouped: dict[tuple[str, str], list[Entry]] = defaultdict(list)
            for entry in self.artefact(name).entries:
                grouped[entry.row, entry.column].append(entry)
            self._entries[name] = grouped
        found = self._entries[name].get((cell[0], cell[1]), [])
        return [entry for entry in found if entry.dataset == self.dataset] if self.dataset else found

    def counts(self, places: Iterable[Place]) -> tuple[int, int]:
        """Return how many trials behind some numbers are stored, and how many are planned."""
        found = planned = 0
        for place in places:
            found += self._rows_of(place).rows.size
            planned += sum(entry.cell.n_trials for entry in self.entries(place))
        return found, planned

    def trials(self, place: Place, columns: Sequence[str]) -> pd.DataFrame:
        """Return the stored trials behind a number of an artefact: `dataset`, and `columns` of their records."""
        found = self._rows_of(place)
        texts = [name for name in columns if pa.types.is_dictionary(self.store.table.schema.field(name).type)]
        numbers = {name: self._column(name)[found.rows] for name in columns if name not in texts}
        words = {name: self.store.table[name].take(pa.array(found.rows)).to_pandas() for name in texts}
        datasets = np.array(found.names, dtype=object)[found.dataset]
        return pd.DataFrame({"dataset": datasets, **numbers, **words})

    def read_selections(self, places: Iterable[Place]) -> None:
        """Read the features behind some numbers at once, rather than where each is asked for."""
        with suppress(UnavailableError):
            self.selections([*places])

    def selections(self, places: Sequence[Place]) -> dict[Place, list[NDArray[np.int32]]]:
        """Return the features that each stored trial behind some numbers selected, where it says that.

        Where the artefact says `summary.draws: union`, the draws of a fold are one selection.
        """
        missing = [place for place in places if place not in self._selections]
        if missing:
            self._selections |= self._read_selections(missing)
        return {place: self._selections[place] for place in places}

    def _read_selections(self, places: Sequence[Place]) -> dict[Place, list[NDArray[np.int32]]]:
        cells = {place: [entry.cell for entry in self.entries(place)] for place in places}
        everything = [cell.id for of_place in cells.values() for cell in of_place]
        stored = self.store.query(everything, ["cell", "repeat", "fold", "draw", "features"]).to_pandas()
        of_cell = dict(iter(stored.dropna().groupby("cell", sort=False)))
        found: dict[Place, list[NDArray[np.int32]]] = {place: [] for place in places}
        for place, of_place in cells.items():
            draws = self.artefact(place[0]).summary.get("draws", DRAWS[0])
            for cell in of_place:
                if cell.id in of_cell:
                    trials = of_cell[cell.id]
                    planned = (trials["repeat"] < cell.protocol["repeats"]) & (trials["draw"] < cell.n_draws)
                    found[place] += selections_of(trials[planned], draws=draws)
        return found

    def folds(self, place: Place, column: str = "error") -> Folds:
        """Return the means of a column of the records over the draws of each fold, and those of its sizes."""
        if (place, column) not in self._folds:
            found = self._rows_of(place)
            columns = {name: self._column(name)[found.rows] for name in (column, "n_train", "n_test")}
            numbers = [self._column(name)[found.rows] for name in ("repeat", "fold")]
            places = np.array([found.dataset, *numbers], dtype=np.int64)
            self._folds[place, column] = Folds.of(found.names, places, columns)
        return self._folds[place, column]

    def fold_errors(self, place: Place) -> Sample:
        """Return the errors of the folds, in percent."""
        folds = self.folds(place)
        return folds.sample(100 * folds.means["error"])

    def paired_test(self, place: Place, other: Place, over: str) -> AbstractPairedTest:
        """Return the test of error(place) - error(other), in percentage points, on the folds that both have.

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
        """Return what `paired_test` is over, each difference in percentage points with its name."""
        return self._differences(place, other, over).named()

    def p_value(self, place: Place, other: Place, over: str, shift: float, side: Alternative) -> float:
        """Return a p-value of `paired_test`; families of comparisons ask for it again and again."""
        key = (place, other, over, shift, side)
        if key not in self._p_values:
            self._p_values[key] = self.paired_test(place, other, over).p_value(shift, side)
        return self._p_values[key]

    def inverse_folds(self, place: Place) -> bool:
        """Return whether each fold trains on one part and tests on all others, so that training sets are disjoint."""
        return any(entry.cell.protocol["split"] == InverseKFold.name for entry in self.entries(place))

    def dataset_errors(self, name: str, rows: Sequence[str], column: str) -> pd.DataFrame:
        """Return mean errors in percent, data sets x those rows that have any, on the folds that these all have."""
        folds = {row: self.folds((name, row, column)) for row in rows}
        found = [row for row in rows if len(folds[row])]
        errors = {}
        for row, part in zip(found, common_folds([folds[row] for row in found]), strict=True):
            means = part.sample(100 * part.means["error"]).means()
            errors[row] = pd.Series(means.values, index=means.names)
        return pd.DataFrame(errors)

    def raise_if_nothing_fits(self) -> None:
        """Raise the first error of settings when they fit none of the artefacts that were asked for."""
        if self.unfitting and len(self.unfitting) == len(self._artefacts):
            raise next(iter(self.unfitting.values()))

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
            return CorrectedT(values, ratio=float(own.ratio.mean()))
        errors = [100 * float(part.means["error"].mean()) for part in (own, against)]
        variance = 100 * sum(errors) - (errors[0] - errors[1]) ** 2
        n_rows = float((own.means["n_train"] + own.means["n_test"]).mean())
        return DisjointT(values, n_folds=np.unique(own.fold).size, shared=max(0.0, variance) / n_rows)

    def _differences(self, place: Place, other: Place, over: str) -> Sample:
        """Return error(place) - error(other) in points, by data set, fold or draw."""
        key = (place, other, over)
        if key not in self._samples:
            self._samples[key] = self._of_draws(place, other) if over == "draws" else self._of_folds(*key)
        return self._samples[key]

    def _of_folds(self, place: Place, other: Place, over: str) -> Sample:
        own, against = common_folds([self.folds(place), self.folds(other)])
        differences = own.sample(100 * own.means["error"] - 100 * against.means["error"])
        if over != "folds":
            return differences.means()
        differences.check_one_data_set()
        return differences

    def _of_draws(self, place: Place, other: Place) -> Sample:
        own, against = (self._known(side) for side in (place, other))
        errors, folds, draws = (self._column(name)[own.rows] for name in ("error", "fold", "draw"))
        baseline = self._column("error")[against.rows]
        sample = Sample(100 * errors, own.names, own.dataset, {"draw": draws.astype(np.int64)})
        sample.check_one_data_set()
        if baseline.size != 1 or np.unique(folds).size != 1:
            raise UnavailableError(f"needs draws on one fold, and one trial of {other[1]}, found {baseline.size}")
        return replace(sample, values=sample.values - 100 * baseline[0])

    def _known(self, place: Place) -> _Rows:
        """Return the trials that have an error."""
        found = self._rows_of(place)
        known = ~np.isnan(self._column("error")[found.rows])
        return _Rows(found.rows[known], found.names, found.dataset[known])

    def _rows_of(self, place: Place) -> _Rows:
        if place not in self._rows:
            entries = self.entries(place)
            names = sorted({entry.dataset for entry in entries})
            rows = [self.store.rows(entry.cell) for entry in entries]
            which = np.repeat([names.index(entry.dataset) for entry in entries], [found.size for found in rows])
            joined = np.concatenate([np.empty(0, np.int64), *rows])
            self._rows[place] = _Rows(joined, tuple(names), which.astype(np.int64))
        return self._rows[place]

    def _column(self, name: str) -> NDArray[np.float64]:
        if name not in self._columns:
            self._columns[name] = self.store.table[name].to_numpy().astype(float)
        return self._columns[name]

    def _compose(self, name: str) -> Artefact | str:
        artefact = self._given.get(name)
        if isinstance(artefact, str):
            return artefact
        try:
            artefact = artefact or remembered_artefact(name, self.overrides)
            artefact.check_data(self.store.has_any(artefact.cells))
        except MissingDataError as error:
            return f"data missing: provsel fetch {error.dataset}"
        except config_errors() as error:
            if not self.overrides:
                raise
            self.unfitting[name] = error
            return f"the settings do not fit {name}: {str(error).splitlines()[0]}"
        return artefact


class _Rows(NamedTuple):
    """Rows of the snapshot's table, and the data set of each, which counts in `names`."""

    rows: NDArray[np.int64]
    names: tuple[str, ...]
    dataset: NDArray[np.int64]
