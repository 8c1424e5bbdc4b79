"""ForwardSelector against refits of ridge regression, and scikit-learn's sequential selection."""

import numpy as np
import pytest
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import Ridge
from sklearn.model_selection import LeaveOneOut
from sklearn.preprocessing import StandardScaler

from provsel.selectors import ForwardSelector
from textbook import one_vs_rest

rng = np.random.default_rng(0)
TALL = rng.standard_normal((25, 7))
WIDE = rng.standard_normal((8, 20))
THREE = np.arange(25) % 3
TALL[:, 2] += THREE == 1
TALL[:, 5] += THREE == 2


def error_without_row(columns, target, i, alpha):
    """Return the squared error of row i by ridge regression, with an intercept, on the other rows."""
    rest = np.arange(len(columns)) != i
    mean = columns[rest].mean(axis=0)
    centred = columns[rest] - mean
    w = np.linalg.solve(
        centred.T @ centred + alpha * np.eye(centred.shape[1]), centred.T @ target[rest]
    )
    return (target[i] - target[rest].mean() - (columns[i] - mean) @ w) ** 2


def textbook(X, y, count, alpha=1.0):
    """Refit without each row, for each candidate in each step; constant columns come last."""
    X = StandardScaler().fit_transform(X)
    targets = one_vs_rest(y)
    picks = []
    while len(picks) < count:
        errors = np.full(X.shape[1], np.inf)
        for feature in range(X.shape[1]):
            if feature in picks or not X[:, feature].any():
                continue
            columns = X[:, [*picks, feature]]
            errors[feature] = 0.0
            for target in targets:
                errors[feature] += sum(
                    error_without_row(columns, target, i, alpha) for i in range(len(X))
                )
        picks.append(int(np.flatnonzero(errors <= errors.min() * (1 + 1e-9))[0]))
    return picks


CASES = {
    "numbers": (TALL, TALL @ rng.standard_normal(7) + rng.standard_normal(25), 7),
    "two classes": (TALL, (TALL[:, 3] - TALL[:, 1] > 0).astype(int), 5),
    "three classes": (TALL, THREE, 4),
    "fewer rows than columns": (WIDE, rng.standard_normal(8), 9),
    "one column": (TALL[:, :1], TALL[:, 0] ** 2, 1),
}


@pytest.mark.parametrize("alpha", [1.0, 1e-3, 100.0])
@pytest.mark.parametrize("case", CASES)
def test_picks_are_the_textbooks(case, alpha):
    X, y, count = CASES[case]
    selector = ForwardSelector(count, alpha=alpha).fit(X, y)
    assert selector.indices_.tolist() == textbook(X, y, count, alpha)
    assert selector.ranking_[selector.indices_].tolist() == list(range(1, count + 1))


def test_picks_are_those_of_scikit_learn():
    X, y, _ = CASES["numbers"]
    X = StandardScaler().fit_transform(X)
    theirs = SequentialFeatureSelector(
        Ridge(),
        n_features_to_select=3,
        cv=LeaveOneOut(),
        scoring="neg_mean_squared_error",
    )
    ours = ForwardSelector(3).fit(X, y)
    np.testing.assert_array_equal(ours.get_support(), theirs.fit(X, y).get_support())
