"""RRQRSelector: rank, completion, sharing on a view, and real text."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import qr

from provlab.datasets import load_dataset
from provsel.selectors import RRQRSelector
from provsel.training_view import TrainingView

MIRROR = os.environ.get("PROVSEL_DATA_MIRROR")


def test_fewer_than_the_rank():
    X = np.random.default_rng(0).standard_normal((30, 100))
    selector = RRQRSelector(12).fit(X)
    np.testing.assert_array_equal(selector.indices_, qr(X, mode="r", pivoting=True)[1][:12])
    assert (selector.rank_, selector.n_completed_) == (12, 0)
    assert (selector.weights_ == 1).all()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_more_than_the_rank(form):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((20, 5)) @ rng.standard_normal((5, 40))
    X[:, 3] = 0
    selector = RRQRSelector(40, completion="norm").fit(form(X))
    assert (selector.rank_, selector.n_completed_) == (5, 35)
    completed = np.linalg.norm(X, axis=0)[selector.indices_[5:]]
    assert (np.diff(completed) <= 0).all()
    assert selector.indices_[-1] == 3


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shape", [(20, 100), (60, 300), (150, 40), (1, 7)])
def test_beyond_the_rank_the_order_is_what_lapack_leaves(form, shape):
    for seed in range(5):
        X = np.random.default_rng(seed).standard_normal(shape)
        theirs = qr(X, mode="r", pivoting=True)[1]
        for r in {shape[1], shape[1] // 2 + 1}:
            selector = RRQRSelector(r).fit(form(X))
            np.testing.assert_array_equal(selector.indices_, theirs[:r])
            assert selector.rank_ == min(r, *shape)
    # negative control: neither file order nor the order of norms is LAPACK's
    if shape == (20, 100):
        rest = np.setdiff1d(np.arange(100), theirs[:20])
        assert (theirs[20:] != rest).any()
        assert (theirs[20:] != rest[np.argsort(-np.linalg.norm(X, axis=0)[rest])]).any()


def test_a_column_that_made_room_stands_in_the_pivot_s_place():
    X = np.array([[1.0, 0, 0, 9, 0, 0], [0, 1, 0, 0, 0, 8]])
    np.testing.assert_array_equal(RRQRSelector(6).fit(X).indices_, [3, 5, 2, 0, 4, 1])
    np.testing.assert_array_equal(RRQRSelector(6, completion="norm").fit(X).indices_, [3, 5, 0, 1, 2, 4])


def test_an_unknown_completion_raises():
    with pytest.raises(ValueError, match=r"RRQRSelector: expected completion in \('lapack', 'norm'\), got 'index'"):
        RRQRSelector(2, completion="index").fit(np.eye(6))


def test_a_view_shares_the_pivots_and_charges_them_by_use():
    X = sparse.random_array((300, 500), density=0.05, rng=np.random.default_rng(2), format="csr")
    counts = (200, 64, 65, 300, 10, 450)
    alone = {r: RRQRSelector(r).fit(X) for r in counts}
    view, charged = TrainingView(X), {}
    for r in counts:
        with view.metered() as meter:
            shared = RRQRSelector(r).fit_view(view)
        charged[r] = meter.shared.wall
        np.testing.assert_array_equal(shared.indices_, alone[r].indices_)
        assert (shared.rank_, shared.n_completed_) == (alone[r].rank_, alone[r].n_completed_)
    # the parts used decide, not who came first
    assert 0 < charged[10] == charged[64] < charged[65] < charged[200] < charged[300] == charged[450]


def test_zeros_raise():
    with pytest.raises(ValueError, match=r"RRQRSelector: expected X with a non-zero value, got all zeros \(4 rows, 6"):
        RRQRSelector(2).fit(np.zeros((4, 6)))


@pytest.mark.parametrize("count", [0, 7, 2.0, True])
def test_bad_counts_raise(count):
    with pytest.raises(ValueError, match="RRQRSelector: expected"):
        RRQRSelector(count).fit(np.eye(6))


@pytest.mark.skipif(MIRROR is None, reason="PROVSEL_DATA_MIRROR names no folder with the TechTC token lists")
def test_real_text():
    names = sorted(path.name.removesuffix(".txt.xz") for path in Path(MIRROR, "techtc100/tokens").glob("Exp_*.txt.xz"))
    if not names:
        pytest.skip("no TechTC token lists in PROVSEL_DATA_MIRROR")
    for name in names[:1]:
        X = load_dataset("techtc", set=name).X
        dense = X.toarray().astype(float)
        selector = RRQRSelector(300).fit(X)
        rank = np.linalg.matrix_rank(dense)
        assert selector.rank_ == rank
        assert selector.n_completed_ == 300 - rank
        theirs = qr(dense, mode="r", pivoting=True, check_finite=False)
        assert len({*selector.indices_} & {*theirs[1][:300]}) >= 0.95 * 300  # ties, and a rank below the number of rows
        # counts tie often: the volumes agree step by step where indices differ among equal columns
        Q = np.linalg.qr(dense[:, selector.indices_[:rank]])[1]
        np.testing.assert_allclose(np.abs(np.diag(Q))[:20], np.abs(np.diag(theirs[0]))[:20], rtol=1e-8)
        for k in range(0, rank, 40):
            chosen = dense[:, selector.indices_[:k]]
            left = dense - chosen @ np.linalg.lstsq(chosen, dense, rcond=None)[0] if k else dense
            norms = np.linalg.norm(left, axis=0)
            assert norms[selector.indices_[k]] >= norms.max() * (1 - 1e-8)
        np.testing.assert_array_equal(RRQRSelector(500).fit(dense).indices_[:300], selector.indices_)
