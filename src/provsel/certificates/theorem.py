"""What a theorem promises beside what was achieved, as a record: the base of ours, and of your own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from provsel.values import ValuesWithNaN

if TYPE_CHECKING:
    from provsel.certificates.clustering import ClusteringCost, PartitionCost
    from provsel.certificates.compression import CompressedRecovery, FeatureSelectiveRecovery
    from provsel.certificates.margin import MarginPreservation, SoftMarginBound
    from provsel.certificates.online_scores import OnlineScoreSum
    from provsel.certificates.radius import RadiusPreservation
    from provsel.certificates.ridge_regression import RidgeRegressionCost, RidgeRegressionRisk
    from provsel.certificates.spectral import SpectralSparsification
    from provsel.training_view import TrainingView

HELD, VIOLATED, VACUOUS = "held", "violated", "vacuous"
NO_BOUND, NOT_SEPARABLE, NOT_MEASURED = "no bound", "not separable", "not measured"
UNDECIDED = "rank undecided"

SLACK = 1e-7
"""Relative tolerance of every comparison: the kernels certify their own optima to better than that."""

MAX_ROWS = 2000
"""What needs the n x n Gram matrix of the selection is measured up to this many rows."""


@dataclass(frozen=True)
class MeasuredTrial:
    """What was fitted, and on which rows: all that a record is measured of.

    Use it in `measure` of a theorem of your own, which gets one.

    Attributes
    ----------
    reducer : estimator
        The fitted selector; None where a theorem is about a model on all features.
    rows : TrainingView
        The rows that it was fitted on, and what was derived from them: records of one trial share that.
    X_test : ndarray or CSR of shape (n_test, n_features)
        Of a trial of the laboratory, as all below; without rows where all of them train.
    y_test : ndarray of shape (n_test,)
    model : estimator or None
        Fitted on the selected features; None where the protocol fits none.
    predicted : ndarray of shape (n_test,) or None
        Its predictions.
    geometry : dict
        What the selection alone gave, see `of_selection`: trials of one selection on the same rows can have the same.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.certificates import MeasuredTrial
    >>> from provsel.selectors import FullDataSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((20, 4)) @ rng.standard_normal((4, 600))
    >>> from provsel.training_view import TrainingView
    >>> trial = MeasuredTrial(FullDataSelector().fit(X), TrainingView(X))
    >>> trial.eigenvalues.size, trial.spectral_error < 1e-9
    (4, True)
    """

    reducer: Any
    rows: TrainingView
    X_test: Any = None
    y_test: Any = None
    model: Any = None
    predicted: Any = None
    geometry: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)
    _parts: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def shared(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return the part `name`, computed at the first call, so that theorems on one trial share it."""
        if name not in self._parts:
            self._parts[name] = compute()
        return self._parts[name]

    def of_selection(self, name: str, compute: Callable[[], Any]) -> Any:
        """As `shared`, of what depends on the reducer and the rows only: not on the model, nor on test rows."""
        if name not in self.geometry:
            self.geometry[name] = compute()
        return self.geometry[name]

    @property
    def eigenvalues(self) -> NDArray[np.float64]:
        """Eigenvalues of V^T R R^T V, shape (rank,), increasing.

        V, shape (n_features, rank), are the right singular vectors of the rows, and R = S D the selection with its
        weights, shape (n_features, n_selected).
        """

        def compute() -> NDArray[np.float64]:
            kept = self.rows.basis().V[self.reducer.indices_] * self.reducer.weights_[:, None]
            return np.linalg.eigvalsh(kept.T @ kept)

        return self.of_selection("eigenvalues", compute)

    @property
    def spectral_error(self) -> float:
        """||E||_2 of E = V^T V - V^T R R^T V: 0 where nothing is lost; most theorems ask for less than 1/2."""
        return float(max(1 - self.eigenvalues[0], self.eigenvalues[-1] - 1, 0.0))

    @property
    def eigenvalue_error(self) -> float:
        """Bound, to first order, of the error of the eigenvalues that V has; infinite where the rank is undecided."""
        basis = self.rows.basis()
        if not basis.is_decided:
            return np.inf
        return float(
            2 * basis.error * np.max(self.reducer.weights_, initial=0.0) * np.sqrt(max(self.eigenvalues[-1], 0.0))
        )

    @property
    def reduced_gram(self) -> NDArray[np.float64]:
        """X R R^T X^T, shape (n_samples, n_samples): inner products of the reduced rows."""
        from provsel.kernels.spectral import gram_matrix
        from provsel.reducers import reduced_rows

        def compute() -> NDArray[np.float64]:
            return gram_matrix(self.shared("reduced rows", lambda: reduced_rows(self.reducer, self.rows.X)))

        return self.of_selection("reduced gram", compute)


