"""A linear SVM whose C is chosen by cross-validation on the training rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.extmath import row_norms

from provsel.kernels.spectral import gram_matrix
from provsel.models._base import BaseLinearSVM
from provsel.models._libsvm_library import fit_gram
from provsel.models.libsvm import LibsvmSVM

GRID = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
"""Powers of ten around the C = 1 of Paul, Magdon-Ismail, Drineas (2016)."""

SCORING = ("accuracy", "balanced_accuracy")


class CrossValidatedSVM(BaseLinearSVM):
    """A linear SVM whose C minimises the error of an inner cross-validation over a grid.

    Use it for papers that do not state C. Each fit chooses its own C: on all features,
    which determines the support vectors of supervised selection, and again on the
    selected ones. The inner folds are stratified, shuffled with a fixed seed, and never
    contain test rows.

    Parameters
    ----------
    model : BaseLinearSVM, default=None
        With a parameter C, and no class weights by name; None is `LibsvmSVM()`.
    grid : sequence of float, default=(0.001, 0.01, 0.1, 1.0, 10.0, 100.0)
        Among equally good values of C the smallest is chosen.
    relative : bool, default=False
        Give C in units of 1 / mean ||x_i||^2 over the rows of a fit, the default C of
        SVMlight: the choice then does not depend on the units of the columns.
    scoring : {"accuracy", "balanced_accuracy"}, default="accuracy"
        Score that the best C maximises: scikit-learn's names.
    n_splits : int, default=5
        Inner folds; at most as many as the smallest class has rows.

    Attributes
    ----------
    C_ : float
        The C chosen.
    errors_ : ndarray of shape (n_grid,)
        Share of wrong predictions over all inner folds, by increasing C: 1 - `scoring`.
    classes_, coef_, intercept_
        As those of `model`; `support_` and `dual_coef_` if it has them.

    Raises
    ------
    ValueError
        From `fit`, if a class has a single row, the grid is empty or has numbers that
        are not positive, `n_splits` is below 2, or the model has no C.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.models import CrossValidatedSVM
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 20))
    >>> y = np.where(X[:, 3] > 0, 1, -1)
    >>> CrossValidatedSVM(grid=[0.1, 1.0]).fit(X, y).errors_.shape
    (2,)
    """

    algorithm_version = 1

    def __init__(
        self,
        model: BaseLinearSVM | None = None,
        *,
        grid: Sequence[float] = GRID,
        relative: bool = False,
        scoring: Literal["accuracy", "balanced_accuracy"] = "accuracy",
        n_splits: int = 5,
    ) -> None:
        self.model = model
        self.grid = grid
        self.relative = relative
        self.scoring = scoring
        self.n_splits = n_splits

    def _solve(self, X: Any, labels: NDArray[np.int64]) -> None:
        model, grid, n_splits = self._checked_options(X, labels)
        folds = list(
            StratifiedKFold(n_splits, shuffle=True, random_state=0).split(
                np.zeros(labels.size), labels
            )
        )
        alone = (
            isinstance(model, LibsvmSVM)
            and self.classes_.size == 2
            and X.shape[0] < X.shape[1]
        )
        predicted = (
            _on_gram(model, X, labels, grid, folds)
            if alone
            else _on_rows(model, X, labels, grid, folds)
        )
        counts = np.bincount(labels)
        wrong = np.zeros((len(grid), counts.size), dtype=np.int64)
        for k, test, classes in predicted:
            wrong[k] += np.bincount(
                labels[test][classes != labels[test]], minlength=counts.size
            )
        balanced = self.scoring == "balanced_accuracy"
        self.errors_ = (
            (wrong / counts).mean(axis=1)
            if balanced
            else wrong.sum(axis=1) / labels.size
        )
        self.C_ = grid[int(np.argmin(self.errors_))]
        self._fitted = clone(model).set_params(C=self.C_).fit_rows(X, labels)
        for name in ("coef_", "intercept_", "support_", "dual_coef_"):
            if hasattr(self._fitted, name):
                setattr(self, name, getattr(self._fitted, name))

    def _combine(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return self._fitted._combine(values)

    def _checked_options(
        self, X: Any, labels: NDArray[np.int64]
    ) -> tuple[BaseLinearSVM, list[float], int]:
        """Return the model, the grid in increasing order and the number of folds, or raise."""
        model = LibsvmSVM() if self.model is None else self.model
        if not isinstance(model, BaseLinearSVM) or "C" not in model.get_params(
            deep=False
        ):
            raise ValueError(
                f"CrossValidatedSVM: expected a linear SVM with a parameter C, got {model!r:.80}."
            )
        numbers = all(
            isinstance(C, int | float | np.number) and not isinstance(C, bool)
            for C in self.grid
        )
        if (
            len(self.grid) == 0
            or not numbers
            or not all(0 < C < np.inf for C in self.grid)
        ):
            raise ValueError(
                f"CrossValidatedSVM: expected a grid of positive, finite numbers, got {self.grid!r:.80}."
            )
        if not isinstance(
            weights := model.get_params(deep=False).get("class_weight"), str | None
        ):
            raise ValueError(
                f"CrossValidatedSVM: expected a model with class_weight 'balanced' or None, got {weights}."
            )
        if self.scoring not in SCORING:
            raise ValueError(
                f"CrossValidatedSVM: expected scoring to be one of {SCORING}, got {self.scoring!r:.80}."
            )
        if not isinstance(self.relative, bool):
            raise ValueError(
                f"CrossValidatedSVM: expected relative to be True or False, got {self.relative!r:.80}."
            )
        if (
            isinstance(self.n_splits, bool)
            or not isinstance(self.n_splits, int | np.integer)
            or self.n_splits < 2
        ):
            raise ValueError(
                f"CrossValidatedSVM: expected n_splits to be an integer above 1, got {self.n_splits!r}."
            )
        smallest = int(np.bincount(labels).min())
        if smallest < 2:
            raise ValueError(
                f"CrossValidatedSVM: expected at least two rows of each class to cross-validate on, got {smallest}; "
                f"give more rows or a fixed C."
            )
        unit = (
            (float(row_norms(X, squared=True).mean()) or 1.0) if self.relative else 1.0
        )
        return (
            model,
            sorted(float(C) / unit for C in self.grid),
            min(int(self.n_splits), smallest),
        )


Predicted = Iterable[tuple[int, NDArray[np.int64], NDArray[np.int64]]]
"""Place of C in the grid, test rows, and their predicted classes."""


def _on_rows(
    model: BaseLinearSVM,
    X: Any,
    labels: NDArray[np.int64],
    grid: list[float],
    folds: list[Any],
) -> Predicted:
    for train, test in folds:
        for k, C in enumerate(grid):
            yield (
                k,
                test,
                clone(model)
                .set_params(C=C)
                .fit_rows(X[train], labels[train])
                .predict_rows(X[test]),
            )


def _on_gram(
    model: LibsvmSVM,
    X: Any,
    labels: NDArray[np.int64],
    grid: list[float],
    folds: list[Any],
) -> Predicted:
    """Like `_on_rows`, with inner products that are computed once."""
    gram = gram_matrix(X)
    for train, test in folds:
        inner, outer = gram[np.ix_(train, train)], gram[np.ix_(test, train)]
        weights = model.class_weights(labels[train])
        for k, C in enumerate(grid):
            solution = fit_gram(
                inner,
                labels[train],
                C=C,
                tol=model.tol,
                max_iter=model.max_iter,
                weights=weights,
            )
            decision = (
                outer[:, solution.support] @ solution.dual_coef[0]
                + solution.intercept[0]
            )
            # LIBSVM takes the second class on the boundary
            yield k, test, (decision >= 0).astype(np.int64)
