"""View of the training rows, which computes derived values once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from provsel.kernels.enclosing_ball import EnclosingBall, minimum_enclosing_ball
from provsel.kernels.spectral import (
    Matrix,
    SpectralBasis,
    centred_columns,
    gram_matrix,
    spectral_basis,
)


@dataclass(frozen=True)
class Cost:
    """Seconds of one thread (`cpu`) and of wall-clock time (`wall`).

    Examples
    --------
    >>> from provsel.training_view import Cost
    >>> (Cost(3.0, 4.0) - Cost(1.0, 1.0)).wall
    3.0
    """

    cpu: float = 0.0
    wall: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.cpu + other.cpu, self.wall + other.wall)

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.cpu - other.cpu, self.wall - other.wall)

    @classmethod
    def now(cls) -> Cost:
        """Return the readings of both clocks."""
        return cls(time.process_time(), time.perf_counter())


class TrainingView:
    """Rows X and labels y, with their Gram matrix, spectral basis, SVM and support vectors, computed on demand.

    Use it to fit several selectors on the same rows by `fit_view`, and in `_select` of
    your own selector.

    Selectors that are fitted on the same view share the values that they derive from
    it. For example, a cross-validation fold computes its basis once for all methods and
    all r. The cost of each shared part is stored, so that a method can be charged for
    the parts that it used, even if another method computed them.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_samples, n_features)
        Validated: finite, float32 or float64.
    y : ndarray of shape (n_samples,), optional
        Labels, or a numeric target.
    metadata : mapping, optional
        Other data on the rows, such as `sample_weight`, for estimators that request it.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import BSSSelector, LeverageScoreSelector
    >>> from provsel.training_view import TrainingView
    >>> view = TrainingView(np.random.default_rng(0).standard_normal((10, 200)))
    >>> [s.fit_view(view).indices_.size <= 40 for s in (BSSSelector(40), LeverageScoreSelector(40, random_state=0))]
    [True, True]
    >>> view.basis().rank
    10
    """

    def __init__(
        self,
        X: Matrix,
        y: NDArray[Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self.X = X
        self.y = y
        self.metadata = dict(metadata or {})
        self._parts: dict[str, Any] = {}
        self._costs: dict[str, Cost] = {}
        self._used: set[str] = set()
        # parts that a part was computed from, directly or not
        self._needs: dict[str, set[str]] = {}
        # sum of the costs, which hundreds of parts would recompute
        self._spent = Cost()
        self._members: list[TrainingView] = []  # parts that are views

    @property
    def n_samples(self) -> int:
        """Number of rows n."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns d."""
        return int(self.X.shape[1])

    def shared(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return the part `name`, computed at the first call; its cost excludes the parts that it uses itself."""
        if name not in self._parts:
            before, used = self._total(), self._used
            self._used = set()
            start = Cost.now()
            try:
                self._parts[name] = self._kept(name, compute())
            finally:
                needs, self._used = self._used, used
            elapsed = Cost.now() - start
            self._costs[name] = elapsed - (self._total() - before)
            self._spent += self._costs[name]
            self._needs[name] = needs
            part = self._parts[name]
            if isinstance(part, TrainingView) and all(
                part is not member for member in self._members
            ):
                self._members.append(part)
        self._used |= {name, *self._needs[name]}
        return self._parts[name]

    def _kept(self, name: str, part: Any) -> Any:
        """Return a new part in the form in which it is shared: a subclass may make it read-only."""
        return part

    def gram(self) -> NDArray[np.float64]:
        """Return X X^T, shape (n, n)."""
        return self.shared("gram", lambda: gram_matrix(self.X))

    def enclosing_ball(self) -> EnclosingBall:
        """Return the minimum enclosing ball of the rows."""
        return self.shared(
            "enclosing ball", lambda: minimum_enclosing_ball(self.gram())
        )

    def basis(self, rank: int | None = None, *, center: bool = False) -> SpectralBasis:
        """Return the right singular vectors of X, or only those of the `rank` largest singular values.

        With `center`, they are those of X minus its column means, which makes a dense
        copy of X.
        """

        def compute() -> SpectralBasis:
            basis = (
                spectral_basis(centred_columns(self.X))
                if center
                else spectral_basis(self.X, self.gram)
            )
            return basis.warned()

        complete: SpectralBasis = self.shared(
            "centred basis" if center else "basis", compute
        )
        return complete.truncated(rank)

    def svm(self, model: BaseEstimator, **metadata: Any) -> Any:
        """Return a copy of `model` fitted on all columns, with the metadata that the first call gives."""
        return self.shared(
            f"svm {described(model)}",
            lambda: clone(model).fit(self.X, self.y, **metadata),
        )

    def on_support_vectors(self, model: BaseEstimator) -> Self:
        """Return the view of the support vectors of `model`, fitted on all columns.

        Models with the same support vectors share it. If the classes are separable, an
        SVM has the same support vectors for every C above some value.
        """

        def compute() -> Any:
            rows = support_rows(self.svm(model), self.X, self.y)
            return self.shared(
                f"rows {rows.tobytes().hex()}", lambda: self._of_rows(rows)
            )

        return self.shared(f"support vectors {described(model)}", compute)

    def _of_rows(self, rows: NDArray[np.int64]) -> Self:
        return type(self)(self.X[rows], None if self.y is None else self.y[rows])

    def support_rows(self, model: BaseEstimator) -> NDArray[np.int64]:
        """Return the row numbers of the support vectors, increasing."""
        return support_rows(self.svm(model), self.X, self.y)

    @contextmanager
    def metered(self) -> Iterator[Meter]:
        """Measure a block: its own cost, and the cost of the shared parts that it used."""
        views = self._family()
        for view in views:
            view._used = set()
        before, start, meter = self._total(), Cost.now(), Meter()
        yield meter
        elapsed = Cost.now() - start
        meter.own = elapsed - (self._total() - before)
        meter.shared = sum(
            (
                view._costs[name]
                for view in self._family()
                for name in view._used
                if name in view._costs
            ),
            Cost(),
        )

    def _family(self) -> list[TrainingView]:
        return [self, *(member for part in self._members for member in part._family())]

    def _total(self) -> Cost:
        return sum((view._spent for view in self._family()), Cost())


def described(model: BaseEstimator) -> str:
    """Return a name that two models share only if they are equal, unlike their `repr`, which shortens long values.

    Use it to name a shared part of a view that depends on a model.

    Examples
    --------
    >>> from provsel.models import LibsvmSVM
    >>> from provsel.training_view import described
    >>> described(LibsvmSVM(C=2.0))
    'provsel.models.libsvm.LibsvmSVM(C=2.0)'
    """
    return f"{type(model).__module__}.{BaseEstimator.__repr__(model, N_CHAR_MAX=10**9)}"


@dataclass
class Meter:
    """Cost of a measured block, and of the shared parts that it used.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.training_view import TrainingView
    >>> view = TrainingView(np.eye(3))
    >>> with view.metered() as meter:
    ...     basis = view.basis()
    >>> meter.shared.wall > 0
    True
    """

    own: Cost = Cost()
    shared: Cost = Cost()


def support_rows(model: Any, X: Matrix, y: NDArray[Any] | None) -> NDArray[np.int64]:
    """Return the rows that are support vectors of the fitted classifier `model`.

    `support_` if the model has it, or the rows with non-zero dual variables; otherwise,
    as for LIBLINEAR's squared hinge, the rows with y f(x) < 1 in at least one of the
    one-against-rest problems.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.models import LibsvmSVM
    >>> from provsel.training_view import support_rows
    >>> X, y = np.array([[-9.0], [-1.0], [1.0], [9.0]]), np.array([0, 0, 1, 1])
    >>> support_rows(LibsvmSVM().fit(X, y), X, y).tolist()
    [1, 2]
    """
    if hasattr(model, "support_"):
        return np.sort(np.asarray(model.support_, dtype=np.int64))
    if hasattr(model, "dual_coef_"):
        return np.flatnonzero(model.dual_coef_).astype(np.int64)
    decision = np.asarray(model.decision_function(X))
    if decision.ndim == 1:
        decision = decision[:, None]
        signs = np.where(y == model.classes_[1], 1.0, -1.0)[:, None]
    else:
        signs = np.where(np.asarray(y)[:, None] == model.classes_[None, :], 1.0, -1.0)
    return np.flatnonzero((signs * decision < 1.0).any(axis=1)).astype(np.int64)
