"""Bases and certificates from condition 1 to 1e14, against an SVD in extended precision: no false "held"."""

import sys
import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.linalg import LinAlgWarning
from sklearn.base import clone

import ill_conditioned
from provsel.certificates import (
    HELD,
    UNDECIDED,
    VIOLATED,
    SubsetApproximation,
    SubsetPromise,
    certify,
    certify_subset,
)
from provsel.kernels.graded import (
    equilibrating_exponents,
    scale_exponent,
    scaled,
    shifted,
)
from provsel.kernels.relative_svd import relative_svd
from provsel.kernels.spectral import spectral_basis
from provsel.models import LibsvmSVM
from provsel.selectors import (
    BSSSelector,
    LeverageScoreSelector,
    RandomlyPivotedQRSelector,
    RRQRSelector,
    Selection,
    SingleSVDSelector,
    SpectralSelectionSelector,
    StrongRRQRSelector,
)
from small_runs import REPO, load_script

# the script finds its helpers by its own folder
sys.path.append(str(REPO / "experiments" / "simulations"))
graded = load_script(REPO / "experiments" / "simulations" / "graded.py")

FORMS = {"dense": np.asarray, "sparse": sparse.csr_array}
CASES = [
    (name, shape, condition)
    for name, shape, condition in product(
        ill_conditioned.FAMILY, ill_conditioned.SHAPES, ill_conditioned.CONDITIONS
    )
    if name != "low rank" or condition == ill_conditioned.CONDITIONS[0]
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("name", "shape", "condition"), CASES)
def test_the_basis_is_right_or_says_that_it_is_not_certain(
    name, shape, condition, form
):
    X, rank, V, sigma = ill_conditioned.solved(name, shape, condition)
    basis = spectral_basis(FORMS[form](X))
    assert_allclose(basis.V.T @ basis.V, np.eye(basis.rank), atol=1e-12)
    if not basis.is_decided:
        assert condition > 1e13
        return
    assert basis.rank == rank
    outside = basis.V - (V @ (V.T @ basis.V)).astype(float)
    assert np.linalg.norm(outside, 2) <= basis.error + 1e-13
    assert_allclose(
        basis.singular_values,
        sigma.astype(float),
        rtol=1e-7,
        atol=4e-15 * float(sigma[0]),
    )
    assert basis.error < 100 * np.finfo(float).eps * float(sigma[0] / sigma[-1])


def test_scales_of_columns_cost_no_digits():
    """Condition 1e20, of which a QR of the rows keeps nothing: the space of V is still right to the last digits."""
    X = ill_conditioned.giant_column(np.random.default_rng(0), (12, 60), 1e20)
    unscaled = X.copy()
    unscaled[:, 5] /= 1e20
    basis = spectral_basis(X)
    # the giant column is a unit vector of V's space, and the others span what is
    # orthogonal to it
    others = np.delete(unscaled, 5, axis=1)
    direction = X[:, 5] / np.linalg.norm(X[:, 5])
    left = others - np.outer(direction, direction @ others)
    expected = np.linalg.svd(left)[2][:11]
    scores = np.insert((expected**2).sum(axis=0), 5, 1.0)
    assert_allclose((basis.V**2).sum(axis=1), scores, atol=1e-13)


def exact_ratio(X, sigma, columns, k):
    """Return ||X - C C^+ X||_F^2 / ||X - X_k||_F^2 in extended precision."""
    rest = X.astype(np.longdouble)
    for column in columns:
        q = rest[:, column].copy()
        if np.sqrt(q @ q) == 0:
            continue
        q /= np.sqrt(q @ q)
        for _ in range(2):
            rest = rest - np.outer(q, q @ rest)
    return float((rest**2).sum() / (sigma[k:] ** 2).sum())


