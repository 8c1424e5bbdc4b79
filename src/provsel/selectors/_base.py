"""Base class of all selectors, which implements `fit`; a method implements only `_select`."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import LinAlgWarning
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from provsel.kernels.spectral import SpectralBasis
from provsel.kernels.ties import number_tied
from provsel.sparse_input import check_sparse
from provsel.training_view import TrainingView
from provsel.validation import (
    CheckedSelectorMixin,
    DocumentedMixin,
    as_generator,
    validated,
)


@dataclass(frozen=True)
class Selection:
    """The result of a method.

    `_select` of your own selector returns one.

    Attributes
    ----------
    indices : ndarray of shape (n_selected,), int64
        Distinct columns, in order of selection.
    weights : ndarray of shape (n_selected,)
        Scales of the columns.
    attributes : mapping
        Further fitted attributes, without their trailing underscore: `scores`,
        `n_repeats`, ...

    Examples
    --------
    >>> from provsel.selectors import Selection
    >>> selection = Selection.unweighted([4, 2], scores=[0.1, 0.9])
    >>> selection.indices.tolist(), selection.weights.tolist(), sorted(selection.attributes)
    ([4, 2], [1.0, 1.0], ['scores'])
    """

    indices: NDArray[np.int64]
    weights: NDArray[np.float64]
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def unweighted(cls, indices: NDArray[np.int64], **attributes: Any) -> Selection:
        """Return the selection of `indices` with unit weights."""
        return cls(
            np.asarray(indices, dtype=np.int64), np.ones(len(indices)), attributes
        )


class BaseSelector(CheckedSelectorMixin, DocumentedMixin, BaseEstimator, ABC):
    """Base class of selectors, the common part of all methods.

    Use it for your own selector: it provides scikit-learn's API, checks, weights and
    certificates.

    A subclass is final. It declares `algorithm_version`, stores its arguments unchanged
    in `__init__`, and implements `_select(view, rng)`. Its bounds, if it has any, are
    separate functions. `needs_labels = True` means that it uses y, and
    `classes_only = True` that y cannot be numeric.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import BaseSelector, Selection, checked_count
    >>> class MostFrequent(BaseSelector):
    ...     algorithm_version = 1
    ...
    ...     def __init__(self, n_features_to_select):
    ...         self.n_features_to_select = n_features_to_select
    ...
    ...     def _select(self, view, rng):
    ...         r = checked_count(self, view.n_features)
    ...         frequency = np.count_nonzero(view.X, axis=0)
    ...         return Selection.unweighted(np.argsort(-frequency, kind="stable")[:r], scores=frequency)
    >>> MostFrequent(2).fit([[1.0, 0.0, 3.0], [0.0, 0.0, 4.0]]).indices_.tolist()
    [2, 0]
    """

    algorithm_version: ClassVar[int | str]
    needs_labels: ClassVar[bool] = False
    classes_only: ClassVar[bool] = False

    @abstractmethod
    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        """Choose columns of `view.X`."""

    @property
    def is_random(self) -> bool:
        """Whether two fits with different seeds can differ, so that experiments repeat the draw."""
        return "random_state" in self.get_params(deep=False)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Select columns of X.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), optional
            Unsupervised methods check only its length.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If X is empty or has NaN or infinite values, the number of labels is wrong,
            or more features are requested than X has.
        """
        return self.fit_view(self._validated(X, y))

    def _validated(self, X: Any, y: Any, **metadata: Any) -> TrainingView:
        if self.needs_labels:
            X, y = validated(self, X, y)
        else:
            X = validated(self, X)
            if y is not None:
                check_consistent_length(X, y)
        return TrainingView(X, y, metadata)

    def fit_view(self, view: TrainingView) -> Self:
        """Select columns of validated rows; fits on the same view share derived quantities."""
        rng = as_generator(getattr(self, "random_state", None))
        selection = self._select(view, rng)
        self.n_features_in_ = view.n_features
        self.indices_, self.weights_ = selection.indices, selection.weights
        for name, value in selection.attributes.items():
            setattr(self, f"{name}_", value)
        return self

    def reduce(self, X: Any) -> Any:
        """Return the kept columns of X, shape (n, d), weighted as in `transform`, for validated rows."""
        return _scale_columns(X[:, np.sort(self.indices_)], self._scales())

    def inverse_transform(self, X: Any) -> Any:
        """Restore the kept columns, shape (n, k), at their original positions, divided by their weights, with zeros."""
        check_is_fitted(self)
        check_sparse(type(self).__name__, X)
        X, kept = X if sparse.issparse(X) else np.asarray(X), np.sort(self.indices_)
        if X.ndim != 2 or X.shape[1] != kept.size:
            raise ValueError(
                f"{type(self).__name__}: expected X with the {kept.size} kept columns, got shape {X.shape}; "
                f"pass the result of transform."
            )
        unscaled = _scale_columns(X, 1.0 / self._scales())
        if not sparse.issparse(X):
            return super().inverse_transform(unscaled)
        # scikit-learn's sparse branch passes the counts of each column through this
        # method, which would scale them
        unscaled = unscaled.tocsc()
        counts = np.zeros(self.n_features_in_ + 1, dtype=unscaled.indptr.dtype)
        counts[kept + 1] = np.diff(unscaled.indptr)
        parts = unscaled.data, unscaled.indices, np.cumsum(counts, dtype=counts.dtype)
        return type(unscaled)(parts, shape=(X.shape[0], self.n_features_in_))

    def set_output(self, *, transform: str | None = None) -> Self:
        """Set what `transform` returns, as in scikit-learn.

        The columns of a frame keep their names. The values are those of X if
        `rescale=False`, or if the selector has no such parameter; with `rescale=True`
        they are multiplied by `weights_`.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, optional
            None changes nothing.

        Returns
        -------
        self
        """
        super().set_output(transform=transform)
        return self

    @available_if(
        lambda self: (
            self.get_params(deep=False).get("rescale")
            and np.any(getattr(self, "weights_", 0) != 1)
        )
    )
    def _sk_visual_block_(self) -> Any:
        """Return the block of scikit-learn's HTML, with a line if values are rescaled."""
        return SimpleNamespace(
            kind="single",
            estimators=self,
            names=type(self).__name__,
            name_details=str(self),
            name_caption="columns keep their names and are multiplied by weights_ (rescale=True)",
            doc_link_label=None,
            dash_wrapped=True,
        )

    def _transform(self, X: Any) -> Any:
        kept = super()._transform(X)
        return _scale_columns(kept, self._scales())

    def _scales(self) -> NDArray[np.float64]:
        """Return the factor of each kept column, in increasing order of index."""
        if not getattr(self, "rescale", False):
            return np.ones(self.indices_.size)
        return self.weights_[np.argsort(self.indices_)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = self.needs_labels
        return tags


class SelectorAround(BaseSelector, ABC):
    """A selector around another one, `selector`, from which it takes randomness, labels and weights."""

    selector: Any

    @property
    def is_random(self) -> bool:
        """As the selector."""
        return bool(getattr(self.selector, "is_random", False))

    @property
    def needs_labels(self) -> bool:  # type: ignore[override]
        """As the selector."""
        return bool(getattr(self.selector, "needs_labels", False))

    @property
    def classes_only(self) -> bool:  # type: ignore[override]
        """As the selector."""
        return bool(getattr(self.selector, "classes_only", False))

    @property
    def rescale(self) -> bool:
        """As the selector."""
        return bool(getattr(self.selector, "rescale", False))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if isinstance(self.selector, BaseSelector):
            inner = self.selector.__sklearn_tags__()
            tags.classifier_tags, tags.regressor_tags = (
                inner.classifier_tags,
                inner.regressor_tags,
            )
        return tags


def checked_count(selector: Any, n_features: int) -> int:
    """Return the number of features requested from a selector, from 1 to `n_features`, or raise.

    Use it in `_select` of your own selector. A float between 0 and 1 is a fraction of
    the features, rounded down but at least one, as in scikit-learn's `RFE`.

    Examples
    --------
    >>> from provsel.selectors import UniformSelector, checked_count
    >>> checked_count(UniformSelector(2), n_features=3), checked_count(UniformSelector(0.5), n_features=9)
    (2, 4)
    """
    name, count = type(selector).__name__, selector.n_features_to_select
    if isinstance(count, float | np.floating) and 0 < count < 1:
        return max(1, int(n_features * count))
    if isinstance(count, bool) or not isinstance(count, int | np.integer):
        raise ValueError(
            f"{name}: expected an integer n_features_to_select, got {count!r}; give a number of features, or a "
            f"fraction of them between 0 and 1."
        )
    if not 1 <= count <= n_features:
        raise ValueError(
            f"{name}: expected n_features_to_select to be between 1 and the number of features, "
            f"n_features = {n_features}, got {count}; choose a number in that range."
        )
    return int(count)


COLUMNS = ("V", "sigma_V")
"""Columns that a leverage selector compares: those of V^T, or of Sigma V^T, which are as long as those of X."""


def checked_basis(selector: Any, view: TrainingView) -> SpectralBasis:
    """Return the basis of `view`, centred and cut to `selector.rank`; raise for an invalid rank or zero X."""
    name, rank, center = type(selector).__name__, selector.rank, selector.center
    if rank is not None and (
        isinstance(rank, bool) or not isinstance(rank, int | np.integer) or rank < 1
    ):
        raise ValueError(
            f"{name}: expected rank to be None or a positive integer, got {rank!r}."
        )
    if selector.columns not in COLUMNS:
        raise ValueError(
            f"{name}: expected columns to be one of {COLUMNS}, got {selector.columns!r}."
        )
    if not isinstance(center, bool | np.bool_):
        raise ValueError(
            f"{name}: expected center to be True or False, got {center!r}."
        )
    basis = view.basis(center=bool(center))
    if basis.rank == 0:
        raise all_zeros(selector, view)
    rank = None if rank is None else int(rank)
    if rank is not None and basis.cuts_equal(rank):
        warnings.warn(
            f"{name}: singular values {rank} and {rank + 1} of X are equal to within rounding, so that rounding "
            f"errors would choose among their vectors; choose another rank.",
            LinAlgWarning,
            stacklevel=5,
        )
    return basis.truncated(rank)


def warn_if_tied(
    selector: Any, scores: NDArray[np.float64], reason: str, advice: str
) -> None:
    """Warn, as if from `fit`, if the non-zero scores of a selector are all equal up to rounding."""
    tied = number_tied(scores)
    if tied > 1:
        outcome = (
            "the draw is uniform"
            if selector.is_random
            else "the first features are kept"
        )
        warnings.warn(
            f"{type(selector).__name__}: expected scores that differ between features, got {scores.max():.6g} for each "
            f"of {tied} columns, as {reason}: {outcome}. {advice}.",
            UserWarning,
            stacklevel=5,
        )


def all_zeros(selector: Any, view: TrainingView) -> ValueError:
    """Return the error for X that is all zeros."""
    return ValueError(
        f"{type(selector).__name__}: expected X with a non-zero value, got all zeros ({view.n_samples} rows, "
        f"{view.n_features} columns); remove empty rows or check how X was loaded."
    )


def check_budget(rank: int, eps: float) -> None:
    """Raise unless rank and accuracy are in the range of the theorem."""
    if rank < 1:
        raise ValueError(f"budget: expected rank >= 1, got {rank}.")
    if not 0 < eps <= 0.5:
        raise ValueError(f"budget: expected eps to be in (0, 1/2], got {eps}.")


def _scale_columns(X: Any, factors: NDArray[np.float64]) -> Any:
    if (factors == 1.0).all():
        return X
    kind = getattr(X, "dtype", None)
    if kind is not None and np.issubdtype(kind, np.floating):
        factors = factors.astype(kind)
    if not sparse.issparse(X):
        return X * factors
    if X.format not in ("csr", "csc"):
        return X @ sparse.diags_array(factors)
    # the same as the product with a diagonal matrix, in half the time
    places = np.arange(factors.size + 1, dtype=X.indices.dtype)
    return X @ type(X)(
        (factors, places[:-1], places), shape=(factors.size, factors.size)
    )
