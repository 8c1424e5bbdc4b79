"""Selectors that ask random forests, against scikit-learn's functions on the same forests."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import RFE
from sklearn.inspection import permutation_importance

from provsel.kernels import permuted_forest
from provsel.kernels.column_ranks import column_ranks
from provsel.kernels.permuted_forest import Forest, permutation_importances
from provsel.selectors import ForestRFESelector, PermutationImportanceSelector
from provsel.selectors import forest_rfe as elimination
from provsel.training_view import TrainingView

rng = np.random.default_rng(0)
X = rng.standard_normal((90, 12))
X[:, 4] = np.round(X[:, 4])
TARGETS = {
    "two classes": (X[:, 0] + X[:, 1] > 0).astype(int),
    "three classes": (X[:, 0] > 0).astype(int) + (X[:, 2] * X[:, 3] > 0.3),
    "numbers": X[:, 0] + X[:, 1] ** 2 + 0.1 * rng.standard_normal(90),
}
SELECTORS = [
    ForestRFESelector(5, n_estimators=20, random_state=0),
    PermutationImportanceSelector(5, n_estimators=20, random_state=0),
]


def their_permutations(seed, n, n_repeats):
    """What scikit-learn permutes every column by."""
    generator = np.random.RandomState(np.random.RandomState(seed).randint(np.iinfo(np.int32).max + 1))
    shuffled, rows, permutations = np.arange(n), np.arange(n), []
    for _ in range(n_repeats):
        generator.shuffle(shuffled)
        rows = rows[shuffled]
        permutations.append(rows)
    return np.array(permutations)


@pytest.mark.parametrize("limits", [{}, {"PAIRS": 70}, {"PREDICTIONS": 200}], ids=str)
@pytest.mark.parametrize("depth", [1, 3, None])
@pytest.mark.parametrize("name", TARGETS)
def test_importances_of_permutation_are_those_of_scikit_learn(name, depth, limits, monkeypatch):
    for limit, value in limits.items():
        monkeypatch.setattr(permuted_forest, limit, value)
    y, is_numbers = TARGETS[name], name == "numbers"
    cls = RandomForestRegressor if is_numbers else RandomForestClassifier
    model = cls(25, max_depth=depth, max_features=0.5, random_state=1).fit(X[:50], y[:50])
    rows, target = X[50:], y[50:]

    def score(sums):
        if is_numbers:
            return 1 - ((sums[:, :, 0] / 25 - target) ** 2).sum(axis=1) / ((target - target.mean()) ** 2).sum()
        return (np.argmax(np.round(sums, 9), axis=2) == target).mean(axis=1)

    forest = Forest.of_trees([tree.tree_ for tree in model.estimators_], shares=not is_numbers)
    ours = permutation_importances(forest, rows.astype(np.float32), their_permutations(7, 40, 3), score)
    theirs = permutation_importance(model, rows, target, n_repeats=3, random_state=7)
    np.testing.assert_allclose(ours, theirs.importances, atol=1e-12)
    assert np.abs(ours).max() > 0.01


@pytest.mark.parametrize("scoring", ["score", "log_likelihood"])
@pytest.mark.parametrize("name", TARGETS)
def test_importances_of_the_class_by_predictions_of_whole_forests(name, scoring):
    if name == "numbers" and scoring != "score":
        return
    y, ranks = TARGETS[name], column_ranks(X)
    selector = PermutationImportanceSelector(5, n_estimators=15, n_repeats=2, scoring=scoring, random_state=3)
    drawn = np.random.default_rng(3)
    groups = [np.arange(90)] if name == "numbers" else [np.flatnonzero(y == label) for label in np.unique(y)]
    held_out = np.sort(np.concatenate([drawn.permutation(group)[: round(0.25 * group.size)] for group in groups]))
    train = np.setdiff1d(np.arange(90), held_out)
    options = {"random_state": int(drawn.integers(2**31))}
    if name == "numbers":
        model = RandomForestRegressor(15, max_features=1 / 3, **options)
    else:
        model = RandomForestClassifier(15, **options)
    model.fit(ranks[train], y[train])

    def score(rows):
        if scoring == "score":
            return model.score(rows, y[held_out])
        shares = model.predict_proba(rows)[np.arange(held_out.size), y[held_out]]
        return np.log(np.maximum(shares, np.finfo(float).eps)).mean()

    expected = np.zeros((12, 2))
    for repeat in range(2):
        permutation = drawn.permutation(held_out.size)
        for feature in range(12):
            rows = ranks[held_out].copy()
            rows[:, feature] = rows[permutation, feature]
            expected[feature, repeat] = score(ranks[held_out]) - score(rows)
    np.testing.assert_allclose(selector.fit(X, y).importances_, expected, atol=1e-12)
    np.testing.assert_allclose(selector.scores_, expected.mean(axis=1), atol=1e-12)
    assert (np.diff(np.round(selector.scores_, 12)[selector.indices_]) <= 0).all()


@pytest.mark.parametrize("name", TARGETS)
def test_elimination_is_that_of_scikit_learn_round_by_round(name, monkeypatch):
    """With forests of one seed; a fraction is one of the remaining features, so whole steps are compared."""
    y = TARGETS[name]
    seed, new_forest = 5, elimination.new_forest
    monkeypatch.setattr(elimination, "new_forest", lambda classes, count, _: new_forest(classes, count, seed))
    classes = None if name == "numbers" else np.unique(y)
    for step, count in ((1, 4), (3, 3), (5, 2)):
        ours = ForestRFESelector(count, step=step, n_estimators=10, random_state=0).fit(X, y)
        theirs = RFE(new_forest(classes, 10, seed), n_features_to_select=count, step=step).fit(column_ranks(X), y)
        np.testing.assert_array_equal(ours.get_support(), theirs.support_)


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda selector: type(selector).__name__)
@pytest.mark.parametrize("name", TARGETS)
def test_increasing_transformations_change_nothing_and_smaller_selections_are_the_first(selector, name):
    y = TARGETS[name]
    selector.set_params(n_features_to_select=8).fit(X, y)
    expected = selector.indices_
    moved = np.exp(X * np.array([1, 2, 1e-3, 3, 1, 1, 1, 1, 1, 1, 1, 20.0])) + 1
    moved[:, 5] *= 1e120
    np.testing.assert_array_equal(selector.fit(moved, y).indices_, expected)
    view = TrainingView(X, y)
    for count in (3, 8, 1):
        np.testing.assert_array_equal(
            selector.set_params(n_features_to_select=count).fit_view(view).indices_, expected[:count]
        )
    assert selector.ranking_[expected].tolist() == list(range(1, 9))


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda selector: type(selector).__name__)
def test_informative_columns_come_first_and_constant_ones_last(selector):
    rows = np.hstack([np.full((90, 2), 3.0), X, np.zeros((90, 1))])
    for name in ("two classes", "numbers"):
        order = selector.set_params(n_features_to_select=15).fit(rows, TARGETS[name]).indices_
        assert set(order[:2]) == {2, 3}
        assert order[-3:].tolist() == [0, 1, 14]
    selector.set_params(n_features_to_select=1).fit(rows[:, [0, 2]], TARGETS["two classes"])
    assert selector.indices_.tolist() == [1]


@pytest.mark.parametrize(
    ("selector", "target", "message"),
    [
        (ForestRFESelector(2, step=0), "numbers", "expected step an integer >= 1, .* got 0"),
        (ForestRFESelector(2, step=1.5), "numbers", "expected step an integer >= 1, .* got 1.5"),
        (ForestRFESelector(2, n_estimators=0), "numbers", "n_estimators must be an integer of at least 1, got 0"),
        (PermutationImportanceSelector(2, n_repeats=0), "numbers", "n_repeats must be an integer of at least 1, got 0"),
        (PermutationImportanceSelector(2, test_size=1.0), "numbers", "expected test_size between 0 and 1, .* got 1.0"),
        (PermutationImportanceSelector(2, test_size=3), "numbers", "expected test_size between 0 and 1, .* got 3"),
        (PermutationImportanceSelector(2, scoring="r2"), "numbers", "scoring must be one of score, log_like.*'r2'"),
        (PermutationImportanceSelector(2, scoring="log_likelihood"), "numbers", "expected scoring 'score' for numbers"),
    ],
)  # fmt: skip
def test_options_out_of_range(selector, target, message):
    with pytest.raises(ValueError, match=f"^{type(selector).__name__}: {message}"):
        selector.fit(X, TARGETS[target])


def test_too_few_rows_to_hold_two_out():
    with pytest.raises(ValueError, match="expected at least two rows held out, got 0 of n_samples = 3; fit it on more"):
        PermutationImportanceSelector(2).fit(X[:3], ["a", "b", "c"])
