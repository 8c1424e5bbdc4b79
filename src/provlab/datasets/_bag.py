"""Bags of words: from word counts of documents to a sparse matrix, with the usual weightings."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

WEIGHTINGS = ("counts", "binary", "log", "l2", "log_l2", "tfidf_l2")


@dataclass(frozen=True)
class Corpus:
    """Labelled documents as word counts.

    Parameters
    ----------
    labels : list of int
        One for each document.
    documents : sequence of mapping from bytes to float
        Positive counts of the words; an empty document is an empty mapping.
    """

    labels: list[int]
    documents: Sequence[Mapping[bytes, float]]


def count_matrix(corpus: Corpus, *, min_word_length: int) -> tuple[sparse.csr_array, list[bytes]]:
    """Return the counts of the words that are long enough.

    Parameters
    ----------
    corpus : Corpus
        n documents.
    min_word_length : int
        Shorter words are left out. A document may end up as a row of zeros.

    Returns
    -------
    counts : csr_array of shape (n, d)
    vocabulary : list of bytes
        The d words that occur, sorted.
    """
    words = set().union(*corpus.documents)
    vocabulary = sorted(word for word in words if len(word) >= min_word_length)
    column = {word: j for j, word in enumerate(vocabulary)}
    indptr: list[int] = [0]
    indices: list[int] = []
    values: list[float] = []
    for document in corpus.documents:
        row = sorted((column[word], count) for word, count in document.items() if word in column)
        indices.extend(j for j, _ in row)
        values.extend(count for _, count in row)
        indptr.append(len(indices))
    arrays = (
        np.array(values, dtype=np.float64),
        np.array(indices, dtype=np.int64),
        np.array(indptr, dtype=np.int64),
    )
    return sparse.csr_array(arrays, shape=(len(corpus.documents), len(vocabulary))), vocabulary


def weigh(counts: sparse.csr_array, weighting: str) -> sparse.csr_array:
    """Return a weighted copy of a count matrix; zero rows stay zero.

    Parameters
    ----------
    counts : csr_array of shape (n, d)
        Positive entries.
    weighting : {"counts", "binary", "log", "l2", "log_l2", "tfidf_l2"}
        Entries c, or 1, or 1 + ln c, or c times ln((1 + n) / (1 + documents with the word)) + 1, which is
        scikit-learn's smooth idf; those that end in "l2" then scale each row to Euclidean norm one.

    Returns
    -------
    csr_array of shape (n, d)
    """
    X = counts.copy()
    if weighting == "binary":
        X.data[:] = 1.0
    elif weighting in ("log", "log_l2"):
        X.data = 1.0 + _log(X.data)
    elif weighting == "tfidf_l2":
        frequency = np.bincount(X.indices, minlength=X.shape[1])
        X.data *= (_log((1 + X.shape[0]) / (1 + frequency)) + 1.0)[X.indices]
    if not weighting.endswith("l2"):
        return X
    for i in range(X.shape[0]):
        row = slice(X.indptr[i], X.indptr[i + 1])
        # fsum rounds once whatever the order of summation: the data must not depend on SIMD width.
        X.data[row] /= math.sqrt(math.fsum(X.data[row] ** 2)) or 1.0
    return X


def _log(values: np.ndarray) -> np.ndarray:
    """Return natural logarithms, by math.log: those of NumPy vary with the vector unit of the CPU."""
    distinct, inverse = np.unique(values, return_inverse=True)
    return np.array([math.log(value) for value in distinct])[inverse]
