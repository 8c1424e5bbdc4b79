"""KnockoffSelector: the law of the copies, the filter, and the false discovery rate by simulation."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.covariance import ledoit_wolf
from sklearn.linear_model import LassoCV
from sklearn.model_selection import KFold

from provsel.kernels.gaussian_knockoffs import (
    equicorrelated_gap,
    gaussian_knockoffs,
    knockoff_threshold,
    shrunk_correlation,
)
from provsel.kernels.standardised import standardised_columns
from provsel.selectors import KnockoffSelector
from textbook import one_vs_rest

rng = np.random.default_rng(99)


def correlated(n, d, seed=0, rho=0.5):
    """Gaussian rows whose columns i and j have the correlation rho^|i - j|."""
    C = rho ** np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
    return np.random.default_rng(seed).standard_normal((n, d)) @ np.linalg.cholesky(
        C
    ).T, C


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.9])
def test_exchanging_any_column_with_its_knockoff_changes_no_second_moment(rho):
    """Of the linear maps that make the knockoffs, exactly: z~ = z A + noise B."""
    _, C = correlated(1, 6, rho=rho)
    gap = equicorrelated_gap(C)
    assert gap == pytest.approx(min(1.0, 2 * np.linalg.eigvalsh(C)[0]), rel=1e-12)
    A = gaussian_knockoffs(np.eye(6), C, gap, SimpleNamespace(standard_normal=np.zeros))
    B = gaussian_knockoffs(
        np.zeros((6, 6)),
        C,
        gap,
        SimpleNamespace(standard_normal=lambda shape: np.eye(6)),
    )
    joint = np.block([[C, C @ A], [A.T @ C, A.T @ C @ A + B.T @ B]])
    assert_allclose(
        joint,
        np.block([[C, C - gap * np.eye(6)], [C - gap * np.eye(6), C]]),
        atol=1e-12,
    )
    for feature in range(6):
        exchanged = np.arange(12)
        exchanged[[feature, feature + 6]] = feature + 6, feature
        assert_allclose(joint[np.ix_(exchanged, exchanged)], joint, atol=1e-12)


def test_second_moments_of_a_sample_are_those_of_the_law():
    Z, C = correlated(40_000, 4)
    gap = equicorrelated_gap(C)
    both = np.hstack([Z, gaussian_knockoffs(Z, C, gap, rng)])
    expected = np.block([[C, C - gap * np.eye(4)], [C - gap * np.eye(4), C]])
    assert_allclose(both.T @ both / len(Z), expected, atol=0.04)


def test_the_shrinkage_is_that_of_scikit_learn():
    for n, d in ((30, 50), (200, 8)):
        Z = standardised_columns(correlated(n, d)[0]).T
        assert_allclose(shrunk_correlation(Z), ledoit_wolf(Z)[0], atol=1e-12)


@pytest.mark.parametrize("offset", [0, 1])
@pytest.mark.parametrize("fdr", [0.05, 0.2, 0.5])
def test_the_threshold_is_the_textbooks(fdr, offset):
    for seed in range(30):
        drawn = np.random.default_rng(seed)
        W = np.round(drawn.standard_normal(25) + drawn.integers(0, 3), 1)
        expected = np.inf
        for t in sorted({abs(value) for value in W if value}):
            if (offset + sum(-t >= W)) / max(1, sum(t <= W)) <= fdr:
                expected = t
                break
        assert knockoff_threshold(W, fdr, offset=offset) == expected
    assert knockoff_threshold(np.zeros(3), fdr) == np.inf


@pytest.mark.parametrize("name", ["numbers", "two classes", "three classes"])
def test_statistics_are_differences_of_the_lassos_coefficients(name):
    X, _ = correlated(90, 12)
    number = X[:, 0] - X[:, 5] + rng.standard_normal(90)
    y = {
        "numbers": number,
        "two classes": (number > 0).astype(int),
        "three classes": np.digitize(number, [-0.5, 0.5]),
    }[name]
    selector = KnockoffSelector(12, random_state=7).fit(X * 100 - 3, y)
    drawn = np.random.default_rng(7)
    Z = standardised_columns(X).T
    C = ledoit_wolf(Z)[0]
    noise = np.random.default_rng(drawn.integers(2**63, size=2))
    both = np.hstack([Z, gaussian_knockoffs(Z, C, selector.gap_, noise)])
    targets = one_vs_rest(y)
    sizes = np.zeros(24)
    for target in targets:
        most = np.abs(both.T @ (target - target.mean())).max() / 90
        folds = KFold(5, shuffle=True, random_state=int(drawn.integers(2**31)))
        sizes += np.abs(
            LassoCV(alphas=most * np.geomspace(0.9, 0.02, 25), cv=folds)
            .fit(both, target)
            .coef_
        )
    assert_allclose(selector.scores_, sizes[:12] - sizes[12:], atol=1e-6)
    assert {0, 5} & set(selector.indices_[:2])
    assert selector.threshold_ == knockoff_threshold(selector.scores_, 0.1)


@pytest.mark.filterwarnings("ignore:.*the method keeps none:UserWarning")
def test_the_false_discovery_rate_is_controlled_and_planted_features_are_found():
    """Theorem 3.4 by simulation, with the covariance estimated; all with W > 0 are the negative control.

    The rows are drawn from the selector's own seed, as users do: knockoffs drawn from
    the same numbers would be near copies of the columns, with a third of the power.
    """
    shares = []
    powers = []
    controls = []
    for seed in range(300):
        X, _ = correlated(160, 30, seed, rho=0.3)
        y = X[:, ::3].sum(axis=1) + 2 * np.random.default_rng(
            seed + 1000
        ).standard_normal(160)
        selector = KnockoffSelector(fdr=0.2, random_state=seed).fit(X, y)
        kept = np.flatnonzero(selector.scores_ >= selector.threshold_)
        positive = np.flatnonzero(selector.scores_ > 0)
        shares.append(np.mean(kept % 3 != 0) if kept.size else 0.0)
        powers.append(np.mean(kept % 3 == 0) * kept.size / 10 if kept.size else 0.0)
        controls.append(np.mean(positive % 3 != 0))
    assert np.mean(shares) <= 0.2
    assert np.mean(powers) > 0.9
    assert np.mean(controls) > 0.25


def test_nothing_is_kept_of_noise_and_it_says_so():
    X, _ = correlated(80, 8)
    with pytest.warns(
        UserWarning, match="KnockoffSelector: the method keeps none of 8 features"
    ):
        selector = KnockoffSelector(random_state=0).fit(X, rng.standard_normal(80))
    assert selector.threshold_ == np.inf
    assert selector.indices_.size == 1


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            np.ones((12, 2001)),
            "expected at most 2000 features, got 2001; keep fewer columns without looking at y",
        ),
        (
            correlated(9, 4)[0],
            "expected at least 10 rows, for 5 folds, got n_samples = 9",
        ),
        (
            np.tile(np.sign(np.arange(20) - 9.5)[:, None], 2),
            "expected columns that are linearly independent, got",
        ),
    ],
)
def test_what_it_refuses(rows, message):
    with pytest.raises(ValueError, match=f"^KnockoffSelector: {message}"):
        KnockoffSelector().fit(rows, rng.standard_normal(len(rows)))


def test_seeds_decide_which_knockoffs_are_drawn():
    X, _ = correlated(80, 8)
    y = X[:, 0] + rng.standard_normal(80)
    first, again, second = (
        KnockoffSelector(8, random_state=seed).fit(X, y).scores_ for seed in (1, 1, 2)
    )
    assert_array_equal(first, again)
    assert not np.array_equal(first, second)


KNOCKPY = json.loads(
    (Path(__file__).parents[1] / "data" / "packages" / "knockpy.json").read_text(
        encoding="utf-8"
    )
)


def test_thresholds_and_gaps_are_those_of_knockpy():
    """Its gaps are a little smaller, so that the covariance of the knockoffs has an inverse."""
    for case in KNOCKPY["thresholds"]:
        expected = np.inf if case["threshold"] is None else case["threshold"]
        assert knockoff_threshold(np.array(case["W"]), case["fdr"]) == expected
    for case in KNOCKPY["gaps"]:
        _, C = correlated(1, 5, rho=case["rho"])
        assert_allclose(case["gaps"], equicorrelated_gap(C), rtol=2e-3)
