"""The feature-selective SVM and its selector: attributes, kept features, forms of X, warnings, errors, real data."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from provsel.kernels.feature_selective import feature_selective_svm
from provsel.kernels.gaussian_blocks import GaussianBlocks
from provsel.models import FeatureSelectiveSVM
from provsel.selectors import FeatureSelectiveSelector

PENALTIES = {"c1": 1e-2, "c2": 1e-2}
FITS = {
    "kernel weights": FeatureSelectiveSVM(**PENALTIES),
    "as printed": FeatureSelectiveSVM(**PENALTIES, form="as_printed", random_state=0),
    "kernel weights compressed": FeatureSelectiveSVM(
        **PENALTIES, n_components=20, variance="1/l", n_starts=1, random_state=0
    ),
    "as printed compressed": FeatureSelectiveSVM(
        c1=2e-3,
        c2=1e-3,
        form="as_printed",
        n_components=20,
        variance="1/l",
        random_state=0,
    ),
}


rng = np.random.default_rng(0)
y = np.where(np.arange(60) % 2, "spam", "ham")
X = rng.standard_normal((60, 90))
X[:, [20, 40, 70]] += np.where(y == "spam", 1.0, -1.0)[:, None]
X[:, 5] = X[:, 40]


@cache
def fit_once(name):
    """Return the model that is fitted to the dense rows, to be looked at only."""
    return clone(FITS[name]).fit(X, y)


@pytest.fixture(params=FITS, ids=lambda name: name.replace(" ", "_"))
def dense(request):
    return fit_once(request.param)


def test_fitted_attributes(dense):
    signs = np.where(y == "spam", 1, -1)
    assert dense.classes_.tolist() == ["ham", "spam"]
    assert dense.coef_.shape == (1, 90)
    assert dense.intercept_.tolist() == [0.0]
    assert dense.mu_.shape == dense.w_.shape == (90,)
    assert ((dense.mu_ >= 0) & (dense.mu_ <= 1)).all()
    factors = dense.mu_ if dense.form == "as_printed" else np.sqrt(dense.mu_)
    assert_allclose(dense.coef_[0], factors * dense.w_, rtol=1e-9, atol=1e-15)
    short = dense.w_ if dense.n_components is None else dense.compressed_coef_
    loss = np.maximum(0, 1 - signs * dense.decision_function(X)).mean()
    expected = loss + dense.c2 * short @ short + dense.c1 * dense.mu_.sum()
    assert dense.objective_ == pytest.approx(expected, rel=1e-9)
    assert dense.objective_ == dense.start_objectives_.min()
    assert dense.n_iter_ > 0
    assert dense.score(X, y) > 0.9
    convex = dense.form == "kernel_weights" and dense.n_components is None
    assert np.isnan([dense.gap_, dense.dual_objective_]).all() == (not convex)
    assert (dense.compressed_coef_ is None) == (dense.n_components is None)


def test_features_come_in_order_of_their_factors(dense):
    assert (
        set(dense.indices_)
        == set(np.flatnonzero(dense.mu_))
        == set(np.flatnonzero(dense.coef_[0]))
    )
    order = dense.mu_[dense.indices_]
    assert (np.diff(order) <= 1e-9).all()
    assert (np.diff(dense.indices_[order == 1]) > 0).all()
    if dense.n_components is None:
        assert {20, 40, 70} <= set(dense.indices_)


def test_convex_form_is_certified():
    fitted = fit_once("kernel weights")
    solution = feature_selective_svm(X, np.where(y == "spam", 1.0, -1.0), 1e-2, 1e-2)
    assert_array_equal(fitted.coef_[0], solution.v)
    assert fitted.gap_ == solution.gap <= 1e-6
    assert fitted.dual_objective_ <= fitted.objective_ * (1 + 1e-12)
    assert fit_once("as printed").objective_ >= fitted.dual_objective_
    assert fitted.mu_[5] == pytest.approx(fitted.mu_[40], rel=1e-9)  # equal columns


def test_compressed_solution_comes_from_the_blocks():
    fitted = fit_once("as printed compressed")
    key = int.from_bytes(np.random.default_rng(0).bytes(16), "little")
    blocks = GaussianBlocks(20, 90, variance=1 / 20, key=key)
    assert_array_equal(fitted.w_, blocks.expand(fitted.compressed_coef_))
    printed = clone(fitted).set_params(variance="1/m").fit(X, y)
    assert printed.objective_ != pytest.approx(fitted.objective_, rel=1e-3)


def test_more_starts_are_no_worse():
    few, many = (
        clone(FITS["as printed"]).set_params(n_starts=count).fit(X, y)
        for count in (1, 6)
    )
    assert few.start_objectives_.shape == (2,)
    assert many.start_objectives_.shape == (7,)
    # w = 0
    assert few.start_objectives_[-1] == many.start_objectives_[-1] == pytest.approx(1.0)
    assert many.objective_ <= few.objective_
    assert many.start_objectives_[0] == few.start_objectives_[0]


def test_defaults_keep_some_features():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    fitted = FeatureSelectiveSVM().fit(X, y)
    assert 3 <= fitted.indices_.size < 30
    assert fitted.score(X, y) > 0.95


def test_c1_max():
    most = FeatureSelectiveSVM.c1_max(X, y, 1e-2)
    assert FeatureSelectiveSVM.c1_max(sparse.csc_array(X), y, 1e-2) == pytest.approx(
        most, rel=1e-12
    )
    assert FeatureSelectiveSVM(c1=0.999 * most, c2=1e-2).fit(X, y).coef_.any()
    with pytest.warns(UserWarning, match="every weight is zero"):
        assert not FeatureSelectiveSVM(c1=1.001 * most, c2=1e-2).fit(X, y).coef_.any()
    with pytest.raises(
        ValueError, match="c1_max: expected a positive, finite c2, got 0"
    ):
        FeatureSelectiveSVM.c1_max(X, y, 0)
    with pytest.raises(
        ValueError,
        match="c1_max: expected labels of two classes, got 3; pass the rows of two",
    ):
        FeatureSelectiveSVM.c1_max(X, np.arange(60) % 3, 1.0)
    with pytest.raises(
        ValueError,
        match=r"c1_max: expected labels of at least two classes, got 1 class",
    ):
        FeatureSelectiveSVM.c1_max(X, np.zeros(60), 1.0)


def test_no_weight_at_all_keeps_the_feature_that_comes_first():
    first = (
        FeatureSelectiveSVM(c1=0.999 * FeatureSelectiveSVM.c1_max(X, y, 1.0), c2=1.0)
        .fit(X, y)
        .indices_
    )
    for model in FITS.values():
        with pytest.warns(
            UserWarning,
            match=r"every weight is zero at c1=1e\+06; kept the feature .* Lower c1",
        ):
            fitted = clone(model).set_params(c1=1e6, c2=1.0).fit(X, y)
        assert fitted.indices_.tolist() == first[:1].tolist()
        assert not fitted.coef_.any()
        assert fitted.objective_ == pytest.approx(1.0)


def test_stopping_early_warns():
    with pytest.warns(
        ConvergenceWarning,
        match=r"gap of at most tol = 1e-06, got 0\.\d+ after 3 steps; raise max_iter",
    ):
        fitted = FeatureSelectiveSVM(**PENALTIES, max_iter=3).fit(X, y)
    optimum = FeatureSelectiveSVM(**PENALTIES).fit(X, y).objective_
    assert fitted.dual_objective_ <= optimum <= fitted.objective_
    for name in ("as printed", "as printed compressed"):
        with pytest.warns(
            ConvergenceWarning,
            match=r"less than tol = 1e-06 of it, got 1 that lower it by more; raise",
        ):
            clone(FITS[name]).set_params(max_iter=1).fit(X, y)


def test_selector_is_the_model(dense):
    selector = FeatureSelectiveSelector(**dense.get_params()).fit(X, y)
    assert_array_equal(selector.indices_, dense.indices_)
    assert_array_equal(selector.scores_, dense.mu_)
    assert_array_equal(selector.coef_, dense.coef_)
    assert selector.objective_ == dense.objective_
    assert selector.classes_.tolist() == ["ham", "spam"]
    assert selector.is_random == (dense is not fit_once("kernel weights"))
