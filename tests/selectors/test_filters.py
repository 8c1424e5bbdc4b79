"""Filters and greedy filters: against textbook loops and packages, and what must not change them."""

import json
import runpy
import warnings
from pathlib import Path

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_array_equal
from scipy import sparse, stats
from scipy.special import digamma
from sklearn.feature_selection import (
    chi2,
    f_classif,
    f_regression,
    mutual_info_classif,
    mutual_info_regression,
)
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import minmax_scale

from provsel.selectors import (
    ChiSquaredSelector,
    FTestSelector,
    JMISelector,
    MRMRSelector,
    MutualInformationSelector,
    RankTestSelector,
    ShrunkenCentroidsSelector,
)

PACKAGES = Path(__file__).parents[1] / "data" / "packages"
INPUTS = runpy.run_path(str(PACKAGES / "make_filters.py"))
STORED = json.loads((PACKAGES / "filters.json").read_text(encoding="utf-8"))


def rows_of(n, d, n_classes, seed=0):
    """Return X, labels of classes that differ in some columns, and numbers that depend on some."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.exp(rng.standard_normal(d))
    y = rng.permutation(np.arange(n) % n_classes)
    X[:, ::4] += y[:, None]
    return X, y, X[:, :2].sum(axis=1) + rng.standard_normal(n)


SHAPES = {
    "tall": (60, 5, 3),
    "wide": (20, 40, 2),
    "few rows": (5, 4, 2),
    "one column": (12, 1, 2),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_f_test_is_scikit_learn_s_and_the_textbook_s(shape):
    X, y, numbers = rows_of(*SHAPES[shape])
    n = len(y)
    classes = FTestSelector(1).fit(X, y)
    for j, column in enumerate(X.T):
        groups = [column[y == label] for label in np.unique(y)]
        between = sum(
            len(group) * (group.mean() - column.mean()) ** 2 for group in groups
        ) / (len(groups) - 1)
        within = sum(((group - group.mean()) ** 2).sum() for group in groups) / (
            n - len(groups)
        )
        assert classes.scores_[j] == pytest.approx(between / within, rel=1e-10)
    assert classes.p_values_ == pytest.approx(f_classif(X, y)[1], rel=1e-6)
    regression = FTestSelector(1).fit(X, numbers)
    expected, p_values = f_regression(X, numbers)
    assert regression.scores_ == pytest.approx(expected, rel=1e-8)
    assert regression.p_values_ == pytest.approx(p_values, rel=1e-6)
    assert_array_equal(np.argsort(-regression.scores_), np.argsort(regression.ranking_))


WEIGHTED = [
    (FTestSelector, False), (FTestSelector, True), (ChiSquaredSelector, False), (ShrunkenCentroidsSelector, False),
]  # fmt: skip


@pytest.mark.parametrize(("selector", "is_regression"), WEIGHTED)
def test_weights_are_repeated_rows_and_sparse_rows_are_dense_ones(
    selector, is_regression
):
    X, y, numbers = rows_of(40, 30, 3)
    X[X < 0.5] = 0.0
    target = numbers if is_regression else y
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), weight)
    expected = selector(5).fit(X[repeated], target[repeated])
    for form in (np.asarray, sparse.csr_array):
        weighted = selector(5).fit(form(X), target, sample_weight=weight)
        assert weighted.scores_ == pytest.approx(expected.scores_, rel=1e-9)
        assert_array_equal(weighted.indices_, expected.indices_)
        if selector is not ShrunkenCentroidsSelector:
            assert weighted.p_values_ == pytest.approx(expected.p_values_, rel=1e-7)
    assert selector(5).fit(X, target).scores_ != pytest.approx(
        expected.scores_, rel=0.01
    )


def test_weights_are_routed():
    X, y, _ = rows_of(40, 10, 2)
    weight = np.where(np.arange(40) < 20, 1.0, 0.0)
    with sklearn.config_context(enable_metadata_routing=True):
        selector = FTestSelector(2).set_fit_request(sample_weight=True)
        pipeline = make_pipeline(
            selector, LogisticRegression().set_fit_request(sample_weight=False)
        )
        routed = pipeline.fit(X, y, sample_weight=weight)[0]
    assert_array_equal(routed.scores_, FTestSelector(2).fit(X[:20], y[:20]).scores_)


BAD_WEIGHTS = {
    "short": (
        np.ones(39),
        r"expected sample_weight of shape \(40,\), one for each row, got shape \(39,\)",
    ),
    "negative": (
        np.arange(40) - 1.0,
        "expected sample_weight without negative values, .* from -1",
    ),
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
def test_f_test_of_columns_far_from_zero_constant_or_explained_whole(
    form, is_regression
):
    n = 20_000
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    target = rng.standard_normal(n) if is_regression else y
    noise = rng.standard_normal(n) + 0.1 * target
    X = np.column_stack(
        [
            np.full(n, 0.1),
            noise,
            1e6 + 1e-3 * noise,
            np.full(n, 1e9),
            0.1 + 0.2 * target,
            noise,
        ]
    )
    fitted = FTestSelector(6).fit(form(X), target)
    assert fitted.indices_[0] == 4
    assert fitted.scores_[4] > 1e15
    assert fitted.scores_[[0, 3]].tolist() == [0.0, 0.0]
    assert set(fitted.indices_[-2:].tolist()) == {0, 3}
    assert fitted.scores_[2] == pytest.approx(
        fitted.scores_[1], rel=1e-4 if form is np.asarray else 1e-3
    )
    assert fitted.ranking_[1] < fitted.ranking_[5], "the first of equal ones"


def lattice(n, d, n_classes):
    """Return rows with many equal values and zeros, as they come dense and sparse."""
    X, y, numbers = rows_of(n, d, n_classes)
    X = np.round(X, 1) * (np.random.default_rng(2).random(X.shape) < 0.6)
    return X, y, np.round(numbers, 1) + 0.05


def kruskal(column, y):
    return stats.kruskal(*(column[y == label] for label in np.unique(y)))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shape", SHAPES)
def test_rank_tests_are_scipy_s(shape, form):
    X, y, numbers = lattice(*SHAPES[shape])
    varied = np.ptp(X, axis=0) > 0
    classes = RankTestSelector(1).fit(form(X), y)
    tests = [kruskal(column, y) for column in X[:, varied].T]
    assert classes.scores_[varied] == pytest.approx(
        [test.statistic for test in tests], rel=1e-9
    )
    assert classes.p_values_[varied] == pytest.approx(
        [test.pvalue for test in tests], rel=1e-9
    )
    regression = RankTestSelector(1).fit(form(X), numbers)
    tests = [stats.spearmanr(column, numbers) for column in X[:, varied].T]
    assert regression.scores_[varied] == pytest.approx(
        np.abs([test.statistic for test in tests]), rel=1e-9, abs=1e-12
    )
    assert regression.p_values_[varied] == pytest.approx(
        [test.pvalue for test in tests], rel=1e-7, abs=1e-12
    )
    assert not classes.scores_[~varied].any()
    monotone = RankTestSelector(1).fit(form(np.sign(X) * np.expm1(np.abs(X))), y)
    assert_array_equal(monotone.scores_, classes.scores_)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shape", SHAPES)
def test_centroids_and_counts_are_scikit_learn_s(shape, form):
    X, y, _ = lattice(*SHAPES[shape])
    weight = 1 + np.arange(len(y)) % 3
    repeated = np.repeat(np.arange(len(y)), weight)
    deviations = (
        NearestCentroid(shrink_threshold=1e-14)
        .fit(X[repeated], y[repeated])
        .deviations_
    )
    centroids = ShrunkenCentroidsSelector(1).fit(form(X), y, sample_weight=weight)
    assert centroids.scores_ == pytest.approx(
        np.abs(deviations).max(axis=0), rel=1e-9, abs=1e-12
    )
    threshold = float(np.median(centroids.scores_))
    shrunken = NearestCentroid(shrink_threshold=threshold * (1 + 1e-9)).fit(
        X[repeated], y[repeated]
    )
    assert_array_equal(
        shrunken.deviations_.any(axis=0), centroids.scores_ > threshold * (1 + 1e-9)
    )
    counts = ChiSquaredSelector(1).fit(form(np.abs(X)), y, sample_weight=weight)
    with warnings.catch_warnings(action="ignore"):
        statistic, p_values = chi2(np.abs(X[repeated]), y[repeated])
    assert counts.scores_ == pytest.approx(
        np.nan_to_num(statistic), rel=1e-9, abs=1e-12
    )
    assert counts.p_values_ == pytest.approx(np.nan_to_num(p_values, nan=1.0), rel=1e-7)
    with pytest.raises(
        ValueError,
        match=r"ChiSquaredSelector: Negative values .* got -.*; use FTestSelector",
    ):
        ChiSquaredSelector(1).fit(form(-np.abs(X)), y)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shift", [0.0, 2.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_counts_of_columns_in_a_range_are_those_of_min_max_scaling(shape, shift, form):
    """Negative values, columns without a zero and constant ones; weighted rows are repeated ones."""
    X, y, _ = lattice(*SHAPES[shape])
    X = np.column_stack([X + shift, np.full(len(y), 3.0)])
    weight = np.arange(len(y)) % 3
    weight[[0, -1]] = 1
    repeated = np.repeat(np.arange(len(y)), weight)
    with warnings.catch_warnings(action="ignore"):
        statistic, p_values = chi2(minmax_scale(X[repeated]), y[repeated])
    counts = ChiSquaredSelector(1, scale="range").fit(form(X), y, sample_weight=weight)
    assert counts.scores_ == pytest.approx(
        np.nan_to_num(statistic), rel=1e-8, abs=1e-12
    )
    assert counts.p_values_ == pytest.approx(np.nan_to_num(p_values, nan=1.0), rel=1e-7)
    other_units = ChiSquaredSelector(1, scale="range").fit(
        form(X * 1e3), y, sample_weight=weight
    )
    assert other_units.scores_ == pytest.approx(counts.scores_, rel=1e-8, abs=1e-12)


def information_of_neighbors(x, y, k, is_number):
    """Return the estimates of Kraskov et al. and of Ross, by all distances."""
    n = len(x)
    terms = []
    for i in range(n):
        others = np.arange(n) != i
        gaps = np.abs(x - x[i])
        if is_number:
            radius = np.sort(np.maximum(gaps, np.abs(y - y[i]))[others])[k - 1]
            near = (
                np.sum(gaps[others] < radius),
                np.sum(np.abs(y - y[i])[others] < radius),
            )
            terms.append(digamma(k) - digamma(near[0] + 1) - digamma(near[1] + 1))
        else:
            own = np.sort(gaps[others & (y == y[i])])
            nearest = min(k, own.size)
            near = np.sum(gaps < own[nearest - 1])
            terms.append(digamma(nearest) - digamma(own.size + 1) - digamma(near))
    return max(0.0, digamma(n) + np.mean(terms))


@pytest.mark.parametrize("k", [1, 3, 6])
@pytest.mark.parametrize("shape", [(60, 5, 3), (20, 40, 2), (9, 4, 2), (1200, 2, 2)])
def test_mutual_information_is_scikit_learn_s_and_the_textbook_s(shape, k):
    X, y, numbers = rows_of(*shape)
    for target, theirs in ((y, mutual_info_classif), (numbers, mutual_info_regression)):
        fitted = MutualInformationSelector(1, n_neighbors=k, random_state=0).fit(
            X, target
        )
        scaled = target / target.std() if target is numbers else target
        for score, column in zip(fitted.scores_, (X / X.std(axis=0)).T, strict=True):
            expected = information_of_neighbors(column, scaled, k, target is numbers)
            assert score == pytest.approx(expected, rel=1e-9, abs=1e-9)
        if 2 * k < len(y) // 3:  # else scikit-learn takes distances from inner products
            expected = theirs(X, target, n_neighbors=k, random_state=0)
            assert fitted.scores_ == pytest.approx(expected, rel=1e-12, abs=1e-12)


# where strips are searched, and where not
@pytest.mark.parametrize("n_samples", [300, 700])
def test_mutual_information_of_codes_and_of_columns_with_equal_values_is_scikit_learn_s(
    n_samples,
):
    X, y, numbers = lattice(n_samples, 12, 3)
    X = np.round(2 * X)
    codes = np.random.default_rng(3).poisson(1.0, (n_samples, 12)) + y[:, None] * (
        np.arange(12) % 3 == 0
    )
    X[:, ::2] = codes[:, ::2]
    for target, theirs in ((y, mutual_info_classif), (numbers, mutual_info_regression)):
        for discrete in (True, False, np.arange(0, 12, 2), np.arange(12) % 2 == 0):
            fitted = MutualInformationSelector(
                1, discrete_features=discrete, random_state=4
            ).fit(X, target)
            expected = theirs(X, target, discrete_features=discrete, random_state=4)
            # where scikit-learn's rounding counts a neighbour at the very radius, each
            # count is 1 / (300 * 4) or less
            assert fitted.scores_ == pytest.approx(expected, abs=0.01)
            assert np.median(np.abs(fitted.scores_ - expected)) < 1e-12
        in_sparse = MutualInformationSelector(1, random_state=4).fit(
            sparse.csr_array(X), target
        )
        dense = MutualInformationSelector(
            1, discrete_features=True, random_state=4
        ).fit(X, target)
        assert in_sparse.scores_ == pytest.approx(dense.scores_, rel=1e-12)
    with pytest.raises(
        ValueError,
        match="in sparse X all features must be discrete, got 12 that are not; make X",
    ):
        MutualInformationSelector(1, discrete_features=False).fit(
            sparse.csr_array(X), y
        )
    with pytest.raises(
        ValueError,
        match="expected n_neighbors to be below the number of rows, n_samples = 5, got 5",
    ):
        MutualInformationSelector(1, n_neighbors=5).fit(X[:5], numbers[:5])


@pytest.mark.parametrize("denominator", ["mean", "max"])
@pytest.mark.parametrize("name", STORED["mrmr"])
def test_mrmr_picks_what_mrmr_selection_picks(name, denominator):
    X, y, numbers = INPUTS["inputs"]()[name]
    for kind, target in (("classes", y), ("numbers", numbers)):
        expected = STORED["mrmr"][name][f"{kind} {denominator}"]
        for form in (np.asarray, sparse.csr_array):
            selector = MRMRSelector(len(expected), denominator=denominator).fit(
                form(X), target
            )
            assert selector.indices_.tolist() == expected


def entropy(*columns):
    counts = np.unique(np.column_stack(columns), axis=0, return_counts=True)[1]
    return -np.sum(counts / counts.sum() * np.log(counts / counts.sum()))


def shared(x, z, *conditions):
    """Return I(x; z | given)."""
    if conditions:
        return (
            entropy(x, *conditions)
            + entropy(z, *conditions)
            - entropy(x, z, *conditions)
            - entropy(*conditions)
        )
    return entropy(x) + entropy(z) - entropy(x, z)


GAINS = {  # of a feature x, those picked before, and the class
    "mim": lambda x, picked, y: shared(x, y),
    "mifs": lambda x, picked, y: shared(x, y) - sum(shared(x, k) for k in picked),
    "cife": lambda x, picked, y: (
        shared(x, y) - sum(shared(x, k) - shared(x, k, y) for k in picked)
    ),
    "condred": lambda x, picked, y: shared(x, y) + sum(shared(x, k, y) for k in picked),
    "icap": lambda x, picked, y: (
        shared(x, y) - sum(max(0, shared(x, k) - shared(x, k, y)) for k in picked)
    ),
    "jmi": lambda x, picked, y: sum(shared(10 * x + k, y) for k in picked),
    "jmim": lambda x, picked, y: min(shared(10 * x + k, y) for k in picked),
    "cmim": lambda x, picked, y: min(shared(x, y, k) for k in picked),
    "disr": lambda x, picked, y: sum(
        shared(10 * x + k, y) / entropy(x, k, y) for k in picked
    ),
    "quotient": lambda x, picked, y: (
        shared(x, y) / np.mean([shared(x, k) for k in picked])
    ),
    "difference": lambda x, picked, y: (
        shared(x, y) - np.mean([shared(x, k) for k in picked])
    ),
}


@pytest.mark.parametrize("criterion", GAINS)
def test_greedy_picks_are_the_textbook_s(criterion):
    rng = np.random.default_rng(5)
    X = rng.integers(0, 3, (80, 8))
    y = (X[:, 1] + X[:, 4] + rng.integers(0, 2, 80)) % 3
    X[:, 6] = np.where(rng.random(80) < 0.8, X[:, 1], X[:, 6])
    if criterion in ("quotient", "difference"):
        both = {"relevance": "mutual_information", "redundancy": "mutual_information"}
        selector = MRMRSelector(
            6, scheme=criterion, floor=0.0, discrete_features=True, **both
        )
    else:
        selector = JMISelector(6, criterion=criterion, discrete_features=True)
    picked = selector.fit(X, y).indices_.tolist()
    expected = [int(np.argmax([shared(x, y) for x in X.T]))]
    while len(expected) < 6:
        left = [j for j in range(8) if j not in expected]
        picked_columns = list(X[:, expected].T)
        gains = [GAINS[criterion](X[:, j], picked_columns, y) for j in left]
        expected.append(left[int(np.argmax(gains))])
    assert picked == expected
    assert selector.scores_ == pytest.approx([shared(x, y) for x in X.T], rel=1e-9)


@pytest.mark.parametrize("name", ["wide", "tall", "copies"])
def test_greedy_picks_of_codes_are_scikit_feature_s(name):
    X, y, _ = INPUTS["inputs"]()[name]
    codes = INPUTS["codes"](X)[:, :25]
    for criterion, expected in STORED["skfeature"][name].items():
        picked = (
            JMISelector(10, criterion=criterion, discrete_features=True)
            .fit(codes, y)
            .indices_.tolist()
        )
        constant = 6 if name == "copies" else -1  # a constant, which is last here
        assert (
            picked[: len(expected) - 1]
            == [feature for feature in expected if feature != constant][:9]
        )


@pytest.mark.parametrize("criterion", ["jmi", "cmim"])
def test_codes_of_many_values_are_counted_without_their_table(criterion):
    rng = np.random.default_rng(7)
    X = rng.standard_normal((3_000, 4))
    X[:, 2] = rng.integers(0, 3, 3_000)
    y = (X[:, 2] > 1).astype(int)
    picked = JMISelector(4, criterion=criterion, discrete_features=True).fit(X, y)
    assert picked.scores_ == pytest.approx([shared(x, y) for x in X.T], rel=1e-9)
    assert sorted(picked.indices_.tolist()) == [0, 1, 2, 3]


def test_sparse_rows_too_large_for_codes_are_named():
    X = sparse.csr_array(([1.0], ([0], [0])), shape=(20_000, 7_000))
    with pytest.raises(
        ValueError,
        match="JMISelector: expected dense X, or sparse X of at most 125,000,000 entries",
    ):
        JMISelector(3).fit(X, np.arange(20_000) % 2)
