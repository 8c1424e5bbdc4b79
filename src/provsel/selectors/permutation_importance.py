"""Importance of a feature to a random forest: the loss of score on held-out rows when it is permuted."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from provsel.checks import check_choice, check_integers
from provsel.kernels.permuted_forest import Forest, permutation_importances
from provsel.selectors._forests import best_first, new_forest, varying_ranks
from provsel.selectors._ranked import RankedRows, RankedSelector, Ranking

SCORINGS = ("score", "log_likelihood")


class PermutationImportanceSelector(RankedSelector):
    r"""Keep the features whose permutation lowers the score of a random forest most on held-out rows.

    Use it for relations of any form, if the final model is a forest. It has no theorem.
    Copies of a feature share its importance, and the importance of noise is around
    zero, not exactly zero.

    A forest is trained on a part of the rows. On the held-out rows each feature is
    permuted `n_repeats` times, and its importance is the mean loss of score: exactly
    that of scikit-learn's `permutation_importance` for this forest and these
    permutations. A tree is re-evaluated for a row only if its path tests the feature,
    so the cost does not grow with the number of features that no tree uses.

    The forest is trained on ranks within columns, so increasing transformations of a
    column have no effect. Equal importances, as for features that no path tests, are
    ordered by the decrease of impurity, then by index; constant columns come last.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of features to keep; below 1, the fraction of them.
    n_estimators : int, default=100
        Trees. Each node considers sqrt(d) features for classes, and d / 3 for numbers.
    n_repeats : int, default=5
        Permutations, the same for all features.
    test_size : float, default=0.25
        Share of held-out rows, of each class if it has at least two rows.
    scoring : {"score", "log_likelihood"}, default="score"
        "score": accuracy, or R^2 for numbers. "log_likelihood": its mean, for classes
        only; it distinguishes features whose permutation changes no decision, which is
        common with few rows.
    task : {"auto", "classification", "regression"}, default="auto"
        Kind of the target. "auto" means regression for numbers that are not all
        integers, and classification for integers and strings, as in scikit-learn's
        `type_of_target`. It raises an error for integers with very many distinct
        values.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the permutations and of the forest.

    Attributes
    ----------
    indices_ : ndarray of shape (n_selected,), int64
        In order of decreasing importance.
    weights_ : ndarray of shape (n_selected,)
        Ones.
    scores_ : ndarray of shape (n_features,)
        Mean importance; negative if a permutation helps.
    importances_ : ndarray of shape (n_features, n_repeats)
    ranking_ : ndarray of shape (n_features,), int64
        1 for the best feature, 2 for the next.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if no column varies, there are fewer than two rows on either side,
        the target does not suit the task, or a parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import PermutationImportanceSelector
    >>> X = np.random.default_rng(0).standard_normal((120, 20))
    >>> y = (X[:, 3] * X[:, 5] > 0).astype(int) + (X[:, 3] > 0)
    >>> sorted(PermutationImportanceSelector(2, random_state=0).fit(X, y).indices_.tolist())
    [3, 5]

    References
    ----------
    Breiman (2001), Random forests, Machine Learning 45, section 10, with held-out rows
    instead of out-of-bag rows.
    """

    algorithm_version = 1
    needs_labels: ClassVar[bool] = True

    def __init__(
        self,
        n_features_to_select: int | float,
        *,
        n_estimators: int = 100,
        n_repeats: int = 5,
        test_size: float = 0.25,
        scoring: Literal["score", "log_likelihood"] = "score",
        task: Literal["auto", "classification", "regression"] = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.n_estimators = n_estimators
        self.n_repeats = n_repeats
        self.test_size = test_size
        self.scoring = scoring
        self.task = task
        self.random_state = random_state

    def _rank(
        self, rows: RankedRows, count: int | None, rng: np.random.Generator
    ) -> Ranking:
        self._check_options(is_numbers=rows.classes is None)
        ranks = varying_ranks("PermutationImportanceSelector", rows.X)
        train, held_out = self._split(rows, rng)
        forest = new_forest(
            rows.classes, int(self.n_estimators), int(rng.integers(2**31))
        )
        forest.fit(ranks[train], rows.y[train])
        permutations = np.array(
            [rng.permutation(held_out.size) for _ in range(int(self.n_repeats))]
        )
        y = rows.y[held_out]
        n_trees = int(self.n_estimators)

        def score(sums: NDArray[np.float64]) -> NDArray[np.float64]:
            if rows.classes is None:
                return _r2(sums[:, :, 0] / n_trees, y)
            if self.scoring == "score":
                return _accuracy(sums, y)
            return _log_likelihood(sums / n_trees, y)

        trees = Forest.of_trees(
            [tree.tree_ for tree in forest.estimators_], shares=rows.classes is not None
        )
        importances = permutation_importances(
            trees, ranks[held_out], permutations, score
        )
        scores = importances.mean(axis=1)
        order = best_first(ranks, scores, forest.feature_importances_)
        return Ranking(order, scores, attributes={"importances": importances})

    def _check_options(self, *, is_numbers: bool) -> None:
        name = "PermutationImportanceSelector"
        check_integers(name, vars(self), n_estimators=1, n_repeats=1)
        check_choice(name, "scoring", self.scoring, SCORINGS)
        share = self.test_size
        if (
            isinstance(share, bool)
            or not isinstance(share, float | np.floating)
            or not 0 < share < 1
        ):
            raise ValueError(
                f"{name}: expected test_size to be between 0 and 1, a share of the rows, got {share!r}."
            )
        if is_numbers and self.scoring != "score":
            raise ValueError(
                f"{name}: a numeric target needs scoring='score', got {self.scoring!r}; leave it out."
            )

    def _split(
        self, rows: RankedRows, rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the rows to train on, and those held out, both increasing."""
        groups = (
            np.zeros(rows.y.size, dtype=np.int64) if rows.classes is None else rows.y
        )
        held_out: list[int] = []
        for group in range(int(groups.max()) + 1):
            members = rng.permutation(np.flatnonzero(groups == group))
            share = round(float(self.test_size) * members.size)
            # one training row of each class, so that the forest knows every class
            held_out.extend(members[: min(max(share, 1), members.size - 1)].tolist())
        train = np.setdiff1d(np.arange(rows.y.size), held_out)
        if len(held_out) < 2:
            raise ValueError(
                f"PermutationImportanceSelector: expected at least two held-out rows, got {len(held_out)} of "
                f"n_samples = {rows.y.size}; fit it on more rows."
            )
        return train, np.sort(np.array(held_out, dtype=np.int64))


def _r2(predicted: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return R^2 of predictions, shape (m, n); for a constant target the negative squared error."""
    variation = float(((y - y.mean()) ** 2).sum())
    return 1 - ((predicted - y) ** 2).sum(axis=1) / (variation or 1.0)


def _accuracy(
    sums: NDArray[np.float64], labels: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the accuracy of decisions by the sums of class shares, shape (m, n, n_classes)."""
    # ties go to the first class, regardless of rounding
    decided = np.argmax(np.round(sums, 9), axis=2)
    return np.asarray((decided == labels).mean(axis=1))


def _log_likelihood(
    shares: NDArray[np.float64], labels: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the mean log likelihood of class shares, shape (m, n, n_classes), as in scikit-learn's `log_loss`."""
    likelihood = shares[:, np.arange(labels.size), labels]
    return np.log(np.maximum(likelihood, np.finfo(np.float64).eps)).mean(axis=1)
