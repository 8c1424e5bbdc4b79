"""Statistics of one feature: against textbook loops and scikit-learn, and what must not change them."""

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.feature_selection import f_classif, f_regression

from provsel.selectors import FTestSelector
from provsel.training_view import TrainingView


def rows_of(n, d, n_classes, seed=0):
    """Return X, labels of classes that differ in some columns, and numbers that depend on some."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.exp(rng.standard_normal(d))
    y = rng.permutation(np.arange(n) % n_classes)
    X[:, ::4] += y[:, None]
    return X, y, X[:, :2].sum(axis=1) + rng.standard_normal(n)


SHAPES = {"tall": (60, 5, 3), "wide": (20, 40, 2), "few rows": (5, 4, 2), "one column": (12, 1, 2)}


@pytest.mark.parametrize("shape", SHAPES)
def test_f_test_is_scikit_learn_s_and_the_textbook_s(shape):
    X, y, numbers = rows_of(*SHAPES[shape])
    n = len(y)
    classes = FTestSelector(1).fit(X, y)
    for j, column in enumerate(X.T):
        groups = [column[y == label] for label in np.unique(y)]
        between = sum(len(group) * (group.mean() - column.mean()) ** 2 for group in groups) / (len(groups) - 1)
        within = sum(((group - group.mean()) ** 2).sum() for group in groups) / (n - len(groups))
        assert classes.scores_[j] == pytest.approx(between / within, rel=1e-10)
    assert classes.p_values_ == pytest.approx(f_classif(X, y)[1], rel=1e-6)
    regression = FTestSelector(1).fit(X, numbers)
    expected, p_values = f_regression(X, numbers)
    assert regression.scores_ == pytest.approx(expected, rel=1e-8)
    assert regression.p_values_ == pytest.approx(p_values, rel=1e-6)
    np.testing.assert_array_equal(np.argsort(-regression.scores_), np.argsort(regression.ranking_))


@pytest.mark.parametrize("is_regression", [False, True])
def test_weights_are_repeated_rows_and_sparse_rows_are_dense_ones(is_regression):
    X, y, numbers = rows_of(40, 30, 3)
    X[X < 0.5] = 0.0
    target = numbers if is_regression else y
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), weight)
    expected = FTestSelector(5).fit(X[repeated], target[repeated])
    for form in (np.asarray, sparse.csr_array):
        weighted = FTestSelector(5).fit(form(X), target, sample_weight=weight)
        assert weighted.scores_ == pytest.approx(expected.scores_, rel=1e-9)
        assert weighted.p_values_ == pytest.approx(expected.p_values_, rel=1e-7)
        np.testing.assert_array_equal(weighted.indices_, expected.indices_)
    assert FTestSelector(5).fit(X, target).scores_ != pytest.approx(expected.scores_, rel=0.01)


BAD_WEIGHTS = {
    "short": (np.ones(39), r"expected sample_weight of shape \(40,\), one for each row, got shape \(39,\)"),
    "negative": (np.arange(40) - 1.0, "expected sample_weight that is not negative, and not all zeros, got .* from -1"),
    "zero": (np.zeros(40), "not all zeros, got values from 0 to 0"),
    "NaN": (np.full(40, np.nan), "sample_weight contains NaN"),
    "of one class": (np.arange(40) % 2, "at least two classes, got 1 class"),
}


@pytest.mark.parametrize("fault", BAD_WEIGHTS)
def test_bad_weights_are_named(fault):
    weight, message = BAD_WEIGHTS[fault]
    with pytest.raises(ValueError, match=message):
        FTestSelector(1).fit(np.eye(40), np.arange(40) % 2, sample_weight=weight)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("is_regression", [False, True])
def test_f_test_of_columns_far_from_zero_constant_or_explained_whole(form, is_regression):
    n = 20_000
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    target = rng.standard_normal(n) if is_regression else y
    noise = rng.standard_normal(n) + 0.1 * target
    X = np.column_stack([np.full(n, 0.1), noise, 1e6 + 1e-3 * noise, np.full(n, 1e9), 0.1 + 0.2 * target, noise])
    fitted = FTestSelector(6).fit(form(X), target)
    assert fitted.indices_[0] == 4
    assert fitted.scores_[4] > 1e15
    assert fitted.scores_[[0, 3]].tolist() == [0.0, 0.0]
    assert set(fitted.indices_[-2:].tolist()) == {0, 3}
    assert fitted.scores_[2] == pytest.approx(fitted.scores_[1], rel=1e-4 if form is np.asarray else 1e-3)
    assert fitted.ranking_[1] < fitted.ranking_[5], "the first of equal ones"


def test_fits_on_one_view_share_the_order():
    X, y, _ = rows_of(60, 8, 3)
    view = TrainingView(X, y)
    largest = FTestSelector(8).fit_view(view)
    with view.metered() as meter:
        smaller = FTestSelector(3).fit_view(view)
    np.testing.assert_array_equal(smaller.indices_, largest.indices_[:3])
    np.testing.assert_array_equal(smaller.ranking_, largest.ranking_)
    assert meter.shared.wall > 0
    assert stats.rankdata(-largest.scores_).tolist() == largest.ranking_.tolist()
