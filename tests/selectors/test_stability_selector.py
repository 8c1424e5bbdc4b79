"""StabilitySelector: least angle regression step by step, halves, own selectors; and the bounds on false features."""

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.preprocessing import scale

from provsel.certificates import FalseSelections, certify
from provsel.kernels.least_angles import first_least_angles
from provsel.kernels.stability_bounds import concave_tail, unimodal_false_selections
from provsel.kernels.standardised import standardised_columns
from provsel.selectors import (
    LassoSelector,
    StabilitySelector,
    SVMRFESelector,
    UniformSelector,
)
from textbook import one_vs_rest

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 30))
NUMBERS = X[:, 0] - 2 * X[:, 1] + rng.standard_normal(60)
TARGETS = {
    "numbers": NUMBERS,
    "two classes": (X[:, 0] + X[:, 1] > 0).astype(int),
    "three classes": (X[:, 0] > 0).astype(int) + (X[:, 2] > 0.3),
}


def textbook(X, y, count):
    """Least angle regression: the residual moves at equal angles until the next column is as correlated."""
    residual = y - y.mean()
    columns = scale(X) / np.sqrt(len(X))
    active = [int(np.argmax(np.abs(columns.T @ residual)))]
    while len(active) < count:
        correlations = columns.T @ residual
        largest = np.abs(correlations[active]).max()
        A = columns[:, active]
        direction = A @ np.linalg.solve(A.T @ A, np.sign(correlations[active]))
        rates = columns.T @ direction
        least = largest * (1 - 1e-9)
        entering = None
        for feature in set(range(X.shape[1])) - set(active):
            for sign in (1, -1):
                closing = 1 - sign * rates[feature]
                step = (
                    (largest - sign * correlations[feature]) / closing
                    if closing > 1e-9
                    else np.inf
                )
                if step < least:
                    least = step
                    entering = feature
        if entering is None:
            break
        residual = residual - least * direction
        active.append(entering)
    return active


@pytest.mark.parametrize("count", [1, 12, 29])
def test_paths_of_all_samples_are_the_textbooks(count):
    samples = np.array([rng.permutation(60)[:31] for _ in range(5)])
    targets = np.stack(
        [NUMBERS, TARGETS["two classes"], -NUMBERS, NUMBERS**2, NUMBERS + 1e6]
    )
    paths = first_least_angles(
        standardised_columns(X * 1e3 + 7), samples, targets, count
    )
    for rows, target, path in zip(samples, targets, paths, strict=True):
        assert path.tolist() == textbook(X[rows], target[rows], count)


def test_paths_leave_out_copies_and_constant_columns_and_end_where_the_residual_is_zero():
    rows = np.arange(10)[None, :]
    wide = np.hstack(
        [np.ones((60, 1)), X[:, :4], X[:, :4], -X[:, :1], X[:, [0]] + X[:, [1]]]
    )
    path = first_least_angles(standardised_columns(wide), rows, NUMBERS[None, :], 11)[0]
    assert set(path.tolist()) <= {*range(1, 5), 10, -1}, "the first of equal columns"
    assert np.count_nonzero(path >= 0) == 4, "the rank"
    assert (path[4:] == -1).all()
    # the target is in the span of two columns: the path ends there
    exact = first_least_angles(
        standardised_columns(X),
        np.arange(60)[None, :],
        (X[:, 3] - X[:, 8])[None, :],
        30,
    )[0]
    assert {3, 8} <= set(exact[exact >= 0].tolist())
    assert exact[-1] == -1
    assert (
        first_least_angles(standardised_columns(X), rows, np.zeros((1, 60)), 3) == -1
    ).all()


