"""Evidence from a table of results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from provlab.claims.folds import Folds
from provlab.claims.outcome import UnavailableError
from provlab.claims.pairing import AbstractEvidence, Place, Rows
from provlab.claims.table import LEVELS, ResultTable
from provlab.frames import TIMES
from provlab.plan import Entry
from provlab.store import SCHEMA


class TableEvidence(AbstractEvidence):
    """Results of a table: what `provsel verify --results FILE` judges.

    What should be there is what any row of an artefact's column has: each data set and fold.

    Parameters
    ----------
    table : ResultTable
    """

    def __init__(self, table: ResultTable) -> None:
        super().__init__(scale=table.scale, unit=table.unit)
        self.table = table

    def overlap(self, folds: Folds) -> float:
        """See the base class.

        Raises
        ------
        ValueError
            When the table has no numbers of rows.
        """
        try:
            return super().overlap(folds)
        except UnavailableError as error:
            raise ValueError(
                "over: expected the numbers of rows n_train and n_test for a test over folds, which overlap, got none; "
                "name both columns, or give both numbers: --column n_train=90 --column n_test=10."
            ) from error

    def column(self, name: str) -> NDArray[np.float64]:
        """See the base class.

        Raises
        ------
        ValueError
            When the table has no such column.
        """
        if name == "error":
            return self.table.error
        if name in LEVELS:
            return self.table.levels[name].astype(float)
        if name == "pass_cpu" and self.table.has("seconds"):
            return self.table.numbers("seconds")
        if self.table.has(name):
            return self.table.numbers(name)
        if name in ("n_train", "n_test") or (name in TIMES and self.table.has("seconds")):
            return np.full(self.table.error.size, np.nan)
        wanted = "seconds" if name in TIMES else name
        raise ValueError(f"{self.table.path}: expected a column {wanted}, got none; name it: --column {wanted}=NAME.")

    def texts(self, name: str, rows: NDArray[np.int64]) -> pd.Series | None:
        """See the base class."""
        if name not in SCHEMA.names or not pa.types.is_string(SCHEMA.field(name).type) or not self.table.has(name):
            return None
        found = self.table.texts(name)
        return pd.Series([found[k] for k in rows.tolist()], dtype=object)

    def find(self, place: Place) -> Rows:
        """See the base class."""
        artefact, row, column = place
        chosen = self.table.of(artefact) & (self.table.places["row"] == row) & (self.table.places["column"] == column)
        if self.dataset:
            chosen &= self.table.places["dataset"] == self.dataset
        rows = np.flatnonzero(chosen)
        names, which = self._datasets
        return Rows(rows, names, which[rows])

    def counts(self, places: Iterable[Place]) -> tuple[int, int]:
        """Return how many data sets and folds have an error, and how many any row of these columns has."""
        found = expected = 0
        for place in places:
            found += len(self.folds(place))
            lines = self.table.of(place[0]) & (self.table.places["column"] == place[2])
            if self.dataset:
                lines &= self.table.places["dataset"] == self.dataset
            places_of = (self._datasets[1], self.table.levels["repeat"], self.table.levels["fold"])
            expected += len({*zip(*(part[lines].tolist() for part in places_of), strict=True)})
        return found, expected

    def inverse_folds(self, place: Place) -> bool:
        """Return False: a table does not say that training sets are disjoint, and overlap is the careful choice."""
        return False

    def entries(self, place: Place) -> list[Entry]:
        """See `selections`."""
        self._refuse()

    def summary(self, artefact: str) -> Mapping[str, Any]:
        """See `selections`."""
        self._refuse()

    def selections(self, places: Sequence[Place]) -> dict[Place, list[NDArray[np.int32]]]:
        """Raise: which features were selected is known of stored trials only.

        Raises
        ------
        ValueError
            Where a claim asks.
        """
        if places:
            self._refuse()
        return {}

    def _refuse(self) -> NoReturn:
        raise ValueError(
            f"{self.table.path}: expected claims about numbers, got one about the selected features, which a table of "
            f"results does not have; leave it out, or compute it: provsel reproduce, provsel verify."
        )

    @cached_property
    def _datasets(self) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        names, which = np.unique(self.table.places["dataset"], return_inverse=True)
        return tuple(names.tolist()), which.astype(np.int64)
