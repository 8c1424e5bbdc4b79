"""What streams promise, with and without a ridge: both papers' theorems and lemmas measured, with negative controls."""

import math

import numpy as np
import pytest
from scipy import sparse

from provlab.run.measuring import cluster_rows
from provsel.certificates import (
    HELD,
    NO_BOUND,
    NOT_MEASURED,
    VACUOUS,
    VIOLATED,
    ClusteringCost,
    ClusteringRatio,
    MeasuredTrial,
    OnlineFeatureCount,
    PartitionCost,
    RidgeSparsification,
    StreamMemory,
    certify,
    certify_subset,
)
from provsel.certificates.certifying import certify_trial
from provsel.models import KMeansClustering
from provsel.selectors import OnlineLeverageSelector, UniformSelector
from provsel.training_view import TrainingView
from textbook_subsets import low_rank_plus_noise, ratios

N = 8
D = 6000
EPS = 0.5
MODEL = KMeansClustering(2, random_state=0)


@pytest.fixture(scope="module")
def view():
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    return TrainingView(
        np.where(y, 1.0, -1.0)[:, None] * rng.normal(size=D) + rng.normal(size=(N, D)),
        y,
    )


def fitted(view, **options):
    return OnlineLeverageSelector(random_state=0, epsilon=EPS, **options).fit(view.X)


def all_certificates(selector, view):
    trial = MeasuredTrial(selector, view, model=cluster_rows(selector, MODEL, view))
    return certify_trial(
        trial, margin=False, radius=False, also=(ClusteringCost, PartitionCost)
    )


def states_of(certificate):
    records = (
        certificate.spectral,
        certificate.scores,
        certificate.cost,
        certificate.partition,
    )
    return tuple(record.state for record in records)


def test_theory_options_hold(view):
    selector = fitted(view)
    assert selector.indices_.size < 0.8 * D  # something was left out
    certificate = all_certificates(selector, view)
    assert states_of(certificate) == (HELD,) * 4
    assert certificate.held
    assert (
        0
        < certificate.spectral.spectral_error
        <= certificate.spectral.spectral_bound
        == EPS
    )
    assert certificate.scores.score_sum == pytest.approx(selector.scores_.sum())
    assert certificate.scores.score_sum < certificate.scores.score_sum_bound < D
    assert (
        1 - EPS
        < certificate.cost.cost_ratio_min
        <= certificate.cost.cost_ratio_max
        < 1 + EPS
    )
    assert (
        certificate.partition.partition_ratio
        <= certificate.partition.partition_bound
        == 3.0
    )


def test_a_tampered_selection_is_caught(view):
    selector = fitted(view)
    selector.weights_ = 1.5 * selector.weights_
    certificate = all_certificates(selector, view)
    assert certificate.spectral.state == VIOLATED
    assert certificate.cost.state == VIOLATED
    assert not certificate.held
    selector.scores_ = np.ones(D)
    assert all_certificates(selector, view).scores.state == VIOLATED


