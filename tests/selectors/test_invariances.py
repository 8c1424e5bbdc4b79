"""One table of selectors crossed with what may not decide a choice: order, scale, origin, names, copies, constants.

What is of one class alone stands in the file of that class. `test_inputs.py` has the
forms in which X may come.
"""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import minmax_scale

from provsel import selectors
from provsel.training_view import TrainingView

R = 6
rng = np.random.default_rng(20)


def labelled_rows():
    """Return rows of three classes, and numbers, that some columns tell."""
    labels = np.arange(45) % 3
    rows = rng.standard_normal((45, 14)) * rng.uniform(1, 3, 14)
    rows[:, 2] += 2.0 * (labels == 1)
    rows[:, 9] += 2.0 * (labels == 2)
    rows[:, 5] += labels
    numbers = rows[:, 2] - rows[:, 5] + 0.5 * rows[:, 11] + rng.standard_normal(45)
    return rows, labels, numbers


LABELLED, CLASSES, NUMBERS = labelled_rows()
TARGETS = {
    "two": (CLASSES > 0).astype(int),
    "three": CLASSES,
    "numbers": NUMBERS,
    "none": None,
}
WIDE = rng.standard_normal((12, 50)) * np.exp(rng.standard_normal(50))
CANCER = minmax_scale(load_breast_cancer().data)  # 569 x 30, of rank 30
OPPOSITE = rng.standard_normal((15, 20))
ROWS = {
    "labelled": LABELLED,
    "labelled counts": np.round(LABELLED),  # equal values and equal distances
    "wide": WIDE,
    "full column rank": CANCER,
    "copies": np.hstack([CANCER[:, :12], CANCER, CANCER[:, :6] / 2]),
    "multiples": np.hstack([OPPOSITE, -OPPOSITE, 2 * OPPOSITE[:, :5]]),
    "counts": rng.integers(-1, 2, (40, 80)).astype(float),
}


def kept(selector, X, y, **options):
    """Return the kept features in order, as a list."""
    fresh = clone(selector).set_params(**options)
    with warnings.catch_warnings(action="ignore"):
        return fresh.fit(X, y).indices_.tolist()


def order_of_rows(selector, X, y):
    order = np.random.default_rng(1).permutation(len(X))
    permuted = None if y is None else y[order]
    assert kept(selector, X[order], permuted) == kept(selector, X, y)


def order_of_columns(selector, X, y):
    order = np.random.default_rng(2).permutation(X.shape[1])
    places = kept(selector, X[:, order], y)
    assert order[places].tolist() == kept(selector, X, y)


def scale(selector, X, y):
    expected = kept(selector, X, y)
    for factor in (3.0, 2.0**-40, 2.0**40):
        assert kept(selector, factor * X, y) == expected


def extreme_scale(selector, X, y):
    """Squares of these numbers are finite only just."""
    expected = kept(selector, X, y)
    for factor in (1e-130, 1e130):
        assert kept(selector, factor * X, y) == expected
        assert kept(selector, sparse.csr_array(factor * X), y) == expected


def form(selector, X, y):
    expected = kept(selector, X, y)
    for change in (sparse.csr_array, sparse.csc_matrix, np.asfortranarray):
        assert kept(selector, change(X), y) == expected


def units(selector, X, y):
    """Each column in a unit of its own: a power of two, lest distances that are equal differ."""
    factors = 2.0 ** np.random.default_rng(3).integers(-8, 9, X.shape[1])
    assert kept(selector, X * factors, y) == kept(selector, X, y)


def signs(selector, X, y):
    factors = np.where(np.arange(X.shape[1]) % 3, 1.0, -1.0)
    assert kept(selector, X * factors, y) == kept(selector, X, y)


def origins(selector, X, y):
    moves = np.random.default_rng(4).integers(-9, 9, X.shape[1])
    assert kept(selector, X + moves, y) == kept(selector, X, y)


def names_of_the_target(selector, X, y):
    """Classes have other names in the same order; numbers have another unit and origin."""
    expected = kept(selector, X, y)
    if y.dtype.kind == "f":
        assert kept(selector, X, 8.0 * y - 3.0) == expected
        assert kept(selector, X, 1e3 - y) == expected
    else:
        assert kept(selector, X, np.array(["a", "b", "c"])[y]) == expected


def zeros_last(selector, X, y):
    """A column of zeros in front moves the others by one place, and is not kept before them."""
    wider = np.column_stack([np.zeros(len(X)), X])
    moved = [place + 1 for place in kept(selector, X, y)]
    assert kept(selector, wider, y) == moved


def constants_last(selector, X, y):
    """Also those that no float holds exactly, whose mean and variance are rounded."""
    d = X.shape[1]
    moved = [place + 1 for place in kept(selector, X, y, n_features_to_select=d)]
    for value in (0.0, 0.1, -1 / 3, 1e6):
        wider = np.column_stack([np.full(len(X), value), X])
        assert kept(selector, wider, y, n_features_to_select=d + 1) == [*moved, 0]


