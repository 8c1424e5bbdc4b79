"""Methods of other packages as ranked selectors for classes and numbers: paths, weights and trees.

Each ranks the features once for all requested numbers. Features that a path leaves out
follow in the order of their F statistics.
"""

from __future__ import annotations

import re
import warnings
from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import feature_selection
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso, LogisticRegression, lars_path
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC, LinearSVR, l1_min_c

from provlab.bench.selectors.versions import check_version
from provsel.kernels.standardised import indicator_targets
from provsel.selectors._ranked import RankedRows, RankedSelector, Ranking, completed

LEAST = 200
"""A path continues until this many features have entered, the largest number of the benchmark."""

N_STEPS = 20
"""Number of penalties of a path."""

Floats = NDArray[np.float64]


class PackagedSelector(RankedSelector):
    """Select the first features in a ranking by another package.

    Parameters
    ----------
    n_features_to_select : int or float
    task : {"auto", "classification", "regression"}, default="auto"
        Kind of target, as for provsel's selectors.
    version : str, optional
        Version of the package, or its first components such as "1.9". It is part of the
        keys of trials, and `fit` refuses other versions. None accepts any version.
    """

    algorithm_version = 1
    package: ClassVar[str] = "scikit-learn"

    def __init__(
        self,
        n_features_to_select: int | float,
        *,
        task: Literal["auto", "classification", "regression"] = "auto",
        version: str | None = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.task = task
        self.version = version

    def _shared_name(self, count: int | None) -> str | None:
        name = super()._shared_name(count)
        return None if name is None else f"{name} at least {max(count or 0, LEAST)}"

    def _rank(
        self, rows: RankedRows, count: int | None, rng: np.random.Generator
    ) -> Ranking:
        check_version(type(self).__name__, self.package, self.version)
        n_features = rows.X.shape[1]
        return self._order(rows, min(max(count or 0, LEAST), n_features))

    @abstractmethod
    def _order(self, rows: RankedRows, most: int) -> Ranking:
        """Return the ranking, of which the method itself determines the first `most` features if it can."""


def targets_of(rows: RankedRows) -> Floats:
    """Return the regression targets, shape (n_targets, n): a 0/1 indicator per class, or the numbers.

    Two classes have one target. Numbers are standardised, because the tolerances of
    solvers do not depend on the unit.
    """
    if rows.classes is None:
        return scale(rows.y)[None, :]
    return indicator_targets(rows.y, rows.classes)


def f_scores(rows: RankedRows) -> Floats:
    """Return scikit-learn's F statistics, with 0 for constant columns."""
    statistic = (
        feature_selection.f_regression
        if rows.classes is None
        else feature_selection.f_classif
    )
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore", UserWarning)  # about constant columns
        scores = statistic(rows.X, rows.y)[0]
    return np.nan_to_num(scores, nan=0.0, posinf=np.finfo(np.float64).max)


def by_entry(paths: Floats, rows: RankedRows) -> Ranking:
    """Return the order in which features enter a path of absolute coefficients, shape (n_steps, d).

    Features that enter at the same step are ordered by their coefficients there.
    Features that never enter come last.
    """
    entered = np.flatnonzero(paths.any(axis=0))
    step = np.argmax(paths[:, entered] > 0, axis=0)
    order = entered[np.lexsort((-paths[step, entered], step))]
    return Ranking(completed(order, f_scores(rows)))


class SVMWeightsSelector(PackagedSelector):
    """Ranking by the absolute weights of a linear SVM on all features, or of a linear SVR for numbers.

    For several classes, the norm over the classes is used.

    Source: Guyon, Weston, Barnhill, Vapnik (2002), without the recursion;
    scikit-learn's `LinearSVC`, `LinearSVR`.
    """

    takes_sparse = True

    def _order(self, rows: RankedRows, most: int) -> Ranking:
        if rows.classes is None:
            [target] = targets_of(rows)  # C and epsilon depend on its unit
            regression = LinearSVR(
                epsilon=0.1,
                loss="squared_epsilon_insensitive",
                dual="auto",
                max_iter=10_000,
                random_state=0,
            )
            return Ranking.by_scores(np.abs(regression.fit(rows.X, target).coef_))
        model = LinearSVC(dual="auto", max_iter=10_000, random_state=0).fit(
            rows.X, rows.y
        )
        return Ranking.by_scores(np.linalg.norm(model.coef_, axis=0))


class L1PathSelector(PackagedSelector):
    """Order of entry in an L1 path: logistic regression for each class, or the lasso for numbers.

    There are twenty penalties, from the smallest that keeps no feature to a thousandth
    of it.

    Source: Tibshirani (1996); Ng (2004); scikit-learn's `LogisticRegression` and
    `Lasso`.
    """

    takes_sparse = True

    def _order(self, rows: RankedRows, most: int) -> Ranking:
        steps = _lasso_steps(rows) if rows.classes is None else _logistic_steps(rows)
        path = np.zeros((N_STEPS, rows.X.shape[1]))
        for step, weights in enumerate(steps):
            path[step] = weights
            if np.count_nonzero(path.any(axis=0)) >= most:
                break
        return by_entry(path, rows)


def _logistic_steps(rows: RankedRows) -> Iterator[Floats]:
    """Yield the largest weight of each feature over the classes, shape (d,), penalty by penalty."""
    # scikit-learn has renamed the parameter
    penalty = (
        {"l1_ratio": 1.0}
        if LogisticRegression().penalty == "deprecated"
        else {"penalty": "l1"}
    )
    targets = targets_of(rows)
    least = [l1_min_c(rows.X, target, loss="log") for target in targets]
    for factor in np.geomspace(1, 1000, N_STEPS):
        largest = np.zeros(rows.X.shape[1])
        for target, C in zip(targets, least, strict=True):
            model = LogisticRegression(
                C=factor * C,
                solver="liblinear",
                max_iter=1000,
                random_state=0,
                **penalty,
            )
            largest = np.maximum(largest, np.abs(model.fit(rows.X, target).coef_[0]))
        yield largest


def _lasso_steps(rows: RankedRows) -> Iterator[Floats]:
    """Yield the weight of each feature in the lasso, shape (d,), penalty by penalty."""
    [target] = targets_of(rows)
    X = (
        sparse.csc_array(rows.X)
        if sparse.issparse(rows.X)
        else np.asfortranarray(rows.X - rows.X.mean(axis=0))
    )
    largest = np.abs(X.T @ target).max() / target.size
    model = Lasso(warm_start=True)
    for share in np.geomspace(1, 0.001, N_STEPS):
        with warnings.catch_warnings():
            # at small penalties, when most features have entered
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.set_params(alpha=largest * share).fit(X, target)
        yield np.abs(model.coef_)


class MCPPathSelector(PackagedSelector):
    """Order of entry in a least-squares path with the minimax concave penalty, on numbers or each class.

    There are twenty penalties, from the smallest that drops all features to a hundredth
    of it; gamma is 3.

    Source: Zhang (2010); Bertrand, Klopfenstein, Bannier, Gidel, Massias (2022), skglm.
    """

    package = "skglm"

    def _order(self, rows: RankedRows, most: int) -> Ranking:
        from skglm import MCPRegression

        X = np.asfortranarray(rows.X)
        paths = np.zeros((N_STEPS, X.shape[1]))
        for target in targets_of(rows):
            centred = target - target.mean()
            penalties = (
                np.abs(X.T @ centred).max() / len(X) * np.geomspace(1, 0.01, N_STEPS)
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the problem is not convex
                coefficients = MCPRegression(max_iter=20).path(X, centred, penalties)[1]
            paths = np.maximum(paths, np.abs(coefficients[: X.shape[1]].T))
        return by_entry(paths, rows)


class LeastAnglesSelector(PackagedSelector):
    """Order of entry in least angle regression on the numbers, or on each class against the rest.

    For several classes, a feature gets its best rank over the classes.

    Source: Efron, Hastie, Johnstone, Tibshirani (2004); scikit-learn's `lars_path`.
    """

    def _order(self, rows: RankedRows, most: int) -> Ranking:
        places = np.full(rows.X.shape[1], np.inf)
        for active in _least_angles(rows, most):
            places[active] = np.minimum(places[active], np.arange(active.size))
        order = np.argsort(places, kind="stable")
        return Ranking(
            completed(order[: np.count_nonzero(np.isfinite(places))], f_scores(rows))
        )


def _least_angles(rows: RankedRows, most: int) -> Iterator[NDArray[np.int64]]:
    """Yield the features in the order in which they enter, for each target."""
    X = scale(np.asfortranarray(rows.X))  # as `lars_path` needs it
    for target in targets_of(rows):
        with warnings.catch_warnings():
            # the path ends early if the columns are exhausted
            warnings.simplefilter("ignore")
            _, active, _ = lars_path(
                X, target - target.mean(), method="lar", max_iter=most
            )
        yield np.asarray(active, dtype=np.int64)


class FastCanSelector(PackagedSelector):
    """Forward selection by the squared canonical correlation with the classes, or the correlation with the numbers.

    Source: Zhang, Wang, Worden, Cross (2025), fastcan.
    """

    package = "fastcan"

    def _order(self, rows: RankedRows, most: int) -> Ranking:
        import fastcan

        count = min(most, len(rows.X) - 1)
        while True:
            try:
                fitted = fastcan.FastCan(count, verbose=0).fit(
                    rows.X, targets_of(rows).T
                )
            except RuntimeError as error:
                # the columns are exhausted; the message states when
                told = re.search(
                    r"with the (\d+) selected|selecting the (\d+)", str(error)
                )
                fewer = 0 if told is None else int(told[1] or int(told[2]) - 1)
                if not 0 < fewer < count:
                    raise
                count = fewer
            else:
                return Ranking(completed(fitted.indices_, f_scores(rows)))


class ExtraTreesSelector(PackagedSelector):
    """Mean decrease of impurity in 250 extremely randomised trees.

    Source: Geurts, Ernst, Wehenkel (2006); scikit-learn's `ExtraTreesClassifier`,
    `ExtraTreesRegressor`.
    """

    takes_sparse = True

    def _order(self, rows: RankedRows, most: int) -> Ranking:
        if rows.classes is None:
            trees = ExtraTreesRegressor(250, max_features=1 / 3, random_state=0)
        else:
            trees = ExtraTreesClassifier(250, random_state=0)
        return Ranking.by_scores(trees.fit(rows.X, rows.y).feature_importances_)


class BoostingGainSelector(PackagedSelector):
    """Gain of the splits in 100 boosted trees of depth 3, with sqrt(d) candidate features per node.

    Features without a split follow in the order of their F statistics.

    Source: Friedman (2001); scikit-learn's `GradientBoostingClassifier`,
    `GradientBoostingRegressor`.
    """

    def _order(self, rows: RankedRows, most: int) -> Ranking:
        boosting = (
            GradientBoostingRegressor
            if rows.classes is None
            else GradientBoostingClassifier
        )
        gains = (
            boosting(n_estimators=100, max_features="sqrt", random_state=0)
            .fit(rows.X, rows.y)
            .feature_importances_
        )
        split = np.flatnonzero(gains)
        best_first = split[np.argsort(-gains[split], kind="stable")]
        return Ranking(completed(best_first, f_scores(rows)), gains)
