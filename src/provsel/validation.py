"""What all estimators check of X before they use it: scikit-learn's checks, and the arrays of sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from provsel.sparse_input import canonical, check_sparse

FLOATS = [np.float64, np.float32]


def validated(estimator: Any, *arrays: Any, accept_sparse: Any = "csr", reset: bool = True) -> Any:
    """Return X, or X and y, as scikit-learn's `validate_data` does: X of floats, dense or as `canonical` gives it.

    Raises
    ------
    ValueError
        As `check_sparse`, and for NaN or infinite values, empty X, labels of another length.
    """
    check_sparse(type(estimator).__name__, arrays[0])
    found = validate_data(estimator, *arrays, accept_sparse=accept_sparse, dtype=FLOATS, reset=reset)
    return canonical(found) if len(arrays) == 1 else (canonical(found[0]), found[1])


def checked_array(subject: str, X: Any, *, accept_sparse: Any = "csr", dtype: Any = FLOATS, **options: Any) -> Any:
    """Return X as `validated` does, by scikit-learn's `check_array`; `subject` asks."""
    check_sparse(subject, X)
    return canonical(check_array(X, accept_sparse=accept_sparse, dtype=dtype, **options))


class CheckedSelectorMixin(SelectorMixin):
    """scikit-learn's mixin for classes with `indices_`, which checks sparse X before SciPy converts it."""

    def transform(self, X: Any) -> Any:
        """Return X, shape (n, d), on the kept columns, in increasing order of index."""
        check_sparse(type(self).__name__, X)
        return super().transform(X)

    def inverse_transform(self, X: Any) -> Any:
        """Put the kept columns, shape (n, k), back in their places; zeros elsewhere."""
        check_sparse(type(self).__name__, X)
        return super().inverse_transform(X)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.indices_] = True
        return mask
