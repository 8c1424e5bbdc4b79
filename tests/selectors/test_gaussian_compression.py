"""GaussianCompression against its definition, streams of chunks, and scikit-learn's contract."""

import inspect
import pickle
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import provsel.selectors
from provlab.project.components import component_class
from provsel.kernels.compression_bounds import loss_components, norm_components
from provsel.models import LibsvmSVM
from provsel.selectors import BaseSelector, GaussianCompression
from provsel.streams import row_chunks

FORMS = [np.asarray, sparse.csr_array, sparse.csr_matrix, sparse.csc_array]


def matrix(n=20, d=300, seed=0):
    return np.random.default_rng(seed).poisson(0.4, (n, d)).astype(float)


@parametrize_with_checks([GaussianCompression(2, random_state=0), GaussianCompression(3, variance="1/l", store=False)])
def test_scikit_learn_accepts(estimator, check):
    check(estimator)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("variance", ["1/m", "1/l"])
@pytest.mark.parametrize("n_components", [1, 7, 60, 400])
def test_it_is_its_definition(form, variance, n_components):
    X = matrix()
    compression = GaussianCompression(n_components, variance=variance, random_state=3).fit(form(X))
    matrix_, compressed = compression.blocks_.dense(), compression.transform(form(X))
    assert type(compressed) is np.ndarray
    assert compressed.shape == (20, n_components)
    assert matrix_.shape == (n_components, 300)
    np.testing.assert_allclose(compressed, X @ matrix_.T, rtol=1e-12, atol=1e-12)
    assert compression.compression_ratio_ == 300 / n_components
    # five standard deviations of the variance of Gaussians
    scaled = matrix_ * np.sqrt(300 if variance == "1/m" else n_components)
    assert abs((scaled**2).mean() - 1) < 5 * np.sqrt(2 / scaled.size)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [1, 7, 20])
def test_chunks_give_the_rows_of_the_whole(form, size):
    X = matrix()
    whole = GaussianCompression(9, random_state=0).fit_transform(X)
    streamed = GaussianCompression(9, random_state=0)
    parts = [streamed.partial_compress(form(X[start : start + size])) for start in range(0, 20, size)]
    np.testing.assert_allclose(np.concatenate(parts), whole, rtol=1e-12, atol=1e-13)
    # what was fitted stays, also without a seed
    unseeded = GaussianCompression(9).fit(form(X[:3]))
    np.testing.assert_array_equal(unseeded.partial_compress(form(X)), unseeded.transform(form(X)))


