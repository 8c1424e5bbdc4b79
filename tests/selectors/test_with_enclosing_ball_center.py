"""The centre of the minimum enclosing ball as one more row."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from provsel.selectors import (
    BSSSelector,
    LeverageScoreSelector,
    RRQRSelector,
    UniformSelector,
    WithEnclosingBallCenter,
)
from provsel.training_view import TrainingView


@pytest.fixture
def X():  # noqa: N802
    return np.random.default_rng(0).poisson(0.8, (12, 150)).astype(float)


def test_center_is_that_of_an_independent_optimizer(X):
    made = WithEnclosingBallCenter(UniformSelector(3, random_state=0)).fit(X)
    farthest = lambda c: ((X - c) ** 2).sum(axis=1).max()  # noqa: E731
    assert farthest(made.center_) == pytest.approx(made.squared_radius_, rel=1e-9)
    descended = minimize(farthest, X.mean(axis=0), method="Powell", options={"maxiter": 3})
    assert made.squared_radius_ <= descended.fun * (1 + 1e-9)
    assert made.squared_radius_ < farthest(X.mean(axis=0))


@pytest.mark.parametrize("selector", [BSSSelector(60), LeverageScoreSelector(20, strategy="top")], ids=["bss", "top"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_row_space_and_so_the_selection_stay_the_same(X, selector, form):
    made = WithEnclosingBallCenter(selector).fit(form(X))
    plain = selector.fit(form(X))
    np.testing.assert_array_equal(made.indices_, plain.indices_)
    np.testing.assert_allclose(made.weights_, plain.weights_, rtol=1e-8)
    assert made.selector_.rank_ == plain.rank_ == 12


def test_the_selector_sees_the_row(X):
    seen = []

    class Spy(UniformSelector):
        def _select(self, view, rng):
            seen.append(view.X)
            return super()._select(view, rng)

    made = WithEnclosingBallCenter(Spy(3)).fit(X)
    np.testing.assert_array_equal(seen[0][:-1], X)
    np.testing.assert_array_equal(seen[0][-1], made.center_)


def test_many_rows_need_no_gram_matrix():
    X = np.random.default_rng(0).standard_normal((10_001, 3))
    view = TrainingView(X)
    view.gram = lambda: pytest.fail("10,001 x 10,001")
    made = WithEnclosingBallCenter(RRQRSelector(2)).fit_view(view)
    assert ((X - made.center_) ** 2).sum(axis=1).max() == pytest.approx(made.squared_radius_, rel=1e-9)
