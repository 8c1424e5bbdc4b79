"""Data that need no files: synthetic, Gaussian clusters, sparse rows and digits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_digits

from provlab.core.composition import compose_config
from provlab.core.plan import load_from
from provlab.data import load_dataset
from provsel.kernels.hinge_dual import hinge_dual


def test_synthetic_has_the_papers_shape_and_moments():
    data = load_dataset(
        "synthetic", n_samples=4000, n_features=60, n_relevant=50, seed=3
    )
    assert data.X.shape == (4000, 60)
    assert data.feature_names.tolist() == [str(j) for j in range(1, 61)]
    assert set(data.y.tolist()) == {-1, 1}
    assert abs(data.y.mean()) < 5 / np.sqrt(4000)
    # y X_j ~ N(-j, 1) for j <= k, N(0, 1) beyond: five standard errors.
    means = (data.y[:, None] * data.X).mean(axis=0)
    expected = np.where(np.arange(1, 61) <= 50, -np.arange(1, 61), 0)
    assert np.abs(means - expected).max() < 5 / np.sqrt(4000)
    assert np.abs((data.y[:, None] * data.X).std(axis=0) - 1).max() < 5 / np.sqrt(8000)


def clusters(**params):
    return load_dataset("gaussian_clusters", **params)


def test_gaussian_clusters_have_means_and_noise_of_unit_variance():
    data = clusters(n_samples=40, n_features=5000, n_classes=4, seed=3)
    assert data.X.shape == (40, 5000)
    assert data.feature_names.tolist() == [str(j) for j in range(1, 5001)]
    assert_array_equal(data.y, np.arange(40) % 4)
    within = np.array([data.X[data.y == c].var(axis=0, ddof=1) for c in range(4)])
    assert abs(within.mean() - 1) < 5 * np.sqrt(2 / (36 * 5000))
    means = np.array([data.X[data.y == c].mean(axis=0) for c in range(4)])
    # of the class mean and of the mean of ten rows' noise: 1 + 1/10
    assert abs(means.var() - 1.1) < 5 * 1.1 * np.sqrt(2 / (4 * 5000))
    assert np.abs(np.corrcoef(means) - np.eye(4)).max() < 5 / np.sqrt(5000)


def test_defaults_seeds_and_names():
    defaults = {
        "synthetic": (200, 1000),
        "gaussian_clusters": (20, 20000),
        "sparse_rows": (3000, 100_000),
    }
    for name, shape in defaults.items():
        data = load_dataset(name)
        assert data.X.shape == shape
        assert (
            load_from(compose_config([f"dataset={name}"])["dataset"]).content
            == data.content
        )
        assert load_dataset(name, seed=1).content != data.content
    assert (
        load_dataset("synthetic", n_relevant=50).content
        != load_dataset("synthetic").content
    )
    assert "Bhattacharyya (2004)" in load_dataset("synthetic").source
    assert [
        clusters(columns=columns).name[17:] for columns in ("gaussian", "growing")
    ] == ["", "_growing"]
    assert set(clusters(n_classes=2, n_features=3).y.tolist()) == {-1, 1}
    assert_array_equal(clusters(scale=0.001).X, 0.001 * clusters().X)


def test_kinds_of_columns_are_factors_of_the_same_draw():
    X = clusters().X
    growing = clusters(columns="growing").X / X
    assert_allclose(
        growing, np.tile(1 + 99 * np.arange(20000) / 19999, (20, 1)), rtol=1e-12
    )
    lognormal = clusters(columns="lognormal").X / X
    assert_allclose(lognormal, np.tile(lognormal[0], (20, 1)), rtol=1e-12)
    logs = np.log(lognormal[0])
    assert abs(logs.mean()) < 5 * 2 / np.sqrt(20000)
    assert abs(logs.std() - 2) < 5 * 2 / np.sqrt(2 * 20000)
    # heavy tails: a hundredth of the columns has most of the norm
    for data, few in ((X, (0, 0.05)), (X * lognormal, (0.5, 1))):
        squares = np.sort((data**2).sum(axis=0))
        assert few[0] < squares[-200:].sum() / squares.sum() < few[1]


@pytest.mark.parametrize("n_samples", [20, 7])
def test_disjoint_columns_live_on_one_half_of_the_rows(n_samples):
    plain, X = (
        clusters(n_samples=n_samples, columns=columns).X
        for columns in ("gaussian", "disjoint")
    )
    half = n_samples // 2
    first = X[:half].any(axis=0)
    second = X[half:].any(axis=0)
    assert (first != second).all()
    assert abs(first.mean() - 0.5) < 5 * 0.5 / np.sqrt(20000)
    assert_array_equal(X[:half, first], plain[:half, first])
    assert_array_equal(X[half:, second], plain[half:, second])
    assert not (X[:, first].T[:50] @ X[:, second]).any()
    assert all(
        clusters(columns="disjoint", n_features=5, seed=seed).X[:10, 0].all()
        for seed in range(20)
    )


def test_digits():
    data = load_dataset("digits")
    reference = load_digits()
    assert_array_equal(data.X, reference.data)
    assert_array_equal(data.y, reference.target)
    assert (data.feature_names[9], data.name) == ("pixel_1_1", "digits")
    two = load_dataset("digits", classes=[8, 3])  # two are signs, more are digits
    rows = np.isin(reference.target, [3, 8])
    assert_array_equal(two.X, reference.data[rows])
    assert_array_equal(two.y, np.where(reference.target[rows] == 3, 1, -1))
    assert two.name == "digits_8_3"
    assert set(load_dataset("digits", classes=(0, 4, 7)).y.tolist()) == {0, 4, 7}


# ---- sparse rows


def made(**params):
    return load_dataset(
        "sparse_rows", **{"n_samples": 300, "n_features": 2000, "n_test": 100, **params}
    )


def test_rows_have_length_one_and_the_nonzeros_asked_for():
    data = made()
    assert sparse.issparse(data.X)
    assert data.X.shape == (400, 2000)
    assert (np.diff(data.X.indptr) == 100).all()
    assert_allclose(np.sqrt(data.X.multiply(data.X).sum(axis=1)), 1.0, rtol=1e-12)
    assert_array_equal(data.official_train, np.arange(400) < 300)
    assert data.feature_names[[0, -1]].tolist() == ["1", "2000"]
    assert set(data.y.tolist()) == {-1, 1}


def test_half_of_the_relevant_features_are_in_each_row_with_their_share_of_its_length():
    X = made(n_samples=3000, signal=0.5).X.toarray()
    assert ((X[:, :20] != 0).sum(axis=1) == 10).all()
    # a ratio of chi squares of 10 and 90 degrees of freedom, of the same mean: about
    # one half of the length
    assert abs((X[:, :20] ** 2).sum(axis=1).mean() - 0.5) < 0.03
    assert (
        abs(
            (made(n_samples=3000, signal=0.1).X.toarray()[:, :20] ** 2)
            .sum(axis=1)
            .mean()
            - 0.1
        )
        < 0.01
    )


def test_all_other_features_are_equally_frequent():
    # 90 ranges of 1,980 features in 3,100 rows: a range of 22 is in a row once
    counts = np.diff(made(n_samples=3000).X.tocsc().indptr)[20:]
    assert abs(counts.mean() - 3100 / 22) < 1e-9
    assert np.abs(counts - 3100 / 22).max() < 6 * np.sqrt(3100 / 22)


@pytest.mark.parametrize("dense", [False, True])
def test_the_label_is_the_sign_of_a_sparse_vector(dense):
    data = made(noise=0.0, dense=dense, n_features=500)
    X = data.X if dense else data.X.toarray()
    # the signs of w by least squares on the relevant features, which then give every
    # label
    w = np.sign(np.linalg.lstsq(X[:, :20], data.y.astype(float))[0])
    assert_array_equal(np.sign(X[:, :20] @ w), data.y)
    noisy = made(noise=1.0, dense=dense, n_features=500)
    wrong = (
        np.sign((noisy.X if dense else noisy.X.toarray())[:, :20] @ w) != noisy.y
    ).mean()
    assert 0.15 < wrong < 0.35  # arctan(1) / pi = 1/4


def test_dense_rows_are_gaussian_of_length_one():
    data = made(dense=True, n_features=400, n_samples=2000)
    assert isinstance(data.X, np.ndarray)
    assert data.name == "sparse_rows_dense"
    assert_allclose((data.X**2).sum(axis=1), 1.0, rtol=1e-12)
    shares = (data.X**2).mean(axis=0)
    assert_allclose(shares[:20].sum(), 0.5, atol=0.03)
    assert np.abs(shares[20:] * 400 - 0.5 * 400 / 380).max() < 0.2


@pytest.mark.parametrize(
    "params",
    [
        {"nonzeros": 1},
        {"n_relevant": 1},
        {"n_relevant": 2000, "nonzeros": 1000},
        {"nonzeros": 2000},
        {"dense": True, "n_features": 20},
        {"n_features": 20, "nonzeros": 10},
    ],
)
def test_edges(params):
    data = made(**params)
    assert data.X.shape == (400, params.get("n_features", 2000))
    assert_allclose((data.X * data.X).sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("dense", [False, True])
def test_mirrored_rows_have_an_exactly_sparse_solution(dense):
    data = made(mirrored=True, dense=dense, n_features=500)
    X = data.X if dense else data.X.toarray()
    assert_array_equal(X[:150, :20], X[150:300, :20])
    assert_array_equal(X[:150, 20:], -X[150:300, 20:])
    assert_array_equal(data.y[:150], data.y[150:300])
    solved = hinge_dual(X[:300], data.y[:300].astype(float), 1e-3, tol=1e-12).w
    assert np.abs(solved[:20]).min() > 0.1
    assert np.abs(solved[20:]).max() < 1e-6