def test_a_file_is_compressed_chunk_by_chunk(tmp_path):
    X = matrix()
    np.save(tmp_path / "X.npy", X)
    streamed = GaussianCompression(9, random_state=0)
    parts = [streamed.partial_compress(chunk) for chunk, _ in row_chunks(tmp_path / "X.npy", chunk_rows=6)]
    assert [len(part) for part in parts] == [6, 6, 6, 2]
    np.testing.assert_allclose(np.concatenate(parts), clone(streamed).fit_transform(X), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("form", FORMS)
def test_a_chunk_of_another_width_is_refused(form):
    compression = GaussianCompression(3, random_state=0)
    compression.partial_compress(form(matrix(d=60)))
    with pytest.raises(ValueError, match="X has 61 features, but GaussianCompression is expecting 60 features"):
        compression.partial_compress(form(matrix(d=61)))
    with pytest.raises(ValueError, match="X has 59 features, but GaussianCompression is expecting 60 features"):
        compression.transform(form(matrix(d=59)))
    with pytest.raises(ValueError, match="NaN"):
        compression.partial_compress(form(np.full((2, 60), np.nan)))


def test_store_changes_no_bit_and_auto_keeps_what_is_small(monkeypatch):
    X = matrix()
    kept, again, auto = (GaussianCompression(9, store=store, random_state=0).fit(X) for store in (True, False, "auto"))
    assert (kept.blocks_.store, again.blocks_.store, auto.blocks_.store) == (True, False, True)
    for other in (again, auto, pickle.loads(pickle.dumps(kept))):  # noqa: S301
        np.testing.assert_array_equal(other.transform(X), kept.transform(X))
    for limit, store in ((8 * 9 * 300, True), (8 * 9 * 300 - 1, False)):
        monkeypatch.setattr("provsel.kernels.gaussian_blocks.KEPT_BYTES", limit)
        assert clone(auto).fit(X).blocks_.store is store


def test_memory_is_far_below_that_of_the_matrix():
    """Lambda would take 80 MB; `store` shows that the measure sees it."""
    X = sparse.random_array((200, 50_000), density=1e-3, rng=np.random.default_rng(0), format="csr")

    def peak(store):
        tracemalloc.start()
        try:
            GaussianCompression(200, store=store, random_state=0).fit_transform(X)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(False) < 8 * 200 * 50_000 / 4
    assert peak(True) >= 8 * 200 * 50_000


def test_digits_are_told_apart_after_compression():
    """Squared distances between digits keep within 5 sqrt(2 / l) at variance 1/l, and shrink at 1/m."""
    X = load_digits().data[:60]
    pairs = np.triu_indices(60, 1)

    def squared(Z):
        return ((Z[:, None] - Z) ** 2).sum(axis=2)[pairs]

    for variance, factor in (("1/l", 1), ("1/m", 1000 / 64)):
        Z = GaussianCompression(1000, variance=variance, random_state=0).fit_transform(X)
        assert np.abs(squared(Z) / squared(X) / factor - 1).max() < 5 * np.sqrt(2 / 1000)


def test_values_do_not_matter_to_the_fit_and_seeds_do():
    compression = GaussianCompression(9, random_state=0)
    first, second = (clone(compression).fit(matrix(seed=seed)).blocks_.dense() for seed in (1, 2))
    np.testing.assert_array_equal(first, second)
    assert (GaussianCompression(9, random_state=1).fit(matrix()).blocks_.dense() != first).all()
    generator = GaussianCompression(9, random_state=np.random.default_rng(0)).fit(matrix())
    np.testing.assert_array_equal(generator.blocks_.dense(), first)
    legacy = [GaussianCompression(9, random_state=np.random.RandomState(0)).fit(matrix()) for _ in range(2)]
    np.testing.assert_array_equal(*(fitted.blocks_.dense() for fitted in legacy))
    unseeded = [GaussianCompression(9).fit(matrix()).blocks_.dense() for _ in range(2)]
    assert (unseeded[0] != unseeded[1]).all()


@pytest.mark.parametrize("form", FORMS)
def test_float32_stays_float32(form):
    X = matrix()
    compression = GaussianCompression(7, random_state=0).fit(form(X.astype(np.float32)))
    compressed = compression.transform(form(X.astype(np.float32)))
    assert compressed.dtype == np.float32
    np.testing.assert_allclose(compressed, compression.transform(X), rtol=1e-4, atol=1e-5)


def test_names_frames_and_pipelines():
    X = matrix()
    y = np.arange(20) % 2
    compression = GaussianCompression(3, random_state=0).set_output(transform="pandas")
    frame = compression.fit_transform(pd.DataFrame(X, columns=[f"word{i}" for i in range(300)]))
    assert list(frame.columns) == ["gaussiancompression0", "gaussiancompression1", "gaussiancompression2"]
    assert list(compression.get_feature_names_out()) == list(frame.columns)
    words = pl.DataFrame(X, schema=[f"word{i}" for i in range(300)])
    assert compression.set_output(transform="polars").fit_transform(words).columns == list(frame.columns)
    assert make_pipeline(GaussianCompression(15, random_state=0), LibsvmSVM()).fit(X, y).score(X, y) > 0.5


def test_bounds_are_those_of_the_kernel():
    assert GaussianCompression.n_components_for(99, 0.25) == loss_components(99, 0.25) == 1023
    assert GaussianCompression.n_components_for_theorem5(2, 100, 0.21) == norm_components(2, 100, 0.21) == 4606
    for delta in (0, 0.5):
        with pytest.raises(ValueError, match=r"expected delta in \(0, 1/2\), got"):
            GaussianCompression.n_components_for(99, delta)
        with pytest.raises(ValueError, match=r"expected delta in \(0, 1/2\), got"):
            GaussianCompression.n_components_for_theorem5(2, 100, delta)


@pytest.mark.parametrize("count", [0, -1, 2.0, True, None, "5"])
def test_bad_numbers_of_components_are_refused(count):
    with pytest.raises(ValueError, match="GaussianCompression: expected n_components a positive integer, got"):
        GaussianCompression(count).fit(matrix())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variance": "1"}, r"GaussianCompression: expected variance in \('1/m', '1/l'\), got '1'"),
        ({"variance": 0.1}, r"GaussianCompression: expected variance in .*, got 0.1"),
        ({"store": "yes"}, r'GaussianCompression: expected store True, False or "auto", got \'yes\''),
        ({"store": None}, r'expected store True, False or "auto", got None'),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        GaussianCompression(3, **options).fit(matrix())


def test_it_is_exported_but_is_no_selector():
    assert "GaussianCompression" in provsel.selectors.__all__
    assert not issubclass(GaussianCompression, BaseSelector)
    first, *others = inspect.signature(GaussianCompression).parameters.values()
    assert first.name == "n_components"
    assert {other.kind for other in others} == {first.KEYWORD_ONLY}
    assert component_class("selector", {"_target_": "provsel.selectors.GaussianCompression"}) is GaussianCompression
