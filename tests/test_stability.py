"""Stability of selections, against the paper's equations written down plainly, known cases, and chance."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse, stats
from sklearn.datasets import load_digits
from sklearn.feature_selection import SelectKBest, VarianceThreshold, f_classif
from sklearn.model_selection import ShuffleSplit, StratifiedKFold
from sklearn.pipeline import make_pipeline

from provsel.selectors import RRQRSelector
from provsel.stability import StabilityReport, stability

# Of scikit-learn's F-test: some columns of the digits are constant.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Features .* are constant:UserWarning"),
    pytest.mark.filterwarnings(
        "ignore:invalid value encountered in divide:RuntimeWarning"
    ),
]


def draws(rng, m, d, sizes):
    return [rng.choice(d, size=int(rng.choice(sizes)), replace=False) for _ in range(m)]


def plain(selections, d):
    """Index and variance as the paper prints them, one feature and one set after the other."""
    m = len(selections)
    Z = [np.isin(range(d), chosen).astype(int).tolist() for chosen in selections]
    p = [sum(column) / m for column in zip(*Z, strict=True)]
    k = [sum(row) for row in Z]
    mean = sum(k) / m
    scale = mean / d * (1 - mean / d)
    index = 1 - sum(m / (m - 1) * p[f] * (1 - p[f]) for f in range(d)) / d / scale
    phi = []
    for i in range(m):
        agreement = sum(Z[i][f] * p[f] for f in range(d)) / d
        correction = index / 2 * (2 * mean * k[i] / d**2 - k[i] / d - mean / d + 1)
        phi.append((agreement - k[i] * mean / d**2 + correction) / scale)
    average = sum(phi) / m
    return index, 4 / m**2 * sum((agreement_of - average) ** 2 for agreement_of in phi)


@pytest.mark.parametrize(
    ("m", "d", "sizes"),
    [(3, 7, [2]), (10, 40, [5]), (25, 12, [0, 3, 9, 12]), (60, 200, [1, 150])],
)
def test_index_and_variance_are_the_papers(m, d, sizes):
    selections = draws(np.random.default_rng(m), m, d, sizes)
    report = stability(selections, d)
    index, variance = plain(selections, d)
    assert report.index == pytest.approx(index, rel=1e-12, abs=1e-14)
    assert report.variance == pytest.approx(variance, rel=1e-10)
    assert report.sizes == tuple(map(len, selections))
    assert report.frequencies == pytest.approx(
        np.mean([np.isin(range(d), chosen) for chosen in selections], axis=0)
    )


def jackknife(selections, d):
    """Variance of the index by leaving out one selection after the other."""
    m = len(selections)
    without = [plain(selections[:k] + selections[k + 1 :], d)[0] for k in range(m)]
    return (m - 1) / m * sum((index - np.mean(without)) ** 2 for index in without)


@pytest.mark.parametrize(("m", "d", "size"), [(4, 7, 2), (5, 40, 5), (12, 30, 25)])
def test_the_interval_is_students_with_the_variance_of_the_jackknife(m, d, size):
    """It has the variance that one selection with another feature adds to equal ones as well."""
    selections = draws(np.random.default_rng(m), m, d, [size])
    odd = [list(range(size))] * (m - 1) + [[*range(size - 1), size]]
    report = stability(selections, d)
    variance = jackknife(selections, d) + jackknife(odd, d)
    assert report.standard_error == pytest.approx(math.sqrt(variance))
    low, high = stats.t.interval(0.9, m - 1, report.index, math.sqrt(variance))
    assert report.interval(0.9) == pytest.approx((max(low, -1 / (m - 1)), min(high, 1)))


def test_folds_are_correlated_selections():
    """By the formulas of the docstring: ten folds, twice, with two draws on each; as folds, and as they are not."""
    d = 30
    size = 6
    n_samples = 20
    n_groups = 10
    selections = draws(np.random.default_rng(9), 2 * n_samples, d, [size])
    samples = [f"fold {k // 2}" for k in range(2 * n_samples)]
    Z = np.array([np.isin(range(d), chosen) for chosen in selections], float)
    agreement = (Z @ Z.mean(axis=0)).reshape(n_samples, 2).mean(axis=1) / (
        size * (1 - size / d)
    )
    swap = 1 / (size * (1 - size / d))
    one_changed = ((n_groups - 2) / (n_groups - 1) * swap) ** 2 / n_groups
    spread = (n_samples / (n_samples - 1)) ** 2 * np.var(
        agreement, ddof=1
    ) + one_changed
    report = stability(selections, d, samples=samples, overlap=1 / 9)
    assert report.degrees_of_freedom == pytest.approx(n_groups - 1)
    assert report.standard_error**2 == pytest.approx(
        4 * spread * ((19 / 18) ** 2 / 20 + 0.4 / 0.6)
    )
    assert stability(selections, d, samples=samples).degrees_of_freedom == n_samples - 1
    # disjoint training rows
    assert stability(selections, d, overlap=9).degrees_of_freedom == 2 * n_samples - 1


def test_intervals_hold_the_stability():
    """Five selections: noisy scores of which the largest are taken. Negative control: the paper's interval."""
    rng = np.random.default_rng(5)
    d = 30
    size = 6
    signal = np.linspace(3, 0, d)

    def selected(m):
        return np.argsort(-(signal + rng.standard_normal((m, d))))[:, :size]

    true = stability(selected(4000), d).index
    reports = [stability(selected(5), d) for _ in range(400)]
    assert holds(true, [report.interval() for report in reports]) >= 0.95
    normal = [
        stats.norm.interval(0.95, report.index, math.sqrt(report.variance))
        for report in reports
    ]
    assert holds(true, normal) <= 0.85


