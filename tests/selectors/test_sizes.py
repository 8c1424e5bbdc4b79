"""How many features: a fraction of them, a number chosen by cross-validation, and features that are always kept."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, f_classif, f_regression
from sklearn.linear_model import RidgeClassifierCV, RidgeCV
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

from provsel import selectors
from provsel.models import LibsvmSVM
from provsel.training_view import TrainingView

rng = np.random.default_rng(0)
X = rng.standard_normal((80, 20))
# a difference of two features, with noise
y = np.where(X[:, 3] - X[:, 5] + 0.3 * rng.standard_normal(80) > 0, 1, -1)


@pytest.mark.parametrize(
    ("fraction", "count"), [(0.5, 10), (0.26, 5), (0.01, 1), (np.float32(0.75), 15)]
)
def test_a_fraction_of_the_features_is_rounded_down_to_at_least_one(fraction, count):
    assert (
        selectors.UniformSelector(fraction, random_state=0).fit(X).indices_.size
        == count
    )


class TestCrossValidatedSize:
    def test_the_scores_are_those_of_pipelines_in_scikit_learn(self):
        fitted = selectors.CrossValidatedSize(
            selectors.SVMRFESelector(1), sizes=[2, 8, 20], cv=StratifiedKFold(4)
        ).fit(X, y)
        for size, scores in zip(fitted.sizes_, fitted.fold_scores_, strict=True):
            pipeline = make_pipeline(selectors.SVMRFESelector(int(size)), LibsvmSVM())
            assert_array_equal(
                scores, cross_val_score(pipeline, X, y, cv=StratifiedKFold(4))
            )
        assert_array_equal(fitted.mean_scores_, fitted.fold_scores_.mean(axis=1))

    def test_it_finds_how_many_matter(self):
        fitted = selectors.CrossValidatedSize(selectors.SVMRFESelector(1)).fit(X, y)
        assert fitted.sizes_.tolist() == [1, 2, 4, 8, 16, 20]
        assert (fitted.n_features_, sorted(fitted.indices_.tolist())) == (2, [3, 5])

    def test_one_standard_error_takes_fewer_features_than_the_best_at_most(self):
        rng = np.random.default_rng(1)
        for _ in range(5):
            permuted = rng.permutation(y)
            few, best = (
                selectors.CrossValidatedSize(
                    selectors.SVMRFESelector(1), rule=rule, cv=3
                ).fit(X, permuted)
                for rule in ("one_standard_error", "best")
            )
            assert few.n_features_ <= best.n_features_
            top = np.argmax(best.mean_scores_)
            assert best.n_features_ == best.sizes_[top]
            chosen = few.mean_scores_[few.sizes_.tolist().index(few.n_features_)]
            assert chosen >= best.mean_scores_[top] - best.standard_errors_[top]

    @pytest.mark.parametrize(
        ("sizes", "numbers"),
        [
            ([1.0], [20]),
            ([0.25, 3, 1.0], [3, 5, 20]),
            ([0.01, 1], [1]),
            ([0.5, 10], [10]),
        ],
    )
    def test_a_fraction_is_one_of_the_features(self, sizes, numbers):
        assert (
            selectors.CrossValidatedSize(selectors.FTestSelector(1), sizes=sizes)
            .fit(X, y)
            .sizes_.tolist()
            == numbers
        )

    @pytest.mark.parametrize(
        "size", [0, 21, True, 1.5, 0.0, -0.5, float("nan"), "5", None]
    )
    def test_what_is_no_size_is_refused(self, size):
        selector = selectors.CrossValidatedSize(
            selectors.FTestSelector(1), sizes=[2, size]
        )
        with pytest.raises(
            ValueError,
            match=rf"CrossValidatedSize: .*n_features = 20, or fractions of it, got {size!r}\.",
        ):
            selector.fit(X, y)

    # of the constant column, by scikit-learn
    @pytest.mark.filterwarnings("ignore:Features", "ignore:invalid value")
    @pytest.mark.parametrize("numbers", [False, True])
    def test_the_choice_is_that_of_nested_loops_in_scikit_learn(self, numbers):
        """Rows are few, of three unequal classes, with a constant column and one that is there twice."""
        rng = np.random.default_rng(4)
        rows = rng.standard_normal((53, 12))
        rows[:, 7] = 1.0
        rows[:, 9] = rows[:, 2]
        strength = rows[:, 2] + 0.5 * rows[:, 4] + rng.standard_normal(53)
        target = strength if numbers else np.digitize(strength, [-1.2, 1.0])
        judge = (
            RidgeCV([0.1, 10.0])
            if numbers
            else RidgeClassifierCV([0.1, 10.0], class_weight="balanced")
        )
        scoring = "r2" if numbers else "balanced_accuracy"
        splitter = KFold(3) if numbers else StratifiedKFold(3)
        statistic = f_regression if numbers else f_classif
        best_mean = -np.inf
        best_size = None
        for size in (2, 5, 12):
            pipeline = make_pipeline(SelectKBest(statistic, k=size), clone(judge))
            mean = cross_val_score(
                pipeline, rows, target, cv=splitter, scoring=scoring
            ).mean()
            if mean > best_mean:
                best_mean = mean
                best_size = size
        fitted = selectors.CrossValidatedSize(
            selectors.FTestSelector(1),
            sizes=[2, 5, 1.0],
            model=judge,
            cv=3,
            scoring=scoring,
            rule="best",
        ).fit(rows, target)
        assert fitted.n_features_ == best_size
        assert_allclose(fitted.mean_scores_.max(), best_mean)

    def test_fits_on_one_view_share_what_is_equal_and_give_what_each_gives_alone(self):
        rng = np.random.default_rng(5)
        rows = rng.standard_normal((40, 30))
        target = np.digitize(rows[:, 0] - rows[:, 8], [-0.5, 1.0])
        around = [
            selectors.FTestSelector(1),
            selectors.RankTestSelector(1),
            # its columns are weighted: other scores than those of equal columns
            selectors.BSSSelector(1, rank=2),
            selectors.SVMRFESelector(1),
            selectors.UniformSelector(1, random_state=3),
        ]
        judges = [
            RidgeClassifierCV([1.0]),
            RidgeClassifierCV([1.0], class_weight="balanced"),
        ]
        searches = [
            selectors.CrossValidatedSize(
                selector, sizes=[4, 0.5, 1.0], model=judge, scoring=scoring, cv=3
            )
            for selector in around
            for judge in judges
            for scoring in ("accuracy", "balanced_accuracy")
        ]
        alone = [clone(search).fit(rows, target) for search in searches]
        for order in (searches, searches[::-1]):
            view = TrainingView(rows, target)
            together = {id(search): clone(search).fit_view(view) for search in order}
            for search, single in zip(searches, alone, strict=True):
                fitted = together[id(search)]
                assert_array_equal(fitted.fold_scores_, single.fold_scores_)
                assert_array_equal(fitted.indices_, single.indices_)
                assert_array_equal(fitted.weights_, single.weights_)

    def test_equal_columns_are_judged_once(self):
        class Counted(RidgeClassifierCV):
            fits = 0

            def fit(self, X, y):
                type(self).fits += 1
                return super().fit(X, y)

        view = TrainingView(X, y)
        for selector in (
            selectors.FTestSelector(1),
            selectors.UniformSelector(1, random_state=0),
        ):
            selectors.CrossValidatedSize(
                selector, sizes=[1.0], model=Counted(), cv=3
            ).fit_view(view)
        assert Counted.fits == 3  # all features, whoever selects them


class TestAlwaysKept:
    @pytest.mark.parametrize("numbers", [False, True])
    def test_the_others_are_what_the_selector_chooses_of_the_other_columns(
        self, numbers
    ):
        target = X[:, 3] - X[:, 5] if numbers else y
        fitted = selectors.AlwaysKept(
            selectors.SVMRFESelector(1), 5, always=[11, 3]
        ).fit(X, target)
        rest = [place for place in range(20) if place not in (11, 3)]
        alone = selectors.SVMRFESelector(3).fit(X[:, rest], target)
        assert fitted.indices_.tolist() == [
            11,
            3,
            *(rest[place] for place in alone.indices_),
        ]

    def test_weights_of_the_others_are_the_selectors(self):
        fitted = selectors.AlwaysKept(
            selectors.BSSSelector(1, rank=5, rescale=True), 19, always=[0]
        ).fit(X)
        alone = selectors.BSSSelector(18, rank=5, rescale=True).fit(X[:, 1:])
        assert_allclose(fitted.weights_, [1.0, *alone.weights_])
        assert_allclose(fitted.transform(X)[:, 0], X[:, 0])

    def test_names_are_taken_where_there_are_any(self):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(X, columns=[f"gene{place}" for place in range(20)])
        fitted = selectors.AlwaysKept(
            selectors.SVMRFESelector(1), 2, always=["gene7"]
        ).fit(frame, y)
        assert fitted.get_feature_names_out().tolist()[-1] == "gene7"

    def test_nothing_is_left_to_choose(self):
        fitted = selectors.AlwaysKept(
            selectors.SVMRFESelector(1), 2, always=[4, 1]
        ).fit(X, y)
        assert (fitted.indices_.tolist(), fitted.selector_) == ([4, 1], None)