def copies_in_order(selector, X, y):
    """Of equal columns the first is kept before the others."""
    d = X.shape[1]
    original = np.random.default_rng(5).permutation(np.repeat(np.arange(d), 3))
    left = {column: np.flatnonzero(original == column).tolist() for column in range(d)}
    for place in kept(selector, X[:, original], y):
        assert place == left[original[place]].pop(0)


def smaller_first(selector, X, y):
    """A smaller selection begins a larger one, and so it does on one view."""
    largest = kept(selector, X, y)
    view = TrainingView(X, y)
    for count in (2, R, 1):
        smaller = clone(selector).set_params(n_features_to_select=count).fit_view(view)
        assert smaller.indices_.tolist() == largest[:count]
        if hasattr(smaller, "ranking_"):
            assert smaller.ranking_[smaller.indices_].tolist() == list(
                range(1, count + 1)
            )


ORDER = [order_of_rows, order_of_columns]
OF_COLUMNS = [units, signs, origins]
OF_COPIES = [copies_in_order, smaller_first]
STATISTICS = [
    *ORDER,
    scale,
    *OF_COLUMNS,
    names_of_the_target,
    constants_last,
    *OF_COPIES,
]
# and constants among them
TIED_AT_ZERO = [*ORDER, scale, *OF_COLUMNS, names_of_the_target, zeros_last, *OF_COPIES]
TIES = ["full column rank", "copies", "multiples", "counts"]


def without(promises, *exceptions):
    return [promise for promise in promises if promise not in exceptions]


SCORES = {
    "f test": selectors.FTestSelector(R),
    "jmi": selectors.JMISelector(R),
    "jmi of equal widths": selectors.JMISelector(R, strategy="width"),
    "mrmr": selectors.MRMRSelector(R),
    "mrmr of information": selectors.MRMRSelector(
        R, redundancy="mutual_information", scheme="difference"
    ),
    "relieff": selectors.ReliefFSelector(R, n_neighbors=3),
    "multisurf": selectors.MultiSURFSelector(R),
    "surf": selectors.MultiSURFSelector(R, form="surf"),
    "surf star": selectors.MultiSURFSelector(R, form="surf_star"),
    "forward": selectors.ForwardSelector(R),
    "hsic lasso": selectors.HSICLassoSelector(R, block_size=None),
}
DISTANCES = {
    name: SCORES[name] for name in ("relieff", "multisurf", "surf", "surf star")
}
FORESTS = {
    "forest rfe": selectors.ForestRFESelector(R, n_estimators=5, random_state=0),
    "permutation importance": selectors.PermutationImportanceSelector(
        R, n_estimators=5, n_repeats=2, random_state=0
    ),
    "boruta": selectors.BorutaSelector(R, n_estimators=5, max_iter=4, random_state=0),
}
FIXED_COLUMNS = {  # of V alone
    "leverage": selectors.LeverageScoreSelector(R, strategy="top", rank=3),
    "leverage of sigma V": selectors.LeverageScoreSelector(
        R, strategy="top", columns="sigma_V"
    ),
    "ridge leverage": selectors.RidgeLeverageSelector(R),
    "single svd": selectors.SingleSVDSelector(R),
    "single svd of v alone": selectors.SingleSVDSelector(R, form="basis_only"),
    "spectral selection": selectors.SpectralSelectionSelector(R, rank=3),
    "spectral selection of one vector": selectors.SpectralSelectionSelector(R, rank=1),
    "dual set": selectors.DualSetSelector(R, rank=3),
    "bss": selectors.BSSSelector(R, rank=3),
    "bss of sigma V": selectors.BSSSelector(R, rank=3, columns="sigma_V"),
    "rrqr": selectors.RRQRSelector(R),
    "rrqr by norm": selectors.RRQRSelector(R, completion="norm"),
    "strong rrqr": selectors.StrongRRQRSelector(R),
    "strong rrqr, f = 1": selectors.StrongRRQRSelector(R, f=1.0),
}
DRAWN_COLUMNS = {
    "leverage sampled": selectors.LeverageScoreSelector(R, random_state=0),
    "leverage sampled, distinct": selectors.LeverageScoreSelector(
        R, replace=False, random_state=0
    ),
    "adaptive pivoting": selectors.AdaptiveRandomizedPivotingSelector(
        R, random_state=0
    ),
    "random pivots": selectors.RandomlyPivotedQRSelector(R, random_state=0),
}
CENTRED = {
    "leverage, centred": selectors.LeverageScoreSelector(
        R, strategy="top", rank=3, center=True
    )
}
PICKS = {
    "cur": selectors.CURSelector(R),
    "cur of rank 2": selectors.CURSelector(R, rank=2),
}
RANKED = [
    "leverage",
    "leverage of sigma V",
    "ridge leverage",
    "rrqr",
    "rrqr by norm",
    "strong rrqr",
]
NESTED = {name: FIXED_COLUMNS[name] for name in RANKED} | PICKS

