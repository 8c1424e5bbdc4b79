"""The methods of the benchmark: the panel of `methods.yaml`, and adapters of those that are not provsel's.

Each adapter is one way to order the features. It is made once a fold, and all sizes and models share it.
"""

from __future__ import annotations

import importlib.metadata
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import feature_selection
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import l1_min_c

from provlab.documents import read_record
from provlab.plan import compose_config
from provlab.plan.composition import resolved
from provlab.project.components import build
from provsel.selectors import BaseSelector, Selection, checked_count
from provsel.training_view import TrainingView, described

__all__ = ["ExtraTreesImportance", "FTest", "L1LogisticPath", "MutualInformation", "PanelMethod", "panel_methods"]

N_STEPS = 20
"""Penalties of a path."""

MOST = 200
"""Size up to which a greedy order is made, whatever the size asked: the largest of the panel, which all share."""

Ranking: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float64] | None]
"""All features or those chosen first, best first; and scores of all, where there are any."""


@dataclass(frozen=True)
class PanelMethod:
    """An entry of `methods.yaml`.

    Attributes
    ----------
    kind : {"filter", "embedded", "wrapper", "subset", "control"}
    choose : tuple of str
        Overrides that choose the selector. SIZE in them stands for the number of features that is asked for, and HALF
        for half of it, which is the rank of methods that approximate.
    adapter : str
        Class of this module; `choose` then has further overrides.
    sizes : {"fixed", "at most", "own"}
        "at most": fewer where draws repeat, or where no more can be had; "own" methods choose their number themselves.
    multiclass : bool
        Whether labels may be of more than two classes.
    """

    kind: Literal["filter", "embedded", "wrapper", "subset", "control"]
    choose: tuple[str, ...] = ()
    adapter: str = ""
    sizes: Literal["fixed", "at most", "own"] = "fixed"
    multiclass: bool = True

    def overrides(self, size: int, *, installed: bool = False) -> list[str]:
        """Return the overrides that choose the method, asked for `size` features.

        Versions of packages are those that the panel was computed with; with `installed` those that are there, for
        trials that are not compared with stored ones.
        """
        found = list(self.choose)
        if self.adapter:
            version = importlib.metadata.version(self.source) if installed else _panel().versions[self.source]
            asked = "null" if self.sizes == "own" else "SIZE"
            found[:0] = [
                "selector=any",
                f"selector._target_={__name__}.{self.adapter}",
                f"+selector.n_features_to_select={asked}",
                f"+selector.version='{version}'",
            ]
        return [each.replace("SIZE", str(size)).replace("HALF", str(max(1, size // 2))) for each in found]

    @property
    def selector(self) -> BaseSelector:
        """The selector, asked for one feature."""
        config = resolved(compose_config(self.overrides(1)), ["selector"])["selector"]
        found: BaseSelector = build("selector", config)
        return found

    @property
    def uses_labels(self) -> bool:
        """Whether it selects by labels."""
        return self.selector.needs_labels

    @property
    def source(self) -> str:
        """Provsel, or the distribution whose code orders the features."""
        return globals()[self.adapter].package if self.adapter else "provsel"

    @property
    def needs(self) -> str | None:
        """The package of the extra "benchmark" that it needs."""
        return None if self.source in ("provsel", "scikit-learn") else self.source


@dataclass(frozen=True)
class _Panel:
    versions: Mapping[str, str]
    methods: Mapping[str, PanelMethod]


@cache
def _panel() -> _Panel:
    return read_record(Path(__file__).with_name("methods.yaml"), _Panel)


def panel_methods() -> Mapping[str, PanelMethod]:
    """Return the methods of the panel by name."""
    return _panel().methods


class Ranked(BaseSelector, ABC):
    """Keep the first features of an order that is made once for all sizes.

    Parameters
    ----------
    n_features_to_select : int or float
    version : str, optional
        Version of the package that computes the order, or its first numbers, as "1.9". Keys of trials have it; another
        version is refused in `fit`. None takes any.
    """

    package: ClassVar[str] = "scikit-learn"
    needs_labels = True
    classes_only = True
    dense: ClassVar[bool] = True

    def __init__(self, n_features_to_select: int | float, *, version: str | None = None) -> None:
        self.n_features_to_select = n_features_to_select
        self.version = version

    @abstractmethod
    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        """Return the order of at least `most` columns of X; y has the numbers of the classes."""

    def _select(self, view: TrainingView, rng: np.random.Generator) -> Selection:
        r = checked_count(self, view.n_features)
        check_version(type(self).__name__, self.package, self.version)
        most = min(max(r, MOST), view.n_features)

        def compute() -> Ranking:
            X = view.X.toarray() if self.dense and sparse.issparse(view.X) else view.X
            y = (
                np.zeros(view.n_samples, dtype=np.int64)
                if view.y is None
                else np.unique(view.y, return_inverse=True)[1]
            )
            return self._ranking(X, y, most)

        name = described(clone(self).set_params(n_features_to_select=most))
        order, scores = view.shared(f"order {name}", compute)
        return Selection.unweighted(order[:r], **({} if scores is None else {"scores": scores}))


def check_version(subject: str, package: str, stated: str | None) -> None:
    """Raise ImportError, which is no failure of a method, where a package is missing or of another version."""
    try:
        installed = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        raise ModuleNotFoundError(
            f"{subject}: expected the package {package}, got none; pip install 'provsel[benchmark]'.", name=package
        ) from None
    if stated is not None and installed != stated and not installed.startswith(f"{stated}."):
        raise ImportError(
            f"{subject}: expected {package} {stated}, got {installed}, of which trials have other keys; install "
            f"{package} {stated}, or state selector.version={installed}."
        )


def by_scores(scores: NDArray[np.float64]) -> Ranking:
    """Return the order of decreasing scores, the first of equal ones first; what has no score comes last."""
    scores = np.nan_to_num(np.asarray(scores, dtype=np.float64), nan=-np.inf)
    return np.argsort(-scores, kind="stable").astype(np.int64), scores


def completed(scores: NDArray[np.float64], others: NDArray[np.int64]) -> Ranking:
    """Return the order of the positive scores, and then of the other features as given."""
    first = np.flatnonzero(scores > 0)
    first = first[np.argsort(-scores[first], kind="stable")]
    return np.concatenate([first, others[~np.isin(others, first)]]), scores


def one_against_rest(y: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return 0/1 targets: one of two classes, or one a class."""
    classes = range(int(y.max()) + 1)
    return [y] if len(classes) == 2 else [(y == each).astype(np.int64) for each in classes]


class FTest(Ranked):
    """Order features by the F statistic of an analysis of variance: scikit-learn's `f_classif`."""

    algorithm_version = 1
    dense = False

    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        with np.errstate(divide="ignore", invalid="ignore"):  # constant columns
            return by_scores(feature_selection.f_classif(X, y)[0])


class MutualInformation(Ranked):
    """Order features by their estimated mutual information with the class: `mutual_info_classif`, 3 neighbours."""

    algorithm_version = 1

    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        return by_scores(feature_selection.mutual_info_classif(X, y, discrete_features=False, random_state=0))


class L1LogisticPath(Ranked):
    """Order features by where they enter the path of L1-penalised logistic regression, one class against the rest.

    Twenty values of C from the least that keeps a feature to a thousand times it; features that enter at the same value
    are ordered by the largest absolute coefficient there. Those that never enter follow by their F statistic.
    """

    algorithm_version = 1
    dense = False

    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        d, scores = X.shape[1], np.zeros(X.shape[1])
        targets = one_against_rest(y)
        penalty = {"l1_ratio": 1.0} if LogisticRegression().penalty == "deprecated" else {"penalty": "l1"}
        settings = {**penalty, "solver": "liblinear", "max_iter": 1000, "random_state": 0}
        paths = [l1_min_c(X, target, loss="log") * np.geomspace(1, 1000, N_STEPS) for target in targets]
        for step in range(N_STEPS):
            sizes = np.zeros(d)
            for target, path in zip(targets, paths, strict=True):
                model = LogisticRegression(C=path[step], **settings)
                sizes = np.maximum(sizes, np.abs(model.fit(X, target).coef_[0]))
            new = (scores == 0) & (sizes > 0)
            scores[new] = N_STEPS - step + sizes[new] / (1 + sizes.max())
            if np.count_nonzero(scores) >= most:
                break
        return completed(scores, FTest(1)._ranking(X, y, most)[0])


class ExtraTreesImportance(Ranked):
    """Order features by their mean decrease of impurity in 250 extremely randomised trees."""

    algorithm_version = 1
    dense = False

    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        return by_scores(ExtraTreesClassifier(250, random_state=0).fit(X, y).feature_importances_)
