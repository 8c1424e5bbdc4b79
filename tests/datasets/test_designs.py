"""Designs with known support: the first columns are what the label depends on, all of them and nothing else."""

import numpy as np
import pytest
from scipy.stats import kurtosis, rankdata
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from provlab.data import load_dataset
from provlab.data.loaders.design import DESIGNS

N = 12000
D = 12
K = 4


def design(kind, n_samples=N, n_features=D, n_relevant=K, seed=0):
    data = load_dataset(
        "design",
        kind=kind,
        n_samples=n_samples,
        n_features=n_features,
        n_relevant=n_relevant,
        seed=seed,
    )
    return data.X, data.y


def loss(X, y, columns):
    """Return the log loss on the second half of the rows of what a logistic regression of degree 2 learns of the first.

    Ranks stand in for the values, so that heavy tails do not matter.
    """
    scores = 2 * rankdata(X[:, columns], axis=0) / len(X) - 1
    half = len(X) // 2
    model = make_pipeline(
        PolynomialFeatures(2, include_bias=False),
        StandardScaler(),
        LogisticRegression(),
    )
    return log_loss(
        y[half:], model.fit(scores[:half], y[:half]).predict_proba(scores[half:])
    )


@pytest.mark.parametrize("kind", DESIGNS)
def test_each_relevant_feature_is_needed_and_no_other_one_helps(kind):
    X, y = design(kind)
    relevant = list(range(K))
    others = list(range(K, D))
    best = loss(X, y, relevant)
    prior = log_loss(y, np.tile(np.unique(y, return_counts=True)[1] / N, (N, 1)))
    assert best < 0.97 * prior
    for left_out in relevant:
        assert loss(X, y, [j for j in relevant if j != left_out]) > best + 0.004
    assert loss(X, y, relevant + others) > best - 0.002
    accompanied = kind in ("correlated", "copies", "chain", "proxies")
    assert (loss(X, y, others) < 0.97 * prior) == accompanied


def correlation(a, b):
    return np.corrcoef(a, b)[0, 1]


def close(value, expected, tolerance=0.05):
    return abs(value - expected) < tolerance


def wrong(X, y):
    """Return how often the sign of the sum of the relevant features is not the label."""
    return (np.sign(X[:, :K].sum(axis=1)) != y).mean()


HARD = {
    # the normal distribution function at -1.5
    "shift": lambda X, y: close(wrong(X, y), 0.0668, 0.01),
    "imbalance": lambda X, y: (y == 1).sum() == N // 10,
    "heavy_tails": lambda X, y: kurtosis(X[:, -1]) > 50,
    "label_noise": lambda X, y: close(wrong(X, y), 0.2 + 0.6 * 0.0668, 0.015),
    "scale": lambda X, y: (
        close(X[y > 0, 0].std() / X[y < 0, 0].std(), 2)
        and abs(correlation(X[:, 0], y)) < 0.05
    ),
    "words": lambda X, y: (
        set(np.unique(X)) == {0, 1}
        and close(X[y > 0, 1].mean() / X[y < 0, 1].mean(), 4, 0.6)
    ),
    "multiclass": lambda X, y: (
        [X[y == c].mean(axis=0).argmax() for c in range(4)] == [0, 1, 2, 3]
    ),
    "correlated": lambda X, y: (
        close(correlation(X[:, 1], X[:, K + 1]), 0.8)
        and close(wrong(X, y), 0.093, 0.01)
    ),
    "copies": lambda X, y: (
        close(correlation(X[:, 1], X[:, K + 1]), 0.96, 0.01) and X.std() < 1.05
    ),
    "chain": lambda X, y: (
        close(correlation(X[:, 1], X[:, 2]), 0.8**3) and close(wrong(X, y), 0.093, 0.01)
    ),
    "proxies": lambda X, y: (
        correlation(X[:, K], y) > 1.3 * max(correlation(X[:, j], y) for j in range(K))
    ),
    "suppressed": lambda X, y: (
        abs(correlation(X[:, K - 1], y)) < 0.05 < 0.2 < correlation(X[:, 0], y)
    ),
    "interactions": lambda X, y: (
        max(abs(correlation(X[:, j], y)) for j in range(K)) < 0.05
    ),
}


@pytest.mark.parametrize("kind", DESIGNS)
def test_each_design_is_hard_in_its_own_way(kind):
    assert HARD[kind](*design(kind))


@pytest.mark.parametrize("kind", DESIGNS)
def test_designs_of_one_seed_have_the_same_bits_and_share_no_numbers(kind):
    X, y = design(kind, 60, 50, 5)
    again, labels = design(kind, 60, 50, 5)
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, labels)
    others = [design(drawn, 60, 50, 5)[0] for drawn in DESIGNS if drawn != kind] + [
        design(kind, 60, 50, 5, seed=1)[0]
    ]
    if kind != "words":
        assert all((drawn == X).mean() < 0.01 for drawn in others)
    assert min(np.unique(y, return_counts=True)[1]) >= 6
    assert load_dataset("design", kind=kind).X.shape == (200, 500)
