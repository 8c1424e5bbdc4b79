"""Targets of numbers: elimination by ridge, the lasso and alpha-investing against scikit-learn's; others refuse."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import RFE, f_regression
from sklearn.linear_model import Lasso, Ridge, lasso_path
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVR

import provsel.selectors.svm_rfe as rfe_module
from provsel.selectors import (
    AlphaInvestingSelector,
    AlwaysKept,
    AtSize,
    BSSSelector,
    CrossValidatedSize,
    FeatureSelectiveSelector,
    L1SVMSelector,
    LassoSelector,
    LPSVMSelector,
    OnSupportVectors,
    SVMRFESelector,
    UniformSelector,
)
from provsel.stability import StabilityReport
from provsel.training_view import TrainingView


def numbers(n, d, seed=0):
    """Return X and a target of a third of its columns, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X[:, ::3] @ np.linspace(1, 2, X[:, ::3].shape[1]) + 0.5 * rng.standard_normal(n)


def of(n, d, change):
    X, y = numbers(n, d)
    return change(X), y


RNG = np.random.default_rng(1)
INPUTS = {
    "tall": numbers(60, 12),
    "wide": numbers(25, 60),
    "scales from 1e-3 to 1e5, tall": of(60, 12, lambda X: X * 10.0 ** np.linspace(-3, 5, 12)),
    "scales from 1e-3 to 1e5, wide": of(25, 60, lambda X: X * 10.0 ** np.linspace(-3, 5, 60)),
    "an id, tall": of(60, 12, lambda X: np.column_stack([RNG.integers(0, 10**7, 60), X])),
    "an id, wide": of(25, 60, lambda X: np.column_stack([RNG.integers(0, 10**7, 25), X])),
    "far from zero": of(60, 12, lambda X: X + 1e5),
    "counts": of(60, 40, lambda X: np.maximum(np.round(2 * X), 0) * (1 + 0.01 * RNG.random(X.shape))),
    "nearly dependent": of(60, 12, lambda X: np.column_stack([X, X[:, 0] + 1e-3 * X[:, 5]])),
    "a large target": (numbers(60, 12)[0], 1e9 + 1e5 * numbers(60, 12)[1]),
    "diabetes": load_diabetes(return_X_y=True),
}
FORMS = [np.asarray, sparse.csr_array]


def ridge_weights(X, y, alpha=0.5):
    """Return abs(w) of ridge regression, by least squares on rows that stand for the penalty."""
    rows = np.vstack([X - X.mean(axis=0), np.sqrt(alpha) * np.eye(X.shape[1])])
    return np.abs(np.linalg.lstsq(rows, np.concatenate([y - y.mean(), np.zeros(X.shape[1])]), rcond=0)[0])


