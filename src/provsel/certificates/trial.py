"""Fitted objects and their rows, on which theorems are measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from provsel.training_view import TrainingView


@dataclass(frozen=True)
class MeasuredTrial:
    """Fitted objects and their rows, on which a record is measured.

    `measure` of your own theorem receives one.

    Attributes
    ----------
    reducer : estimator
        The fitted selector; None if a theorem is about a model on all features.
    rows : TrainingView
        The rows on which it was fitted, and values derived from them, which records of
        one trial share.
    X_test : ndarray or CSR of shape (n_test, n_features)
        Set for a trial of the laboratory, like all fields below; empty if all rows are
        used for training.
    y_test : ndarray of shape (n_test,)
    model : estimator or None
        Fitted on the selected features; None if the protocol fits none.
    predicted : ndarray of shape (n_test,) or None
        Predictions of the model.
    geometry : dict
        Values that depend on the selection only, see `of_selection`: trials with one
        selection on the same rows can share them.

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
    _parts: dict[str, Any] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def shared(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return the part `name`, computed at the first call, so that theorems on one trial share it."""
        if name not in self._parts:
            self._parts[name] = compute()
        return self._parts[name]

    def of_selection(self, name: str, compute: Callable[[], Any]) -> Any:
        """Like `shared`, for parts that depend only on the reducer and its rows, not on the model or test rows."""
        if name not in self.geometry:
            self.geometry[name] = compute()
        return self.geometry[name]

    @property
    def eigenvalues(self) -> NDArray[np.float64]:
        """Eigenvalues of V^T R R^T V, shape (rank,), increasing.

        V, shape (n_features, rank), are the right singular vectors of the rows, and R =
        S D the selection with its weights, shape (n_features, n_selected).
        """

        def compute() -> NDArray[np.float64]:
            kept = (
                self.rows.basis().V[self.reducer.indices_]
                * self.reducer.weights_[:, None]
            )
            return np.linalg.eigvalsh(kept.T @ kept)

        return self.of_selection("eigenvalues", compute)

    @property
    def spectral_error(self) -> float:
        """||E||_2 of E = V^T V - V^T R R^T V: 0 if nothing is lost; most theorems require less than 1/2."""
        return float(max(1 - self.eigenvalues[0], self.eigenvalues[-1] - 1, 0.0))

    @property
    def eigenvalue_error(self) -> float:
        """Bound, to first order, on the error of the eigenvalues due to V; infinite if the rank is undecided."""
        basis = self.rows.basis()
        if not basis.is_decided:
            return np.inf
        return float(
            2
            * basis.error
            * np.max(self.reducer.weights_, initial=0.0)
            * np.sqrt(max(self.eigenvalues[-1], 0.0))
        )

    @property
    def reduced_gram(self) -> NDArray[np.float64]:
        """X R R^T X^T, shape (n_samples, n_samples): inner products of the reduced rows."""
        from provsel.kernels.spectral import gram_matrix
        from provsel.reducers import reduced_rows

        def compute() -> NDArray[np.float64]:
            return gram_matrix(
                self.shared(
                    "reduced rows", lambda: reduced_rows(self.reducer, self.rows.X)
                )
            )

        return self.of_selection("reduced gram", compute)
