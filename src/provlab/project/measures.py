"""Something of your own that is measured of each trial: a metric, or what a theorem of yours promises."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from provsel.kernels.spectral import Matrix
from provsel.training_view import TrainingView


@dataclass(frozen=True)
class MeasuredTrial:
    """What a trial has come to.

    Attributes
    ----------
    reducer : estimator
        The fitted selector.
    rows : TrainingView
        The rows that it was fitted on, and what was derived from them.
    X_test : ndarray or CSR of shape (n_test, n_features)
    y_test : ndarray of shape (n_test,)
        Without rows where all rows train.
    model : estimator or None
        Fitted on the selected features; None where the protocol trains none.
    predicted : ndarray of shape (n_test,) or None
        Its predictions.
    """

    reducer: Any
    rows: TrainingView
    X_test: Matrix
    y_test: NDArray[Any]
    model: Any = None
    predicted: NDArray[Any] | None = None


class Measure(ABC):
    """A metric or a certificate of your own: `protocol.measures=[{_target_: my_study.BalancedError}]`.

    Its columns are stored with each trial, beside provsel's, and can be shown in tables and tested in claims. Arguments
    are those of its `__init__`, plain values.

    Attributes
    ----------
    columns : mapping
        Names of the columns, and float or str.
    """

    columns: ClassVar[Mapping[str, type]]

    @abstractmethod
    def measure(self, trial: MeasuredTrial) -> Mapping[str, float | str | None]:
        """Return a value for each of the columns; None where there is none."""


def check_columns(measure: type, known: Collection[str]) -> None:
    """Check what a class declares.

    Raises
    ------
    ValueError
        No columns, names that others have, or kinds that cannot be stored.
    """
    columns = getattr(measure, "columns", None)
    if not isinstance(columns, Mapping) or not columns:
        raise ValueError(
            f"{measure.__name__}.columns: expected a mapping of names to float or str, got {columns!r:.80}."
        )
    for name, kind in columns.items():
        if not str(name).isidentifier() or name in known or kind not in (float, str):
            raise ValueError(
                f"{measure.__name__}.columns: expected names that no other column has, each with float or str, got "
                f"{name!r:.80}: {getattr(kind, '__name__', kind)!s:.80}; rename it."
            )


def checked_values(measure: Measure, values: Mapping[str, Any]) -> dict[str, float | str | None]:
    """Return what a measure gave as values of its columns.

    Raises
    ------
    ValueError
        Other columns than it declares, or values of another kind.
    """
    name = type(measure).__name__
    if set(values) != set(measure.columns):
        raise ValueError(
            f"{name}: expected the columns {', '.join(measure.columns)}, got {', '.join(map(str, values))}."
        )
    found: dict[str, float | str | None] = {}
    for column, kind in measure.columns.items():
        value: Any = values[column]
        if kind is float and isinstance(value, int | float | np.number):
            found[column] = float(value)
        elif value is None or (kind is str and isinstance(value, str)):
            found[column] = value
        else:
            raise ValueError(f"{name}: expected {kind.__name__} or None in column {column}, got {value!r:.80}.")
    return found
