"""GaussianBlocks against its definition block by block, the moments of a Gaussian matrix, and its memory."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from threading import Barrier
from time import sleep

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from provsel.kernels import gaussian_blocks
from provsel.kernels.gaussian_blocks import GaussianBlocks

L, M = 7, 1000  # four blocks, the last one not whole
FORMS = [
    np.asarray,
    np.asfortranarray,
    sparse.csr_array,
    sparse.csr_matrix,
    sparse.csc_array,
]


def blocks(ell=L, m=M, variance=0.25, key=5, kind=GaussianBlocks, **options):
    return kind(ell, m, variance=variance, key=key, **options)


class Counted(GaussianBlocks):
    """Lists the blocks that it makes, each after a while."""

    def _make(self, block, out):
        self.made = [*getattr(self, "made", []), block]
        sleep(0.02)
        super()._make(block, out)


def rows(n=40, m=M, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, m)) * (rng.random((n, m)) < 0.1)


def definition(ell, m, variance, key):
    seeds = np.random.SeedSequence(key).spawn(-(-m // 256))
    parts = [
        np.random.Generator(np.random.SFC64(seed)).standard_normal((256, ell))
        for seed in seeds
    ]
    return np.sqrt(variance) * np.concatenate(parts)[:m].T


@pytest.mark.parametrize("m", [1, 255, 256, 257, M])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("store", [False, True])
def test_it_is_its_definition(m, form, store):
    matrix = blocks(m=m, store=store)
    expected = definition(L, m, 0.25, 5)
    X = rows(m=m)
    assert_allclose(matrix.dense(), expected, rtol=1e-15)
    assert_allclose(matrix.project(form(X)), X @ expected.T, rtol=1e-12, atol=1e-12)
    assert_allclose(
        matrix.expand(np.arange(L)), expected.T @ np.arange(L), rtol=1e-12, atol=1e-12
    )
    W = np.random.default_rng(1).random((L, 3))
    assert_allclose(matrix.expand(W), expected.T @ W, rtol=1e-12, atol=1e-12)
    assert np.abs(blocks(m=m, key=6).dense() - expected).max() > 0.1


@pytest.mark.parametrize("locked", [True, False])
def test_threads_share_what_is_kept(locked, monkeypatch):
    """A block is filled with normals, then scaled: a thread that made it again would do so under the others' eyes."""
    together = Barrier(3)
    monkeypatch.setattr(gaussian_blocks, "PANEL", 1)
    matrix = blocks(kind=Counted, store=True)
    if not locked:  # negative control
        matrix._lock = nullcontext()

    def project(X):
        together.wait()
        return matrix.project(X)

    with ThreadPoolExecutor(3) as pool:
        products = list(pool.map(project, [rows(seed=seed) for seed in range(3)]))
    assert (sorted(matrix.made) == [0, 1, 2, 3]) == locked
    if locked:
        for seed, Z in enumerate(products):
            assert_array_equal(Z, blocks().project(rows(seed=seed)))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_kept_blocks_change_no_bit(form, dtype):
    X = form(rows().astype(dtype))
    w = np.arange(L)
    again = blocks()
    kept = blocks(store=True)
    for _ in range(2):
        assert_array_equal(kept.project(X), again.project(X))
        assert_array_equal(kept.expand(w), again.expand(w))
    restored = pickle.loads(pickle.dumps(kept))  # noqa: S301
    assert_array_equal(restored.project(X), kept.project(X))
    assert len(pickle.dumps(kept)) < 2000 < 8 * L * M


@pytest.mark.parametrize("store", [False, True])
def test_only_the_blocks_of_a_sparse_chunk_are_made(store):
    X = sparse.csr_array((np.ones(3), ([0, 1, 1], [5, 600, 700])), shape=(2, M))
    matrix = blocks(kind=Counted, store=store)
    for _ in range(2):
        matrix.project(X)
    assert matrix.made == ([0, 2] if store else [0, 2, 0, 2])
    matrix.project(X.toarray())
    assert sorted(matrix.made[-4:]) == [0, 1, 2, 3]


@pytest.mark.parametrize("store", [True, False])
def test_gram_is_lambda_times_its_transpose(store):
    blocks = GaussianBlocks(7, 600, variance=0.5, key=3, store=store)
    assert_allclose(
        blocks.gram(), blocks.dense() @ blocks.dense().T, rtol=1e-12, atol=1e-12
    )
