"""AlphaInvestingSelector against a version that refits least squares at each column; wealth, errors, false ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import chi2
from test_regression import NUMBERS

from provsel.kernels import alpha_investing as kernel
from provsel.selectors import AlphaInvestingSelector


def refitting(X, target, wealth=0.5, delta=0.5, p_value="likelihood_ratio"):
    """Least squares from scratch on the constant, all accepted columns and the new one."""
    n = len(X)

    def rss(columns):
        A = np.column_stack([np.ones(n), (X - X.mean(axis=0))[:, columns]])
        return np.sum((target - A @ np.linalg.lstsq(A, target, rcond=1e-10)[0]) ** 2)

    accepted = []
    p_values = []
    path = []
    for i in range(X.shape[1]):
        level = wealth / (2 * (i + 1))
        before = rss(accepted)
        after = rss([*accepted, i])
        ratio = n * max(before - after, 0) / before
        p = np.exp(-ratio / 2) if p_value == "likelihood_ratio" else chi2.sf(ratio, 1)
        wealth -= level
        if p < level:
            accepted.append(i)
            wealth += delta
        p_values.append(p)
        path.append(wealth)
    return accepted, p_values, path


def problem(n=80, d=150, seed=0, n_classes=2):
    """Every seventh feature carries the label; some columns are correlated, some repeat or are constant."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.standard_normal((n, d)) + 0.5 * rng.standard_normal((n, 1))
    X[:, ::7] += 0.8 * y[:, None]
    X[:, 8] = 3.0
    X[:, 15] = X[:, 0] - 2 * X[:, 14] + 1
    return X, y


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("p_value", ["likelihood_ratio", "chi2"])
@pytest.mark.parametrize("name", ["two classes", "other rows", *NUMBERS])
def test_it_accepts_what_refitting_accepts(form, p_value, name):
    X, y = {"two classes": problem(), "other rows": problem(seed=1), **NUMBERS}[name]
    task = "regression" if name in NUMBERS else "classification"
    selector = AlphaInvestingSelector(wealth=5.0, p_value=p_value, task=task).fit(
        form(X), y
    )
    accepted, p_values, path = refitting(X, y, wealth=5.0, p_value=p_value)
    assert len(accepted) > (0 if name in NUMBERS else 3)
    assert_array_equal(selector.indices_, accepted)
    assert selector.n_accepted_ == len(accepted)
    assert_allclose(
        selector.p_values_,
        [p_values],
        rtol=1e-5 if name in NUMBERS else 1e-7,
        atol=1e-12,
    )
    assert_allclose(selector.wealth_, [path], rtol=1e-12)
    assert hasattr(selector, "classes_") == (name not in NUMBERS)


@settings(max_examples=30, deadline=None)
@given(
    st.integers(5, 40),
    st.integers(1, 30),
    st.integers(0, 10**6),
    st.floats(0.05, 5),
    st.floats(0.05, 0.95),
)
def test_it_accepts_what_refitting_accepts_anywhere(n, d, seed, wealth, delta):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n, d)).astype(float)
    y = (X[:, :3].sum(axis=1) + rng.standard_normal(n) > 0).astype(int)
    if np.ptp(y) == 0:
        y[0] = 1 - y[0]
    result = kernel.alpha_investing(
        X, y.astype(float), wealth=wealth, delta=delta, p_value="likelihood_ratio"
    )
    # up to the column where the accepted ones explain all, after which refitting
    # divides rounding by rounding
    stop = d
    for i in range(d):
        A = np.column_stack([np.ones(n), X[:, result.accepted[result.accepted <= i]]])
        if np.sum((y - A @ np.linalg.lstsq(A, y, rcond=1e-10)[0]) ** 2) < 1e-12:
            stop = i + 1
            break
    accepted, p_values, _ = refitting(X[:, :stop], y, wealth, delta)
    assert_array_equal(result.accepted[result.accepted < stop], accepted)
    assert_allclose(result.p_values[:stop], p_values, rtol=1e-6, atol=1e-9)
    assert (result.p_values[stop:] == 1).all()


def test_one_vs_rest_sees_a_class_in_the_middle_that_codes_do_not():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 60)
    X = rng.standard_normal((180, 3))
    X[:, 1] += 3 * (y == 1)
    with pytest.warns(UserWarning, match="none of 3 features was accepted"):
        assert AlphaInvestingSelector().fit(X, y).n_accepted_ == 0
    assert 1 in AlphaInvestingSelector(target="one_vs_rest").fit(X, y).indices_


def test_two_classes_are_one_pass_whatever_their_names():
    X, y = problem()
    expected = AlphaInvestingSelector().fit(X, y)
    for labels in (2 * y - 1, np.where(y, "spam", "ham"), 1 - y):
        for target in ("codes", "one_vs_rest"):
            fitted = AlphaInvestingSelector(target=target).fit(X, labels)
            assert_array_equal(fitted.indices_, expected.indices_)
            assert_allclose(fitted.p_values_, expected.p_values_, rtol=1e-7, atol=1e-12)
            assert_array_equal(fitted.classes_, np.unique(labels))