@pytest.mark.parametrize("name", TARGETS)
def test_scores_are_shares_of_complementary_halves(name):
    y = TARGETS[name]
    selector = StabilitySelector(30, n_pairs=7, expected_false=0.5, random_state=4).fit(
        X, y
    )
    q = int(np.sqrt(0.5 * 0.8 * 30))
    assert selector.n_per_half_ == q
    drawn = np.random.default_rng(4)
    counts = np.zeros(30)
    targets = one_vs_rest(y)
    for _ in range(7):
        order = drawn.permutation(60)
        for half in (order[:30], order[30:]):
            paths = [textbook(X[half], target[half], q) for target in targets]
            merged = [feature for step in zip(*paths, strict=True) for feature in step]
            counts[list(dict.fromkeys(merged))[:q]] += 1
    np.testing.assert_array_equal(selector.scores_, counts / 14)
    assert (np.diff(selector.scores_[selector.indices_]) <= 0).all()
    own = StabilitySelector(
        n_pairs=7, expected_false=2.0, threshold=0.75, random_state=4
    ).fit(X, y)
    assert (own.scores_[own.indices_] >= 0.75).all()
    assert own.indices_.size == own.n_stable_ >= 1
    assert own.false_bound_ == own.n_per_half_**2 / (0.5 * 30) <= 2.0


@pytest.mark.parametrize("name", TARGETS)
def test_a_selector_of_ones_own_is_fitted_on_each_half(name):
    y = TARGETS[name]
    own = StabilitySelector(
        selector=SVMRFESelector(1), n_pairs=3, expected_false=2, random_state=0
    ).fit(X, y)
    drawn = np.random.default_rng(0)
    counts = np.zeros(30)
    task = "regression" if name == "numbers" else "classification"
    for _ in range(3):
        order = drawn.permutation(60)
        for half in (np.sort(order[:30]), np.sort(order[30:])):
            counts[
                SVMRFESelector(own.n_per_half_, task=task)
                .fit(X[half], y[half])
                .indices_
            ] += 1
    np.testing.assert_array_equal(own.scores_, counts / 6)


def test_random_selectors_draw_anew_on_each_half():
    selector = StabilitySelector(
        30, selector=UniformSelector(1, random_state=0), random_state=0
    ).fit(X, NUMBERS)
    shares = selector.scores_ * 30 / selector.n_per_half_
    assert 0.3 < shares.min() < shares.max() < 2.2
    assert selector.scores_.sum() == pytest.approx(selector.n_per_half_)


@pytest.mark.filterwarnings("ignore:.*the method keeps none:UserWarning")
def test_few_false_features_are_kept_where_nothing_is_informative_and_most_true_ones_where_some_are():
    """Theorem 1 by simulation; with every feature that is ever kept, as a negative control, the bound is broken."""
    false = []
    ever = []
    true = []
    for seed in range(40):
        drawn = np.random.default_rng(seed)
        rows = drawn.standard_normal((80, 100))
        noise = drawn.standard_normal(80)
        options = {
            "threshold": 0.6,
            "expected_false": 2.0,
            "n_pairs": 10,
            "random_state": seed,
        }
        selector = StabilitySelector(**options).fit(rows, noise)
        false.append(selector.n_stable_)
        ever.append(np.count_nonzero(selector.scores_))
        selector.fit(rows, 2 * rows[:, 4] - 2 * rows[:, 9] + noise)
        true.append(len({4, 9} & set(selector.indices_)))
    assert np.mean(false) <= 2.0
    assert np.mean(ever) > 10
    assert np.mean(true) > 1.9


def largest_unimodal_tail(mean, threshold, n_steps):
    """The largest P(Z >= threshold) of unimodal laws on 0, 1 / B, ..., 1, by a linear programme for each mode."""
    places = np.arange(n_steps + 1)
    tail = (places >= np.ceil(n_steps * threshold - 1e-9)).astype(float)
    largest = 0.0
    for mode in places:
        rises = np.eye(n_steps, n_steps + 1) - np.eye(n_steps, n_steps + 1, k=1)
        rises[mode:] *= -1
        A = np.vstack([rises, places / n_steps])
        b = np.append(np.zeros(n_steps), mean)
        solved = linprog(
            -tail, A_ub=A, b_ub=b, A_eq=np.ones((1, n_steps + 1)), b_eq=[1.0]
        )
        largest = max(largest, -solved.fun) if solved.status == 0 else largest
    return largest


