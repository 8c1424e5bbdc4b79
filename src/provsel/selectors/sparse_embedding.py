"""Sparse embedding, a transformer that adds every feature to one random column with a random sign."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from provsel.kernels.sparse_embedding import embed, random_buckets
from provsel.validation import DocumentedMixin, as_generator, validated

FORMS = ("csr", "csc")


class SparseEmbedding(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, DocumentedMixin, BaseEstimator
):
    r"""Add each feature, with a random sign, to one random column of the result.

    Use it before a linear model or a clustering of sparse rows, if individual features
    do not matter.

    With h(j) uniform on the m columns and sigma(j) uniform on -1 and 1, all
    independent,

        X_new[:, h(j)] += sigma(j) X[:, j],

    in time O(nnz). Squared lengths are preserved in expectation, with variance at most
    2 ||x||^4 / m. The result mixes features, so nothing is selected. In experiments it
    can replace a selector.

    Parameters
    ----------
    n_components : int
        m; may exceed the number of features.
    signed : bool, default=True
        Whether signs are random. Without signs, sigma(j) = 1: columns are sums of
        features, and lengths are not preserved in expectation.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the matrix.

    Attributes
    ----------
    buckets_ : ndarray of shape (n_features,), int64
        h.
    signs_ : ndarray of shape (n_features,), int8
        sigma.
    n_features_in_ : int

    Raises
    ------
    ValueError
        From `fit`, if `n_components` is not a positive integer or `signed` is not a
        bool; for NaN or infinite values, and empty X.

    Notes
    -----
    The fit depends only on the number of features and the seed. Dense rows become dense
    and sparse rows sparse, with at most as many stored values; float32 stays float32.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import SparseEmbedding
    >>> X = np.random.default_rng(0).standard_normal((10, 200))
    >>> SparseEmbedding(40, random_state=0).fit_transform(X).shape
    (10, 40)

    References
    ----------
    Liu, Shen, Tsang (2017), Sparse embedded k-means clustering, NIPS; Clarkson,
    Woodruff (2013), Low rank approximation and regression in input sparsity time, STOC.
    """

    algorithm_version: ClassVar[int] = 1

    def __init__(
        self, n_components: int, *, signed: bool = True, random_state: Any = None
    ) -> None:
        self.n_components = n_components
        self.signed = signed
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the buckets and signs for X, array-like or sparse of shape (n, d); y is ignored."""
        X = validated(self, X, accept_sparse=FORMS)
        m = self.n_components
        if isinstance(m, bool) or not isinstance(m, int | np.integer) or m < 1:
            raise ValueError(
                f"SparseEmbedding: expected n_components to be a positive integer, got {m!r}."
            )
        if not isinstance(self.signed, bool | np.bool_):
            raise ValueError(
                f"SparseEmbedding: expected signed to be True or False, got {self.signed!r}."
            )
        self.buckets_, self.signs_ = random_buckets(
            X.shape[1], int(m), as_generator(self.random_state)
        )
        if not self.signed:
            self.signs_ = np.ones_like(self.signs_)
        self._n_features_out = int(m)
        return self

    def transform(self, X: Any) -> Any:
        """Return the embedded rows, shape (n, n_components), of X, array-like or sparse of shape (n, d)."""
        check_is_fitted(self)
        X = validated(self, X, accept_sparse=FORMS, reset=False)
        return embed(X, self.buckets_, self.signs_, self._n_features_out)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
