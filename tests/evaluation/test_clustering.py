"""k-means, agreement with the classes, and the cost of a partition, each against its definition."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import is_clusterer
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from provlab.run.measuring import partition_scores
from provsel.kernels.clustering_cost import BLOCK_VALUES, kmeans_cost
from provsel.models import KMeansClustering

FORMS = {
    "dense": np.asarray,
    "csr_array": sparse.csr_array,
    "csc_matrix": sparse.csc_matrix,
}
LABELLINGS = st.integers(1, 12).flatmap(
    lambda n: st.tuples(
        *[st.lists(st.integers(0, 4), min_size=n, max_size=n) for _ in range(2)]
    )
)


def best_renaming(y, labels):
    """The largest agreement over all injections of clusters into classes, padded with classes that do not occur."""
    classes = sorted(set(y))
    clusters = sorted(set(labels))
    classes += [None] * max(len(clusters) - len(classes), 0)
    agreements = []
    for chosen in permutations(classes, len(clusters)):
        renaming = dict(zip(clusters, chosen, strict=True))
        agreements.append(
            np.mean([renaming[b] == a for a, b in zip(y, labels, strict=True)])
        )
    return max(agreements)


def groups(n=60, d=12, k=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % k)
    return 2 * rng.standard_normal((k, d))[y] + rng.standard_normal((n, d)), y


@settings(deadline=None)
@given(LABELLINGS)
def test_accuracy_is_that_of_the_best_renaming(labellings):
    y, labels = labellings
    scores = partition_scores(np.array(y), np.array(labels))
    assert scores["error"] == pytest.approx(1 - best_renaming(y, labels))


def test_label_values_do_not_matter():
    y = np.array(["ham", "spam", "eggs", "ham"])
    labels = np.array([-7, 10**6, 3, -7])
    assert partition_scores(y, labels) == {"error": 0.0, "nmi": 1.0, "ari": 1.0}
    rng = np.random.default_rng(0)
    a = rng.integers(0, 5, 50)
    b = rng.integers(0, 4, 50)
    assert partition_scores(
        np.array(list("vwxyz"))[a], 100 - 7.5 * b
    ) == partition_scores(a, b)


def test_scores_are_scikit_learns():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 80)
    labels = rng.integers(0, 5, 80)
    labels[:40] = y[:40]
    scores = partition_scores(y, labels)
    assert scores["nmi"] == pytest.approx(normalized_mutual_info_score(y, labels))
    assert scores["ari"] == pytest.approx(adjusted_rand_score(y, labels))
    assert 0 < scores["ari"] < 1 - scores["error"] < 1


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_cost_is_the_distance_to_the_projection(form, dtype):
    rng = np.random.default_rng(2)
    n = BLOCK_VALUES // 5  # three blocks of columns, the last one shorter
    X = (10 * rng.standard_normal((n, 13)) * (rng.random((n, 13)) < 0.5)).astype(dtype)
    labels = np.array([3, -1, 40, 40])[rng.integers(0, 4, n)]
    labels[labels == 3] = np.where(X[labels == 3, 0] > 0, 3, -1)
    P = (labels[:, None] == np.unique(labels)).astype(float)
    P /= np.linalg.norm(P, axis=0)
    expected = np.linalg.norm(X - P @ (P.T @ X)) ** 2
    assert kmeans_cost(FORMS[form](X), labels) == pytest.approx(expected, rel=1e-10)
    assert kmeans_cost(FORMS[form](X), rng.permutation(labels)) != pytest.approx(
        expected, rel=1e-3
    )


@pytest.mark.parametrize("form", FORMS)
def test_large_means_do_not_cancel(form):
    X, y = groups()
    shifted = X + 1e7
    difference = (shifted**2).sum() - sum(
        (shifted[y == c].sum(axis=0) ** 2).sum() / (y == c).sum() for c in range(4)
    )
    expected = kmeans_cost(X, y)
    assert kmeans_cost(FORMS[form](shifted), y) == pytest.approx(expected, rel=1e-7)
    assert difference != pytest.approx(expected, rel=1e-3)


def test_cost_of_one_cluster_and_of_a_cluster_for_each_row():
    X, _ = groups()
    assert kmeans_cost(X, np.zeros(60)) == pytest.approx(60 * X.var(axis=0).sum())
    assert kmeans_cost(X, np.arange(60)) == 0
    before = X.copy()
    kmeans_cost(X, np.zeros(60))
    assert_array_equal(X, before)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", ["dense", "csr_array"])
def test_kmeans_finds_groups_and_is_a_fixed_point(form, dtype):
    """Each row is nearest to the mean of its own cluster: no assignment can change."""
    X, y = groups(k=3)
    X = X.astype(dtype)
    model = KMeansClustering(n_init=3, random_state=0).fit(FORMS[form](X), y)
    assert partition_scores(y, model.labels_)["error"] < 0.05
    means = np.vstack([X[model.labels_ == c].mean(axis=0) for c in range(3)])
    assert_allclose(model.cluster_centers_, means, rtol=1e-4, atol=1e-5)
    assert_array_equal(
        ((X[:, None] - means) ** 2).sum(axis=2).argmin(axis=1), model.labels_
    )
    assert model.inertia_ == pytest.approx(kmeans_cost(X, model.labels_), rel=1e-5)
    assert model.cluster_centers_.dtype == dtype
    assert model.labels_.dtype == np.int64
    assert is_clusterer(model)


def test_kmeans_on_digits_is_as_good_as_scikit_learns_default():
    digits = load_digits()
    ours = [
        KMeansClustering(random_state=seed).fit(digits.data, digits.target)
        for seed in range(5)
    ]
    theirs = KMeans(10, n_init=10, random_state=0).fit(digits.data)
    assert (
        theirs.inertia_ * (1 - 1e-3)
        < min(model.inertia_ for model in ours)
        < theirs.inertia_ * 1.02
    )
    assert max(model.inertia_ for model in ours) < theirs.inertia_ * 1.2
    assert partition_scores(digits.target, ours[0].labels_)["nmi"] > 0.6


def test_kmeans_takes_its_number_from_the_classes_unless_it_is_given():
    X, y = groups()
    assert KMeansClustering(random_state=0).fit(X, y).n_clusters_ == 4
    assert (
        KMeansClustering(random_state=0).fit(X, np.array(list("spqr"))[y]).n_clusters_
        == 4
    )
    assert np.unique(KMeansClustering(random_state=0).fit_predict(X, y)).size == 4
    given_, without = (
        KMeansClustering(3, random_state=0).fit(X, labels) for labels in (y, None)
    )
    assert given_.n_clusters_ == 3
    assert_array_equal(given_.labels_, without.labels_)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda X, y: KMeansClustering().fit(X),
            "expected n_clusters, or labels y whose classes are counted",
        ),
        (
            lambda X, y: KMeansClustering().fit(X, y[:-1]),
            "inconsistent numbers of samples",
        ),
        *(
            (
                lambda X, y, n=n: KMeansClustering(n_local_trials=n).fit(X, y),
                "expected n_local_trials to be None or a positive",
            )
            for n in (0, 1.5, True)
        ),
        *(
            (
                lambda X, y, n=n: KMeansClustering(n).fit(X),
                rf"expected n_clusters to be None or .* rows, 60, got {n!r}",
            )
            for n in (0, 61, 2.0, True, "all")
        ),
        (
            lambda X, y: kmeans_cost(X, y[:-1]),
            r"expected as many .*, got shapes \(59,\) and \(60, 12\)|\(60,\)",
        ),
        (
            lambda X, y: kmeans_cost(X[:0], []),
            r"kmeans_cost: expected as many labels as rows, at least one",
        ),
        (
            lambda X, y: kmeans_cost(y, y),
            r"kmeans_cost: expected X of two dimensions, got shape \(60,\)",
        ),
    ],
)
def test_what_cannot_be_clustered_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(*groups())
