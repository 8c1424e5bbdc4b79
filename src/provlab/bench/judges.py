"""Models that judge selections in the benchmark and that scikit-learn does not have as they are needed."""

from __future__ import annotations

from typing import Any, Self

import sklearn
from numpy.typing import NDArray
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier

__all__ = ["BoostingClassifier"]


class BoostingClassifier(HistGradientBoostingClassifier):
    """scikit-learn's histogram gradient boosting, which takes sparse rows: they are made dense."""

    algorithm_version = f"1 with scikit-learn {sklearn.__version__}"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to X, dense or sparse of shape (n_samples, n_features), and classes y, shape (n_samples,)."""
        return super().fit(_dense(X), y, sample_weight)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return a class for each row, shape (n_samples,)."""
        return super().predict(_dense(X))

    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return a probability for each row and class, shape (n_samples, n_classes)."""
        return super().predict_proba(_dense(X))


def _dense(X: Any) -> Any:
    return X.toarray() if sparse.issparse(X) else X
