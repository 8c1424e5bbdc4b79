"""Orders by models: weights, penalty paths and forward selection of linear models, importances of forests."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, lars_path
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC, l1_min_c

from provlab.bench.selectors.ranked import (
    N_STEPS,
    Ranked,
    Ranking,
    by_entry,
    by_scores,
    completed,
    one_against_rest,
)


class SVMWeights(Ranked):
    """Size of the weights of one linear SVM on all features, the norm over the classes.

    Source: Guyon, Weston, Barnhill, Vapnik (2002), without the recursion.
    """

    package = "scikit-learn"
    takes_sparse = True

    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        model = LinearSVC(dual="auto", max_iter=10_000, random_state=0).fit(X, y)
        return by_scores(np.linalg.norm(model.coef_, axis=0))


class L1LogisticPath(Ranked):
    """Where features enter the path of L1-penalised logistic regression, one class against the rest.

    Twenty penalties, with C from the smallest that keeps a feature to a thousand times that.

    Source: Tibshirani (1996); Ng (2004); scikit-learn's `LogisticRegression`.
    """

    package = "scikit-learn"
    takes_sparse = True

    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        penalty = {"l1_ratio": 1.0} if LogisticRegression().penalty == "deprecated" else {"penalty": "l1"}
        targets, steps = one_against_rest(y), np.zeros((N_STEPS, X.shape[1]))
        least = [l1_min_c(X, target, loss="log") for target in targets]
        for step, factor in zip(steps, np.geomspace(1, 1000, N_STEPS), strict=True):
            for target, C in zip(targets, least, strict=True):
                model = LogisticRegression(C=factor * C, solver="liblinear", max_iter=1000, random_state=0, **penalty)
                np.maximum(step, np.abs(model.fit(X, target).coef_[0]), out=step)
            if np.count_nonzero(steps.any(axis=0)) >= most:
                break
        return by_entry(steps, X, y)


class MCP(Ranked):
    """Where features enter the path of least squares with the minimax concave penalty, one class against the rest.

    Twenty penalties, from the smallest that drops everything to a hundredth of it; gamma is 3.

    Source: Zhang (2010); Bertrand, Klopfenstein, Bannier, Gidel, Massias (2022), skglm.
    """

    package = "skglm"

    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        from skglm import MCPRegression

        found = np.zeros((N_STEPS, X.shape[1]))
        for target in one_against_rest(y).astype(np.float64):
            target -= target.mean()
            penalties = np.abs(X.T @ target).max() / len(X) * np.geomspace(1, 0.01, N_STEPS)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a path of a problem that is not convex
                coefficients = MCPRegression(max_iter=20).path(X, target, penalties)[1]
            np.maximum(found, np.abs(coefficients[: X.shape[1]].T), out=found)
        return by_entry(found, X, y)


class LeastAngles(Ranked):
    """Order of least angle regression on classes coded as 0 and 1, one class against the rest.

    Source: Efron, Hastie, Johnstone, Tibshirani (2004); scikit-learn's `lars_path`.
    """

    package = "scikit-learn"

    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        places = np.full(X.shape[1], np.inf)
        for active in _least_angles(X, one_against_rest(y), most):
            places[active] = np.minimum(places[active], np.arange(active.size))
        order = np.argsort(places, kind="stable")
        return completed(order[: np.count_nonzero(np.isfinite(places))], X, y)


def _least_angles(X: NDArray[np.float64], targets: NDArray[np.int64], most: int) -> Iterator[NDArray[np.int64]]:
    """Yield the features in the order in which they enter, for each target."""
    X = scale(X)
    for target in targets:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the path ends early where the columns are exhausted
            yield np.asarray(lars_path(X, target - target.mean(), method="lar", max_iter=most)[1], dtype=np.int64)


class StabilitySelection(Ranked):
    """Share of 50 half-samples on which a feature is among the first q of least angle regression.

    q = sqrt(0.8 d). Its own number counts features with a share of at least 0.9; at most one false feature is expected
    among them. This holds if false features are exchangeable and selected no better than at random.

    Source: Meinshausen, Bühlmann (2010), Theorem 1; complementary halves: Shah, Samworth (2013).
    """

    package = "scikit-learn"

    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        rng, (n, d) = np.random.default_rng(0), X.shape
        q = max(1, int(np.sqrt(0.8 * d)))
        shares, places = np.zeros(d), np.zeros(d)
        for _ in range(25):
            order = rng.permutation(n)
            for half in (order[: n // 2], order[n // 2 :]):
                first = np.full(d, q)
                for active in _least_angles(X[half], one_against_rest(y)[:, half], q):
                    first[active] = np.minimum(first[active], np.arange(active.size))
                shares += (first < q) / 50
                places += first
        # of equal shares those that enter earlier come first
        found = by_scores(shares - places / (50 * 100 * q))
        return Ranking(found.order, shares, max(1, int(np.count_nonzero(shares > 0.9 - 1e-9))))


class ForwardRidge(Ranked):
    """Forward selection by the leave-one-out error of ridge regression on the classes, updated for all candidates.

    Source: Pahikkala, Airola, Salakoski (2010), greedy RLS.
    """

    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        X = scale(X)
        T = one_against_rest(y).T - one_against_rest(y).mean(axis=1)
        # of G = (X_S X_S^T + I)^-1, S the features chosen: its diagonal, G T and G X
        diagonal, duals, C = np.ones(len(X)), T, X.copy()
        chosen: list[int] = []
        while len(chosen) < most:
            U = C / (1 + np.einsum("nd,nd->d", X, C))
            left = diagonal[:, None] - U * C
            errors = sum((((a[:, None] - U * (a @ X)) / left) ** 2).sum(axis=0) for a in duals.T)
            errors[chosen] = np.inf
            best = int(np.argmin(errors))
            u, v, chosen = U[:, best].copy(), X[:, best], [*chosen, best]
            diagonal, duals = left[:, best].copy(), duals - np.outer(u, v @ duals)
            C -= np.outer(u, v @ C)
        return completed(chosen, X, y)


class FastCan(Ranked):
    """Forward selection by the squared canonical correlation with the classes.

    Source: Zhang, Wang, Worden, Cross (2025), fastcan.
    """

    package = "fastcan"

    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        import fastcan

        count = min(most, len(X) - 1)
        while True:
            try:
                found = fastcan.FastCan(count, verbose=0).fit(X, one_against_rest(y).T)
            except RuntimeError as error:  # the columns are exhausted; the message tells when
                told = re.search(r"with the (\d+) selected|selecting the (\d+)", str(error))
                fewer = 0 if told is None else int(told[1] or int(told[2]) - 1)
                if not 0 < fewer < count:
                    raise
                count = fewer
            else:
                return completed(found.indices_, X, y)


# ---- forests


class ExtraTrees(Ranked):
    """Mean decrease of impurity in 250 extremely randomised trees.

    Source: Geurts, Ernst, Wehenkel (2006); scikit-learn's `ExtraTreesClassifier`.
    """

    package = "scikit-learn"
    takes_sparse = True

    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        return by_scores(ExtraTreesClassifier(250, random_state=0).fit(X, y).feature_importances_)


class PermutationImportance(Ranked):
    """Loss of a forest's log likelihood on a third of the rows when a feature is permuted there, twice.

    Only features used in a split can have a loss; the 300 with the largest decrease of impurity are tried.

    Source: Breiman (2001); scikit-learn's `permutation_importance`.
    """

    package = "scikit-learn"

    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        rows, others = train_test_split(np.arange(len(X)), test_size=1 / 3, stratify=y, random_state=0)
        order = by_scores(RandomForestClassifier(50, random_state=0).fit(X[rows], y[rows]).feature_importances_).order
        kept = order[:300]
        forest = RandomForestClassifier(50, random_state=0).fit(X[rows][:, kept], y[rows])
        found = permutation_importance(
            forest, X[others][:, kept], y[others], scoring="neg_log_loss", n_repeats=2, random_state=0
        )
        best = kept[by_scores(found.importances_mean).order]
        return Ranking(np.concatenate([best, order[300:]]))


class ForestRFE(Ranked):
    """Recursive feature elimination: 100 extremely randomised trees repeatedly drop the less important half.

    Source: Granitto, Furlanello, Biasioli, Gasperi (2006).
    """

    package = "scikit-learn"

    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        kept, dropped = np.arange(X.shape[1]), []
        while kept.size:
            trees = ExtraTreesClassifier(100, random_state=0).fit(X[:, kept], y)
            kept = kept[by_scores(trees.feature_importances_).order]
            half = kept.size // 2 if kept.size > 5 else 0
            dropped.append(kept[half:])
            kept = kept[:half]
        return Ranking(np.concatenate(dropped[::-1]))


class Boruta(Ranked):
    """Boruta: features that are more important to forests than permuted copies of all features, in 20 rounds.

    Its own number counts the confirmed features, at least one. The order is Boruta's ranking; ties are broken by
    importance in extremely randomised trees.

    Source: Kursa, Rudnicki (2010); boruta.
    """

    package = "boruta"

    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        from boruta import BorutaPy

        forest = RandomForestClassifier(n_jobs=1, max_depth=5)
        found = BorutaPy(forest, n_estimators=100, max_iter=20, random_state=0).fit(X, y)
        importances = ExtraTreesClassifier(250, random_state=0).fit(X, y).feature_importances_
        return Ranking(np.lexsort((-importances, found.ranking_)), own=max(1, int(found.n_features_)))
