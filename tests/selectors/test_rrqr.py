"""RRQRSelector: rank, completion, sharing on a view, and real text."""

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import qr

from provsel.selectors import RRQRSelector
from provsel.training_view import TrainingView
from textbook_subsets import residual, text


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


def test_real_text():
    """Counts tie often: the volumes agree with LAPACK's step by step where indices differ among equal columns."""
    X, _ = text()
    dense = X.toarray().astype(float)
    selector, rank = RRQRSelector(300).fit(X), np.linalg.matrix_rank(dense)
    assert (selector.rank_, selector.n_completed_) == (rank, 300 - rank)
    ours, theirs = np.linalg.qr(dense[:, selector.indices_[:rank]])[1], qr(dense, mode="r", pivoting=True)[0]
    np.testing.assert_allclose(np.abs(np.diag(ours))[:20], np.abs(np.diag(theirs))[:20], rtol=1e-8)
    for k in range(0, rank, 40):
        norms = np.linalg.norm(residual(dense, selector.indices_[:k]) if k else dense, axis=0)
        assert norms[selector.indices_[k]] >= norms.max() * (1 - 1e-8)
    np.testing.assert_array_equal(RRQRSelector(500).fit(dense).indices_[:300], selector.indices_)
