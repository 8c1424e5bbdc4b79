"""Selectors that order the features once per fold, for all sizes and models."""

from __future__ import annotations

import importlib.metadata
import warnings
from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import feature_selection
from sklearn.base import clone
from sklearn.preprocessing import LabelEncoder

from provlab.project.messages import to_install
from provsel.selectors import BaseSelector, Selection, checked_count
from provsel.training_view import TrainingView, described

MOST = 200
"""A greedy order is made up to this size, whatever the size asked: the largest of the panel, so that all share it."""

N_STEPS = 20
"""Penalties of a path."""


class Ranking(NamedTuple):
    """All features, best first; their scores, and how many the method would keep, if it decides that."""

    order: NDArray[np.int64]
    scores: NDArray[np.float64] | None = None
    own: int | None = None


class Ranked(BaseSelector, ABC):
    """Keep the first features of an order that is computed once for all sizes.

    Parameters
    ----------
    n_features_to_select : int, float or None
        None means the method's own number, if it has one.
    version : str, optional
        Version of the package that orders the features, or its first numbers, such as "1.9". It is part of the keys of
        trials, and `fit` raises for another version. None takes any.
    """

    algorithm_version = 1
    package: ClassVar[str] = "provsel"
    needs_labels = True
    classes_only = True
    takes_sparse: ClassVar[bool] = False

    def __init__(self, n_features_to_select: int | float | None, *, version: str | None = None) -> None:
        self.n_features_to_select = n_features_to_select
        self.version = version

    @abstractmethod
    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        """Return the order of the columns of X, at least the first `most`; y holds class numbers."""

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        d, name = view.n_features, type(self).__name__
        r = None if self.n_features_to_select is None else checked_count(self, d)
        check_version(name, self.package, self.version)
        most = min(max(r or 0, MOST), d)

        def compute() -> Ranking:
            X = view.X
            if not self.takes_sparse:
                X = np.asfortranarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
            y = LabelEncoder().fit_transform(view.y) if self.needs_labels else np.empty(0, dtype=np.int64)
            return self._ranking(X, y, most)

        shared: Ranking = view.shared(f"order {described(clone(self).set_params(n_features_to_select=most))}", compute)
        if r is None and shared.own is None:
            raise ValueError(
                f"{name}: expected an integer n_features_to_select, got None; this method does not choose the number "
                f"itself."
            )
        scores = {} if shared.scores is None else {"scores": shared.scores}
        return Selection.unweighted(shared.order[: shared.own if r is None else r], **scores)


def check_version(subject: str, package: str, stated: str | None) -> None:
    """Raise ImportError, which is not counted as a method's failure, if a package or its version is missing."""
    installed = installed_version(package)
    if installed is None:
        raise ModuleNotFoundError(
            f"{subject}: expected the package {package}, got none; {to_install('benchmark')}.", name=package
        )
    if stated is not None and not is_version(installed, stated):
        raise ImportError(
            f"{subject}: expected {package} {stated}, got {installed}, which would give trials other keys; install "
            f"{package} {stated}, or state selector.version={installed}."
        )


def installed_version(package: str) -> str | None:
    """Return the version of a package that is installed; None if there is none."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def is_version(version: str, stated: str) -> bool:
    """Return whether a version is the stated one, or begins with its numbers."""
    return f"{version}.".startswith(f"{stated}.")


def by_scores(scores: NDArray[np.float64]) -> Ranking:
    """Return the order of decreasing scores, ties by index; features without a score come last."""
    scores = np.nan_to_num(np.asarray(scores, dtype=np.float64), nan=-np.inf)
    return Ranking(np.argsort(-scores, kind="stable").astype(np.int64), scores)


def completed(first: Any, X: Any, y: NDArray[np.int64]) -> Ranking:
    """Return an order that begins with some features; the others follow by their F statistic."""
    return followed(first, f_statistics(X, y))


def followed(first: Any, scores: NDArray[np.float64]) -> Ranking:
    """Return an order that begins with some features; the others follow by their scores."""
    others = by_scores(scores).order
    return Ranking(np.concatenate([first, others[~np.isin(others, first)]]).astype(np.int64))


def by_entry(paths: NDArray[np.float64], X: Any, y: NDArray[np.int64]) -> Ranking:
    """Return the order in which features enter a path of absolute coefficients, shape (n_steps, d).

    Features that enter at the same step are ordered by their coefficients there; features that never enter follow.
    """
    entered = np.flatnonzero(paths.any(axis=0))
    step = np.argmax(paths[:, entered] > 0, axis=0)
    return completed(entered[np.lexsort((-paths[step, entered], step))], X, y)


def f_statistics(X: Any, y: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return scikit-learn's F statistics, NaN for constant columns."""
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore", UserWarning)  # names the constant columns
        found: NDArray[np.float64] = feature_selection.f_classif(X, y)[0]
    return found


def one_against_rest(y: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return 0/1 targets, shape (n_targets, n): one for two classes, else one per class."""
    classes = np.arange(int(y.max()) + 1)
    return y[None, :] if classes.size == 2 else (y == classes[:, None]).astype(np.int64)