@pytest.mark.parametrize(
    ("name", "condition"),
    [(name, cond) for name, shape, cond in CASES if shape == "wide"],
)
def test_no_selector_and_no_certificate_says_more_than_is_so(name, condition):
    X, rank, V, sigma = ill_conditioned.solved(name, "wide", condition)
    for label, selector in ill_conditioned.selectors(X).items():
        selector, warned = ill_conditioned.fitted(selector, sparse.csr_array(X))
        for values in (selector.weights_, getattr(selector, "scores_", np.zeros(1))):
            assert np.isfinite(values).all(), label
        # a sketch mixes the scales of the rows, and its rank is its own
        if label == "approximate BSS":
            assert not warned or condition >= 1e13
        elif warned and label in ("random pivots", "pivoted QR", "strong RRQR"):
            assert selector.rank_ < rank, label
        elif warned:
            assert condition > 1e13
        elif label not in (
            "dual set",
            "random pivots",
            "pivoted QR",
            "strong RRQR",
            "ridge",
        ):
            assert selector.rank_ == rank, label
            assert 0 < getattr(selector, "rank_tolerance_", 1e-15) < 1e-13
        certificate = ill_conditioned.quiet(certify, selector, X)
        if label != "approximate BSS":  # it promises something of the basis of a sketch
            kept = V[selector.indices_] * selector.weights_[:, None]
            eigenvalues = np.linalg.eigvalsh((kept.T @ kept).astype(float))
            error = max(1 - eigenvalues[0], eigenvalues[-1] - 1)
            if certificate.spectral.state == HELD:
                assert certificate.spectral.spectral_error == pytest.approx(
                    error, rel=0.1, abs=1e-6
                )
                assert error <= certificate.spectral.spectral_bound
            assert certificate.spectral.state != VIOLATED, label
            assert certificate.radius.state != VIOLATED, label
        subset = ill_conditioned.quiet(certify_subset, selector, X)
        assert subset.state != VIOLATED, label
        if (
            subset.state == HELD
            and subset.frobenius_ratio != 1.0
            and name != "low rank"
        ):
            exact = exact_ratio(X, sigma, selector.indices_, int(subset.k))
            assert exact <= subset.frobenius_bound * (1 + 1e-6), label


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scale", [1e4, 1e6, 1e7, 1e8, 1e12])
def test_one_column_in_another_unit_hides_no_rank(scale, form):
    """Of 30 x 400 with one column of 1e7 BSS saw rank 1, and its certificate said held where ||E|| was 9e13."""
    rng = np.random.default_rng(0)
    X = ill_conditioned.sparse_giant_column(rng, (30, 400), scale)
    rows = FORMS[form](X)
    selector = BSSSelector(60).fit(rows)
    assert selector.rank_ == 30
    certificate = certify(selector, rows)
    assert (certificate.spectral.state, certificate.radius.state) == (HELD, HELD)
    sampled = LeverageScoreSelector(60, random_state=0).fit(rows)
    assert sampled.indices_.size > 30
    assert SingleSVDSelector(15).fit(rows).rank_ == 15
    assert (
        certify_subset(SpectralSelectionSelector(15).fit(rows), rows).spectral_ratio < 2
    )


def test_a_rank_that_is_not_certain_is_said_once_and_held_by_no_certificate():
    X = ill_conditioned.clustered_values(np.random.default_rng(7), (12, 60), 1e14)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        selector = BSSSelector(40).fit(X)
    assert [warning.category for warning in caught] == [LinAlgWarning]
    message = str(caught[0].message)
    assert "numerical rank of X is not certain" in message
    assert f"{selector.rank_} singular values" in message
    with pytest.warns(LinAlgWarning, match="rank of X is not certain"):
        certificate = certify(selector, X, also=[SubsetApproximation])
    assert {
        certificate.spectral.state,
        certificate.radius.state,
        certificate.approximation.state,
    } == {UNDECIDED}
    assert np.isnan(
        [certificate.approximation.frobenius_ratio, certificate.approximation.sigma_min]
    ).all()
    assert not certificate.held
    assert certificate.good_for == ()


def random_scales(rng, shape, smallest):
    """Return a Gaussian matrix with random scales of rows and columns, down to `smallest` on both sides."""
    decades = np.log10(smallest)
    rows, columns = (10 ** rng.uniform(decades, 0, length) for length in shape)
    return rows[:, None] * rng.standard_normal(shape) * columns


RELATIVE = [make for make, _ in graded.FAMILY if make is not graded.spread_values] + [
    random_scales
]


@pytest.mark.parametrize("shape", [(5, 9), (9, 5), (6, 6), (1, 4)])
@pytest.mark.parametrize("make", RELATIVE)
def test_relative_errors_of_singular_values_are_below_their_bound(make, shape):
    if shape[0] > shape[1] and make in (graded.dependent_rows, graded.kahan):
        shape = shape[::-1]
    if shape[0] == 1 and make is graded.kahan:
        return
    X = make(np.random.default_rng(5), shape, 1e-35)
    for form in FORMS.values():
        solution = relative_svd(form(X))
        errors = np.abs(
            graded.exact(solution.singular_values) / graded.true_values(X) - 1
        ).astype(float)
        assert errors.max() <= solution.error < 1e-6
        assert_allclose(solution.V.T @ solution.V, np.eye(min(shape)), atol=1e-13)


