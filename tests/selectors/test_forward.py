"""ForwardSelector against refits of ridge regression, and scikit-learn's sequential selection."""

import numpy as np
import pytest
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import Ridge
from sklearn.model_selection import LeaveOneOut
from sklearn.preprocessing import StandardScaler

from provsel.kernels import forward_ridge as kernel
from provsel.selectors import ForwardSelector
from provsel.training_view import TrainingView

rng = np.random.default_rng(0)
TALL, WIDE = rng.standard_normal((25, 7)), rng.standard_normal((8, 20))
THREE = np.arange(25) % 3
TALL[:, 2] += THREE == 1
TALL[:, 5] += THREE == 2


def textbook(X, y, count, alpha=1.0):
    """Refit without each row, for each candidate in each step; constant columns come last."""
    X = StandardScaler().fit_transform(X)
    targets = [y] if np.unique(y).size in (2, y.size) else [(y == label).astype(float) for label in np.unique(y)]
    picks = []
    while len(picks) < count:
        errors = np.full(X.shape[1], np.inf)
        for feature in range(X.shape[1]):
            if feature in picks or not X[:, feature].any():
                continue
            columns = X[:, [*picks, feature]]
            errors[feature] = 0.0
            for target in targets:
                for i in range(len(X)):
                    rest = np.arange(len(X)) != i
                    model = Ridge(alpha=alpha).fit(columns[rest], target[rest])
                    errors[feature] += (target[i] - model.predict(columns[[i]])[0]) ** 2
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
        Ridge(), n_features_to_select=3, cv=LeaveOneOut(), scoring="neg_mean_squared_error"
    )
    ours = ForwardSelector(3).fit(X, y)
    np.testing.assert_array_equal(ours.get_support(), theirs.fit(X, y).get_support())


def test_the_first_of_equal_columns_is_picked_and_constant_ones_come_last():
    X, y, _ = CASES["numbers"]
    first = ForwardSelector(7).fit(X, y).indices_
    doubled = np.hstack([np.full((25, 1), 0.1), X, X[:, first[:1]]])
    selector = ForwardSelector(9).fit(doubled, y)
    assert selector.indices_[0] == first[0] + 1
    assert selector.indices_[-1] == 0


def test_units_signs_and_the_order_of_rows_and_columns_change_nothing():
    X, y, count = CASES["numbers"]
    expected = ForwardSelector(count).fit(X, y).indices_
    rows, columns = rng.permutation(25), rng.permutation(7)
    scales = np.array([1.0, -1e6, 1e-6, 7.0, -2.0, 1e3, 1e-3])
    np.testing.assert_array_equal(ForwardSelector(count).fit(X * scales + 5, 3 * y - 1).indices_, expected)
    np.testing.assert_array_equal(ForwardSelector(count).fit(X[rows], y[rows]).indices_, expected)
    moved = ForwardSelector(count).fit(X[:, columns], y).indices_
    np.testing.assert_array_equal(columns[moved], expected)


def test_fits_with_other_numbers_go_on_where_one_ended(monkeypatch):
    X, y, _ = CASES["numbers"]
    expected = ForwardSelector(6).fit(X, y).indices_
    steps, errors_with = [], kernel._errors_with
    monkeypatch.setattr(kernel, "_errors_with", lambda *parts: steps.append(1) or errors_with(*parts))
    view = TrainingView(X, y)
    for count in (4, 2, 6):
        np.testing.assert_array_equal(ForwardSelector(count).fit_view(view).indices_, expected[:count])
    assert len(steps) == 6


def test_blocks_change_nothing(monkeypatch):
    X, y, count = CASES["three classes"]
    expected = ForwardSelector(count).fit(X, y).indices_
    monkeypatch.setattr(kernel, "BLOCK", 60)
    np.testing.assert_array_equal(ForwardSelector(count).fit(X, y).indices_, expected)


@pytest.mark.parametrize("alpha", [0.0, -1.0, np.inf, "1"])
def test_a_penalty_out_of_range(alpha):
    with pytest.raises(ValueError, match="ForwardSelector: expected a positive, finite alpha, got"):
        ForwardSelector(2, alpha=alpha).fit(TALL, TALL[:, 0])