def test_intervals_of_folds_hold_the_stability_on_other_rows():
    """The F-test on ten folds of 60 rows, twenty weak columns of 40. Negative control: as if folds were independent."""
    rng = np.random.default_rng(6)
    n = 60
    d = 40
    size = 5
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    reports = {overlap: [] for overlap in (1 / 9, 0.0)}
    for _ in range(300):
        XY = (rng.standard_normal((n, d)) + y[:, None] * np.linspace(0.6, 0, d)) * y[
            :, None
        ]
        without = XY.sum(axis=0) - XY[rng.permutation(n)].reshape(10, 6, d).sum(axis=1)
        selections = np.argsort(-np.abs(without))[:, :size]
        for overlap, stored in reports.items():
            stored.append(stability(selections, d, overlap=overlap))
    true = np.mean([report.index for report in reports[0.0]])
    assert holds(true, [report.interval() for report in reports[1 / 9]]) >= 0.95
    assert holds(true, [report.interval() for report in reports[0.0]]) <= 0.93


def holds(true, intervals):
    return np.mean([low <= true <= high for low, high in intervals])


@given(data=st.data(), overlap=st.sampled_from([0.0, 1 / 9, 0.25, 0.5, 1.0, 9.0]))
def test_no_interval_is_a_point(data, overlap):
    d = data.draw(st.integers(2, 9))
    masks = data.draw(
        st.lists(
            st.lists(st.booleans(), min_size=d, max_size=d), min_size=3, max_size=8
        )
    )
    Z = np.array(masks)
    assume(0 < Z.sum() < Z.size)
    report = stability(Z, d, overlap=overlap)
    low, high = report.interval()
    assert low < high
    assert low <= report.index <= high <= 1


def test_the_variance_is_that_of_repeated_samples():
    """Negative control: half of it is not."""
    rng = np.random.default_rng(1)
    m = 60
    # independent of each other, so that sizes vary
    inclusion = np.r_[np.full(5, 0.9), np.full(45, 0.1)]
    reports = [stability(rng.random((m, 50)) < inclusion, 50) for _ in range(400)]
    spread = np.var([report.index for report in reports], ddof=1)
    stated = np.mean([report.variance for report in reports])
    # 399 s^2 / sigma^2 is chi2 with 399 degrees for a normal index; a tenth for the
    # bias at this m
    low, high = np.array(stats.chi2.interval(1 - 1e-6, 399)) / 399
    assert 0.9 * low * stated < spread < 1.1 * high * stated
    assert spread > 1.1 * high * stated / 2


