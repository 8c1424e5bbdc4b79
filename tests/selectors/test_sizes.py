"""How many features: a fraction of them, a number chosen by cross-validation, and features that are always kept."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

from provsel import selectors
from provsel.models import LibsvmSVM
from provsel.training_view import TrainingView

rng = np.random.default_rng(0)
X = rng.standard_normal((80, 20))
y = np.where(X[:, 3] - X[:, 5] + 0.3 * rng.standard_normal(80) > 0, 1, -1)  # a difference of two features, with noise


@pytest.mark.parametrize(("fraction", "count"), [(0.5, 10), (0.26, 5), (0.01, 1), (np.float32(0.75), 15)])
def test_a_fraction_of_the_features_is_rounded_down_to_at_least_one(fraction, count):
    assert selectors.UniformSelector(fraction, random_state=0).fit(X).indices_.size == count


class TestCrossValidatedSize:
    def test_the_scores_are_those_of_pipelines_in_scikit_learn(self):
        fitted = selectors.CrossValidatedSize(selectors.SVMRFESelector(1), sizes=[2, 8, 20], cv=StratifiedKFold(4)).fit(
            X, y
        )
        for size, scores in zip(fitted.sizes_, fitted.fold_scores_, strict=True):
            pipeline = make_pipeline(selectors.SVMRFESelector(int(size)), LibsvmSVM())
            np.testing.assert_array_equal(scores, cross_val_score(pipeline, X, y, cv=StratifiedKFold(4)))
        np.testing.assert_array_equal(fitted.mean_scores_, fitted.fold_scores_.mean(axis=1))

    def test_it_finds_how_many_matter(self):
        fitted = selectors.CrossValidatedSize(selectors.SVMRFESelector(1)).fit(X, y)
        assert fitted.sizes_.tolist() == [1, 2, 4, 8, 16, 20]
        assert (fitted.n_features_, sorted(fitted.indices_.tolist())) == (2, [3, 5])

    def test_one_standard_error_takes_fewer_features_than_the_best_at_most(self):
        rng = np.random.default_rng(1)
        for _ in range(5):
            permuted = rng.permutation(y)
            few, best = (
                selectors.CrossValidatedSize(selectors.SVMRFESelector(1), rule=rule, cv=3).fit(X, permuted)
                for rule in ("one_standard_error", "best")
            )
            assert few.n_features_ <= best.n_features_
            top = np.argmax(best.mean_scores_)
            assert best.n_features_ == best.sizes_[top]
            chosen = few.mean_scores_[few.sizes_.tolist().index(few.n_features_)]
            assert chosen >= best.mean_scores_[top] - best.standard_errors_[top]

    def test_a_view_gives_what_rows_give_and_another_model_is_taken(self):
        selector = selectors.CrossValidatedSize(selectors.SVMRFESelector(1), most=4, model=LogisticRegression(), cv=3)
        of_view = selector.fit_view(TrainingView(X, y)).indices_.tolist()
        assert selector.fit(X, y).indices_.tolist() == of_view


class TestAlwaysKept:
    @pytest.mark.parametrize("numbers", [False, True])
    def test_the_others_are_what_the_selector_chooses_of_the_other_columns(self, numbers):
        target = X[:, 3] - X[:, 5] if numbers else y
        fitted = selectors.AlwaysKept(selectors.SVMRFESelector(1), 5, always=[11, 3]).fit(X, target)
        rest = [place for place in range(20) if place not in (11, 3)]
        alone = selectors.SVMRFESelector(3).fit(X[:, rest], target)
        assert fitted.indices_.tolist() == [11, 3, *(rest[place] for place in alone.indices_)]

    def test_weights_of_the_others_are_the_selectors(self):
        fitted = selectors.AlwaysKept(selectors.BSSSelector(1, rank=5, rescale=True), 19, always=[0]).fit(X)
        alone = selectors.BSSSelector(18, rank=5, rescale=True).fit(X[:, 1:])
        np.testing.assert_allclose(fitted.weights_, [1.0, *alone.weights_])
        np.testing.assert_allclose(fitted.transform(X)[:, 0], X[:, 0])

    def test_names_are_taken_where_there_are_any(self):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(X, columns=[f"gene{place}" for place in range(20)])
        fitted = selectors.AlwaysKept(selectors.SVMRFESelector(1), 2, always=["gene7"]).fit(frame, y)
        assert fitted.get_feature_names_out().tolist()[-1] == "gene7"

    def test_nothing_is_left_to_choose(self):
        fitted = selectors.AlwaysKept(selectors.SVMRFESelector(1), 2, always=[4, 1]).fit(X, y)
        assert (fitted.indices_.tolist(), fitted.selector_) == ([4, 1], None)
