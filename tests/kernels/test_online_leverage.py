"""Online leverage scores against pseudo-inverses formed anew for each column; spans, random numbers, calibration."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from provsel.kernels.online_calibration import calibrated_pass, gram_factor, one_pass
from provsel.kernels.online_leverage import OnlineLeverage, Rule, theory_rate, uniforms

KEY = np.array([7, 11], dtype=np.uint64)
OPTIONS = {"one": {}, "project": {"outside_scores_one": False}, "ridge": {"ridge": 0.3}}


def low_rank(n, d, rank, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))


def counts(n, d, seed=0):
    """Duplicate and zero columns come of themselves."""
    return np.random.default_rng(seed).poisson(0.15, (n, d)).astype(float)


def textbook(X, rule, key):
    """Algorithm 1 with an n x n inverse or a pseudo-inverse of all kept columns for every column."""
    draws = uniforms(key, 0, X.shape[1])
    W = np.zeros((X.shape[0], 0))
    positions = []
    weights = []
    scores = []
    for i, a in enumerate(X.T):
        if rule.ridge:
            raw = a @ np.linalg.solve(W @ W.T + rule.ridge * np.eye(a.size), a)
        else:
            coefficients = (
                np.linalg.pinv(W, rcond=1e-11) @ a if W.shape[1] else np.zeros(0)
            )
            raw = coefficients @ coefficients
            if rule.outside_scores_one and np.linalg.norm(
                a - W @ coefficients
            ) > 1e-8 * np.linalg.norm(a):
                raw = 1.0
        scores.append(min((1 + rule.epsilon) * raw, 1.0))
        p = 1.0 if len(positions) < rule.n_initial else min(rule.rate * scores[-1], 1.0)
        if a.any() and draws[i] < p:
            positions.append(i)
            weights.append(1 / np.sqrt(p))
            W = np.column_stack([W, a * weights[-1]])
    return np.array(positions), np.array(weights), np.array(scores)


@pytest.mark.parametrize("rate", [0.3, 2.0, 50.0])
@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize(
    "X",
    [
        low_rank(15, 200, 6),
        low_rank(120, 80, 80),
        low_rank(250, 60, 40),
        low_rank(30, 150, 30, 1),
        counts(12, 250),
        np.zeros((4, 3)),
    ],
    ids=["low rank", "tall", "compressible", "full rank", "counts", "zeros"],
)
def test_scores_are_those_of_the_textbook(X, option, rate):
    rule = Rule(0.5, rate, n_initial=2, **OPTIONS[option])
    positions, weights, scores = textbook(X, rule, KEY)
    stream = one_pass(X, rule, KEY)
    assert_array_equal(stream.positions, positions)
    assert_allclose(stream.scores, scores, rtol=1e-9, atol=1e-11)
    assert_allclose(stream.weights, weights, rtol=1e-9)


@given(
    seed=st.integers(0, 10_000),
    rate=st.floats(0.05, 20.0),
    option=st.sampled_from(sorted(OPTIONS)),
)
@settings(max_examples=40, deadline=None)
def test_textbook_on_any_small_matrix(seed, rate, option):
    rng = np.random.default_rng(seed)
    n = rng.integers(1, 12)
    d = rng.integers(1, 90)
    rank = rng.integers(1, 8)
    X = low_rank(n, d, rank, seed) * (rng.random(d) < 0.9)
    rule = Rule(0.5, rate, n_initial=int(rng.integers(0, 3)), **OPTIONS[option])
    positions, _, scores = textbook(X, rule, KEY)
    stream = one_pass(X, rule, KEY)
    assert_array_equal(stream.positions, positions)
    assert_allclose(stream.scores, scores, rtol=1e-6, atol=1e-9)


def solved(A, b):
    """Return the solution of A x = b by elimination in fractions."""
    rows = [[*row, value] for row, value in zip(A, b, strict=True)]
    for i, row in enumerate(rows):
        for j in (j for j in range(len(rows)) if j != i):
            rows[j] = [
                x - rows[j][i] / row[i] * y for x, y in zip(rows[j], row, strict=True)
            ]
    return [row[-1] / row[i] for i, row in enumerate(rows)]


def test_scores_of_columns_of_very_different_lengths_have_all_digits():
    """A rank-one correction of the scores would subtract large numbers from large ones."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((18, 50)) * 10.0 ** rng.integers(-6, 6, 50)
    stream = calibrated_pass(X, 12, Rule(0.5, 1.0, outside_scores_one=False), KEY)
    exact = np.vectorize(Fraction, otypes=[object])(X.T)
    compared = 0
    for column in range(1, 50):
        before = [place for place, kept in enumerate(stream.positions) if kept < column]
        W = [exact[stream.positions[place]] for place in before]
        if len(W) < 18:
            W = np.array(W)  # of fractions, so that products are exact
            gram = (W @ W.T).tolist()
            inner = (W @ exact[column]).tolist()
            shares = zip(before, solved(gram, inner), strict=True)
            raw = sum((float(x) / stream.weights[place]) ** 2 for place, x in shares)
            assert stream.scores[column] == pytest.approx(
                min(1.5 * raw, 1.0), rel=1e-12
            )
            compared += 1
    assert compared == 49


