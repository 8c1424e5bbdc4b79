"""The number of features that a stream keeps beside what the streaming paper promises."""

import math

import numpy as np
import pytest

from provsel.certificates import (
    HELD,
    NO_BOUND,
    NOT_MEASURED,
    VACUOUS,
    VIOLATED,
    OnlineFeatureCount,
    certify,
)
from provsel.selectors import OnlineLeverageSelector, UniformSelector


def measured(selector, X):
    return certify(selector, X, also=[OnlineFeatureCount]).features


def rows(d, scale=1.0):
    return scale * np.random.default_rng(3).standard_normal((3, d))


@pytest.mark.parametrize("outside", ["one", "project"])
def test_a_long_stream_keeps_no_more_than_promised(outside):
    X = rows(20_000)
    selector = OnlineLeverageSelector(epsilon=0.5, outside_span=outside, random_state=0).fit(X)
    found = measured(selector, X)
    c = 8 * math.log(3) / 0.25
    assert found.bound == pytest.approx(c * (24 + 48 * math.log(np.linalg.norm(X, 2))))
    assert found.kept == selector.indices_.size < found.bound < 20_000
    assert found.state == HELD


def test_of_a_short_stream_it_says_nothing():
    X = rows(2_000)
    assert measured(OnlineLeverageSelector(epsilon=0.5, random_state=0).fit(X), X).state == VACUOUS


def test_the_bound_depends_on_the_units_and_can_be_broken():
    """As Lemma 2: the scores, and so what is kept, do not depend on the units of the data."""
    X = rows(20_000, scale=5e-3)
    assert measured(OnlineLeverageSelector(epsilon=0.5, random_state=0).fit(X), X).state == VIOLATED


def test_without_the_rate_of_the_theory_there_is_no_promise():
    X = rows(500)
    selector = OnlineLeverageSelector(sampling_rate=1.0, random_state=0).fit(X)
    found = measured(selector, X)
    assert (found.state, found.kept) == (NO_BOUND, selector.indices_.size)
    assert math.isnan(found.bound)
    assert measured(UniformSelector(5, random_state=0).fit(X), X).state == NOT_MEASURED