def test_the_extremes():
    same = stability([[3, 1], [1, 3], np.array([False, True, False, True, False])], 5)
    assert same.index == 1.0
    assert same.variance == 0.0
    assert same.interval()[1] == 1.0
    assert same.interval()[0] < 0.5  # three equal selections say little
    assert stability([[3, 1]] * 100, 5).interval()[0] > 0.9
    # the least there is: -1 / (M - 1)
    assert stability([[0], [1], [2], [3]], 4).index == pytest.approx(-1 / 3)
    two = stability([[0, 1], [1, 2]], 6)
    assert np.isnan(two.variance)
    assert np.isnan(two.interval()).all()
    assert np.isnan(two.compare(same).p_value)


def test_two_stabilities_are_compared():
    rng = np.random.default_rng(3)
    first, second = (
        stability(rng.random((40, 30)) < share, 30)
        for share in (np.linspace(0, 1, 30), np.full(30, 0.5))
    )
    comparison = first.compare(second)
    spread = math.hypot(first.standard_error, second.standard_error)
    df = spread**4 / (first.standard_error**4 / 39 + second.standard_error**4 / 39)
    statistic = (first.index - second.index) / spread
    assert comparison.difference == first.index - second.index
    assert comparison.statistic == pytest.approx(statistic)
    assert comparison.p_value == pytest.approx(2 * stats.t.sf(abs(statistic), df))
    assert comparison.p_value < 1e-6
    assert second.compare(first).statistic == -comparison.statistic
    assert first.compare(first) == (0.0, 0.0, 1.0)
    same = stability([[0, 1]] * 3, 4)
    assert same.compare(same) == (0.0, 0.0, 1.0)


X, y = load_digits(return_X_y=True)


def test_of_a_selector_over_folds():
    report = StabilityReport.of(SelectKBest(f_classif, k=12), X, y, cv=4)
    folds = [train for train, _ in StratifiedKFold(4).split(X, y)]
    sets = [
        np.argsort(-np.nan_to_num(f_classif(X[train], y[train])[0]))[:12]
        for train in folds
    ]
    assert report == stability(
        sets, 64, overlap=X.shape[0] / np.mean([len(rows) for rows in folds]) - 1
    )
    assert report.degrees_of_freedom == pytest.approx(3)
    assert StabilityReport.of(
        RRQRSelector(12), X, cv=ShuffleSplit(3, random_state=0)
    ).sizes == (12, 12, 12)


@pytest.mark.parametrize(
    "form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array]
)
def test_sparse_rows_are_not_made_dense(form, peak_memory):
    options = {"n_resamples": 5, "random_state": 0}
    dense = StabilityReport.of(SelectKBest(f_classif, k=9), X, y, **options)
    assert (
        StabilityReport.of(SelectKBest(f_classif, k=9), form(X), y, **options) == dense
    )
    wide = form(
        sparse.random_array(
            (len(y), 10_000), density=0.001, rng=np.random.default_rng(0)
        )
    )
    peak = peak_memory(
        lambda: StabilityReport.of(SelectKBest(f_classif, k=9), wide, y, **options)
    )
    assert peak < wide.shape[0] * wide.shape[1] * 8 / 4  # a quarter of the dense rows


def test_bootstrap_samples_have_all_classes_and_one_seed():
    few = np.flatnonzero(y < 2)[:40]
    reports = [
        StabilityReport.of(
            SelectKBest(f_classif, k=5), X[few], y[few], n_resamples=6, random_state=s
        )
        for s in (0, 0, 1)
    ]
    assert reports[0] == reports[1]
    assert reports[0] != reports[2]
    assert len(reports[0].sizes) == 6
    # without labels
    assert StabilityReport.of(VarianceThreshold(30), X, n_resamples=4).index > 0.5


