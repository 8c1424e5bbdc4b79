"""Sparse SVMs of more than two classes: each class against the rest, a feature of any problem is kept."""

import numpy as np
import pytest

from provsel.selectors import (
    AtSize,
    FeatureSelectiveSelector,
    L1SVMSelector,
    LPSVMSelector,
)

SELECTORS = [
    L1SVMSelector(C=0.05),
    LPSVMSelector(nu=0.1),
    LPSVMSelector(nu=0.1, solver="newton"),
    FeatureSelectiveSelector(c1=1e-2, c2=1e-2),
]
NAMES = ["l1", "lp", "lp_newton", "feature_selective"]


y = np.repeat(["a", "b", "c"], 25)
X = np.random.default_rng(0).standard_normal((75, 12))
# each class has a shift along one feature
X[np.arange(75), np.repeat([2, 5, 7], 25)] += 3


@pytest.mark.parametrize("selector", SELECTORS, ids=NAMES)
def test_each_problem_is_the_fit_of_two_classes(selector):
    fitted = selector.fit(X, y)
    rows = fitted.coef_.copy()
    scores = fitted.scores_.copy() if hasattr(fitted, "scores_") else None
    assert rows.shape == (3, 12)
    assert fitted.classes_.tolist() == ["a", "b", "c"]
    assert fitted.gap_.shape == fitted.objective_.shape == (3,)
    kept = fitted.indices_.tolist()
    gaps = fitted.gap_.copy()
    alone = []
    for place, name in enumerate("abc"):
        binary = selector.fit(X, np.where(y == name, "z", "rest"))
        np.testing.assert_array_equal(binary.coef_[0], rows[place])
        assert binary.gap_ == gaps[place]
        alone.append(binary.scores_ if scores is not None else np.abs(binary.coef_[0]))
    total = np.sum(alone, axis=0)
    assert kept == [
        place for place in np.argsort(-total, kind="stable") if total[place] > 0
    ]
    assert set(kept[:3]) == {2, 5, 7}
    if scores is not None:
        np.testing.assert_array_equal(scores, total)


@pytest.mark.parametrize(
    "selector", SELECTORS[:2] + SELECTORS[3:], ids=NAMES[:2] + NAMES[3:]
)
@pytest.mark.filterwarnings("ignore:.*every weight is zero")
def test_a_number_of_features_can_be_asked_for(selector):
    assert sorted(AtSize(selector, 3).fit(X, y).indices_.tolist()) == [2, 5, 7]


@pytest.mark.parametrize(
    ("selector", "one_a_class"),
    [
        (L1SVMSelector(C=1e-6), False),
        (LPSVMSelector(nu=1e-6), False),
        (FeatureSelectiveSelector(c1=1e6), True),
    ],
)
def test_without_any_weight_the_first_to_enter_is_kept(selector, one_a_class):
    with pytest.warns(UserWarning, match="every weight is zero at"):
        kept = selector.fit(X, y).indices_.tolist()
    assert (
        set(kept) == {2, 5, 7}
        if one_a_class
        else len(kept) == 1 and kept[0] in (2, 5, 7)
    )
