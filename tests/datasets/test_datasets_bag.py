"""Weightings against scikit-learn and against their formulas."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

from provlab.datasets._bag import Corpus, count_matrix, weigh

matrices = st.integers(0, 2**32 - 1).map(
    lambda seed: sparse.csr_array(np.random.default_rng(seed).poisson(0.6, size=(7, 9)).astype(float))
)


def test_count_matrix_keeps_empty_documents_and_sorts_words():
    corpus = Corpus([1, -1, 1], [{b"water": 2, b"cat": 1}, {}, {b"\xe9tude": 1, b"water": 1}])
    counts, words = count_matrix(corpus, min_word_length=4)
    assert words == [b"water", b"\xe9tude"]
    np.testing.assert_array_equal(counts.toarray(), [[2, 0], [0, 0], [1, 1]])
    assert count_matrix(corpus, min_word_length=1)[1] == [b"cat", b"water", b"\xe9tude"]
    assert count_matrix(corpus, min_word_length=9)[0].shape == (3, 0)


@given(matrices)
def test_weightings_agree_with_scikit_learn(counts):
    before = counts.toarray()
    np.testing.assert_array_equal(weigh(counts, "counts").toarray(), before)
    np.testing.assert_allclose(weigh(counts, "l2").toarray(), normalize(before), rtol=1e-14)
    logs = np.where(before > 0, 1 + np.log(np.maximum(before, 1)), 0)
    np.testing.assert_array_equal(weigh(counts, "binary").toarray(), before > 0)
    np.testing.assert_allclose(weigh(counts, "log").toarray(), logs, rtol=1e-14)
    np.testing.assert_allclose(weigh(counts, "log_l2").toarray(), normalize(logs), rtol=1e-14)
    tfidf = TfidfTransformer().fit_transform(before)
    np.testing.assert_allclose(weigh(counts, "tfidf_l2").toarray(), tfidf.toarray(), rtol=1e-13)
    np.testing.assert_array_equal(counts.toarray(), before)


@pytest.mark.parametrize("weighting", ["l2", "log_l2", "tfidf_l2"])
def test_rows_have_norm_one_or_zero(weighting):
    counts = sparse.csr_array(np.array([[3.0, 4, 0], [0, 0, 0], [0, 1, 1]]))
    norms = np.linalg.norm(weigh(counts, weighting).toarray(), axis=1)
    np.testing.assert_allclose(norms, [1, 0, 1], rtol=1e-15)
