"""Data that need no files: synthetic, Gaussian clusters and digits."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from provlab.datasets import load_dataset


def test_synthetic_has_the_papers_shape_and_moments():
    data = load_dataset("synthetic", n_samples=4000, n_features=60, n_relevant=50, seed=3)
    assert data.X.shape == (4000, 60)
    assert data.feature_names.tolist() == [str(j) for j in range(1, 61)]
    assert set(data.y.tolist()) == {-1, 1}
    assert abs(data.y.mean()) < 5 / np.sqrt(4000)
    # y X_j ~ N(-j, 1) for j <= k, N(0, 1) beyond: five standard errors.
    means = (data.y[:, None] * data.X).mean(axis=0)
    expected = np.where(np.arange(1, 61) <= 50, -np.arange(1, 61), 0)
    assert np.abs(means - expected).max() < 5 / np.sqrt(4000)
    assert np.abs((data.y[:, None] * data.X).std(axis=0) - 1).max() < 5 / np.sqrt(8000)


def test_synthetic_defaults_and_seeds():
    data = load_dataset("synthetic")
    assert data.X.shape == (200, 1000)
    assert load_dataset("synthetic").content == data.content
    assert load_dataset("synthetic", seed=1).content != data.content
    assert load_dataset("synthetic", n_relevant=50).content != data.content
    assert "Bhattacharyya (2004)" in data.source


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_samples": 0}, "n_samples must be an integer of at least 1, got 0"),
        ({"n_features": 2.5}, "n_features must be an integer of at least 1, got 2.5"),
        ({"n_relevant": True}, "n_relevant must be an integer of at least 1, got True"),
        ({"n_relevant": 0}, "n_relevant must be an integer of at least 1, got 0"),
        ({"n_features": 10, "n_relevant": 11}, "n_relevant must be at most n_features=10, got 11"),
        ({"seed": -1}, "seed must be an integer of at least 0, got -1"),
        ({"seed": "0"}, "seed must be an integer"),
    ],
)
def test_synthetic_refuses_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        load_dataset("synthetic", **params)


def clusters(**params):
    return load_dataset("gaussian_clusters", **params)


def test_gaussian_clusters_have_means_and_noise_of_unit_variance():
    data = clusters(n_samples=40, n_features=5000, n_classes=4, seed=3)
    assert data.X.shape == (40, 5000)
    assert data.feature_names.tolist() == [str(j) for j in range(1, 5001)]
    np.testing.assert_array_equal(data.y, np.arange(40) % 4)
    within = np.array([data.X[data.y == c].var(axis=0, ddof=1) for c in range(4)])
    assert abs(within.mean() - 1) < 5 * np.sqrt(2 / (36 * 5000))
    means = np.array([data.X[data.y == c].mean(axis=0) for c in range(4)])
    # of the class mean and of the mean of ten rows' noise: 1 + 1/10
    assert abs(means.var() - 1.1) < 5 * 1.1 * np.sqrt(2 / (4 * 5000))
    assert np.abs(np.corrcoef(means) - np.eye(4)).max() < 5 / np.sqrt(5000)


def test_gaussian_clusters_defaults_seeds_and_names():
    data = clusters()
    assert data.X.shape == (20, 20000)
    assert clusters().content == data.content
    assert clusters(seed=1).content != data.content
    assert data.name == "gaussian_clusters"
    assert clusters(columns="growing").name == "gaussian_clusters_growing"
    assert set(clusters(n_classes=2, n_features=3).y.tolist()) == {-1, 1}
    np.testing.assert_array_equal(clusters(scale=0.001).X, 0.001 * data.X)


def test_kinds_of_columns_are_factors_of_the_same_draw():
    X = clusters().X
    growing = clusters(columns="growing").X / X
    np.testing.assert_allclose(growing, np.tile(1 + 99 * np.arange(20000) / 19999, (20, 1)), rtol=1e-12)
    lognormal = clusters(columns="lognormal").X / X
    np.testing.assert_allclose(lognormal, np.tile(lognormal[0], (20, 1)), rtol=1e-12)
    logs = np.log(lognormal[0])
    assert abs(logs.mean()) < 5 * 2 / np.sqrt(20000)
    assert abs(logs.std() - 2) < 5 * 2 / np.sqrt(2 * 20000)


def test_lognormal_columns_are_heavy_tailed_and_gaussian_ones_are_not():
    def largest_hundredth(columns):
        squares = np.sort((clusters(columns=columns).X ** 2).sum(axis=0))
        return squares[-200:].sum() / squares.sum()

    assert largest_hundredth("gaussian") < 0.05
    assert largest_hundredth("lognormal") > 0.5


@pytest.mark.parametrize("n_samples", [20, 7])
def test_disjoint_columns_live_on_one_half_of_the_rows(n_samples):
    plain, X = (clusters(n_samples=n_samples, columns=columns).X for columns in ("gaussian", "disjoint"))
    half = n_samples // 2
    first, second = X[:half].any(axis=0), X[half:].any(axis=0)
    assert (first != second).all()
    assert abs(first.mean() - 0.5) < 5 * 0.5 / np.sqrt(20000)
    np.testing.assert_array_equal(X[:half, first], plain[:half, first])
    np.testing.assert_array_equal(X[half:, second], plain[half:, second])
    assert not (X[:, first].T[:50] @ X[:, second]).any()
    assert all(clusters(columns="disjoint", n_features=5, seed=seed).X[:10, 0].all() for seed in range(20))


def test_gaussian_clusters_of_one_column():
    for columns in ("gaussian", "lognormal", "disjoint", "growing"):
        assert clusters(n_features=1, columns=columns).X.shape == (20, 1)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_samples": 0}, "gaussian_clusters: n_samples must be an integer of at least 1, got 0"),
        ({"n_features": 2.5}, "n_features must be an integer of at least 1, got 2.5"),
        ({"n_classes": 1}, "n_classes must be an integer of at least 2, got 1"),
        ({"n_samples": 4, "n_classes": 5}, "n_samples must be at least n_classes=5, got 4. Raise it"),
        ({"columns": "cauchy"}, "columns must be one of gaussian, lognormal, disjoint, growing, got 'cauchy'"),
        ({"scale": 0}, "gaussian_clusters: scale must be a positive finite number, got 0"),
        ({"scale": np.inf}, "scale must be a positive finite number, got inf"),
        ({"scale": np.nan}, "scale must be a positive finite number, got nan"),
        ({"scale": True}, "scale must be a positive finite number, got True"),
        ({"scale": "1"}, "scale must be a positive finite number, got '1'"),
        ({"seed": -1}, "seed must be an integer of at least 0, got -1"),
    ],
)
def test_gaussian_clusters_refuse_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        clusters(**params)


def test_digits_all_classes():
    data, reference = load_dataset("digits"), load_digits()
    np.testing.assert_array_equal(data.X, reference.data)
    np.testing.assert_array_equal(data.y, reference.target)
    assert data.feature_names[9] == "pixel_1_1"
    assert data.name == "digits"


def test_digits_two_classes_are_signs_and_more_are_digits():
    reference = load_digits()
    data = load_dataset("digits", classes=[8, 3])
    rows = np.isin(reference.target, [3, 8])
    np.testing.assert_array_equal(data.X, reference.data[rows])
    np.testing.assert_array_equal(data.y, np.where(reference.target[rows] == 3, 1, -1))
    assert data.name == "digits_8_3"
    assert set(load_dataset("digits", classes=(0, 4, 7)).y.tolist()) == {0, 4, 7}


@pytest.mark.parametrize("classes", [[3], [], [3, 3], [3, 10]])
def test_digits_refuses_bad_classes(classes):
    with pytest.raises(ValueError, match="at least two distinct digits from 0 to 9, got"):
        load_dataset("digits", classes=classes)


@pytest.mark.parametrize(("classes", "message"), [("38", "must be a list of digits"), (3, "must be a list of digits"),
                                                  ([3, "8"], "must be an integer of at least 0, got '8'"),
                                                  ([3, -1], "must be an integer of at least 0, got -1")])  # fmt: skip
def test_digits_refuses_what_is_no_list_of_digits(classes, message):
    with pytest.raises(ValueError, match=message):
        load_dataset("digits", classes=classes)
