"""Base classes of everything that is measured on a trial: measures, and theorems with a state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from functools import cache
from types import NoneType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Self,
    dataclass_transform,
    get_args,
    get_type_hints,
)

from provsel.values import ValuesWithNaN

if TYPE_CHECKING:
    from provsel.certificates.trial import MeasuredTrial

HELD, VIOLATED, VACUOUS = "held", "violated", "vacuous"
NO_BOUND, NOT_SEPARABLE, NOT_MEASURED = "no bound", "not separable", "not measured"
UNDECIDED = "rank undecided"

SLACK = 1e-7
"""Relative tolerance of every comparison; the kernels certify their optima more accurately."""

MAX_ROWS = 2000
"""Largest number of rows for measures that need the n x n Gram matrix of the selection."""


@dataclass_transform(frozen_default=True, eq_default=False, kw_only_default=True)
class Measure(ValuesWithNaN, ABC):
    """A record that is measured on a trial; for theorems use `Theorem`.

    A subclass becomes a frozen dataclass automatically: it annotates its fields as
    float or str, each with a default, and defines `measure`. A project adds its own in
    `protocol.measures: [{_target_: my_study.BalancedError}]`; they are stored with each
    trial like provsel's own, shown in tables and tested in claims. Keyword arguments of
    `measure` are settings, plain values of that config.

    Examples
    --------
    >>> from provsel.certificates import Measure
    >>> class Share(Measure):
    ...     kept: float = float("nan")
    ...
    ...     @classmethod
    ...     def measure(cls, trial):
    ...         return cls(kept=trial.reducer.indices_.size / trial.rows.n_features)
    >>> Share.columns()
    {'kept': <class 'float'>}
    """

    prefix: ClassVar[str] = ""
    """Prefix of the names of the columns; provsel's theorems have `certificate_`."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        dataclass(frozen=True, eq=False, kw_only=True)(cls)

    @classmethod
    @abstractmethod
    def measure(cls, trial: MeasuredTrial) -> Self:
        """Return the values measured on a trial."""

    @classmethod
    def columns(cls) -> dict[str, Any]:
        """Return the names of its columns in a store, and their types: float or str."""
        return dict(_columns_of(cls))

    @classmethod
    def column(cls, field: str) -> str:
        """Return the name of the column of a field."""
        return cls.prefix + field

    def as_record(self) -> dict[str, float | str | None]:
        """Return the values of its columns."""
        return {self.column(name): value for name, value in vars(self).items()}


class Theorem(Measure):
    """The guarantee of a theorem for a selection or a model, with the measured values; one class per theorem.

    A subclass has a `name` and a `source`, its numbers as fields, and `measure`, which
    sets `state`. It is declared, stored, reported and tested in claims like provsel's
    own: `certify(..., also=[Mine])` in the library, `protocol.measures` in a project.

    Attributes
    ----------
    name : str
        Attribute of a `Certificate`, and name of the state's column.
    source : str
        The paper, and the theorem's number in it.
    state : str
        "held"; "violated"; "vacuous", if the bound says nothing; "no bound", if the
        method promises none; "not separable"; "not measured"; or "rank undecided". The
        last means that double precision cannot tell the numerical rank of the rows, or
        that rounding errors exceed the distance between held and violated.

    Examples
    --------
    >>> from provsel.certificates import HELD, VIOLATED, Theorem, certify
    >>> from provsel.selectors import UniformSelector
    >>> class NoMoreThanAsked(Theorem):
    ...     name, source = "size", "by construction"
    ...     kept: float = float("nan")
    ...
    ...     @classmethod
    ...     def measure(cls, trial):
    ...         kept = trial.reducer.indices_.size
    ...         return cls(kept=kept, state=HELD if kept <= trial.reducer.n_features_to_select else VIOLATED)
    >>> X = [[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]]
    >>> certify(UniformSelector(2).fit(X), X, also=[NoMoreThanAsked]).size.state
    'held'
    """

    name: ClassVar[str]
    source: ClassVar[str]
    question: ClassVar[str] = ""
    """Purpose of a selection that the theorem concerns; `Certificate.good_for` lists these."""
    state: str = NOT_MEASURED

    @property
    def is_good(self) -> bool:
        """Whether the measured values make the selection good for `question`; `state` says if this is guaranteed."""
        return False

    @classmethod
    def column(cls, field: str) -> str:
        """Return the name of the column of a field; the column of the state has the name of the theorem."""
        return cls.prefix + (cls.name if field == "state" else field)

    @classmethod
    def state_column(cls) -> str:
        """Return the name of the column of the state."""
        return cls.column("state")


def settled(excess: float, error: float) -> str:
    """Return the state of a bound that is exceeded by `excess`, which is known up to `error`.

    Examples
    --------
    >>> from provsel.certificates.theorem import settled
    >>> settled(-0.5, 0.1), settled(0.5, 0.1), settled(0.5, 1.0)
    ('held', 'violated', 'rank undecided')
    """
    if excess + error <= 0:
        return HELD
    return VIOLATED if excess - error > 0 else UNDECIDED


@cache
def _columns_of(cls: type[Measure]) -> dict[str, Any]:
    """Return `Measure.columns`; cached, because evaluating annotations for each cell of a plan is slow."""
    hints = get_type_hints(cls)
    return {
        cls.column(field.name): _without_none(hints[field.name])
        for field in fields(cls)  # type: ignore[arg-type]
    }


def _without_none(hint: Any) -> Any:
    """Return the type of an optional field without None; other types are unchanged."""
    kinds = [kind for kind in get_args(hint) if kind is not NoneType]
    return kinds[0] if len(kinds) == 1 and NoneType in get_args(hint) else hint