@pytest.mark.parametrize("target", ["codes", "one_vs_rest"])
def test_the_stream_stops_at_the_number_asked_for(target):
    """The shortest stream that accepts as many, by any pass, ends with the last one kept."""
    X, y = problem(n=150, n_classes=4, seed=4)
    whole = AlphaInvestingSelector(wealth=5.0, target=target).fit(X, y)
    assert whole.n_accepted_ == whole.indices_.size > 6
    assert_array_equal(  # more than the wealth buys
        AlphaInvestingSelector(150, wealth=5.0, target=target).fit(X, y).indices_,
        whole.indices_,
    )
    for most in (2, 4, whole.n_accepted_ - 1):
        fitted = AlphaInvestingSelector(most, wealth=5.0, target=target).fit(X, y)
        assert (
            fitted.indices_.size
            == fitted.weights_.size
            == fitted.transform(X).shape[1]
            == most
        )
        last = fitted.indices_[-1]
        stopped = AlphaInvestingSelector(wealth=5.0, target=target).fit(
            X[:, : last + 1], y
        )
        assert_array_equal(fitted.indices_, stopped.indices_)
        assert (
            AlphaInvestingSelector(wealth=5.0, target=target)
            .fit(X[:, :last], y)
            .n_accepted_
            == most - 1
        )
        assert fitted.n_accepted_ == whole.n_accepted_
        assert_array_equal(fitted.p_values_, whole.p_values_)


def test_columns_that_several_passes_accept_count_once():
    X, y = problem(n=150, n_classes=4, seed=4)
    passes, p_values, paths = zip(
        *(refitting(X, (y == c).astype(float), wealth=5.0) for c in range(4)),
        strict=True,
    )
    order = sorted(set().union(*passes))
    assert sum(map(len, passes)) > len(order)
    assert len(set(map(len, passes))) > 1
    fitted = AlphaInvestingSelector(wealth=5.0, target="one_vs_rest").fit(X, y)
    assert fitted.indices_.tolist() == order
    assert_allclose(fitted.p_values_, p_values, rtol=1e-7, atol=1e-12)
    assert_allclose(fitted.wealth_, paths, rtol=1e-12)
    assert (
        fitted.set_params(n_features_to_select=5).fit(X, y).indices_.tolist()
        == order[:5]
    )


def test_a_perfect_fit_leaves_nothing_to_explain():
    X, y = problem()
    X[:, 2] = y * 3.0 - 1
    selector = AlphaInvestingSelector().fit(X, y)
    assert 2 in selector.indices_
    assert selector.indices_[-1] == 2
    assert (selector.p_values_[0, 3:] == 1).all()


@pytest.mark.parametrize("p_value", ["likelihood_ratio", "chi2"])
def test_many_acceptances_in_one_block_are_those_of_refitting(p_value):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((300, 60)) + rng.standard_normal((300, 1))
    # nearly dependent, between others
    X[:, 40:45] = X[:, :5] + 1e-7 * rng.standard_normal((300, 5))
    y = X @ (rng.standard_normal(60) * 10.0 ** -np.linspace(0, 4, 60))
    together = kernel.alpha_investing(X, y, wealth=0.5, delta=0.5, p_value=p_value)
    assert together.accepted.size > 10
    accepted, _, path = refitting(X, y, p_value=p_value)
    assert_array_equal(together.accepted, accepted)
    assert_allclose(together.wealth, path, rtol=1e-12)


def test_a_level_above_one_accepts_no_column_of_the_span():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((50, 5))
    X = np.column_stack(
        [X[:, 0], np.full(50, 2.0), np.zeros(50), X[:, 0] * 3 - 1, X[:, 1:]]
    )
    y = (X[:, 0] + rng.standard_normal(50) > 0).astype(float)
    result = kernel.alpha_investing(
        X, y, wealth=100.0, delta=0.5, p_value="likelihood_ratio"
    )
    assert not np.isin([1, 2, 3], result.accepted).any()
    assert result.accepted.size == 5
    assert (result.p_values[1:4] == 1).all()


def test_the_residual_meets_the_normal_equations():
    """A basis that was made orthogonal only once would leave 1e-16 / 1e-6 here."""
    rng = np.random.default_rng(1)
    E = rng.standard_normal((60, 40))
    y = E[:, :20].sum(axis=1) + rng.standard_normal(60)
    X = np.cumsum(np.column_stack([E[:, 0], 1e-6 * E[:, 1:]]), axis=1)
    result = kernel.alpha_investing(
        X, y, wealth=100.0, delta=0.9, p_value="likelihood_ratio"
    )
    assert result.accepted.size > 5
    A = np.column_stack([np.ones(60), X[:, result.accepted]])
    left = np.abs(A.T @ result.residual) / np.linalg.norm(A, axis=0) / np.linalg.norm(y)
    assert left.max() < 1e-13


def test_nothing_accepted_keeps_the_best_with_a_warning():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 6))
    y = np.arange(50) % 2
    with pytest.warns(
        UserWarning,
        match=r"none of 6 features was accepted; kept the one with the smallest p-value",
    ):
        selector = AlphaInvestingSelector(wealth=1e-6).fit(X, y)
    assert selector.n_accepted_ == 0
    correlations = [abs(np.corrcoef(x, y)[0, 1]) for x in X.T]
    assert selector.indices_.tolist() == [np.argmax(correlations)]
