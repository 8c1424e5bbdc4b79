"""Synthetic rows whose labels depend on few features: what Giesen et al. (2013) assume of their data."""

import numpy as np
import pytest
from scipy import sparse

from provlab.datasets import load_dataset
from provlab.plan import compose_config
from provlab.run.task import load_from
from provsel.kernels.hinge_dual import hinge_dual


def made(**params):
    return load_dataset("sparse_rows", **{"n_samples": 300, "n_features": 2000, "n_test": 100, **params})


def test_rows_have_length_one_and_the_nonzeros_asked_for():
    data = made()
    assert sparse.issparse(data.X)
    assert data.X.shape == (400, 2000)
    assert (np.diff(data.X.indptr) == 100).all()
    np.testing.assert_allclose(np.sqrt(data.X.multiply(data.X).sum(axis=1)), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(data.official_train, np.arange(400) < 300)
    assert data.feature_names[[0, -1]].tolist() == ["1", "2000"]
    assert set(data.y.tolist()) == {-1, 1}


def test_half_of_the_relevant_features_are_in_each_row_with_their_share_of_its_length():
    X = made(n_samples=3000, signal=0.5).X.toarray()
    assert ((X[:, :20] != 0).sum(axis=1) == 10).all()
    # a ratio of chi squares of 10 and 90 degrees of freedom, of the same mean: about one half of the length
    assert abs((X[:, :20] ** 2).sum(axis=1).mean() - 0.5) < 0.03
    assert abs((made(n_samples=3000, signal=0.1).X.toarray()[:, :20] ** 2).sum(axis=1).mean() - 0.1) < 0.01


def test_all_other_features_are_equally_frequent():
    # 90 ranges of 1,980 features in 3,100 rows: a range of 22 is in a row once
    counts = np.diff(made(n_samples=3000).X.tocsc().indptr)[20:]
    assert abs(counts.mean() - 3100 / 22) < 1e-9
    assert np.abs(counts - 3100 / 22).max() < 6 * np.sqrt(3100 / 22)


@pytest.mark.parametrize("dense", [False, True])
def test_the_label_is_the_sign_of_a_sparse_vector(dense):
    data = made(noise=0.0, dense=dense, n_features=500)
    X = data.X if dense else data.X.toarray()
    # the signs of w by least squares on the relevant features, which then give every label
    w = np.sign(np.linalg.lstsq(X[:, :20], data.y.astype(float))[0])
    np.testing.assert_array_equal(np.sign(X[:, :20] @ w), data.y)
    noisy = made(noise=1.0, dense=dense, n_features=500)
    wrong = (np.sign((noisy.X if dense else noisy.X.toarray())[:, :20] @ w) != noisy.y).mean()
    assert 0.15 < wrong < 0.35  # arctan(1) / pi = 1/4


def test_dense_rows_are_gaussian_of_length_one():
    data = made(dense=True, n_features=400, n_samples=2000)
    assert isinstance(data.X, np.ndarray)
    assert data.name == "sparse_rows_dense"
    np.testing.assert_allclose((data.X**2).sum(axis=1), 1.0, rtol=1e-12)
    shares = (data.X**2).mean(axis=0)
    np.testing.assert_allclose(shares[:20].sum(), 0.5, atol=0.03)
    assert np.abs(shares[20:] * 400 - 0.5 * 400 / 380).max() < 0.2


def test_seeds_and_defaults():
    assert made().content == made().content
    assert made().content != made(seed=1).content
    config = compose_config(["dataset=sparse_rows"])["dataset"]
    assert load_from(config).content == load_dataset("sparse_rows").content


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
    np.testing.assert_allclose((data.X * data.X).sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_samples": 0}, "sparse_rows: n_samples must be an integer of at least 1, got 0"),
        ({"n_test": 0}, "n_test must be an integer of at least 1, got 0"),
        ({"nonzeros": 2.5}, "nonzeros must be an integer of at least 1, got 2.5"),
        ({"n_relevant": 2001}, "n_relevant must be at most n_features=2000, got 2001. Lower it"),
        ({"nonzeros": 2001}, "nonzeros must be at most n_features=2000, got 2001. Lower it"),
        ({"signal": 1.0}, "signal must be a number between 0 and 1, got 1.0"),
        ({"signal": "0.5"}, "signal must be a number between 0 and 1, got '0.5'"),
        ({"noise": -1}, "noise must be a number of at least 0, got -1"),
        ({"noise": np.nan}, "noise must be a number of at least 0, got nan"),
        ({"dense": 1}, "dense must be true or false, got 1"),
        ({"seed": -1}, "seed must be an integer of at least 0, got -1"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        made(**params)


@pytest.mark.parametrize("dense", [False, True])
def test_mirrored_rows_have_an_exactly_sparse_solution(dense):
    data = made(mirrored=True, dense=dense, n_features=500)
    X = data.X if dense else data.X.toarray()
    np.testing.assert_array_equal(X[:150, :20], X[150:300, :20])
    np.testing.assert_array_equal(X[:150, 20:], -X[150:300, 20:])
    np.testing.assert_array_equal(data.y[:150], data.y[150:300])
    solved = hinge_dual(X[:300], data.y[:300].astype(float), 1e-3, tol=1e-12).w
    assert np.abs(solved[:20]).min() > 0.1
    assert np.abs(solved[20:]).max() < 1e-6
    with pytest.raises(ValueError, match="n_samples must be even for mirrored rows, which come in pairs, got 301"):
        made(mirrored=True, n_samples=301)
    with pytest.raises(ValueError, match="mirrored must be true or false, got 1"):
        made(mirrored=1)