def test_it_prints_well():
    names = [f"pixel {k}" for k in range(64)]
    report = StabilityReport.of(
        SelectKBest(f_classif, k=3), pd.DataFrame(X, columns=names), y, cv=3
    )
    first, second, *features = str(report).splitlines()
    low, high = report.interval()
    assert (
        first == f"stability {report.index:.3f}, 95 % interval [{low:.3f}, {high:.3f}]"
    )
    always = sum(share == 1 for share in report.frequencies)
    assert (
        second
        == f"3 selections of 3 of 64 features: {always} always, {report.frequencies.count(0)} never"
    )
    assert [line.split("  ")[2] for line in features] == [
        name for name, _ in report.most_frequent()
    ]
    assert all(str(name).startswith("pixel ") for name, _ in report.most_frequent(2))
    mixed = stability([[0], [0, 1], [0, 1, 2]], 5)
    assert "3 selections of 1 to 3 of 5 features: 1 always, 2 never" in str(mixed)
    assert mixed.most_frequent(9) == [
        (0, 1.0),
        (1, pytest.approx(2 / 3)),
        (2, pytest.approx(1 / 3)),
    ]


@pytest.mark.parametrize(
    ("selections", "d", "message"),
    [
        ([[0, 1]], 5, "stability: expected two or more selections, got 1; take more"),
        (
            [[0], [5]],
            5,
            "stability: selection 1: expected indices from 0 to 4, got 5 to 5; n_features is",
        ),
        (
            [[0], [-1]],
            5,
            "stability: selection 1: expected indices from 0 to 4, got -1 to -1",
        ),
        (
            [[0], [1, 1, 2]],
            5,
            "stability: selection 1: expected each feature once, got 1 again",
        ),
        (
            [[0], [1.5]],
            5,
            "selection 1: expected a list of indices or a boolean mask, got an array of float64",
        ),
        (
            [[[0]], [1]],
            5,
            r"stability: selection 0: expected a list of indices .* of shape \(1, 1\)",
        ),
        (
            [[0], np.ones(4, bool)],
            5,
            r"stability: selection 1: expected a mask of shape \(5,\), got \(4,\)",
        ),
        (
            [[], []],
            5,
            "stability: expected selections that choose among 5 features, got 2 empty ones",
        ),
        (
            [[0, 1], [1, 0]],
            2,
            "stability: expected selections that choose among 2 features, got 2 of all of them",
        ),
        (
            [[0], [1]],
            0,
            "stability: n_features must be an integer of at least 1, got 0",
        ),
    ],
)
def test_bad_selections(selections, d, message):
    with pytest.raises(ValueError, match=message):
        stability(selections, d)


def test_bad_arguments():
    k_best = SelectKBest(f_classif, k=3)
    with pytest.raises(
        ValueError,
        match="expected a selector with get_support, got Pipeline; if it is a pipeline, pass",
    ):
        StabilityReport.of(make_pipeline(k_best), X, y)
    with pytest.raises(
        ValueError,
        match=r"as many labels as rows, got X of shape \(1797, 64\) and 3 labels",
    ):
        StabilityReport.of(k_best, X, y[:3])
    with pytest.raises(ValueError, match="expected cv of two or more folds, got 1"):
        StabilityReport.of(k_best, X, y, cv=1)
    with pytest.raises(
        ValueError, match="n_resamples must be an integer of at least 2, got 1"
    ):
        StabilityReport.of(k_best, X, y, n_resamples=1)
    with pytest.raises(
        ValueError, match="expected 4 feature names, one for each feature, got 2"
    ):
        stability([[0], [1]], 4, feature_names="ab")
    with pytest.raises(
        ValueError, match="expected 2 samples, one for each selection, got 3"
    ):
        stability([[0], [1]], 4, samples="abc")
    with pytest.raises(
        ValueError,
        match=r"expected an overlap of at least 0, n_test / n_train of folds, got -0.1",
    ):
        stability([[0], [1]], 4, overlap=-0.1)
    report = stability([[0], [1], [1]], 4)
    with pytest.raises(ValueError, match="expected a level between 0 and 1, got 95"):
        report.interval(95)
    with pytest.raises(ValueError, match="top must be an integer of at least 1, got 0"):
        report.most_frequent(0)
