"""Certificates of column subsets: beside dense formulas, on each route, and what they say of what breaks a bound."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectFpr, SelectKBest

import provsel.kernels.tails as tails_module
from provsel import selectors
from provsel.certificates import (
    HELD,
    IN_EXPECTATION,
    NO_BOUND,
    NOT_MEASURED,
    VIOLATED,
    Spectrum,
    SubsetApproximation,
    SubsetPromise,
    certify,
    certify_subset,
)
from provsel.kernels.spectral import accurate_basis
from provsel.kernels.subset_errors import error_by_products, error_from_basis
from textbook_subsets import MATRICES, kahan, leading, ratios, residual


def dense_facts(X, columns, weights, k):
    """Return sigma_min, the oblique and the basis bound from explicit matrices."""
    V, E = leading(X, k)
    sigma = np.linalg.svd(V[columns], compute_uv=False)[k - 1]
    projected = (E[:, columns] * weights) @ np.linalg.pinv(
        V[columns] * weights[:, None]
    ).T
    return sigma, 1 + (projected**2).sum() / (E**2).sum(), 1 / sigma**2


def route(monkeypatch, name):
    """Send the certificate by a route, and return the form of X that takes it."""
    if name == "products":
        monkeypatch.setattr(tails_module, "LARGE_BASIS", 0)
    return np.asarray if name == "dense" else sparse.csr_array


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("way", ["dense", "gram", "products"])
@pytest.mark.parametrize("less", [0, 2])
def test_every_route_gives_the_dense_numbers(name, way, less, monkeypatch):
    X, k = MATRICES[name]
    if way == "products" and name in ("low rank, less noise", "Kahan"):
        pytest.skip("a tail without digits in squares; see below")
    form = route(monkeypatch, way)
    for selector in (
        selectors.SingleSVDSelector(k),
        selectors.UniformSelector(k, random_state=1),
        selectors.RRQRSelector(k),
    ):
        certificate = certify_subset(selector.fit(X), form(X), k - less)
        columns = selector.indices_
        expected = ratios(X, columns, k - less)
        assert certificate.k == k - less
        assert (
            certificate.frobenius_ratio,
            certificate.spectral_ratio,
        ) == pytest.approx(expected, rel=1e-5)
        facts = dense_facts(X, columns, selector.weights_, k - less)
        if name == "hardest" and less:
            continue  # equal singular values: V is one of many
        if np.isfinite(certificate.oblique_bound):
            assert (
                certificate.sigma_min,
                certificate.oblique_bound,
                certificate.basis_bound,
            ) == pytest.approx(facts, rel=1e-4)
            assert certificate.frobenius_ratio <= certificate.oblique_bound * (1 + 1e-6)
            assert certificate.oblique_bound <= certificate.basis_bound * (1 + 1e-6)
            assert certificate.spectral_ratio <= certificate.basis_bound * (1 + 1e-6)
        else:
            assert facts[0] < 1e-12
        assert certificate.state in (HELD, NO_BOUND)


@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
def test_tails_that_squares_cannot_hold_are_measured_of_dense_rows(scale):
    X = kahan(60)
    k = 59
    pivots = selectors.RRQRSelector(k).fit(X)
    exchanged = selectors.StrongRRQRSelector(k).fit(X)
    certificate = certify_subset(exchanged, X * scale)
    assert certificate.frobenius_ratio == pytest.approx(2.5356, rel=1e-3)
    assert certificate.state == HELD
    assert certify_subset(pivots, X * scale).frobenius_ratio > 1e12
    wide = np.hstack([X, X, X])
    assert certify_subset(pivots, X).frobenius_ratio > 1e12
    assert (
        certify_subset(selectors.StrongRRQRSelector(k).fit(wide), wide).frobenius_ratio
        < 3
    )


def test_tails_that_squares_cannot_hold_are_measured_of_sparse_rows(monkeypatch):
    X = kahan(60)
    k = 59
    exchanged = selectors.StrongRRQRSelector(k).fit(X)
    certificate = certify_subset(exchanged, sparse.csr_array(X))
    assert certificate.frobenius_ratio == pytest.approx(2.5356, rel=1e-3)
    assert certificate.state == HELD
    rng = np.random.default_rng(0)
    exact = rng.integers(-3, 4, (20, 5)) @ rng.integers(-3, 4, (5, 40))
    of_rank = certify_subset(
        selectors.SingleSVDSelector(5).fit(exact), sparse.csr_array(exact, dtype=float)
    )
    assert of_rank.frobenius_ratio == 1
    assert of_rank.spectral_ratio == 1
    assert of_rank.state == HELD
    by_products = route(monkeypatch, "products")
    noisy, rank = MATRICES["low rank, less noise"]
    large = certify_subset(
        selectors.SingleSVDSelector(rank).fit(noisy), by_products(noisy)
    )
    assert large.state == NOT_MEASURED
    assert np.isnan(large.frobenius_ratio)


def test_an_error_where_the_best_is_zero_is_infinite():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 3)) @ rng.standard_normal((3, 30))
    X[:, 7] = X[:, 6]
    selector = selectors.SingleSVDSelector(3).fit(X)
    assert certify_subset(selector, X).frobenius_ratio == 1
    selector.indices_ = np.array([6, 7, 8])  # of rank two
    certificate = certify_subset(selector, X)
    assert certificate.frobenius_ratio == np.inf
    assert certificate.spectral_ratio == np.inf
    assert certificate.oblique_bound == np.inf
    assert certificate.state == VIOLATED


@pytest.mark.parametrize(
    "make",
    [
        selectors.SingleSVDSelector,
        selectors.StrongRRQRSelector,
        lambda k: selectors.SpectralSelectionSelector(2 * k, rank=k),
        lambda k: selectors.DualSetSelector(2 * k, rank=k),
    ],
    ids=["single svd", "strong rrqr", "spectral selection", "dual set"],
)
def test_a_selection_that_breaks_its_promise_is_said_to(make):
    """The negative control: the promise of a selection for columns that it did not choose."""
    (X, k), tiny = MATRICES["low rank, less noise"], 12
    X = X.copy()
    X[:, :tiny] = 1e-9 * np.eye(*X.shape)[:, :tiny]
    selector = make(k).fit(X)
    assert certify_subset(selector, X).state == HELD
    selector.indices_ = np.arange(selector.indices_.size)
    certificate = certify_subset(selector, X)
    assert certificate.state == VIOLATED
    assert certificate.frobenius_ratio > k + 1
    # which holds for any columns
    assert certificate.frobenius_ratio <= certificate.oblique_bound


@pytest.mark.parametrize("less", [0, 1, 5])
def test_promises_beside_a_lower_rank_fall_by_the_tails(less):
    X, r = MATRICES["wide"]
    sigma = np.linalg.svd(X, compute_uv=False)
    k = r - less
    certificate = certify_subset(selectors.SingleSVDSelector(r).fit(X), X, k)
    assert certificate.frobenius_bound == pytest.approx(
        (r + 1) * (sigma[r:] ** 2).sum() / (sigma[k:] ** 2).sum()
    )
    strong = certify_subset(selectors.StrongRRQRSelector(r).fit(X), X, k)
    assert strong.spectral_bound == pytest.approx(
        (1 + 4 * r * (90 - r)) * sigma[r] ** 2 / sigma[k] ** 2
    )
    assert certificate.state == strong.state == HELD


@pytest.mark.parametrize(
    "make",
    [
        selectors.SingleSVDSelector,
        selectors.SpectralSelectionSelector,
        selectors.RRQRSelector,
    ],
)
def test_beside_a_higher_rank_nothing_is_promised(make):
    X, r = MATRICES["wide"]
    selector = make(r).fit(X)
    certificate = certify_subset(selector, X, r + 2)
    assert certificate.state == NO_BOUND
    assert certificate.oblique_bound == np.inf
    assert certificate.sigma_min == 0
    assert certificate.frobenius_ratio == pytest.approx(
        ratios(X, selector.indices_, r + 2)[0]
    )
    assert SubsetPromise(3, frobenius=4.0).against(4, Spectrum(np.ones(5))).rank == 4


def test_states():
    X, k = MATRICES["wide"]
    assert (
        certify_subset(
            selectors.RandomlyPivotedQRSelector(k, random_state=0).fit(X), X
        ).state
        == IN_EXPECTATION
    )
    assert (
        certify_subset(selectors.UniformSelector(k, random_state=0).fit(X), X).state
        == NO_BOUND
    )
    full = certify_subset(selectors.FullDataSelector().fit(X), X, 5)
    assert full.frobenius_ratio == pytest.approx(0, abs=1e-20)
    assert full.sigma_min == pytest.approx(1)
    weighted = certify_subset(selectors.BSSSelector(60).fit(X), X, 12)
    facts = dense_facts(
        X,
        selectors.BSSSelector(60).fit(X).indices_,
        selectors.BSSSelector(60).fit(X).weights_,
        12,
    )
    assert weighted.oblique_bound == pytest.approx(facts[1])
    few = certify_subset(
        selectors.LeverageScoreSelector(3, random_state=0).fit(X), X, 5
    )
    assert few.basis_bound == np.inf


def test_no_residual_of_the_size_of_x_is_formed():
    """Twenty thousand columns and rows, by products."""
    rng = np.random.default_rng(8)
    X = sparse.random_array(
        (20_000, 20_000), density=1e-4, random_state=rng, format="csr"
    )
    selector = selectors.RandomlyPivotedQRSelector(6, random_state=0).fit(X)
    certificate = certify_subset(selector, X)
    assert certificate.state == IN_EXPECTATION
    C = X.tocsc()[:, selector.indices_].toarray()
    Q = np.linalg.qr(C)[0]
    total = (X.data**2).sum()
    sigma = sparse.linalg.svds(
        X, k=6, return_singular_vectors=False, v0=np.ones(20_000)
    )
    expected = (total - ((X.T @ Q) ** 2).sum()) / (total - (sigma**2).sum())
    assert certificate.frobenius_ratio == pytest.approx(expected, rel=1e-6)
    small = sparse.csc_array(MATRICES["few non-zeros"][0])
    left = residual(small.toarray(), [3, 1, 4])
    assert error_by_products(small, np.array([3, 1, 4])).frobenius == pytest.approx(
        (left**2).sum()
    )
    by_basis = error_from_basis(accurate_basis(small.toarray()), np.array([3, 1, 4]))
    assert by_basis.frobenius == pytest.approx((left**2).sum())


def test_bad_ranks_and_other_rows_raise():
    selector = selectors.UniformSelector(2).fit(np.eye(4))
    for k in (0, -1, 1.5, True, "3"):
        with pytest.raises(
            ValueError,
            match=f"certify_subset: expected k to be None or a positive integer, got {k!r}",
        ):
            certify_subset(selector, np.eye(4), k)
    with pytest.raises(
        ValueError,
        match=r"certify_subset: expected X with the 4 features .* got 5; pass the training",
    ):
        certify_subset(selector, np.eye(5))
    with pytest.raises(
        ValueError,
        match="SubsetApproximation: expected rows with a non-zero value, got all zeros",
    ):
        certify_subset(selector, np.zeros((4, 4)))


def test_a_certificate_says_for_which_question_a_selection_is_good():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((10, 2000))
    y = np.arange(10) % 2
    many = selectors.BSSSelector(1500).fit(X, y)
    few = selectors.UniformSelector(5, random_state=0).fit(X, y)
    assert certify(many, X, y, also=[SubsetApproximation]).good_for == (
        "geometry",
        "margin",
        "rank-k approximation",
    )
    assert certify(many, X).good_for == ("geometry",)
    assert certify(few, X, y, also=[SubsetApproximation]).good_for == (
        "rank-k approximation",
    )
    X, k = MATRICES["low rank, less noise"]
    few.indices_ = np.argsort(np.linalg.norm(X, axis=0))[:k]
    few.n_features_in_ = X.shape[1]
    few.weights_ = np.ones(k)
    assert certify(few, X, also=[SubsetApproximation]).good_for == ()


def test_selectors_of_scikit_learn_have_ratios_and_no_promise():
    X, y = load_breast_cancer(return_X_y=True)
    certificate = certify_subset(SelectKBest(k=5).fit(X, y), X)
    kept = SelectKBest(k=5).fit(X, y).get_support(indices=True)
    frobenius, spectral = ratios(X, kept, 5)
    assert certificate.state == NO_BOUND
    assert certificate.k == 5
    assert certificate.frobenius_ratio == pytest.approx(frobenius, rel=1e-9)
    assert certificate.spectral_ratio == pytest.approx(spectral, rel=1e-9)
    assert (
        certificate.frobenius_ratio
        <= certificate.oblique_bound
        <= certificate.basis_bound
    )


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        (
            PCA(3),
            r"expected a selector that keeps columns, .* got PCA\(.*\), which has neither; if it is a pipeline",
        ),
        (SelectFpr(alpha=0.0), r"got SelectFpr\(.*\), which keeps none"),
    ],
)
def test_what_keeps_no_columns_is_refused(selector, message):
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        certify_subset(selector.fit(X, y), X)
