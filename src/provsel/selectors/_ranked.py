"""Base classes of selectors that rank the features and keep the best; a method implements only `_rank`."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Integral
from pickle import PicklingError
from typing import Any, ClassVar, Self

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from provsel.kernels.ties import rank_descending
from provsel.labels import check_classes, target_of
from provsel.selectors._base import BaseSelector, Selection, all_zeros, checked_count
from provsel.training_view import TrainingView
from provsel.validation import checked_array

DENSE_ENTRIES = 125_000_000
"""Sparse X of at most this many entries, zeros included, is made dense (1 GB) for methods that need this."""


@dataclass(frozen=True)
class RankedRows:
    """The data by which a method orders the features.

    Attributes
    ----------
    X : ndarray or, where the class says `takes_sparse`, CSR of shape (n, d)
        float64, read-only.
    y : ndarray of shape (n,)
        Class numbers 0, 1, ..., int64; or the target of a regression, float64; empty
        without labels.
    classes : ndarray of shape (n_classes,), or None
        None for a regression, and without labels.
    sample_weight : ndarray of shape (n,), or None
        float64, positive: rows of weight 0 are left out.
    """

    X: Any
    y: NDArray[Any]
    classes: NDArray[Any] | None
    sample_weight: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class Ranking:
    """Features in order, best first.

    Attributes
    ----------
    order : ndarray of shape (m,), int64, or iterator of int
        Distinct features, at least as many as requested. An iterator yields them in the
        order in which a greedy method picks them: another fit on the view continues it.
    scores : ndarray of shape (d,), or None
        No NaN.
    own : int or None
        The number of features that the method itself keeps, for classes with
        `has_own_number`.
    attributes : mapping
        Further fitted attributes, without their trailing underscore.
    """

    order: NDArray[np.int64] | Iterator[int]
    scores: NDArray[np.float64] | None = None
    own: int | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def by_scores(
        cls, scores: NDArray[np.float64], *, own: int | None = None, **attributes: Any
    ) -> Ranking:
        """Return the order of decreasing scores, shape (d,), which may be infinite; ties by index."""
        finite = np.minimum(scores, np.finfo(np.float64).max)
        return cls(rank_descending(finite), scores, own, attributes)


def completed(first: Any, scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return an order of all d features: those of `first`, then the others by decreasing scores, shape (d,)."""
    chosen = np.asarray(first, dtype=np.int64)
    rest = rank_descending(scores)
    return np.concatenate([chosen, rest[~np.isin(rest, chosen)]])


class RankedSelector(BaseSelector, ABC):
    """Keeps the first features of an order.

    A subclass implements `_rank`. If it has a parameter `task`, y is read by
    `target_of`; a class without it sets `classes_only = True`, or
    `needs_labels = False`.

    Fits on one view share the order if they differ only in `n_features_to_select` and
    are not randomly seeded.

    The base sets `indices_`, `weights_` (ones), `scores_` if the method has scores, and
    `ranking_` of shape (d,): the place of each feature, 1 for the best. Features
    outside the order share the last place.
    """

    needs_labels: ClassVar[bool] = True
    takes_sparse: ClassVar[bool] = False
    has_own_number: ClassVar[bool] = False
    """Whether n_features_to_select may be None, meaning the method's own number."""
    order_depends_on_number: ClassVar[bool] = False
    """Whether the order, or its computation, depends on the requested number, so that fits share nothing."""

    n_features_to_select: int | float | None

    @abstractmethod
    def _rank(
        self, rows: RankedRows, count: int | None, rng: np.random.Generator
    ) -> Ranking:
        """Check the parameters, and order the features; `count` is the requested number, None for the method's own."""

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        is_own = self.has_own_number and self.n_features_to_select is None
        count = None if is_own else checked_count(self, view.n_features)
        name = self._shared_name(count)

        def compute() -> Ranking:
            return self._rank(self._rows(view), count, rng)

        ranking: Ranking = compute() if name is None else view.shared(name, compute)
        order = _first(view, ranking.order, count, name)
        if count is None:
            count = self._own_number(ranking, view.n_features)
        places = np.full(view.n_features, order.size + 1)
        places[order] = np.arange(1, order.size + 1)
        scores = {} if ranking.scores is None else {"scores": ranking.scores}
        return Selection.unweighted(
            order[:count], ranking=places, **scores, **ranking.attributes
        )

    def _shared_name(self, count: int | None) -> str | None:
        """Return the name of the order among the parts of a view; None if two fits may draw different ones."""
        params = self.get_params()
        if self.is_random and not isinstance(params["random_state"], Integral):
            return None
        params["n_features_to_select"] = count if self.order_depends_on_number else None
        try:
            settings = joblib.hash(params)
        except PicklingError:
            # a class that is defined in a function has no unique name
            return None
        return f"order of {type(self).__module__}.{type(self).__qualname__} {settings}"

    def _rows(self, view: TrainingView) -> RankedRows:
        """Return X in the form the method needs, and y as numbers."""
        name = type(self).__name__
        X = view.X
        if not (X.nnz if sparse.issparse(X) else X.any()):
            raise all_zeros(self, view)
        if sparse.issparse(X) and not self.takes_sparse:
            X = view.shared("dense X", lambda: _dense(name, view.X))
        X, y = X.astype(np.float64, copy=False), view.y
        weight = (
            view.metadata.get("sample_weight")
            if isinstance(self, WeightedRankedSelector)
            else None
        )
        if weight is not None and not weight.all():
            counted = weight > 0
            X, y, weight = (
                X[counted],
                None if y is None else y[counted],
                weight[counted],
            )
        if not self.needs_labels:
            return RankedRows(X, np.empty(0), None, weight)
        if self.classes_only and y is not None:
            check_classes(name, y)
        classes, numbers = target_of(name, y, getattr(self, "task", "classification"))
        return RankedRows(X, numbers, classes, weight)

    def _own_number(self, ranking: Ranking, n_features: int) -> int:
        """Return the number of features that the method keeps, at least one."""
        if ranking.own is None:
            raise TypeError(
                f"{type(self).__name__}: the method returned no number of features; return one in _rank."
            )
        if ranking.own == 0:
            warnings.warn(
                f"{type(self).__name__}: the method keeps none of {n_features} features; kept the best one. Set "
                f"n_features_to_select to choose the number yourself.",
                UserWarning,
                stacklevel=5,
            )
        return max(1, ranking.own)


