"""Exactly r features of selectors that choose their number: against a grid of settings; views, chance, messages."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from provsel import selectors

FIRST = selectors.AtSize(
    selectors.FeatureSelectiveSelector(relative=True),
    12,
    parameter="c1",
    low=1e-6,
    high=1.0,
)


class Steps(selectors.BaseSelector):
    """Keeps `counts[j]` features for the number of `edges` below `at`; counts its fits; has neither data nor chance."""

    algorithm_version = 1
    fits = 0

    def __init__(self, *, at=1.0, edges=(), counts=(), broken_above=np.inf):
        self.at = at
        self.edges = edges
        self.counts = counts
        self.broken_above = broken_above

    def _select(self, view, rng):
        Steps.fits += 1
        if self.at > self.broken_above:
            warnings.warn("stopped early", ConvergenceWarning, stacklevel=1)
        if self.at < 1e-3:
            warnings.warn("a small one", UserWarning, stacklevel=1)
        count = self.counts[int(np.searchsorted(self.edges, self.at))]
        return selectors.Selection.unweighted(
            np.arange(count)[::-1], scores=np.arange(view.n_features, dtype=float)
        )


def steps(
    r,
    *,
    edges=(0.1, 1.0, 10.0),
    counts=(2, 5, 9, 30),
    low=1e-2,
    high=1e2,
    broken_above=np.inf,
    **options,
):
    selector = Steps(edges=edges, counts=counts, broken_above=broken_above)
    return selectors.AtSize(selector, r, parameter="at", low=low, high=high, **options)


def fit(at_size):
    Steps.fits = 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return at_size.fit(np.ones((4, 40)))


rng = np.random.default_rng(0)
X = rng.standard_normal((40, 90))
y = np.where(X[:, :6].sum(axis=1) + 0.5 * rng.standard_normal(40) > 0, 1, -1)

every_price = pytest.mark.parametrize(
    ("selector", "parameter", "low", "high"),
    [
        (selectors.FeatureSelectiveSelector(relative=True), "c1", 1e-6, 1.0),
        (selectors.L1SVMSelector(), "C", 1e-3, 1.0),
        (selectors.LPSVMSelector(), "nu", 1e-3, 1.0),
        (selectors.LassoSelector(), "penalty", 1e-3, 1.0),
    ],
)


@every_price
def test_no_weight_at_all_keeps_the_feature_that_comes_first(
    selector, parameter, low, high
):
    """By bisection of the price; more features for dearer errors, and none where the classes do not differ."""

    def at(value, rows=(X, y)):
        with warnings.catch_warnings(action="ignore"):
            return clone(selector).set_params(**{parameter: value}).fit(*rows)

    some, none, advice = (
        (low, 1e6, "Lower") if parameter in ("c1", "penalty") else (high, 1e-6, "Raise")
    )
    message = f"every weight is zero at {parameter}=.*; kept the feature .* {advice} {parameter}"
    with pytest.warns(UserWarning, match=message):
        empty = clone(selector).set_params(**{parameter: none}).fit(X, y)
    assert not empty.coef_.any()
    sizes = [at(value).indices_.size for value in np.geomspace(some, none, 6)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1] == empty.indices_.size == 1
    for _ in range(30):
        middle = np.sqrt(some * none)
        some, none = (middle, none) if at(middle).coef_.any() else (some, middle)
    # of a linear program several may come at once
    assert empty.indices_[0] in at(some).indices_
    for rows in (np.zeros((6, 3)), np.ones((6, 3))):
        message = rf"got none of 3( at {parameter}=.*|;) check that some feature (differs|varies)"
        with pytest.raises(ValueError, match=message):
            at(high, (rows, np.arange(6) % 2))


@pytest.mark.filterwarnings("ignore:.*every weight is zero:UserWarning")
@every_price
@pytest.mark.parametrize("r", [1, 7, 15])
def test_no_setting_of_a_grid_comes_closer(selector, parameter, low, high, r):
    fitted = selectors.AtSize(selector, r, parameter=parameter, low=low, high=high).fit(
        X, y
    )
    assert fitted.indices_.size == r
    np.testing.assert_array_equal(fitted.indices_, fitted.selector_.indices_[:r])
    used = clone(selector).set_params(**{parameter: fitted.parameter_}).fit(X, y)
    np.testing.assert_array_equal(used.indices_, fitted.selector_.indices_)
    grid = [
        clone(selector).set_params(**{parameter: at})
        for at in np.geomspace(low * 1.001, high * 0.999, 25)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sizes = [setting.fit(X, y).indices_.size for setting in grid]
    assert fitted.selector_.indices_.size <= min(size for size in sizes if size >= r)


@pytest.mark.parametrize(
    ("r", "count", "between"),
    [(2, 2, (0, 0.1)), (3, 5, (0.1, 1)), (5, 5, (0.1, 1)), (9, 9, (1, 10))],
)
def test_finds_the_step(r, count, between):
    fitted = fit(steps(r))
    assert fitted.selector_.indices_.size == count
    assert between[0] < fitted.parameter_ <= between[1]
    assert fitted.indices_.tolist() == list(range(count))[::-1][:r]
    assert fitted.weights_.tolist() == [1.0] * r
    assert fitted.scores_.tolist() == list(range(40))
    assert fitted.n_fits_ == Steps.fits <= 15


def test_the_number_of_fits_is_bounded():
    rough = fit(steps(3, max_fits=3))
    assert rough.n_fits_ == Steps.fits == 3
    assert rough.selector_.indices_.size >= 3
    assert (
        fit(steps(3)).selector_.indices_.size
        == 5
        < fit(steps(3, max_fits=2)).selector_.indices_.size
        == 30
    )
    assert fit(steps(2)).n_fits_ <= 2 + 1  # an exact setting ends the search


def test_ends_that_decide_alone():
    assert fit(steps(1)).n_fits_ == 2  # the end with the fewest has enough
    fewer = fit(steps(35, if_fewer="keep"))
    assert fewer.indices_.size == 30
    assert fewer.n_fits_ == 2
    with pytest.raises(
        ValueError,
        match=r"AtSize: expected Steps to keep at least 35 features for at from 0.01 to 100, got at most "
        r"30 at at=100; widen the range, ask for fewer features, or set if_fewer='keep'",
    ):
        fit(steps(35))


def test_what_did_not_converge_is_not_used():
    """Its 30 features are not there; up to 3 of the parameter there are 9."""
    assert fit(steps(8, broken_above=3.0)).parameter_ <= 3.0
    with pytest.raises(
        ValueError, match=r"at least 20 features .* got at most 9 at at=[12]\.\d+"
    ):
        fit(steps(20, broken_above=3.0))
    assert fit(steps(20)).indices_.size == 20  # negative control
    assert fit(steps(20, broken_above=3.0, if_fewer="keep")).indices_.size == 9
    with pytest.raises(ValueError, match="got none that converged"):
        fit(steps(20, broken_above=1e-9, if_fewer="keep"))


def test_warnings_are_those_of_the_setting_that_is_used():
    with pytest.warns(UserWarning, match="a small one") as caught:
        steps(2, low=1e-6).fit(np.ones((4, 40)))
    assert len(caught) == 1
    fit(steps(5, low=1e-6))  # passes through small ones, and raises no warning


def test_the_selector_has_its_own_seed_unless_one_is_given():
    inner = selectors.FeatureSelectiveSelector(
        relative=True, form="as_printed", n_starts=1, tol=1e-2, random_state=5
    )
    for seed, own in ((None, True), (1, False)):
        selector = selectors.AtSize(
            inner, 4, parameter="c1", low=1e-3, high=1e-1, max_fits=3, random_state=seed
        )
        fitted = selector.fit(X, y)
        assert (fitted.selector_.random_state == 5) == own


@pytest.mark.parametrize(
    ("selector", "parameter"),
    [
        (selectors.L1SVMSelector(), "C"),
        (selectors.LPSVMSelector(), "nu"),
        (selectors.FeatureSelectiveSelector(), "c1"),
        (selectors.FeatureSelectiveSelector(relative=True), "c1"),
    ],
)
def test_the_parameter_and_its_range_are_found(selector, parameter):
    for scale in (1.0, 0.01):
        searched = selectors.AtSize(selector, 5).fit(scale * X, y)
        assert searched.indices_.size == 5
        assert searched.selector_.get_params()[parameter] == searched.parameter_
    low, high = selector.size_range[1:]
    stated = selectors.AtSize(selector, 5, parameter=parameter, low=low, high=high).fit(
        scale * X, y
    )
    assert stated.parameter_ == searched.parameter_


def test_every_selector_without_a_number_of_features_has_a_range():
    without = (
        selectors.FullDataSelector,
        selectors.OnSupportVectors,
        selectors.WithEnclosingBallCenter,
        selectors.CrossValidatedSize,
        selectors.BaseSelector,
    )
    for cls in (getattr(selectors, name) for name in selectors.__all__):
        if (
            inspect.isclass(cls)
            and issubclass(cls, selectors.BaseSelector)
            and cls not in without
        ):
            counts = "n_features_to_select" in inspect.signature(cls).parameters
            assert counts != hasattr(cls, "size_range"), cls.__name__
