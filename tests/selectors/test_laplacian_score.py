"""LaplacianScoreSelector against the dense textbook formula; ties, duplicates, memory, errors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import pdist, squareform

from provsel.kernels.laplacian import nearest_rows
from provsel.selectors import LaplacianScoreSelector


def textbook(X, n_neighbors=5, kernel_width=None, edges="heat"):
    """The formulas with n x n matrices; neighbours at equal distance in the order of the rows."""
    n = len(X)
    distances = squareform(pdist(X))
    t = pdist(X).mean() if kernel_width is None else kernel_width
    W = np.zeros((n, n))
    for i in range(n):
        others = [j for j in range(n) if j != i]
        for j in sorted(others, key=lambda j: (round(distances[i, j], 9), j))[
            :n_neighbors
        ]:
            W[i, j] = W[j, i] = (
                1.0
                if edges == "binary"
                else np.exp(-(distances[i, j] ** 2) / (2 * t**2))
            )
    D = np.diag(W.sum(axis=1))
    ones = np.ones(n)
    scores = []
    for x in X.T:
        variance = x @ D @ x - (ones @ D @ x) ** 2 / (ones @ D @ ones)
        scores.append((x @ D @ x - x @ W @ x) / variance if np.ptp(x) > 0 else np.inf)
    return np.array(scores)


def gaussian(n=60, d=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[: n // 2, :3] += 4.0  # two groups, seen in the first three columns
    return X


def ties():
    """Nearly every distance is one of ten, and some rows are equal."""
    X = np.random.default_rng(1).integers(0, 2, (60, 9)).astype(float)
    X[40:] = X[:20]
    return X


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n_neighbors": 1},
        {"n_neighbors": 59},
        {"n_neighbors": 3, "kernel_width": 0.7},
        {"edges": "binary"},
    ],
    ids=str,
)
def test_scores_are_the_textbooks(form, options):
    X = gaussian()
    selector = LaplacianScoreSelector(4, **options).fit(form(X))
    expected = textbook(X, **options)
    assert_allclose(selector.scores_, expected, rtol=1e-10)
    assert_array_equal(selector.indices_, np.argsort(expected)[:4])
    width = (
        np.inf if "edges" in options else options.get("kernel_width", pdist(X).mean())
    )
    assert selector.kernel_width_ == pytest.approx(width, rel=1e-12)
    # ties go to the lower row
    tied = LaplacianScoreSelector(4, **options).fit(form(ties()))
    assert_allclose(tied.scores_, textbook(ties(), **options), rtol=1e-10)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_equal_rows_far_from_the_origin_have_distance_zero(form):
    X = np.repeat(gaussian(10, 200), 3, axis=0) + 100.0
    neighbors, mean_distance = nearest_rows(form(X), 2)
    assert mean_distance == pytest.approx(pdist(X).mean(), rel=1e-10)
    assert_array_equal(
        neighbors // 3,
        np.repeat(np.arange(10), 3)[:, None] + np.zeros((1, 2), dtype=int),
    )


def test_a_feature_that_is_constant_wherever_there_is_an_edge():
    X = gaussian(30, 5)
    X = np.vstack([X, X[:1] + 1e3])  # too far for any weight
    X[:, 4] = np.arange(31) == 30
    selector = LaplacianScoreSelector(5, kernel_width=2.0).fit(X)
    assert np.isinf(selector.scores_[4])
    assert np.isfinite(selector.scores_[:4]).all()


def test_a_far_origin_does_not_matter():
    X = gaussian()
    near = LaplacianScoreSelector(4).fit(X)
    far = LaplacianScoreSelector(4).fit(X + 1e8)
    assert_allclose(far.scores_, near.scores_, rtol=1e-6)
    assert_array_equal(far.indices_, near.indices_)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_memory_stays_below_one_square_matrix(form, peak_memory):
    n = 6000
    X = form(np.random.default_rng(0).poisson(0.3, (n, 30)).astype(float))
    square = peak_memory(lambda: np.empty((n, n)))  # the meter sees what it should
    assert peak_memory(lambda: LaplacianScoreSelector(5).fit(X)) < square / 5
