"""The common part of the linear SVM back ends: validation, decision values, prediction."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from provsel.labels import check_several
from provsel.validation import DocumentedMixin, validated


class BaseLinearSVM(ClassifierMixin, DocumentedMixin, BaseEstimator, ABC):
    """A linear classifier with `coef_` and `intercept_`; a back end implements `_solve` and, if needed, `_combine`.

    Use it as a base of your own linear SVM, and to test whether a model is one.

    Examples
    --------
    >>> from provsel.models import BaseLinearSVM, HingeSVM
    >>> isinstance(HingeSVM(), BaseLinearSVM)
    True
    """

    algorithm_version: ClassVar[int | str]
    classes_: NDArray[Any]
    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]

    @abstractmethod
    def _solve(self, X: Any, labels: NDArray[np.int64]) -> None:
        """Set `coef_` and `intercept_` from X, shape (n, d), and the class numbers, shape (n,)."""

    def fit(self, X: Any, y: Any) -> Self:
        """Fit on X of shape (n, d), dense or sparse, and labels y of shape (n,).

        Raises
        ------
        ValueError
            If X has NaN or infinite values, the number of labels is wrong, or there are
            fewer than two classes.
        """
        X, y = validated(self, X, y)
        check_classification_targets(y)
        return self._fit(X, y)

    def fit_rows(self, X: Any, y: NDArray[Any]) -> Self:
        """Like `fit`, for validated rows: finite float64 or float32, dense or CSR."""
        self.n_features_in_ = X.shape[1]
        return self._fit(X, y)

    def _fit(self, X: Any, y: NDArray[Any]) -> Self:
        self.classes_, labels = np.unique(y, return_inverse=True)
        check_several(type(self).__name__, self.classes_)
        self._solve(X, labels)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return f(x), shape (n,), for two classes, otherwise one column per class, shape (n, n_classes)."""
        check_is_fitted(self)
        return self._values(validated(self, X, reset=False))

    def _values(self, X: Any) -> NDArray[np.float64]:
        values = np.asarray(X @ self.coef_.T) + self.intercept_
        return values.ravel() if self.classes_.size == 2 else self._combine(values)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the predicted labels, shape (n,)."""
        return self._labels(self.decision_function(X))

    def predict_rows(self, X: Any) -> NDArray[Any]:
        """Like `predict`, for validated rows."""
        return self._labels(self._values(X))

    def _labels(self, values: NDArray[np.float64]) -> NDArray[Any]:
        return self.classes_[
            (values > 0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
        ]

    def _combine(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn the values of the binary problems into one column per class."""
        return values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class BaseBinarySVM(BaseLinearSVM):
    """A linear classifier for two classes."""

    def _signs(self, labels: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return -1.0 and 1.0 for the class numbers 0 and 1, shape (n,); raise for more classes."""
        if self.classes_.size > 2:
            raise ValueError(
                f"{type(self).__name__}: Only binary classification is supported. Expected labels of two classes, got "
                f"{self.classes_.size}; wrap it in sklearn.multiclass.OneVsRestClassifier."
            )
        return np.where(labels == 1, 1.0, -1.0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


MANY_ROWS = 50_000
"""Beyond this many rows, methods whose time grows with their square or faster warn before they start."""


def warn_of_many_rows(name: str, n_samples: int, advice: str) -> None:
    """Warn, as if from `fit` of `name`, before a method that may take hours."""
    if n_samples > MANY_ROWS:
        warnings.warn(
            f"{name}: expected at most {MANY_ROWS} rows, got {n_samples}, which may take hours; {advice}.",
            UserWarning,
            stacklevel=5,
        )
