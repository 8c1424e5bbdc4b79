"""Selectors that ask random forests, against scikit-learn's functions on the same forests."""

import json
import runpy
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binom, false_discovery_control
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import RFE
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression, Ridge

from provsel.kernels.boruta import decided, is_settled
from provsel.kernels.permuted_forest import Forest, permutation_importances
from provsel.kernels.ranks import value_places
from provsel.selectors import (
    BorutaSelector,
    ForestRFESelector,
    PermutationImportanceSelector,
)
from provsel.selectors import forest_rfe as elimination

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
    generator = np.random.RandomState(
        np.random.RandomState(seed).randint(np.iinfo(np.int32).max + 1)
    )
    shuffled = np.arange(n)
    rows = np.arange(n)
    permutations = []
    for _ in range(n_repeats):
        generator.shuffle(shuffled)
        rows = rows[shuffled]
        permutations.append(rows)
    return np.array(permutations)


@pytest.mark.parametrize("depth", [1, 3, None])
@pytest.mark.parametrize("name", TARGETS)
def test_importances_of_permutation_are_those_of_scikit_learn(name, depth):
    y = TARGETS[name]
    is_numbers = name == "numbers"
    cls = RandomForestRegressor if is_numbers else RandomForestClassifier
    model = cls(25, max_depth=depth, max_features=0.5, random_state=1).fit(
        X[:50], y[:50]
    )
    rows = X[50:]
    target = y[50:]

    def score(sums):
        if is_numbers:
            return (
                1
                - ((sums[:, :, 0] / 25 - target) ** 2).sum(axis=1)
                / ((target - target.mean()) ** 2).sum()
            )
        return (np.argmax(np.round(sums, 9), axis=2) == target).mean(axis=1)

    forest = Forest.of_trees(
        [tree.tree_ for tree in model.estimators_], shares=not is_numbers
    )
    ours = permutation_importances(
        forest, rows.astype(np.float32), their_permutations(7, 40, 3), score
    )
    theirs = permutation_importance(model, rows, target, n_repeats=3, random_state=7)
    assert_allclose(ours, theirs.importances, atol=1e-12)
    assert np.abs(ours).max() > 0.01


@pytest.mark.parametrize("scoring", ["score", "log_likelihood"])
@pytest.mark.parametrize("name", TARGETS)
def test_importances_of_the_class_by_predictions_of_whole_forests(name, scoring):
    if name == "numbers" and scoring != "score":
        return
    y = TARGETS[name]
    ranks = value_places(X)
    selector = PermutationImportanceSelector(
        5, n_estimators=15, n_repeats=2, scoring=scoring, random_state=3
    )
    drawn = np.random.default_rng(3)
    strata = np.zeros(90) if name == "numbers" else y
    groups = [np.flatnonzero(strata == label) for label in np.unique(strata)]
    held_out = np.sort(
        np.concatenate(
            [drawn.permutation(group)[: round(0.25 * group.size)] for group in groups]
        )
    )
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
    assert_allclose(selector.fit(X, y).importances_, expected, atol=1e-12)
    assert_allclose(selector.scores_, expected.mean(axis=1), atol=1e-12)
    assert (np.diff(np.round(selector.scores_, 12)[selector.indices_]) <= 0).all()


@pytest.mark.parametrize("name", TARGETS)
def test_elimination_is_that_of_scikit_learn_round_by_round(name, monkeypatch):
    """With forests of one seed; a fraction is one of the remaining features, so whole steps are compared."""
    y = TARGETS[name]
    seed = 5
    new_forest = elimination.new_forest
    monkeypatch.setattr(
        elimination,
        "new_forest",
        lambda classes, count, _: new_forest(classes, count, seed),
    )
    classes = None if name == "numbers" else np.unique(y)
    for step, count in ((1, 4), (3, 3), (5, 2)):
        ours = ForestRFESelector(count, step=step, n_estimators=10, random_state=0).fit(
            X, y
        )
        theirs = RFE(
            new_forest(classes, 10, seed), n_features_to_select=count, step=step
        ).fit(value_places(X), y)
        assert_array_equal(ours.get_support(), theirs.support_)


