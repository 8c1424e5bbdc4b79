"""Orders of forests."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split

from provlab.benchmark.selectors.ranked import Ranked, Ranking, by_scores


class ExtraTrees(Ranked):
    """Mean decrease of impurity in 250 extremely randomised trees.

    Source: Geurts, Ernst, Wehenkel (2006); scikit-learn's `ExtraTreesClassifier`.
    """

    package = "scikit-learn"
    takes_sparse = True

    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        return by_scores(ExtraTreesClassifier(250, random_state=0).fit(X, y).feature_importances_)


class PermutationImportance(Ranked):
    """Loss of log likelihood of a forest on a third of the rows when a feature is permuted there, twice.

    Only features that one of the 50 trees splits by can have any: of these the 300 of largest decrease of impurity.

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
    """Recursive feature elimination: 100 extremely randomised trees, the half of least importance dropped, again.

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

    Its own number are the confirmed ones, at least one. The order is that of Boruta's ranking, and by the importance in
    extremely randomised trees where that is equal.

    Source: Kursa, Rudnicki (2010); boruta.
    """

    package = "boruta"

    def _ranking(self, X: Any, y: NDArray[np.int64], most: int) -> Ranking:
        from boruta import BorutaPy

        forest = RandomForestClassifier(n_jobs=1, max_depth=5)
        found = BorutaPy(forest, n_estimators=100, max_iter=20, random_state=0).fit(X, y)
        importances = ExtraTreesClassifier(250, random_state=0).fit(X, y).feature_importances_
        return Ranking(np.lexsort((-importances, found.ranking_)), own=max(1, int(found.n_features_)))
