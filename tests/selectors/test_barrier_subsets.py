"""Spectral and dual set selection, and pivots: plain loops, LAPACK, bounds on easy and hard inputs, and controls."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.linalg import qr

from provsel.certificates import HELD, certify_subset
from provsel.kernels.dual_set import dual_set_columns
from provsel.kernels.spectral_selection import spectral_bound, spectral_columns
from provsel.selectors import DualSetSelector, RRQRSelector, SpectralSelectionSelector
from provsel.training_view import TrainingView
from textbook_subsets import (
    MATRICES,
    leading,
    residual,
    text,
    textbook_dual_set,
    textbook_spectral,
)

BOTH = {"spectral": SpectralSelectionSelector, "dual set": DualSetSelector}
FORMS = [np.asarray, sparse.csr_array]


def sizes(name):
    """Return X, k and an r of about twice as many, at most all."""
    X, k = MATRICES[name]
    k = min(k, 8)
    return X, k, min(2 * k, X.shape[1])


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("form", FORMS)
def test_spectral_selection_is_the_textbook(name, form):
    X, k, r = sizes(name)
    V, _ = leading(X, k)
    for size in (k, r):
        chosen, promised = textbook_spectral(V[(V**2).sum(axis=1) > 1e-28], size)
        selector = SpectralSelectionSelector(size, rank=k).fit(form(X))
        assert_array_equal(
            selector.indices_, np.flatnonzero((V**2).sum(axis=1) > 1e-28)[chosen]
        )
        # the maximum over eps, found on a grid, is the closed form
        assert selector.sigma_min_bound_**2 == pytest.approx(promised, rel=1e-5)


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("form", FORMS)
def test_dual_set_is_the_textbook(name, form):
    X, k, r = sizes(name)
    if r <= k or (name == "low rank, less noise" and form is sparse.csr_array):
        pytest.skip(
            "r > k; and the Gram matrix of the rows holds nothing of a tail of 1e-14"
        )
    V, E = leading(X, k)
    picks, s = textbook_dual_set(V, E, r)
    distinct = list(dict.fromkeys(picks))
    selector = DualSetSelector(r, rank=k).fit(form(X))
    assert_array_equal(selector.indices_[: len(distinct)], distinct)
    assert selector.n_repeats_ == r - len(distinct)
    assert_allclose(
        selector.dual_weights_[: len(distinct)], np.sqrt(s[distinct]), rtol=1e-6
    )
    assert not selector.dual_weights_[len(distinct) :].any()
    assert selector.indices_.size == np.unique(selector.indices_).size == r
    # the two halves of the theorem
    h = 1 - np.sqrt(k / r)
    assert np.linalg.eigvalsh((V.T * s) @ V)[0] >= h**2 * (1 - 1e-9)
    assert s @ (E**2).sum(axis=0) <= (E**2).sum() * (1 + 1e-9)


def test_rows_that_are_not_orthonormal_are_refused():
    """The check of a step is one that can fail."""
    V, _ = leading(MATRICES["wide"][0], 4)
    assert spectral_columns(V, 8).size == 8
    with pytest.raises(
        ArithmeticError,
        match=r"expected a row with a gain of .* in step 0.* must be orthonormal",
    ):
        spectral_columns(0.01 * V, 8)
    with pytest.raises(
        ArithmeticError,
        match=r"expected a row that gains more than it costs in step 0.* orthonormal",
    ):
        dual_set_columns(0.01 * V, np.ones(len(V)), 8)


@pytest.mark.parametrize(
    ("d", "k", "r"), [(30, 3, 3), (30, 3, 6), (500, 20, 20), (500, 20, 40), (40, 7, 40)]
)
def test_the_bound_of_spectral_selection(d, k, r):
    bound = spectral_bound(d, k, r)
    assert 0 < bound <= 1
    if r == k:
        assert 1 / bound == pytest.approx(4 * k * d, rel=0.6)
    if r == 2 * k and k > 10:
        assert 1 / bound == pytest.approx(5.8 * d / k, rel=0.2)
    V = np.linalg.qr(np.random.default_rng(d).standard_normal((d, k)))[0]
    assert np.linalg.svd(V[spectral_columns(V, r)], compute_uv=False)[-1] ** 2 >= bound


@pytest.mark.parametrize("form", FORMS)
def test_zero_rows_of_v_are_not_chosen(form):
    X = np.zeros((10, 20))
    X[:, 3:9] = np.random.default_rng(0).standard_normal((10, 6))
    X[:, 15] = 1e-9 * X[:, 3]
    selector = SpectralSelectionSelector(12, rank=2).fit(form(X))
    assert set(selector.indices_[:6].tolist()) == set(range(3, 9))
    assert selector.indices_.size == np.unique(selector.indices_).size == 12
    dual = DualSetSelector(12, rank=2).fit(form(X))
    assert dual.n_completed_ > 0
    assert dual.indices_.size == np.unique(dual.indices_).size == 12
    assert certify_subset(dual, X).state == HELD


@pytest.mark.parametrize("method", BOTH)
def test_rank_is_cut_to_that_of_the_rows(method):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 3)) @ rng.standard_normal((3, 30))
    selector = BOTH[method](10, rank=7).fit(X)
    assert selector.rank_ == 3
    certificate = certify_subset(selector, X)
    assert (certificate.k, certificate.frobenius_ratio, certificate.state) == (
        3,
        1,
        HELD,
    )


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shape", [(20, 100), (60, 300), (150, 40), (1, 7)])
def test_beyond_the_rank_the_order_is_what_lapack_leaves(form, shape):
    for seed in range(5):
        X = np.random.default_rng(seed).standard_normal(shape)
        theirs = qr(X, mode="r", pivoting=True)[1]
        for r in {shape[1], shape[1] // 2 + 1}:
            selector = RRQRSelector(r).fit(form(X))
            assert_array_equal(selector.indices_, theirs[:r])
            assert selector.rank_ == min(r, *shape)
    # negative control: neither file order nor the order of norms is LAPACK's
    if shape == (20, 100):
        rest = np.setdiff1d(np.arange(100), theirs[:20])
        assert (theirs[20:] != rest).any()
        assert (theirs[20:] != rest[np.argsort(-np.linalg.norm(X, axis=0)[rest])]).any()


def test_a_column_that_made_room_stands_in_the_pivot_s_place():
    X = np.array([[1.0, 0, 0, 9, 0, 0], [0, 1, 0, 0, 0, 8]])
    assert_array_equal(RRQRSelector(6).fit(X).indices_, [3, 5, 2, 0, 4, 1])
    assert_array_equal(
        RRQRSelector(6, completion="norm").fit(X).indices_, [3, 5, 0, 1, 2, 4]
    )


def test_a_view_shares_the_pivots_and_charges_them_by_use():
    X = sparse.random_array(
        (300, 500), density=0.05, random_state=np.random.default_rng(2), format="csr"
    )
    counts = (200, 64, 65, 300, 10, 450)
    alone = {r: RRQRSelector(r).fit(X) for r in counts}
    view = TrainingView(X)
    charged = {}
    for r in counts:
        with view.metered() as meter:
            shared = RRQRSelector(r).fit_view(view)
        charged[r] = meter.shared.wall
        assert_array_equal(shared.indices_, alone[r].indices_)
        assert (shared.rank_, shared.n_completed_) == (
            alone[r].rank_,
            alone[r].n_completed_,
        )
    # the parts used decide, not who came first
    assert (
        0
        < charged[10]
        == charged[64]
        < charged[65]
        < charged[200]
        < charged[300]
        == charged[450]
    )


def test_real_text():
    """Counts tie often: the volumes agree with LAPACK's step by step where indices differ among equal columns."""
    X, _ = text()
    dense = X.toarray().astype(float)
    selector = RRQRSelector(300).fit(X)
    rank = np.linalg.matrix_rank(dense)
    assert (selector.rank_, selector.n_completed_) == (rank, 300 - rank)
    ours = np.linalg.qr(dense[:, selector.indices_[:rank]])[1]
    theirs = qr(dense, mode="r", pivoting=True)[0]
    assert_allclose(np.abs(np.diag(ours))[:20], np.abs(np.diag(theirs))[:20], rtol=1e-8)
    for k in range(0, rank, 40):
        norms = np.linalg.norm(
            residual(dense, selector.indices_[:k]) if k else dense, axis=0
        )
        assert norms[selector.indices_[k]] >= norms.max() * (1 - 1e-8)
    assert_array_equal(RRQRSelector(500).fit(dense).indices_[:300], selector.indices_)