class WeightedRankedSelector(RankedSelector, ABC):
    """A ranked selector whose statistic takes weights of the rows."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Select columns of X.

        Parameters
        ----------
        X : array-like or sparse of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Non-negative weights. A weight of 2 counts as two equal rows.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If X is empty or has NaN or infinite values, the number of labels or weights
            is wrong, weights are negative, or more features are requested than X has.
        """
        view = self._validated(X, y)
        if sample_weight is not None:
            view.metadata["sample_weight"] = _checked_weight(
                type(self).__name__, sample_weight, view.n_samples
            )
        return self.fit_view(view)


def _checked_weight(
    name: str, sample_weight: Any, n_samples: int
) -> NDArray[np.float64]:
    weight = checked_array(
        name,
        sample_weight,
        dtype=np.float64,
        ensure_2d=False,
        input_name="sample_weight",
    )
    if weight.shape != (n_samples,):
        raise ValueError(
            f"{name}: expected sample_weight of shape ({n_samples},), one for each row, got shape {weight.shape}."
        )
    if weight.min() < 0 or not weight.any():
        raise ValueError(
            f"{name}: expected sample_weight without negative values, and not all zeros, got values from "
            f"{weight.min():g} to {weight.max():g}; drop rows that should not count."
        )
    return np.asarray(weight)


def _first(
    view: TrainingView,
    order: NDArray[np.int64] | Iterator[int],
    count: int | None,
    name: str | None,
) -> NDArray[np.int64]:
    """Return the order, or the first `count` picks, stored as parts of the view so that their cost is recorded."""
    if isinstance(order, np.ndarray):
        return order
    if count is None:
        return np.fromiter(order, dtype=np.int64)
    picks = np.empty(count, dtype=np.int64)
    for place in range(count):
        picks[place] = (
            next(order)
            if name is None
            else view.shared(f"{name}, pick {place}", lambda: next(order))
        )
    return picks


def check_dense_size(name: str, X: Any) -> None:
    """Raise if sparse X, shape (n, d), is too large to be made dense."""
    n_samples, n_features = X.shape
    if n_samples * n_features > DENSE_ENTRIES:
        raise ValueError(
            f"{name}: expected dense X, or sparse X of at most {DENSE_ENTRIES:,} entries including zeros, got "
            f"{n_samples:,} x {n_features:,}; select from fewer rows, or keep fewer columns by FTestSelector first."
        )


def _dense(name: str, X: Any) -> NDArray[np.float64]:
    check_dense_size(name, X)
    return np.asarray(X.toarray(), dtype=np.float64)