def test_a_partition_that_costs_too_much_is_caught(view):
    """Two columns that separate the rows differently from all the others."""
    selector = fitted(view)
    wrong = np.zeros((N, 2))
    wrong[: N // 2] = 1000.0
    X = np.hstack([wrong, 1000.0 * view.X[:, 2:]])
    strange = TrainingView(X, view.y)
    selector.indices_ = np.array([0, 1])
    selector.weights_ = np.ones(2)
    certificate = all_certificates(selector, strange)
    assert certificate.partition.partition_ratio > 1.0
    assert certificate.cost.state == VIOLATED


def test_keeping_everything_proves_nothing():
    X = np.random.default_rng(1).normal(size=(12, 30))
    selector = OnlineLeverageSelector(random_state=0).fit(X)
    assert selector.indices_.size == 30
    certificate = all_certificates(selector, TrainingView(X, np.arange(12) % 2))
    assert states_of(certificate) == (VACUOUS,) * 4
    assert certificate.held


@pytest.mark.parametrize(
    "options",
    [
        {"n_features_to_select": 200},
        {"sampling_rate": 1.0},
        {"outside_span": "ridge", "ridge": 1.0},
    ],
)
def test_nothing_is_promised_at_another_rate_or_with_a_ridge(view, options):
    certificate = all_certificates(fitted(view, **options), view)
    assert (
        certificate.spectral.state,
        certificate.scores.state,
        certificate.cost.state,
        certificate.partition.state,
    ) == (NO_BOUND,) * 4
    assert certificate.spectral.spectral_error > 0
    assert np.isnan(certificate.partition.partition_bound)


def test_lemma_2_depends_on_the_units(view):
    """The printed bound is negative for a matrix of small norm, and the scores do not change with the units."""
    small = TrainingView(view.X * 1e-4, view.y)
    assert certify(fitted(view), view.X).scores.state == HELD
    assert certify(fitted(small), small.X).scores.state == VIOLATED
    assert OnlineLeverageSelector.score_sum_bound(10, np.exp(0.5)) == pytest.approx(
        160.0
    )


def test_as_printed_misses_columns_outside_the_span():
    """Columns on the other half of the rows are orthogonal to the first one, score 0, and are never kept."""
    rng = np.random.default_rng(0)
    X = np.zeros((N, 4000))
    half = np.concatenate([[0], rng.integers(0, 2, 3999)])
    for j, which in enumerate(half):
        X[which * N // 2 : (which + 1) * N // 2, j] = rng.normal(size=N // 2)
    printed = fitted(TrainingView(X), outside_span="project")
    needed = fitted(TrainingView(X), outside_span="one")
    assert set(half[printed.indices_]) == {0}
    assert certify(printed, X).spectral.state == VIOLATED
    assert certify(printed, X).spectral.spectral_error == pytest.approx(1.0)
    assert certify(needed, X).spectral.state == HELD


def three_directions(kind):
    """Return X, 6 x 6,000: enough columns that the theorem's rate leaves most of them out."""
    rng = np.random.default_rng(11)
    X = low_rank_plus_noise(6, 6_000, 3, 0.1, rng)
    return {
        "dense": X,
        "sparse": sparse.csc_array(X * (rng.random(X.shape) < 0.3)),
        "scaled": 100 * X,
    }[kind]


def ridge_for(X, k=3, more=0.5):
    """Return delta / epsilon, with delta = more ||E||_F^2 / k."""
    sigma = np.linalg.svd(X.toarray() if sparse.issparse(X) else X, compute_uv=False)
    return more * (sigma[k:] ** 2).sum() / k / EPS


def relative_eigenvalues(X, selector, ridge):
    """Return the eigenvalues of the pencil (W W^T + ridge I, X X^T + ridge I)."""
    X = X.toarray() if sparse.issparse(X) else X
    W = X[:, selector.indices_] * selector.weights_
    eye = ridge * np.eye(len(X))
    return np.sort(
        np.linalg.eigvals(np.linalg.solve(X @ X.T + eye, W @ W.T + eye)).real
    )


@pytest.mark.parametrize("kind", ["dense", "sparse", "scaled"])
def test_the_promise_holds(kind):
    """Each fit breaks it with a chance of 1/n = 1/6 at most; 12 fits more than 8 times with one of 2e-5."""
    X = three_directions(kind)
    ridge = ridge_for(X)
    broken = 0
    for seed in range(12):
        selector = OnlineLeverageSelector(
            outside_span="ridge", ridge=ridge, epsilon=EPS, random_state=seed
        ).fit(X)
        assert selector.indices_.size < 4_000
        record = certify(selector, X, also=[RidgeSparsification]).sparsification
        eigenvalues = relative_eigenvalues(X, selector, ridge)
        assert (record.eigenvalue_min, record.eigenvalue_max) == pytest.approx(
            (eigenvalues[0], eigenvalues[-1])
        )
        states = [record.state]
        for k in (1, 3, 5):
            subset = certify_subset(selector, X, k)
            delta = ridge * EPS / (1 - EPS)
            sigma = np.linalg.svd(
                X.toarray() if sparse.issparse(X) else X, compute_uv=False
            )
            assert subset.frobenius_bound == pytest.approx(
                1 + k * delta / (sigma[k:] ** 2).sum()
            )
            assert subset.spectral_bound == pytest.approx(delta / sigma[k] ** 2)
            states.append(subset.state)
        broken += states != [HELD] * 4
    assert broken <= 8


def test_too_few_columns_break_it():
    X = three_directions("dense")
    ridge = ridge_for(X)
    selector = OnlineLeverageSelector(
        outside_span="ridge",
        ridge=ridge,
        epsilon=EPS,
        sampling_rate=0.02,
        n_initial=1,
        random_state=0,
    ).fit(X)
    record = certify(selector, X, also=[RidgeSparsification]).sparsification
    # of another rate nothing is promised, and what would be does not hold
    assert record.state == NO_BOUND
    assert record.eigenvalue_min < 1 - EPS or record.eigenvalue_max > 1 + EPS
    assert certify_subset(selector, X, 3).state == NO_BOUND
    left = ridge * EPS / (1 - EPS)
    sigma = np.linalg.svd(X, compute_uv=False)
    selector.indices_ = selector.indices_[:1]
    assert ratios(X, selector.indices_, 3)[1] * sigma[3] ** 2 > left


def test_a_stream_has_the_promise_of_its_rule_and_forgets_that_of_another(view):
    stream = OnlineLeverageSelector(random_state=0, epsilon=EPS).partial_fit_columns(
        view.X
    )
    assert stream.spectral_bound_ == EPS
    assert stream.eigenvalue_range_ == (1 - EPS, 1 + EPS)
    stream = fitted(view).set_params(sampling_rate=1.0).partial_fit_columns(view.X)
    assert not hasattr(stream, "spectral_bound_")
    stream = (
        fitted(view)
        .set_params(outside_span="ridge", ridge=1.0)
        .partial_fit_columns(view.X)
    )
    assert stream.ridge_range_ == (0.5, 1.5)
    assert not hasattr(stream, "spectral_bound_")
    stream.set_params(outside_span="one", ridge=None).fit(view.X[:, :50])
    assert not hasattr(stream, "ridge_range_")
    assert certify_subset(stream, view.X[:, :50]).state == NO_BOUND


@pytest.mark.parametrize(
    ("d", "scale", "options", "state"),
    [
        (20_000, 1.0, {"epsilon": 0.5}, HELD),
        (20_000, 1.0, {"epsilon": 0.5, "outside_span": "project"}, HELD),
        (2_000, 1.0, {"epsilon": 0.5}, VACUOUS),
        # scores do not depend on units; the bound does
        (20_000, 5e-3, {"epsilon": 0.5}, VIOLATED),
        (500, 1.0, {"sampling_rate": 1.0}, NO_BOUND),
    ],
    ids=[
        "long stream",
        "long stream, projected",
        "short stream",
        "other units",
        "other rate",
    ],
)
def test_a_stream_keeps_no_more_than_promised_where_something_is(
    d, scale, options, state
):
    X = scale * np.random.default_rng(3).standard_normal((3, d))
    selector = OnlineLeverageSelector(**options, random_state=0).fit(X)
    count = certify(selector, X, also=[OnlineFeatureCount]).features
    assert count.state == state
    assert count.kept == selector.indices_.size
    c = 8 * math.log(3) / 0.25
    expected = (
        math.nan
        if "epsilon" not in options
        else c * (24 + 48 * math.log(np.linalg.norm(X, 2)))
    )
    assert count.bound == pytest.approx(expected, nan_ok=True)
    assert (count.kept <= count.bound < d) == (state == HELD)
    uniform = certify(
        UniformSelector(5, random_state=0).fit(X), X, also=[OnlineFeatureCount]
    ).features
    assert uniform.state == NOT_MEASURED


def cost_of_two_clusters(X, labels):
    return sum(
        ((rows - rows.mean(axis=0)) ** 2).sum()
        for rows in (X[labels == 0], X[labels == 1])
    )


@pytest.mark.parametrize(
    ("kept", "bound", "state"),
    [
        ([0, 1], 1.2, HELD),
        ([0, 1], None, NO_BOUND),
        ([0, 1], 1e6, VACUOUS),  # one cluster of all rows is within it too
        ([2, 3], 1.2, VIOLATED),  # these separate other rows
        ([0, 1, 2, 3], 1.2, VACUOUS),  # all features
    ],
    ids=["good", "nothing promised", "large bound", "bad", "all"],
)
def test_the_clustering_of_the_selection_is_compared_with_that_of_all_features(
    kept, bound, state
):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((40, 4))
    X[:, :2] += 20.0 * (np.arange(40) % 2)[:, None]
    X[:, 2:] += 5.0 * (np.arange(40) // 20)[:, None]
    selector = UniformSelector(len(kept), random_state=0).fit(X)
    selector.indices_ = np.array(kept)
    model = MODEL.fit(X[:, kept])
    labels = model.labels_
    record = ClusteringRatio.measure(
        MeasuredTrial(selector, TrainingView(X), model=model), bound=bound
    )
    costs = [cost_of_two_clusters(X, at) for at in (np.arange(40) % 2, labels)]
    assert record.state == state
    assert record.achieved == pytest.approx(costs[1] / costs[0])
    assert record.one_cluster == pytest.approx(
        ((X - X.mean(axis=0)) ** 2).sum() / costs[0]
    )
    assert record.bound == pytest.approx(
        math.nan if bound is None else bound, nan_ok=True
    )


def test_rows_that_are_no_more_than_clusters_have_no_ratio():
    X = np.repeat([[0.0, 1.0, 2.0], [3.0, 5.0, 9.0]], 3, axis=0)
    selector = UniformSelector(2, random_state=0).fit(X)
    model = KMeansClustering(2, random_state=0).fit(X)
    record = ClusteringRatio.measure(
        MeasuredTrial(selector, TrainingView(X), model=model), bound=1.5
    )
    assert record.state == NOT_MEASURED
    assert math.isnan(record.achieved)


def test_of_what_a_stream_holds_only_a_part_grows_with_it():
    X = np.random.default_rng(2).standard_normal((4, 5000))
    sizes = []
    for d in (2500, 5000):
        selector = OnlineLeverageSelector(random_state=0).fit(X[:, :d])
        memory = StreamMemory.measure(MeasuredTrial(selector, TrainingView(X[:, :d])))
        assert memory.kept_bytes == 16 * selector.indices_.size < 16 * d
        sizes.append((memory.factor_bytes, memory.seen_bytes))
    assert sizes == [(8 * 2 * 16, 16 * 2500), (8 * 2 * 16, 16 * 5000)]
    none = StreamMemory.measure(
        MeasuredTrial(UniformSelector(2, random_state=0).fit(X), TrainingView(X))
    )
    assert math.isnan(none.seen_bytes)