def test_singular_values_that_rounding_decides_have_no_small_bound():
    X = graded.spread_values(np.random.default_rng(5), (6, 9), 1e-16)
    solution = relative_svd(X)
    assert (
        np.abs(graded.exact(solution.singular_values) / graded.true_values(X) - 1).max()
        > 1e-4
    )
    assert solution.error > 1
    assert relative_svd(X[[0, 1, 2, 0]]) is None  # no full rank
    assert relative_svd(np.diag([1.0, 1e-140])) is None  # squares underflow


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scale", [1.0, 2.0**-300, 2.0**300])
@pytest.mark.parametrize(("make", "smallest"), [*graded.FAMILY, (random_scales, 1e-35)])
def test_ratios_of_graded_rows_are_true_or_not_shown(make, smallest, scale, form):
    """Rows from 1 to 1e-16 gave "rank undecided" with ratio 1; from 1 to 1e-14 "held" with ratio 1, where it is 1.5."""
    X = make(np.random.default_rng(4), (7, 12), smallest)
    values = graded.true_values(X)
    for label, selector in graded.SELECTORS.items():
        selector = clone(selector).set_params(n_features_to_select=6)
        if label == "dual set":
            selector.set_params(rank=3)
        ill_conditioned.quiet(selector.fit, FORMS[form](X * scale))
        certificate = ill_conditioned.quiet(
            certify_subset, selector, FORMS[form](X * scale)
        )
        assert np.unique(selector.indices_).size == selector.indices_.size, label
        ratio = float(
            graded.true_error(X, selector.indices_)
            / (values[int(certificate.k) :] ** 2).sum()
        )
        if certificate.state == UNDECIDED:
            # columns that miss almost all
            assert make is graded.spread_values or ratio > 1e9, label
            assert np.isnan(
                [
                    certificate.frobenius_ratio,
                    certificate.spectral_ratio,
                    certificate.sigma_min,
                ]
            ).all()
            continue
        assert certificate.state != VIOLATED, label
        assert certificate.frobenius_ratio == pytest.approx(
            ratio, rel=1e-6, abs=1e-12
        ), label
        assert certificate.state != HELD or ratio <= certificate.frobenius_bound, label


class PromisedTwo(StrongRRQRSelector):
    """Some columns, with a promise that does not hold of dependent ones."""

    columns = ()

    def _select(self, view, rng):
        return Selection.unweighted(np.array(self.columns))

    def subset_promise(self, spectrum, rank):
        return SubsetPromise(len(self.columns), frobenius=2.0)


def test_dependent_columns_of_graded_rows_hold_no_promise():
    """Two of six columns are equal, so that they leave the shortest of six rows: nothing of rank 6 should."""
    X = graded.scaled_rows(np.random.default_rng(4), (6, 12), 1e-16)
    X[:, 1] = X[:, 0]
    selector = PromisedTwo(6)
    selector.columns = range(6)
    certificate = certify_subset(selector.fit(X), X)
    assert certificate.state == UNDECIDED
    assert np.isnan(certificate.frobenius_ratio)
    selector.columns = range(1, 7)
    assert certify_subset(selector.fit(X), X).state == HELD


@pytest.mark.parametrize(
    "make", [StrongRRQRSelector, RRQRSelector, RandomlyPivotedQRSelector]
)
def test_pivots_that_end_early_for_the_scales_of_rows_are_warned_of(make):
    X = graded.scaled_rows(np.random.default_rng(4), (6, 12), 1e-40)
    with pytest.warns(
        LinAlgWarning,
        match=f"{make.__name__}: expected 6 independent columns, got [23]: rows or columns",
    ):
        selector = make(7).fit(X)
    assert selector.rank_ < 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(2).fit(X)
        make(7).fit(np.round(X))  # of rank 1, in whole numbers


