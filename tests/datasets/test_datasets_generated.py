"""Data that need no files: synthetic and digits."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from provsel.datasets import load_dataset


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
    assert load_dataset("synthetic").fingerprint == data.fingerprint
    assert load_dataset("synthetic", seed=1).fingerprint != data.fingerprint
    assert load_dataset("synthetic", n_relevant=50).fingerprint != data.fingerprint
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