class TestElimination:
    @pytest.mark.parametrize("form", FORMS)
    @pytest.mark.parametrize("step", [1, 7])
    @pytest.mark.parametrize("name", INPUTS)
    def test_ranking_is_that_of_scikit_learn(self, name, step, form):
        X, y = INPUTS[name]
        selector = SVMRFESelector(3, step=step, C=2.0, task="regression").fit(form(X), y)
        # by singular values: scikit-learn's own choice for wide rows loses the others beside a large column
        reference = RFE(Ridge(alpha=0.25, solver="svd"), n_features_to_select=3, step=step).fit(X, y)
        np.testing.assert_array_equal(selector.ranking_, reference.ranking_)
        w = ridge_weights(X[:, left := np.flatnonzero(selector.ranking_ <= 2)], y, 0.25)
        order = [place for place in left[np.argsort(-w)] if selector.ranking_[place] == 1]
        assert selector.indices_.tolist() == order

    def test_a_fraction_is_of_the_remaining_features(self):
        X, y = INPUTS["wide"]
        left = np.arange(60)
        while left.size > 5:
            count = max(5, left.size - max(1, int(0.3 * left.size)))
            left = np.sort(left[np.argsort(-ridge_weights(X[:, left], y))[:count]])
        np.testing.assert_array_equal(SVMRFESelector(5, step=0.3).fit(X, y).get_support(indices=True), left)

    def test_whole_numbers_are_classes_unless_told(self):
        X, y = numbers(60, 12)
        whole = np.round(2 * y)
        told, half = (SVMRFESelector(4, task="regression").fit(X, each) for each in (whole, whole + 0.5))
        np.testing.assert_array_equal(told.ranking_, half.ranking_)
        few = np.digitize(y, [-1, 1])
        as_classes, told = SVMRFESelector(4).fit(X, few), SVMRFESelector(4, task="regression").fit(X, few)
        np.testing.assert_array_equal(
            as_classes.ranking_, SVMRFESelector(4, task="classification").fit(X, few).ranking_
        )
        assert (as_classes.n_iter_ > 1, told.n_iter_) == (True, 1)  # LIBSVM counts its iterations
        np.testing.assert_array_equal(told.ranking_, SVMRFESelector(4).fit(X, few + 0.5).ranking_)

    def test_copies_of_a_column_are_kept_lowest_index_first(self):
        X, y = numbers(60, 12)
        for form in FORMS:
            kept = SVMRFESelector(10, step=1).fit(form(np.hstack([X, X, X])), y).indices_
            assert {place % 12 for place in kept if place >= 12} <= {place for place in kept if place < 12}

    def test_neither_order_of_r_nor_sharing_matters(self):
        X, y = INPUTS["wide"]
        view = TrainingView(X, y)
        for r in (20, 3, 50, 4):
            shared, alone = SVMRFESelector(r).fit_view(view), SVMRFESelector(r).fit(X, y)
            np.testing.assert_array_equal(shared.ranking_, alone.ranking_)
        SVMRFESelector(3, task="classification").fit_view(TrainingView(X, y > 0))

    @settings(max_examples=30, deadline=None)
    @given(st.integers(0, 10**6), st.floats(-1e3, 1e3), st.floats(0.01, 100), st.booleans())
    def test_the_unit_of_the_target_does_not_matter(self, seed, shift, unit, negated):
        X, y = numbers(20, 15, seed)
        expected = SVMRFESelector(4, step=1).fit(X, y)
        found = SVMRFESelector(4, step=1, task="regression").fit(X, shift + (-unit if negated else unit) * y)
        np.testing.assert_array_equal(found.ranking_, expected.ranking_)

    def test_wide_rows_with_a_large_column_need_their_singular_values(self, monkeypatch):
        X, y = numbers(20, 30)
        X[:, 0] = np.random.default_rng(0).integers(0, 10**9, 20)
        expected = RFE(Ridge(alpha=0.5, solver="svd"), n_features_to_select=3, step=1).fit(X, y).ranking_
        np.testing.assert_array_equal(SVMRFESelector(3, step=1).fit(X, y).ranking_, expected)
        monkeypatch.setattr(rfe_module, "MILD", np.inf)  # negative control
        with warnings.catch_warnings(action="ignore"):
            assert not np.array_equal(SVMRFESelector(3, step=1).fit(X, y).ranking_, expected)

    @pytest.mark.parametrize("name", ["tall", "wide", "counts"])
    def test_conjugate_gradients_of_large_sparse_columns_find_the_same(self, name, monkeypatch):
        X, y = INPUTS[name]
        expected = SVMRFESelector(3).fit(X, y)
        monkeypatch.setattr(rfe_module, "DENSE_ENTRIES", 0)
        with warnings.catch_warnings(action="error"):
            np.testing.assert_array_equal(SVMRFESelector(3).fit(sparse.csr_array(X), y).ranking_, expected.ranking_)

    def test_conjugate_gradients_that_end_early_are_told(self, monkeypatch):
        monkeypatch.setattr(rfe_module, "DENSE_ENTRIES", 0)
        X, y = INPUTS["tall"]
        with pytest.warns(
            ConvergenceWarning,
            match=r"SVMRFESelector: expected conjugate gradients to leave a relative gradient of at most 1e-06, got .*"
            r"; scale the columns to one range",
        ) as warned:
            SVMRFESelector(3, tol=0.1).fit(sparse.csr_array(X), y)
        assert (len(warned), warned[0].filename) == (1, __file__)