def test_random_numbers_depend_on_the_position_only():
    whole = uniforms(KEY, 0, 1000)
    for start, count in [(0, 1), (3, 7), (4, 4), (997, 3), (501, 0)]:
        assert_array_equal(uniforms(KEY, start, count), whole[start : start + count])
    assert np.unique(whole).size == 1000
    assert abs(whole.mean() - 0.5) < 0.05
    assert not np.isin(uniforms(KEY + np.uint64(1), 0, 1000), whole).any()


# few columns are kept, and so many that the rows are compressed
@pytest.mark.parametrize("rate", [0.2, 3.0])
def test_a_pass_over_a_tall_matrix_is_a_stream_of_its_columns(rate):
    X = np.random.default_rng(4).standard_normal((300, 100))
    rule = Rule(0.5, rate)
    stream = one_pass(X, rule, KEY)
    positions, weights, scores = OnlineLeverage.start(300, rule, KEY).advance(X)
    assert_array_equal(stream.positions, positions)
    assert_allclose(stream.weights, weights, rtol=1e-12)
    assert_allclose(stream.scores, scores, rtol=1e-12)


def nearly_equal(distance):
    """20 columns three times, 300 x 60, the second and third time at a small distance in other directions."""
    A, first, second = np.random.default_rng(6).standard_normal((3, 300, 20))
    return np.column_stack([A, A + distance * first, A + distance * second])


@pytest.mark.parametrize(("distance", "is_compressed"), [(0.1, True), (1e-6, False)])
def test_the_gram_matrix_is_left_where_columns_are_nearly_dependent(
    distance, is_compressed
):
    X = nearly_equal(distance)
    rule = Rule(0.5, 0.5, outside_scores_one=False, n_initial=5)
    assert (gram_factor(X) is not None) == is_compressed
    stream = one_pass(X, rule, KEY)
    positions, weights, scores = OnlineLeverage.start(len(X), rule, KEY).advance(X)
    assert np.count_nonzero((scores > 0) & (scores < 1)) > 20
    assert_array_equal(stream.positions, positions)
    assert_allclose(stream.weights, weights, rtol=1e-9)
    assert_allclose(stream.scores, scores, atol=1e-9)


def test_without_its_condition_the_gram_matrix_would_change_scores(monkeypatch):
    X = nearly_equal(1e-6)
    rule = Rule(0.5, 0.5, outside_scores_one=False, n_initial=5)
    monkeypatch.setattr("provsel.kernels.online_calibration.SAFE", 0.0)
    stream = one_pass(X, rule, KEY)
    scores = OnlineLeverage.start(len(X), rule, KEY).advance(X)[2]
    assert np.abs(stream.scores - scores).max() > 1e-6


def test_rounded_dependent_columns_lie_in_the_span_in_single_precision():
    X = low_rank(60, 30, 4)
    rule = Rule(0.5, 1e-9, n_initial=8)
    exact = one_pass(X, rule, KEY).scores
    assert np.median(exact[8:]) < 1.0
    rounded = X.astype(np.float32)
    assert_allclose(one_pass(rounded, rule, KEY).scores, exact, rtol=1e-4)
    assert (one_pass(rounded.astype(np.float64), rule, KEY).scores == 1.0).all()


def test_theory_rate():
    assert theory_rate(1440, 0.5) == pytest.approx(232.7, abs=0.1)
    assert theory_rate(1, 0.5) == theory_rate(2, 0.5) > 0


@pytest.mark.parametrize("seed", range(2))
def test_calibration_finds_the_nearest_where_the_count_jumps(seed):
    """As printed, one column more opens the span for many others: the count jumps over r."""
    X = np.random.default_rng(seed).standard_normal((300, 80))
    rule = Rule(0.5, 1.0, outside_scores_one=False)
    grid = [
        one_pass(X, Rule(0.5, rate, False), KEY).positions.size
        for rate in np.geomspace(0.5, 200, 100)
    ]
    wanted = 30
    stream = calibrated_pass(X, wanted, rule, KEY)
    assert (
        abs(stream.positions.size - wanted)
        <= min(abs(size - wanted) for size in grid) + 3
    )


def test_calibration_stops_where_no_rate_keeps_more():
    X = np.zeros((5, 50))
    X[:, ::10] = low_rank(5, 5, 5)
    assert calibrated_pass(X, 20, Rule(0.5, 1.0), KEY).positions.size == 5
    assert calibrated_pass(np.zeros((5, 9)), 4, Rule(0.5, 1.0), KEY).positions.size == 0