@pytest.mark.parametrize(
    "selector", SELECTORS, ids=lambda selector: type(selector).__name__
)
@pytest.mark.parametrize("name", TARGETS)
def test_increasing_transformations_change_nothing(selector, name):
    y = TARGETS[name]
    selector.set_params(n_features_to_select=8).fit(X, y)
    expected = selector.indices_
    moved = np.exp(X * np.array([1, 2, 1e-3, 3, 1, 1, 1, 1, 1, 1, 1, 20.0])) + 1
    moved[:, 5] *= 1e120
    assert_array_equal(selector.fit(moved, y).indices_, expected)


@pytest.mark.parametrize(
    "selector", SELECTORS, ids=lambda selector: type(selector).__name__
)
def test_informative_columns_come_first_and_constant_ones_last(selector):
    rows = np.hstack([np.full((90, 2), 3.0), X, np.zeros((90, 1))])
    for name in ("two classes", "numbers"):
        order = (
            selector.set_params(n_features_to_select=15)
            .fit(rows, TARGETS[name])
            .indices_
        )
        assert set(order[:2]) == {2, 3}
        assert order[-3:].tolist() == [0, 1, 14]
    selector.set_params(n_features_to_select=1).fit(
        rows[:, [0, 2]], TARGETS["two classes"]
    )
    assert selector.indices_.tolist() == [1]


def test_the_log_likelihood_is_of_classes():
    selector = PermutationImportanceSelector(2, scoring="log_likelihood")
    with pytest.raises(
        ValueError,
        match=r"^PermutationImportanceSelector: a numeric target needs scoring='score'",
    ):
        selector.fit(X, TARGETS["numbers"])


def test_too_few_rows_to_hold_two_out():
    with pytest.raises(
        ValueError,
        match="expected at least two held-out rows, got 0 of n_samples = 3; fit it on more",
    ):
        PermutationImportanceSelector(2).fit(X[:3], ["a", "b", "c"])


def textbook_decisions(hits_of_rounds, alpha, two_step):
    """The tests in their own words, round by round: hits of shape (n_rounds, d)."""
    d = hits_of_rounds.shape[1]
    decisions = np.zeros(d, dtype=int)
    total = np.zeros(d, dtype=int)
    history = []
    for n_rounds, hits in enumerate(hits_of_rounds, 1):
        total += hits * (decisions >= 0)
        present = [j for j in range(d) if decisions[j] >= 0]
        chances = {1: [binom.sf(total[j] - 1, n_rounds, 0.5) for j in present]}
        chances[-1] = [binom.cdf(total[j], n_rounds, 0.5) for j in present]
        for decision, p in chances.items():
            if two_step:
                adjusted = false_discovery_control(p)
                passing = [
                    a <= alpha and b <= alpha / n_rounds
                    for a, b in zip(adjusted, p, strict=True)
                ]
            else:
                passing = [chance <= alpha / d for chance in p]
            for j, passes in zip(present, passing, strict=True):
                if passes and decisions[j] == 0:
                    decisions[j] = decision
        history.append(decisions.copy())
    return history


