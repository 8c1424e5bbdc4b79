"""Ridge regression's certificates, beside scikit-learn's Ridge and beside their definitions by all singular vectors."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge

from provsel.certificates import (
    MeasuredTrial,
    RidgeRegressionCost,
    RidgeRegressionRisk,
    certify,
)
from provsel.selectors import (
    BSSSelector,
    FullDataSelector,
    LeverageScoreSelector,
    UniformSelector,
)
from provsel.training_view import TrainingView


def rows(n=30, rank=6, d=200, decay=1.0, seed=0):
    """Rows of a given rank, whose directions differ in scale by `decay` to the power of the rank."""
    rng = np.random.default_rng(seed)
    return (
        rng.standard_normal((n, rank)) * decay ** np.arange(rank)
    ) @ rng.standard_normal((rank, d))


def objective(X, y, alpha):
    model = Ridge(alpha=alpha, fit_intercept=False, solver="svd").fit(X, y)
    return np.sum((X @ model.coef_ - y) ** 2) + alpha * np.sum(model.coef_**2)


def bias_and_variance(X, y, alpha):
    """Return both by all n left singular vectors of X: products with the n x n kernel would lose what is small."""
    U, sigma, _ = np.linalg.svd(X)
    squares = np.zeros(len(y))
    squares[: sigma.size] = sigma**2
    return np.mean((alpha / (squares + alpha) * (U.T @ y)) ** 2), np.sum(
        (squares / (squares + alpha)) ** 2
    )


def reduced(selector, X):
    return X[:, selector.indices_] * selector.weights_


SELECTORS = [
    BSSSelector(120),
    LeverageScoreSelector(60, random_state=0),
    UniformSelector(90, random_state=0),
    FullDataSelector(),
]


@pytest.mark.parametrize(
    "selector", SELECTORS, ids=lambda selector: type(selector).__name__
)
@pytest.mark.parametrize("decay", [1.0, 0.1], ids=["even", "ill-conditioned"])
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 1e3])
def test_both_hold_and_are_what_their_definitions_say(selector, decay, scale, alpha):
    X = rows(decay=decay) * scale
    y = X @ np.random.default_rng(1).standard_normal(
        X.shape[1]
    ) + np.random.default_rng(2).standard_normal(X.shape[0])
    selector.fit(X)
    Z = reduced(selector, X)
    certificate = certify(selector, X, y, C=None, radius=False, ridge=alpha)
    cost = certificate.ridge_cost
    risk = certificate.ridge_risk
    assert cost.state == "held"
    assert risk.state == "held"

    assert cost.cost_ratio == pytest.approx(
        objective(Z, y, alpha) / objective(X, y, alpha), rel=1e-6
    )
    (_, full), (bias, variance) = (
        bias_and_variance(matrix, y, alpha) for matrix in (X, Z)
    )
    assert risk.variance_ratio == pytest.approx(variance / full, rel=1e-6)
    assert risk.bias == pytest.approx(bias, rel=1e-6)
    assert cost.cost_low <= cost.cost_ratio * (1 + 1e-7)
    assert cost.cost_ratio <= cost.cost_high * (1 + 1e-7)
    assert risk.bias <= risk.bias_bound * (1 + 1e-7)


def test_fewer_features_than_the_rank_leave_both_bounds_without_a_statement():
    X = rows()
    certificate = certify(
        UniformSelector(3, random_state=0).fit(X), X, X[:, 0], C=None, ridge=1.0
    )
    assert certificate.ridge_cost.state == "vacuous"
    assert certificate.ridge_risk.state == "vacuous"
    assert certificate.ridge_cost.cost_high == np.inf
    assert certificate.ridge_cost.cost_ratio > 1


@pytest.mark.parametrize("theorem", [RidgeRegressionCost, RidgeRegressionRisk])
def test_a_selection_that_claims_to_lose_nothing_is_found_out(theorem):
    """The bounds follow from the eigenvalues: with those of all features, a poor selection has to violate them."""
    X = rows()
    trial = MeasuredTrial(
        UniformSelector(8, random_state=0).fit(X),
        TrainingView(X, X[:, 0]),
        geometry={"eigenvalues": np.ones(6)},
    )
    assert theorem.measure(trial, alpha=1.0).state == "violated"


def test_labels_of_two_classes_are_signs_and_words_of_three_are_not_measured():
    X = rows()
    rng = np.random.default_rng(3)
    signs = np.where(X[:, 0] > 0, 1.0, -1.0)
    selector = BSSSelector(100).fit(X)
    by_name = certify(selector, X, np.where(signs > 0, "yes", "no"), C=None, ridge=1.0)
    assert (
        by_name.ridge_cost == certify(selector, X, signs, C=None, ridge=1.0).ridge_cost
    )
    three = certify(
        selector, X, rng.choice(["a", "b", "c"], X.shape[0]), C=None, ridge=1.0
    )
    assert three.ridge_cost.state == "not measured"
    assert three.ridge_risk.state == "held"
    assert np.isnan(three.ridge_risk.bias)


def test_sparse_rows_give_what_dense_rows_give():
    X = rows() * (np.random.default_rng(4).random((30, 200)) < 0.3)
    y = X[:, 0]
    selector = BSSSelector(150).fit(X)
    dense, thin = (
        certify(selector, matrix, y, C=None, ridge=1.0)
        for matrix in (X, sparse.csr_array(X))
    )
    assert thin.ridge_cost.cost_ratio == pytest.approx(
        dense.ridge_cost.cost_ratio, rel=1e-9
    )
    assert thin.ridge_risk.bias == pytest.approx(dense.ridge_risk.bias, rel=1e-9)


@pytest.mark.parametrize("alpha", [0, -1.0, np.nan, np.inf, True, "one"])
def test_a_penalty_has_to_be_positive(alpha):
    X = rows()
    with pytest.raises(
        ValueError, match="ridge certificate: expected a positive, finite alpha, got"
    ):
        certify(FullDataSelector().fit(X), X, X[:, 0], ridge=alpha)
