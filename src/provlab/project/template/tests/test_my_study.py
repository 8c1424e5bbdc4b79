"""The selector of this project keeps scikit-learn's contract."""

import numpy as np
from my_study import VarianceSelector
from sklearn.utils.estimator_checks import check_estimator


def test_scikit_learn_accepts_it():
    """It works in pipelines, grids and clones."""
    check_estimator(VarianceSelector(1))


def test_it_keeps_the_largest_variance():
    """In order of variance."""
    X = np.array([[0.0, 1.0, 5.0], [0.0, 2.0, -5.0], [0.0, 3.0, 5.0]])
    np.testing.assert_array_equal(VarianceSelector(2).fit(X).indices_, [2, 1])
