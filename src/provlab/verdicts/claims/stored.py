"""Evidence from stored trials: the trials of each number of an artefact, and the number of planned trials."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

import numpy as np
import pandas as pd

from provlab.core.artefact import Artefact, artefact_part, compose_artefact
from provlab.core.frames import planned_trials
from provlab.core.protocols import InverseKFold
from provlab.core.snapshot import StoreSnapshot
from provlab.core.summaries import DRAWS, selections_of
from provlab.data import MissingDataError
from provlab.project.components import component_class
from provlab.project.papers import paper_of
from provlab.verdicts.claims.evidence import (
    FOLD_KEYS,
    AbstractEvidence,
    FoldLine,
    Layout,
    Place,
    Selections,
    UnavailableError,
    remembered,
)
from provsel.certificates import Theorem

FOLD_COLUMNS = ("error", "n_train", "n_test")
"""Columns of the records that evidence always reads; rules name further ones."""


class Evidence(AbstractEvidence):
    """Evidence from the stored trials of artefacts, which are read once.

    Parameters
    ----------
    store : StoreSnapshot
        A snapshot with `FOLD_COLUMNS` and the columns that the rules read.
    overrides : sequence of str
        The user's settings. Only stored trials that these settings plan are counted.
    artefacts : mapping, optional
        Artefacts that are used as given instead of being composed with these settings,
        or the reason why one is missing.
    """

    read_together = FOLD_COLUMNS

    def __init__(
        self,
        store: StoreSnapshot,
        overrides: Sequence[str] = (),
        artefacts: Mapping[str, Artefact | str] | None = None,
    ) -> None:
        super().__init__(overrides)
        self.store = store
        self._composed = artefacts or {}
        self._artefacts: dict[str, Artefact | str] = {}
        self._unfitting: list[Exception] = []
        self._selections: dict[tuple[str, Place], Selections] = {}
        self._lines_of_cells: dict[tuple[object, ...], dict[str, FoldLine]] = {}

    def with_artefacts(self, artefacts: Mapping[str, Artefact | str]) -> Evidence:
        """Return evidence for other artefacts from the same trials; data read from the store are shared."""
        evidence = Evidence(self.store, self.overrides, artefacts)
        evidence._folds = self._folds
        # a row occurs in thousands of universes
        evidence._lines_of_cells = self._lines_of_cells
        return evidence

    def artefact(self, name: str) -> Artefact:
        """Return an artefact under the user's settings.

        Raises
        ------
        UnavailableError
            If its data are missing, or the settings do not apply to it.
        """
        if name not in self._artefacts:
            self._artefacts[name] = self._compose(name)
        artefact = self._artefacts[name]
        if isinstance(artefact, str):
            raise UnavailableError(artefact)
        return artefact

    def _compose(self, name: str) -> Artefact | str:
        artefact = self._composed.get(name)
        if isinstance(artefact, str):
            return artefact
        try:
            artefact = artefact or compose_artefact(name, self.overrides)
            artefact.check_data(self.store.has_any(artefact.cells))
        except MissingDataError as error:
            return f"data missing: provsel fetch {error.dataset}"
        except ValueError as error:
            if not self.overrides:
                raise
            self._unfitting.append(error)
            return f"the settings do not fit {name}: {str(error).splitlines()[0]}"
        return artefact

    def raise_if_nothing_fits(self) -> None:
        """Raise the first error if the settings apply to none of the requested artefacts."""
        if self._unfitting and len(self._unfitting) == len(self._artefacts):
            raise self._unfitting[0]

    def trials(self, place: Place, columns: Sequence[str]) -> pd.DataFrame:
        """Return the planned trials behind a number that are stored: `FOLD_KEYS`, `draw` and `columns`."""
        entries = self.entries(place)
        trials = planned_trials(self.store, [entry.cell for entry in entries], columns)
        datasets = np.array([entry.dataset for entry in entries], object)
        trials["dataset"] = datasets[trials["place"]]
        return trials[[*FOLD_KEYS, "draw", *columns]]

    def datasets(self, place: Place) -> list[str]:
        """Return the data sets with planned trials."""
        return [entry.dataset for entry in self.entries(place)]

    @remembered
    def _lines_of(self, place: Place) -> dict[str, FoldLine]:
        cells = tuple(
            (entry.dataset, entry.cell.id, entry.cell.counts)
            for entry in self.entries(place)
        )
        return self._lines_of_cells.setdefault(cells, {})

    def has(self, place: Place, quantity: str = "error") -> bool:
        """Return whether a quantity is known on any fold behind a number."""
        # most numbers of a fresh clone have no trials, and need no join
        n_stored, _ = self.counts([place])
        return n_stored > 0 and super().has(place, quantity)

    def counts(self, places: Iterable[Place]) -> tuple[int, int]:
        """Return how many trials behind the given numbers are stored and how many are planned."""
        cells = [entry.cell for place in places for entry in self.entries(place)]
        return self.store.count(cells), sum(cell.n_trials for cell in cells)

    def selections(self, places: Sequence[Place]) -> dict[Place, Selections]:
        """Return the features selected in each stored trial behind the given numbers, if the records contain them.

        If the artefact has `summary.draws: union`, the draws of a fold form one
        selection. Each read scans the whole store, so all places should be requested
        together.
        """
        missing = [
            place
            for place in dict.fromkeys(places)
            if (self.dataset, place) not in self._selections
        ]
        for place in missing:
            self._selections[self.dataset, place] = []
        planned = [
            (place, entry.cell) for place in missing for entry in self.entries(place)
        ]
        if planned:
            stored = planned_trials(
                self.store, [cell for _, cell in planned], ["features"]
            ).dropna()
            for k, trials in stored.groupby("place", sort=False):
                place, _ = planned[k]
                draws = self.artefact(place[0]).summary.get("draws", DRAWS[0])
                self._selections[self.dataset, place] += selections_of(
                    trials, draws=draws
                )
        return {place: self._selections[self.dataset, place] for place in places}

    def inverse_folds(self, place: Place) -> bool:
        """Return whether the protocol of a number uses inverse folds."""
        return any(
            entry.cell.protocol["split"] == InverseKFold.name
            for entry in self.entries(place)
        )


def composed(
    names: Iterable[str], overrides: Sequence[str]
) -> dict[str, Artefact | str]:
    """Return the given artefacts under the user's settings; `Evidence` reports the errors of those left out."""
    artefacts: dict[str, Artefact | str] = {}
    for name in names:
        try:
            artefacts[name] = compose_artefact(name, overrides)
        except (MissingDataError, ValueError):
            continue
    return artefacts


@cache
def artefact_layout(name: str) -> Layout:
    """Return the rows, columns and data sets that an artefact lists, without loading data."""
    paper_of(name)  # the setting must belong to one of these
    stated = artefact_part(name)
    columns = tuple(map(str, stated["columns"]))
    datasets = {}
    for label, settings in stated.get("datasets", {}).items():
        datasets[str(label)] = tuple(map(str, settings.get("columns", columns)))
    return Layout(tuple(map(str, stated["rows"])), columns, datasets)


@cache
def artefact_theorems(name: str) -> dict[str, str]:
    """Return the project's own theorems that an artefact measures, by name, with the columns of their states."""
    try:
        paper_of(name)
    except ValueError:  # the layout reports this for the same claim
        return {}
    theorems = {}
    for config in artefact_part(name, "protocol").get("measures") or ():
        measure = component_class("measure", config)
        if issubclass(measure, Theorem):
            theorems[measure.name] = measure.state_column()
    return theorems