@pytest.mark.parametrize("two_step", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_decisions_of_boruta_are_the_textbooks_and_it_ends_when_none_can_change(
    seed, two_step
):
    drawn = np.random.default_rng(seed)
    chances = drawn.choice([0.0, 0.1, 0.5, 0.9, 1.0], size=14)
    rounds = (drawn.random((40, 14)) < chances).astype(int)
    history = textbook_decisions(rounds, 0.05, two_step)
    decisions = np.zeros(14, dtype=np.int64)
    hits = np.zeros(14, dtype=np.int64)
    settled_at = None
    for n_rounds, expected in enumerate(history, 1):
        hits += rounds[n_rounds - 1] * (decisions >= 0)
        decisions = decided(decisions, hits, n_rounds, 0.05, two_step=two_step)
        assert_array_equal(decisions, expected)
        if settled_at is None and is_settled(
            decisions, hits, n_rounds, 40, 0.05, two_step=two_step
        ):
            settled_at = n_rounds
    assert settled_at is not None
    assert_array_equal(history[settled_at - 1], history[-1])
    assert len(np.unique(decisions)) == 3


PACKAGES = Path(__file__).parents[1] / "data" / "packages"
TARGET_OF = runpy.run_path(str(PACKAGES / "make_boruta.py"))["target"]
BORUTA_PY = json.loads((PACKAGES / "boruta.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "case", BORUTA_PY["tables"], ids=lambda case: f"{case['two_step']}-{case['seed']}"
)
def test_decisions_are_those_of_boruta_py_on_the_same_hits(case):
    hits_of_rounds = np.array(case["hits"])
    decisions = np.zeros(hits_of_rounds.shape[1], dtype=np.int64)
    for n_rounds, (hits, expected) in enumerate(
        zip(hits_of_rounds, case["decisions"], strict=True), 1
    ):
        decisions = decided(
            decisions, hits, n_rounds, case["alpha"], two_step=case["two_step"]
        )
        assert decisions.tolist() == expected


@pytest.mark.parametrize("name", BORUTA_PY["fits"])
def test_features_are_those_that_boruta_py_confirms_or_cannot_decide(name):
    """Other permutations and forests, so that what is near chance may differ: it is tentative for either."""
    case = BORUTA_PY["fits"][name]
    drawn = np.random.default_rng(case["seed"])
    rows = drawn.standard_normal((case["n"], case["d"]))
    y = TARGET_OF(name, rows)
    selector = BorutaSelector(n_estimators=50, max_iter=30, random_state=0).fit(rows, y)
    theirs = set(case["confirmed"])
    unsure = set(case["tentative"])
    ours = set(np.flatnonzero(selector.confirmed_).tolist())
    assert ours ^ theirs <= unsure | set(np.flatnonzero(selector.tentative_).tolist())
    assert len(ours & theirs) >= 3


class Counting(RandomForestClassifier):
    """A forest that notes how many columns it is trained on."""

    widths: ClassVar[list[int]] = []

    def fit(self, X, y):
        self.widths.append(X.shape[1])
        return super().fit(X, y)


def test_boruta_counts_hits_and_drops_what_it_rejects():
    y = TARGETS["two classes"]
    selector = BorutaSelector(
        estimator=Counting(20, max_depth=4), max_iter=25, random_state=0
    ).fit(X, y)
    assert Counting.widths[0] == 24
    assert Counting.widths[-1] < 24
    assert len(Counting.widths) == selector.n_iter_
    assert set(np.flatnonzero(selector.confirmed_)) == {0, 1} == set(selector.indices_)
    assert (selector.hits_[[0, 1]] > 10).all()
    assert np.flatnonzero(selector.confirmed_ & selector.tentative_).size == 0
    copies = BorutaSelector(n_estimators=20, max_iter=20, random_state=0).fit(
        np.hstack([X, X[:, :2]]), y
    )
    assert set(copies.indices_) == {0, 1, 12, 13}, "copies are relevant too"


def test_boruta_keeps_nothing_of_noise_and_says_so():
    rows = np.random.default_rng(5).standard_normal((60, 30))
    with pytest.warns(
        UserWarning, match="BorutaSelector: the method keeps none of 30 features"
    ):
        selector = BorutaSelector(n_estimators=10, max_iter=20, random_state=0).fit(
            rows, np.arange(60) % 2
        )
    assert selector.indices_.size == 1
    assert not selector.confirmed_.any()
    # compared with any copy, instead of the best one, half of the noise gets hits
    eager = BorutaSelector(n_estimators=10, max_iter=20, perc=10, random_state=0).fit(
        rows, np.arange(60) % 2
    )
    assert eager.confirmed_.sum() > 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 1.0}, "expected alpha to be below 1, got 1.0"),
        ({"estimator": Ridge(fit_intercept=False)}, None),
        (
            {"estimator": LinearRegression()},
            r"expected an estimator with random_state and .* got LinearRegression\(\)",
        ),
    ],
)
def test_options_of_boruta_out_of_range(options, message):
    message = (
        message
        or "expected an estimator with feature_importances_ after fit, got Ridge"
    )
    with pytest.raises(ValueError, match=f"^BorutaSelector: {message}"):
        BorutaSelector(**options).fit(X, TARGETS["numbers"])


def test_a_forest_of_a_class_that_a_function_defines_is_asked():
    """Such a class has no name, by which fits on one view could share its order."""

    class Local(RandomForestClassifier):
        pass

    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 8))
    y = (X[:, 0] > 0).astype(int)
    local, named = (
        BorutaSelector(3, estimator=forest(10), max_iter=4, random_state=0).fit(X, y)
        for forest in (Local, RandomForestClassifier)
    )
    assert local.indices_.tolist() == named.indices_.tolist()