class TestLasso:
    @pytest.mark.parametrize("form", FORMS)
    @pytest.mark.parametrize("penalty", [0.5, 0.1, 0.02])
    @pytest.mark.parametrize("name", ["tall", "wide", "counts", "nearly dependent", "a large target", "diabetes"])
    def test_is_scikit_learn_s_and_meets_the_optimality_conditions(self, name, penalty, form):
        X, y = INPUTS[name]
        n, centred = len(y), X - X.mean(axis=0)
        found = LassoSelector(penalty=penalty, tol=1e-10, max_iter=10**6).fit(form(X), y)
        alphas = lasso_path(centred, y - y.mean(), alphas=3)[0]
        assert found.alpha_max_ == pytest.approx(alphas[0], rel=1e-9)
        assert found.alpha_ == penalty * found.alpha_max_
        theirs = Lasso(found.alpha_, tol=1e-10, max_iter=10**6).fit(X, y)
        np.testing.assert_allclose(found.coef_, theirs.coef_, rtol=1e-4, atol=1e-5 * np.abs(theirs.coef_).max())
        assert found.intercept_ == pytest.approx(theirs.intercept_, rel=1e-6, abs=1e-6)
        residual = y - X @ found.coef_ - found.intercept_
        pull = centred.T @ residual / n / found.alpha_
        np.testing.assert_allclose(pull[found.indices_], np.sign(found.coef_[found.indices_]), atol=1e-3)
        assert (np.abs(pull) <= 1 + 1e-3).all()
        objective = residual @ residual / (2 * n) + found.alpha_ * np.abs(found.coef_).sum()
        assert found.objective_ == pytest.approx(objective, rel=1e-9)
        best = Lasso(found.alpha_, tol=1e-13, max_iter=10**6).fit(X, y)
        left = y - best.predict(X)
        optimum = left @ left / (2 * n) + found.alpha_ * np.abs(best.coef_).sum()
        assert optimum >= objective * (1 - found.gap_) * (1 - 1e-12)
        np.testing.assert_array_equal(found.scores_, np.abs(found.coef_))
        assert found.indices_.tolist() == [k for k in np.argsort(-found.scores_, kind="stable") if found.coef_[k]]

    def test_the_number_of_features_can_be_asked_for(self):
        X, y = INPUTS["wide"]
        counts = {r: AtSize(LassoSelector(), r).fit(X, y) for r in (1, 4, 12)}
        for r, found in counts.items():
            assert found.indices_.size == r
            path = Lasso(found.selector_.alpha_, tol=1e-10, max_iter=10_000).fit(X, y)
            assert set(found.selector_.indices_) == set(np.flatnonzero(path.coef_))
        assert counts[1].parameter_ > counts[4].parameter_ > counts[12].parameter_

    @settings(max_examples=30, deadline=None)
    @given(st.integers(0, 10**6), st.floats(-1e3, 1e3), st.floats(0.01, 100), st.floats(0.01, 100))
    def test_units_do_not_matter(self, seed, shift, unit, scale):
        X, y = numbers(20, 15, seed)
        expected, found = LassoSelector(tol=1e-9).fit(X, y), LassoSelector(tol=1e-9).fit(scale * X, shift + unit * y)
        np.testing.assert_allclose(found.coef_ * scale / unit, expected.coef_, atol=1e-3)

    def test_two_classes_are_numbers(self):
        X, y = numbers(60, 12)
        expected = LassoSelector().fit(X, np.where(y > 0, 1, -1))
        np.testing.assert_array_equal(LassoSelector().fit(X, np.where(y > 0, "spam", "ham")).coef_, expected.coef_)
        with pytest.raises(ValueError, match=r"LassoSelector: expected labels of two classes, got 3 classes \('0'"):
            LassoSelector().fit(X, (np.arange(60) % 3).astype(str))

    def test_without_any_weight_the_first_to_enter_is_kept(self):
        X, y = INPUTS["tall"]
        with pytest.warns(UserWarning, match=r"every weight is zero at penalty=1.5; .* Lower penalty") as warned:
            found = LassoSelector(penalty=1.5).fit(X, y)
        assert warned[0].filename == __file__
        assert found.indices_.tolist() == [np.argmax(np.abs((X - X.mean(axis=0)).T @ (y - y.mean())))]
        assert LassoSelector(penalty=0.98).fit(X, y).indices_.tolist() == found.indices_.tolist()

    def test_what_did_not_converge_is_told(self):
        with pytest.warns(ConvergenceWarning, match="Objective did not converge"):
            LassoSelector(penalty=1e-4, max_iter=1).fit(*INPUTS["wide"])