@pytest.mark.parametrize("theta", [0.05, 0.3, 0.55])
@pytest.mark.parametrize("tau", [0.6, 0.65, 0.75, 0.8, 0.95, 1.0])
def test_the_unimodal_bound_is_the_largest_tail_of_unimodal_laws(theta, tau):
    bound = unimodal_false_selections(theta * 100, 100, tau, 10) / 100
    largest = largest_unimodal_tail(theta**2, 2 * tau - 1, 10)
    assert bound >= largest * (1 - 1e-9)
    if np.isfinite(bound):
        assert bound == pytest.approx(largest, rel=1e-6)
    half_a_step = unimodal_false_selections(theta * 100, 100, tau - 0.025, 10) / 100
    assert half_a_step >= largest_unimodal_tail(theta**2, 2 * tau - 1.05, 10) * (
        1 - 1e-9
    )


@pytest.mark.parametrize("r", [-1 / 2, -1 / 4])
@pytest.mark.parametrize(
    ("mean", "threshold"), [(0.1, 0.5), (0.05, 0.8), (0.2, 0.7), (0.01, 1.0)]
)
def test_no_concave_law_has_a_larger_tail_and_some_come_near(mean, threshold, r):
    bound = concave_tail(mean, threshold, 10, r)
    largest = 0.0
    places = np.arange(11)
    drawn = np.random.default_rng(1)
    for _ in range(6000):
        convex = 10 ** drawn.uniform(-3, 2) + places * drawn.choice(
            [0.0, 1.0]
        ) * 10 ** drawn.uniform(-2, 2)
        convex = convex + np.maximum(places - drawn.integers(11), 0) * drawn.choice(
            [0.0, 1.0]
        )
        law = convex ** (1 / r)
        last = drawn.integers(1, 11)
        law[last + 1 :] = 0.0
        law[last] *= drawn.uniform()
        law /= law.sum()
        if law @ places / 10 <= mean:
            largest = max(largest, law[places >= 10 * threshold - 1e-9].sum())
    assert 0.5 * bound <= largest <= bound * (1 + 1e-9)


def test_the_certificate_promises_for_the_own_number_only():
    selector = StabilitySelector(random_state=0).fit(X, NUMBERS)
    record = certify(selector, X, also=[FalseSelections]).false_selections
    assert record.state == "in expectation"
    assert (record.kept, record.per_half) == (
        selector.indices_.size,
        selector.n_per_half_,
    )
    assert (
        record.bound
        == selector.false_bound_
        >= record.unimodal_bound
        >= record.concave_bound
        > 0
    )
    loose = StabilitySelector(expected_false=300.0, threshold=0.51, random_state=0).fit(
        X, NUMBERS
    )
    assert certify(loose, X, also=[FalseSelections]).false_selections.state == "vacuous"
    with pytest.warns(
        UserWarning, match="the method keeps none of 30 features; kept the best one"
    ):
        none = StabilitySelector(threshold=1.0, random_state=0).fit(
            X, np.random.default_rng(9).standard_normal(60)
        )
    for unbounded in (
        StabilitySelector(2, random_state=0).fit(X, NUMBERS),
        none,
        UniformSelector(3).fit(X),
    ):
        record = certify(unbounded, X, also=[FalseSelections]).false_selections
        assert record.state == "no bound"
        assert np.isnan(record.bound)


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        (
            LassoSelector(),
            r"expected selector None, or .* got LassoSelector\(\); wrap a method that chooses its "
            r"own number",
        ),
        (
            "lasso",
            "expected selector None, or a provsel selector with n_features_to_select, got 'lasso'",
        ),
    ],
)
def test_selectors_that_take_no_number(selector, message):
    with pytest.raises(ValueError, match=f"^StabilitySelector: {message}"):
        StabilitySelector(selector=selector).fit(X, NUMBERS)


def test_too_few_rows_to_halve():
    with pytest.raises(
        ValueError, match=r"expected at least four rows, .*, got n_samples = 3"
    ):
        StabilitySelector().fit(X[:3], NUMBERS[:3])