@dataclass_transform(frozen_default=True, eq_default=False, kw_only_default=True)
class Measure(ValuesWithNaN, ABC):
    """A record that is measured of a trial; for theorems there is `Theorem`.

    A subclass is a frozen dataclass without being told: it annotates its fields as float or str, each with a default,
    and writes `measure`. A project has its own in `protocol.measures: [{_target_: my_study.BalancedError}]`; they are
    stored with each trial beside provsel's, shown in tables and tested in claims. Keyword arguments of `measure` are
    settings, plain values of that config.

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
    """Stands before the names of the columns; provsel's theorems have `certificate_`."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        dataclass(frozen=True, eq=False, kw_only=True)(cls)

    @classmethod
    @abstractmethod
    def measure(cls, trial: MeasuredTrial) -> Self:
        """Return what a trial gave."""

    @classmethod
    def columns(cls) -> dict[str, Any]:
        """Return the names of its columns in a store, and what they hold: float or str."""
        return dict(_columns_of(cls))

    @classmethod
    def column(cls, field: str) -> str:
        """Return the name of the column of a field."""
        return cls.prefix + field

    def as_record(self) -> dict[str, float | str | None]:
        """Return the values of its columns."""
        return {self.column(name): value for name, value in vars(self).items()}


class Theorem(Measure):
    """What a theorem promises of a selection or a model, beside what was achieved: one class a theorem.

    A subclass has a `name` and a `source`, its numbers as fields, and `measure`, which settles `state`. It is
    declared, stored, reported and tested in claims as provsel's are: `certify(..., also=[Mine])` in the library,
    `protocol.measures` in a project.

    Attributes
    ----------
    name : str
        Attribute of a `Certificate`, and the column of the state.
    source : str
        The paper, and the number that it has there.
    state : str
        "held"; "violated"; "vacuous", where the bound says nothing; "no bound", where the method promises none; "not
        separable"; "not measured"; or "rank undecided". There double precision does not tell the numerical rank of the
        rows, or errs by more than what decides between held and violated.

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
    """What a selection is used for, where the theorem is about that: `Certificate.good_for` lists them."""
    state: str = NOT_MEASURED

    @property
    def is_good(self) -> bool:
        """Whether what was measured makes the selection good for `question`; that it is promised is `state`."""
        return False

    @classmethod
    def column(cls, field: str) -> str:
        """Return the name of the column of a field; that of the state is the name of the theorem."""
        return cls.prefix + (cls.name if field == "state" else field)

    @classmethod
    def state_column(cls) -> str:
        """Return the name of the column of the state."""
        return cls.column("state")


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(ValuesWithNaN):
    """Records of theorems on one selection or model: `certificate.margin.margin_ratio`, `certificate.margin.state`.

    Printed, it says the state, the source and the numbers of each. Two are equal where their values are.

    Attributes
    ----------
    records : tuple of Theorem
        Each is an attribute, by the theorem's name.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.certificates import certify
    >>> from provsel.selectors import BSSSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((20, 4)) @ rng.standard_normal((4, 600))
    >>> certificate = certify(BSSSelector(500).fit(X), X)
    >>> [record.name for record in certificate if record.state == "held"], certificate.held
    (['spectral', 'radius'], True)
    """

    records: tuple[Theorem, ...] = ()

    if TYPE_CHECKING:  # what editors complete; a theorem of your own is an attribute too
        spectral: ClassVar[SpectralSparsification]
        scores: ClassVar[OnlineScoreSum]
        margin: ClassVar[MarginPreservation]
        soft: ClassVar[SoftMarginBound]
        radius: ClassVar[RadiusPreservation]
        ridge_cost: ClassVar[RidgeRegressionCost]
        ridge_risk: ClassVar[RidgeRegressionRisk]
        cost: ClassVar[ClusteringCost]
        partition: ClassVar[PartitionCost]
        recovery: ClassVar[CompressedRecovery | FeatureSelectiveRecovery]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(record.name for record in self.records)]

    def __getattr__(self, name: str) -> Any:
        names = [record.name for record in vars(self).get("records", ())]
        if name not in names:
            raise AttributeError(f"Certificate: expected one of {', '.join(names) or 'no theorems'}, got {name!r}.")
        return self.records[names.index(name)]

    def __iter__(self) -> Iterator[Theorem]:
        return iter(self.records)

    def __repr__(self) -> str:
        return "\n".join(f"{each.name:9} {each.state:13} {each.source}{_numbers(each)}" for each in self.records)

    @property
    def held(self) -> bool:
        """Whether nothing that was measured violates its bound, or may do so as the rank is undecided."""
        return all(record.state not in (VIOLATED, UNDECIDED) for record in self.records)

    @property
    def good_for(self) -> tuple[str, ...]:
        """Questions that the selection is good for: "geometry", "margin", "rank-k approximation" of those measured."""
        return tuple(dict.fromkeys(record.question for record in self.records if record.question and record.is_good))

    def as_record(self) -> dict[str, float | str | None]:
        """Return the columns of all records in one mapping."""
        return {name: value for record in self.records for name, value in record.as_record().items()}


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


def _numbers(record: Theorem) -> str:
    found = {name: value for name, value in vars(record).items() if isinstance(value, float) and value == value}
    return "".join(f"\n    {name:15} {value:.4g}" for name, value in found.items())


@cache
def _columns_of(cls: type[Measure]) -> dict[str, Any]:
    """Return `Measure.columns`, which evaluates the texts of annotations; each cell of a plan asks."""
    hints = get_type_hints(cls)
    return {cls.column(each.name): _without_none(hints[each.name]) for each in fields(cls)}  # type: ignore[arg-type]


def _without_none(hint: Any) -> Any:
    """Return the kind of a field that can be None as well; anything else as it is."""
    kinds = [kind for kind in get_args(hint) if kind is not NoneType]
    return kinds[0] if len(kinds) == 1 and NoneType in get_args(hint) else hint