class TestAlphaInvesting:
    @pytest.mark.parametrize("form", FORMS)
    @pytest.mark.parametrize("name", ["tall", "wide", "counts", "nearly dependent", "a large target", "diabetes"])
    def test_p_values_are_those_of_the_f_test(self, name, form):
        """Each column against what the accepted ones before it leave of it and of the target."""
        X, y = INPUTS[name]
        n, accepted, wealth = len(y), [], 5.0
        found = AlphaInvestingSelector(wealth=5.0, task="regression").fit(form(X), y)
        for i in range(X.shape[1]):
            A = np.column_stack([np.ones(n), X[:, accepted]])
            column, target = (v - A @ np.linalg.lstsq(A, v, rcond=None)[0] for v in (X[:, i], y))
            F = f_regression(column[:, None], target)[0][0]
            share = F / (F + n - 2)  # of the squares that the column explains
            p = np.exp(-n * share / 2)
            assert found.p_values_[0, i] == pytest.approx(p, rel=1e-5, abs=1e-12)
            level = wealth / (2 * (i + 1))
            wealth -= level
            if p < level:
                accepted.append(i)
                wealth += 0.5
        assert accepted
        assert found.indices_.tolist() == accepted
        assert not hasattr(found, "classes_")

    def test_the_numbers_count_and_not_their_order(self):
        """Taken for classes, a target would be ranks, to which one far value is nothing."""
        X, y = numbers(60, 12)
        y[0] = 1e4
        view = TrainingView(X, y)
        with pytest.warns(UserWarning, match="no feature of 12 was accepted"):
            assert AlphaInvestingSelector().fit_view(view).n_accepted_ == 0
        assert AlphaInvestingSelector().fit(X, y.argsort().argsort() + 0.5).n_accepted_ > 1  # of ranks

    def test_a_view_keeps_classes_and_numbers_apart(self):
        X, _ = numbers(60, 12)
        view = TrainingView(X, np.arange(60) % 3 * 5)
        for task in ("classification", "regression", "auto"):
            one = AlphaInvestingSelector(task=task, wealth=5.0)
            np.testing.assert_array_equal(clone(one).fit_view(view).p_values_, one.fit(view.X, view.y).p_values_)


REGRESSED = [SVMRFESelector(2), AlphaInvestingSelector(), CrossValidatedSize(SVMRFESelector(1), most=2)]


class TestTargets:
    X, y = numbers(40, 12)

    @pytest.mark.parametrize(
        "selector",
        [
            LPSVMSelector(),
            L1SVMSelector(),
            FeatureSelectiveSelector(),
            AtSize(L1SVMSelector(), 2),
            OnSupportVectors(UniformSelector(2)),
            OnSupportVectors(SVMRFESelector(2, task="regression")),
        ],
    )
    def test_selectors_of_classes_name_those_of_numbers(self, selector):
        message = (
            r"^(\w+Selector|OnSupportVectors): expected classes, got 40 different real numbers, such as -?\d\.\d+; for "
            r"numbers, take SVMRFESelector, LassoSelector or AlphaInvestingSelector\.$"
        )
        with pytest.raises(ValueError, match=message):
            selector.fit(self.X, self.y)

    def test_support_vectors_of_a_regression_are_rows_to_select_from(self):
        found = OnSupportVectors(BSSSelector(6, rank=3), svm=SVR(kernel="linear", epsilon=0.3)).fit(self.X, self.y)
        rows = np.sort(SVR(kernel="linear", epsilon=0.3).fit(self.X, self.y).support_)
        np.testing.assert_array_equal(found.support_rows_, rows)

    def test_unsupervised_selectors_take_any_target(self):
        expected = BSSSelector(6, rank=3).fit(self.X).indices_
        for y in (self.y, np.arange(40), np.arange(40).astype(str)):
            np.testing.assert_array_equal(BSSSelector(6, rank=3).fit(self.X, y).indices_, expected)

    @pytest.mark.parametrize("selector", REGRESSED, ids=lambda each: type(each).__name__)
    @pytest.mark.parametrize(
        ("task", "y", "message"),
        [
            (
                "classification",
                y,
                "expected classes, got 40 different real numbers, such as .*; take task='regression'",
            ),
            (
                "regression",
                (y > 0).astype(str),
                "expected numbers with task='regression', got '?(np.str_\\('|)(Tru|Fals)e",
            ),
            ("regression", np.full(40, 7), "expected numbers that differ, got 7.0 only, n_samples = 40"),
            ("auto", np.full(40, 0.5), "expected numbers that differ, got 0.5 only"),
            ("auto", y.astype(object), "Unknown label type. Expected classes as texts or numbers, got .* dtype object"),
            ("regression", 1e200 * y, "expected y whose largest absolute value is from 1e-140 to 1e.140, got .*e.200"),
            ("numbers", y, "task must be one of auto, classification, regression, got 'numbers'"),
        ],
    )
    def test_targets_that_are_not_of_the_task(self, selector, task, y, message):
        with pytest.raises(ValueError, match=f"^{type(selector).__name__}: {message}"):
            clone(selector).set_params(task=task).fit(self.X, y)

    @pytest.mark.parametrize(
        ("selector", "y", "message"),
        [
            (SVMRFESelector(2, solver="libsvm"), y, "expected solver 'auto' or 'ridge' for numbers, got 'libsvm'"),
            (SVMRFESelector(2, solver="ridge"), y > 0, "expected solver other than 'ridge' for classes, got 'ridge'"),
            (AlphaInvestingSelector(target="one_vs_rest"), y, "expected target 'codes' for numbers, got 'one_vs_rest'"),
        ],
    )
    def test_settings_of_the_other_task(self, selector, y, message):
        with pytest.raises(ValueError, match=message):
            selector.fit(self.X, y)

    @pytest.mark.parametrize(
        "selector", [SVMRFESelector(2, step=0.9), AlphaInvestingSelector(), L1SVMSelector(tol=0.5)]
    )
    def test_very_many_whole_numbers_are_asked_about(self, selector):
        X, y = numbers(100, 5)
        many, few = np.round(5 * y), np.arange(100) % 20
        asks = "task" in selector.get_params()
        advice = "say which they are by task='regression' or" if asks else "for numbers, take SVMRFESelector, LassoSel"
        message = r"expected classes, got \d\d different whole numbers in 100 rows, and took them for classes; "
        with pytest.warns(UserWarning, match=message + advice) as warned:
            selector.fit(X, many)
        assert {each.filename for each in warned} == {__file__}
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message=".*took them for classes")
            for task, target in (
                ("regression", many),
                ("classification", many),
                ("auto", few),
                ("auto", many.astype(str)),
            ):
                if asks or task == "auto":
                    clone(selector).set_params(**({"task": task} if asks else {})).fit(X, target)


