"""SparseEmbedding against its definition, its first two moments, and scikit-learn's contract."""

import inspect
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
from provsel.models import LibsvmSVM
from provsel.selectors import BaseSelector, SparseEmbedding

FORMS = [np.asarray, sparse.csr_array, sparse.csr_matrix, sparse.csc_array]


def matrix(n=20, d=60, seed=0):
    return np.random.default_rng(seed).poisson(0.4, (n, d)).astype(float)


def definition(X, selector):
    """Column after column: X_new[:, h(j)] += sign(j) X[:, j]."""
    reduced = np.zeros((len(X), selector.n_components))
    for j in range(X.shape[1]):
        reduced[:, selector.buckets_[j]] += selector.signs_[j] * X[:, j]
    return reduced


def as_dense(X):
    return X.toarray() if sparse.issparse(X) else X


@parametrize_with_checks([SparseEmbedding(2, random_state=0)])
def test_scikit_learn_accepts(estimator, check):
    check(estimator)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_components", [1, 7, 60, 200])
def test_it_is_its_definition(form, n_components):
    X = matrix()
    selector = SparseEmbedding(n_components, random_state=3).fit(form(X))
    reduced = selector.transform(form(X))
    assert reduced.shape == (20, n_components)
    assert sparse.issparse(reduced) == (form is not np.asarray)
    np.testing.assert_allclose(as_dense(reduced), definition(X, selector), atol=1e-12)


def test_buckets_and_signs():
    selector = SparseEmbedding(5, random_state=0).fit(np.zeros((1, 10_000)))
    assert selector.buckets_.dtype == np.int64
    assert selector.buckets_.shape == selector.signs_.shape == (10_000,)
    np.testing.assert_array_equal(np.unique(selector.signs_), [-1, 1])
    # five standard deviations of counts that are binomial
    assert np.abs(np.bincount(selector.buckets_, minlength=5) - 2000).max() < 5 * 40
    assert abs(selector.signs_.sum()) < 5 * 100
    assert abs(selector.signs_[selector.buckets_ == 0].sum()) < 5 * 45  # signs do not follow the buckets


def test_squared_lengths_are_unbiased():
    """E ||x S||^2 = ||x||^2 with variance at most 2 ||x||^4 / m; without signs a positive x is far off."""
    x = np.random.default_rng(1).random((1, 50)) + 0.5
    m, trials = 40, 600
    lengths, unsigned = [], []
    for seed in range(trials):
        embedding = SparseEmbedding(m, random_state=seed).fit(x)
        lengths.append((embedding.transform(x) ** 2).sum() / (x**2).sum())
        unsigned.append((np.bincount(embedding.buckets_, x[0], minlength=m) ** 2).sum() / (x**2).sum())
    error = np.sqrt(2 / m / trials)
    assert abs(np.mean(lengths) - 1) < 5 * error
    assert np.var(lengths) < 2 / m * 1.3
    assert np.mean(unsigned) - 1 > 50 * error


def test_distances_between_digits_are_kept_roughly():
    X = load_digits().data[:100]
    exact = np.linalg.norm(X[:, None] - X, axis=2)[np.triu_indices(100, 1)]
    reduced = np.mean(
        [
            np.linalg.norm(Z[:, None] - Z, axis=2)[np.triu_indices(100, 1)]
            for Z in (SparseEmbedding(512, random_state=seed).fit_transform(X) for seed in range(5))
        ],
        axis=0,
    )
    assert np.abs(reduced / exact - 1).mean() < 0.05


def test_values_do_not_matter_to_the_fit_and_seeds_do():
    embedding = SparseEmbedding(9, random_state=0)
    first, second = clone(embedding).fit(matrix(seed=1)), clone(embedding).fit(matrix(seed=2))
    np.testing.assert_array_equal(first.buckets_, second.buckets_)
    np.testing.assert_array_equal(first.signs_, second.signs_)
    other = SparseEmbedding(9, random_state=1).fit(matrix())
    assert (other.buckets_ != first.buckets_).any()
    generator = SparseEmbedding(9, random_state=np.random.default_rng(0)).fit(matrix())
    np.testing.assert_array_equal(generator.buckets_, first.buckets_)
    assert (SparseEmbedding(9).fit(matrix()).buckets_ != SparseEmbedding(9).fit(matrix()).buckets_).any()


@pytest.mark.parametrize("form", FORMS)
def test_float32_stays_float32(form):
    X = matrix()
    embedding = SparseEmbedding(7, random_state=0).fit(form(X.astype(np.float32)))
    reduced = embedding.transform(form(X.astype(np.float32)))
    assert reduced.dtype == np.float32
    np.testing.assert_allclose(as_dense(reduced), embedding.transform(X), rtol=1e-6)


def test_sparse_input_is_never_made_dense():
    X = sparse.random_array((2_000, 50_000), density=1e-4, rng=np.random.default_rng(0), format="csr")
    tracemalloc.start()
    try:
        reduced = SparseEmbedding(10_000, random_state=0).fit_transform(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert reduced.nnz <= X.nnz
    assert peak < 2_000 * 10_000 * 8 / 10


def test_names_frames_and_pipelines():
    X = matrix()
    y = np.arange(20) % 2
    embedding = SparseEmbedding(3, random_state=0).set_output(transform="pandas")
    frame = embedding.fit_transform(pd.DataFrame(X, columns=[f"word{i}" for i in range(60)]))
    assert list(frame.columns) == ["sparseembedding0", "sparseembedding1", "sparseembedding2"]
    assert list(embedding.get_feature_names_out()) == list(frame.columns)
    words = pl.DataFrame(X, schema=[f"word{i}" for i in range(60)])
    assert embedding.set_output(transform="polars").fit_transform(words).columns == list(frame.columns)
    assert make_pipeline(SparseEmbedding(15, random_state=0), LibsvmSVM()).fit(X, y).score(X, y) > 0.5


@pytest.mark.parametrize("count", [0, -1, 2.0, True, None, "5"])
def test_bad_numbers_of_components_are_refused(count):
    with pytest.raises(ValueError, match="SparseEmbedding: expected n_components a positive integer, got"):
        SparseEmbedding(count).fit(matrix())


@pytest.mark.parametrize("form", FORMS)
def test_other_columns_and_values_that_are_none_are_refused(form):
    embedding = SparseEmbedding(3, random_state=0).fit(form(matrix()))
    with pytest.raises(ValueError, match="expecting 60 features"):
        embedding.transform(form(matrix(d=61)))
    with pytest.raises(ValueError, match="NaN"):
        embedding.transform(form(np.full((2, 60), np.nan)))


def test_it_is_exported_but_is_no_selector():
    assert "SparseEmbedding" in provsel.selectors.__all__
    assert not issubclass(SparseEmbedding, BaseSelector)
    first, *others = inspect.signature(SparseEmbedding).parameters.values()
    assert [first.name, *(each.name for each in others)] == ["n_components", "signed", "random_state"]
    assert {each.kind for each in others} == {first.KEYWORD_ONLY}
    assert component_class("selector", {"_target_": "provsel.selectors.SparseEmbedding"}) is SparseEmbedding