@pytest.mark.parametrize("make", [LeverageScoreSelector, BSSSelector])
def test_a_rank_that_ends_between_equal_singular_values_is_warned_of(make):
    rng = np.random.default_rng(0)
    X = (
        ill_conditioned.orthonormal(rng, 12, 8) * [3.0, 2, 2, 2, 1, 1, 0.5, 0.5]
    ) @ ill_conditioned.orthonormal(rng, 60, 8).T
    with pytest.warns(
        LinAlgWarning, match=f"{make.__name__}: singular values 3 and 4 of X are equal"
    ):
        make(20, rank=3).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert make(20, rank=4).fit(X).rank_ == 4


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e-160, 1e160, 1e300])
def test_magnitudes_whose_squares_overflow_or_underflow_are_an_error(scale, form):
    rng = np.random.default_rng(0)
    X = rng.integers(1, 9, (20, 35)).astype(float)
    y = np.arange(20) % 2
    for selector in ill_conditioned.selectors(X).values():
        with pytest.raises(
            ValueError, match="largest absolute value is from 1e-140 to 1e\\+140, got"
        ):
            selector.fit(FORMS[form](X * scale), y)
    with pytest.raises(
        ValueError, match="LibsvmSVM: expected X whose largest absolute value"
    ):
        LibsvmSVM().fit(FORMS[form](X * scale), y)
    with pytest.raises(
        ValueError, match="certify: expected X whose largest absolute value"
    ):
        certify(BSSSelector(30).fit(X), FORMS[form](X * scale))


def test_parts_of_a_certificate_that_contradict_each_other_are_undecided(monkeypatch):
    """A margin or radius beyond what ||E|| allows is impossible, so that some part of it must be rounding."""
    X = np.random.default_rng(0).standard_normal((10, 200))
    selector = BSSSelector(60).fit(X)
    assert certify(selector, X).radius.state == HELD
    selector.weights_ *= 2
    monkeypatch.setattr("provsel.certificates.trial.MeasuredTrial.spectral_error", 0.0)
    certificate = certify(selector, X)
    assert certificate.radius.radius_ratio > 1
    assert {certificate.spectral.state, certificate.radius.state} == {UNDECIDED}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [(40, 400), (40, 60), (400, 40)])
def test_the_rounding_of_single_precision_is_no_direction(shape, form):
    """Columns less their means, in single precision: one direction, or none of many rows, is left of rounding only."""
    X = np.random.default_rng(0).standard_normal(shape) + 3.0
    X = (X - X.mean(axis=0)).astype(np.float32)
    basis = spectral_basis(FORMS[form](X))
    assert (basis.rank, basis.is_decided) == (min(shape[0] - 1, shape[1]), True)
    # exact values of single precision lose nothing: units of columns are no rounding
    X = np.random.default_rng(0).integers(1, 9, shape).astype(np.float32)
    X[:, 5] *= 2.0**30
    assert spectral_basis(FORMS[form](X)).rank == min(shape)
    X = ill_conditioned.giant_column(np.random.default_rng(0), shape, 1e7).astype(
        np.float32
    )
    assert spectral_basis(FORMS[form](X)).rank == min(shape)


@given(st.integers(-700, 700), st.booleans(), st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_a_power_of_two_changes_nothing_but_the_singular_values(
    exponent, is_sparse, seed
):
    X = np.random.default_rng(seed).standard_normal((5, 20))
    form = sparse.csr_array if is_sparse else np.asarray
    plain = spectral_basis(form(X))
    moved = spectral_basis(form(np.ldexp(X, exponent)))
    assert_allclose(moved.V @ moved.V.T, plain.V @ plain.V.T, atol=1e-12)
    assert_allclose(
        np.ldexp(moved.singular_values, -exponent), plain.singular_values, rtol=1e-12
    )


@pytest.mark.parametrize("form", FORMS)
def test_denormal_values_are_scaled(form):
    X = FORMS[form](np.array([[5e-324, 0.0, 1e-323], [0.0, 5e-324, 0.0]]))
    multiplied = scaled(X, scale_exponent(X))
    assert abs(multiplied).max() in (0.5, 1.0)
    assert spectral_basis(X).rank == 2


@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 12),
    st.integers(1, 12),
    st.integers(0, 2**32 - 1),
    st.sampled_from([1, 60, 140]),
)
def test_rows_and_columns_are_brought_to_one_by_powers_of_two(n, d, seed, decades):
    rng = np.random.default_rng(seed)
    scales = (
        10.0 ** rng.integers(-decades, decades + 1, size) for size in ((n, 1), (1, d))
    )
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.7) * np.multiply(*scales)
    rows, columns = equilibrating_exponents(X)
    for exponents, expected_exponents in zip(
        equilibrating_exponents(sparse.csr_array(X)), (rows, columns), strict=True
    ):
        assert_array_equal(exponents, expected_exponents)
    balanced = shifted(X, rows, columns)
    assert_array_equal(balanced, np.ldexp(X, rows[:, None] + columns))
    largest = np.abs(balanced).max(axis=1)  # rows came last
    assert ((largest == 0) | ((largest >= 0.5) & (largest < 1))).all()
