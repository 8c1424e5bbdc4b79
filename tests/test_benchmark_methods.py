"""The panel of methods: each selects what was planted, as many as asked, and the same as the class that it adapts."""

import numpy as np
import pytest

from provlab.benchmark.methods import panel_methods
from provlab.benchmark.selectors import FTest
from provsel.selectors import BaseSelector
from provsel.training_view import TrainingView

PLANTED = (3, 7, 11)


def table(n_classes=2):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 30))
    y = np.digitize(X[:, PLANTED].sum(axis=1), [0.0] if n_classes == 2 else [-1.0, 1.0])
    return X, y


def selector_of(name, size) -> BaseSelector:
    found = panel_methods()[name].selector
    asked = {"n_features_to_select": size, "rank": max(1, size // 2)}
    known = found.get_params()
    return found.set_params(**{parameter: value for parameter, value in asked.items() if known.get(parameter)})


@pytest.mark.parametrize("name", panel_methods())
def test_a_method_selects_as_many_as_asked_and_what_was_planted(name):
    method = panel_methods()[name]
    for n_classes in (2, 3)[: 1 + method.multiclass]:
        view = TrainingView(*table(n_classes))
        found = [selector_of(name, size).fit_view(view).indices_ for size in (3, 6)]
        if method.sizes == "fixed":
            assert [kept.size for kept in found] == [3, 6]
        if method.sizes == "at most":
            assert all(0 < kept.size <= size for kept, size in zip(found, (3, 6), strict=True))
        if method.uses_labels:
            assert {*PLANTED} <= {*found[1]}


def test_another_version_is_no_failure_of_the_method():
    with pytest.raises(ImportError, match=r"FTest: expected scikit-learn 0\.1, got 1\."):
        FTest(2, version="0.1").fit(*table())
