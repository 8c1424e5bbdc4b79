"""Targets of numbers: the lasso against scikit-learn's, which selectors take them as numbers, and what refuses them."""

import inspect
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Lasso, Ridge
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVR

from provlab.project.components import registered
from provsel.models import LibsvmSVM
from provsel.selectors import (
    AlphaInvestingSelector,
    AlwaysKept,
    AtSize,
    BorutaSelector,
    BSSSelector,
    CrossValidatedSize,
    L1SVMSelector,
    LassoSelector,
    OnSupportVectors,
    StabilitySelector,
    SVMRFESelector,
    WithEnclosingBallCenter,
)
from provsel.stability import StabilityReport
from provsel.training_view import TrainingView


def numbers(n, d, seed=0):
    """Return X and a target of a third of its columns, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X[:, ::3] @ np.linspace(
        1, 2, X[:, ::3].shape[1]
    ) + 0.5 * rng.standard_normal(n)


def of(n, d, change):
    X, y = numbers(n, d)
    return change(X), y


RNG = np.random.default_rng(1)
NUMBERS = {
    "tall": numbers(60, 12),
    "wide": numbers(25, 60),
    "scales from 1e-3 to 1e5, tall": of(
        60, 12, lambda X: X * 10.0 ** np.linspace(-3, 5, 12)
    ),
    "scales from 1e-3 to 1e5, wide": of(
        25, 60, lambda X: X * 10.0 ** np.linspace(-3, 5, 60)
    ),
    "an id, tall": of(
        60, 12, lambda X: np.column_stack([RNG.integers(0, 10**7, 60), X])
    ),
    "an id, wide": of(
        25, 60, lambda X: np.column_stack([RNG.integers(0, 10**7, 25), X])
    ),
    "far from zero": of(60, 12, lambda X: X + 1e5),
    "counts": of(
        60,
        40,
        lambda X: np.maximum(np.round(2 * X), 0) * (1 + 0.01 * RNG.random(X.shape)),
    ),
    "nearly dependent": of(
        60, 12, lambda X: np.column_stack([X, X[:, 0] + 1e-3 * X[:, 5]])
    ),
    "a large target": (numbers(60, 12)[0], 1e9 + 1e5 * numbers(60, 12)[1]),
    "diabetes": load_diabetes(return_X_y=True),
}
FORMS = [np.asarray, sparse.csr_array]

QUICK = {
    "n_features_to_select": 2, "selector": L1SVMSelector(tol=0.5), "always": [0], "model": LibsvmSVM(),
    "n_estimators": 3, "n_pairs": 2, "max_iter": 200, "random_state": 0,
}  # fmt: skip
"""Arguments that make any estimator quick, where it takes them."""


def by_labels(cls):
    """Return an unfitted selector or model that is quick."""
    parameters = inspect.signature(cls).parameters
    arguments = {name: value for name, value in QUICK.items() if name in parameters}
    if cls in (AlwaysKept, CrossValidatedSize):
        arguments["selector"] = SVMRFESelector(1)
    if cls is StabilitySelector:
        arguments["selector"] = None
    if cls is BorutaSelector:
        arguments["max_iter"] = 3
    return cls(**arguments)


BY_LABELS = [
    *(
        cls
        for cls in registered("selector").values()
        if getattr(cls, "needs_labels", False) and cls is not WithEnclosingBallCenter
    ),
    *registered("model").values(),
]


class TestLasso:
    @pytest.mark.parametrize("form", FORMS)
    @pytest.mark.parametrize("penalty", [0.5, 0.1, 0.02])
    @pytest.mark.parametrize(
        "name",
        ["tall", "wide", "counts", "nearly dependent", "a large target", "diabetes"],
    )
    def test_is_scikit_learn_s_and_meets_the_optimality_conditions(
        self, name, penalty, form
    ):
        X, y = NUMBERS[name]
        n = len(y)
        centred = X - X.mean(axis=0)
        lasso = LassoSelector(penalty=penalty, tol=1e-10, max_iter=10**6).fit(
            form(X), y
        )
        assert lasso.alpha_max_ == pytest.approx(
            np.abs(centred.T @ (y - y.mean())).max() / n, rel=1e-9
        )
        assert lasso.alpha_ == penalty * lasso.alpha_max_
        theirs = Lasso(lasso.alpha_, tol=1e-10, max_iter=10**6).fit(X, y)
        assert_allclose(
            lasso.coef_, theirs.coef_, rtol=1e-4, atol=1e-5 * np.abs(theirs.coef_).max()
        )
        assert lasso.intercept_ == pytest.approx(theirs.intercept_, rel=1e-6, abs=1e-6)
        residual = y - X @ lasso.coef_ - lasso.intercept_
        pull = centred.T @ residual / n / lasso.alpha_
        assert_allclose(
            pull[lasso.indices_], np.sign(lasso.coef_[lasso.indices_]), atol=1e-3
        )
        assert (np.abs(pull) <= 1 + 1e-3).all()
        objective = (
            residual @ residual / (2 * n) + lasso.alpha_ * np.abs(lasso.coef_).sum()
        )
        assert lasso.objective_ == pytest.approx(objective, rel=1e-9)
        best = Lasso(lasso.alpha_, tol=1e-13, max_iter=10**6).fit(X, y)
        left = y - best.predict(X)
        optimum = left @ left / (2 * n) + lasso.alpha_ * np.abs(best.coef_).sum()
        assert optimum >= objective * (1 - lasso.gap_) * (1 - 1e-12)
        assert_array_equal(lasso.scores_, np.abs(lasso.coef_))
        assert lasso.indices_.tolist() == [
            k for k in np.argsort(-lasso.scores_, kind="stable") if lasso.coef_[k]
        ]

    @settings(max_examples=30, deadline=None)
    @given(
        st.integers(0, 10**6),
        st.floats(-1e3, 1e3),
        st.floats(0.01, 100),
        st.floats(0.01, 100),
    )
    def test_units_do_not_matter(self, seed, shift, unit, scale):
        X, y = numbers(20, 15, seed)
        expected = LassoSelector(tol=1e-9).fit(X, y)
        scaled = LassoSelector(tol=1e-9).fit(scale * X, shift + unit * y)
        assert_allclose(scaled.coef_ * scale / unit, expected.coef_, atol=1e-3)

    def test_two_classes_are_numbers(self):
        X, y = numbers(60, 12)
        expected = LassoSelector().fit(X, np.where(y > 0, 1, -1))
        assert_array_equal(
            LassoSelector().fit(X, np.where(y > 0, "spam", "ham")).coef_, expected.coef_
        )
        with pytest.raises(
            ValueError,
            match=r"LassoSelector: expected labels of two classes, got 3 classes \('0'",
        ):
            LassoSelector().fit(X, (np.arange(60) % 3).astype(str))


class TestAlphaInvesting:
    def test_the_numbers_count_and_not_their_order(self):
        """Taken for classes, a target would be ranks, to which one far value is nothing."""
        X, y = numbers(60, 12)
        y[0] = 1e4
        view = TrainingView(X, y)
        with pytest.warns(UserWarning, match="none of 12 features was accepted"):
            assert AlphaInvestingSelector().fit_view(view).n_accepted_ == 0
        # of ranks
        assert (
            AlphaInvestingSelector().fit(X, y.argsort().argsort() + 0.5).n_accepted_ > 1
        )

    def test_a_view_keeps_classes_and_numbers_apart(self):
        X, _ = numbers(60, 12)
        view = TrainingView(X, np.arange(60) % 3 * 5)
        for task in ("classification", "regression", "auto"):
            selector = AlphaInvestingSelector(task=task, wealth=5.0)
            assert_array_equal(
                clone(selector).fit_view(view).p_values_,
                selector.fit(view.X, view.y).p_values_,
            )


class TestTargets:
    X, y = numbers(40, 12)

    def test_support_vectors_of_a_regression_are_rows_to_select_from(self):
        fitted = OnSupportVectors(
            BSSSelector(6, rank=3), svm=SVR(kernel="linear", epsilon=0.3)
        ).fit(self.X, self.y)
        rows = np.sort(SVR(kernel="linear", epsilon=0.3).fit(self.X, self.y).support_)
        assert_array_equal(fitted.support_rows_, rows)

    def test_unsupervised_selectors_take_any_target(self):
        expected = BSSSelector(6, rank=3).fit(self.X).indices_
        for y in (self.y, np.arange(40), np.arange(40).astype(str)):
            assert_array_equal(BSSSelector(6, rank=3).fit(self.X, y).indices_, expected)

    @pytest.mark.filterwarnings(
        "ignore:.*(none of 5 features was accepted|every weight is zero|kept the best):UserWarning"
    )
    @pytest.mark.parametrize("cls", BY_LABELS, ids=lambda cls: cls.__name__)
    def test_whole_numbers_of_a_regression_are_never_classes_in_silence(self, cls):
        """Such as prices: very many different ones for the rows. Said to be classes, or written as texts, they are."""
        X, y = numbers(100, 5)
        X, many = np.abs(X), np.round(5 * y)
        estimator = by_labels(cls)
        has_task = any(name.endswith("task") for name in estimator.get_params())
        if cls is not LassoSelector and not has_task:
            with pytest.raises(
                ValueError,
                match=r"expected classes.*, got 100 different real|Unknown label type: continuous",
            ):
                clone(estimator).fit(X, y)
        if is_classifier(estimator):  # as scikit-learn's
            return
        if "task" in estimator.get_params():
            message = (
                r"expected classes or numbers .*, got \d\d different whole numbers "
                r"in 100 rows, which may be either"
            )
            for target in (many, many.astype(int)):
                with pytest.raises(ValueError, match=message):
                    clone(estimator).fit(X, target)
            clone(estimator).set_params(task="regression").fit(X, many)
        elif cls is LassoSelector:  # numbers whatever they are
            clone(estimator).fit(X, many)
        else:
            message = (
                r"expected classes.*, got \d\d different (floats|whole numbers) "
                r"in 100 rows, (such as -?\d+.0|which)"
            )
            with pytest.raises(ValueError, match=message):
                clone(estimator).fit(X, many)
        clone(estimator).fit(X, np.where(many > 0, "a", "b"))
        if "task" in estimator.get_params():
            with pytest.raises(
                ValueError,
                match=r"expected numbers with task='regression', got .*'[ab]'",
            ):
                clone(estimator).set_params(task="regression").fit(
                    X, np.where(many > 0, "a", "b")
                )

    @pytest.mark.filterwarnings("ignore:.*none of 5 features was accepted:UserWarning")
    @pytest.mark.parametrize(
        "selector",
        [SVMRFESelector(2, step=0.9), AlphaInvestingSelector(), L1SVMSelector(tol=0.5)],
    )
    def test_few_whole_numbers_are_classes_and_many_where_that_is_said(self, selector):
        X, y = numbers(100, 5)
        many = np.round(5 * y)
        few = np.arange(100) % 20
        with warnings.catch_warnings():
            warnings.filterwarnings(
                "error", message=".*, which were treated as classes"
            )
            for task, target in (
                ("classification", many),
                ("auto", few),
                ("auto", many.astype(str)),
            ):
                if "task" in selector.get_params():
                    clone(selector).set_params(task=task).fit(X, target)
                elif task == "auto":
                    clone(selector).fit(X, target)

    def test_integers_without_a_task_to_say_are_classes_with_a_warning(self):
        X, y = numbers(100, 5)
        message = (
            r"expected classes, got \d\d different whole numbers in 100 rows, which were treated as classes; for "
            r"numbers"
        )
        with pytest.warns(UserWarning, match=message) as warned:
            L1SVMSelector(tol=0.5).fit(X, np.round(5 * y).astype(int))
        assert {warning.filename for warning in warned} == {__file__}


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
            (
                SVMRFESelector(1, task="regression"),
                {"scoring": "neg_mean_absolute_error"},
            ),
        ],
    )
    def test_the_scores_are_those_of_folds_without_strata(self, selector, options):
        X, y = numbers(60, 12)
        y = (
            y
            if options == {} and selector.get_params().get("task") == "auto"
            else np.round(3 * y)
        )
        fitted = CrossValidatedSize(selector, sizes=[1, 3, 7], **options).fit(X, y)
        for size, scores in zip(fitted.sizes_, fitted.fold_scores_, strict=True):
            inner = clone(selector).set_params(n_features_to_select=int(size))
            inner.set_params(
                **{
                    name: "regression"
                    for name in inner.get_params()
                    if name.endswith("task")
                }
            )
            pipeline = make_pipeline(inner, Ridge())
            scoring = options.get("scoring")
            expected = cross_val_score(pipeline, X, y, cv=KFold(5), scoring=scoring)
            assert_allclose(scores, expected, rtol=1e-12)
        inner.set_params(n_features_to_select=fitted.n_features_)
        assert_array_equal(fitted.indices_, inner.fit(X, y).indices_)

    @pytest.mark.filterwarnings(
        "ignore:R.2 score is not well-defined:sklearn.exceptions.UndefinedMetricWarning"
    )
    def test_a_fold_of_whole_numbers_is_of_the_task_of_all_rows(self):
        X, y = numbers(60, 12)
        y = np.round(3 * y)
        y[0] += 0.5
        leave_one_out = CrossValidatedSize(
            SVMRFESelector(1), sizes=[3, 11], cv=KFold(60)
        )
        # without the first row all are whole
        leave_one_out.set_params(scoring="neg_mean_absolute_error").fit(X, y)
        assert leave_one_out.selector_.task == "regression"
        with pytest.raises(
            ValueError,
            match="expected finite scores, got nan on 1 rows in fold 0; use fewer folds",
        ):
            leave_one_out.set_params(scoring=None).fit(X, y)

    @pytest.mark.parametrize("how", [{"n_resamples": 8, "random_state": 0}, {"cv": 4}])
    def test_stability_is_of_samples_without_strata(self, how):
        # whole numbers, of which most stand in one row only
        X, y = load_diabetes(return_X_y=True)
        reports = [
            StabilityReport.of(LassoSelector(penalty=0.3), X, target, **how)
            for target in (y, y + 0.5)
        ]
        assert reports[0] == reports[1]
