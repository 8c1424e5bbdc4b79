"""How far records of another kind of machine agree with those computed here, column by column."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from provlab.audit.compare import COMPARED, is_close, relative_difference, same_bits
from provlab.fields import Fits

MOST_DIGITS = 16
"""A double has no more; differences of values near zero, which are relative to `SMALLEST`, can be smaller."""

FINITE = Fits("a finite number of at least 0", lambda worst: 0 <= worst < math.inf)


@dataclass(frozen=True)
class ColumnAgreement:
    """One column over all trials of a kind that were computed again.

    Attributes
    ----------
    column : str
    n_compared : int
        Trials where it has a value on either side (not NaN, which is "not measured"), and where the writer knew it.
    n_same : int
        Of these, with the same bits.
    n_beyond : int
        Of these, different by more than is promised between kinds.
    worst : float
        Largest relative difference of two finite numbers; see `relative_difference`.
    """

    column: str
    n_compared: int = 0
    n_same: int = 0
    n_beyond: int = 0
    worst: Annotated[float, FINITE] = 0.0

    @property
    def digits(self) -> int | None:
        """Decimal digits to which all numbers agree; None where all have the same bits, or none are numbers."""
        return min(math.floor(-math.log10(self.worst)), MOST_DIGITS) if self.worst else None


@dataclass(frozen=True)
class Agreement:
    """All trials whose records name one other environment.

    Attributes
    ----------
    environment : str
        As the records have it, see `provlab.trials.environment`; "" where they do not say.
    n_trials : int
    columns : tuple of ColumnAgreement
        In the schema's order; without those that no trial has.
    """

    environment: str
    n_trials: int
    columns: tuple[ColumnAgreement, ...]


class AgreementTally:
    """Counts pairs of records, stored and computed again, one at a time."""

    def __init__(self) -> None:
        self._columns: dict[str, dict[str, ColumnAgreement]] = {}
        self._trials: dict[str, int] = {}

    def add(self, stored: Mapping[str, Any], now: Mapping[str, Any], absent: Collection[str] = ()) -> None:
        """Count a pair; parameters as of `compare`."""
        kind = stored["environment"] or ""
        self._trials[kind] = self._trials.get(kind, 0) + 1
        columns = self._columns.setdefault(kind, {})
        for name in COMPARED:
            if name not in absent and (_is_measured(stored[name]) or _is_measured(now[name])):
                columns[name] = _with(columns.get(name, ColumnAgreement(name)), stored[name], now[name])

    def agreements(self) -> tuple[Agreement, ...]:
        """Return what was counted, the kind with most trials first."""
        kinds = sorted(self._trials, key=lambda kind: (-self._trials[kind], kind))
        return tuple(
            Agreement(kind, self._trials[kind], tuple(filter(None, map(self._columns[kind].get, COMPARED))))
            for kind in kinds
        )


def _is_measured(value: Any) -> bool:
    return value not in (None, "") and value == value  # only NaN is not equal to itself


def _with(column: ColumnAgreement, stored: Any, now: Any) -> ColumnAgreement:
    column = replace(column, n_compared=column.n_compared + 1)
    if same_bits(stored, now):
        return replace(column, n_same=column.n_same + 1)
    distance = relative_difference(stored, now)
    return replace(
        column,
        n_beyond=column.n_beyond + (not is_close(column.column, stored, now)),
        worst=max(column.worst, distance) if math.isfinite(distance) else column.worst,
    )