class TestAround:
    """Selectors around others, with scikit-learn's scores."""

    @pytest.mark.parametrize(
        ("selector", "options"),
        [
            (SVMRFESelector(1), {}),
            (SVMRFESelector(1, task="regression"), {}),
            (SVMRFESelector(1), {"task": "regression"}),
            (AlwaysKept(SVMRFESelector(1), 1, always=[2]), {"task": "regression"}),
            (AtSize(LassoSelector(), 1), {"task": "regression"}),
            (AlphaInvestingSelector(wealth=5.0, task="regression"), {}),
        ],
    )
    def test_the_scores_are_r2_of_folds_without_strata(self, selector, options):
        X, y = numbers(60, 12)
        y = y if options == {} and selector.get_params().get("task") == "auto" else np.round(3 * y)
        found = CrossValidatedSize(selector, sizes=[1, 3, 7], **options).fit(X, y)
        for size, scores in zip(found.sizes_, found.fold_scores_, strict=True):
            inner = clone(selector).set_params(n_features_to_select=int(size))
            inner.set_params(**{name: "regression" for name in inner.get_params() if name.endswith("task")})
            expected = cross_val_score(make_pipeline(inner, Ridge()), X, y, cv=KFold(5))
            np.testing.assert_allclose(scores, expected, rtol=1e-12)
        inner.set_params(n_features_to_select=found.n_features_)
        np.testing.assert_array_equal(found.indices_, inner.fit(X, y).indices_)

    def test_a_fold_of_whole_numbers_is_of_the_task_of_all_rows(self):
        X, y = numbers(60, 12)
        y = np.round(3 * y)
        y[0] += 0.5
        leave_one_out = CrossValidatedSize(SVMRFESelector(1), sizes=[3, 12], cv=KFold(60))
        leave_one_out.set_params(scoring="neg_mean_absolute_error").fit(X, y)  # without the first row all are whole
        assert leave_one_out.selector_.task == "regression"
        with pytest.raises(ValueError, match="expected finite scores, got nan on 1 rows in fold 0; give fewer folds"):
            leave_one_out.set_params(scoring=None).fit(X, y)

    @pytest.mark.parametrize("how", [{"n_resamples": 8, "random_state": 0}, {"cv": 4}])
    def test_stability_is_of_samples_without_strata(self, how):
        X, y = load_diabetes(return_X_y=True)  # whole numbers, of which most stand in one row only
        found = [StabilityReport.of(LassoSelector(penalty=0.3), X, each, **how) for each in (y, y + 0.5)]
        assert found[0] == found[1]

    def test_kept_features_are_kept_with_numbers(self):
        X, y = numbers(60, 12)
        found = AlwaysKept(SVMRFESelector(1), 4, always=[2]).fit(X, y)
        rest = np.delete(np.arange(12), 2)
        np.testing.assert_array_equal(found.indices_, [2, *rest[SVMRFESelector(3).fit(X[:, rest], y).indices_]])
