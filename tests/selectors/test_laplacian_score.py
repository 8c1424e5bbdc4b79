"""LaplacianScoreSelector against the dense textbook formula; ties, duplicates, memory, errors."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist, squareform

from provsel.kernels import laplacian
from provsel.kernels.laplacian import nearest_rows
from provsel.selectors import LaplacianScoreSelector
from provsel.training_view import TrainingView


def textbook(X, k=5, t=None, binary=False):
    """The formulas with n x n matrices; neighbours at equal distance in the order of the rows."""
    n = len(X)
    distances = squareform(pdist(X))
    t = pdist(X).mean() if t is None else t
    W = np.zeros((n, n))
    for i in range(n):
        others = [j for j in range(n) if j != i]
        for j in sorted(others, key=lambda j: (round(distances[i, j], 9), j))[:k]:
            W[i, j] = W[j, i] = 1.0 if binary else np.exp(-(distances[i, j] ** 2) / (2 * t**2))
    D = np.diag(W.sum(axis=1))
    one = np.ones(n)
    scores = []
    for x in X.T:
        variance = x @ D @ x - (one @ D @ x) ** 2 / (one @ D @ one)
        scores.append((x @ D @ x - x @ W @ x) / variance if np.ptp(x) > 0 else np.inf)
    return np.array(scores)


def gaussian(n=60, d=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[: n // 2, :3] += 4.0  # two groups, seen in the first three columns
    return X


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize(("k", "t"), [(5, None), (1, None), (59, None), (3, 0.7)])
def test_scores_are_the_textbooks(form, k, t):
    X = gaussian()
    selector = LaplacianScoreSelector(4, n_neighbors=k, kernel_width=t).fit(form(X))
    expected = textbook(X, k, t)
    np.testing.assert_allclose(selector.scores_, expected, rtol=1e-10)
    np.testing.assert_array_equal(selector.indices_, np.argsort(expected)[:4])
    assert selector.kernel_width_ == pytest.approx(pdist(X).mean() if t is None else t, rel=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_binary_edges_are_the_textbooks(form):
    X = gaussian()
    selector = LaplacianScoreSelector(4, edges="binary").fit(form(X))
    np.testing.assert_allclose(selector.scores_, textbook(X, binary=True), rtol=1e-10)
    assert selector.kernel_width_ == np.inf
    assert np.abs(selector.scores_ - LaplacianScoreSelector(4).fit(X).scores_).max() > 1e-4


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_ties_go_to_the_lower_row(form):
    X = np.random.default_rng(1).integers(0, 2, (50, 9)).astype(float)
    assert np.unique(pdist(X)).size <= 10  # nearly every distance is a tie
    np.testing.assert_allclose(LaplacianScoreSelector(3).fit(form(X)).scores_, textbook(X), rtol=1e-10)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_equal_rows_far_from_the_origin_have_distance_zero(form):
    X = np.repeat(gaussian(10, 200), 3, axis=0) + 100.0
    neighbors, mean_distance = nearest_rows(form(X), 2)
    assert mean_distance == pytest.approx(pdist(X).mean(), rel=1e-10)
    np.testing.assert_array_equal(neighbors // 3, np.repeat(np.arange(10), 3)[:, None] + np.zeros((1, 2), dtype=int))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("value", [0.0, 0.1, 1 / 3, 1e6])
def test_constant_features_rank_last(form, value):
    X = gaussian()
    X[:, 2], X[:, 7] = value, -value
    selector = LaplacianScoreSelector(12).fit(form(X))
    assert np.flatnonzero(np.isinf(selector.scores_)).tolist() == [2, 7]
    assert selector.indices_[-2:].tolist() == [2, 7]


def test_a_feature_that_is_constant_wherever_there_is_an_edge():
    X = gaussian(30, 5)
    X = np.vstack([X, X[:1] + 1e3])  # too far for any weight
    X[:, 4] = np.arange(31) == 30
    selector = LaplacianScoreSelector(5, kernel_width=2.0).fit(X)
    assert np.isinf(selector.scores_[4])
    assert np.isfinite(selector.scores_[:4]).all()


def test_a_far_origin_does_not_matter():
    X = gaussian()
    near, far = LaplacianScoreSelector(4).fit(X), LaplacianScoreSelector(4).fit(X + 1e8)
    np.testing.assert_allclose(far.scores_, near.scores_, rtol=1e-6)
    np.testing.assert_array_equal(far.indices_, near.indices_)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_memory_stays_below_one_square_matrix(form, monkeypatch):
    n = 4000
    X = form(np.random.default_rng(0).poisson(0.3, (n, 30)).astype(float))
    monkeypatch.setattr(laplacian, "BLOCK", 1 << 17)
    tracemalloc.start()
    try:
        LaplacianScoreSelector(5).fit(X)
        peak = tracemalloc.get_traced_memory()[1]
        square = np.empty((n, n))
        assert tracemalloc.get_traced_memory()[1] >= square.nbytes  # the meter sees what it should
    finally:
        tracemalloc.stop()
    assert peak < square.nbytes / 5


def test_a_view_shares_scores_of_the_same_settings_only(monkeypatch):
    X, calls = gaussian(), []
    for name in ("nearest_rows", "laplacian_scores"):
        function = getattr(laplacian, name)
        monkeypatch.setattr(
            f"provsel.selectors.laplacian_score.{name}",
            lambda *args, name=name, function=function: calls.append(name) or function(*args),
        )
    view = TrainingView(X)
    for options, made in (({}, 2), ({}, 2), ({"kernel_width": 1.0}, 3), ({"n_neighbors": 4}, 5)):
        found = LaplacianScoreSelector(5, **options).fit_view(view)
        k, t = options.get("n_neighbors", 5), options.get("kernel_width")
        np.testing.assert_allclose(found.scores_, textbook(X, k, t), rtol=1e-10)
        assert len(calls) == made  # another width has the same graph


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("side", [1, 2, 3, 16, 59])
def test_tiles_change_nothing(form, side, monkeypatch):
    """Nearly every distance is a tie, and rows have fewer neighbours in a tile than they need."""
    X = np.random.default_rng(1).integers(0, 2, (60, 9)).astype(float)
    X[40:] = X[:20]
    distances = squareform(pdist(X, "sqeuclidean"))
    np.fill_diagonal(distances, np.inf)
    expected = np.sort(np.argsort(distances, axis=1, kind="stable")[:, :7], axis=1)
    whole, mean_distance = nearest_rows(form(X), 7)
    monkeypatch.setattr(laplacian, "TILE", side * side)
    neighbors, same = nearest_rows(form(X), 7)
    np.testing.assert_array_equal(np.sort(whole, axis=1), expected)
    np.testing.assert_array_equal(np.sort(neighbors, axis=1), expected)
    assert same == pytest.approx(mean_distance, rel=1e-12)
