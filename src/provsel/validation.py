"""Common parts of all estimators: scikit-learn's checks of X, checks of sparse arrays, and links to documentation."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, metadata
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from provsel.kernels.graded import largest_size
from provsel.sparse_input import canonical, check_sparse

FLOATS = [np.float64, np.float32]

MAGNITUDES = 1e-140, 1e140
"""Range of the largest value of X in which sums of squares are far from overflow and underflow."""


def validated(
    estimator: Any, *arrays: Any, accept_sparse: Any = "csr", reset: bool = True
) -> Any:
    """Return X, or X and y, as scikit-learn's `validate_data` does: X of floats, dense or as `canonical` gives it.

    Raises
    ------
    ValueError
        As `check_sparse`, and for NaN or infinite values, empty X, labels of another
        length; in a fit (`reset`) also as `check_magnitude`.
    """
    name = type(estimator).__name__
    check_sparse(name, arrays[0])
    checked = validate_data(
        estimator, *arrays, accept_sparse=accept_sparse, dtype=FLOATS, reset=reset
    )
    X = canonical(checked if len(arrays) == 1 else checked[0])
    if reset:
        check_magnitude(name, X)
    return X if len(arrays) == 1 else (X, checked[1])


def check_magnitude(subject: str, X: Any, name: str = "X") -> None:
    """Raise a `ValueError` if the largest value of an array is too large or too small to be squared."""
    largest = largest_size(X)
    if (
        largest
        and np.isfinite(largest)
        and not MAGNITUDES[0] <= largest <= MAGNITUDES[1]
    ):
        raise ValueError(
            f"{subject}: expected {name} whose largest absolute value is from {MAGNITUDES[0]:g} to {MAGNITUDES[1]:g}, "
            f"got {largest:g}; multiply {name} by a constant{', or scale its columns' if name == 'X' else ''}."
        )


def checked_array(
    subject: str,
    X: Any,
    *,
    accept_sparse: Any = "csr",
    dtype: Any = FLOATS,
    **options: Any,
) -> Any:
    """Return X as `validated` does, by scikit-learn's `check_array`; `subject` names the caller."""
    check_sparse(subject, X)
    array = canonical(
        check_array(X, accept_sparse=accept_sparse, dtype=dtype, **options)
    )
    if array.dtype.kind == "f":
        check_magnitude(subject, array)
    return array


class CheckedSelectorMixin(SelectorMixin):
    """scikit-learn's mixin for classes with `indices_`, which checks sparse X before SciPy converts it."""

    def transform(self, X: Any) -> Any:
        """Return X, shape (n, d), on the kept columns, in increasing order of index.

        Selectors with `rescale=True` multiply them by `weights_`, and keep their names.
        """
        check_sparse(type(self).__name__, X)
        return super().transform(X)

    def inverse_transform(self, X: Any) -> Any:
        """Restore the kept columns, shape (n, k), at their original positions, with zeros elsewhere."""
        check_sparse(type(self).__name__, X)
        return super().inverse_transform(X)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self.indices_] = True
        return mask


class DocumentedMixin:
    """Tells scikit-learn's HTML display which page describes the class, to which the `?` in a notebook links."""

    _doc_link_module = "provsel"

    @property
    def _doc_link_template(self) -> str:
        address = documentation()
        return f"{address}/reference/generated/{{page}}.html" if address else ""

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        package = ".".join(type(self).__module__.split(".")[:2])
        return {"page": f"{package}.{type(self).__name__}"}


def documentation() -> str:
    """Return the address of the documentation that the installed distribution names, or an empty string."""
    try:
        addresses = metadata("provsel").get_all("Project-URL") or []
    except PackageNotFoundError:  # only the sources are on the path
        return ""
    named = dict(entry.split(", ", 1) for entry in addresses)
    return named.get("Documentation", "").rstrip("/")


def as_generator(random_state: Any) -> np.random.Generator:
    """Return a Generator from None, an int, a Generator, or a legacy RandomState."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return np.random.default_rng(random_state)
