"""What the store knows about an artefact: the trials behind each of its numbers, and how many are planned."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

import numpy as np
import pandas as pd
from hydra.errors import HydraException
from numpy.typing import NDArray
from omegaconf.errors import OmegaConfBaseException

from provsel.claims.outcome import UnavailableError
from provsel.claims.statistics import AbstractPairedTest, CorrectedT, SignedRank
from provsel.configs import Artefact, Entry, artefact_names, artefact_part, compose_artefact
from provsel.datasets import MissingDataError
from provsel.reports.frames import artefact_trials
from provsel.store import TrialReader

Place = tuple[str, str, str]
"""Artefact, row, column."""

OVER = ("datasets", "folds")

_FOLD = ["dataset", "repeat", "fold"]
_NO_FOLDS = pd.DataFrame(
    {"error": [], "ratio": []}, index=pd.MultiIndex.from_arrays([[], [], []], names=_FOLD), dtype=float
)


@cache
def artefact_layout(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return rows and columns of an artefact; needs no data."""
    if name not in artefact_names():
        raise ValueError(f"artefact: expected one of {', '.join(artefact_names())}, got {name!r}.")
    stated = artefact_part(name)
    return tuple(map(str, stated["rows"])), tuple(map(str, stated["columns"]))


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
    store : TrialStore
    overrides : sequence of str
        The user's settings. Trials that are stored are counted as far as these settings plan them.
    artefacts : mapping, optional
        Artefacts that were composed with these settings before, or why one could not be.
    """

    def __init__(
        self, store: TrialReader, overrides: Sequence[str] = (), artefacts: Mapping[str, Artefact | str] | None = None
    ) -> None:
        self.store = store
        self.overrides = list(overrides)
        self.dataset = ""
        self.unfitting: dict[str, Exception] = {}
        self._artefacts: dict[str, Artefact | str] = dict(artefacts or {})
        self._trials: dict[tuple[str, tuple[str, ...]], dict[tuple[str, str], pd.DataFrame]] = {}
        self._folds: dict[str, dict[tuple[str, str], pd.DataFrame]] = {}
        self._errors: dict[Place, pd.DataFrame] = {}
        self._tests: dict[tuple[Place, Place, str], AbstractPairedTest] = {}
        self._p_values: dict[tuple[Place, Place, str], float] = {}

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
        part.dataset, part._errors, part._tests, part._p_values = dataset, {}, {}, {}
        return part

    def entries(self, name: str, row: str, column: str) -> list[Entry]:
        """Return the entries, one a data set, of a number of an artefact."""
        found = [entry for entry in self.artefact(name).entries if (entry.row, entry.column) == (row, column)]
        return [entry for entry in found if self.dataset in ("", entry.dataset)]

    def trials(self, place: Place, columns: Sequence[str]) -> pd.DataFrame:
        """Return the stored trials behind a number of an artefact, with `columns` of their records."""
        name, row, column = place
        key = (name, tuple(columns))
        if key not in self._trials:
            stored = artefact_trials(self.artefact(name), self.store, columns)
            groups = stored.groupby(["row", "column"], sort=False)
            self._trials[key] = {(str(r), str(c)): part for (r, c), part in groups}
        empty = pd.DataFrame(columns=["row", "column", "dataset", "repeat", "fold", "draw", *columns])
        found = self._trials[key].get((row, column), empty)
        return found[found["dataset"] == self.dataset] if self.dataset else found

    def counts(self, places: Iterable[Place]) -> tuple[int, int]:
        """Return how many trials behind some numbers are stored, and how many are planned."""
        found = planned = 0
        for place in places:
            found += len(self.trials(place, ["error"]))
            planned += sum(entry.cell.n_trials for entry in self.entries(*place))
        return found, planned

    def fold_errors(self, place: Place) -> pd.DataFrame:
        """Return `error` in percent and `ratio` = n_test / n_train by (dataset, repeat, fold), draws averaged."""
        if place not in self._errors:
            folds = self._folds_of(place[0]).get(place[1:], _NO_FOLDS)
            own = folds.index.get_level_values("dataset") == self.dataset
            self._errors[place] = folds[own] if self.dataset else folds
        return self._errors[place]

    def _folds_of(self, name: str) -> dict[tuple[str, str], pd.DataFrame]:
        """Return `fold_errors` of every row and column of an artefact, on all data sets: grouped at once."""
        if name not in self._folds:
            means = ["error", "n_train", "n_test"]
            trials = artefact_trials(self.artefact(name), self.store, means).dropna(subset=["error"])
            folds = trials.groupby(["row", "column", *_FOLD], sort=True)[means].mean().astype(float)
            errors = pd.DataFrame({"error": 100 * folds["error"], "ratio": folds["n_test"] / folds["n_train"]})
            self._folds[name] = {
                (str(row), str(column)): part.droplevel(["row", "column"])
                for (row, column), part in errors.groupby(level=["row", "column"], sort=False)
            }
        return self._folds[name]

    def paired_test(self, place: Place, other: Place, over: str) -> AbstractPairedTest:
        """Return the test of error(place) - error(other), in percentage points, on the folds that both have.

        Parameters
        ----------
        place, other : (artefact, row, column)
        over : {"datasets", "folds", "draws"}
            Differences of the data sets' mean errors (signed rank), or of the folds of one data set (corrected t);
            where all rows are clustered, a fold is a seed. Or of the draws of `place` on the only fold, against the
            one error of `other`, which draws nothing (t): then the test is about the chance in the method alone.

        Raises
        ------
        UnavailableError
            With fewer than two differences.
        """
        key = (place, other, over)
        if key not in self._tests:
            self._tests[key] = self._paired_test(place, other, over)
        return self._tests[key]

    def sample(self, place: Place, other: Place, over: str) -> tuple[tuple[str, float], ...]:
        """Return what `paired_test` is over, each difference in percentage points with its name."""
        differences, _ = self._differences(place, other, over)
        return named(differences)

    def p_value(self, place: Place, other: Place, over: str) -> float:
        """Return the two-sided p-value of `paired_test`; families of comparisons ask for it again and again."""
        key = (place, other, over)
        if key not in self._p_values:
            self._p_values[key] = self.paired_test(place, other, over).p_value()
        return self._p_values[key]

    def _paired_test(self, place: Place, other: Place, over: str) -> AbstractPairedTest:
        differences, ratio = self._differences(place, other, over)
        if over == "datasets":
            return SignedRank(at_least_two(differences.to_numpy(float), "data sets"))
        return CorrectedT(at_least_two(differences.to_numpy(float), over), ratio=ratio)

    def _differences(self, place: Place, other: Place, over: str) -> tuple[pd.Series, float]:
        """Return error(place) - error(other) in points, by data set, fold or draw, and n_test / n_train of folds."""
        if over == "draws":
            own, against = (self.trials(side, ["error"]).dropna(subset=["error"]) for side in (place, other))
            one_data_set(own.set_index("dataset").index)
            if len(against) != 1 or own["fold"].nunique() != 1:
                raise UnavailableError(f"needs draws on one fold, and one trial of {other[1]}, found {len(against)}")
            errors = 100 * (own.set_index("draw")["error"] - float(against["error"].iloc[0]))
            return errors, 0.0
        own, against = self.fold_errors(place), self.fold_errors(other)
        both = pd.DataFrame({"own": own["error"], "against": against["error"], "ratio": own["ratio"]}).dropna()
        differences = both["own"] - both["against"]
        if over == "folds":
            one_data_set(both.index)
            return differences, float(both["ratio"].mean())
        return differences.groupby(level="dataset").mean(), 0.0

    def dataset_errors(self, name: str, rows: Sequence[str], column: str) -> pd.DataFrame:
        """Return mean errors in percent, data sets x those rows that have any, on the folds that these all have."""
        folds = {row: self.fold_errors((name, row, column))["error"] for row in rows}
        wide = pd.DataFrame({row: errors for row, errors in folds.items() if len(errors)})
        return wide.dropna().groupby(level="dataset").mean() if len(wide) else wide

    def _compose(self, name: str) -> Artefact | str:
        try:
            artefact = compose_artefact(name, self.overrides)
            artefact.check_data(len(self.store.query([cell.id for cell in artefact.cells], ["key"])))
        except MissingDataError as error:
            return f"data missing: provsel fetch {error.dataset}"
        except (ValueError, HydraException, OmegaConfBaseException) as error:
            if not self.overrides:
                raise
            self.unfitting[name] = error
            return f"the settings do not fit {name}: {str(error).splitlines()[0]}"
        return artefact

    def raise_if_nothing_fits(self) -> None:
        """Raise the first error of settings when they fit none of the artefacts that were asked for."""
        if self.unfitting and len(self.unfitting) == len(self._artefacts):
            raise next(iter(self.unfitting.values()))


def at_least_two(values: NDArray[np.float64], what: str) -> NDArray[np.float64]:
    """Return the values, or say that a test needs more of them."""
    if len(values) < 2:
        raise UnavailableError(f"needs at least 2 {what} with both sides, found {len(values)}")
    return values


def named(values: pd.Series) -> tuple[tuple[str, float], ...]:
    """Return values with names for people, from an index of data set, repeat, fold or draw."""
    levels = values.index.names
    names = [
        ", ".join(
            str(part) if level == "dataset" else f"{level} {part}" for level, part in zip(levels, key, strict=True)
        )
        for key in (key if isinstance(key, tuple) else (key,) for key in values.index)
    ]
    return tuple(zip(names, values.astype(float).tolist(), strict=True))


def one_data_set(index: pd.Index) -> None:
    """Check that folds are those of one data set: folds of different sets have no common scale."""
    names = index.get_level_values("dataset").unique()
    if len(names) > 1:
        raise ValueError(f"over: expected datasets for an artefact with {len(names)} data sets, got folds.")