GROUPS = [  # selectors, rows, targets, promises
    (SCORES, ["labelled"], ["two", "three", "numbers"], STATISTICS),
    (
        {
            "mutual information": selectors.MutualInformationSelector(R, random_state=0),
            "rank test": selectors.RankTestSelector(R),
        },
        ["labelled"], ["three", "numbers"], TIED_AT_ZERO,
    ),
    (DISTANCES, ["labelled counts"], ["three", "numbers"], [order_of_rows, order_of_columns, units]),
    (
        # bins of unequal counts
        {"cmim of four bins": selectors.JMISelector(R, criterion="cmim", n_bins=4)},
        ["labelled"], ["three", "numbers"], without(STATISTICS, signs, names_of_the_target),
    ),
    (
        # whose s_0 has a unit
        {"shrunken centroids": selectors.ShrunkenCentroidsSelector(R)},
        ["labelled"], ["three"], without(TIED_AT_ZERO, units),
    ),
    (
        {"elimination": selectors.SVMRFESelector(R)},  # its penalty has a unit
        ["labelled"], ["two", "three", "numbers"],
        [*ORDER, signs, names_of_the_target, zeros_last, copies_in_order],
    ),
    (FORESTS, ["labelled"], ["three", "numbers"], [scale, units, origins, smaller_first]),
    (
        {"stability": selectors.StabilitySelector(R, random_state=0)},  # it draws rows
        ["labelled"], ["two", "numbers"], without(TIED_AT_ZERO, order_of_rows),
    ),
    (
        # it draws copies of columns
        {"knockoffs": selectors.KnockoffSelector(R, random_state=0)},
        ["labelled"], ["numbers"], [scale, *OF_COLUMNS, names_of_the_target, constants_last, smaller_first],
    ),
    (
        # columns are a stream
        {"alpha investing": selectors.AlphaInvestingSelector(R, wealth=5.0)},
        ["labelled"], ["two", "numbers"], [order_of_rows, scale, *OF_COLUMNS, names_of_the_target, smaller_first],
    ),
    (
        {"lasso": selectors.AtSize(selectors.LassoSelector(), R)},
        ["labelled"], ["two", "numbers"], [*ORDER, scale, signs, origins, names_of_the_target, zeros_last],
    ),
    (
        {
            "l1 svm": selectors.AtSize(selectors.L1SVMSelector(), R),
            "feature selective": selectors.AtSize(selectors.FeatureSelectiveSelector(relative=True), R),
        },
        ["labelled"], ["two"], [*ORDER, signs, names_of_the_target, zeros_last],
    ),
    (
        # distances have units
        {"laplacian score": selectors.LaplacianScoreSelector(R)},
        ["labelled"], ["none"], [*ORDER, scale, signs, origins, constants_last, *OF_COPIES],
    ),
    ({"farthest": selectors.FarthestPointSelector(R)}, ["wide"], ["none"], [*ORDER, scale, *OF_COPIES]),
    (FIXED_COLUMNS | PICKS, ["wide"], ["none"], [*ORDER, scale, signs, zeros_last, copies_in_order]),
    (NESTED, ["wide"], ["none"], [smaller_first]),
    (FIXED_COLUMNS | DRAWN_COLUMNS, ["wide"], ["none"], [extreme_scale]),
    (FIXED_COLUMNS | DRAWN_COLUMNS | CENTRED, TIES, ["none"], [order_of_rows, scale, form]),
    (
        {"uniform": selectors.UniformSelector(R, random_state=0)},
        ["labelled"], ["two", "none"], [order_of_rows, scale, *OF_COLUMNS, smaller_first],
    ),
]  # fmt: skip
CASES = [
    pytest.param(
        selector,
        ROWS[rows],
        TARGETS[target],
        promise,
        id=f"{promise.__name__}-{name}-{rows}-{target}",
    )
    for chosen, all_rows, targets, promises in GROUPS
    for name, selector in chosen.items()
    for rows in all_rows
    for target in targets
    for promise in promises
]


@pytest.mark.filterwarnings("ignore:.*expected scores that:UserWarning")
@pytest.mark.parametrize(("selector", "X", "y", "promise"), CASES)
def test_what_may_not_decide_does_not(selector, X, y, promise):
    promise(selector, X, y)


@pytest.mark.parametrize(
    ("selector", "rows", "promise"),
    [
        (selectors.AlphaInvestingSelector(R, wealth=5.0), "labelled", order_of_columns),
        (selectors.SVMRFESelector(R), "labelled", units),
        (selectors.L1SVMSelector(C=0.01), "labelled", origins),
        (selectors.LeverageScoreSelector(R, strategy="top"), "wide", units),
        (selectors.SingleSVDSelector(R), "wide", smaller_first),
        (selectors.UniformSelector(R, random_state=0), "wide", copies_in_order),
        (selectors.UniformSelector(R, random_state=0), "wide", constants_last),
        (selectors.OnlineLeverageSelector(R, random_state=0), "labelled", zeros_last),
        (selectors.StabilitySelector(R, random_state=0), "labelled", order_of_rows),
    ],
    ids=lambda value: getattr(value, "__name__", repr(value)),
)
def test_each_promise_is_broken_by_a_method_that_does_not_make_it(
    selector, rows, promise
):
    """Negative control."""
    y = TARGETS["two"] if rows == "labelled" else None
    with pytest.raises(AssertionError):
        promise(selector, ROWS[rows], y)
