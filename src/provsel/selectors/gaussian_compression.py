"""Gaussian compression, a transformer whose columns are random combinations of all features."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from provsel.kernels.compression_bounds import loss_components, norm_components
from provsel.kernels.gaussian_blocks import GaussianBlocks, check_store, is_kept
from provsel.selectors._compression_stream import write_compressed
from provsel.streams.checked import checked_chunks
from provsel.validation import DocumentedMixin, as_generator, validated

FORMS = ("csr", "csc")
VARIANCES = ("1/m", "1/l")


class GaussianCompression(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, DocumentedMixin, BaseEstimator
):
    r"""Replace the m features by l combinations of them with independent Gaussian coefficients, X Lambda^T.

    Use it before a linear model if individual features do not matter, and rows come
    from a file that does not fit in memory.

    Lambda, shape (l, m), is determined by m and the seed. It is generated in blocks of
    columns when needed. Rows can therefore be compressed chunk by chunk, with memory
    for one chunk and its compressed rows::

        compression = GaussianCompression(400, random_state=0)
        compressed = np.vstack([compression.partial_compress(X) for X, _ in row_chunks("counts.parquet")])

    or from file to file, by several workers::

        compression.compress_to("compressed.parquet", row_chunks("train.svm.xz"), n_jobs=4)
        for Z, y in row_chunks("compressed.parquet", y="label"):
            ...

    Parameters
    ----------
    n_components : int
        l; may exceed the number of features.
    variance : {"1/m", "1/l"}, default="1/m"
        Variance of the entries of Lambda. "1/m" is what Giesen et al. print: ||Lambda^T
        w|| is close to ||w|| for l << m. With "1/l", lengths, distances and scalar
        products of rows are kept in expectation, as its Lemmas 1 and 2 need. The two
        differ by the factor sqrt(l / m).
    store : "auto" or bool, default="auto"
        Whether to keep Lambda, 8 l m bytes, instead of regenerating it for each chunk.
        "auto" keeps it if it takes at most 256 MB. The results are the same bit for
        bit.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the matrix.

    Attributes
    ----------
    blocks_ : GaussianBlocks
        Lambda: `blocks_.expand(w)` is Lambda^T w, `blocks_.dense()` the matrix. Copies
        and pickles leave out the blocks that it keeps.
    compression_ratio_ : float
        m / l.
    n_features_in_ : int
        m.

    Raises
    ------
    ValueError
        From `fit`, if a parameter is invalid, or X is empty or has NaN or infinite
        values.

    Notes
    -----
    The fit depends only on the number of features and the seed. The result is dense.
    float32 stays float32, with Lambda rounded. Chunks of a few thousand rows are fast;
    see `GaussianBlocks`.

    Examples
    --------
    >>> import numpy as np
    >>> from provsel.selectors import GaussianCompression
    >>> X = np.random.default_rng(0).standard_normal((10, 200))
    >>> GaussianCompression(40, random_state=0).fit_transform(X).shape
    (10, 40)

    References
    ----------
    Giesen, Laue, Mueller (2013), Compressing support vector machines, section 2.
    """

    algorithm_version: ClassVar[int] = 1

    def __init__(
        self,
        n_components: int,
        *,
        variance: Literal["1/m", "1/l"] = "1/m",
        store: bool | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.variance = variance
        self.store = store
        self.random_state = random_state

    @staticmethod
    def n_components_for(n_points: int, delta: float) -> int:
        """Return the l that preserves the lengths of n rows and their scalar products with a fixed w: Lemma 1.

        See `provsel.kernels.compression_bounds.loss_components`; it assumes variance
        "1/l".
        """
        return loss_components(n_points, delta)

    @staticmethod
    def n_components_for_theorem5(sparsity: int, n_features: int, delta: float) -> int:
        """Return the l of Theorem 5 for s-sparse solutions, with the constant that its Lemma 2 leaves open.

        See `provsel.kernels.compression_bounds.norm_components`. The proof needs Lemma
        1 too: take the larger of this and `n_components_for`.
        """
        return norm_components(sparsity, n_features, delta)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the seed of Lambda for X, array-like or sparse of shape (n, m); y is ignored."""
        count = self.n_components
        if (
            isinstance(count, bool)
            or not isinstance(count, int | np.integer)
            or count < 1
        ):
            raise ValueError(
                f"GaussianCompression: expected n_components to be a positive integer, got {count!r}."
            )
        if self.variance not in VARIANCES:
            raise ValueError(
                f"GaussianCompression: expected variance to be one of {VARIANCES}, got {self.variance!r}."
            )
        check_store("GaussianCompression", self.store)
        X = validated(self, X, accept_sparse=FORMS)
        m = X.shape[1]
        self.blocks_ = GaussianBlocks(
            int(count),
            m,
            variance=1 / (m if self.variance == "1/m" else int(count)),
            key=int(as_generator(self.random_state).integers(2**63)),
            store=is_kept(self.store, int(count), m),
        )
        self.compression_ratio_ = m / int(count)
        self._n_features_out = int(count)
        return self

    def transform(self, X: Any) -> Any:
        """Return the compressed rows, dense of shape (n, n_components), of X, array-like or sparse of shape (n, m)."""
        check_is_fitted(self, "blocks_")
        X = validated(self, X, accept_sparse=FORMS, reset=False)
        return self.blocks_.project(X)

    def partial_compress(self, chunk: Any) -> Any:
        """Return the compressed rows of the next chunk of a stream, like `transform`; the first call fits.

        Raises
        ------
        ValueError
            If the chunk has another width than the first, or NaN or infinite values.
        """
        if not hasattr(self, "blocks_"):
            self.fit(chunk)
        return self.transform(chunk)

    def compress_to(self, path: str | Path, chunks: Any, *, n_jobs: int = 1) -> int:
        """Write the compressed rows of `chunks` to a Parquet file, and return their number; the first chunk fits.

        `row_chunks(path)`, or `row_chunks(path, y="label")` with labels, reads back the
        same bits. It needs memory for 2 n_jobs chunks, or for joined small chunks of 64
        MB, with their compressed rows.

        Parameters
        ----------
        path : str or Path
            Ends with .parquet. Columns z0, z1, ... and "label"; the metadata of the
            schema state l, m, variance and key. An existing file is replaced once the
            new one is complete.
        chunks : iterable of (X_chunk, y_chunk or None)
            As from `provsel.streams.row_chunks`. X_chunk of shape (b, m), dense or
            sparse; y_chunk of shape (b,): numbers, strings or booleans.
        n_jobs : int, default=1
            Threads, each with one BLAS thread; -1 means one per core, as in joblib. The
            file is the same bit for bit for any number.

        Raises
        ------
        ValueError
            If parameters are invalid, chunks differ in width or type, values are NaN or
            infinite, or only some rows have labels. Neither a file nor a fit is left
            behind.
        OSError
            If the disk is full; the message states the size written and the size
            needed. Nothing is left behind.
        """
        name = "GaussianCompression.compress_to"
        if (
            isinstance(n_jobs, bool)
            or not isinstance(n_jobs, int | np.integer)
            or n_jobs == 0
        ):
            raise ValueError(
                f"{name}: expected n_jobs to be a non-zero integer (-1 uses all cores), got {n_jobs!r}."
            )
        before = dict(vars(self))
        rows: Iterator[Any] = checked_chunks(
            name, chunks, self.n_features_in_ if hasattr(self, "blocks_") else None
        )
        try:
            first = next(rows)
            if not hasattr(self, "blocks_"):
                self.fit(first[0])
            rows = chain([first], rows)
            del first  # otherwise it would stay in memory until the end
            n_samples = getattr(chunks, "n_samples", None)
            return write_compressed(
                name, path, rows, self.blocks_, n_samples, effective_n_jobs(n_jobs)
            )
        except BaseException:
            self.__dict__ = before
            raise

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
